# SPDX-License-Identifier: GPL-2.0-or-later
"""What sweep and fleet share: the options of many runs, the runs, their table.

Knows where runs take place, which of them are there already and how a table is
written; does not know what a run is for, or which of its results is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import ranges
from ..build import model, venv
from ..errors import UserError
from ..paths import check_input
from ..sim import cluster, sweep
from ..sim.run import Point, Result, Runner
from ..sim.store import Store
from ..ui import Stage, say

TRIES = 3  # of a run whose process was killed
Outcome = Callable[[Point, cluster.Answer], Result]


def add_options(p: argparse.ArgumentParser, what: str, suffix: str) -> None:
    """The options; `what` is the plural of what runs, `suffix` the default
    table's."""
    p.add_argument("file", metavar="FILE.toml")
    p.add_argument("--out", default="", metavar="TABLE",
                   help="the table, .csv or .parquet (default:"
                   f" FILE{suffix})")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time on this machine (default: its cores)")
    p.add_argument("--scheduler", default="", metavar="ADDRESS",
                   help="run on the Dask cluster whose scheduler is there, as"
                   " in tcp://host:8786")
    p.add_argument("--again", action="store_true",
                   help=f"run {what} with a result again")
    p.add_argument("--list", action="store_true",
                   help=f"print the {what}, and end")
    p.set_defaults(what=what)


def check_plan(args: argparse.Namespace, suffix: str) -> None:
    """UserError if the plan cannot be read, or an option's value is not
    allowed."""
    check_input("", args.file)
    ranges.check_jobs(args.jobs)
    out = Path(args.out) if args.out else Path(args.file).with_suffix(suffix)
    if not args.list and out.suffix not in (".csv", ".parquet"):
        raise UserError(f"--out {out}: allowed names that end in .csv or"
                        " .parquet")


def simulator(args: argparse.Namespace, out: Path) -> Path:
    """vssd-sim for these runs, and the Python packages that they need."""
    if out.suffix == ".parquet":
        venv.extra("parquet")
    if args.scheduler:
        venv.extra("sweep")
        return model.portable_sim()
    return model.sim()


def results(args: argparse.Namespace, points: list[Point], out: Path,
            has_result: Callable[[Result | None], bool], outcome: Outcome) \
        -> list[Result]:
    """Of each point, beside the table: those that are there are not run again.
    outcome() makes the result of a run that has ended."""
    sim = simulator(args, out)
    store = Store(out.with_name(out.name + ".results"), sim.read_bytes())
    have = set() if args.again else {
        p for p in points if has_result(store.get(p))}
    missing = list(dict.fromkeys(p for p in points if p not in have))
    if have:
        say(f"{len(have)} of {len(points)} {args.what} are there already")
    if missing:
        with Stage(args.what) as stage:
            def keep(point: Point, answer: cluster.Answer) -> None:
                store.put(point, outcome(point, answer))
                stage.add(len(missing))

            _run(args, sim, missing, keep)
    return [store.get(p) or {} for p in points]


def _once(args: argparse.Namespace, sim: Path, runs: list[Point],
          done: Callable[[Point, cluster.Answer], None]) -> None:
    if args.scheduler:
        cluster.answers(args.scheduler, sim, runs, done)
    else:
        runner = Runner(sim, args.jobs)
        runner.each(lambda p: runner.output(p.command(str(sim))), runs, done)


def _run(args: argparse.Namespace, sim: Path, runs: list[Point],
         keep: Callable[[Point, cluster.Answer], None]) -> None:
    """Each point; those whose process was killed again, up to TRIES times."""
    for attempt in range(TRIES):
        killed: list[Point] = []

        def done(point: Point, answer: cluster.Answer,
                 killed: list[Point] = killed,
                 last: bool = attempt == TRIES - 1) -> None:
            if answer[0] < 0 and not last:
                killed.append(point)
            else:
                keep(point, answer)

        _once(args, sim, runs, done)
        runs = killed
        if not runs:
            return


def write(head: list[str], rows: list[list[Any]], out: Path) -> None:
    """The table, and a line that says how long it is."""
    try:
        sweep.write(head, rows, out)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    say(f"{len(rows)} rows in {out}")
