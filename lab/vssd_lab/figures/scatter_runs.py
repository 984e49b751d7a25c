# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs, drives and runs of the figure `scatter`.

Knows the paper's Table 1, what the paper leaves open, and how to play it;
knows nothing of its statements.
"""

from __future__ import annotations

import re
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
TABLE = {
    "hm0": Table(0.3273, 14.74, 16.67, 0.15, 4096, int(2.50 * GB)),
    "proj0": Table(0.0585, 35.68, 81.83, 0.14, 4096, int(3.27 * GB)),
    "prn0": Table(0.2221, 45.67, 23.31, 0.11, 4096, int(14.90 * GB)),
    "fin1": Table(0.154, 4.5, 7.45, 0.01, 512, standin.FINANCIAL),
    "fin2": Table(0.7846, 4.56, 5.84, 0.01, 512, standin.FINANCIAL),
}
REQUESTS = 200_000  # the slowest 0.01 % are 20
# Blocks per plane: the addresses of prn0 and the spare part fit (26 GB).
BLOCKS, LEAST_BLOCKS = 768, 128
PLANE_BLOCK = 2 * 2 * 4 * 4 * 128 * 4096  # one block on each plane
SWEEP = 0.1  # of addresses, blocks and requests, in runs of a sweep
REST = "rw=read interval=1000s number_ios=2"  # while GC of an aged drive runs

# GC in the background: in the foreground only where that has not kept up.
SOFT = ("ftl.gc_low=1%", "ftl.gc_high=1.5%", "ftl.gc_soft=10%",
        "ftl.idle=0ns")

# What the paper leaves open: parameter, value, options of the drive.  Inputs
# and initial state are no options.
DRIVE: dict[str, dict[str, Sets]] = {
    "completion": ssdsim.COMPLETION,
    "tR": {"50 us": ("nand.read=50us",), "500 us": ("nand.read=500us",)},
    # Of SSDSim 5; a copy of it that is public has 32.
    "host queue": {str(n): (f"host.queue_depth={n}",)
                   for n in (5, 8, 16, 32, 1024)},
    "buffer": {"none": ("buffer.policy=none",),
               "4 MiB, first in first out": ("buffer.policy=fifo",)},
    "allocation": ssdsim.ALLOCATION,
    "chip": ssdsim.CHIP,
    # "If the clean blocks of each plane falls below 10 %, a garbage collection
    # ... is performed in the background."
    "GC": {
        "background": SOFT,
        "background, host first": (*SOFT, "nand.schedule=host-first"),
        "background, channel held": (*SOFT, "nand.gc_hold=on"),
        "foreground": ("ftl.gc_low=8.6%", "ftl.gc_high=9.3%"),
    },
}
SIZES: dict[str, int | None] = {"64 KiB": 128, "128 KiB": 256,
                                "as hm_0": None}  # sectors
# Parameter: volumes.  The sizes of the first are hm_0's: no excerpt tells them
# as they are in the week.
LARGEST = {"largest size of proj_0 and prn_0": ("proj0", "prn0"),
           "largest size of hm_0": ("hm0",)}
GRAIN = {"512": 512, "4096": 4096}  # bytes, of the Financial traces
DRIVE_BLOCKS = {"768": 1.0, "1536": 2.0}
BURSTS: dict[str, float | None] = {"0.5": 0.5, "0.7": 0.7, "fitted": None}
FOOTPRINT = {"0.5": 0.5, "1": 1.0, "2": 2.0}  # of the Financial traces
STATE = {"aged": "--precondition", "preloaded": "--fill=preload"}
PARAMETERS: dict[str, tuple[str, ...]] = {
    **{name: tuple(values) for name, values in DRIVE.items()},
    "b of the reads": tuple(BURSTS),
    "footprint of Financial": tuple(FOOTPRINT),
    "largest size of proj_0 and prn_0": tuple(SIZES),
    "blocks per plane": tuple(DRIVE_BLOCKS),
    "initial state": tuple(STATE),
}
# The judged values: chosen by outcome where the page says so.
USED = {
    **ssdsim.USED, "tR": "500 us",
    "b of the reads": ssdsim.USED_BURSTS, "footprint of Financial": "1",
    "largest size of proj_0 and prn_0": "64 KiB", "GC": "background",
    "buffer": "none",
    "blocks per plane": "768", "initial state": "aged",
    # No open parameters: the table has 512, and excerpts the sizes of hm_0; for
    # hypotheses.
    "grain of Financial": "512", "largest size of hm_0": "as hm_0",
}
OF_INPUT = ("b of the reads", "footprint of Financial", "grain of Financial",
            *LARGEST)
# A saved drive fits one with the same options, times excepted.
OF_STATE = tuple(p for p in DRIVE if p != "tR")


@dataclass(frozen=True)
class Choice:
    """A value of each open parameter: the judged ones but for one, and in the
    second judged setting tR."""

    parameter: str = ""
    value: str = ""
    fast: bool = False  # the second judged setting: tR is 50 us

    def of(self, parameter: str) -> str:
        """The value of a parameter."""
        if parameter == self.parameter:
            return self.value
        return FAST if self.fast and parameter == "tR" else USED[parameter]

    def text(self) -> str:
        """For the reader of the runs."""
        parts = [f"tR {FAST}"] * self.fast
        if self.parameter:
            parts.append(f"{self.parameter} {self.value}")
        return ", ".join(parts) or "judged"


FAST = "50 us"
JUDGED = Choice()
SECOND = Choice(fast=True)
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
        table = replace(table, grain=GRAIN[choice.of("grain of Financial")])
    table = replace(table, footprint=int(table.footprint * part)
                    // ft.PAGE * ft.PAGE)
    shape = load()[name]
    for parameter, names in LARGEST.items():
        largest = SIZES[choice.of(parameter)]
        if name in names and largest is not None:
            shape = standin.bounded(shape, largest)
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
    capacity over-provisioned.  A drive of 8, 18, ... blocks, and one of twice
    as many, can keep the 10 % free, rounded down, that the paper names."""
    extent = max((ft.extent(t) for t in traces), default=0)
    need = -(-extent * 5 // 4 // PLANE_BLOCK) + 1
    n = max(LEAST_BLOCKS, int(BLOCKS * part * min(ctx.scale, 1.0)), int(need))
    return n + (8 - n) % 10


def drive(choice: Choice, n: int) -> Sets:
    """The options of a drive with n blocks per plane."""
    n = int(n * DRIVE_BLOCKS[choice.of("blocks per plane")])
    out: Sets = (f"nand.blocks={n}",)
    for parameter, values in DRIVE.items():
        out += values[choice.of(parameter)]
    return out


def _state(choice: Choice) -> Choice:
    """The choice by which the initial state is made."""
    return replace(choice, fast=False) \
        if choice.parameter in (*OF_STATE, "blocks per plane") else JUDGED


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "_", text)


def _input(choice: Choice) -> Choice:
    """The choice by which the input is made."""
    return replace(choice, fast=False) if choice.parameter in OF_INPUT \
        else JUDGED


class Plan:
    """Runs of one length: the judged one, or that of sweeps.  Inputs and aged
    drives are made once."""

    def __init__(self, ctx: Context, title: str, scale: float) -> None:
        self.ctx, self.title, self.scale = ctx, title, scale
        self.traces: dict[tuple[str, int, Choice], ft.Trace] = {}
        self.states: dict[Choice, Path] = {}
        self.blocks = 0

    def _make_inputs(self, keys: list[tuple[str, int, Choice]]) -> None:
        """Base traces that there are not yet."""
        keys = [k for k in dict.fromkeys(keys) if k not in self.traces]
        with Stage(f"scatter: inputs, {self.title}") as stage:
            def done(key: tuple[str, int, Choice], trace: ft.Trace) -> None:
                self.traces[key] = trace
                stage.add(len(keys))

            self.ctx.runner.each(
                lambda k: base(self.ctx, k[0], k[1], k[2], self.scale), keys,
                done)
        self.blocks = self.blocks or blocks(self.ctx, self.scale,
                                            self.traces.values())

    def _file(self, name: str, k: int, seed: int, choice: Choice) -> Path:
        made = _input(choice)
        path = self.ctx.inputs / "-".join(
            [self.title, name, f"D{k}", str(seed), _slug(made.text())])
        if not path.exists():
            ft.write_msr(ft.retime(self.traces[name, seed, made], k, seed),
                         path)
        return path

    def _make_states(self, these: Iterable[Choice]) -> None:
        """Aged drives that there are not yet."""
        need = {_state(c) for c in these if c.of("initial state") == "aged"}
        need -= set(self.states)
        for c in need:
            self.states[c] = self.ctx.inputs / \
                f"{self.title}-{_slug(c.text())}.state"
        self.ctx.run(f"scatter: aged drives, {self.title}", {
            ("aged", self.title, c.text()): Point(
                find_profile("shin2018"), workload=REST,
                sets=drive(c, self.blocks),
                args=("--precondition", "--save-state", str(self.states[c])))
            for c in need})

    def run(self, these: list[Choice], seeds: list[int],
            names: Iterable[str] = tuple(TABLE), ks: Iterable[int] = KS) \
            -> Results:
        """Play the traces of these names."""
        runs = [(n, k, s, c) for c in these for n in names for s in seeds
                for k in ks]
        self._make_inputs([(n, s, _input(c)) for n, _, s, c in runs])
        self._make_states(these)
        points = {}
        for name, k, seed, choice in runs:
            args = ("--fill", "preload")
            if choice.of("initial state") == "aged":
                args = ("--state", str(self.states[_state(choice)]))
            points[name, k, seed, choice, self.scale < 1] = Point(
                find_profile("shin2018"),
                trace=self._file(name, k, seed, choice),
                sets=drive(choice, self.blocks), args=args)
        return self.ctx.run(f"scatter: runs, {self.title}", points)
