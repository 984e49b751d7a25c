# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs, drives and runs of the figure `scatter`.

Knows the paper's Table 1, what the paper leaves open, and how to play it;
knows nothing of its statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from vssd.paths import find_profile
from vssd.sim.run import Point, Result
from vssd.ui import Stage

from . import readers, ssdsim, standin
from . import traces as ft
from .figure import Context
from .shapes import load
from .ssdsim import Sets
from .standin import Table

KS = (1, 4, 16, 64)
SEED = 2018
GB = 1_000_000_000

# Table 1 (its inter-arrival times are seconds).  The footprints of the MSR
# volumes are those of Table 1 of the author's paper of 2023.  Those of the
# Financial traces are in neither; they are swept.
FIN = 1.05
TABLE = {
    "hm0": Table(0.3273, 14.74, 16.67, 0.15, 4096, int(2.50 * GB)),
    "proj0": Table(0.0585, 35.68, 81.83, 0.14, 4096, int(3.27 * GB)),
    "prn0": Table(0.2221, 45.67, 23.31, 0.11, 4096, int(14.90 * GB)),
    "fin1": Table(0.154, 4.5, 7.45, 0.01, 512, int(FIN * GB)),
    "fin2": Table(0.7846, 4.56, 5.84, 0.01, 512, int(FIN * GB)),
}
REQUESTS = 300_000  # the slowest 0.01 % are 30
BLOCKS, LEAST_BLOCKS = 2560, 128  # per plane
PLANE_BLOCK = 2 * 2 * 4 * 4 * 128 * 4096  # one block on each plane
# A drive of fewer blocks cannot keep 10 % free; these are the nearest marks.
SMALL, MARKS = 512, ("ftl.gc_low=8.6%", "ftl.gc_high=9.3%")
SWEEP = 0.1  # of addresses, blocks and requests, in runs of a sweep

# What the paper leaves open: parameter, value, options of the drive.  Inputs
# and initial state are no options.
DRIVE: dict[str, dict[str, Sets]] = {
    "completion": ssdsim.COMPLETION,
    "tR": {"50 us": ("nand.read=50us",), "500 us": ("nand.read=500us",)},
    "host queue": ssdsim.QUEUE,
    "allocation": ssdsim.ALLOCATION,
    "chip": ssdsim.CHIP,
}
BURSTS: dict[str, float | None] = {"0.5": 0.5, "0.7": 0.7, "fitted": None}
FOOTPRINT = {"0.5": 0.5, "1": 1.0, "2": 2.0}  # of the Financial traces
STATE = {"aged": "--precondition", "preloaded": "--fill=preload"}
PARAMETERS: dict[str, tuple[str, ...]] = {
    **{name: tuple(values) for name, values in DRIVE.items()},
    "b of the reads": tuple(BURSTS),
    "footprint of Financial": tuple(FOOTPRINT),
    "initial state": tuple(STATE),
}
# The judged values: chosen by outcome where the page says so.
USED = {
    **ssdsim.USED, "tR": "500 us",
    "b of the reads": ssdsim.USED_BURSTS, "footprint of Financial": "1",
    "initial state": "aged",
}
# A saved drive fits one with the same options, times excepted.
OF_STATE = tuple(p for p in DRIVE if p != "tR")


@dataclass(frozen=True)
class Choice:
    """A value of each open parameter: the judged ones but for one."""

    parameter: str = ""
    value: str = ""

    def of(self, parameter: str) -> str:
        """The value of a parameter."""
        return self.value if parameter == self.parameter else USED[parameter]

    def text(self) -> str:
        """For the reader of the runs."""
        return f"{self.parameter} {self.value}" if self.parameter else "judged"


JUDGED = Choice()
# Base, k, seed, choice, part of the sweep.
Key = tuple[str, int, int, Choice, bool]
Results = dict[Key, Result]


def choices() -> list[Choice]:
    """All but the judged one."""
    return [Choice(p, v) for p, values in PARAMETERS.items()
            for v in values if v != USED[p]]


# ---- inputs -------------------------------------------------------------------


def base(ctx: Context, name: str, seed: int, choice: Choice = JUDGED,
         scale: float = 1.0) -> ft.Trace:
    """The base trace: a real one, or a stand-in with that much of the
    addresses and requests."""
    table = TABLE[name]
    trace = readers.find(ctx.traces, name, 1 - table.read_count())
    if trace is not None:
        return ft.compact(trace)
    table = replace(table, scale=scale * min(ctx.scale, 1.0))
    part = table.scale
    if name.startswith("fin"):
        part *= FOOTPRINT[choice.of("footprint of Financial")]
    table = replace(table, footprint=int(table.footprint * part)
                    // ft.PAGE * ft.PAGE)
    shape = load()[name]
    counts = readers.frequencies(ctx.traces, name)
    if counts is not None:
        shape = standin.counted(shape, counts, "the folder's lba_freq")
    bias = BURSTS[choice.of("b of the reads")]
    if bias is not None:
        shape = replace(shape, read=replace(shape.read, arrivals=replace(
            shape.read.arrivals, bias=bias)))
    return standin.made(name, shape, table,
                        ctx.length(int(REQUESTS * scale)), seed)


# ---- drives --------------------------------------------------------------------


def blocks(ctx: Context, part: float, traces: Iterable[ft.Trace] = ()) -> int:
    """Blocks per plane: as many as the traces need, with 20 % of the raw
    capacity over-provisioned."""
    extent = max((ft.extent(t) for t in traces), default=0)
    need = -(-extent * 5 // 4 // PLANE_BLOCK) + 1
    return max(LEAST_BLOCKS, int(BLOCKS * part * min(ctx.scale, 1.0)),
               int(need))


def drive(choice: Choice, n: int) -> Sets:
    """The options of a drive with n blocks per plane."""
    out = (f"nand.blocks={n}", *(MARKS if n < SMALL else ()))
    for parameter, values in DRIVE.items():
        out += values[choice.of(parameter)]
    return out


def _state(choice: Choice) -> Choice:
    """The choice by which the initial state is made."""
    return choice if choice.parameter in OF_STATE else JUDGED


class Plan:
    """The points of one length: judged or sweep."""

    def __init__(self, ctx: Context, title: str, scale: float,
                 seeds: list[int], these: list[Choice]) -> None:
        self.ctx, self.title, self.scale = ctx, title, scale
        self.seeds, self.these = seeds, these
        self.traces: dict[tuple[str, int, Choice], ft.Trace] = {}
        self.blocks = 0

    def _input(self, choice: Choice) -> Choice:
        """The choice by which the input is made."""
        return choice if choice.parameter in (
            "b of the reads", "footprint of Financial") else JUDGED

    def make_inputs(self) -> None:
        """All base traces."""
        keys = list(dict.fromkeys(
            (n, s, self._input(c)) for c in self.these for n in TABLE
            for s in self.seeds))
        with Stage(f"scatter: inputs, {self.title}") as stage:
            def done(key: tuple[str, int, Choice], trace: ft.Trace) -> None:
                self.traces[key] = trace
                stage.step(len(self.traces), len(keys), key[0])

            self.ctx.runner.each(
                lambda k: base(self.ctx, k[0], k[1], k[2], self.scale), keys,
                done)
        self.blocks = blocks(self.ctx, self.scale, self.traces.values())

    def _file(self, name: str, k: int, seed: int, choice: Choice) -> Path:
        made = self._input(choice)
        path = self.ctx.inputs / "-".join(
            ["scatter", self.title, name, f"D{k}", str(seed),
             made.text().replace(" ", "_")])
        if not path.exists():
            ft.write_msr(ft.retime(self.traces[name, seed, made], k, seed),
                         path)
        return path

    def _states(self) -> dict[Choice, Path]:
        """Aged drives, each made once."""
        need = {_state(c) for c in self.these
                if c.of("initial state") == "aged"}
        path = {c: self.ctx.inputs / f"scatter-{self.title}-"
                f"{c.text().replace(' ', '_')}.state" for c in need}
        self.ctx.run(f"scatter: aged drives, {self.title}", {
            ("aged", self.title, c.text()): Point(
                find_profile("shin2018"), workload="rw=read number_ios=1",
                sets=drive(c, self.blocks),
                args=("--precondition", "--save-state", str(path[c])))
            for c in need})
        return path

    def run(self, ks: Iterable[int] = KS) -> Results:
        """Play them all."""
        self.make_inputs()
        state = self._states()
        points = {}
        for choice in self.these:
            args = ("--fill", "preload")
            if choice.of("initial state") == "aged":
                args = ("--state", str(state[_state(choice)]))
            for name in TABLE:
                for seed in self.seeds:
                    for k in ks:
                        points[name, k, seed, choice, self.scale < 1] = Point(
                            find_profile("shin2018"),
                            trace=self._file(name, k, seed, choice),
                            sets=drive(choice, self.blocks), args=args)
        return self.ctx.run(f"scatter: runs, {self.title}", points)
