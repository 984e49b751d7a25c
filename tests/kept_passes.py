# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: a test of a part (long_form.of_part()) that has passed is
skipped until a file of its part changes (lab/vssd_lab/cli/testpasses.py).

./vssd test names the folder of the passes, VSSD_PASSES, where it runs whole groups.
Without it, on an empty cache, and with --long, each test runs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Generator
from pathlib import Path

import pluggy
import pytest
from long_form import IS_LONG

from vssd.paths import key_of
from vssd_lab.cli import testpasses

PASS = pytest.StashKey[Path]()
FAILED = pytest.StashKey[bool]()


@functools.cache
def part_of(file: Path, patterns: tuple[str, ...]) -> str:
    """Names the contents of a part.  The test's own file, and those in its folder
    without tests, are of it."""
    beside = [p for p in sorted(file.parent.glob("*.py"))
              if not p.name.startswith("test_")]
    return testpasses.name_of(str(patterns),
                              [file, *beside, *testpasses.files_of(patterns)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip those that have passed."""
    if not (folder := os.environ.get("VSSD_PASSES")):
        return
    for item in items:
        if mark := item.get_closest_marker("part"):
            part = part_of(item.path, mark.args)
            path = item.stash[PASS] = Path(folder) / key_of(item.name, part)
            if testpasses.counts(path) and not IS_LONG:
                item.add_marker(pytest.mark.skip(reason=testpasses.WHY))


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
