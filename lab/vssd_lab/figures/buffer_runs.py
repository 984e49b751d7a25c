# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives and runs of the figure `buffer`.

Knows what the paper leaves open and how to play an input; knows nothing of the
paper's statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vssd.paths import find_profile
from vssd.sim.run import Point

from . import ssdsim
from .buffer_input import MOST, PAGE, SEED, TABLE, Input, Make, inputs
from .figure import Context
from .ssdsim import Sets

MIB = 1 << 20
SIZES = (32, 64, 128, 256, 512, 1024)  # MiB
SWEPT_SIZES = (32, 128, 1024)
POLICIES = ("lru", "cflru", "cflru-ef", "cflru-ef-sc")
BASE, EARLY, SECOND = POLICIES[1:]
BLOCKS = 911  # per plane, of the paper's drive
# The least of a scaled one; and where the trace does not fill the drive's
# capacity, which 8 spare blocks in a plane have to be 7 % of.
LEAST_BLOCKS, LEAST_FULL = 16, 128
PLANE_BLOCK = 4 * 2 * 2 * 575 * PAGE  # bytes of one block of each plane
LEAST_PAGES = 32  # of a buffer
ADAPT = 1000  # host writes between adjustments of the threshold
FLUSH_S, LATE_FLUSH_S = 30.0, 300.0  # the paper's; of a test
ONCE, FLUSHED = "once", "flushed"
SWEEP = 0.1  # of addresses, buffers and requests, in runs of a sweep

# What the paper leaves open: parameter, value, options of the drive.
DRIVE: dict[str, dict[str, Sets]] = {
    "completion": ssdsim.ROOM,
    "host queue": ssdsim.QUEUE,
    "allocation": ssdsim.ALLOCATION,
    "chip": ssdsim.CHIP,
    "DRAM word": {"4 bytes": (), "8 bytes": ("buffer.access=15360ns",)},
    "threshold": {"ours": (), "constant": ("buffer.early_adapt=0",)},
    "GC starts at": {"1 %": (), "10 %": ("ftl.gc_low=10%", "ftl.gc_high=11%")},
}
BURSTS: dict[str, float | None] = {"0.5": 0.5, "0.7": 0.7, "fitted": None}
# Over-provisioning: all that the trace does not touch, or so much.
CAPACITY = {"untouched space": 0.0, "7 %": 7.0}
LENGTH, FIRST, WEEK = "requests", f"the first {MOST}", "the whole week"
PARAMETERS: dict[str, tuple[str, ...]] = {
    **{name: tuple(values) for name, values in DRIVE.items()},
    LENGTH: (FIRST, WEEK),
    "b of the arrivals": tuple(BURSTS),
    "over-provisioning": tuple(CAPACITY),
}
# The judged values: chosen by outcome where the page says so.
USED = {
    **ssdsim.USED, "DRAM word": "4 bytes", "threshold": "ours",
    "GC starts at": "1 %", "b of the arrivals": ssdsim.USED_BURSTS,
    "over-provisioning": "untouched space", LENGTH: FIRST,
}


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
LATE_FLUSH = Choice("a flush each", f"{LATE_FLUSH_S:g} s")
LATE_SIZES = (32, 256)  # MiB
# Input, MiB, policy, flushed or not, seed, choice, part of the sweep.
Key = tuple[str, int, str, str, int, Choice, bool]


def choices() -> list[Choice]:
    """All but the judged one."""
    return [Choice(p, v) for p, values in PARAMETERS.items()
            for v in values if v != USED[p]]


def make(seed: int, choice: Choice, swept: bool) -> Make:
    """How the input of a run is generated."""
    return Make(seed, BURSTS[choice.of("b of the arrivals")],
                SWEEP if swept else 1.0, choice.of(LENGTH) == WEEK)


def sets(one: Input, mib: int, policy: str, variant: str, choice: Choice) \
        -> Sets:
    """The drive, its buffer, and amounts in units of the buffer: the paper's,
    scaled with the input."""
    pages = max(round(mib * MIB * one.scale / PAGE), LEAST_PAGES)
    percent = CAPACITY[choice.of("over-provisioning")]
    blocks = max(round(BLOCKS * one.scale),
                 LEAST_FULL if percent else LEAST_BLOCKS,
                 -(-one.extent * 5 // 4 // PLANE_BLOCK))
    out: Sets = (f"nand.blocks={blocks}",
                 f"ftl.op_percent={percent:g}%" if percent
                 else f"ftl.capacity={one.extent}",
                 f"buffer.policy={policy}", f"buffer.size={pages * PAGE}",
                 f"buffer.early_adapt={max(round(ADAPT * one.scale), 10)}")
    if variant == FLUSHED:
        every = LATE_FLUSH_S if choice == LATE_FLUSH else FLUSH_S
        out += (f"buffer.flush_interval={every * one.scale * 1e6:.0f}us",)
    for parameter, values in DRIVE.items():
        out += values[choice.of(parameter)]
    return out


class Runs:
    """The inputs and their results."""

    def __init__(self, ctx: Context) -> None:
        self.seeds = ctx.seeds(SEED)
        keys: list[Key] = [
            (n, s, p, v, seed, JUDGED, False)
            for seed in self.seeds for n, v in _inputs() for s in SIZES
            for p in POLICIES[1:]]
        keys += [(n, s, "lru", v, SEED, JUDGED, False)
                 for n, v in _inputs() for s in SIZES]
        self.swept: list[Choice] = []
        if ctx.sweeps:
            self.swept = [JUDGED, *choices()]
            keys += [(n, s, p, v, SEED, c, True) for c in self.swept
                     for n, v in _inputs() for s in SWEPT_SIZES
                     for p in POLICIES[1:]]
            keys += [("mix", s, p, FLUSHED, SEED, LATE_FLUSH, True)
                     for s in LATE_SIZES for p in (BASE, SECOND)]
        self.ins = inputs(ctx, list(dict.fromkeys(
            make(k[4], k[5], k[6]) for k in keys)))
        # The longest first, so that no core waits for the last one.
        keys.sort(key=lambda k: -self.input(k).requests)
        self.results = ctx.run("buffer: runs", {
            k: self._point(k) for k in keys})

    def input(self, key: Key) -> Input:
        """Of a run."""
        return self.ins[key[0], make(*key[4:])]

    def source(self, name: str) -> str:
        """For the reader: the first seed's."""
        return self.ins[name, make(SEED, JUDGED, False)].source

    def _point(self, key: Key) -> Point:
        one = self.input(key)
        name, mib, policy, variant, _, choice, _ = key
        return Point(find_profile("shin2023"), trace=one.trace,
                     sets=sets(one, mib, policy, variant, choice))

    # ---- by key -----------------------------------------------------------------

    def mean_us(self, key: Key) -> float:
        """Mean response."""
        return float(self.results[key]["latency_ns"]["all"]["mean"]) / 1000

    def tail_us(self, key: Key) -> float:
        """Mean of the slowest 1 %."""
        lat = self.results[key]["latency_ns"]["all"]
        return float(lat["tail_1pct_mean"]) / 1000

    def writes(self, key: Key) -> float:
        """Pages written to NAND, and to be written."""
        r = self.results[key]
        return float(r["nand"]["programs"] + r["buffer"]["units_dirty"])

    def hit(self, key: Key) -> float:
        """Hit ratio, %."""
        b = self.results[key]["buffer"]
        hits, misses = int(b["hits"]), int(b["misses"])
        return 100 * hits / max(hits + misses, 1)

    def victims(self, key: Key) -> float:
        """Dirty victims per request."""
        r = self.results[key]
        return float(r["buffer"]["dirty_evictions"] / max(r["requests"], 1))

    def labels(self, name: str, sizes: Iterable[int], policies: Iterable[str],
               variant: str = ONCE) -> list[Key]:
        """Of judged runs."""
        policies = list(policies)
        return [(name, m, p, variant, s, JUDGED, False) for m in sizes
                for p in policies for s in self.seeds]

    # ---- by seed -----------------------------------------------------------------

    def get(self, what: str, name: str, mib: int, policy: str,
            variant: str = ONCE) -> list[float]:
        """A judged value, by seed."""
        of = getattr(self, what)
        return [of((name, mib, policy, variant, s, JUDGED, False))
                for s in self.seeds]

    def ratio(self, what: str, name: str, mib: int, of: str, over: str,
              variant: str = ONCE) -> list[float]:
        """Of one policy to another, by seed."""
        return [a / max(b, 1e-9) for a, b in zip(
            self.get(what, name, mib, of, variant),
            self.get(what, name, mib, over, variant))]

    def swept_ratio(self, what: str, name: str, mib: int, of: str, over: str,
                    choice: Choice, variant: str = ONCE) -> float:
        """The same of a run of the sweep."""
        a, b = ((name, mib, p, variant, SEED, choice, True)
                for p in (of, over))
        get = getattr(self, what)
        return float(get(a) / max(get(b), 1e-9))


def _inputs() -> list[tuple[str, str]]:
    """Each input, and the mix once more with flushes."""
    return [*((n, ONCE) for n in TABLE), ("mix", FLUSHED)]
