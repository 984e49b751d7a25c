# SPDX-License-Identifier: GPL-2.0-or-later
"""The device in a storm (storm.py): a few seeds, with --long many."""

from __future__ import annotations

import os

import pytest

from storm import storm

LONG = "VSSD_LONG" in os.environ
# Those that failed once, and some more.
SEEDS = (1, 2, 3, *(range(100, 130) if LONG else ()))
STEPS = 1000 if LONG else 100


@pytest.mark.parametrize("seed", SEEDS)
def test_storm(seed: int) -> None:
    """QEMU runs, the drive answers and works, nothing grows or spins."""
    found = storm(seed, STEPS)
    print(found.count)
    assert sum(found.count.values()) == STEPS
