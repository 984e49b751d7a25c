# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB in a guest for two minutes of ./vssd figures streams-guest: by rules
and by its own hints.  Needs two images of its own: with --long only."""

from __future__ import annotations

import os

import pytest

from vssd.build import venv
from vssd_lab.figures import rocksdb

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import streams_claims as fs  # noqa: E402
from vssd_lab.figures import streams_guest as sg  # noqa: E402
from vssd_lab.figures import streams_rocksdb as fg  # noqa: E402


def test_streams_of_a_store() -> None:
    """Rules give log and tables a stream each; the store's hints give four."""
    if "VSSD_LONG" not in os.environ:
        pytest.skip("with --long only: makes two more images")
    runs = sg.play(fg.setting(rocksdb.Store(records=20000)), 2, 2,
                   (fs.LOG, fs.DATA))
    grown = {}
    for name, run in runs.items():
        first, last = run.samples[0].by_stream, run.samples[-1].by_stream
        grown[name] = {i: n - first.get(i, 0) for i, n in last.items()
                       if n > first.get(i, 0)}
        assert sum(n for _, n in run.ops) > 1000
        assert 0 < run.quantile_us(50) <= run.quantile_us(99.9)
    assert set(grown[fs.LOG]) == {-1, 1, 2}
    assert set(grown[fs.DATA]) >= {-1, 1, 2, 3}
    for name in runs:
        assert grown[name][2] > grown[name][-1]
