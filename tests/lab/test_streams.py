# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures streams: its settings, without a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd.build import venv

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import lsm, streams  # noqa: E402
from vssd_lab.figures import streams_claims as claims  # noqa: E402

CAPACITY = 3_751_059_456


def test_every_sweep_has_the_judged_setting() -> None:
    """So the verdict can be compared with the rest of a parameter's range."""
    for parameter, values in streams.OPEN.items():
        assert streams.used(parameter) in values
        assert len(set(values.values())) == len(values) > 1


def test_the_papers_numbers() -> None:
    """A million records of 1 KB on 60 GB, by 16; one semantics of GC in the
    model and in guests."""
    from vssd_lab.figures import cassandra, streams_guest

    store = streams.Setting().store
    assert store.records == 62_500 and store.record_bytes == 1000
    share = store.records * store.record_bytes / CAPACITY
    assert share == pytest.approx(1e9 / 60e9, rel=0.01)
    guest = cassandra.Store()
    assert guest.record_bytes == 1000
    assert guest.records == pytest.approx(1e6 / streams_guest.SCALE, rel=0.01)
    assert streams_guest.GC == streams.GC


@pytest.mark.parametrize("setting", dict.fromkeys(
    s for v in streams.OPEN.values() for s in v.values()), ids=str)
def test_stores_fit(setting: streams.Setting, tmp_path: Path) -> None:
    """The load of each setting leaves room, and is as long as it says."""
    made = streams._generate(
        streams.replace(setting, minutes=1), CAPACITY, tmp_path / "x")
    assert made.least_free > 0.01 * CAPACITY
    assert made.written[lsm.SYSTEM] >= setting.store.other * CAPACITY * 0.99
    lines = made.traces[False].read_text().splitlines()
    assert not any(",D," in line for line in lines)


def test_statements_are_the_papers() -> None:
    """Each names its slide; none is twice."""
    keys = [(s.panel, s.point) for s in claims.STATEMENTS]
    assert len(set(keys)) == len(keys)
    assert all(s.source.startswith("slide ") for s in claims.STATEMENTS)
