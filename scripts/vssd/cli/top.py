# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd top: a running guest's drive on the screen."""

from __future__ import annotations

import argparse
import contextlib
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import ranges
from ..errors import UserError
from .stat import add_drive, drive_of

if TYPE_CHECKING:
    from ..watch.source import Drive
    from ..watch.top import Frame

SHORTEST_S = 0.1
LONGEST_S = 3600.0


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "top", help="show a running guest's drive on the screen",
        description="Shows queues, rates, latency, WAF, buffer, channels, dies,"
        " GC, streams, temperature and lateness of a drive.  q ends it."
        "  docs/watch.md explains the lines.")
    p.add_argument("--interval", type=float, default=1.0, metavar="SECONDS",
                   help="time between two readings (default: 1)")
    p.add_argument("--once", action="store_true",
                   help="print one frame, of two readings, and end")
    add_drive(p)
    p.set_defaults(call=main)


@contextlib.contextmanager
def keys() -> Iterator[None]:
    """Keys arrive one by one, and are not shown."""
    old = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, old)


def quits(seconds: float) -> bool:
    """Wait so long for a q, or the end of the input."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([sys.stdin], [], [], left)[0] and \
                sys.stdin.read(1) in ("q", "Q", ""):
            return True
    return False


def frames(drive: Drive) -> Iterator[Frame]:
    """Of each two readings; the caller waits between them."""
    from ..watch.top import Frame

    name = f"{drive.run} {drive.name}"
    before = drive.read()
    while True:
        now = drive.read()
        yield Frame(name, before, now)
        before = now


def _once(drive: Drive, interval_s: float) -> None:
    from ..watch.top import Frame

    before = drive.read()
    time.sleep(interval_s)
    frame = Frame(f"{drive.run} {drive.name}", before, drive.read())
    print("\n".join(frame.lines()))


def _live(drive: Drive, interval_s: float) -> None:
    from rich.live import Live

    with keys(), contextlib.suppress(KeyboardInterrupt), \
            Live(screen=True, auto_refresh=False) as live:
        for frame in frames(drive):
            live.update(frame.text(), refresh=True)
            if quits(interval_s):
                return


def main(args: argparse.Namespace) -> int:
    """./vssd top"""
    ranges.check("--interval", args.interval, SHORTEST_S, LONGEST_S, " seconds")
    if not args.once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("top needs a terminal; --once prints one frame, and"
                        " ./vssd stat --watch a table")
    (_once if args.once else _live)(drive_of(args), args.interval)
    return 0
