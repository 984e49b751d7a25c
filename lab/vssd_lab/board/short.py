# SPDX-License-Identifier: GPL-2.0-or-later
"""The short board: some rows that stand in profiles/published.toml, and the
error that each class may have at most."""

from __future__ import annotations

from typing import Any

from vssd import tomlfile
from vssd.errors import UserError
from vssd.measured.classes import CLASSES, class_of
from vssd.measured.rows import UNITS, Row, percentile
from vssd.measured.score import Scored, board_of
from vssd.sim.validation import DOC, PUBLISHED

KEYS = ("drive", "experiment", "precondition", "workload", "file", "note",
        "source", "values")


def _rows(where: str, table: dict[str, Any], sources: dict[str, Any]) \
        -> list[Row]:
    for key in table:
        if key not in KEYS:
            raise UserError(f"{where}.{key}: allowed {', '.join(KEYS)}")
    for key in ("drive", "experiment", "workload", "source", "values"):
        if key not in table:
            raise UserError(f"{where}: {key} is missing")
    if table["source"] not in sources:
        raise UserError(f"{where}.source={table['source']}: allowed "
                        + ", ".join(sources))
    for metric in table["values"]:
        if metric not in UNITS and percentile(metric) is None:
            raise UserError(f"{where}: metric {metric!r}: allowed"
                            f" {', '.join(UNITS)}, p50_us and the like")
    return [Row(where, table["drive"], 0, table["experiment"],
                table.get("precondition", ""), table["workload"], metric,
                float(value), table.get("file", ""), table.get("note", ""))
            for metric, value in table["values"].items()]


def read() -> tuple[list[Row], dict[str, float]]:
    """The rows, and the bound of each class in per cent."""
    whole = tomlfile.load(PUBLISHED, DOC)
    data = whole.get("short", {})
    bounds = {name: float(value) for name, value in
              data.get("bounds", {}).items()}
    for name in bounds:
        if name not in CLASSES:
            raise UserError(f"{PUBLISHED.name}: short.bounds.{name}: allowed"
                            f" {', '.join(CLASSES)}")
    rows = [row for i, one in enumerate(data.get("point", []))
            for row in _rows(f"{PUBLISHED.name}: short.point[{i}]", one,
                             whole.get("sources", {}))]
    for row in rows:
        if class_of(row) not in bounds:
            raise UserError(f"{row.where}: no short.bounds.{class_of(row)}")
    return rows, bounds


def beyond(scored: list[Scored], bounds: dict[str, float]) -> list[str]:
    """A line for each class above its bound; fitted rows do not count."""
    some = [s for s in scored if s.entry.use != "fitted"]
    return [f"{name}: mean error {cell.mean:.1f} %, at most"
            f" {bounds[name]:g} % (short.bounds)"
            for name, cell in board_of(some).items()
            if cell.mean > bounds[name]]
