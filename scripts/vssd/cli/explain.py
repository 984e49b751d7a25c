# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd explain: what bounds a run, and what one option would change."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from .. import ranges
from ..errors import UserError, printable
from . import report

if TYPE_CHECKING:
    from ..watch.why import Why

EPILOG = """\
  ./vssd sim run --profile pm9a3 --csv a.csv --json > a.json \\
      --workload 'rw=randread bs=4k iodepth=64 number_ios=100000'
  ./vssd explain a.json                with a.csv beside it: the slowest, too
  ./vssd explain a.json --set nand.channels=16

docs/explain.md has the rules, and how far predictions were off.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "explain", help="say what bounds a run, and what would change it",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("result", metavar="RUN|RESULT",
                   help="a result as JSON (X.csv beside X.json is used as"
                   " well), or the name of a guest that runs")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="predict the run with this option of the drive; may be"
                   " repeated: a prediction each (default: usual changes)")
    p.add_argument("--iodepth", type=int, metavar="N",
                   help="predict it with so many requests in flight")
    p.add_argument("--drive", metavar="ID",
                   help="of guests and of files with several drives: this one")
    p.add_argument("--json", action="store_true",
                   help="JSON on standard output")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Numbers, and the file, but for the name of a guest."""
    if args.iodepth is not None:
        ranges.check("--iodepth", args.iodepth, 1, 65535)
    report.check_result(args.result)


def _show(found: Why) -> None:
    from ..ui import table

    for text in (found.bound, found.latency, found.slow):
        print(printable(text[0].upper() + text[1:] + "."))
    if found.changes:
        table(f"what one option would change ({found.measure} now"
              f" {found.now:,.0f})",
              ["option", "now", "then", found.measure, "ratio", "rests on"],
              [[c.option, c.before, c.after, f"{found.now * c.ratio:,.0f}",
                f"{c.ratio:.3f}", c.because] for c in found.changes])
    for option, text in found.without.items():
        print(printable(f"{option}: {text}"))


def main(args: argparse.Namespace) -> int:
    """./vssd explain"""
    from ..watch.why import why

    loaded = report.load(args.result, args.drive)
    if len(loaded) > 1:
        raise UserError(f"{args.result} has several drives: name one with"
                        " --drive ID")
    found = why(loaded[0], args.set, args.iodepth)
    if args.json:
        json.dump(found.json(), sys.stdout, indent=2)
        print()
    else:
        _show(found)
    return 0
