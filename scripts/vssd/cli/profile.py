# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd profile: make a profile from the facts of a drive."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import paths
from ..errors import UserError
from ..nearest import hint
from ..sim import facts
from ..ui import say

EPILOG = """\
Facts are what a data sheet and publications say: capacity, dies, generation of
NAND, rated figures.  The rules (docs/profiles.md) make options of them,
and look at no measurement.

  ./vssd profile                               # drives of profiles/facts.toml
  ./vssd profile 'Samsung PM9A3 960 GB'        # its profile
  ./vssd profile --facts mine.toml 'My drive' -o mine.ini
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "profile", help="make a profile from a drive's data sheet",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("drive", nargs="?", metavar="DRIVE",
                   help="a drive of the file (default: list them)")
    p.add_argument("--facts", type=Path, default=facts.FILE, metavar="FILE.toml",
                   help="the file of facts (default: profiles/facts.toml)")
    p.add_argument("-o", "--output", type=Path, metavar="FILE.ini",
                   help="write the profile there (default: print it)")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that need no program."""
    paths.check_input("--facts", str(args.facts))
    if args.output:
        if not args.drive:
            raise UserError("-o: name the drive, too")
        paths.check_output("-o", args.output)


def main(args: argparse.Namespace) -> int:
    """./vssd profile"""
    drives = {d.name: d for d in facts.read(args.facts)}
    if not args.drive:
        for name, drive in drives.items():
            print(f"{name:32} {drive.nand['what']}")
        return 0
    if args.drive not in drives:
        raise UserError(f"no drive {args.drive!r} in {args.facts}"
                        f"{hint(args.drive, list(drives))}: "
                        + ", ".join(drives))
    text = facts.text(drives[args.drive])
    if not args.output:
        print(text, end="")
        return 0
    args.output.write_text(text, encoding="utf-8")
    say(f"{args.output}: {args.drive}")
    return 0
