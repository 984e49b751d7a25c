# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of public reports in tests/reports/, and their right values.

Each file there is one report in TOML:
source: where it is public; says: what went wrong there, in a sentence;
files: name = text, or name = {base64 = "..."}, made in an empty folder;
run: the command, "vssd" or "vssd-sim" first;
status: its status (default 0);
json: members of the JSON that it prints, as "latency_ns.read.count" = 2;
says_here: parts of what it prints on stderr, one line if it fails.
Instead of run: guest, commands that tests/guest/test_reports.py runs in one,
and prints, what is right there.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from vssd import paths, tomlfile
from vssd.build import model

FOLDER = paths.PROJECT / "tests" / "reports"
MEMBERS = {"source", "says", "files", "run", "status", "json", "says_here"}


def reports() -> list[Any]:
    """Every report that needs no guest."""
    found = [(p.stem, tomlfile.load(p, "docs/testing.md"))
             for p in sorted(FOLDER.glob("*.toml"))]
    return [pytest.param(r, id=name) for name, r in found if "run" in r]


def make(folder: Path, files: dict[str, Any]) -> None:
    """The report's files."""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) \
            else base64.b64decode(content["base64"])
        (folder / name).write_bytes(data)


def member(found: Any, path: str) -> Any:
    """The member of parsed JSON; numbers are places in lists."""
    for part in path.split("."):
        found = found[int(part) if part.isdecimal() else part]
    return found


@pytest.mark.parametrize("report", reports())
def test_report(report: dict[str, Any], tmp_path: Path) -> None:
    """The right value, or a line that says why there is none."""
    assert set(report) <= MEMBERS and report["source"].startswith("https://")
    make(tmp_path, report.get("files", {}))
    program = {"vssd": str(paths.PROJECT / "vssd"),
               "vssd-sim": str(model.sim())}[report["run"][0]]
    done = subprocess.run(
        [program, *report["run"][1:]], cwd=tmp_path, capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL,
        env=dict(os.environ, LC_ALL="C.UTF-8"), timeout=120)
    assert done.returncode == report.get("status", 0), done.stderr
    for part in report.get("says_here", []):
        assert part in done.stderr
    if done.returncode:
        assert len(done.stderr.splitlines()) == 1, done.stderr
    if "json" in report:
        printed = json.loads(done.stdout)
        for path, value in report["json"].items():
            assert member(printed, path) == value, path
