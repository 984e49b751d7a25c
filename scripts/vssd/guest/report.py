# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive's statistics for people."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import UserError


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


def summary(stats: dict[str, Any]) -> str:
    """A few lines."""
    lines = [f"drive: profile {stats.get('profile', '?')},"
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
