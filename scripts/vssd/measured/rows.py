# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a folder of measurements: CSV files, one row a number.

Knows the columns, the metrics and their units; not what is done with a row.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError

COLUMNS = ("drive", "capacity_bytes", "nand", "interface", "experiment",
           "precondition", "workload", "metric", "unit", "value", "low",
           "high", "source", "file", "note")
UNITS = {"iops": "1/s", "mb_s": "MB/s", "wa": "1", "size_gb": "GB", "ms": "ms",
         "mean_us": "us"}
PERCENTILE = re.compile(r"p(\d\d)(\d*)_us")


@dataclass(frozen=True)
class Row:
    """One number."""

    where: str  # file and row
    drive: str
    capacity: int  # bytes; 0: not told
    experiment: str
    precondition: str
    workload: str
    metric: str
    value: float
    file: str
    note: str

    @property
    def base(self) -> str:
        """The experiment without its side."""
        return self.experiment.split("/")[0]

    @property
    def side(self) -> str:
        """read, write, append, curve and the like; or nothing."""
        return self.experiment.partition("/")[2]

    def word(self, name: str) -> str:
        """The value of NAME=VALUE in the workload, or nothing."""
        found = re.search(rf"(?:^| ){name}=(\S+)", self.workload)
        return found.group(1) if found else ""

    def noted(self, pattern: str) -> re.Match[str] | None:
        """A pattern in the note."""
        return re.search(pattern, self.note)


def percentile(metric: str) -> float | None:
    """The percent of a metric p50_us, p999_us (99.9), p01_us (1)."""
    found = PERCENTILE.fullmatch(metric)
    return float(f"{found.group(1)}.{found.group(2) or 0}") if found else None


def _row(where: str, cells: list[str]) -> Row:
    if len(cells) != len(COLUMNS):
        raise UserError(f"{where}: {len(cells)} columns, not {len(COLUMNS)}"
                        f" ({','.join(COLUMNS)})")
    d = dict(zip(COLUMNS, cells, strict=True))
    metric = d["metric"]
    unit = "us" if percentile(metric) is not None else UNITS.get(metric)
    if unit is None:
        raise UserError(f"{where}: metric {metric!r}: allowed"
                        f" {', '.join(UNITS)}, p50_us and the like")
    if d["unit"] != unit:
        raise UserError(f"{where}: unit {d['unit']!r} of {metric}: allowed"
                        f" {unit}")
    try:
        value = float(d["value"])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise UserError(f"{where}: value {d['value']!r}: allowed a number"
                        " above 0")
    capacity = d["capacity_bytes"]
    if capacity and not capacity.isdigit():
        raise UserError(f"{where}: capacity_bytes {capacity!r}: allowed a"
                        " number of bytes, or nothing")
    if not d["drive"] or not d["experiment"]:
        raise UserError(f"{where}: no drive or no experiment")
    return Row(where, d["drive"], int(capacity or 0), d["experiment"],
               d["precondition"], d["workload"], metric, value, d["file"],
               d["note"])


def read(folder: Path) -> list[Row]:
    """All rows of the CSV files of a folder."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise UserError(f"--data {folder}: no CSV file")
    rows = []
    for file in files:
        try:
            with file.open(encoding="utf-8", newline="") as f:
                lines = csv.reader(f)
                if tuple(next(lines, [])) != COLUMNS:
                    raise UserError(f"{file.name} row 1: allowed the columns "
                                    + ",".join(COLUMNS))
                rows += [_row(f"{file.name} row {lines.line_num}", cells)
                         for cells in lines]
        except (OSError, UnicodeDecodeError, csv.Error) as e:
            raise UserError(f"{file}: {e}") from e
    return rows
