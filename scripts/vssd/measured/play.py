# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays loads with vssd-sim; each result is kept in the cache.

Knows how a load becomes runs; not the rows that it is compared with.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..paths import key_of, replacing
from ..sim.run import Point, Result, result_of
from . import hdr
from .drives import Drive
from .loads import SEEDED, Load, bs_of
from .states import AT_ONCE, UNIT, States, write_trace

SAMPLES = 100  # above a percentile
REQUESTS = 110_000
PERCENTS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95,
            97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999)
HOST = "vssd.measured.host"
ZONES = "vssd.measured.zones"
MOST_OF_PAIR = 200_000  # requests of jobs beside each other
# Of a kept result: what made it, beside vssd-sim.
SOURCES = b"".join(Path(__file__).with_name(name).read_bytes()
                   for name in ("hdr.py", "host.py", "play.py", "states.py", "zones.py"))
MOST = 3_000_000  # requests of a run
# The threads of a mixed run at the drive's limit: one has 10,000 requests a
# second, half of them reads, and its latencies are recorded; six have 64 in
# flight, of which 1 % are reads.
STEADY = 10_000.0
THREADS = (f"rw=randrw bs=4k iodepth=64 rwmixread=50 rate_iops={STEADY:g}",
           *6 * ("rw=randrw bs=4k iodepth=64 rwmixread=1",))

Played = dict[str, Any]


def _side(result: Result, kind: str, counts: hdr.Counts) -> Played | None:
    stats = result["latency_ns"][kind]
    n = stats["count"]
    if not n:
        return None
    seconds = result["sim_ns"] / 1e9
    found = {f"{p:g}": min(hdr.percentile(counts, p), stats["max"]) / 1e3
             for p in PERCENTS if n * min(p, 100 - p) >= SAMPLES * 100 - 1e-6}
    return {"n": n, "iops": n / seconds, "mean_us": stats["mean"] / 1e3,
            "percentiles": found}


class Player:
    """Plays loads on drives, `requests` of each kind a point."""

    def __init__(self, states: States, requests: int,
                 library: Callable[[], Path]) -> None:
        self.states = states
        self.library = library
        self.requests = requests

    # ---- the cache -------------------------------------------------------

    def _file(self, drive: Drive, load: Load) -> Path:
        key = key_of(self.states.version, SOURCES, drive.path.read_bytes(),
                     *drive.sets, self.requests, dataclasses.astuple(load))
        return self.states.folder / f"{key}.json"

    def kept(self, drive: Drive, load: Load) -> Played | None:
        """The result of before, if there is one."""
        with contextlib.suppress(OSError, ValueError):
            found: Played = json.loads(self._file(drive, load).read_bytes())
            return found
        return None

    def play(self, drive: Drive, load: Load) -> Played:
        """The result, from the cache or by a run.  A run that vssd-sim
        refuses is a result, too: {"error": TEXT}."""
        found = self.kept(drive, load)
        if found is None:
            try:
                found = self.run(drive, load)
            except UserError as e:
                if self.states.runner.stopped:
                    raise
                found = {"error": str(e)}
            with replacing(self._file(drive, load)) as f:
                f.write(json.dumps(found).encode())
        return found

    # ---- runs ------------------------------------------------------------

    def run(self, drive: Drive, load: Load) -> Played:
        """One load."""
        found: Played = getattr(self, f"_{load.kind}")(drive, load)
        return found

    def _sim(self, drive: Drive, state: tuple[str, ...], workload: str = "",
             trace: Path | None = None, args: tuple[str, ...] = ()) \
            -> tuple[Played, Result]:
        with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
            file = Path(folder) / "run.hlog"
            result = self.states.runner.one(Point(
                drive.path, workload, trace, drive.sets,
                (*state, *args, "--histograms", str(file))))
            counts = hdr.read(file.read_text())
        return {"read": _side(result, "read", counts.get("read", [])),
                "write": _side(result, "write", counts.get("write", [])),
                "waf": result["waf"]}, result

    def _measured(self, drive: Drive, state: str, workload: str, n: int) \
            -> Played:
        warm = max(n // 10, 500)
        return self._sim(drive, self.states.args(drive, state),
                         f"{workload} {SEEDED} number_ios={n + warm}",
                         args=("--warm-up", str(warm)))[0]

    def _run(self, drive: Drive, load: Load) -> Played:
        size = self.states.capacity(drive) * load.share
        most = int(size // bs_of(load.workload))
        n = self.requests
        if "rwmixread" in load.workload:
            percent = float(load.workload.split("rwmixread=")[1].split()[0])
            rare = min(x for x in (percent, 100 - percent) if x > 0) \
                if 0 < percent < 100 else 100.0
            n = int(min(n * 100 / rare, MOST))
        elif "write" in load.workload:  # the span at most once
            n = min(n, max(most * 9 // 10, 1000))
        elif bs_of(load.workload) > 65536:
            n = min(n, 20_000)
        return self._measured(drive, load.state, load.workload, n)

    def _saturated(self, drive: Drive, load: Load) -> Played:
        """The drive's own limit."""
        return self._hosted(drive, load.state, THREADS, {
            "measured": 1, "most": MOST, "most_written": MOST * UNIT})

    def _mixed(self, drive: Drive, load: Load) -> Played:
        words = dict(w.split("=") for w in load.workload.split())
        limit = self.play(drive, Load("saturated", load.state))
        rate = float(words["rate_iops"])
        if "error" in limit or \
                rate >= limit["read"]["iops"] + limit["write"]["iops"]:
            return limit
        n = int(min(self.requests * 100 / float(words["rwmixread"]), MOST))
        return self._measured(drive, load.state, "rw=randrw bs=4k"
                              f" rate_process=poisson {load.workload}", n)

    def _steady(self, drive: Drive, load: Load) -> Played:
        """Writes of so many fills; the last fifth is measured by itself, after
        more writes that bring the drive back from its rest."""
        size = int(self.states.capacity(drive) * load.share)
        total = load.fills * size / UNIT
        workload = (f"rw=randwrite bs=4k {load.workload}"
                    f" size={100 * load.share:.4g}%")
        more = ("--series", f"{max(size / 1e9 / 30, 1e-3):.4g}")
        warm = int(0.05 * total)
        with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
            file = Path(folder) / "four-fifths.state"
            first = self._sim(
                drive, self.states.args(drive, load.state),
                f"{workload} seed=17 number_ios={int(0.8 * total)}",
                args=(*more, "--save-state", str(file)))[1]
            found, last = self._sim(
                drive, ("--state", str(file)),
                f"{workload} seed=18 number_ios={warm + int(0.2 * total)}",
                args=(*more, "--warm-up", str(warm)))
        found["course"] = _course(first, size) + _course(last, size)
        return found

    def _pair(self, drive: Drive, load: Load) -> Played:
        """Jobs beside each other."""
        return self._hosted(
            drive, load.state,
            [job for job in (load.workload, load.beside) if job],
            {"most": MOST_OF_PAIR,
             "most_written": self.states.capacity(drive)})

    def _hosted(self, drive: Drive, state: str, jobs: Sequence[str],
                more: dict[str, int]) -> Played:
        """Jobs beside each other, by a program on libvssd."""
        out = self.states.runner.output([sys.executable, "-m", HOST,
                                         json.dumps({
            "library": str(self.library()), "profile": str(drive.path),
            "sets": drive.sets, "capacity": self.states.capacity(drive),
            "preload": state == "preload",
            "state": "" if state in AT_ONCE else
            str(self.states.file(drive, state)),
            "jobs": [_words(job) for job in jobs],
            "requests": self.requests, **more})])
        return result_of(*out)

    def _zone(self, drive: Drive, load: Load) -> Played:
        """Commands of zones, one after the other."""
        act, part = load.workload.split()
        out = self.states.runner.output([sys.executable, "-m", ZONES,
                                         json.dumps({
            "library": str(self.library()), "profile": str(drive.path),
            "sets": drive.sets, "act": act, "part": float(part)})])
        return result_of(*out)

    def _slc(self, drive: Drive, load: Load) -> Played:
        size = self.states.capacity(drive)
        found, result = self._sim(
            drive, ("--fill", "none"),
            f"{load.workload} number_ios={size >> 20}",
            args=("--series", f"{max(size / 4e9 / 100, 1e-3):.4g}"))
        found["course"] = _course(result, size)
        return found

    def _zones(self, drive: Drive, load: Load) -> Played:
        """Requests in order into zones that are chosen at random."""
        size = self.states.capacity(drive)
        bs = bs_of(load.workload)
        per = max(round(load.zone * size / bs), 1)
        once = load.state == "none"
        requests = _zone_requests(size // bs // per, per, bs, load.zones,
                                  0 if once else int(2 * size / bs))
        depth = load.workload.split("iodepth=")[1].split()[0]
        with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
            trace = Path(folder) / "zones.csv"
            write_trace(trace, requests)
            found, _ = self._sim(
                drive, self.states.args(drive, load.state), trace=trace,
                args=("--iodepth", depth, "--warm-up",
                      str(0 if once else len(requests) // 2)))
        return found


def _words(job: str) -> dict[str, Any]:
    """The keywords of a job as numbers; sizes as shares of the drive."""
    words: dict[str, Any] = dict(w.split("=") for w in job.split())
    for name, value in words.items():
        if name == "bs":
            words[name] = bs_of(job)
        elif name in ("size", "offset"):
            words[name] = float(value.rstrip("%")) / 100
        elif name != "rw":
            words[name] = float(value)
    return words


def _zone_requests(n: int, per: int, bs: int, active: int, total: int) \
        -> list[tuple[str, int, int]]:
    """`total` writes, each zone trimmed before; 0: each zone once."""
    rng = random.Random(3)
    out: list[tuple[str, int, int]] = []
    order = list(range(n))
    rng.shuffle(order)
    if not total:
        return [("write", (z * per + i) * bs, bs)
                for z in order for i in range(per)]
    free, at = order[active:], dict.fromkeys(order[:active], 0)
    for zone in at:
        out.append(("trim", zone * per * bs, per * bs))
    for _ in itertools.repeat(None, total):
        zone = rng.choice(tuple(at))
        out.append(("write", (zone * per + at[zone]) * bs, bs))
        at[zone] += 1
        if at[zone] == per:
            del at[zone]
            free.append(zone)
            new = free.pop(rng.randrange(len(free)))
            at[new] = 0
            out.append(("trim", new * per * bs, per * bs))
    return out


def _course(result: Result, size: int) -> list[list[float]]:
    """For each interval since the warm-up: seconds, shares of the used size
    that were written and copied."""
    series, ns = result["series"], result["series"]["interval_ns"]
    begin = next((i for i, n in enumerate(series["requests"]) if n), 0)
    counts = series["requests"][begin:]
    steps = [float(ns)] * len(counts)
    # The first and the last are parts of an interval.
    ends = {0, len(counts) - 1} if begin or result["warm_up"] else \
        {len(counts) - 1}
    rest = result["sim_ns"] - ns * (len(counts) - len(ends))
    for i in ends:
        steps[i] = rest * counts[i] / max(sum(counts[j] for j in ends), 1)
    return [[max(step, 1.0) / 1e9, written / size, copied * UNIT / size]
            for step, written, copied in
            zip(steps, series["bytes_written"][begin:],
                series["copied_units"][begin:], strict=True)]
