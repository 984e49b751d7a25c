# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of rows, and the board of drives and classes."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass
from typing import Any

from .classes import CLASSES
from .drives import USES
from .loads import DRIVES, bs_of
from .play import Played
from .points import Entry
from .rows import Row, percentile
from .software import host_us

CAP = 300.0  # per cent; also of what is not modelled
Course = list[list[float]]


@dataclass(frozen=True)
class Scored:
    """A row with our number."""

    entry: Entry
    ours: float | None
    why: str = ""  # without our number

    @property
    def error(self) -> float | None:
        """Per cent; nothing: not compared."""
        if self.why == FEW:
            return None
        if self.ours is None or self.ours <= 0:
            return CAP
        return min(CAP, 100 * abs(math.log(self.ours / self.entry.row.value)))


FEW = "too few samples above the percentile"


def _kind(entry: Entry) -> str:
    """read or write: the side of a row."""
    side = entry.row.side
    if side in ("read", "write"):
        return side
    workload = entry.row.workload
    if workload.startswith("reset") and entry.load.kind == "pair":
        return "reset"
    return "read" if re.search(r"rw=(rand)?read\b|^random read", workload) else "write"


def _cut(course: Course, low: float, high: float) -> tuple[float, ...]:
    """Seconds, written and copied while the written share went from low to
    high."""
    done = seconds = written = copied = 0.0
    for step, w, c in course:
        part = max(0.0, min(done + w, high) - max(done, low)) / w if w else \
            float(low <= done < high)
        seconds, written, copied = (seconds + part * step, written + part * w,
                                    copied + part * c)
        done += w
    return seconds, written, copied


def _of_piece(entry: Entry, played: Played, bytes_of_fill: float) \
        -> float | None:
    """A row of a piece of a curve, or of the last fifth."""
    row = entry.row
    at = row.noted(r"at=([\d.]+)-([\d.]+)fills")
    fills = entry.load.fills
    last = row.noted(r"last20%of([\d.]+)fills")
    if at:
        low, high = float(at.group(1)), float(at.group(2))
    elif last:
        high = float(last.group(1))
        low = 0.8 * high
    else:
        low, high = 0.8 * fills, fills
    seconds, written, copied = _cut(played["course"], low, high)
    if not seconds or not written:
        return None
    if row.metric == "wa":
        return (written + copied) / written
    return written * bytes_of_fill / 4096 / seconds


FALL = 0.75  # of a rate: below it begins another regime
SOON = 0.05  # of the drive, over which a rate is taken


def _rate(course: Course, low: float, high: float) -> float:
    """Drives a second."""
    seconds, written, _ = _cut(course, low, high)
    return written / seconds if seconds else 0.0


def _third_start(course: Course, at: float) -> float | None:
    """Where the rate behind the cache falls and stays low, if it does."""
    low = FALL * _rate(course, at, at + SOON)
    done, start = 0.0, None
    for step, written, _ in course:
        if at + SOON <= done < 1 - SOON:
            if _rate(course, done, done + SOON) >= low:
                start = None
            elif start is None and written < low * step:
                start = done
        done += written
    return start


def slc_shape(course: Course) -> dict[str, float]:
    """The regimes of a whole write: shares of the drive, and rates in
    drives a second.  A drive with two has no third-start, and third-rate is
    that of its second half."""
    total = [sum(c[i] for c in course) for i in (0, 1)]
    first = course[: max(len(course) // 100, 3)]
    top = sum(c[1] for c in first) / sum(c[0] for c in first)
    whole = total[1] / total[0]
    done, at = 0.0, total[1]
    # The end of the cache: the rate falls, and stays low.
    for i, (step, written, _) in enumerate(course):
        soon = course[i:i + 5]
        if written / step < FALL * top and sum(
                c[1] for c in soon) < FALL * top * sum(c[0] for c in soon):
            at = done
            break
        done += written

    third = _third_start(course, at)
    shape = {"cache-size": at, "cache-rate": _rate(course, 0.0, at),
             "after-cache": _rate(course, at, min(third or 1.0, max(0.5, 1.5 * at))),
             "third-rate": _rate(course, third or 0.5, 1.0),
             "whole-drive": whole}
    return shape if third is None else {**shape, "third-start": third}


def _slc(entry: Entry, played: Played, played_bytes: int) -> float | None:
    shape = slc_shape(played["course"])
    row = entry.row
    real = row.capacity or entry.drive.capacity
    value = shape.get(row.side)
    if value is None:
        return None
    if row.metric == "size_gb":
        if row.side == "cache-size" and value >= 0.99:
            return None  # no fall of the rate
        return value * real / 1e9
    return value * played_bytes / 1e6


def ours_of(entry: Entry, played: Played, played_bytes: int) -> Scored:
    """Our number for a row."""
    if "error" in played:
        return Scored(entry, None, played["error"])
    row, load = entry.row, entry.load
    if load.kind == "slc":
        value = _slc(entry, played, played_bytes)
        return Scored(entry, value, "" if value else "no such regime")
    if load.kind == "steady" and row.metric in ("iops", "wa"):
        value = _of_piece(entry, played, played_bytes * load.share)
        return Scored(entry, value, "" if value else "the drive did not write"
                      " so much")
    side: dict[str, Any] | None = played.get(_kind(entry))
    if side is None:
        return Scored(entry, None, FEW)
    percent = percentile(row.metric)
    if percent is not None and "without" in played:
        return Scored(entry, None, f"not modelled: {played['without']}")
    if percent is not None:
        found = side["percentiles"].get(f"{percent:g}")
        return Scored(entry, found and found + _host_us(entry),
                      "" if found else FEW)
    return Scored(entry, _plain(entry, side))


def _host_us(entry: Entry) -> float:
    """The host's software, where one closed loop was run: its requests follow
    each other later by this."""
    alone = entry.load.kind == "run" and "mix" not in entry.load.workload
    return host_us(entry.row) if alone else 0.0


def _plain(entry: Entry, side: dict[str, Any]) -> float | None:
    row = entry.row
    host = _host_us(entry)
    slower = side["mean_us"] / (side["mean_us"] + host) if host else 1.0
    little = row.noted(r"little=([\d.]+)")
    # A host that kept less than its one request in flight paused between.
    busy = float(little.group(1)) if little and entry.load.kind == "zones" \
        else 1.0
    if row.metric == "iops":
        return float(side["iops"]) * slower * busy * _drives(row)
    if row.metric == "mb_s":
        return float(side["iops"]) * slower * busy * bs_of(row.workload) / 1e6
    if row.metric == "mean_us":
        return float(side["mean_us"]) + host
    if row.metric == "ms":
        return float(side["mean_us"]) / 1e3
    return None


def _drives(row: Row) -> float:
    """Of eight drives in turns: all their requests, of one job."""
    jobs = row.noted(r"one of (\d+) equal jobs")
    if "round robin" not in row.note:
        return 1.0
    return DRIVES / (int(jobs.group(1)) if jobs else 1)


# ---- the board ----------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """The errors of some rows."""

    mean: float
    median: float
    n: int


Board = dict[str, dict[str, Cell]]  # drive (or "mean of the drives"), class
ALL = "mean of the drives"


def _cells(scored: list[Scored]) -> Board:
    groups: dict[str, dict[str, list[float]]] = {}
    for s in scored:
        if s.error is not None:
            groups.setdefault(s.entry.drive.name, {}).setdefault(
                s.entry.name, []).append(s.error)
    return {drive: {name: Cell(statistics.fmean(errors),
                               statistics.median(errors), len(errors))
                    for name, errors in columns.items()}
            for drive, columns in sorted(groups.items())}


def board_of(scored: list[Scored]) -> dict[str, Cell]:
    """By class: the mean of the drives."""
    board, out = _cells(scored), {}
    for name in CLASSES:
        cells = [columns[name] for columns in board.values()
                 if name in columns]
        if cells:
            out[name] = Cell(statistics.fmean(c.mean for c in cells),
                             statistics.fmean(c.median for c in cells),
                             sum(c.n for c in cells))
    return out


def boards(scored: list[Scored]) -> dict[str, Board]:
    """By use: one row a drive, one column a class, and the mean of the
    drives."""
    out = {}
    for use in USES:
        some = [s for s in scored if s.entry.use == use]
        board = _cells(some)
        if board:
            out[use] = {**board, ALL: board_of(some)}
    return out


def shown(cell: Cell | None) -> str:
    """Mean and median for people."""
    return f"{cell.mean:.0f} ({cell.median:.0f})" if cell else "-"
