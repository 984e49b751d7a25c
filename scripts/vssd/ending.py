# SPDX-License-Identifier: GPL-2.0-or-later
"""How a command ends: a user's error is one line, and SIGTERM and
SIGINT leave nothing behind."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from .errors import UserError, one_line

TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT


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
        return 128 + signal.SIGPIPE
    except OSError as e:
        if os.environ.get("VSSD_DEBUG"):
            raise
        where = f" ({e.filename})" if e.filename else ""
        print(f"vssd: {e.strerror or e}{where}", file=sys.stderr)
    return 1
