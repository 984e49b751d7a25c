# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fleet: many drives of mixed age, a load each, as one table."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .. import ending, ranges
from ..errors import UserError, one_line
from ..sim import cluster, fleet
from ..sim.run import Point, Result, flat
from ..ui import say
from . import points

ERROR = "error"


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "fleet", help="run vssd-sim for many drives of mixed age",
        description="Draws the drives of a fleet from FILE (docs/fleets.md), "
        " runs each, and writes one table with a row for each drive.  Results"
        " are kept beside the table; a fleet that was interrupted goes on where"
        " it was.  The exit status is 1 if a drive has no result.")
    points.add_options(p, "drives", ".parquet")
    p.add_argument("--drives", type=int, default=0, metavar="N",
                   help="the first N drives only, or more than FILE says")
    p.set_defaults(call=main, check_arguments=check)


def _outcome(_point: Point, answer: cluster.Answer) -> Result:
    """The result of a run, with its error as a member: a drive that wore out has
    both.  Without a result it has the error alone."""
    status, out, err = answer
    try:
        result: Result = json.loads(out)
    except ValueError:
        result = {}
    text = one_line(err).removeprefix("vssd-sim: ")
    if status < 0 and not text:
        text = f"vssd-sim was killed by signal {-status}, {points.TRIES} times"
    if status != 0:
        result[ERROR] = text or f"vssd-sim ended with status {status}"
    return result


def _has_result(result: Result | None) -> bool:
    return result is not None and set(result) != {ERROR}


def _table(plan: fleet.Fleet, results: list[Result]) \
        -> tuple[list[str], list[list[Any]]]:
    """Head and rows: what describes a drive, its results, its error."""
    flats = [flat(r) for r in results]
    about = list(dict.fromkeys(k for m in plan.members for k in m.about))
    columns = plan.columns or list(dict.fromkeys(
        k for f in flats for k in f if k != ERROR))
    for c in plan.columns:
        if any(map(_has_result, results)) and not any(c in f for f in flats):
            raise UserError(f"columns: no result has {c!r} (docs/results.md)")
    rows = [[*(m.about.get(k) for k in about), *(f.get(c) for c in columns),
             f.get(ERROR, "")]
            for m, f in zip(plan.members, flats)]
    return [*about, *columns, ERROR], rows


def _list(plan: fleet.Fleet) -> None:
    for member in plan.members:
        print(" ".join(f"{k}={v}" for k, v in member.about.items()))


def check(args: argparse.Namespace) -> None:
    """The plan, and the table's name."""
    points.check_plan(args, ".parquet")
    ranges.check("--drives", args.drives, 0, fleet.MAX_DRIVES)
    if Path(args.file).is_file():
        fleet.read(Path(args.file), args.drives)


def main(args: argparse.Namespace) -> int:
    """./vssd fleet"""
    check(args)
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".parquet")
    plan = fleet.read(file, args.drives)
    if args.list:
        _list(plan)
        return 0
    results = points.results(args, [m.point for m in plan.members], out,
                             _has_result, _outcome)
    head, rows = _table(plan, results)
    points.write(head, rows, out)
    return _report(results)


def _report(results: list[Result]) -> int:
    errors = [r[ERROR] for r in results if r.get(ERROR)]
    without = sum(not _has_result(r) for r in results)
    if errors:
        say(f"{len(errors)} drives ended with an error, {without} of them"
            f" without a result; the first: {errors[0]}")
    return ending.FAILED if without else 0
