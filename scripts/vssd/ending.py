# SPDX-License-Identifier: GPL-2.0-or-later
"""How a command ends: a user's error is one line, and SIGTERM and
SIGINT leave nothing behind.  The exit statuses."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from .errors import UserError, one_line

FAILED = 1
USAGE = 2
TIMED_OUT = 124
INTERRUPTED = 128 + signal.SIGINT
BROKEN_PIPE = 128 + signal.SIGPIPE
TERMINATED = 128 + signal.SIGTERM
# docs/command-line.md and the man pages have this table.
STATUSES = {
    0: "success",
    FAILED: "an error, which is told in one line; a test or a check failed",
    USAGE: "a wrong command line",
    TIMED_OUT: "the command of `run --exec` took longer than `--timeout`",
    INTERRUPTED: "ended by SIGINT (Ctrl-C)",
    BROKEN_PIPE: "the reader of standard output is gone",
    TERMINATED: "ended by SIGTERM",
}
OTHER_STATUSES = "`run --exec` ends with the status of its command."


AGAIN_S = 1.0  # a signal so soon after the first is the same: timeout sends two


class Ended:
    """The signal that ends this process."""

    number = 0
    at = 0.0


def line() -> str:
    """What is said of it."""
    return f"ended by {signal.Signals(Ended.number).name}"


def is_first(number: int) -> bool:
    """Note a signal that asks for the end; false: it is not the first.  A
    later one insists, and ends the process at once."""
    if not Ended.number:
        Ended.number, Ended.at = number, time.monotonic()
        return True
    if time.monotonic() - Ended.at > AGAIN_S:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return False


def _end(number: int, _: object) -> None:
    if is_first(number):
        if "logging" in sys.modules:  # of tasks that are cut short
            sys.modules["logging"].disable()
        sys.exit(128 + number)


def _unraisable(it: sys.UnraisableHookArgs) -> None:
    """The end came in a place that drops exceptions, as callbacks of weak
    references do: it comes again."""
    if Ended.number and isinstance(it.exc_value, SystemExit):
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(128 + Ended.number))
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        sys.__unraisablehook__(it)


def run(command: Callable[[], int]) -> int:
    """The exit status of a command, whose error is printed.  At SIGTERM it
    ends as by sys.exit(TERMINATED), so that its contexts are closed."""
    signal.signal(signal.SIGTERM, _end)
    sys.unraisablehook = _unraisable
    try:
        return _run(command)
    except BaseException:
        # Contexts that were cut short may raise anything.
        if not Ended.number or os.environ.get("VSSD_DEBUG"):
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    print("vssd: " + line(), file=sys.stderr)
    return 128 + Ended.number


def _run(command: Callable[[], int]) -> int:
    try:
        try:
            return command()
        finally:
            # Not at the end of Python, which would tell of a closed pipe.
            sys.stdout.flush()
    except UserError as e:
        if Ended.number:
            raise
        print(f"vssd: {one_line(str(e)).removeprefix('vssd: ')}",
              file=sys.stderr)
    except KeyboardInterrupt:
        print("vssd: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as e:
        if Ended.number or os.environ.get("VSSD_DEBUG"):
            raise
        where = f" ({e.filename})" if e.filename else ""
        print(f"vssd: {one_line(f'{e.strerror or e}{where}')}",
              file=sys.stderr)
    return FAILED
