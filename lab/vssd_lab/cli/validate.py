# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd validate: published figures of real drives beside the model's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vssd import origin, ranges
from vssd.build import model
from vssd.errors import UserError
from vssd.paths import find_profile
from vssd.sim import run as simrun
from vssd.sim import validation
from vssd.sim.run import Point, Result
from vssd.sim.validation import Drive, percent, shown, state
from vssd.ui import Stage, say, table

from ..board import drives as board_drives
from ..board import points as board_points
from ..board import report, rows as board_rows, run
from ..board.classes import CLASSES
from ..board.play import REQUESTS, Player
from ..board.states import States

LIBRARY = "lib/libvssd.so.1.0.0"


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "validate", help="compare profiles with published figures of drives",
        description="Runs the workloads behind the published figures in"
        " profiles/published.toml and prints each figure beside ours"
        " (docs/validation.md).")
    p.add_argument("drives", nargs="*", metavar="DRIVE",
                   help="only drives with this in their name or profile")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time (default: the cores)")
    p.add_argument("--write-doc", action="store_true",
                   help="write docs/validation.md; needs all drives")
    p.add_argument("--json", action="store_true",
                   help="origin and rows as JSON on standard output")
    _add_data(p)
    p.set_defaults(call=main, check_arguments=check)


def _add_data(p: argparse.ArgumentParser) -> None:
    g = p.add_argument_group("measured data of real drives")
    g.add_argument("--data", metavar="FOLDER", type=Path,
                   help="play the experiments of its CSV files")
    g.add_argument("--profile", metavar="P",
                   help="this profile for all drives of --data")
    g.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="an option of --profile; may be repeated")
    g.add_argument("--drive", action="append", default=[], metavar="NAME",
                   help="only drives with this in their name")
    g.add_argument("--class", action="append", default=[], dest="classes",
                   metavar="NAME", choices=CLASSES,
                   help="only this class: " + ", ".join(CLASSES))
    g.add_argument("--points", type=int, default=6, metavar="N",
                   help="points of each drive and class (default 6)")
    g.add_argument("--all", action="store_true", help="all points")
    g.add_argument("--requests", type=int, default=REQUESTS, metavar="N",
                   help="requests of each kind a point (default"
                   f" {REQUESTS}, enough for p99.9)")
    g.add_argument("-o", "--out", metavar="FILE", type=Path,
                   help="write the board and its rows as JSON to FILE")
    g.add_argument("--rows", action="store_true",
                   help="print every row with both numbers")


def _entries(args: argparse.Namespace) \
        -> tuple[list[board_points.Entry], dict[str, int]]:
    rows = [r for r in board_rows.read(args.data)
            if not args.drive or any(d.lower() in r.drive.lower()
                                     for d in args.drive)]
    known = board_drives.read()
    if args.profile:
        path = find_profile(args.profile)
        known = {r.drive: board_drives.Drive(
            r.drive, path, tuple(args.set), r.capacity or 10**12, False, ())
            for r in rows}
    if not rows:
        raise UserError("--drive: no drive of --data has this in its name")
    rest = sorted({r.drive for r in rows} - set(known))
    if rest and not args.drive:
        say("no profile yet, left out: " + ", ".join(rest))
        rows = [r for r in rows if r.drive in known]
    found, left = board_points.entries(rows, known)
    if args.classes:
        found = [e for e in found if e.name in args.classes]
    if not args.all:
        found = board_points.sample(found, args.points)
    if not found:
        raise UserError("validate: no row of this drive and class")
    return found, left


def _library() -> Path:
    """libvssd of the release build, up to date."""
    return model.ensure("release", LIBRARY) / LIBRARY


def _data(args: argparse.Namespace) -> int:
    found, left = _entries(args)
    sim = model.sim()
    states = States(simrun.Runner(sim, args.jobs), sim.read_bytes())
    with Stage("validate") as stage:
        scored = run.score(found, Player(states, args.requests, _library),
                           stage.add)
    report.show(scored, left, args.rows)
    if args.out:
        report.write(args.out, scored, left)
        say(f"wrote {args.out}")
    return 0


def _results(drives: list[Drive], jobs: int) -> dict[Point, Result]:
    points = validation.points(drives)
    results: dict[Point, Result] = {}
    runner = simrun.Runner(model.sim(), jobs)
    with Stage("validate") as stage:
        def done(point: Point, result: Result) -> None:
            results[point] = result
            stage.add(len(points))

        runner.points(points, done)
    return results


def _print(drives: list[Drive], rows: list[dict[str, Any]]) -> None:
    for drive in drives:
        table(drive.name, ["quantity", "published", "ours", "error", "use"],
              [[f"{r['quantity']} [{r['unit']}]", shown(r, "published"),
                shown(r, "ours"), percent(r["error"]),
                state(r).partition(":")[0]]
               for r in rows if r["drive"] == drive.name])
    for fitted, name in ((True, "fitted"), (False, "predicted")):
        some = [r for r in rows if r["modelled"] and r["fitted"] == fitted]
        print(f"{name}: {len(some)} figures, mean absolute error"
              f" {percent(validation.mean_error(rows, fitted), '')}")
    print(f"compared: {validation.compared(rows)} of {len(rows)} figures")
    rest = sum(not r["modelled"] for r in rows)
    if rest:
        print(f"not modelled: {rest} figures")


def check(args: argparse.Namespace) -> None:
    """Errors that need no run of the model."""
    ranges.check_jobs(args.jobs)
    if args.data:
        return
    if args.write_doc and args.drives:
        raise UserError("--write-doc: not with a DRIVE; the page has all")
    validation.chosen(validation.read(), args.drives)


def main(args: argparse.Namespace) -> int:
    """./vssd validate"""
    check(args)
    if args.data:
        return _data(args)
    published = validation.read()
    drives = validation.chosen(published, args.drives)
    if not validation.points(drives):
        raise UserError("validate: no figure to compare: "
                        + (", ".join(d.name for d in drives) or "no drive")
                        + " has none that is modelled (profiles/published.toml)")
    rows = validation.rows(drives, _results(drives, args.jobs))
    if args.write_doc:
        validation.PAGE.write_text(validation.page(published, rows),
                                   encoding="utf-8")
        say(f"wrote {validation.DOC}")
    if args.json:
        origin.write({"compared": validation.compared(rows), "rows": rows})
        return 0
    _print(drives, rows)
    return 0
