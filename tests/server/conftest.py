# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of vssd-server share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(TESTS / "qemu"), str(TESTS)]

from needs_binary import image, skip_without  # noqa: E402
from vmm import Server  # noqa: E402

__all__ = ["image"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a server there is nothing to test."""
    skip_without("VSSD_SERVER", "server", items)


@pytest.fixture
def server(tmp_path: Path, image: Path) -> Iterator[Server]:
    """A server of that image."""
    with Server(tmp_path, image) as found:
        yield found
