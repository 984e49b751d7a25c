# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest that reports each result to ./vssd test, at once
and in the same words however many workers there are.

Writes lines to the file descriptor VSSD_LINES: MARK, then an object of JSON
with name, result (as pytest -v calls it), why, seconds.
"""

from __future__ import annotations

import json
import os

import pytest

MARK = "\x1evssd "


class Lines:
    """Listens in the process that hears of all tests."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.broken: set[str] = set()
        self.seconds: dict[str, float] = {}

    def tell(self, name: str, result: str, why: str = "") -> None:
        """One line; pytest may be in the middle of one of its own."""
        os.write(self.fd, ("\n" + MARK + json.dumps(
            {"name": name, "result": result, "why": why[:300],
             "seconds": self.seconds.pop(name, 0.0)}) + "\n").encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read; each worker says so."""
        if report.failed and report.nodeid not in self.broken:
            self.broken.add(report.nodeid)
            self.tell(report.nodeid, "ERROR")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test has ended; of one whose worker is gone it has no
        name."""
        name = report.nodeid
        self.seconds[name] = self.seconds.get(name, 0) + report.duration
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self.tell(name, "FAILED" if report.when == "call" else "ERROR")
        elif report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) \
                else ""
            self.tell(name, "XFAIL" if expected else "SKIPPED",
                      why.removeprefix("Skipped: "))
        elif report.when == "call":
            self.tell(name, "XPASS" if expected else "PASSED")


def pytest_configure(config: pytest.Config) -> None:
    """Not in the workers."""
    fd = os.environ.get("VSSD_LINES")
    if fd and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Lines(int(fd)))
