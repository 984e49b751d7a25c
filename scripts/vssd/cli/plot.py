# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd plot: a picture of chosen members of results."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import paths
from ..build import venv
from ..errors import UserError

ENDS = (".svg", ".png", ".pdf")
EPILOG = """\
  ./vssd plot a.json b.json --y waf --y iops
  ./vssd plot a.json b.json --y gc.free_blocks_over_time
  ./vssd plot a.json --y series.mean_ns --log y
  ./vssd plot sweep.csv --x ftl.op_percent --y waf --by ftl.gc
  ./vssd stat --watch --csv > now.csv; ./vssd plot now.csv --x time_s --y waf

docs/results.md has the members, docs/watch.md the rules.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "plot", help="draw members of results, or columns of a sweep's table",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("results", nargs="+", metavar="RESULT",
                   help="a result as JSON, or a table, .csv or .parquet")
    p.add_argument("--y", action="append", required=True, metavar="MEMBER",
                   help="what to draw; may be repeated: a picture each, one"
                   " below the other")
    p.add_argument("--x", metavar="MEMBER",
                   help="over this (default: the result, or the time of a"
                   " member that is a list)")
    p.add_argument("--by", metavar="MEMBER",
                   help="a curve for each value of this member")
    p.add_argument("--log", choices=("x", "y", "xy"), default="",
                   help="logarithmic axes")
    p.add_argument("-o", "--out", default="plot.svg", metavar="FILE",
                   help="the picture: " + ", ".join(ENDS)
                   + " (default: %(default)s)")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The names of files."""
    out = Path(args.out)
    if out.suffix not in ENDS:
        raise UserError(f"-o {out}: allowed names that end in "
                        + ", ".join(ENDS))
    paths.check_output("-o", out)
    for name in args.results:
        paths.check_input("", name)


def main(args: argparse.Namespace) -> int:
    """./vssd plot"""
    out = Path(args.out)
    if any(Path(n).suffix == ".parquet" for n in args.results):
        venv.extra("parquet")
    venv.extra("figures")
    from .. import pictures
    from ..watch import plot

    found = plot.sources(args.results)
    pictures.save(plot.draw(found, args.y, args.x, args.by, args.log), out)
    print(f"picture: {out}")
    return 0
