# SPDX-License-Identifier: GPL-2.0-or-later
"""Results: the JSON of vssd-sim run --json, ./vssd run --stats and ./vssd stat
--json, and what the same run wrote beside it.

Of X.json these are X.csv (--csv, a line per command) and X.oplog (--oplog).
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError

COLUMNS = ("op", "complete_ns", "latency_ns")  # of --csv, that are used here


@dataclass
class Commands:
    """The commands of a run, in the order of completion."""

    op: list[str]
    complete_ns: list[int]
    latency_ns: list[int]


@dataclass
class Result:
    """One run."""

    name: str
    data: dict[str, Any]
    csv: Path | None = None
    oplog: Path | None = None

    def drives(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and statistics of each drive; with one, those of the run."""
        several = self.data.get("drives")
        if not several:
            return [(self.name, self.data)]
        return [(f"{self.name}, drive {i}", one)
                for i, one in enumerate(several)]

    def commands(self) -> Commands | None:
        """Those of X.csv."""
        return read_commands(self.csv) if self.csv else None


def load_json(name: str) -> dict[str, Any]:
    """A result; UserError says why the file is none."""
    try:
        data = json.loads(Path(name).read_bytes())
    except OSError as e:
        raise UserError(f"{name}: {e.strerror}") from e
    except ValueError as e:
        raise UserError(f"{name}: no JSON ({e}); give the output of"
                        " vssd-sim run --json") from e
    if not isinstance(data, dict) or \
            not isinstance(data.get("schema_version"), int):
        raise UserError(f"{name}: no result: schema_version is missing; give"
                        " the output of vssd-sim run --json or"
                        " ./vssd run --stats")
    return data


def load(name: str) -> Result:
    """A file, and the files beside it."""
    path = Path(name)
    data = load_json(name)
    beside = [p if (p := path.with_suffix(end)) != path and p.is_file()
              else None for end in (".csv", ".oplog")]
    return Result(path.stem, data, *beside)


def name_apart(results: list[Result], names: list[str]) -> None:
    """Give results of one name the longer one that the user gave."""
    for one, name in zip(results, names):
        if sum(r.name == one.name for r in results) > 1:
            one.name = name
    for i, one in enumerate(results):
        if any(r.name == one.name for r in results[:i]):
            one.name += f" ({i + 1})"


def read_commands(path: Path) -> Commands:
    """The file of --csv."""
    out = Commands([], [], [])
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            head = next(rows, [])
            op, complete, latency = (head.index(c) for c in COLUMNS)
            for row in rows:
                out.op.append(row[op])
                out.complete_ns.append(int(row[complete]))
                out.latency_ns.append(int(row[latency]))
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    except (ValueError, IndexError, csv.Error) as e:
        raise UserError(f"{path}: no file of vssd-sim run --csv, or cut short:"
                        f" {e}") from e
    return out
