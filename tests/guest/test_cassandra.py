# SPDX-License-Identifier: GPL-2.0-or-later
"""Cassandra in a guest for four minutes of ./vssd figures streams-cassandra: by
rules and by the tier of what it merges.  Needs an image of its own and Maven's
jars: with --long only."""

from __future__ import annotations

import os

import pytest

from vssd.build import venv
from vssd_lab.figures import cassandra

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import streams_cassandra as fc  # noqa: E402
from vssd_lab.figures import streams_claims as fs  # noqa: E402
from vssd_lab.figures import streams_guest as sg  # noqa: E402


def test_streams_of_a_store() -> None:
    """Rules give log and tables a stream each; merges have theirs by tier."""
    if "VSSD_LONG" not in os.environ:
        pytest.skip("with --long only: makes an image and fetches Cassandra")
    runs = sg.play(fc.setting(cassandra.Store(records=4000)), 2, 4,
                   (fs.LOG, fs.DATA))
    grown = {}
    for name, run in runs.items():
        first, last = run.samples[0].by_stream, run.samples[-1].by_stream
        grown[name] = {i: n - first.get(i, 0) for i, n in last.items()
                       if n > first.get(i, 0)}
        assert sum(n for _, n in run.ops) > 1000
        assert 0 < run.quantile_us(50) <= run.quantile_us(99.9)
    assert set(grown[fs.LOG]) == {-1, 1, 2}
    assert set(grown[fs.DATA]) == {-1, 1, 2, 3, 4}
    # What a merge writes once, its inputs' flushes wrote before.
    assert grown[fs.DATA][3] < 1.2 * grown[fs.DATA][2]
    for name in runs:
        assert grown[name][1] > grown[name][-1] / 4
