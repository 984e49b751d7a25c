# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd cp: copy files to and from a guest that runs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .. import rundir
from ..errors import UserError

EPILOG = """\
A path in the guest begins with a colon, or with the guest's name and a colon;
relative ones begin at /root.  Directories are copied with all that is in them;
symbolic links stay links, and none is followed below the paths that are named.

examples:
  ./vssd cp driver.ko tests/ :
  ./vssd cp db:/var/log/syslog db:results .

It goes by ssh if the run has --ssh, else through the guest's serial port, so
that any guest with the agent will do: about 50 KB/s into a guest without KVM.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "cp", help="copy files to and from a guest that runs", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    rundir.add_option(p)
    p.add_argument("paths", nargs="+", metavar="PATH",
                   help="sources and, last, the destination")
    p.set_defaults(call=main)


def split(path: str) -> tuple[str, str] | None:
    """Name and path of [NAME]:PATH; None: a path of the host."""
    name, colon, rest = path.partition(":")
    if not colon or (name and not rundir.NAME.fullmatch(name)):
        return None
    return name, rest


def plan(args: argparse.Namespace) -> tuple[str | None, list[str], str, bool]:
    """The guest's name, sources, destination, and whether it is the guest's."""
    if len(args.paths) < 2:
        raise UserError("cp: sources and a destination must follow")
    sides = [split(path) for path in args.paths]
    to_guest = sides[-1] is not None
    sources = sides[:-1]
    if any((side is None) != to_guest for side in sources):
        raise UserError("cp: either the destination is in the guest"
                        " ([NAME]:PATH) or every source is")
    names = {side[0] for side in sides if side and side[0]}
    names |= {args.run} - {None}
    if len(names) > 1:
        raise UserError("cp: several guests are named: "
                        + ", ".join(sorted(names)))
    plain = [side[1] if side else path
             for side, path in zip(sides, args.paths)]
    for path in plain[:-1]:
        if not path.strip("/"):
            raise UserError(f"cp: {path or 'nothing'!r} is no source")
        if to_guest and not os.path.lexists(path):
            raise UserError(f"cp: {path}: no such file")
    return next(iter(names), None), plain[:-1], plain[-1], to_guest


def main(args: argparse.Namespace) -> int:
    """./vssd cp"""
    from ..guest import copying

    name, sources, to, into_guest = plan(args)
    find = rundir.find_to_change if into_guest else rundir.find
    run = find(name)
    if into_guest:
        copying.to_guest(run, [Path(s) for s in sources], to)
    else:
        copying.from_guest(run, sources, Path(to))
    return 0
