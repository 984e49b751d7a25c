# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fleet: many drives of mixed age, a load each, as one table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import ending
from ..build import model, venv
from ..errors import UserError, one_line
from ..sim import cluster, fleet, sweep
from ..sim.run import Point, Result, Runner, flat
from ..sim.store import Store
from ..ui import Stage, say

TRIES = 3  # of a run whose process was killed
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
    p.add_argument("file", metavar="FILE.toml")
    p.add_argument("--out", default="", metavar="TABLE",
                   help="the table, .parquet or .csv (default: FILE.parquet)")
    p.add_argument("--drives", type=int, default=0, metavar="N",
                   help="the first N drives only, or more than FILE says")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time on this machine (default: its cores)")
    p.add_argument("--scheduler", default="", metavar="ADDRESS",
                   help="run on the Dask cluster whose scheduler is there, as"
                   " in tcp://host:8786")
    p.add_argument("--again", action="store_true",
                   help="run drives with a result again")
    p.add_argument("--list", action="store_true",
                   help="print the drives, and end")
    p.set_defaults(call=main)


def _outcome(answer: cluster.Answer) -> Result:
    """The result of a run, with its error as a member: a drive that wore out has
    both.  Without a result it has the error alone."""
    status, out, err = answer
    try:
        result: Result = json.loads(out)
    except ValueError:
        result = {}
    text = one_line(err).removeprefix("vssd-sim: ")
    if status < 0 and not text:
        text = f"vssd-sim was killed by signal {-status}, {TRIES} times"
    if status != 0:
        result[ERROR] = text or f"vssd-sim ended with status {status}"
    return result


def _once(args: argparse.Namespace, sim: Path, points: list[Point],
          done: Callable[[Point, cluster.Answer], None]) -> None:
    if args.scheduler:
        cluster.answers(args.scheduler, sim, points, done)
        return
    runner = Runner(sim, args.jobs)
    runner.each(lambda p: runner.output(p.command(str(sim))), points, done)


def _run(args: argparse.Namespace, sim: Path, missing: list[Point],
         store: Store) -> None:
    """Each point; those whose process was killed again, up to TRIES times."""
    total = len(missing)
    with Stage("fleet") as stage:
        for attempt in range(TRIES):
            killed: list[Point] = []

            def done(point: Point, answer: cluster.Answer,
                     killed: list[Point] = killed,
                     last: bool = attempt == TRIES - 1) -> None:
                if answer[0] < 0 and not last:
                    killed.append(point)
                    return
                store.put(point, _outcome(answer))
                stage.add(total)

            _once(args, sim, missing, done)
            missing = killed
            if not missing:
                return


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


def _prepare(args: argparse.Namespace, out: Path) -> None:
    if args.jobs < 0:
        raise UserError("--jobs: 1 or more")
    if not 0 <= args.drives <= fleet.MAX_DRIVES:
        raise UserError(f"--drives {args.drives}: allowed 1..{fleet.MAX_DRIVES}")
    if out.suffix not in (".csv", ".parquet"):
        raise UserError(f"--out {out}: allowed names that end in .csv or"
                        " .parquet")


def _list(plan: fleet.Fleet) -> None:
    for member in plan.members:
        print(" ".join(f"{k}={v}" for k, v in member.about.items()))


def main(args: argparse.Namespace) -> int:
    """./vssd fleet"""
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".parquet")
    _prepare(args, out)
    plan = fleet.read(file, args.drives)
    if args.list:
        _list(plan)
        return 0
    if out.suffix == ".parquet":
        venv.extra("parquet")
    if args.scheduler:
        venv.extra("sweep")
    sim = model.portable_sim() if args.scheduler else model.sim()
    store = Store(out.with_name(out.name + ".results"), sim.read_bytes())
    points = [m.point for m in plan.members]
    have = set() if args.again else {
        p for p in points if _has_result(store.get(p))}
    missing = list(dict.fromkeys(p for p in points if p not in have))
    if have:
        say(f"{len(have)} of {len(points)} drives are there already")
    if missing:
        _run(args, sim, missing, store)
    results = [store.get(p) or {} for p in points]
    head, rows = _table(plan, results)
    try:
        sweep.write(head, rows, out)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    return _report(out, results)


def _report(out: Path, results: list[Result]) -> int:
    errors = [r[ERROR] for r in results if r.get(ERROR)]
    without = sum(not _has_result(r) for r in results)
    say(f"{len(results)} rows in {out}")
    if errors:
        say(f"{len(errors)} drives ended with an error, {without} of them"
            f" without a result; the first: {errors[0]}")
    return ending.FAILED if without else 0
