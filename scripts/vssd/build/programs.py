# SPDX-License-Identifier: GPL-2.0-or-later
"""Built programs, kept by the contents of what they are made of.

Each clone has build directories of its own, where a change compiles little.
What they build is copied to programs-KEY of the cache, where another clone of
the same contents finds it and builds nothing.  USERS of that folder has a file
for each clone that used it: what a clone used last is kept as long as the clone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from ..paths import PROJECT, cache_dir, find_made, key_of, locked

PREFIX = "programs-"
DONE = "done"
USERS = "users"
MOST = 6  # in the cache, beside what clones use; those that were used last stay
# With hw-ssd, all that about-commit.sh looks at is in one of them.
DEVICE = ("core", "nand", "ftl", "hw-ssd")
SIM = (*DEVICE, "lib", "sim", "tools", "profiles")


def key(kind: str, folders: Iterable[str], *more: object) -> str:
    """Names the contents of folders of the project, and the commit that the
    programs tell."""
    about = subprocess.run(
        ["/bin/sh", str(PROJECT / "core/about-commit.sh"), str(PROJECT)],
        capture_output=True, check=False).stdout
    parts: list[object] = [kind, about, *more]
    files = [PROJECT / "meson.build", PROJECT / "meson_options.txt"]
    for folder in folders:
        files += sorted(p for p in (PROJECT / folder).rglob("*")
                        if p.is_file() and "__pycache__" not in p.parts)
    for path in files:
        parts += [path.relative_to(PROJECT), path.read_bytes()]
    return key_of(*parts)


def find(name: str) -> Path | None:
    """The folder of these programs; its use is noted."""
    found = find_made(PREFIX + name, DONE)
    if found and found.parent == cache_dir() and os.access(found / DONE, os.W_OK):
        os.utime(found / DONE)
        _note_user(found)
    return found


def ensure(name: Callable[[], str],
           build: Callable[[], tuple[list[Path], list[Path]]]) -> Path:
    """The folder of the programs that name() names now; when there is none,
    build() makes them: files and folders.  Sources may change meanwhile; then
    nobody knows of which the programs are, and they are built again."""
    while True:
        wanted = name()
        if found := find(wanted):
            return found
        files, folders = build()
        if name() == wanted:
            return keep(wanted, files, folders)


def keep(name: str, files: Iterable[Path], folders: Iterable[Path] = ()) -> Path:
    """Copy what was built; the folder.  Those used least recently go."""
    folder = cache_dir() / (PREFIX + name)
    with locked("programs"):
        if (folder / DONE).exists():
            return folder
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        part.mkdir()
        for path in files:
            shutil.copy2(path, part / path.name)
        for path in folders:
            shutil.copytree(path, part / path.name)
        _note_user(part)
        (part / DONE).touch()
        part.rename(folder)
        for old in unused(MOST):
            shutil.rmtree(old, ignore_errors=True)
    return folder


def by_use() -> list[Path]:
    """All that are kept, the last used first."""
    marks = cache_dir().glob(f"{PREFIX}*/{DONE}")
    return [p.parent for p in sorted(marks, key=lambda p: -p.stat().st_mtime_ns)]


def unused(most: int) -> list[Path]:
    """Those that no clone needs, but for the `most` that were used last."""
    needed = _needed()
    return [p for p in by_use()[most:] if p not in needed]


def _note_user(folder: Path) -> None:
    """This clone uses the programs, now."""
    (folder / USERS).mkdir(exist_ok=True)
    (folder / USERS / key_of(PROJECT)).write_text(str(PROJECT), encoding="utf-8")


def _needed() -> set[Path]:
    """Of each clone that is still there, the folders that it used last: one for
    each set of programs."""
    last: dict[tuple[str, ...], tuple[int, Path]] = {}
    for folder in by_use():
        kind = sorted(p.name for p in folder.iterdir() if p.name != USERS)
        for note in folder.glob(f"{USERS}/*"):
            clone, when = note.read_text("utf-8"), note.stat().st_mtime_ns
            if Path(clone).is_dir():
                key = (clone, *kind)
                last[key] = max(last.get(key, (0, folder)), (when, folder))
    return {folder for _, folder in last.values()}
