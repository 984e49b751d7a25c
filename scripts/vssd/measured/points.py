# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows with their class, their use and their load; and a sample of points."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from dataclasses import dataclass

from ..errors import UserError
from . import classes
from .drives import FILE, Drive
from .loads import Load, load_of
from .rows import Row


@dataclass(frozen=True)
class Entry:
    """A row that is compared."""

    row: Row
    drive: Drive
    name: str  # of the class
    use: str
    load: Load

    @property
    def point(self) -> tuple[str, Load]:
        """Rows of one point come from one run."""
        return self.drive.name, self.load


def _fills(row: Row) -> float:
    """How often the used size was written up to the end of this row."""
    found = row.noted(r"of([\d.]+)fills") or row.noted(r"at=[\d.]+-([\d.]+)f")
    return float(found.group(1)) if found else 0.0


def _load(row: Row, drive: Drive) -> Load:
    if drive.profile is None:
        return Load("none", workload=row.base, why="no profile of the drive")
    try:
        return load_of(row, row.capacity or drive.capacity)
    except (ValueError, ZeroDivisionError) as e:
        raise UserError(f"{row.where}: workload {row.workload!r}, precondition"
                        f" {row.precondition!r}: {e}") from e


def entries(rows: list[Row], drives: dict[str, Drive], whole: bool = True) \
        -> tuple[list[Entry], dict[str, int]]:
    """The rows that are compared, and how many are left out for what.  Only
    `whole` grids have a best row."""
    best = classes.best(rows) if whole else set()
    out: list[Entry] = []
    left: dict[str, int] = defaultdict(int)
    for row in rows:
        drive = drives.get(row.drive)
        if drive is None:
            raise UserError(f"{row.where}: no profile for the drive"
                            f" {row.drive!r} ({FILE.name}, or --profile)")
        why = classes.void(row)
        if why:
            left[why] += 1
            continue
        name = "peaks" if row in best else classes.class_of(row)
        if not name:
            raise UserError(f"{row.where}: no class for the experiment"
                            f" {row.experiment!r} (vssd/measured/classes.py)")
        load = _load(row, drive)
        out.append(Entry(row, drive, name, drive.use(row), load))
    return _with_fills(out), dict(left)


def _with_fills(found: list[Entry]) -> list[Entry]:
    """A steady load is as long as its longest row."""
    most: dict[tuple[str, Load], float] = defaultdict(float)
    for e in found:
        most[e.point] = max(most[e.point], _fills(e.row))
    return [dataclasses.replace(e, load=dataclasses.replace(
        e.load, fills=most[e.point])) if e.load.kind == "steady" else e
        for e in found]


def sample(found: list[Entry], n: int, seed: int = 1) -> list[Entry]:
    """All rows of at most `n` points of each drive and class."""
    strata: dict[tuple[str, str], dict[Load, None]] = defaultdict(dict)
    for e in found:
        if e.load.kind != "none":
            strata[e.drive.name, e.name][e.load] = None
    chosen = set()
    for key, loads in sorted(strata.items()):
        rng = random.Random(f"{seed} {key}")
        chosen |= {(*key, load)
                   for load in rng.sample(list(loads), min(n, len(loads)))}
    return [e for e in found if e.load.kind == "none"
            or (e.drive.name, e.name, e.load) in chosen]
