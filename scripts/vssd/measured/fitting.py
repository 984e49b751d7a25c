# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits a profile to rows of measured drives: some rows are fitted, the others
are predicted with the result.

Knows rows, how they are played, and which states a parameter changes; the search
is calibrate.py's.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import UserError
from ..paths import find_profile
from ..sim import calibrate
from ..sim.calibrate import Free, Goal
from ..sim.run import Point
from . import points, rows, run
from .drives import Drive
from .play import Player
from .points import Entry
from .rows import Row
from .score import Scored
from .states import States

# A saved drive may have other values of these, and of all times (docs/state.md).
NO_MARK = ("host.link_mb_s", "host.max_iops", "host.max_write_iops",
           "nand.bus_mt_s")


MOST_FILLS = 1.0  # of the used size, in a run that is played many times


def rows_of(folder: Path, drive: str) -> list[Row]:
    """The rows of one drive; its name may be left out if there is one."""
    found = rows.read(folder)
    names = sorted({r.drive for r in found})
    if not drive and len(names) > 1:
        raise UserError(f"--data {folder}: several drives; give --drive, one of "
                        + ", ".join(names))
    drive = drive or names[0]
    if drive not in names:
        raise UserError(f"--drive {drive}: allowed " + ", ".join(names))
    return [r for r in found if r.drive == drive]


def entries_of(found: list[Row], base: Path, per_class: int) -> list[Entry]:
    """Rows that can be played, of some points of each class."""
    first = found[0]
    drive = Drive(first.drive, base, (), first.capacity, False, ())
    entries, _ = points.entries(found, {first.drive: drive})
    return points.sample([e for e in entries if e.load.kind != "none"
                          and e.load.fills <= MOST_FILLS], per_class)


def split(entries: Sequence[Entry], percent: float, seed: int) \
        -> tuple[list[Entry], list[Entry]]:
    """Those that are fitted, and the others."""
    order = list(range(len(entries)))
    random.Random(seed).shuffle(order)
    chosen = set(order[:max(round(len(order) * percent / 100), 1)])
    return ([e for i, e in enumerate(entries) if i in chosen],
            [e for i, e in enumerate(entries) if i not in chosen])


class SharedStates(States):
    """States that do not depend on parameters that leave no mark on them."""

    def share(self, frees: Sequence[Free]) -> None:
        """The parameters that change from run to run."""
        self.no_mark = tuple(f"{f.key}=" for f in frees
                             if f.unit == "time" or f.key in NO_MARK)

    def file(self, drive: Drive, name: str) -> Path:
        """The drive in a state, as a file."""
        return super().file(dataclasses.replace(drive, sets=tuple(
            s for s in drive.sets if not s.startswith(self.no_mark))), name)


def goal_of(entry: Entry) -> Goal:
    """A row as a figure."""
    return Goal(f"{entry.row.experiment}: {entry.row.workload}",
                entry.row.metric, entry.row.value, Point(entry.drive.path))


def errors_by_metric(scored: Sequence[Scored]) -> dict[str, float]:
    """Mean error in per cent of rates and means, p99 and p99.9, and of all."""
    groups: dict[str, list[float]] = {}
    names = {"p99_us": "p99", "p999_us": "p99.9"}
    for s in scored:
        if s.error is None:
            continue
        metric = s.entry.row.metric
        name = names.get(metric, "other percentiles"
                         if rows.percentile(metric) else "rates and means")
        groups.setdefault(name, []).append(s.error)
        groups.setdefault("all", []).append(s.error)
    return {name: sum(e) / len(e) for name, e in groups.items()}


class RowSearch(calibrate.Search):
    """Candidates by the rows that are fitted."""

    def __init__(self, player: Player, entries: Sequence[Entry],
                 frees: Sequence[Free], base: Path,
                 note: Callable[[str], None]) -> None:
        super().__init__(player.states.runner, [goal_of(e) for e in entries],
                         frees, base, note)
        self.player = player
        self.entries = list(entries)

    def scored(self, values: dict[str, str], entries: Sequence[Entry]) \
            -> list[Scored]:
        """Rows with our numbers, of a candidate."""
        sets = calibrate.sets_of(values, self.base)
        return run.score([dataclasses.replace(e, drive=dataclasses.replace(
            e.drive, sets=sets)) for e in entries], self.player, lambda _: None)

    def _run(self, values: dict[str, str]) -> list[float] | UserError:
        found = self.scored(values, self.entries)
        self.runs += len({e.load for e in self.entries})
        for s in found:
            if s.ours is None and s.why and s.error is not None:
                return UserError(s.why)
        # A percentile with too few samples says nothing.
        return [s.entry.row.value if s.ours is None else s.ours for s in found]


def playable(search: RowSearch) -> list[Entry]:
    """The rows that the base profile has numbers for."""
    return [s.entry for s in search.scored({}, search.entries)
            if s.ours is not None and s.error is not None]


def profile_of(name: str) -> Path:
    """--profile, which there must be."""
    if not name:
        raise UserError("--data: give --profile, too")
    return find_profile(name)
