# SPDX-License-Identifier: GPL-2.0-or-later
"""Our group for blktests on the drive (docs/lab/suites.md).  It needs a checkout
of blktests, which VSSD_BLKTESTS names: Debian has no package of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from long_form import LONG

from vssd_lab.suites import runner, sources
from vssd_lab.suites.suite import SKIPPED

CHECKOUT = os.environ.get("VSSD_BLKTESTS", "")
# Tests that a drive with the feature passes with every kernel from 6.12 on.
PASSED = {
    "blktests-fdp": {1, 2, 3, 4, 5, 6, 13, 14, 15, 16, 17, 18},
    "blktests-streams": {9, 10, 13, 14, 15, 16, 17, 18},
    "blktests-plp": {13, 14, 15, 16, 17, 18},
    "blktests-zones": {11, 12, 14, 19},
}


@LONG
@pytest.mark.skipif(not CHECKOUT, reason="VSSD_BLKTESTS names no checkout")
@pytest.mark.parametrize("name", PASSED)
def test_group(name: str) -> None:
    """Every test passes or says why it does not run."""
    runs: list[dict[str, Any]] = []
    runner.run(runner.SUITES[name], "vssd",
               runner.Options(sources.files(Path(CHECKOUT))), runs,
               lambda kind, row: print(runner.line(kind, row)))
    rows = runs[0]["rows"]
    passed = {int(r["name"].split("/")[1]) for r in rows
              if r["result"] == "pass"}
    assert passed >= PASSED[name]
    assert all(r["result"] == "pass"
               or r["result"] == SKIPPED and r["reason"] for r in rows)
