# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory for the files of one run: removed when the run ends, however it ends.

A run that was killed leaves its directory behind; the lock on it is gone with
the process, so the next run removes it.

The directory of a guest that runs also tells other commands about it: its name
and facts, and its sockets.  find() is the one way to a run: by --run NAME, or
the only one; commands that destroy or change take find_to_change().

The directories are in the cache, or where VSSD_RUNS says: ./vssd test keeps its
guests apart from the user's.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import UserError
from .paths import PROJECT, cache_dir, locked

# In the directory of a guest:
MONITOR = "qmp.sock"
VMM = "vmm.sock"  # QEMU's, where MONITOR is vssd-server's
CONSOLE = "console.sock"
AGENT = "agent.sock"
FACTS = "run.json"
LIVE = "live-"  # begins the name of a drive's live file; its ID follows
APART = "t-"  # begins a folder of runs in runs/ of the cache: of tests
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Run:
    """A guest that runs."""

    folder: Path

    @property
    def facts(self) -> dict[str, Any]:
        """What the run says of itself (docs/machines.md); empty until it has."""
        try:
            found = json.loads((self.folder / FACTS).read_text("utf-8"))
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    @property
    def name(self) -> str:
        """By --name; else that of its directory."""
        return str(self.facts.get("name") or self.folder.name)

    @property
    def monitor(self) -> Path:
        """The socket at which the drives are asked: QEMU's, or
        vssd-server's."""
        return self.folder / MONITOR

    @property
    def machine_monitor(self) -> Path | None:
        """QEMU's, if that is another one."""
        path = self.folder / VMM
        return path if path.exists() else None

    @property
    def live_files(self) -> dict[str, Path]:
        """The live files of its drives, by ID."""
        return {path.name.removeprefix(LIVE): path
                for path in sorted(self.folder.glob(LIVE + "*"))
                if path.suffix not in (".part", ".vssd-lock")}

    @property
    def ours(self) -> bool:
        """Did this checkout and user start it?  Not while it has not said."""
        facts = self.facts
        return facts.get("checkout") == str(PROJECT) \
            and facts.get("uid") == os.getuid()

    @property
    def owner(self) -> str:
        """The checkout and the user that started it, for people."""
        facts = self.facts
        if "checkout" not in facts:
            return "?"
        return f"{facts['checkout']} ({_user(facts.get('uid'))})"

    @property
    def alive(self) -> bool:
        """Does its process still live?"""
        return _in_use(self.folder)


def _user(uid: object) -> str:
    try:
        return pwd.getpwuid(int(str(uid))).pw_name
    except (KeyError, ValueError, OverflowError):
        return f"user {uid}"


def running(folder: Path | None = None) -> list[Run]:
    """The guests that run, by name; in runs_dir() or another folder."""
    found = {path.parent for name in (MONITOR, FACTS)
             for path in live(name, folder)}
    return sorted((Run(path) for path in found), key=lambda run: run.name)


def users_of_the_cache() -> list[str]:
    """Guests that run with files of the cache, and tests, which may start
    such."""
    own = cache_dir() / "runs"
    tests = [path for path in own.glob(APART + "*") if path.is_dir()]
    return [run.name for folder in sorted({runs_dir(), own, *tests})
            for run in running(folder)] \
        + [f"./vssd test ({path.name})" for path in tests if _in_use(path)]


def find(name: str | None = None) -> Run:
    """The guest of --run NAME; without a name, the only one that runs."""
    found = {run.name: run for run in running()}
    if name:
        if name not in found:
            raise UserError(f"--run {name}: no such guest; there are: "
                            + (", ".join(found) or "none"))
        return found[name]
    if not found:
        raise UserError("no guest runs: start one with ./vssd run")
    if len(found) > 1:
        raise UserError("several guests run, say which: --run "
                        + " or ".join(found))
    return next(iter(found.values()))


def find_to_change(name: str | None = None) -> Run:
    """As find(), for commands that end or change a guest: one of another
    checkout or user has to be named."""
    run = find(name)
    if name or run.ours:
        return run
    who = f"is of {run.owner}, not of this checkout and user" \
        if "checkout" in run.facts else "does not say who started it"
    raise UserError(f"the guest {run.name} {who}: if you mean it, give --run"
                    f" {run.name}")


def add_option(parser: argparse.ArgumentParser) -> None:
    """--run NAME, for find()."""
    parser.add_argument("--run", metavar="NAME",
                        help="which guest, when several run (./vssd ps shows"
                        " their names)")


def check_name(name: str, own: Path | None = None) -> None:
    """Refuse a --name that cannot be one, or that a guest has; the one in the
    directory own is the guest that takes the name."""
    if not NAME.fullmatch(name):
        raise UserError(f"--name {name}: allowed are 1 to 63 letters, digits"
                        " and . _ - after a letter or digit")
    if name in {run.name for run in running() if run.folder != own}:
        raise UserError(f"--name {name}: a guest that runs has this name")


def describe(folder: Path, facts: dict[str, Any]) -> None:
    """Write the facts of a run that starts, and whose it is; its name must be
    free."""
    facts = {**facts, "checkout": str(PROJECT), "uid": os.getuid()}
    with locked("runs"):
        if facts.get("name"):
            check_name(facts["name"], folder)
        part = folder / (FACTS + ".part")
        part.write_text(json.dumps(facts), encoding="utf-8")
        part.rename(folder / FACTS)


def runs_dir() -> Path:
    """Where the directories of runs are; made when it is not there."""
    env = os.environ.get("VSSD_RUNS")
    path = Path(env).expanduser().absolute() if env else cache_dir() / "runs"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UserError(f"VSSD_RUNS={env}: cannot make it: {e.strerror}"
                        if env else f"cannot make {path}: {e.strerror}") from e
    return path


@contextlib.contextmanager
def apart() -> Iterator[Path]:
    """A folder of the cache for VSSD_RUNS, with a short name, since sockets are
    in it.  Guests that still run at the end keep it, until they end."""
    folder = cache_dir() / "runs"
    folder.mkdir(exist_ok=True)
    _sweep(folder, APART)
    path, fd = _make(folder, APART)
    try:
        yield path
    finally:
        if not running(path):
            shutil.rmtree(path, ignore_errors=True)
        os.close(fd)


@contextlib.contextmanager
def rundir(folder: Path | None = None) -> Iterator[Path]:
    """A fresh directory, locked while it is in use; in the cache, or in a
    folder that exists, among files that are not ours."""
    prefix = "vssd-run-" if folder else "run-"
    if folder is None:
        folder = runs_dir()
        _sweep(folder, APART)
    _sweep(folder, prefix)
    path, fd = _make(folder, prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(fd)


def live(name: str, folder: Path | None = None) -> list[Path]:
    """Files of this name in the directories of runs that are in use."""
    found = sorted((folder or runs_dir()).glob(f"run-*/{name}"))
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
            if not running(old):  # of a folder of runs: it outlived the tests
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            pass    # it is in use
        finally:
            os.close(fd)
