# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd exec: a command in a guest that runs."""

from __future__ import annotations

import argparse
import shlex
import sys

from .. import ranges, rundir
from ..errors import UserError
from ..ui import say

EPILOG = """\
One word is a command line for the guest's shell; several words are a program
and its arguments.  The exit status is the command's; 124: --timeout is over.

examples:
  ./vssd exec 'nvme list; lsblk'
  ./vssd exec --run db -- fio --name=x --filename=/dev/nvme1n1 --size=64m
  ./vssd exec -i 'cat >/root/job.fio' <job.fio
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "exec", help="run a command in a guest that runs", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    rundir.add_option(p)
    p.add_argument("-i", "--stdin", action="store_true",
                   help="the command reads this command's standard input")
    p.add_argument("--timeout", type=float, metavar="SECONDS",
                   help="kill the command after so long, status 124")
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND",
                   help="the command")
    p.set_defaults(call=main)


def command_of(args: argparse.Namespace) -> str:
    """The command line for the guest's shell."""
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words or not words[0].strip():
        raise UserError("exec: a command must follow, as 'nvme list'")
    if args.timeout is not None:
        ranges.check_seconds("--timeout", args.timeout)
    return words[0] if len(words) == 1 else shlex.join(words)


def main(args: argparse.Namespace) -> int:
    """./vssd exec"""
    from ..guest import attach

    command = command_of(args)

    def put(stream: object) -> object:
        def write(data: bytes) -> None:
            stream.buffer.write(data)  # type: ignore[attr-defined]
            stream.buffer.flush()      # type: ignore[attr-defined]
        return write

    run = rundir.find_to_change(args.run)
    return attach.execute(
        run, command,
        attach.Streams(put(sys.stdout), put(sys.stderr),  # type: ignore[arg-type]
                       lambda text: say(f"{run.name}: {text}; waiting"),
                       sys.stdin.fileno() if args.stdin else None),
        args.timeout)
