# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest plugin: campaigns of power cuts as tests (README.md).

    def test_my_database(powercut):
        powercut(write="./db fill", check="./db verify", files=["db"])
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import vssd_command

OPTIONS = {"cuts": "number of cuts", "seed": "seed of the campaigns",
           "jobs": "guests that check at a time"}


@dataclass
class Result:
    """What a campaign found; the rows are those of --json."""

    command: list[str]
    json: dict[str, Any]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each cut."""
        found: list[dict[str, Any]] = self.json["rows"]
        return found

    @property
    def violations(self) -> list[dict[str, Any]]:
        """The cuts whose check failed."""
        return [row for row in self.rows if not row["ok"]]

    def text(self) -> str:
        """Why the campaign is no success, for people: the first violation, or
        that no promise was checked; empty: it is one."""
        if not self.violations:
            return "" if self.json["promises_checked"] else (
                f"no promise was checked: write printed {self.json['promises']}"
                " lines, none of them before a cut; let it print a line for"
                " each durable step, or give later cuts or more seconds")
        row = self.violations[0]
        return (f"{len(self.violations)} of {len(self.rows)} power cuts are"
                f" violations; the first is cut {row['cut']},"
                f" {row['instant_ns'] / 1e9:.9f} s after the start of the write"
                f" command:\n{row['text']}\nreplay: {row['replay']}\n"
                f"trace and image: {self.json['output']}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """--powercut-..."""
    group = parser.getgroup("powercut", "power cuts on a modelled drive")
    group.addoption("--powercut-vssd", metavar="COMMAND", default="",
                    help="the vssd command (default: $VSSD, else vssd of PATH)")
    for name, text in OPTIONS.items():
        group.addoption(f"--powercut-{name}", type=int, metavar="N",
                        help=f"{text}, instead of the test's own")


class Campaigns:
    """The fixture: call it for a campaign."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.count = 0

    def run(self, write: str, check: str, *, at: str | Iterable[str] = "random",
            files: Iterable[str | Path] = (), **options: Any) -> Result:
        """A campaign; its result, whatever it is.  options: those of
        ./vssd powercut campaign, as fs="xfs", check_seconds=90, fsck=False."""
        self.count += 1
        words = vssd_command.find(self.config.getoption("--powercut-vssd"))
        words += ["powercut", "campaign", "--json", "--quiet", "--write", write,
                  "--check", check, "--output",
                  str(self.folder / f"campaign-{self.count}")]
        for name in OPTIONS:
            given = self.config.getoption(f"--powercut-{name}")
            if given is not None:
                options[name] = given
        words += vssd_command.options(options)
        for path in files:
            words += ["--files", str(path)]
        words += ["--at", *([at] if isinstance(at, str) else at)]
        done = subprocess.run(words, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)
        try:
            return Result(words, json.loads(done.stdout))
        except ValueError:
            pytest.fail(f"powercut: status {done.returncode}:"
                        f" {done.stderr.strip()[-2000:]}", pytrace=False)

    def __call__(self, write: str, check: str, **options: Any) -> Result:
        """A campaign; a violation fails the test, and that no promise was
        checked."""
        result = self.run(write, check, **options)
        if why := result.text():
            pytest.fail(why, pytrace=False)
        return result


@pytest.fixture
def powercut(pytestconfig: pytest.Config, tmp_path: Path) -> Campaigns:
    """Campaigns of power cuts."""
    return Campaigns(pytestconfig, tmp_path)
