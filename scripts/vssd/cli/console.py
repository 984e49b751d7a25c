# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd console: the serial console of a guest that runs."""

from __future__ import annotations

import argparse
import os

from .. import rundir
from ..ui import say


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "console", help="the serial console of a guest that runs",
        description="Shows the console of a guest and types there what is typed"
        " here.  Ctrl-A d leaves it; the guest runs on.  Without a terminal,"
        " standard input is typed, and its end leaves the console when that is"
        " quiet.")
    rundir.add_option(p)
    p.set_defaults(call=main)


def main(args: argparse.Namespace) -> int:
    """./vssd console"""
    from ..guest import attach, console

    run = rundir.find_to_change(args.run)
    if os.isatty(console.STDIN):
        say(f"the console of {run.name} follows; Ctrl-A d leaves it")
    attach.show_console(run)
    return 0
