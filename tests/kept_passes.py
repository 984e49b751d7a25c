# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: a test of a part (long_form.of_part()) that has passed is
skipped until a file of its part changes.

./vssd test names the folder of the passes, VSSD_PASSES, where it runs whole groups.
Each pass is an empty file there, named by the test, the contents of the part's
files, the system and Python.  What a test takes from outside, such as Debian's
mirror, is in no name: so a pass counts for a week.  Without the folder, on an empty
cache, and with --long, each test runs.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Generator, Iterable
from pathlib import Path

import pluggy
import pytest
from long_form import IS_LONG

from vssd.paths import PROJECT, key_of

AGE_MAX_S = 7 * 24 * 3600
WHY = "passed with these files of its part"
PASS = pytest.StashKey[Path]()
FAILED = pytest.StashKey[bool]()


def files_of(patterns: Iterable[str], root: Path = PROJECT) -> list[Path]:
    """The files of a part; each pattern has some."""
    found: set[Path] = set()
    for pattern in patterns:
        paths = [p for p in root.glob(pattern + "**/*" * pattern.endswith("/"))
                 if p.is_file() and "__pycache__" not in p.parts]
        if not paths:
            raise pytest.UsageError(f"of_part: no file is {pattern}")
        found.update(paths)
    return sorted(found)


def beside(test: Path) -> list[Path]:
    """A test's own file, and those in its folder without tests."""
    return [test, *(p for p in sorted(test.parent.glob("*.py"))
                    if not p.name.startswith("test_"))]


def pass_of(item: pytest.Item, patterns: Iterable[str]) -> str:
    """The name of a test's pass."""
    files = files_of(patterns) + beside(item.path)
    return key_of(item.name, platform.platform(), sys.version,
                  *(x for p in files for x in (os.path.relpath(p, PROJECT),
                                              p.read_bytes())))


def is_fresh(path: Path) -> bool:
    """Is the pass there, and does it count?"""
    return path.exists() and time.time() - path.stat().st_mtime < AGE_MAX_S


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip those that have passed."""
    if not (folder := os.environ.get("VSSD_PASSES")):
        return
    for item in items:
        if mark := item.get_closest_marker("part"):
            path = item.stash[PASS] = Path(folder) / pass_of(item, mark.args)
            if is_fresh(path) and not IS_LONG:
                item.add_marker(pytest.mark.skip(reason=WHY))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) \
        -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Keep a pass when the test and what it has used have ended well."""
    report = (yield).get_result()
    if not report.passed:
        item.stash[FAILED] = True
    elif report.when == "teardown" and PASS in item.stash \
            and FAILED not in item.stash:
        item.stash[PASS].touch()
