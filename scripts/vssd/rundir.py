# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory for what one run needs: gone when the run ends, however it ends.

A run that was killed leaves its directory behind; the lock on it is gone with
the process, so the next run removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .paths import cache_dir


@contextlib.contextmanager
def rundir() -> Iterator[Path]:
    """A fresh directory, locked while it is in use."""
    runs = cache_dir() / "runs"
    runs.mkdir(exist_ok=True)
    _sweep(runs)
    path = Path(tempfile.mkdtemp(prefix="run-", dir=runs))
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(fd)
        shutil.rmtree(path, ignore_errors=True)


def _sweep(runs: Path) -> None:
    for old in runs.glob("run-*"):
        try:
            fd = os.open(old, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if old.stat().st_mtime < runs.stat().st_mtime - 5:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(fd)
