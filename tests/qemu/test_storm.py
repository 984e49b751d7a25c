# SPDX-License-Identifier: GPL-2.0-or-later
"""The device in a storm (storm.py): a few seeds, with --long many."""

from __future__ import annotations

import os

import pytest

from storm import storm

LONG = "VSSD_LONG" in os.environ
# Those that failed once, and some more.
SEEDS = (1, 2, 3, *(range(100, 130) if LONG else ()))
SEEDS_OF_OTHERS = (5, *(range(201, 221, 2) if LONG else ()))
STEPS = 1000 if LONG else 100


@pytest.mark.parametrize("seed", SEEDS_OF_OTHERS)
def test_storm_of_two_controllers(seed: int) -> None:
    """The second one comes, works and goes."""
    found = storm(seed, STEPS, others=True)
    print(found.count)
    assert found.count["another"] > STEPS // 10


@pytest.mark.parametrize("seed", SEEDS)
def test_storm(seed: int) -> None:
    """QEMU runs, the drive answers and works, nothing grows or spins."""
    found = storm(seed, STEPS)
    print(found.count)
    assert sum(found.count.values()) == STEPS
