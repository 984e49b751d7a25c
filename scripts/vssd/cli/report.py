# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd report: results as one page."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .. import paths, rundir
from ..build import venv

if TYPE_CHECKING:
    from ..watch.result import Result

EPILOG = """\
  ./vssd sim run --profile tiny --fill random --series 0.1 --csv a.csv \\
      --oplog a.oplog --workload 'rw=randrw number_ios=20000' --json > a.json
  ./vssd report a.json                 with a.csv and a.oplog beside it
  ./vssd report a.json b.json -o ab.html

docs/watch.md lists the parts of the page, and the options that record them.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "report", help="show results as one HTML page",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("results", nargs="+", metavar="RUN|RESULT",
                   help="a result as JSON (X.csv and X.oplog beside X.json are"
                   " used as well), or the name of a guest that runs")
    p.add_argument("-o", "--out", default="report.html", metavar="FILE",
                   help="the page (default: %(default)s)")
    p.add_argument("--drive", metavar="ID",
                   help="of guests and of files with several drives: this one,"
                   " as ssd0 (default: a guest's only one, all of a file)")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The files, but for names of guests."""
    paths.check_output("-o", args.out)
    for name in args.results:
        check_result(name)


def check_result(name: str) -> None:
    """Of a guest that runs, or a file that can be read."""
    if name not in [run.name for run in rundir.running()]:
        paths.check_input("", name)


def load(name: str, drive: str | None) -> list[Result]:
    """A file, or the drive of a guest as it is now."""
    from ..watch import result
    from .stat import drive_of

    if not Path(name).exists() and name in [
            run.name for run in rundir.running()]:
        found = drive_of(argparse.Namespace(run=name, drive=drive))
        return [result.Result(f"{name} {found.name}", found.read(),
                              given=name)]
    return result.load(name, drive)


def load_all(names: list[str], drive: str | None) -> list[Result]:
    """All of them, under different names."""
    from ..watch import result

    found = [one for name in names for one in load(name, drive)]
    result.name_apart(found)
    return found


def main(args: argparse.Namespace) -> int:
    """./vssd report"""
    found = load_all(args.results, args.drive)
    venv.extra("watch")
    from ..watch import report

    how = shlex.join(["./vssd", *sys.argv[1:]])
    text = report.page(found, how)
    if args.out == "-":
        print(text, end="")
        return 0
    Path(args.out).write_text(text, encoding="utf-8")
    print(f"report: {args.out}")
    return 0
