# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive's statistics for people."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import UserError

LATE_SHARE = 0.1  # of the mean latency: less is not worth a word


def write(stats: dict[str, Any], name: str) -> None:
    """The statistics as JSON into a file; "-" is standard output."""
    text = json.dumps(stats, indent=2) + "\n"
    if name == "-":
        sys.stdout.write(text)
        return
    write_file(text.encode(), name, "--stats")


def write_file(data: bytes, name: str, option: str) -> None:
    """A result into the file that an option names."""
    try:
        Path(name).write_bytes(data)
    except OSError as e:
        raise UserError(f"{option} {name}: {e.strerror}") from e


def time_text(ns: float) -> str:
    """A time with a unit that fits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def _latency(stats: dict[str, Any], name: str) -> str:
    row = stats.get("latency_ns", {}).get(name, {})
    return "   ".join(f"{what} {time_text(row[what])}"
                      for what in ("mean", "p50", "p99", "max") if what in row)


def as_one(stats: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The document of --stats: the statistics of the only drive; those of
    several drives by their ids."""
    if len(stats) == 1:
        return next(iter(stats.values()))
    return {"drives": stats}


def summary_of_all(stats: dict[str, dict[str, Any]], icount: bool) -> str:
    """A few lines for each drive, and what is to be known of their times."""
    parts = [summary(one, f"drive {name}" if len(stats) > 1 else "drive")
             for name, one in stats.items()]
    if not icount:
        parts += [text for text in (lateness_advice(stats),) if text]
    return "\n".join(parts)


def lateness_advice(stats: dict[str, dict[str, Any]]) -> str:
    """When the guest's own times are wrong by much, the way to exact ones.

    Delivery is late where the host cannot keep up.  The guest then measures
    the modelled latency and the lateness; the statistics have the former only.
    """
    worst, share, text = "", LATE_SHARE, ""
    for name, one in stats.items():
        rows = [r for r in one.get("latency_ns", {}).values()
                if isinstance(r, dict) and r.get("count") and r.get("mean")]
        count = sum(r["count"] for r in rows)
        late = one.get("lateness_ns", {}).get("mean") or 0
        mean = sum(r["mean"] * r["count"] for r in rows) / count if count else 0
        if mean and late / mean >= share:
            worst, share = name, late / mean
            text = f"{time_text(late)} late on average (latency {time_text(mean)})"
    if not worst:
        return ""
    return (f"  {worst} completed commands {text}: the guest measures that much"
            " more than the times above; --icount gives it exact times")


def summary(stats: dict[str, Any], title: str = "drive") -> str:
    """A few lines."""
    lines = [f"{title}: profile {stats.get('profile', '?')},"
             f" {stats.get('requests', 0)} commands,"
             f" WAF {stats.get('waf', 0):.3g}"]
    nand = stats.get("nand", {})
    if nand:
        lines.append(f"  NAND: {nand.get('reads', 0)} reads,"
                     f" {nand.get('programs', 0)} programs,"
                     f" {nand.get('erases', 0)} erases")
    for name in ("read", "write", "flush", "trim"):
        row = stats.get("latency_ns", {}).get(name, {})
        if row.get("count", 1) and row.get("max", 0):
            lines.append(f"  {name}: {_latency(stats, name)}")
    late = stats.get("lateness_ns", {})
    if late:
        lines.append("  delivered late by: " + "   ".join(
            f"{k} {time_text(late[k])}" for k in ("p50", "p99", "max")
            if k in late))
    return "\n".join(lines)
