# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the QEMU device share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))

MIB = 1 << 20


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an emulator there is nothing to test."""
    if not os.environ.get("VSSD_QEMU"):
        for item in items:
            item.add_marker(pytest.mark.skip(
                reason="VSSD_QEMU names no emulator: use ./vssd test"))


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An empty image of 8 MiB, smaller than every shipped profile."""
    path = tmp_path / "disk.img"
    with path.open("wb") as file:
        file.truncate(8 * MIB)
    return path
