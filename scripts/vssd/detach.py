# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in the background: ours until it has started, then on its own.

The run is a child with a session of its own.  Until it has started it speaks to
the terminal; then its output goes to a log, and the parent ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path


def run(child: Callable[[Callable[[str, Path], None]], int]) -> int:
    """Run child(started) in the background.  It calls started(name, log) when
    it needs the terminal no more; then the name is printed.  The status is 0, or
    the child's if it ended before."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setsid()
        return child(lambda name, log: _leave(name, log, writing))
    os.close(writing)
    try:
        with open(reading, "rb") as pipe:
            name = pipe.read().decode()
    except BaseException:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        raise
    if name:
        print(name)
        return 0
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) or 1


def _leave(name: str, log: Path, writing: int) -> None:
    """From the terminal to the log."""
    sys.stdout.flush()
    sys.stderr.flush()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(null)
    os.close(out)
    os.write(writing, name.encode())
    os.close(writing)
