# SPDX-License-Identifier: GPL-2.0-or-later
"""Passes of long tests that ./vssd test keeps: such a test is skipped until a file of
its part changes.

Each pass is an empty file in the cache, named by the test, the contents of the
part's files, the system and Python.  What a test takes from outside, such as
Debian's mirror or a compiler, is in no name: so a pass counts for a week.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from vssd.paths import PROJECT, cache_dir, key_of

COUNTS_S = 7 * 24 * 3600
WHY = "passed with these files of its part"


def files_of(patterns: Iterable[str], root: Path = PROJECT) -> list[Path]:
    """The files of a part: folders that end in "/", and patterns of pathlib.
    ValueError: one has no file."""
    found: set[Path] = set()
    for pattern in patterns:
        paths = [p for p in root.glob(pattern + "**/*" * pattern.endswith("/"))
                 if p.is_file() and "__pycache__" not in p.parts]
        if not paths:
            raise ValueError(f"a part of a test: no file is {pattern}")
        found.update(paths)
    return sorted(found)


def name_of(test: str, files: Iterable[Path]) -> str:
    """The name of a test's pass with these files."""
    return key_of(test, platform.platform(), sys.version, *(
        x for p in files for x in (os.path.relpath(p, PROJECT), p.read_bytes())))


def folder() -> Path:
    """Of the passes; those that count no more go."""
    found = cache_dir() / "passes"
    found.mkdir(exist_ok=True)
    for path in found.iterdir():
        if not counts(path):
            path.unlink(missing_ok=True)
    return found


def counts(path: Path) -> bool:
    """Is the pass there, and young enough?"""
    try:
        return time.time() - path.stat().st_mtime < COUNTS_S
    except FileNotFoundError:
        return False
