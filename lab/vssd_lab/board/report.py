# SPDX-License-Identifier: GPL-2.0-or-later
"""The board for people, and as a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vssd import origin
from vssd.errors import UserError
from vssd.measured.classes import CLASSES
from vssd.measured.score import Scored, boards, shown


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def row_of(s: Scored) -> dict[str, Any]:
    """A row as JSON."""
    e = s.entry
    return {"drive": e.drive.name, "class": e.name, "use": e.use,
            "experiment": e.row.experiment, "workload": e.row.workload,
            "precondition": e.row.precondition, "note": e.row.note,
            "metric": e.row.metric, "theirs": e.row.value, "ours": s.ours,
            "error_percent": s.error, "why": s.why}


def document(scored: list[Scored], left: dict[str, int]) -> dict[str, Any]:
    """The board and all rows."""
    return {"boards": {
        use: {drive: {name: {"mean": c.mean, "median": c.median, "rows": c.n}
                      for name, c in columns.items()}
              for drive, columns in found.items()}
        for use, found in boards(scored).items()},
        "left_out": left, "rows": [row_of(s) for s in scored]}


def _cells(first: str, rest: Sequence[str]) -> str:
    return f"  {first:26}" + "".join(f"{cell:>11}" for cell in rest)


def text(scored: list[Scored], left: dict[str, int]) -> str:
    """The board and all rows as text."""
    lines = []
    for use, found in boards(scored).items():
        lines += [f"{use}: mean (median) error, per cent",
                  _cells("drive", CLASSES)]
        lines += [_cells(drive, [shown(columns.get(c)) for c in CLASSES])
                  for drive, columns in found.items()]
        lines.append("")
    compared = sum(s.error is not None for s in scored)
    lines.append(f"{compared} rows compared")
    for why, n in Counter(s.why for s in scored if s.why).most_common():
        lines.append(f"  {n} rows: {why}")
    lines += [f"  {n} rows left out: {why}" for why, n in left.items()]
    return "\n".join(lines) + "\n"


def line(s: Scored) -> str:
    """A row with both numbers."""
    e = s.entry
    return (f"{_number(s.error):>7} {_number(s.ours):>9}"
            f" {_number(e.row.value):>9} {e.row.metric:9} {e.name:6}"
            f" {e.drive.name} | {e.row.experiment} | {e.row.workload}"
            f" | {e.row.note}{' | ' + s.why if s.why else ''}")


def show(scored: list[Scored], left: dict[str, int], rows: bool) -> None:
    """On standard output."""
    for s in scored if rows else []:
        print(line(s))
    print(text(scored, left), end="")


def write(path: Path, scored: list[Scored], left: dict[str, int]) -> None:
    """The board: as JSON, or as text if the name ends in .txt."""
    if path.suffix == ".txt":
        found = text(scored, left) + "\n".join(map(line, scored)) + "\n"
    else:
        found = json.dumps({**origin.origin(), **document(scored, left)},
                           indent=1) + "\n"
    try:
        path.write_text(found, encoding="utf-8")
    except OSError as e:
        raise UserError(f"-o {path}: {e.strerror}") from e
