# SPDX-License-Identifier: GPL-2.0-or-later
"""One picture of members of results, or of columns of tables.

A member that is a list gives a curve for each result, over its time.  Any other
gives a point for each result or row of a table, over the member of --x: where
its value is, with its unit or without.  Each workload has a colour.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import pictures
from ..errors import UserError
from ..sim.calibrate import number_of
from . import members
from .defaults import default_of
from .result import load, name_apart

SIZE = (7.0, 4.2)  # inches
TABLES = (".csv", ".parquet")
INPUTS = ("workload", "trace")  # what makes two runs two workloads
# Of an axis, by the kind of an option's value; and its size in what number_of
# gives.
UNITS = {"time": ("ns", 1000), "size": ("bytes", 1), "percent": ("%", 1)}
CYCLE = 10  # colours of matplotlib, before they repeat
Row = dict[str, Any]


@dataclass
class Curve:
    """Points with a name."""

    name: str
    x: list[Any] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    unit: str = ""  # of x, where its values had one


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
    files = [[] if Path(n).suffix in TABLES else load(n) for n in names]
    name_apart([one for some in files for one in some])
    out = []
    for name, results in zip(names, files):
        path = Path(name)
        if path.suffix in TABLES:
            out.append(Source(path.stem, _table(path)))
        out += [Source(one.name, [members.values(one.data)], one.data)
                for one in results]
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


def _numbers(place: str, values: list[Any]) -> tuple[list[float], str] | None:
    """The values as numbers of one unit, and the unit; None if they are words.
    An option that was not given has its default."""
    out, kinds = [], set()
    for value in values:
        one = default_of(place) if value is None else value
        if isinstance(one, bool) or not isinstance(one, (int, float, str)):
            return None
        try:
            number, kind = number_of(one) if isinstance(one, str) \
                else (one, "number")
        except UserError:
            return None
        out.append(number)
        kinds.add(kind)
    if kinds == {"number", "percent"}:  # 7 and 7% are the same share
        kinds = {"percent"}
    if len(kinds) != 1:
        return None
    unit, size = UNITS.get(kinds.pop(), ("", 1))
    return [n / size for n in out] if size > 1 else out, unit


def _parts(found: list[Source], shown: tuple[str | None, ...]) -> list[str]:
    """The members that tell workloads apart and that the picture does not show
    already."""
    return [name for name in INPUTS if name not in shown and len(
        {row.get(name) for s in found for row in s.rows}) > 1]


def _name(row: Row, whole: str, by: str | None, parts: list[str]) -> str:
    """Of the curve to which a row belongs."""
    words = []
    if by is not None:
        value = row.get(by)
        words.append(f"{by}={default_of(by) if value is None else value}")
    words += [str(row[part]) for part in parts if row.get(part) is not None]
    return ", ".join(words) or whole


def _points(found: list[Source], y: str, x: str | None, by: str | None) \
        -> list[Curve]:
    """A point for each row that has a value; a curve for each workload and
    each value of --by, or for each table."""
    out: dict[str, Curve] = {}
    parts = _parts(found, (x, by))
    for source in found:
        for i, row in enumerate(source.rows):
            value = row.get(y)
            if not isinstance(value, (int, float)):
                continue
            name = _name(row, y if source.data else source.name, by, parts)
            curve = out.setdefault(name, Curve(name))
            default = source.name if source.data else i
            curve.x.append(default if x is None else row.get(x))
            curve.y.append(float(value))
    some = list(out.values())
    if x is not None:
        _place(some, x)
    return some


def _place(some: list[Curve], x: str) -> None:
    """Numbers at their values and in their order, else words: the same for all
    curves, which share the axis."""
    numbers = _numbers(x, [v for c in some for v in c.x])
    if not numbers:
        for curve in some:
            curve.x = ["default" if v is None else str(v) for v in curve.x]
        return
    left = iter(numbers[0])
    for curve in some:
        points = sorted(((next(left), y) for y in curve.y),
                        key=lambda point: point[0])
        curve.x, curve.y = [p[0] for p in points], [p[1] for p in points]
        curve.unit = numbers[1]


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


def _colours(n: int) -> list[Any]:
    """As many as there are curves, all different."""
    if n <= CYCLE:
        return [f"C{i}" for i in range(n)]
    return list(pictures.pyplot().get_cmap("turbo")(
        [i / (n - 1) for i in range(n)]))


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
        for curve, colour in zip(some, _colours(len(some))):
            style = "-" if lists else "o" if words else "o-"
            ax.plot(curve.x, curve.y, style, label=curve.name, color=colour)
        if len(some) > 1 or lists:
            ax.legend(fontsize=8)
        if "x" in log and not words:
            ax.set_xscale("log")
        if "y" in log:
            ax.set_yscale("log")
        timed = lists and x is None
        unit = f" ({some[0].unit})" if some[0].unit else ""
        ax.set_xlabel("time, in s, or index" if timed else f"{x}{unit}"
                      if unit else label(x or ""))
        ax.set_ylabel(label(y))
        ax.grid(alpha=0.3)
    return fig
