# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd checklog: judge an operation log (docs/oplog.md)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import ending
from ..errors import UserError
from ..paths import check_input


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "checklog", help="judge an operation log by the rules of the medium",
        description="Reads an operation log that --oplog FILE of ./vssd sim or"
        " ./vssd run wrote.  Exit status: 0, all rules hold; 1, one does not; 2, the"
        " file cannot be read, or has nothing to judge.")
    p.add_argument("file", type=Path, metavar="FILE", help="the log")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The file; a program that is there needs no Python libraries."""
    from ..build import model

    try:
        check_input("", args.file)
    except UserError as e:
        print(f"vssd-oplog-check: {e}", file=sys.stderr)
        raise SystemExit(ending.USAGE) from e
    args.without_libraries = model.oplog_check_is_made()


def main(args: argparse.Namespace) -> int:
    """./vssd checklog"""
    from ..build import model

    program = str(model.oplog_check())
    os.execv(program, ["vssd-oplog-check", str(args.file)])
