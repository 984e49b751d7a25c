# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the QEMU device and those of vssd-server share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MIB = 1 << 20


def skip_without(variable: str, what: str, items: list[pytest.Item]) -> None:
    """Skips the tests if the environment names no such binary."""
    if not os.environ.get(variable):
        for item in items:
            item.add_marker(pytest.mark.skip(
                reason=f"{variable} names no {what}: use ./vssd test"))


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An empty image of 8 MiB, smaller than every shipped profile."""
    path = tmp_path / "disk.img"
    with path.open("wb") as file:
        file.truncate(8 * MIB)
    return path
