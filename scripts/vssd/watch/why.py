# SPDX-License-Identifier: GPL-2.0-or-later
"""What bounds a run, what its slowest commands waited for, and what another
value of one option would change, in words with the number that each rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import UserError
from .network import (
    DEPTH,
    MODELS,
    SINGLE,
    STAGES,
    TYPED,
    Change,
    Drive,
    Unknown,
    percent,
    refusal,
)
from .result import Result

SLOW = 0.001      # share of the commands that are the slowest
SMALL = 0.05      # a part of the latency, and a change, that is not worth a word
PARTS = {"queue": "wait at the host", "firmware": "firmware",
         "link": "the host link", "buffer": "the buffer's DRAM and room in it",
         "bus_wait": "wait for a channel", "bus": "transfers on a channel",
         "die_wait": "wait for a die", "cell": "the array", "ecc": "ECC",
         "gc_wait": "wait for GC to free a block",
         "flush": "wait until writes are durable",
         "map": "wait for translation pages"}
# What an expert would try, as factors.
TRIED = {"nand.channels": 2.0, "nand.dies": 2.0, "nand.read": 0.5,
         "nand.program": 0.5, "nand.erase": 0.5, "nand.bus_mt_s": 2.0,
         "host.link_mb_s": 2.0, "host.pcie_lanes": 2.0, "host.firmware": 0.5,
         "host.firmware_write": 0.5, "host.cores": 2.0, "ftl.op_percent": 1.5,
         DEPTH: 2.0}


@dataclass
class Why:
    """The answer."""

    bound: str
    latency: str
    slow: str
    measure: str             # what ratios are of
    now: float               # of the measure
    changes: list[Change]
    without: dict[str, str]  # option: why nothing is said of it

    def json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def _time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def _parts(parts: dict[str, float]) -> str:
    """The large ones, as shares, and what their sum is."""
    total = sum(parts.values())
    large = sorted(((ns, name) for name, ns in parts.items()
                    if ns >= SMALL * total), reverse=True)
    return ", ".join(f"{percent(ns / total)} {PARTS.get(name, name)}"
                     for ns, name in large) if total else "no time"


def bound(drive: Drive) -> str:
    """One sentence."""
    explain = drive.data["explain"]
    by, stages = explain["bound_by"], explain["stages"]
    if by in ("one_die", "one_channel"):
        stage = stages["dies" if by == "one_die" else "channels"]
        return f"{by.replace('_', ' ')} bounds the run: it is busy for" \
               f" {percent(stage['busiest'])} of the time, the mean of all" \
               f" {stage['servers']} for {percent(stage['utilization'])}"
    if by == "buffer":
        return "room in the buffer bounds the run: commands wait for it in" \
               f" {percent(stages['buffer']['utilization'])} of the time"
    if by == "latency":
        name, busy = max(((n, s["utilization"]) for n, s in stages.items()),
                         key=lambda one: one[1])
        return f"latency bounds the run: {drive.depth:.1f} commands in flight" \
               f" keep nothing busy (most: {STAGES.get(name, name)}," \
               f" {percent(busy)} of the time)"
    text = f"{STAGES[by]} bound{'s' * (by in SINGLE)} the run: busy for" \
           f" {percent(stages[by]['utilization'])} of the time"
    others = {c: w for c, w in explain["work_by_cause"].items()
              if c != "host" and w >= 0.005}
    if by == "dies" and others:
        text += ", of that " + ", ".join(
            f"{percent(w)} {'GC' if c == 'gc' else c}"
            for c, w in others.items())
    return text


def slowest(one: Result) -> str:
    """One sentence of them."""
    found = one.slowest(SLOW)
    if not found:
        return "what the slowest commands waited for is in the file of --csv:" \
               " record X.csv beside X.json"
    ops = ", ".join(f"{op}: {n}" for op, n in sorted(found.ops.items()))
    return f"the slowest {found.commands} of {found.of} commands took" \
           f" {_time(found.least_ns)} or more: {_parts(found.parts)} ({ops})"


def _other(drive: Drive, option: str, factor: float) -> str:
    """The value that is tried, as text."""
    value = drive.page_ns(option) if option in TYPED else drive.number(option)
    now = drive.value(option)
    if option in TYPED or now.endswith("s"):
        return _time(value * factor).replace(" ", "")
    return f"{value * factor:.6g}" + ("%" if "%" in now else "")


def tried(drive: Drive) -> tuple[list[Change], dict[str, str]]:
    """The list of what an expert would try: what changes something, the most
    first, and why nothing is said of the others."""
    changes, without = [], {}
    for option, factor in TRIED.items():
        other = _other(drive, option, factor)
        try:
            one = drive.change(option, other)
        except Unknown as e:
            without[option] = str(e)
            continue
        if said := refusal(option, other):
            without[option] = f"{other}: {said}"
        elif abs(one.ratio - 1) >= SMALL:
            changes.append(one)
        else:
            without[option] = f"changes less than {percent(SMALL)}:" \
                f" {one.because}"
    return sorted(changes, key=lambda c: -abs(c.ratio - 1)), without


def chosen(drive: Drive, sets: Iterable[str], depth: int | None) \
        -> tuple[list[Change], dict[str, str]]:
    """The values that the user asks for, "KEY=VALUE" each, and the number of
    requests in flight."""
    asked, changes, without = [], [], {}
    for one in sets:
        option, sign, after = one.partition("=")
        if not sign or option == DEPTH:
            raise UserError(f"--set {one}: give KEY=VALUE of the drive")
        if option not in MODELS:
            raise UserError(f"--set {option}: no prediction for it; allowed "
                            + ", ".join(m for m in MODELS if m != DEPTH))
        if said := refusal(option, after):
            raise UserError(f"--set {option}={after}: {said}")
        asked.append((option, after))
    if depth is not None:
        asked.append((DEPTH, str(depth)))
    for option, after in asked:
        try:
            changes.append(drive.change(option, after))
        except Unknown as e:
            without[option] = str(e)
    return changes, without


def why(one: Result, sets: Iterable[str] = (),
        depth: int | None = None) -> Why:
    """UserError: the result is of another kind, or a value is none."""
    drive = Drive(one.data)
    changes, without = chosen(drive, sets, depth) \
        if sets or depth is not None else tried(drive)
    measure, now = ("mean latency, ns", drive.latency) if drive.open \
        else ("IOPS", 1e9 * drive.rate)
    return Why(bound(drive), f"a command takes {_time(drive.latency)}: "
               + _parts(drive.parts), slowest(one), measure, now, changes,
               without)
