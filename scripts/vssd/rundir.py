# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory for the files of one run: removed when the run ends, however it ends.

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

MONITOR = "qmp.sock"    # in the directory of a guest


@contextlib.contextmanager
def rundir(folder: Path | None = None) -> Iterator[Path]:
    """A fresh directory, locked while it is in use; in the cache, or in a
    folder that exists, among files that are not ours."""
    prefix = "vssd-run-" if folder else "run-"
    if folder is None:
        folder = cache_dir() / "runs"
        folder.mkdir(exist_ok=True)
    _sweep(folder, prefix)
    path, fd = _make(folder, prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(fd)


def live(name: str) -> list[Path]:
    """Files of this name in the cache's directories that are in use."""
    found = sorted((cache_dir() / "runs").glob(f"run-*/{name}"))
    return [path for path in found if _in_use(path.parent)]


def _in_use(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _make(folder: Path, prefix: str) -> tuple[Path, int]:
    # Another run may sweep it away before it is locked.
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(path, os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_EX)
            if path.exists():
                return path, fd
            os.close(fd)


def _sweep(folder: Path, prefix: str) -> None:
    for old in folder.glob(prefix + "*"):
        try:
            fd = os.open(old, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(old, ignore_errors=True)
        except OSError:
            pass    # it is in use
        finally:
            os.close(fd)
