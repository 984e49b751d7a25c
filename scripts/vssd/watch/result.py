# SPDX-License-Identifier: GPL-2.0-or-later
"""Results: the JSON of vssd-sim run --json, ./vssd run --stats and ./vssd stat
--json, and what the same run wrote beside it.

Of X.json these are X.csv (--csv, a line per command) and X.oplog (--oplog).
"""

from __future__ import annotations

import contextlib
import csv
import heapq
import json
import math
import statistics
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..origin import SCHEMA_VERSION

FIRST_DRIVE = "ssd0"
COLUMNS = ("op", "complete_ns", "latency_ns")  # of --csv, that are used here
FIRST_PART = "queue_ns"  # of --csv: from here on the parts of the latency


@dataclass
class Slowest:
    """The slowest commands of a run together."""

    commands: int
    of: int
    least_ns: int             # the latency of the quickest among them
    ops: dict[str, int]       # how many of each kind
    parts: dict[str, float]   # ns of each part of the latency, mean


@dataclass
class Result:
    """One run."""

    name: str
    data: dict[str, Any]
    csv: Path | None = None
    oplog: Path | None = None
    given: str = ""  # the user's name for it

    def drives(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and statistics of each drive; with one, those of the run."""
        several = self.data.get("drives")
        if not several:
            return [(self.name, self.data)]
        return [(f"{self.name}, drive {i}", one)
                for i, one in enumerate(several)]

    def slowest(self, share: float) -> Slowest | None:
        """That share of the commands of X.csv."""
        return read_slowest(self.csv, share) if self.csv else None


def load_drives(name: str, drive: str | None = None) \
        -> dict[str, dict[str, Any]]:
    """The results in a file by drive: "" for the only one, else those of
    ./vssd run --stats with --drive, or the one that is named.  UserError says
    why the file has none."""
    data = _json(name)
    several = data.get("drives") if isinstance(data, dict) else None
    if not isinstance(several, dict) or "schema_version" in data:
        return {"": _checked(name, data)}
    if not several:
        raise UserError(f"{name}: no result: it has no drives; give the output"
                        " of ./vssd run --stats")
    if drive is not None and drive not in several:
        raise UserError(f"--drive {drive}: {name} has " + ", ".join(several))
    return {i: _checked(f"{name}, drive {i}", one)
            for i, one in several.items() if drive in (None, i)}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_bytes(), parse_constant=_refuse)
    except OSError as e:
        raise UserError(f"{name}: {e.strerror}") from e
    except ValueError as e:
        raise UserError(f"{name}: no JSON ({e}); give the output of"
                        " vssd-sim run --json") from e


def _checked(name: str, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict) or \
            not isinstance(data.get("schema_version"), int):
        raise UserError(f"{name}: no result: schema_version is missing; give"
                        " the output of vssd-sim run --json or"
                        " ./vssd run --stats")
    if data["schema_version"] != SCHEMA_VERSION:
        raise UserError(f"{name}: a result with schema_version"
                        f" {data['schema_version']}; this vssd reads"
                        f" {SCHEMA_VERSION}: make it again")
    return data


def load(name: str, drive: str | None = None) -> list[Result]:
    """A file, and the files beside it; a result for each drive of a guest.
    The operation log is that of the first drive, as --oplog writes it."""
    path = Path(name)
    commands, oplog = (
        p if (p := path.with_suffix(end)) != path and p.is_file() else None
        for end in (".csv", ".oplog"))
    found = load_drives(name, drive)
    if "" in found:
        return [Result(path.stem, found[""], commands, oplog, name)]
    return [Result(f"{path.stem} {i}", one,
                   oplog=oplog if i == FIRST_DRIVE else None,
                   given=f"{name} {i}")
            for i, one in found.items()]


def name_apart(results: list[Result]) -> None:
    """Give results of one name the longer one that the user gave."""
    names = [r.name for r in results]
    for one in results:
        if names.count(one.name) > 1:
            one.name = one.given
    for i, one in enumerate(results):
        if any(r.name == one.name for r in results[:i]):
            one.name += f" ({i + 1})"


@contextlib.contextmanager
def rows_of(path: Path) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Names of the columns, and the rows, of the file of --csv."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            yield next(rows, []), rows
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    except (ValueError, IndexError, OverflowError, csv.Error) as e:
        raise UserError(f"{path}: no file of vssd-sim run --csv, or cut short:"
                        f" {e}") from e


def read_slowest(path: Path, share: float) -> Slowest | None:
    """That share of its commands, one at least, and those that are as slow as
    the quickest of them; None: it has no command."""
    with rows_of(path) as (head, rows):
        op, latency = head.index("op"), head.index("latency_ns")
        parts = {head[i].removesuffix("_ns"): i
                 for i in range(head.index(FIRST_PART), len(head))}
        every = array("Q", (int(row[latency]) for row in rows))
    if not every:
        return None
    least = heapq.nlargest(math.ceil(share * len(every)), every)[-1]
    with rows_of(path) as (_, rows):  # a file may have millions
        found = [row for row in rows if int(row[latency]) >= least]
        return Slowest(
            len(found), len(every), least,
            dict(Counter(row[op] for row in found)),
            {name: statistics.fmean(int(row[i]) for row in found)
             for name, i in parts.items()})
