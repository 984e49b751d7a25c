# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark runs of a modelled drive, to learn from: synthetic workloads with
knobs for all that blackbox.features() sees, and windows of traces.

Knows vssd-sim and knobs; knows nothing of trees.  Each run starts from the
same used drive, in a closed loop, and begins to count after its first quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..sim.run import Estimate, Point, Result, result_of
from ..ui import Stage
from . import blackbox_model as bb
from . import traces as ft
from .figure import Context

KIB = 1 << 10
MIB = 1 << 20
WARM_UP = 4  # one request in so many

# Ranges of the knobs; the slides do not give them.
RATIOS = tuple(i / 10 for i in range(11))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
SIZES = tuple(512 << i for i in range(10))  # to 256 KiB
RANDOMS = (0.0, 0.25, 0.5, 0.75, 1.0)
STRIDES = tuple(512 << i for i in range(9))  # to 128 KiB
MOST, LEAST = 3000, 800  # requests of a run
RUN_BYTES = 32 * MIB  # of a run, about


@dataclass(frozen=True)
class Knobs:
    """A synthetic workload; pairs are of reads and of writes."""

    wr_ratio: float
    depth: int
    size: tuple[int, int]
    random: tuple[float, float]
    stride: tuple[int, int]

    def requests(self, length: float = 1.0) -> int:
        """How many a run has."""
        mean = self.size[0] * (1 - self.wr_ratio) + self.size[1] * self.wr_ratio
        return int(length * min(max(RUN_BYTES / mean, LEAST), MOST))


@dataclass(frozen=True)
class Drive:
    """A drive that runs start from."""

    profile: Path
    state: Path
    span: int  # bytes of it that are used, from 0 on
    length: float = 1.0  # of its runs
    args: tuple[str, ...] = ()  # further options of vssd-sim


def draw(rng: Any) -> Knobs:
    """Any workload."""
    pair = [tuple(rng.choice(values, 2).tolist())
            for values in (SIZES, RANDOMS, STRIDES)]
    return Knobs(float(rng.choice(RATIOS)), int(rng.choice(DEPTHS)),
                 pair[0], pair[1], pair[2])


# The eight pure workloads: share of writes, randomness; None: any.
PURE: dict[str, tuple[float | None, float | None]] = {
    "rd_only": (0.0, None), "wr_only": (1.0, None),
    "rand_only": (None, 1.0), "seq_only": (None, 0.0),
    "rand_rd": (0.0, 1.0), "rand_wr": (1.0, 1.0),
    "seq_rd": (0.0, 0.0), "seq_wr": (1.0, 0.0),
}


def draw_pure(rng: Any, name: str) -> Knobs:
    """A workload of one pattern."""
    ratio, random = PURE[name]
    knobs = draw(rng)
    if ratio is not None:
        knobs = replace(knobs, wr_ratio=ratio)
    if random is not None:
        knobs = replace(knobs, random=(random, random))
    return knobs


# ---- requests ----------------------------------------------------------------


def _offsets(rng: Any, n: int, nbytes: int, random: float, grid: int,
             span: int) -> Any:
    """Multiples of the grid: any, or the next one behind the last request."""
    places = (span - nbytes) // grid + 1
    step = -(-nbytes // grid)
    index = np.arange(n)
    jumps = rng.random(n) < random
    anywhere = rng.integers(0, places, n)
    last = np.maximum.accumulate(np.where(jumps, index, 0))
    return (anywhere[last] + (index - last) * step) % places * grid


def requests(knobs: Knobs, span: int, seed: int, length: float = 1.0) \
        -> ft.Trace:
    """The workload; a closed loop, so that no request has a time."""
    rng = np.random.default_rng(seed)
    n = knobs.requests(length)
    write = rng.random(n) < knobs.wr_ratio
    offset = np.zeros(n, "i8")
    for kind in (0, 1):
        mine = write == bool(kind)
        offset[mine] = _offsets(rng, int(mine.sum()), knobs.size[kind],
                                knobs.random[kind], knobs.stride[kind], span)
    nbytes = np.where(write, knobs.size[1], knobs.size[0])
    return ft.Trace(np.zeros(n, "i8"), write, offset, nbytes, "synthetic")


# ---- runs ----------------------------------------------------------------------


def capacity(ctx: Context, profile: Path) -> int:
    """Of the drive, in bytes."""
    info = result_of(*ctx.runner.output(
        [str(ctx.runner.sim), "info", "--profile", str(profile)]))
    return int(info["capacity_bytes"])


def age(ctx: Context, profile: Path, name: str, full: float,
        length: float = 1.0) -> Drive:
    """A drive of which that share was written in order, then twice at random;
    the rest is as new."""
    span = int(capacity(ctx, profile) * full) // MIB * MIB
    full_state, state = (ctx.scratch / f"blackbox-{name}.{end}"
                         for end in ("full", "state"))
    part = f"size={span} iodepth=64"
    ctx.runner.one(Point(
        profile, workload=f"rw=write bs=128k io_size={span} {part}",
        args=("--fill", "none", "--save-state", str(full_state))))
    ctx.runner.one(Point(
        profile, workload=f"rw=randwrite bs=4k io_size={2 * span} {part}",
        args=("--state", str(full_state), "--save-state", str(state))))
    return Drive(profile, state, span, length)


def side_by_side(drive: Drive, n: int, stripe: str) -> Drive:
    """n such drives as one, in stripes; the used parts make the used part, if
    they are whole stripes."""
    return replace(drive, span=n * drive.span, args=(
        "--drives", str(n), "--stripe", stripe))


def results(r: Result) -> dict[str, float]:
    """Targets of a model: ms, MB/s, 1/s."""
    return {"latency": r["latency_ns"]["all"]["mean"] / 1e6,
            "bandwidth": sum(r["bytes_per_s"].values()) / 1e6,
            "iops": float(r["iops"])}


def play(ctx: Context, drive: Drive, trace: ft.Trace, depth: int,
         name: str) -> dict[str, float]:
    """One run."""
    path = ctx.scratch / f"blackbox-{name}.csv"
    ft.write_msr(trace, path)
    try:
        return results(ctx.runner.one(Point(
            drive.profile, trace=path,
            args=("--format", "msr", "--iodepth", str(depth), "--warm-up",
                  str(len(trace) // WARM_UP), "--state", str(drive.state),
                  *drive.args))))
    finally:
        path.unlink()


def play_all(ctx: Context, drive: Drive, title: str, n: int,
             make: Callable[[int], tuple[ft.Trace, int]]) -> bb.Runs:
    """n runs, of the requests and depth that make(i) says."""
    rows: dict[int, Any] = {}
    estimate = Estimate(n)

    def call(i: int) -> Any:
        trace, depth = make(i)
        seen = bb.features(trace, depth)
        return seen, play(ctx, drive, trace, depth, str(i))

    with Stage(title) as stage:
        def done(i: int, row: Any) -> None:
            rows[i] = row
            stage.note(estimate.add())

        ctx.runner.each(call, range(n), done)
    return bb.runs_of([rows[i] for i in range(n)])


def synthetic(ctx: Context, drive: Drive, title: str, n: int, seed: int,
              pure: str = "") -> bb.Runs:
    """n runs of drawn workloads, of one pattern or any."""
    def make(i: int) -> tuple[ft.Trace, int]:
        rng = np.random.default_rng((seed, i))
        knobs = draw_pure(rng, pure) if pure else draw(rng)
        return requests(knobs, drive.span, int(rng.integers(1 << 62)),
                        drive.length), knobs.depth

    return play_all(ctx, drive, title, n, make)
