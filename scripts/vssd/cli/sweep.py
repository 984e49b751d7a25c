# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sweep: every combination of options and workloads, as one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import UserError, one_line
from ..sim import cluster, sweep
from ..sim.run import Point, Result, result_of
from . import points


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "sweep", help="run vssd-sim over combinations of options and"
        " workloads",
        description="Runs every combination that FILE describes"
        " (docs/sweeps.md) and writes one table.  Results are kept beside the"
        " table; a sweep that was interrupted goes on where it was.")
    points.add_options(p, "points", ".csv")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The plan, and the table's name."""
    points.check_plan(args, ".csv")
    if Path(args.file).is_file():
        sweep.read(Path(args.file))


def _label(point: Point) -> str:
    what = point.trace.name if point.trace else point.workload
    return one_line(" ".join([point.profile.stem, what, *point.sets]))


# ---- the command --------------------------------------------------------------


def _outcome(point: Point, answer: cluster.Answer) -> Result:
    """The first run that fails ends the sweep."""
    try:
        return result_of(*answer)
    except UserError as e:
        raise UserError(f"{_label(point)}: {e}") from e


def main(args: argparse.Namespace) -> int:
    """./vssd sweep"""
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".csv")
    plan = sweep.read(file)
    if args.list:
        for job in plan.jobs:
            print(_label(job.point))
        return 0
    results = points.results(args, [job.point for job in plan.jobs], out,
                             lambda r: r is not None, _outcome)
    head, rows = sweep.table(plan, results)
    points.write(head, rows, out)
    return 0
