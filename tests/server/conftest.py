# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of vssd-server share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(TESTS / "qemu"), str(TESTS)]

from vmm import MIB, Server  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a server there is nothing to test."""
    if not os.environ.get("VSSD_SERVER"):
        for item in items:
            item.add_marker(pytest.mark.skip(
                reason="VSSD_SERVER names no server: use ./vssd test"))


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An empty image of 8 MiB, smaller than every shipped profile."""
    path = tmp_path / "disk.img"
    with path.open("wb") as file:
        file.truncate(8 * MIB)
    return path


@pytest.fixture
def server(tmp_path: Path, image: Path) -> Iterator[Server]:
    """A server of that image."""
    with Server(tmp_path, image) as found:
        yield found
