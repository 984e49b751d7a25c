# SPDX-License-Identifier: GPL-2.0-or-later
"""The points of a sweep, from its file (docs/sweeps.md).

Knows the file's vocabulary and how results become a table; does not run
anything.
"""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import paths, tomlfile
from ..errors import UserError
from .run import Point, Result, flat

TOP = ("profiles", "seeds", "options", "workloads", "traces", "run")
RUN = ("fill", "args", "columns")
MAX_POINTS = 1_000_000
DOC = "docs/sweeps.md"


@dataclass(frozen=True)
class Job:
    """A point and its coordinates: column -> value."""

    axes: dict[str, Any]  # as the file has them: a text, a number, a switch
    point: Point


@dataclass(frozen=True)
class Sweep:
    """A file, read."""

    jobs: list[Job]
    columns: list[str]  # of the results; empty: every number


def _bad(name: str, text: str) -> UserError:
    return UserError(f"{name}: {text} ({DOC})")


def _text(value: Any) -> str:
    """As vssd-sim takes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _values(name: str, key: str, value: Any) -> list[Any]:
    """A value, or a list of them.  They become a column of the table, which has
    one type: values of several types become texts."""
    out = value if isinstance(value, list) else [value]
    if not all(isinstance(one, (str, int, float)) for one in out):
        raise _bad(name, f"{key}: allowed a text, a number, true, false,"
                   " or a list of them")
    if not out:
        raise _bad(name, f"{key}: the list is empty")
    if {type(one) for one in out} == {int, float}:
        return [float(one) for one in out]
    return out if len({type(one) for one in out}) == 1 else \
        [_text(one) for one in out]


def _texts(name: str, key: str, value: Any) -> list[str]:
    return [_text(one) for one in _values(name, key, value)]


def _options(name: str, table: Any) -> dict[str, list[Any]]:
    """[options], whether a key stands in quotes or as nested tables."""
    if not isinstance(table, dict):
        raise _bad(name, "options: allowed a table of option = values")
    out: dict[str, list[Any]] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            for inner, values in _options(name, value).items():
                out[f"{key}.{inner}"] = values
        else:
            out[key] = _values(name, f"options.{key}", value)
    return out


def _inputs(name: str, folder: Path, data: dict[str, Any]) \
        -> list[tuple[str, str, Path | None]]:
    """Name, keywords, trace of each workload."""
    out: list[tuple[str, str, Path | None]] = []
    for kind in ("workloads", "traces"):
        table = data.get(kind, {})
        if not isinstance(table, dict) or \
                not all(isinstance(v, str) for v in table.values()):
            raise _bad(name, f"{kind}: allowed a table of name = text")
        for label, text in table.items():
            if kind == "workloads":
                out.append((label, text, None))
                continue
            path = (folder / text).resolve()
            if not path.is_file():
                raise _bad(name, f"traces.{label}: no file {path}")
            out.append((label, "", path))
    if not out:
        raise _bad(name, "no workload: give [workloads] or [traces]")
    return out


def _known(name: str, where: str, table: Any, allowed: tuple[str, ...]) \
        -> None:
    if not isinstance(table, dict):
        raise _bad(name, f"{where}: allowed a table")
    for key in table:
        if key not in allowed:
            raise _bad(name, f"{where + '.' if where else ''}{key}: allowed "
                       + ", ".join(allowed))


def _profile(text: str, folder: Path) -> Path:
    """A shipped profile, or a file beside the sweep's."""
    here = folder / text
    return here.resolve() if here.is_file() else paths.find_profile(text)


def read(path: Path) -> Sweep:
    """The sweep of a file; UserError names file, key, and the allowed values."""
    name, folder, data = str(path), path.parent, tomlfile.load(path, DOC)
    _known(name, "", data, TOP)
    run = data.get("run", {})
    _known(name, "run", run, RUN)
    if "profiles" not in data:
        raise _bad(name, "profiles is missing: a list of profiles")
    profiles = _texts(name, "profiles", data["profiles"])
    inputs = _inputs(name, folder, data)
    options = _options(name, data.get("options", {}))
    seeds = _values(name, "seeds", data.get("seeds", ""))
    args = _run_args(name, run)
    total = len(profiles) * len(inputs) * len(seeds)
    for values in options.values():
        total *= len(values)
    if total > MAX_POINTS:
        raise _bad(name, f"{total} points: allowed {MAX_POINTS}")
    jobs = []
    for (profile, given, seed), chosen in itertools.product(
            itertools.product(profiles, inputs, seeds),
            itertools.product(*options.values())):
        sets = tuple(f"{k}={_text(v)}" for k, v in zip(options, chosen))
        more = ("--seed", _text(seed)) if seed != "" else ()
        axes = {"profile": profile, "workload": given[0],
                **({"seed": seed} if seed != "" else {}), **dict(zip(options, chosen))}
        jobs.append(Job(axes, Point(_profile(profile, folder), given[1],
                                    given[2], sets, args + more)))
    return Sweep(jobs, _columns(name, run))


def _run_args(name: str, run: dict[str, Any]) -> tuple[str, ...]:
    fill = run.get("fill")
    args = run.get("args", [])
    if fill is not None and not isinstance(fill, str):
        raise _bad(name, "run.fill: allowed a text")
    if not isinstance(args, list) or \
            not all(isinstance(a, str) for a in args):
        raise _bad(name, "run.args: allowed a list of texts")
    return (("--fill", fill) if fill else ()) + tuple(args)


def _columns(name: str, run: dict[str, Any]) -> list[str]:
    columns = run.get("columns", [])
    if not isinstance(columns, list) or \
            not all(isinstance(c, str) for c in columns):
        raise _bad(name, "run.columns: allowed a list of names of results")
    return columns


# ---- the table ------------------------------------------------------------


def table(sweep: Sweep, results: list[Result]) -> tuple[list[str],
                                                         list[list[Any]]]:
    """Head and rows: coordinates, then results."""
    flats = [flat(r) for r in results]
    axes = list(sweep.jobs[0].axes)
    columns = sweep.columns or list(dict.fromkeys(
        k for f in flats for k in f if k not in axes))
    for c in columns:
        if not any(c in f for f in flats):
            raise UserError(f"run.columns: no result has {c!r}"
                            " (docs/results.md)")
    rows = [[*job.axes.values(), *(f.get(c) for c in columns)]
            for job, f in zip(sweep.jobs, flats)]
    return axes + columns, rows


def write(head: list[str], rows: list[list[Any]], out: Path) -> None:
    """As CSV, or as Parquet if the name ends so."""
    with paths.replacing(out) as f:
        if out.suffix == ".parquet":
            import pyarrow
            import pyarrow.parquet

            columns = {name: [row[i] for row in rows]
                       for i, name in enumerate(head)}
            pyarrow.parquet.write_table(pyarrow.table(columns), f)
        else:
            text = io.StringIO(newline="")
            writer = csv.writer(text)
            writer.writerow(head)
            writer.writerows(rows)
            f.write(text.getvalue().encode())
