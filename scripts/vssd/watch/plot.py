# SPDX-License-Identifier: GPL-2.0-or-later
"""One picture of members of results, or of columns of tables.

A member that is a list gives a curve for each result, over its time.  Any other
gives a point for each result or row of a table, over the member of --x.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import pictures
from ..errors import UserError
from . import members
from .result import load, name_apart

SIZE = (7.0, 4.2)  # inches
TABLES = (".csv", ".parquet")
Row = dict[str, Any]


@dataclass
class Curve:
    """Points with a name."""

    name: str
    x: list[Any] = field(default_factory=list)
    y: list[float] = field(default_factory=list)


@dataclass
class Source:
    """A file: its rows by place; one row of a result, which also has lists."""

    name: str
    rows: list[Row]
    data: dict[str, Any] | None = None


def _typed(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def _table(path: Path) -> list[Row]:
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            rows: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
            return rows
        with open(path, newline="", encoding="utf-8") as file:
            return [{k: _typed(v or "") for k, v in row.items() if k}
                    for row in csv.DictReader(file)]
    except OSError as e:
        raise UserError(f"{path}: {e.strerror or e}") from e
    except (ValueError, csv.Error) as e:
        raise UserError(f"{path}: no table: {e}") from e


def sources(names: list[str]) -> list[Source]:
    """Results, and tables of ./vssd sweep and ./vssd stat --csv."""
    results = [load(n) for n in names if Path(n).suffix not in TABLES]
    name_apart(results, [n for n in names if Path(n).suffix not in TABLES])
    left = iter(results)
    out = []
    for name in names:
        path = Path(name)
        if path.suffix in TABLES:
            out.append(Source(path.stem, _table(path)))
        else:
            one = next(left)
            out.append(Source(one.name, [members.values(one.data)], one.data))
    return out


def _at(data: dict[str, Any] | None, place: str) -> Any:
    """The member of a result; None if it has none."""
    node: Any = data
    for step in place.split("."):
        node = node.get(step) if isinstance(node, dict) else None
    return node


def _course(source: Source, y: str, x: str | None) -> Curve:
    """A list over its time: of pairs, of the time series, of the samples of the
    buffer; any other over its index."""
    values = _at(source.data, y)
    above = y.rsplit(".", 1)[0]
    if x is not None:
        at = _at(source.data, x)
        if not isinstance(at, list) or len(at) != len(values):
            raise UserError(f"--x {x}: {source.name} has no list of"
                            f" {len(values)} values there, as {y}")
    elif values and isinstance(values[0], list):
        at, values = ([p[i] for p in values] for i in (0, 1))
        at = [t / 1e9 for t in at]
    elif above == "series":
        step = _at(source.data, "series.interval_ns") / 1e9
        at = [(i + 0.5) * step for i in range(len(values))]
    elif isinstance(_at(source.data, above + ".at_ns"), list):
        at = [t / 1e9 for t in _at(source.data, above + ".at_ns")]
    else:
        at = list(range(len(values)))
    if not all(isinstance(v, (int, float)) for v in values):
        raise UserError(f"--y {y}: not a list of numbers in {source.name}")
    return Curve(source.name, at, values)


def _points(found: list[Source], y: str, x: str | None, by: str | None) \
        -> list[Curve]:
    """A point for each row that has a value; a curve for each value of --by,
    or for each table."""
    out: dict[str, Curve] = {}
    for source in found:
        for i, row in enumerate(source.rows):
            value = row.get(y)
            if not isinstance(value, (int, float)):
                continue
            name = y if source.data else source.name
            if by is not None:
                name = f"{by}={row.get(by)}"
            curve = out.setdefault(name, Curve(name))
            default = source.name if source.data else i
            curve.x.append(default if x is None else row.get(x))
            curve.y.append(float(value))
    for curve in out.values():
        if x is not None and all(isinstance(v, (int, float))
                                 for v in curve.x):
            order = sorted(range(len(curve.x)), key=curve.x.__getitem__)
            curve.x = [curve.x[i] for i in order]
            curve.y = [curve.y[i] for i in order]
        elif x is not None:
            curve.x = ["default" if v is None else str(v) for v in curve.x]
    return list(out.values())


def curves(found: list[Source], y: str, x: str | None, by: str | None) \
        -> list[Curve]:
    """Those of one member; UserError if nothing has it."""
    lists = [s for s in found if isinstance(_at(s.data, y), list)]
    if lists and by is not None:
        raise UserError(f"--by goes with single values, {y} is a list")
    for option, place in (("--x", x), ("--by", by)):
        if place is not None and not lists and not any(
                place in row for s in found for row in s.rows):
            raise UserError(f"{option} {place}: no result has it"
                            " (docs/results.md)")
    out = [_course(s, y, x) for s in lists] if lists \
        else _points(found, y, x, by)
    if not any(c.y for c in out):
        raise UserError(f"--y {y}: no result has a number there"
                        " (docs/results.md)")
    return out


def label(place: str) -> str:
    """The name of a member with its unit; of pairs, whose units differ, the
    name alone."""
    row = members.member(place) or members.member(place + "[0]")
    return f"{place} ({row.unit})" if row and row.unit else place


def draw(found: list[Source], ys: list[str], x: str | None, by: str | None,
         log: str) -> Any:
    """The picture, as a figure of matplotlib."""
    fig, axes = pictures.pyplot().subplots(
        len(ys), 1, figsize=(SIZE[0], SIZE[1] * len(ys)),
        layout="constrained", squeeze=False)
    for ax, y in zip(axes[:, 0], ys):
        some = curves(found, y, x, by)
        lists = any(isinstance(_at(s.data, y), list) for s in found)
        words = any(isinstance(v, str) for c in some for v in c.x)
        for curve in some:
            style = "-" if lists else "o" if words else "o-"
            ax.plot(curve.x, curve.y, style, label=curve.name)
        if len(some) > 1 or lists:
            ax.legend(fontsize=8)
        if "x" in log and not words:
            ax.set_xscale("log")
        if "y" in log:
            ax.set_yscale("log")
        timed = lists and x is None
        ax.set_xlabel("time, in s, or index" if timed else label(x or ""))
        ax.set_ylabel(label(y))
        ax.grid(alpha=0.3)
    return fig
