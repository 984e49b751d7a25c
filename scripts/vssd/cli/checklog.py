# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd checklog: judge an operation log (docs/oplog.md)."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "checklog", help="judge an operation log by the rules of the medium",
        description="Reads an operation log that --oplog FILE of ./vssd sim or"
        " ./vssd run wrote.  Exit status: 0, all rules hold; 1, one does not; 2, the"
        " file cannot be read, or has nothing to judge.")
    p.add_argument("file", type=Path, metavar="FILE", help="the log")
    p.set_defaults(call=main)


def main(args: argparse.Namespace) -> int:
    """./vssd checklog"""
    from ..build import model

    program = str(model.oplog_check())
    os.execv(program, ["vssd-oplog-check", str(args.file)])
