# SPDX-License-Identifier: GPL-2.0-or-later
"""How a command ends: a user's error is one line, and SIGTERM and
SIGINT leave nothing behind.  The exit statuses."""

from __future__ import annotations

import os
import signal
import sys
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


def run(command: Callable[[], int]) -> int:
    """The exit status of a command, whose error is printed.  At SIGTERM it
    ends as by sys.exit(TERMINATED), so that its contexts are closed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        return command()
    except UserError as e:
        print(f"vssd: {one_line(str(e)).removeprefix('vssd: ')}",
              file=sys.stderr)
    except KeyboardInterrupt:
        print("vssd: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as e:
        if os.environ.get("VSSD_DEBUG"):
            raise
        where = f" ({e.filename})" if e.filename else ""
        print(f"vssd: {one_line(f'{e.strerror or e}{where}')}",
              file=sys.stderr)
    return FAILED
