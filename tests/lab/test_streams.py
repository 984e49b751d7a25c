# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures streams: its settings, without a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd.build import model, venv
from vssd.paths import find_profile

venv.extra("figures")
np = pytest.importorskip("numpy")
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
    assert made is not None
    assert made.least_free > 0.01 * CAPACITY
    assert made.written[lsm.SYSTEM] >= setting.store.other * CAPACITY * 0.99
    lines = made.traces[False].read_text().splitlines()
    assert not any(",D," in line for line in lines)


def test_files_tell_their_setting(tmp_path: Path) -> None:
    """Inputs of different stores, and latencies of different drives, do not
    overwrite each other; the same store is one input."""
    some = list(dict.fromkeys(
        s for v in streams.OPEN.values() for s in v.values()))
    stems = {streams._stem(s) for s in some}
    assert len(stems) == len({(s.store, s.seed) for s in some})
    paths = set()
    for s in some:
        traces = {t: (tmp_path / f"{streams._stem(s)}.{t}.csv")
                  for t in (True, False)}
        made = streams.Input(s, traces, 0, 0, 0, (), 0)
        paths |= {streams._commands(made, n) for n in claims.SERIES}
    assert len(paths) == len(some) * len(claims.SERIES)


def test_the_fresh_drive() -> None:
    """Its capacity is the profile's, and it has eight times as much room."""
    info = model.drive_info(find_profile(streams.PROFILE), [])
    made = streams.Input(streams.Setting(), {True: Path("x.csv")}, 0, 0, 0, (),
                         0)
    sets = streams._fresh_sets()
    fresh = model.drive_info(find_profile(streams.PROFILE), list(sets))
    assert fresh["capacity_bytes"] == info["capacity_bytes"]
    assert fresh["raw_bytes"] == streams.ROOM * info["raw_bytes"]
    assert set(sets) < set(streams._point(made, streams.FRESH, sets).sets)


def test_reasons_name_runs() -> None:
    """Each is of a statement, and of a value that is swept."""
    for begin, (parameter, value, _) in streams.REASONS.items():
        assert any(s.point.startswith(begin) for s in claims.STATEMENTS)
        assert streams.OPEN[parameter][value] != streams.Setting()


def test_a_store_that_gets_full(tmp_path: Path) -> None:
    """There are no series of it, and those of others stay."""
    full = streams.Setting(lsm.Store(other=0.999), minutes=1)
    assert streams._generate(full, CAPACITY, tmp_path / "x") is None
    assert streams.whole_minutes(40, []) == 40
    assert all(s.samples([], 40) == [] for s in claims.STATEMENTS)


def test_names_keep_the_point_of_a_number(tmp_path: Path) -> None:
    """0.3 and 0.6 are not one file."""
    made = streams._generate(
        streams.Setting(lsm.Store(other=0.01), minutes=1), CAPACITY,
        tmp_path / "other-0.3")
    assert made is not None
    assert [p.name for p in made.traces.values()] == [
        "other-0.3.trim.csv", "other-0.3.no-trim.csv"]


def test_statements_are_the_papers() -> None:
    """Each names its slide, or the abstract; none is twice."""
    keys = [(s.panel, s.point) for s in claims.STATEMENTS]
    assert len(set(keys)) == len(keys)
    assert all(s.source.startswith(("slide ", "abstract: "))
               for s in claims.STATEMENTS)


def series(rate: list[float], tail_ms: float = 1.0) -> claims.Series:
    """Of a drive whose fresh rate is 1, and whose copies grow."""
    n = np.arange(1, len(rate) + 1)
    return claims.Series(1.0, np.array(rate), 1.0, n * 10.0, n**2 * 1.0,
                         [tail_ms] * len(claims.PERCENT))


def judged(played: claims.Played, point: str) -> float:
    """What a statement is about, of one seed."""
    found, = [s for s in claims.STATEMENTS if s.point == point]
    value = found.value(played, 8)
    assert value is not None
    return value


def test_effects_are_of_all_minutes_and_levels_of_the_last() -> None:
    """A pause in the last quarter changes the level, and by a quarter of that
    the effect."""
    steady = series([0.8] * 8)
    late = series([1.0] * 6 + [0.5] * 2)
    played = dict.fromkeys(claims.SERIES, steady) | {claims.APP: late}
    assert judged(played, "Multi-App above TRIM on") == pytest.approx(0.075)
    assert judged({**played, claims.DATA: late},
                  "Multi-Data, of the fresh level") == pytest.approx(0.5)


def test_the_slowest_minute() -> None:
    """The abstract's 56 % is of the worst minutes, wherever they are."""
    played = {n: series([0.5, 0.9] * 4) for n in claims.SERIES} \
        | {claims.DATA: series([0.9, 0.78] * 4)}
    point = "Multi-Data, slowest minute above that of TRIM on by"
    assert judged(played, point) == pytest.approx(56)
    row, = [r for r in claims.rows("throughput", [played], 8)
            if r["point"] == point]
    assert row["verdict"] == "holds" and (row["low"], row["high"]) == (53, 59)


def test_the_tail_is_in_per_cent() -> None:
    """54 % less, within 3 points."""
    played = {n: series([0.9, 0.8] * 4) for n in claims.SERIES} \
        | {claims.DATA: series([0.9, 0.8] * 4, 0.46)}
    row, = [r for r in claims.rows("latency", [played], 8)
            if r["point"].startswith("Multi-Data at 99.9 %, less")]
    assert row["ours"] == pytest.approx(54) and row["verdict"] == "holds"
