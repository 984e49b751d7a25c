# SPDX-License-Identifier: GPL-2.0-or-later
"""The task of a worker of a cluster: one vssd-sim.

Sent to the worker as it stands, so it imports nothing of the project: a worker
needs Dask's distributed and the shared libraries of vssd-sim (GLib), no more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def _own_folder() -> Iterator[Path]:
    """A folder of the worker's temporary files that nobody else can write: the
    one with the usual name, unless another user made it, else a new one, for
    this run only."""
    path = Path(tempfile.gettempdir()) / f"vssd-sweep-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() \
            and not found.st_mode & 0o022:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="vssd-sweep-") as name:
        yield Path(name)


def _have(folder: Path, name: str, data: bytes, mode: int) -> str:
    """The file, made by whoever comes first."""
    path = folder / name
    if not path.exists():
        fd, tmp = tempfile.mkstemp(dir=folder)
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        os.chmod(tmp, mode)
        os.rename(tmp, path)
    return str(path)


def run(sim_name: str, sim: bytes, profile_name: str, profile: bytes,
        args: list[str]) -> tuple[int, str, str]:
    """Run vssd-sim, given as a file's contents like the profile; a name stands
    for one content.  args is Point.arguments().  Its status, output, and
    errors."""
    with _own_folder() as where:
        return _run([_have(where, sim_name, sim, 0o700), args[0], "--json",
                     "--profile", _have(where, profile_name, profile, 0o600),
                     *args[1:]])


def _run(command: list[str]) -> tuple[int, str, str]:
    for attempt in range(10):
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  errors="replace", check=False)
            return done.returncode, done.stdout, done.stderr
        except OSError as e:
            # Another thread forked while the program was being written.
            if e.errno != errno.ETXTBSY or attempt == 9:
                return 1, "", f"{command[0]}: {e.strerror}"
            time.sleep(0.05)
    raise AssertionError
