# SPDX-License-Identifier: GPL-2.0-or-later
"""SimpleSSD on the same board: SimpleSSD-Standalone, set up from the facts of a
profile. All other values are those of its own sample configuration.

Knows its two files, its traces and its log of latencies.  Requests of one
stream: it plays no jobs beside each other.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from vssd.errors import UserError
from vssd.measured.drives import Drive
from vssd.measured.loads import Load, bs_of
from vssd.measured.play import PERCENTS, SAMPLES, STEADY, Played
from vssd.sizes import read as size_of

from . import peer
from .peer import REQUESTS, Facts, Peer, number, program_ns

NAME = "simplessd"
CELLS = {"slc": (0, 1), "mlc": (1, 2)}  # others as TLC
LANE_MB_S = 984.6  # of its PCIe 3, the newest that it has
FILLS = {"none": (0, 0.0, 0.0), "random": (2, 1.0, 1.0)}  # others: in order
WORDS = {"rw", "bs", "iodepth", "rwmixread", "size"}
KINDS = {"read": "read", "write": "write", "rw": "", "readwrite": ""}
BYTES_MOST = 2**30  # of a run
LINE = r"(\d+) (\w) (\d+) (\d+)"  # of a trace: ns, operation, offset, bytes

# nanoseconds (an open loop), is it a read, offset, bytes
Request = tuple[int, bool, int, int]


def _page_bytes(facts: Facts) -> int:
    return size_of("nand.page_size", facts.get("nand.page_size", "16KiB"), 0,
                   2**30)


def capacity(facts: Facts) -> int:
    """Bytes that a host may use, of the drive as it is set up here."""
    raw = _page_bytes(facts)
    for name in ("channels", "chips", "dies", "planes", "blocks", "pages"):
        raw *= number(facts, f"nand.{name}")
    return int(raw * 0.98 / (1 + peer.spare(facts)))


def _text(sections: dict[str, dict[str, object]]) -> str:
    return "".join(f"[{name}]\n" + "".join(
        f"{key} = {value}\n" for key, value in values.items())
        for name, values in sections.items())


def device(facts: Facts, state: str) -> str:
    """Its configuration file."""
    cell, bits = CELLS.get(facts.get("nand.cell", "tlc"), (2, 3))
    mode, filled, again = FILLS.get(state.partition(":")[0], (0, 1.0, 0.0))
    times: dict[str, object] = {}
    for page in ("LSB", "CSB", "MSB"):
        times[f"{page}Read"] = peer.ns(facts, "nand.read") * 1000
        times[f"{page}Write"] = program_ns(facts, bits) * 1000
    spare = peer.spare(facts)
    return _text({
        "cpu": {"ClockSpeed": 400_000_000, "HILCoreCount": 1,
                "ICLCoreCount": 1, "FTLCoreCount": 1},
        "nvme": {"PCIEGeneration": 2, "PCIELane": max(round(float(facts.get(
            "host.link_mb_s", 4 * LANE_MB_S)) / LANE_MB_S), 1),
            "AXIBusWidth": 3, "AXIClock": 250_000_000,
            "FIFOTransferUnit": 2048, "WorkInterval": 1_000_000,
            "MaxRequestCount": 8, "MaxIOCQueue": 16, "MaxIOSQueue": 16,
            "WRRHigh": 2, "WRRMedium": 2, "DefaultNamespace": 1,
            "LBASize": 512, "EnableDiskImage": 0},
        "pal": {"Channel": number(facts, "nand.channels"),
                "Package": number(facts, "nand.chips"),
                "Die": number(facts, "nand.dies"),
                "Plane": number(facts, "nand.planes"),
                "Block": number(facts, "nand.blocks"),
                "Page": number(facts, "nand.pages"),
                "PageSize": _page_bytes(facts), "NANDType": cell,
                "EnableMultiPlaneOperation": 1, **times,
                "Erase": peer.ns(facts, "nand.erase") * 1000,
                "DMASpeed": number(facts, "nand.bus_mt_s", 400),
                "DMAWidth": 8, "SuperblockSize": "C", "PageAllocation": "CWDP"},
        "ftl": {"MappingMode": 0,
                "OverProvisioningRatio": f"{spare / (1 + spare):.4f}",
                "EraseThreshold": 100_000, "FillingMode": mode,
                "FillRatio": filled, "InvalidPageRatio": again,
                "EvictPolicy": 0, "DChoiceParam": 3, "GCThreshold": 0.05,
                "GCMode": 0, "GCReclaimBlocks": 1, "GCReclaimThreshold": 0.1,
                "EnableRandomIOTweak": 1},
        "icl": {"CacheSize": size_of("buffer.size", facts.get(
            "buffer.size", "32MiB"), 0, 2**40),
            "CacheWaySize": 8, "EnableReadCache": 1, "EnableReadPrefetch": 1,
            "ReadPrefetchMode": 1, "ReadPrefetchCount": 3,
            "ReadPrefetchRatio": 0.25, "EnableWriteCache": 1,
            "EvictPolicy": 2, "EvictMode": 1, "CacheLatency": 10},
        "dram": {"Model": 0, "Channel": 1, "Rank": 1, "Bank": 8, "Chip": 1,
                 "BusWidth": 32, "BurstLength": 8, "ChipSize": 2**30,
                 "PageSize": 4096}})


def simulation(depth: int) -> str:
    """Its other file: a closed loop of this depth, or (0) times of arrival."""
    return _text({
        "global": {"Mode": 1, "LogPeriod": 0, "LogFile": "",
                   "DebugLogFile": "", "LatencyLogFile": "latency.txt",
                   "ProgressPeriod": 0, "Interface": 1, "Scheduler": 0,
                   "SubmissionLatency": 0, "CompletionLatency": 0},
        "trace": {"File": "trace.txt", "TimingMode": 1 if depth else 2,
                  "QueueDepth": max(depth, 1), "IOLimit": 0,
                  "Regex": f'"{LINE}"', "Operation": 2, "ByteOffset": 3,
                  "ByteLength": 4, "LBAOffset": "", "LBALength": "",
                  "Second": "", "Millisecond": "", "Microsecond": "",
                  "Nanosecond": 1, "Picosecond": "", "LBASize": 512,
                  "UseHexadecimal": 0}})


def _closed(words: dict[str, str], size: int) -> list[Request]:
    bs, rng = bs_of(f"bs={words['bs']}"), random.Random(17)
    share = float(words.get("size", "100%").rstrip("%")) / 100
    n, span = min(REQUESTS, BYTES_MOST // bs), max(int(size * share) // bs, 1)
    name = words["rw"].removeprefix("rand")
    reads = {"read": 100.0, "write": 0.0}.get(
        name, float(words.get("rwmixread", 50)))
    return [(0, rng.random() * 100 < reads,
             (rng.randrange(span) if words["rw"] != name else i % span) * bs, bs)
            for i in range(n)]


def _open(load: Load, size: int) -> list[Request]:
    """The mixed load: half of thread 0's requests are reads, at even
    distances; the others come as a Poisson process."""
    rng = random.Random(17)
    reads, writes = peer.mixed_rates(load)
    even = min(STEADY, reads + writes)
    seconds = REQUESTS / max(reads, 1.0)
    kinds = [(i / even, i % 2 == 0) for i in range(int(even * seconds))]
    rest, at = reads + writes - even, 0.0
    share = (reads - even / 2) / rest if rest > 0 else 0.0
    while rest > 0 and (at := at + rng.expovariate(rest)) < seconds:
        kinds.append((at, rng.random() < share))
    return [(round(t * 1e9), read, rng.randrange(size // 4096) * 4096, 4096)
            for t, read in sorted(kinds)]


def requests_of(load: Load, size: int) -> tuple[list[Request], int]:
    """The requests of a load, and the depth of a closed loop or 0."""
    if load.kind == "mixed":
        return _open(load, size), 0
    words = dict(w.split("=") for w in load.workload.split())
    if load.kind not in ("run", "pair") or load.beside or \
            set(words) - WORDS or words["rw"].removeprefix("rand") not in KINDS:
        raise UserError(f"{NAME} plays no such run")
    return _closed(words, size), int(float(words.get("iodepth", 1)))


def _side(us: list[float], iops: float) -> Played | None:
    if not us:
        return None
    us.sort()
    return {"n": len(us), "iops": iops, "mean_us": sum(us) / len(us),
            "percentiles": {
                f"{p:g}": us[min(int(len(us) * p / 100), len(us) - 1)]
                for p in PERCENTS
                if len(us) * min(p, 100 - p) >= SAMPLES * 100}}


def report(text: str, requests: list[Request], depth: int) -> Played:
    """Of the log of latencies: number, offset, bytes, ps.  The first tenth is
    left out.  A closed loop has the rate of Little's law."""
    warm = len(requests) // 10
    us: dict[bool, list[float]] = {True: [], False: []}
    end = 0.0
    for line in text.splitlines():
        number_, *_, ps = line.split(",")
        i = int(number_) - 1
        if i >= warm:
            us[requests[i][1]].append(int(ps) / 1e6)
            end = max(end, requests[i][0] / 1e9 + int(ps) / 1e12)
    n = len(us[True]) + len(us[False])
    if n != len(requests) - warm:
        raise UserError(f"{NAME} ended before its {len(requests)} requests")
    total = sum(map(sum, us.values()))
    seconds = total / 1e6 / depth if depth else end - requests[warm][0] / 1e9
    found: dict[str, Any] = {"waf": None, "without": "write amplification"}
    for name, reads in (("read", True), ("write", False)):
        found[name] = _side(us[reads], len(us[reads]) / seconds)
    return found


class SimpleSsd(Peer):
    """SimpleSSD-Standalone's binary."""

    name = NAME

    def run(self, drive: Drive, load: Load) -> Played:
        """One load."""
        facts = peer.facts_of(drive)
        requests, depth = requests_of(load, capacity(facts))
        with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
            base = Path(folder)
            (base / "ssd.cfg").write_text(device(facts, load.state))
            (base / "run.cfg").write_text(simulation(depth).replace(
                "trace.txt", str(base / "trace.txt")))
            (base / "trace.txt").write_text("".join(
                f"{t} {'R' if read else 'W'} {at} {n}\n"
                for t, read, at, n in requests))
            self.states.runner.output(
                [str(self.program), str(base / "run.cfg"),
                 str(base / "ssd.cfg"), folder])
            return report((base / "latency.txt").read_text(), requests, depth)
