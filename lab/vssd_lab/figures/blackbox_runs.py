# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark runs of a device, to learn from: synthetic workloads with knobs
for all that blackbox_features.features() sees, and windows of traces.

A run is a minute of the device, scaled as its capacity is, in a closed loop
from the same used drive.  Results are kept in the cache by their inputs, so
that a figure that was interrupted goes on where it ended.

Knows devices, knobs and runs; knows nothing of trees.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vssd.paths import cache_dir, file_bytes, key_of
from vssd.sim.run import Point, Result, Runner, result_of
from vssd.ui import Stage

from . import blackbox_disk as disk
from . import blackbox_features as bf
from . import blackbox_model as bb
from . import traces as ft
from .batch import Batch

KIB = 1 << 10
MIB = 1 << 20
MINUTE = 60.0
KEEP_DAYS = 30  # that results are kept since the last one was added
NO_END = 1e6  # seconds of a run that ends with its requests
FIRST = 4000  # requests that are made for a run; more, if they end too early
LASTED = 0.99  # of its time: a run that was not too short
DISK_SCALE = 8  # of HDD_S: 60 s of 12,000 runs would take hours
SOURCES = tuple(f"lab/vssd_lab/figures/{n}.py" for n in (
    "blackbox_runs", "blackbox_disk", "blackbox_features"))


@dataclass(frozen=True)
class Ranges:
    """Values that the knobs are drawn from; the slides do not give them."""

    ratios: tuple[float, ...] = tuple(i / 10 for i in range(11))
    depths: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    sizes: tuple[int, ...] = tuple(512 << i for i in range(10))  # to 256 KiB
    randoms: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    strides: tuple[int, ...] = tuple(512 << i for i in range(9))  # to 128 KiB
    mixed: int = 1  # at most so many sizes of reads, and of writes, in a run


@dataclass(frozen=True)
class Knobs:
    """A synthetic workload; pairs are of reads and of writes."""

    wr_ratio: float
    depth: int
    size: tuple[tuple[int, ...], tuple[int, ...]]
    random: tuple[float, float]
    stride: tuple[int, int]


@dataclass(frozen=True)
class Device:
    """What runs play on: a profile's drives, or the disk."""

    name: str
    span: int  # bytes of it that are used, from 0 on
    seconds: float  # of a run
    profile: Path | None = None  # None: the disk
    state: Path | None = None
    drives: int = 1
    stripe: str = ""
    most: int = 0  # requests of a run; 0: as many as its time takes

    def options(self) -> list[str]:
        """Of vssd-sim, for the drive."""
        out = ["--profile", str(self.profile), "--state", str(self.state)]
        if self.drives > 1:
            out += ["--drives", str(self.drives), "--stripe", self.stripe]
        return out

    def command(self) -> list[str]:
        """What plays its runs; the disk is played here."""
        return ["vssd-sim", "batch", *self.options()] if self.profile else []


# ---- workloads -----------------------------------------------------------------


def draw(rng: Any, r: Ranges) -> Knobs:
    """Any workload within the ranges."""
    def sizes() -> tuple[int, ...]:
        n = int(rng.integers(1, r.mixed + 1))
        return tuple(rng.choice(r.sizes, n).tolist())

    size = sizes(), sizes()
    random = tuple(rng.choice(r.randoms, 2).tolist())
    stride = tuple(rng.choice(r.strides, 2).tolist())
    return Knobs(float(rng.choice(r.ratios)), int(rng.choice(r.depths)),
                 size, random, stride)


# The eight pure workloads: share of writes, randomness; None: any.
PURE: dict[str, tuple[float | None, float | None]] = {
    "rd_only": (0.0, None), "wr_only": (1.0, None),
    "rand_only": (None, 1.0), "seq_only": (None, 0.0),
    "rand_rd": (0.0, 1.0), "rand_wr": (1.0, 1.0),
    "seq_rd": (0.0, 0.0), "seq_wr": (1.0, 0.0),
}


def pure(name: str, r: Ranges) -> Ranges:
    """Ranges of one pattern."""
    ratio, random = PURE[name]
    return replace(r, ratios=r.ratios if ratio is None else (ratio,),
                   randoms=r.randoms if random is None else (random,))


def fits(knobs: Knobs, name: str) -> bool:
    """Is that workload of this pattern?  The kind that does not occur may be
    random or not."""
    ratio, random = PURE[name]
    if ratio is not None and knobs.wr_ratio != ratio:
        return False
    there = [r for r, occurs in zip(knobs.random, (knobs.wr_ratio < 1,
                                                   knobs.wr_ratio > 0))
             if occurs]
    return random is None or set(there) == {random}


def _offsets(rng: Any, nbytes: Any, random: float, grid: int, span: int) \
        -> Any:
    """Multiples of the grid: any, or the next one behind the last request."""
    n = len(nbytes)
    places = (span - int(nbytes.max(initial=0))) // grid + 1
    index = np.arange(n)
    jumps = rng.random(n) < random
    anywhere = rng.integers(0, places, n)
    last = np.maximum.accumulate(np.where(jumps, index, 0))
    step = -(-nbytes // grid)
    before = np.cumsum(step) - step
    return (anywhere[last] + before - before[last]) % places * grid


def requests(knobs: Knobs, span: int, seed: int, n: int) -> ft.Trace:
    """The workload; a closed loop, so that no request has a time."""
    rng = np.random.default_rng(seed)
    write = rng.random(n) < knobs.wr_ratio
    offset = np.zeros(n, "i8")
    nbytes = np.zeros(n, "i8")
    for kind in (0, 1):
        mine = write == bool(kind)
        sizes = np.array(knobs.size[kind])
        nbytes[mine] = sizes[rng.integers(0, len(sizes), int(mine.sum()))]
        offset[mine] = _offsets(rng, nbytes[mine], knobs.random[kind],
                                knobs.stride[kind], span)
    return ft.Trace(np.zeros(n, "i8"), write, offset, nbytes, "synthetic")


# ---- devices -------------------------------------------------------------------

DISK = disk.scaled(disk.HDD_S, DISK_SCALE)


def capacity(runner: Runner, profile: Path) -> int:
    """Of the drive, in bytes."""
    info = result_of(*runner.output(
        [str(runner.sim), "info", "--profile", str(profile)]))
    return int(info["capacity_bytes"])


def age(runner: Runner, profile: Path, name: str, full: float, scratch: Path,
        published: float = 0) -> Device:
    """A drive of which that share was written in order, then twice at random;
    the rest is as new.  published: the bytes of the drive that it stands for
    (0: itself), by which a minute is scaled."""
    whole = capacity(runner, profile)
    span = max(int(whole * full) // MIB, 1) * MIB
    full_state, state = (scratch / f"blackbox-{name}-{full:g}.{end}"
                         for end in ("full", "state"))
    part = f"size={span} iodepth=64"
    runner.one(Point(
        profile, workload=f"rw=write bs=128k io_size={span} {part}",
        args=("--fill", "none", "--save-state", str(full_state))))
    runner.one(Point(
        profile, workload=f"rw=randwrite bs=4k io_size={2 * span} {part}",
        args=("--state", str(full_state), "--save-state", str(state))))
    return Device(name, span, MINUTE * min(whole / published, 1)
                  if published else 1.0, profile, state)


def side_by_side(device: Device, n: int, stripe: str) -> Device:
    """n such drives as one, in stripes; the used parts make the used part, if
    they are whole stripes."""
    return replace(device, span=n * device.span, drives=n, stripe=stripe)


def hard_disk(full: float) -> Device:
    """HDD_S, scaled down, of which that share is used; a run is its minute,
    scaled alike."""
    return Device("HDD_S", int(DISK.capacity * full) // MIB * MIB,
                  MINUTE / DISK_SCALE)


# ---- one run -------------------------------------------------------------------

_BLK = np.dtype([("magic", "<u4"), ("sequence", "<u4"), ("time", "<u8"),
                 ("sector", "<u8"), ("nbytes", "<u4"), ("action", "<u4"),
                 ("pid", "<u4"), ("device", "<u4"), ("cpu", "<u4"),
                 ("error", "<u2"), ("more", "<u2")])
_MAGIC, _ISSUE_READ, _ISSUE_WRITE = 0x65617407, 7 | 1 << 16, 7 | 2 << 16


def write_blktrace(trace: ft.Trace, path: Path) -> None:
    """As blktrace's binary records (docs/traces.md): no text to make and to
    read."""
    out = np.zeros(len(trace), _BLK)
    out["magic"] = _MAGIC
    out["time"] = trace.at_ns
    out["sector"] = trace.offset // ft.SECTOR
    out["nbytes"] = trace.nbytes
    out["action"] = np.where(trace.write, _ISSUE_WRITE, _ISSUE_READ)
    out.tofile(path)


def results(r: Result) -> dict[str, float]:
    """Targets of a model: ms, MB/s, 1/s."""
    return {"latency": r["latency_ns"]["all"]["mean"] / 1e6,
            "bandwidth": sum(r["bytes_per_s"].values()) / 1e6,
            "iops": float(r["iops"])}


# Requests, n at most, and depth of run i.
Make = Callable[[int, int], tuple[ft.Trace, int]]
Run = tuple[dict[str, float], dict[str, float], float]


def seen(trace: ft.Trace, depth: int, played: int) -> dict[str, float]:
    """Characteristics of the requests that were played."""
    return bf.features(ft.head(trace, played), depth)


def play(batch: Batch, device: Device, path: Path, trace: ft.Trace,
         depth: int) -> Run:
    """One run of a drive: characteristics, results, modelled seconds."""
    write_blktrace(trace, path)
    try:
        r = batch.play(["replay", str(path), "--format", "blktrace",
                        "--iodepth", str(depth), "--runtime",
                        f"{device.seconds:.6f}"])
    finally:
        path.unlink()
    return (seen(trace, depth, int(r["requests"])), results(r),
            r["sim_ns"] / 1e9)


def play_disk(device: Device, trace: ft.Trace, depth: int) -> Run:
    """One run of the disk."""
    r = disk.play(DISK, trace.write, trace.offset, trace.nbytes, depth,
                  device.seconds)
    return (seen(trace, depth, int(r["requests"])),
            {"latency": r["latency_s"] * 1e3,
             "bandwidth": r["bytes"] / r["seconds"] / 1e6,
             "iops": r["requests"] / r["seconds"]}, r["seconds"])


def whole(device: Device, make: Make, i: int,
          one: Callable[[ft.Trace, int], Run]) -> Run:
    """Run i, with so many requests that they last its time; or all that there
    are."""
    n = device.most or FIRST
    while True:
        trace, depth = make(i, n)
        run = one(trace, depth)
        if len(trace) < n or n == device.most \
                or run[2] >= LASTED * device.seconds:
            return run
        n = max(2 * n, int(1.25 * n * device.seconds / run[2]))


# ---- many runs, and what is kept of them ---------------------------------------


class Store:
    """Runs of a device from one series, by number: a line each, added as they
    end; a line that was not written wholly is no run."""

    def __init__(self, *inputs: object) -> None:
        folder = cache_dir() / "blackbox"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.jsonl"):
            if time.time() - old.stat().st_mtime > KEEP_DAYS * 86_400:
                old.unlink(missing_ok=True)
        self.path = folder / f"{key_of(*inputs)}.jsonl"
        self.runs: dict[int, Run] = {}
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                try:
                    i, x, y, s = json.loads(line)
                except ValueError:
                    continue
                self.runs[i] = x, y, s

    def add(self, i: int, run: Run) -> None:
        """Keep one more."""
        self.runs[i] = run
        with open(self.path, "a", encoding="utf-8") as f:
            f.write("\n" * (f.tell() > 0 and not self._whole())
                    + json.dumps([i, *run]) + "\n")

    def _whole(self) -> bool:
        with open(self.path, "rb") as f:
            f.seek(-1, 2)
            return f.read() == b"\n"


@dataclass(frozen=True)
class Kept:
    """A series that was played."""

    title: str
    command: list[str]
    count: int
    path: Path  # of its store: [number, characteristics, results, seconds]


def identity(runner: Runner, device: Device) -> tuple[object, ...]:
    """All of the device that results depend on."""
    if device.profile is None:
        return (*asdict(DISK).values(), device.span, device.seconds,
                device.most, file_bytes(*SOURCES))
    assert device.state
    return (runner.sim.read_bytes(), device.profile.read_bytes(),
            device.state.read_bytes(), device.span, device.seconds,
            device.drives, device.stripe, device.most, file_bytes(*SOURCES))


@dataclass(frozen=True)
class Series:
    """Synthetic runs of one seed; run i depends on nothing but these."""

    ranges: Ranges
    seed: int
    span: int
    again: int = 0  # other draws of the same workloads

    def _drawn(self, i: int) -> tuple[Knobs, Any]:
        rng = np.random.default_rng((self.seed, i))
        return draw(rng, self.ranges), rng

    def knobs(self, i: int) -> Knobs:
        """Of run i."""
        return self._drawn(i)[0]

    def __call__(self, i: int, n: int) -> tuple[ft.Trace, int]:
        knobs, rng = self._drawn(i)
        seed = int(rng.integers(1 << 62, size=self.again + 1)[-1])
        return requests(knobs, self.span, seed, n), knobs.depth


def _disk_run(job: tuple[Device, Make, int]) -> Run:
    device, make, i = job
    return whole(device, make, i, partial(play_disk, device))


def _leave_signals() -> None:
    """Control-C is the business of the process that waits for the runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _player(runner: Runner, scratch: Path, device: Device, make: Make) \
        -> Iterator[Callable[[int], Run]]:
    """What plays run i.  The disk is Python, so it has processes."""
    if device.profile is None:
        with ProcessPoolExecutor(
                runner.jobs, multiprocessing.get_context("spawn"),
                _leave_signals) as pool:
            yield lambda i: pool.submit(
                _disk_run, (device, make, i)).result()
        return
    with Batch(runner, device.options()) as batch:
        yield lambda i: whole(device, make, i, partial(
            play, batch, device,
            scratch / f"blackbox-{device.name}-{i}.blk"))


def play_all(runner: Runner, scratch: Path, device: Device, title: str,
             n: int, make: Make, *what: object,
             kept: list[Kept] | None = None) -> bb.Runs:
    """n runs, of the requests and depth that make(i) says; `what` and the
    device name their store.  The series is added to `kept`."""
    store = Store(*identity(runner, device), *what)
    missing = [i for i in range(n) if i not in store.runs]
    if missing:
        before = n - len(missing)
        with Stage(title) as stage, \
                _player(runner, scratch, device, make) as call:
            def done(i: int, run: Run) -> None:
                store.add(i, run)
                stage.add(len(missing), f"({before} kept)" * bool(before))

            runner.each(call, missing, done)
    if kept is not None:
        kept.append(Kept(title, device.command(), n, store.path))
    return bb.runs_of([store.runs[i][:2] for i in range(n)],
                      [store.runs[i][2] for i in range(n)], (title,))


def synthetic(runner: Runner, scratch: Path, device: Device, title: str,
              n: int, seed: int, ranges: Ranges | None = None,
              kept: list[Kept] | None = None) -> bb.Runs:
    """n runs of drawn workloads."""
    series = Series(ranges or Ranges(), seed, device.span)
    return play_all(runner, scratch, device, title, n, series,
                    json.dumps(asdict(series)), kept=kept)


@dataclass(frozen=True)
class Given:
    """Runs of requests that are at hand; of n at most."""

    windows: list[ft.Trace]
    depth: int

    def __call__(self, i: int, n: int) -> tuple[ft.Trace, int]:
        return ft.head(self.windows[i], n), self.depth


def to_the_end(device: Device) -> Device:
    """Runs on it end with their requests."""
    return replace(device, seconds=NO_END, most=0)


def play_windows(runner: Runner, scratch: Path, device: Device,
                 windows: list[ft.Trace], depth: int) -> bb.Runs:
    """A run of each."""
    key = key_of(depth, *(a.tobytes() for w in windows
                          for a in (w.write, w.offset, w.nbytes)))
    return play_all(runner, scratch, to_the_end(device), "windows of a trace",
                    len(windows), Given(windows, depth), "given", key)
