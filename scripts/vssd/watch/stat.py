# SPDX-License-Identifier: GPL-2.0-or-later
"""Readings of a drive as tables, JSON and CSV: what ./vssd stat prints."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError
from . import members
from .source import Drive, Stats

# Shown in a table without patterns, where they are not 0.
MAIN = ("profile", "requests", "iops", "host_bytes_*", "latency_ns.all",
        "latency_ns.read", "latency_ns.write", "commands_failed", "waf",
        "waf_by_cause", "nand.reads", "nand.programs", "nand.erases",
        "nand.percent_used", "nand.bus_utilization", "nand.die_utilization",
        "explain.bound_by", "explain.commands_in_flight", "gc.victims",
        "gc.copied_units", "gc.free_blocks", "buffer.units*", "buffer.*hits",
        "media.read_only", "thermal.celsius", "power.mean_w", "lateness_ns")


@dataclass
class Reading:
    """A drive at one time."""

    drive: str
    time_s: float  # Unix time
    stats: Stats
    rates: dict[str, float] = field(default_factory=dict)  # per second
    chosen: dict[str, Any] = field(default_factory=dict)  # values by place


def choose(stats: Stats, patterns: list[str]) -> dict[str, Any]:
    """The values that a pattern selects, or all, in the order of the patterns;
    without samples over time, unless a pattern has them in its text."""
    every = {p: v for p, v in members.values(stats).items()
             if members.COURSE not in p
             or any(members.COURSE in one for one in patterns)}
    out = {}
    for pattern in patterns:
        found = {p: v for p, v in every.items() if members.matches(p, pattern)}
        if not found:
            raise UserError(f"stat: no statistic matches {pattern!r};"
                            " docs/results.md has them, --all shows them")
        out.update(found)
    return out if patterns else every


def readings(drive: Drive, patterns: list[str], interval_s: float,
             count: int) -> Iterator[Reading]:
    """One after the other; count=0: without end."""
    before: Stats | None = None
    due = time.monotonic()
    made = 0
    while not count or made < count:
        stats = drive.read()
        yield Reading(drive.name, time.time(), stats,
                      members.rates(before, stats) if before else {},
                      choose(stats, patterns))
        before = stats
        made += 1
        if count and made == count:
            return
        # A reading that took too long is not made up for.
        now = time.monotonic()
        due = max(due + interval_s, now)
        time.sleep(due - now)


def only_main(found: Iterator[Reading]) -> Iterator[Reading]:
    """The readings with the main statistics chosen."""
    for reading in found:
        reading.chosen = {p: v for p, v in reading.chosen.items()
                          if any(members.matches(p, m) for m in MAIN)}
        yield reading


def cell(value: Any) -> str:
    """A value for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return str(value)


def _rows(reading: Reading, main: bool) -> list[list[str]]:
    out = []
    for place, value in reading.chosen.items():
        rate = reading.rates.get(place)
        if main and not (value or rate):
            continue
        row = members.member(place)
        out.append([place, cell(value), row.unit if row else "",
                    "" if rate is None else cell(rate)])
    return out


def tables(found: Iterator[Reading], main: bool) -> None:
    """A table for each reading; the values of 0 left out if `main`."""
    from ..ui import table

    for reading in found:
        head = ["statistic", "value", "unit", "per second"]
        rows = _rows(reading, main)
        if not reading.rates:
            head, rows = head[:3], [r[:3] for r in rows]
        stamp = time.strftime("%H:%M:%S", time.localtime(reading.time_s))
        table(f"{reading.drive} at {stamp}", head, rows)
        sys.stdout.flush()


def _pruned(stats: Any, chosen: dict[str, Any], place: str = "") -> Any:
    """The statistics with the chosen values only; a list stays whole, so that
    its indices keep their meaning."""
    if not isinstance(stats, dict):
        return stats
    out = {}
    for name, one in stats.items():
        path = f"{place}.{name}" if place else name
        if path in chosen or any(p.startswith((path + ".", path + "["))
                                 for p in chosen):
            out[name] = _pruned(one, chosen, path)
    return out


def json_lines(found: Iterator[Reading], patterns: list[str],
               watch: bool) -> None:
    """An object for each reading, on a line: the members of the drive; with
    `watch` also time_s and rates."""
    for reading in found:
        out = reading.stats
        if patterns:
            out = {"schema_version": out["schema_version"],
                   **_pruned(out, reading.chosen)}
        if watch:
            rates = {p: r for p, r in reading.rates.items()
                     if p in reading.chosen}
            out = {"drive": reading.drive, "time_s": round(reading.time_s, 3),
                   **out, "rates": rates}
        print(json.dumps(out), flush=True)


def csv_lines(found: Iterator[Reading]) -> None:
    """A column for each statistic, and one for the rate of each counter; a line
    for each reading.  The first reading sets the columns."""
    out = csv.writer(sys.stdout)
    places: list[str] = []
    counted: list[str] = []
    for reading in found:
        if not places:
            places = list(reading.chosen)
            counted = [p for p in places
                       if (row := members.member(p)) and row.counts]
            out.writerow(["time_s", "drive", *places,
                          *(p + " per s" for p in counted)])
        out.writerow([f"{reading.time_s:.3f}", reading.drive,
                      *(reading.chosen.get(p) for p in places),
                      *(reading.rates.get(p) for p in counted)])
        sys.stdout.flush()
