# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the figure warp: a drive with handles, its input, and the write
amplification over the volume written.

A case is one line of a figure: drive, input, and the handle of each role.  Each
runs with all seeds; cases with the same input share its traces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vssd.paths import find_profile
from vssd.sim.run import Point, Result
from vssd.ui import Stage

from . import warp_input
from .figure import Context
from .warp_input import PAGE, Cache, Streams

PROFILE = "warp2026"
DIES = 8  # an RU is a block of each
PAGES = 64  # of a block
RUS = 896  # that the capacity fills
RU_MIB = 256  # the paper's
LEAST_PAGES = 8
# Below this over-provisioning, persistent isolation of three handles leaves no
# room for WARP's reserve of 1 % of the RUs.
LEAST_OP = 5
LOW_RESERVE = ("ftl.gc_low=0.6%", "ftl.gc_high=0.7%")
STEP_S = 0.5  # of the trace's time, between two samples


@dataclass(frozen=True)
class Drive:
    """What WARP lets one choose."""

    op: int  # over-provisioning in percent
    persistent: bool  # isolation
    ru_mib: int = RU_MIB  # size of a reclaim unit there

    def sets(self, block_pages: int, handles: int) -> tuple[str, ...]:
        """Options; block_pages is of a block of 256 MiB's RU."""
        rus = RUS * RU_MIB // self.ru_mib
        return (f"nand.blocks={int(rus * (1 + self.op / 100))}",
                f"nand.pages={block_pages * self.ru_mib // RU_MIB}",
                f"ftl.capacity={RUS * DIES * block_pages * PAGE}",
                f"fdp.ruhs={handles}",
                f"streams.gc={'separate' if self.persistent else 'merge'}",
                *(LOW_RESERVE if self.op < LEAST_OP else ()))


@dataclass(frozen=True)
class Case:
    """A line of a figure."""

    drive: Drive
    input: Cache | Streams
    volumes: float  # written, of the drive's capacity
    handles: tuple[int, ...]  # of each role
    block_pages: int = PAGES

    @property
    def pages(self) -> int:
        """The drive's capacity."""
        return RUS * DIES * self.block_pages


@dataclass(frozen=True)
class Curve:
    """A run: written by the host, copied by GC, both in drives."""

    written: Any
    copied: Any
    host: tuple[float, ...]  # by handle, at the end
    gc: tuple[float, ...]
    run: Any = None  # its label

    def waf(self, volumes: float) -> float:
        """Of all that was written until then."""
        return 1 + float(np.interp(volumes, self.written, self.copied)) \
            / min(volumes, float(self.written[-1]))

    def handle_waf(self, handle: int) -> float:
        """One handle's own, at the end."""
        return 1 + self.gc[handle] / self.host[handle]

    def share(self, handle: int) -> float:
        """Of what GC copies, at the end."""
        total = sum(self.gc)
        return self.gc[handle] / total if total else 0


def block_pages(ctx: Context) -> int:
    """Of a block, by --scale: a drive that much smaller."""
    return max(round(PAGES * min(ctx.scale, 4)), LEAST_PAGES)


def curve(result: Result, pages: int, label: Any = None) -> Curve:
    """Of vssd-sim's result."""
    s = result["series"]
    drive = pages * PAGE
    written = np.cumsum([0, *s["bytes_written"]]) / drive
    copied = np.cumsum([0, *s["copied_units"]]) / pages
    mine = result["streams"]
    return Curve(written, copied,
                 tuple(x["host_bytes_written"] / drive for x in mine),
                 tuple(x["copied_units"] / pages for x in mine), label)


def _point(case: Case, trace: Path, seed: int) -> Point:
    handles = max(case.handles) + 1
    return Point(find_profile(PROFILE), trace=trace,
                 sets=(*case.drive.sets(case.block_pages, handles),
                       f"seed={seed}"),
                 args=("--fill", "none", "--series", str(STEP_S),
                       "--stream-map", ",".join(map(str, case.handles))))


def _key(case: Case, seed: int) -> Any:
    return case.input, case.pages, case.volumes, seed


def play(ctx: Context, title: str, cases: dict[Any, Case],
         seeds: Iterable[int]) -> dict[Any, list[Curve]]:
    """Curves of each case, one for each seed.  A trace lives while its runs
    last; one is made while another is played."""
    seeds = list(seeds)
    jobs: dict[Any, list[Any]] = {}
    for label, case in cases.items():
        for seed in seeds:
            jobs.setdefault(_key(case, seed), []).append(label)
    number = {key: i for i, key in enumerate(jobs)}
    curves: dict[Any, Curve] = {}

    def call(key: Any) -> list[tuple[Any, Point, Result]]:
        cfg, pages, volumes, seed = key
        path = ctx.inputs / f"warp-{number[key]}.csv"
        warp_input.save(warp_input.make(cfg, pages, volumes, seed), pages,
                        path)
        points = [(x, _point(cases[x], path, seed)) for x in jobs[key]]
        results = [(x, p, ctx.runner.one(p)) for x, p in points]
        path.unlink()
        return results

    with Stage(title) as stage:
        def done(key: Any, results: list[tuple[Any, Point, Result]]) -> None:
            for label, point, result in results:
                seed = key[-1]
                run = title, label, seed
                curves[label, seed] = curve(result, cases[label].pages, run)
                ctx.runs.append((title, run, point, result))
            stage.add(len(jobs))

        ctx.runner.each(call, jobs, done)
    return {label: [curves[label, seed] for seed in seeds] for label in cases}
