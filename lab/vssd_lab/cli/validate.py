# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd validate: published figures of real drives beside the model's."""

from __future__ import annotations

import argparse
from typing import Any

from vssd import origin, ranges
from vssd.build import model
from vssd.errors import UserError
from vssd.sim import run as simrun
from vssd.sim import validation
from vssd.sim.run import Point, Result
from vssd.sim.validation import Drive, percent, shown, state
from vssd.ui import Stage, say, table

from ..board import command as board


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "validate", help="compare profiles with published figures of drives",
        description="Runs the workloads behind the published figures in"
        " profiles/published.toml, or the experiments of a folder of"
        " measurements, and prints each figure beside ours"
        " (docs/lab/validation.md).")
    p.add_argument("drives", nargs="*", metavar="DRIVE",
                   help="only drives with this in their name or profile")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time (default: the cores)")
    p.add_argument("--write-doc", action="store_true",
                   help="write docs/lab/validation.md, with --data"
                   " docs/results/validation.md; needs all drives")
    p.add_argument("--json", action="store_true",
                   help="origin and rows as JSON on standard output")
    board.add_options(p)
    p.set_defaults(call=main, check_arguments=check)


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
    if board.check(args):
        for given, name in ((args.drives, "a DRIVE; name --drive"),
                            (args.json, "--json; name -o FILE")):
            if given:
                raise UserError(f"--data, --short: not with {name}")
        return
    if args.write_doc and args.drives:
        raise UserError("--write-doc: not with a DRIVE; the page has all")
    validation.chosen(validation.read(), args.drives)


def main(args: argparse.Namespace) -> int:
    """./vssd validate"""
    check(args)
    if args.data or args.short:
        return board.main(args)
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
