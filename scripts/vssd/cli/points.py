# SPDX-License-Identifier: GPL-2.0-or-later
"""What sweep and fleet share: the options of many runs, and their table.

Knows where runs take place and how a table is written; does not know what a
run is.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import ranges
from ..build import model, venv
from ..errors import UserError
from ..paths import check_input
from ..sim import sweep
from ..ui import say


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


def write(head: list[str], rows: list[list[Any]], out: Path) -> None:
    """The table, and a line that says how long it is."""
    try:
        sweep.write(head, rows, out)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    say(f"{len(rows)} rows in {out}")
