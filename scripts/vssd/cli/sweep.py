# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sweep: every combination of options and workloads, as one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..build import model, venv
from ..errors import UserError, one_line
from ..sim import cluster, sweep
from ..sim import run as simrun
from ..sim.run import Point, Result
from ..sim.store import Store
from ..ui import Stage, say


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "sweep", help="run vssd-sim over combinations of options and"
        " workloads",
        description="Runs every combination that FILE describes"
        " (docs/sweeps.md) and writes one table.  Results are kept beside the"
        " table; a sweep that was interrupted goes on where it was.")
    p.add_argument("file", metavar="FILE.toml")
    p.add_argument("--out", default="", metavar="TABLE",
                   help="the table, .csv or .parquet (default: FILE.csv)")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time on this machine (default: its cores)")
    p.add_argument("--scheduler", default="", metavar="ADDRESS",
                   help="run on the Dask cluster whose scheduler is there, as"
                   " in tcp://host:8786")
    p.add_argument("--again", action="store_true",
                   help="run points with a result again")
    p.add_argument("--list", action="store_true",
                   help="print the points, and end")
    p.set_defaults(call=main)


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


def _prepare(args: argparse.Namespace, out: Path) -> None:
    if args.jobs < 0:
        raise UserError("--jobs: 1 or more")
    if out.suffix not in (".csv", ".parquet"):
        raise UserError(f"--out {out}: allowed names that end in .csv or"
                        " .parquet")
    if out.suffix == ".parquet":
        venv.extra("parquet")
    if args.scheduler:
        venv.extra("sweep")


def main(args: argparse.Namespace) -> int:
    """./vssd sweep"""
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".csv")
    plan = sweep.read(file)
    if args.list:
        for job in plan.jobs:
            print(_label(job.point))
        return 0
    _prepare(args, out)
    sim = model.portable_sim() if args.scheduler else model.sim()
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
    try:
        sweep.write(head, rows, out)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    say(f"{len(rows)} rows in {out}")
    return 0
