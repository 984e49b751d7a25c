# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the QEMU device share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(Path(__file__).parent)]

from needs_binary import image, skip_without  # noqa: E402

__all__ = ["image"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an emulator there is nothing to test."""
    skip_without("VSSD_QEMU", "emulator", items)
