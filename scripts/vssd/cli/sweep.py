# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sweep: every combination of options and workloads, as one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import UserError, one_line
from ..sim import cluster, sweep
from ..sim import run as simrun
from ..sim.run import Point, Result
from ..sim.store import Store
from ..ui import Stage, say
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


def _run(args: argparse.Namespace, sim: Path, missing: list[Point],
         store: Store) -> None:
    with Stage("sweep") as stage:
        def done(point: Point, result: Result) -> None:
            store.put(point, result)
            stage.add(len(missing))

        def answered(point: Point, answer: cluster.Answer) -> None:
            try:
                done(point, simrun.result_of(*answer))
            except UserError as e:
                raise UserError(f"{_label(point)}: {e}") from e

        if args.scheduler:
            cluster.answers(args.scheduler, sim, missing, answered)
        else:
            simrun.Runner(sim, args.jobs).points(missing, done)


def main(args: argparse.Namespace) -> int:
    """./vssd sweep"""
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".csv")
    plan = sweep.read(file)
    if args.list:
        for job in plan.jobs:
            print(_label(job.point))
        return 0
    sim = points.simulator(args, out)
    store = Store(out.with_name(out.name + ".results"), sim.read_bytes())
    have = {} if args.again else {
        job.point: r for job in plan.jobs if (r := store.get(job.point))}
    missing = list(dict.fromkeys(j.point for j in plan.jobs
                              if j.point not in have))
    if have:
        say(f"{len(have)} of {len(plan.jobs)} points are there already")
    if missing:
        _run(args, sim, missing, store)
    results = [store.get(job.point) or {} for job in plan.jobs]
    head, rows = sweep.table(plan, results)
    points.write(head, rows, out)
    return 0
