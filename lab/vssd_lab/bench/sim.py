# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed, memory and start-up of vssd-sim.

Three inputs on which simulators are compared, on the drives c64 and c4: reads
and fresh writes of 4 KiB, uniform over 40 GiB, and writes over 2.6 GiB, which
keep GC busy.  Each is generated during the run, and also read from a text of the
same kind that the peers read.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import model, tuned
from vssd.build.inputs import INPUTS, TEXTS, Input, write_text
from vssd.errors import UserError, one_line
from vssd.ui import Stage

from . import child, mqsim
from .rows import row

STEADY = "rw=randwrite bs=4k iodepth=32 number_ios={n}"
# Of tlc-generic: 35 and 138 GB.  A child's peak is never below what this process
# had when it was started.
SMALL, LARGE = ["nand.blocks=552"], ["nand.blocks=2208"]
TIB = ["nand.blocks=32768"]
REQUESTS = 4_000_000


@dataclass
class Run:
    """Result of one run of vssd-sim."""

    result: dict[str, Any]
    rss: int
    wall_s: float


def run(profile: str, fill: str, workload: str,
        sets: list[str] | None = None, array: str = "") -> Run:
    """A run of a workload; array: words that make several drives of one."""
    more = [word for one in sets or [] for word in ("--set", one)]
    return _measured("run", profile, fill, "--workload", workload, *more,
                     *array.split())


def replay(profile: str, fill: str, trace: Path, form: str) -> Run:
    """A run of a trace."""
    return _measured("replay", profile, fill, "--format", form, str(trace))


def _measured(command: str, profile: str, fill: str, *more: str) -> Run:
    """One run of vssd-sim."""
    args = [str(tuned.sim()), command, "--profile",
            str(paths.find_profile(profile)), "--fill", fill, "--json", *more]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        status, usage = child.run(args, out, err)
        wall_s = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        if status != 0:
            raise UserError("vssd-sim: " + one_line(err.read().decode()))
        return Run(json.loads(out.read()), usage.ru_maxrss * 1024, wall_s)


def _rate(runs: list[Run]) -> float:
    return statistics.median(float(r.result["requests_per_s_cpu"])
                             for r in runs)


def _speed(one: Input, repeat: int, peer: Path | None) -> list[dict[str, Any]]:
    with Stage(f"{one.name}: {REQUESTS / 1e6:g} million requests"):
        made = [run(one.profile, one.fill, one.workload(REQUESTS))
                for _ in range(repeat)]
    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as name:
        path = Path(name) / "requests.txt"
        with Stage(f"{one.name}: writing them as text"):
            one.write(path, REQUESTS)
        with Stage(f"{one.name}: the same from text"):
            read, theirs = [], []
            for _ in range(repeat):
                read.append(replay(one.profile, one.fill, path, "ssdsim"))
                if peer:
                    theirs.append(mqsim.rate(peer, one, path, REQUESTS))
        with Stage(f"{one.name}: the same in binary"):
            _convert(path, "ssdsim", Path(name) / "requests.bin")
            binary = [replay(one.profile, one.fill, Path(name) / "requests.bin",
                             "binary") for _ in range(repeat)]
    waf = made[0].result["waf"]
    best = max(float(r.result["requests_per_s_cpu"]) for r in read)
    return [
        row(f"sim_{one.name}", _rate(made), None, "requests/cpu-s",
            f"without parsing; WAF {waf:.3g}"),
        row(f"sim_{one.name}_trace", _rate(read),
            statistics.median(theirs) if theirs else None, "requests/cpu-s",
            "parsing included" + ("; peer: MQSim" if peer else "")),
        row(f"sim_{one.name}_binary", _rate(binary), _rate(made),
            "requests/cpu-s", "from a binary trace; peer: generated"),
        row(f"sim_{one.name}_aim", best, one.aim, "requests/cpu-s",
            "peer: the aim; parsing included, the fastest run"),
    ]


PARSED = 1_000_000
PARSE_AIM = 500  # MB/s


def _convert(trace: Path, form: str, to: Path | None) -> float:
    """CPU time of making a binary trace, in s; to None: it is dropped."""
    with open(to or os.devnull, "wb") as out:
        status, usage = child.run([tuned.sim(), "convert", trace, "--to", "binary",
                                   "--format", form], out)
    if status != 0:
        raise UserError(f"vssd-sim convert {trace}: status {status}")
    return child.cpu_s(usage)


def _parsing(repeat: int) -> list[dict[str, Any]]:
    """Text in and binary out, start of the program included."""
    found = []
    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as name:
        for kind in TEXTS:
            path = Path(name) / "trace"
            with Stage(f"parsing {kind}"):
                write_text(path, kind, PARSED)
                cpu_s = min(_convert(path, kind, None)
                            for _ in range(max(repeat, 3)))
            found.append(row(f"sim_parse_{kind}", path.stat().st_size / cpu_s / 1e6,
                             PARSE_AIM, "MB/cpu-s", "peer: the aim; text to binary"))
    return found


def _capacity(repeat: int) -> list[dict[str, Any]]:
    """The same writes on a drive of 64 GiB and one of 1 TiB."""
    with Stage("64 GiB and 1 TiB, the same writes"):
        cost = [_cost("c64", "none", "rw=randwrite bs=4k size=1g"
                      " number_ios=1000000 interval=50us", sets, max(repeat, 3))
                for sets in ([], TIB)]
    return [row("sim_capacity", cost[1] / cost[0], 1, "times the CPU time",
                f"aim: 0.9 to 1.1; {cost[0]:.0f} and {cost[1]:.0f} ns")]


def _linear(repeat: int) -> list[dict[str, Any]]:
    """Ten times the requests, in a drive whose tables are all in use."""
    runs: dict[int, list[Run]] = {1_000_000: [], 10_000_000: []}
    one = INPUTS[0]
    with Stage("read: 1 million and 10 million requests, in turns"):
        for _ in range(max(repeat, 3)):
            for n, found in runs.items():
                found.append(run(one.profile, one.fill, one.workload(n)))
    cpu_s = {n: min(r.result["cpu_s"] for r in found)
             for n, found in runs.items()}
    return [row("sim_linear", cpu_s[10_000_000] / cpu_s[1_000_000] / 10, 1,
                "of 10 times the time", "aim: 0.95 to 1.05")]


def _growth() -> list[dict[str, Any]]:
    """Peak memory with a long trace and with a short one."""
    one, rss = INPUTS[0], {}
    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as name, \
            Stage("memory with a short and a long trace"):
        path = Path(name) / "requests.txt"
        for n in (250_000, 2_500_000):
            one.write(path, n)
            rss[n] = replay(one.profile, one.fill, path, "ssdsim").rss
    return [row("sim_memory_per_request",
                (rss[2_500_000] - rss[250_000]) / 2_250_000, None, "bytes",
                "aim: 0; growth of peak memory with the trace")]


def _memory() -> list[dict[str, Any]]:
    with Stage("memory of a full drive, and of a larger one"):
        sizes = []
        for sets in (SMALL, LARGE):
            info = model.drive_info(paths.find_profile("tlc-generic"), sets)
            full = run("tlc-generic", "seq", STEADY.format(n=1000), sets=sets)
            sizes.append((info["capacity_bytes"] // info["unit_bytes"],
                          full.rss))
    per_unit = (sizes[1][1] - sizes[0][1]) / (sizes[1][0] - sizes[0][0])
    with Stage("memory of c64, full"):
        info = model.drive_info(paths.find_profile("c64"), [])
        full = run("c64", "preload", STEADY.format(n=1000))
    per_page = full.rss / (info["raw_bytes"] / info["page_bytes"])
    return [
        row("sim_bytes_per_unit", per_unit, 10, "bytes",
            "peer: the aim, at most; growth of peak memory with capacity"),
        row("sim_bytes_per_page", per_page, 24, "bytes",
            "peer: the aim, at most; all memory of c64, full"),
    ]


def _start(repeat: int) -> list[dict[str, Any]]:
    with Stage("starting a drive of 1 TiB"):
        runs = [run("c64", "none", STEADY.format(n=1), sets=TIB)
                for _ in range(repeat)]
    return [row("sim_start_1tib", min(r.wall_s for r in runs),
                1, "s", "peer: the aim, at most; "
                f"{runs[0].rss / 1e6:.0f} MB")]


def _steady(repeat: int) -> list[dict[str, Any]]:
    with Stage("steady state"):
        runs = [run("tlc-generic", "random", STEADY.format(n=1_000_000))
                for _ in range(repeat)]
    return [row("sim_randwrite_4k_steady",
                statistics.median(r.result["requests_per_s_wall"]
                                  for r in runs), 500_000, "requests/s",
                f"peer: the aim; WAF {runs[0].result['waf']:.3g}")]


# One die; the cost of a request must not grow faster than a logarithm.
DIE = ["nand.channels=1", "nand.chips=1", "nand.dies=1", "nand.planes=2",
       "nand.page_size=4KiB", "host.queue_depth=65536", "buffer.size=64MiB"]
DEEP = {
    "fifo": [],
    "host_first": ["nand.schedule=host-first"],
    "deadline": ["nand.schedule=read-first-deadline"],
    "suspend": ["nand.suspend=both"],
    "multi_plane": ["nand.multi_plane=on"],
}
VICTIMS = ["greedy", "cost-benefit", "fifo", "d-choices", "windowed-greedy",
           "random"]
UNITS = ["die", "drive"]
# Little of the drive is written, and its blocks wear.
WORN = ["nand.planes=1", "nand.pages=16", "buffer.size=256KiB",
        "ftl.op_percent=12%", "ftl.wear_spread=2"]
LEVELS = ["dynamic", "static"]


def _cost(profile: str, fill: str, workload: str, sets: list[str],
          repeat: int) -> float:
    """CPU time of a request, in ns: that of the fastest run."""
    return 1e9 / max(float(run(profile, fill, workload,
                               sets=sets).result["requests_per_s_cpu"])
                     for _ in range(repeat))


def _growth_row(name: str, cost: list[float], log: float, what: str) \
        -> dict[str, Any]:
    small, large = cost
    return row(name, large / small, log, "times the CPU time",
               f"peer: the logarithm; {what}, {small:.0f} and {large:.0f} ns")


def _cliffs(repeat: int) -> list[dict[str, Any]]:
    """A request with a short queue and a long one, few blocks and many, few streams
    and many."""
    found = []
    with Stage("one die, 32 and 16,384 requests in flight"):
        for name, sets in DEEP.items():
            cost = [_cost("c64", "preload", f"rw=randrw rwmixread=90 bs=4k"
                          f" iodepth={n} number_ios=200000",
                          [*DIE, *sets], repeat) for n in (32, 16384)]
            found.append(_growth_row(f"sim_depth_{name}", cost, 14 / 5,
                                     "32 and 16,384 in flight"))
    with Stage("512 and 65,536 blocks a plane"):
        for key, names in (("ftl.gc", VICTIMS), ("superblock.width", UNITS)):
            for name in names:
                cost = [_cost("c64", "random", "rw=randwrite bs=4k iodepth=32"
                              " number_ios=200000",
                              [*DIE, "nand.pages=16", f"nand.blocks={n}",
                               f"{key}={name}"], repeat)
                        for n in (512, 65536)]
                found.append(_growth_row(
                    f"sim_blocks_{name.replace('-', '_')}", cost, 16 / 9,
                    "512 and 65,536 blocks"))
    with Stage("wear levelling, 1,024 and 65,536 blocks a plane"):
        for name in LEVELS:
            cost = [_cost("c64", "none", "rw=randwrite bs=4k iodepth=32 size=8m"
                          " number_ios=2000000",
                          [*DIE, *WORN, f"nand.blocks={n}", f"ftl.wear={name}"],
                          repeat)
                    for n in (1024, 65536)]
            found.append(_growth_row(f"sim_wear_{name}", cost, 16 / 10,
                                     "1,024 and 65,536 blocks"))
    with Stage("7 and 63 streams"):
        cost = [_cost("c64", "random", "rw=randrw bs=4k iodepth=32"
                      " number_ios=100000",
                      [*DIE, "nand.pages=16", "nand.blocks=8192",
                       "ftl.op_percent=15%", f"streams.max={n}"], repeat)
                for n in (7, 63)]
        found.append(_growth_row("sim_streams", cost, 6 / 3,
                                 "7 and 63 streams, the host uses none"))
    return found


ARRAYS = {"one drive": "", "0": "--drives 4 --raid 0", "5": "--drives 5 --raid 5",
          "5_of_60": "--drives 60 --raid 5"}


def _arrays(repeat: int) -> list[dict[str, Any]]:
    """Reads and writes of 4 KiB, on one drive and on arrays.  With RAID 5 a write
    is two reads and two writes of drives.  So little is written that GC does not
    run."""
    cost: dict[tuple[str, str], float] = {}
    with Stage("one drive, and arrays of drives"):
        for rw, n in (("randread", 400_000), ("randwrite", 150_000)):
            for name, array in ARRAYS.items():
                cost[name, rw] = 1e9 / max(
                    float(run("c4", "preload", f"rw={rw} bs=4k size=2g iodepth=32"
                              f" number_ios={n}", array=array)
                          .result["requests_per_s_cpu"])
                    for _ in range(max(repeat, 3)))
    found = [row(f"sim_raid_{name}_{rw}", ns / cost["one drive", rw], None,
                 "times the CPU time of one drive",
                 f"{ARRAYS[name]}: {ns:.0f} ns a request; one drive:"
                 f" {cost['one drive', rw]:.0f}")
             for (name, rw), ns in cost.items() if ARRAYS[name]]
    return [*found, _growth_row(
        "sim_raid_drives", [cost["5", "randread"], cost["5_of_60", "randread"]],
        math.log(60) / math.log(5), "5 and 60 drives")]


def measure(repeat: int, peer: Path | None) -> list[dict[str, Any]]:
    """All rows; peer: MQSim's program, in turns with vssd-sim."""
    found = _steady(repeat)
    for one in INPUTS:
        found += _speed(one, repeat, peer)
    return (found + _parsing(repeat) + _linear(repeat) + _growth() + _memory()
            + _start(repeat) + _capacity(repeat) + _cliffs(repeat)
            + _arrays(repeat))
