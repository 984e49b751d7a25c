# SPDX-License-Identifier: GPL-2.0-or-later
"""The public reports of tests/reports/ that need a guest: the commands are run
there, with DRIVE as the drive's name (/dev/nvme1), and print what is right."""

from __future__ import annotations

from typing import Any

import pytest

from vssd import paths, tomlfile
from vssd.guest.guest import Guest


def reports() -> list[Any]:
    """Every report with commands of a guest."""
    folder = paths.PROJECT / "tests" / "reports"
    found = [(p.stem, tomlfile.load(p, "docs/testing.md"))
             for p in sorted(folder.glob("*.toml"))]
    return [pytest.param(r, id=name) for name, r in found if "guest" in r]


@pytest.mark.parametrize("report", reports())
def test_report(report: dict[str, Any], guest: Guest, disks: list[str]) -> None:
    """What the commands print."""
    assert guest.run(f"DRIVE={disks[1]}\n" + report["guest"]) \
        == report["prints"]
