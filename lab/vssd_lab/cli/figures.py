# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures: published figures, made again on the model."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from vssd import ranges
from vssd.build import model, venv
from vssd.errors import UserError
from vssd.nearest import hint
from vssd.sim import run as simrun
from vssd.ui import Stage, table

from ..figures.figure import QUICK_SCALE, SEEDS, SWEEP_SEEDS

# Name: the module that makes it, and its title.
FIGURES = {
    "scatter": ("scatter", "scattering write arrivals, Shin 2018"),
    "layout": ("layout", "data layout and parallelism, Zertal 2015"),
    "buffer": ("buffer", "early flush with second chance, Shin 2023"),
    "streams": ("streams", "multi-streamed SSD, Kang 2014"),
    "blackbox": ("blackbox", "black-box models of a drive, Huang 2011"),
    "warp": ("warp", "FDP SSDs, WARP 2026"),
    "streams-guest": ("streams_rocksdb",
                      "multi-streamed SSD, RocksDB in a guest; not among"
                      " all"),
    "streams-cassandra": ("streams_cassandra",
                          "multi-streamed SSD, Cassandra in a guest; not"
                          " among all"),
    "streams-guest-hints": ("streams_rocksdb_hints",
                            "streams-guest by the write hints of Linux 5.10;"
                            " not among all"),
    "streams-cassandra-hints": ("streams_cassandra_hints",
                                "streams-cassandra by the write hints of Linux"
                                " 5.10; not among all"),
}
# Hours, and images of guests.
LONG = ("streams-guest", "streams-cassandra", "streams-guest-hints",
        "streams-cassandra-hints")
OUT = "vssd-figures"
MARK = ".vssd-figures"  # in a folder of inputs that a figure may empty


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "figures", help="reproduce published figures",
        description="Figures: " + "; ".join(
            f"{k} ({v[1]})" for k, v in FIGURES.items()) + "; all.  Pictures"
        " and a report page go to a folder (docs/lab/figures.md).")
    p.add_argument("names", nargs="+", metavar="NAME",
                   help="all, or some of " + ", ".join(FIGURES))
    p.add_argument("--traces", default="", metavar="DIR",
                   help="folder with real traces; without, and for those it"
                   " does not have, traces are generated")
    p.add_argument("--out", default=OUT, metavar="DIR",
                   help=f"where pictures and report go (default: {OUT})")
    p.add_argument("--scale", type=float, default=None, metavar="X",
                   help="make generated inputs so much longer or shorter"
                   " (default: 1; with --quick 0.1)")
    p.add_argument("--seeds", type=int, default=None, metavar="N",
                   help="inputs generated for each point (default: 5; with"
                   " --quick 3)")
    p.add_argument("--quick", action="store_true",
                   help="a short form: three seeds and short inputs; its"
                   " totals are not claims")
    p.add_argument("--sweeps", action="store_true",
                   help="play each open parameter over its range, too, and"
                   " the runs that test why a statement does not hold: three"
                   " seeds; hours, but results are kept in the cache, so that"
                   " the command goes on where it was interrupted")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time (default: the cores)")
    p.add_argument("--json", action="store_true",
                   help="rows as JSON on standard output")
    p.set_defaults(call=main, check_arguments=_check)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"vssd_lab.figures.{FIGURES[name][0]}")


def _check(args: argparse.Namespace) -> list[str]:
    names = [n for n in args.names if n != "all"]
    if "all" in args.names:
        names = [n for n in FIGURES if n not in LONG] + names
    for name in names:
        if name not in FIGURES:
            raise UserError(f"no figure {name!r}{hint(name, FIGURES)}:"
                            " all, or one of " + ", ".join(FIGURES))
    if args.traces and not Path(args.traces).is_dir():
        raise UserError(f"--traces {args.traces}: no such folder")
    if args.scale is None:
        args.scale = QUICK_SCALE if args.quick else 1.0
    ranges.check("--scale", args.scale, 0.001, 1000)
    if args.seeds is None:
        args.seeds = SWEEP_SEEDS if args.quick else SEEDS
    if args.quick and args.sweeps:
        raise UserError("--sweeps: not with --quick")
    ranges.check("--seeds", args.seeds, 1, 100)
    ranges.check_jobs(args.jobs)
    return list(dict.fromkeys(names))


def _picture(panel: Any, figure: str, out: Path) -> str | None:
    from ..figures import plot as figures_plot

    stem = f"{figure}-" + re.sub(r"[^a-z0-9]+", "-", panel.name.lower())
    files = figures_plot.draw(panel, out / stem)
    return files[0].name if files else None


def _inputs(out: Path, name: str) -> Path:
    """An empty folder for the inputs of a figure.  A folder of that name that
    no figure made is left alone."""
    folder = out / "inputs" / name
    mark = folder / MARK
    if folder.is_dir() and any(folder.iterdir()) and not mark.exists():
        raise UserError(f"--out {out}: no figure made {folder}; name another"
                        " folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.touch()
    return folder


def _make(args: argparse.Namespace, names: list[str], out: Path) \
        -> list[dict[str, Any]]:
    from ..figures import figure as figures
    from ..figures import report as figures_report

    pages = []
    runner = simrun.Runner(model.sim(), args.jobs)
    for name in names:
        ctx = figures.Context(
            runner, Path(args.traces).absolute() if args.traces else None,
            _inputs(out, name), args.scale, args.seeds, args.sweeps, out)
        module = _module(name)
        page = figures_report.Figure(name, module.TITLE, args.seeds,
                                     short=args.quick)
        for panel in figures.collect(module.panels(ctx)):
            page.panels.append((panel, _picture(panel, name, out)))
            _say(args, panel)
        page.runs = [(title, label, point.command("vssd-sim"), result)
                     for title, label, point, result in ctx.runs]
        page.runs += [_series(one, out, f"runs-{name}-{i}.jsonl")
                      for i, one in enumerate(ctx.series)]
        pages.append(page)
        print(page.total(), file=_stream(args), flush=True)
        # Now, so that they are there if the next figure fails.
        figures_report.write(out, pages,
                             shlex.join(["./vssd", *sys.argv[1:]]))
    rows = [{"figure": p.name, **r} for p in pages for r in p.rows()]
    (out / "rows.json").write_text(json.dumps(rows, indent=2, default=str)
                                   + "\n")
    return rows


def _series(one: Any, out: Path, name: str) -> tuple[str, Any, list[str], Any]:
    """Many runs for the page: a line each in a file of the report."""
    shutil.copyfile(one.path, out / name)
    return one.title, one.title, one.command, {
        "runs": one.count, "file": name,
        "lines": ["number", "characteristics", "results", "seconds"]}


def _stream(args: argparse.Namespace) -> Any:
    return sys.stderr if args.json else sys.stdout


def _say(args: argparse.Namespace, panel: Any) -> None:
    from ..figures.figure import verdict
    from ..figures.report import judgement, measured

    if not args.json:
        table(panel.title, ["point", "ours", "paper", "verdict"],
              [[str(r["point"]), measured(r), str(r["paper"]), judgement(r)]
               for r in panel.rows])
    print(f"{panel.name}: {verdict(panel)}", file=_stream(args), flush=True)


def main(args: argparse.Namespace) -> int:
    """./vssd figures"""
    names = _check(args)
    out = Path(args.out).absolute()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    venv.extra("figures")
    with Stage("figures: " + ", ".join(names)):
        rows = _make(args, names, out)
    if args.json:
        json.dump(rows, sys.stdout, indent=2, default=str)
        print()
    else:
        print(f"report: {out / 'index.html'}")
    return 0
