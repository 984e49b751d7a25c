# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd stat: statistics of a running guest's drive."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .. import ranges, rundir
from ..errors import UserError
from .fault import only_drive

if TYPE_CHECKING:
    from ..watch.source import Drive

SHORTEST_S = 0.01
LONGEST_S = 86400
EPILOG = """\
  ./vssd stat                             the main statistics
  ./vssd stat gc nand.by_cause.*.erases   these
  ./vssd stat --watch                     every second, with rates
  ./vssd stat --watch 0.1 --csv iops waf  ten times a second, as a table
  ./vssd stat --json > now.json           for ./vssd compare, report and plot

docs/watch.md describes the formats, docs/results.md the statistics.
"""


def add_drive(p: argparse.ArgumentParser) -> None:
    """The options that say which drive, for drive_of()."""
    p.add_argument("--drive", metavar="ID",
                   help="this drive, as ssd0 (default: the only one)")
    rundir.add_option(p)


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "stat", help="show statistics of a running guest's drive",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("patterns", nargs="*", metavar="PATTERN",
                   help="these statistics: a path of docs/results.md, also of"
                   " an object, with * for any text")
    p.add_argument("--all", action="store_true",
                   help="all statistics, also those that are 0")
    p.add_argument("--watch", nargs="?", type=float, const=1.0,
                   metavar="SECONDS",
                   help="again every so often (default: 1), with rates")
    p.add_argument("--count", type=int, metavar="N",
                   help="with --watch: end after N readings")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true",
                      help="a JSON object for each reading")
    form.add_argument("--csv", action="store_true",
                      help="a line of CSV for each reading")
    add_drive(p)
    p.set_defaults(call=main, check_arguments=check)


def drive_of(args: argparse.Namespace) -> Drive:
    """The drive that --run and --drive name: the one place that finds it."""
    from ..watch.source import Drive, Monitor

    machine = rundir.find(args.run)
    with Monitor(machine) as qmp:
        return Drive(machine, only_drive(qmp, args.drive))


def check(args: argparse.Namespace) -> None:
    """Errors that need no guest."""
    # A pattern that follows --watch looks like its SECONDS to argparse.
    if args.watch is not None:
        ranges.check("--watch", args.watch, SHORTEST_S, LONGEST_S, " seconds")
    if args.count is not None and args.watch is None:
        raise UserError("--count goes with --watch only")
    if args.count is not None:
        ranges.check("--count", args.count, 1)
    if args.all and args.patterns:
        raise UserError(f"--all and {args.patterns[0]!r}: give one of them")


def main(args: argparse.Namespace) -> int:
    """./vssd stat"""
    from ..watch import stat

    check(args)
    watch = args.watch is not None
    main_ones = not (args.patterns or args.all or args.json or args.csv)
    found = stat.readings(
        drive_of(args), args.patterns, args.watch or 0,
        (args.count or 0) if watch else 1)
    if main_ones:
        found = stat.only_main(found)
    if args.json:
        stat.json_lines(found, args.patterns, watch)
    elif args.csv:
        stat.csv_lines(found)
    else:
        stat.tables(found, main_ones)
    return 0
