# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fit: choose parameters of a profile by measured figures."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import ranges
from ..build import model, venv
from ..errors import UserError, one_line
from ..measured import fitting
from ..measured.play import Player
from ..paths import check_input, check_output, find_profile
from ..sim import calibrate, fiojson, fioplan, validation
from ..sim.calibrate import Free, Goal, Outcome, Parameter
from ..sim.run import Point, Runner
from ..ui import Stage, say, table

POINTS = 4  # of each class of experiments
ROW_REQUESTS = 20_000  # of a point
LIBRARY = "lib/libvssd.so.1.0.0"


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "fit", help="fit a profile to results of fio, or to published figures",
        description="Repeats the jobs of fio's results on a profile and"
        " chooses the free parameters, within their bounds, that give the"
        " measured figures (docs/fitting.md).")
    source = p.add_mutually_exclusive_group(required=True)
    source.add_argument("--fio", nargs="+", metavar="RESULTS.json",
                        help="output of fio --output-format=json")
    p.add_argument("--client", default="", metavar="HOST",
                   help="of results of fio's clients, use this one's")
    source.add_argument("--published", metavar="DRIVE",
                        help="figures of profiles/published.toml that are"
                        " marked as fitted")
    source.add_argument("--data", metavar="FOLDER", type=Path,
                        help="CSV files of measurements, as of ./vssd validate"
                        " --data (docs/fitting.md)")
    p.add_argument("--drive", default="", metavar="NAME",
                   help="--data: the rows of this drive")
    p.add_argument("--train", type=float, default=100.0, metavar="PERCENT",
                   help="--data: fit to this share of the rows, chosen by"
                   " --seed, and predict the others (default: 100)")
    p.add_argument("--seed", type=int, default=1, metavar="N",
                   help="--data: of the choice of rows (default: 1)")
    p.add_argument("--points", type=int, default=POINTS, metavar="N",
                   help="--data: points of each class of experiments (default:"
                   " %(default)s)")
    source.add_argument("--plan", metavar="JOBS.fio",
                        help="only write the jobs of fio that determine the"
                        " parameters of --free; under 30 minutes")
    p.add_argument("--profile", metavar="BASE",
                   help="the profile to start from (--published: the"
                   " drive's)")
    p.add_argument("--free", metavar="KEY=LOW..HIGH,...",
                   help="the parameters to choose, with their bounds"
                   " (--published: the drive's)")
    p.add_argument("--match", default="iops,p50,p99", metavar="NAME,...",
                   help="figures of each job to match: "
                   + ", ".join(fiojson.MATCHES) + " (default: %(default)s)")
    p.add_argument("--fill", choices=fiojson.FILLS, default="",
                   help="state of the drive before each job (default: preload"
                   " for reads, none for sequential writes, random for"
                   " others)")
    p.add_argument("--requests", type=int, default=0, metavar="N",
                   help="requests of each run (default: by kind and depth)")
    p.add_argument("--tolerance", type=float, default=5.0, metavar="PERCENT",
                   help="a figure within this error is matched (default: 5)")
    p.add_argument("--out", default="", metavar="FILE.ini",
                   help="write the fitted profile")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time (default: the cores)")
    p.add_argument("--json", action="store_true",
                   help="the report as JSON on standard output")
    p.set_defaults(call=main, check_arguments=check)


@dataclass(frozen=True)
class Task:
    """What to fit to what."""

    base: Path
    goals: list[Goal]
    free: str
    source: str
    keep_head: bool  # the head of the profile holds as it is


def _of_fio(args: argparse.Namespace) -> Task:
    for name in ("profile", "free"):
        if not getattr(args, name):
            raise UserError(f"--fio: give --{name}, too")
    how = fiojson.How(fiojson.matches(args.match), args.fill, args.requests,
                      args.client)
    base = find_profile(args.profile)
    goals = [Goal(_label(t), t.measure, t.value,
                  Point(base, t.workload, args=("--fill", t.fill)))
             for name in args.fio
             for t in fiojson.targets(Path(name), how, _left_out)]
    return Task(base, goals, args.free,
                "fio: " + ", ".join(Path(n).name for n in args.fio), False)


def _left_out(reason: str) -> None:
    say(f"left out: {reason}")


def _label(target: fiojson.Target) -> str:
    """Jobs of several files may have one name."""
    words = [w.removeprefix("rw=") for w in target.workload.split()
             if not w.startswith("number_ios=")]
    return f"{target.job}: " + " ".join(words)


def _of_published(args: argparse.Namespace) -> Task:
    drives = [d for d in validation.chosen(validation.read(),
                                           [args.published]) if d.free]
    if len(drives) != 1:
        raise UserError(f"--published {args.published}: "
                        + ("the drive has no free parameters" if not drives
                           else "several drives: " + ", ".join(
                               d.name for d in drives)))
    drive = drives[0]
    base = find_profile(args.profile) if args.profile else drive.profile
    goals = [Goal(f.quantity, f.measure, f.published,
                  Point(base, f.point.workload, None, f.point.sets,
                        f.point.args))
             for f in drive.figures if f.use == "fitted"]
    return Task(base, goals, args.free or drive.free, drive.name, True)


def _fit_rows(args: argparse.Namespace) -> int:
    """--data: the rows that are fitted, and the others."""
    base = fitting.profile_of(args.profile)
    if not args.free:
        raise UserError("--data: give --free, too")
    found = fitting.rows_of(args.data, args.drive)
    frees = _frees(args.free, base)
    venv.extra("fit")
    sim = model.sim()
    states = fitting.SharedStates(Runner(sim, args.jobs), sim.read_bytes())
    states.share(frees)
    player = Player(states, args.requests or ROW_REQUESTS,
                    lambda: model.ensure("release", LIBRARY) / LIBRARY)
    entries = fitting.entries_of(found, base, args.points)
    with Stage("fit") as stage:
        all_rows = fitting.playable(fitting.RowSearch(
            player, entries, frees, base, stage.note))
        fitted, others = fitting.split(all_rows, args.train, args.seed)
        search = fitting.RowSearch(player, fitted, frees, base, stage.note)
        best = calibrate.find(search)
        predicted = search.scored(best.values(), others)
        scored = search.scored(best.values(), fitted)
    task = Task(base, list(search.goals), args.free, found[0].drive, False)
    _report(args, task, best)
    for use, some in (("fitted", scored), ("predicted", predicted)):
        errors = fitting.errors_by_metric(some)
        say(f"{use}: {len(some)} rows; mean error "
            + ", ".join(f"{name} {value:.1f} %"
                        for name, value in errors.items()))
    return 0


def _plan(args: argparse.Namespace) -> int:
    """--plan: a job file."""
    if not args.free:
        raise UserError("--plan: give --free, too")
    keys = [part.strip().partition("=")[0] for part in args.free.split(",")]
    text = fioplan.text_of(keys, Path(args.plan).name)
    try:
        Path(args.plan).write_text(text, encoding="utf-8")
    except OSError as e:
        raise UserError(f"--plan {args.plan}: {e.strerror}") from e
    say(f"wrote {args.plan}")
    return 0


def _frees(text: str, base: Path) -> list[Free]:
    sim = str(model.sim())
    options = subprocess.run([sim, "options"], capture_output=True, text=True,
                             check=True).stdout

    def accepts(key: str, value: str) -> str:
        done = subprocess.run(
            [sim, "info", "--profile", str(base), "--set", f"{key}={value}"],
            capture_output=True, text=True, check=False)
        text = one_line(done.stderr).removeprefix("vssd-sim: ")
        # Another option may refuse the value; that is of the candidate.
        return text if done.returncode and text.startswith(key + "=") else ""

    return [calibrate.whole(f, accepts) for f in calibrate.parse_free(
        text, calibrate.option_kinds(options))]


# ---- the report -----------------------------------------------------------------


def _unit(measure: str) -> str:
    side, _, name = measure.rpartition(".")
    what = validation.MEASURES[name][0] if name in validation.MEASURES \
        else name  # of rows: p20_us and the like
    return what + (f" of {side}s" if side else "")


def _figures(task: Task, found: Outcome, tolerance: float) \
        -> list[dict[str, Any]]:
    return [{"job": g.name, "quantity": _unit(g.measure),
             "measured": g.value, "ours": ours, "error": ours / g.value - 1,
             "matched": abs(ours / g.value - 1) <= tolerance / 100}
            for g, ours in zip(task.goals, found.ours)]


def _spread(p: Parameter) -> str:
    """A parameter's uncertainty, in its unit."""
    if math.isinf(p.uncertainty):
        return "-"
    x = p.free.place(p.value)
    half = [abs(p.free.at(min(max(x + s * p.uncertainty, 0), 1)) - p.value)
            for s in (-1, 1)]
    return p.free.text(max(half)) if p.free.unit != "integer" \
        else f"{max(half):.1f}"


def _parameters(found: Outcome) -> list[dict[str, Any]]:
    return [{"key": p.free.key,
             "base": None if p.base is None else p.free.text(p.base),
             "low": p.free.text(p.free.low), "high": p.free.text(p.free.high),
             "fitted": p.free.text(p.value), "uncertainty": _spread(p),
             "determined": p.determined, "notes": p.notes}
            for p in found.parameters]


def _print(figures: list[dict[str, Any]], parameters: list[dict[str, Any]],
           runs: int) -> None:
    table("Figures", ["job", "quantity", "measured", "ours", "error",
                      "matched"],
          [[f["job"], f["quantity"], validation.shown(f, "measured"),
            validation.shown(f, "ours"), validation.percent(f["error"]),
            "yes" if f["matched"] else "no"] for f in figures])
    table("Parameters", ["option", "base", "fitted", "+/-", "determined",
                         "note"],
          [[p["key"], p["base"] or "default", p["fitted"], p["uncertainty"],
            "yes" if p["determined"] else "no", "; ".join(p["notes"])]
           for p in parameters])
    matched = sum(f["matched"] for f in figures)
    print(f"{matched} of {len(figures)} figures matched; mean absolute error"
          f" {100 * sum(abs(f['error']) for f in figures) / len(figures):.1f}"
          f" %; {runs} runs")


def _write(out: str, task: Task, found: Outcome) -> None:
    text = task.base.read_text(encoding="utf-8")
    text = calibrate.rewritten(text, found.values())
    if not task.keep_head:
        lines = text.splitlines()
        while lines and (lines[0].startswith("#") or not lines[0].strip()):
            lines.pop(0)
        keys = ", ".join(found.values())
        head = [f"# Class:  fitted drive, from profile {task.base.stem}",
                f"# Source: {task.source}",
                f"# Date:   {datetime.date.today().year}", "#",
                f"# Fitted by ./vssd fit: {keys}."]
        text = "\n".join([*head, *lines]) + "\n"
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    say(f"wrote {out}")


def check(args: argparse.Namespace) -> None:
    """Errors that need no run of the model."""
    ranges.check_jobs(args.jobs)
    ranges.check("--requests", args.requests, 0)
    ranges.check("--tolerance", args.tolerance, 0, 100, above=True)
    check_output("--out", args.out)
    if args.profile:
        find_profile(args.profile)
    for name in args.fio or []:
        check_input("--fio", name)
    ranges.check("--train", args.train, 0, 100, above=True)
    ranges.check("--points", args.points, 1)
    if args.data or args.plan:
        if args.data and not args.data.is_dir():
            raise UserError(f"--data {args.data}: not a folder")
        check_output("--plan", args.plan or "")
    elif args.fio:
        fiojson.matches(args.match)
    else:
        validation.chosen(validation.read(), [args.published])


def main(args: argparse.Namespace) -> int:
    """./vssd fit"""
    check(args)
    if args.plan:
        return _plan(args)
    if args.data:
        return _fit_rows(args)
    task = _of_fio(args) if args.fio else _of_published(args)
    frees = _frees(task.free, task.base)
    if len(frees) > len(task.goals):
        raise UserError(f"--free: {len(frees)} parameters, but only"
                        f" {len(task.goals)} figures")
    venv.extra("fit")
    with Stage("fit") as stage:
        search = calibrate.Search(Runner(model.sim(), args.jobs), task.goals,
                                  frees, task.base, stage.note)
        found = calibrate.find(search)
    _report(args, task, found)
    return 0


def _report(args: argparse.Namespace, task: Task, found: Outcome) -> None:
    figures = _figures(task, found, args.tolerance)
    parameters = _parameters(found)
    if args.json:
        json.dump({"parameters": parameters, "figures": figures,
                   "together": [{"keys": keys, "uncertainty":
                                 None if math.isinf(spread) else spread}
                                for keys, spread in found.together],
                   "runs": found.runs}, sys.stdout, indent=2)
        print()
    else:
        _print(figures, parameters, found.runs)
        for keys, _ in found.together:
            print("the figures do not tell apart: " + ", ".join(keys))
    unsure = [p.free.key for p in found.parameters if not p.determined]
    if unsure and not args.json:
        say("not determined: " + ", ".join(unsure) + "; the jobs to run: ./vssd"
            " fit --plan JOBS.fio --free " + ",".join(unsure))
    if args.out:
        _write(args.out, task, found)
