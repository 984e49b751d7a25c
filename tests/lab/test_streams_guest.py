# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures streams-guest: what needs no guest."""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
from pathlib import Path

import pytest

from vssd.build import model, venv
from vssd.errors import UserError
from vssd.guest import store as guest_store
from vssd.guest.store import FADVISE, HINT, Conditions
from vssd.paths import find_profile
from vssd.sim.run import Runner
from vssd_lab.cli import figures as cmd_figures
from vssd_lab.figures.rocksdb import Store

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import judge  # noqa: E402
from vssd_lab.figures import streams_cassandra as fc  # noqa: E402
from vssd_lab.figures import streams_claims as fs  # noqa: E402
from vssd_lab.figures import streams_guest as sg  # noqa: E402
from vssd_lab.figures import streams_rocksdb as fg  # noqa: E402
from vssd_lab.figures.figure import Context  # noqa: E402

HEAD = ("stream    id  open      host_bytes   host_units    padded     copied"
        "   erases  victims victim_valid     waf")
# A minute of 9 s: two samples, and what db_bench 9.10 writes.
TEXT = f"""\
==vssd== loaded 100.00
 90 100
{HEAD}
     0     -     4         4096000         1000         0          0        0        0            0   1.000
 mixed     -     0               0            0         0          0        0        0            0       -
==vssd== minute 109.10
 90 100
{HEAD}
     0     -     4         8192000         2000         0          0        0        0            0   1.000
     1     3     4        12288000         3000         0         50        5        5           50   1.017
 mixed     -     0               0            0         0         10        0        0            0       -
==vssd== ended 118.20
 90 100
{HEAD}
     0     -     4         8192000         2000         0          0        0        0            0   1.000
     1     3     4        24576000         6000         0        150        9        9          150   1.025
 mixed     -     0               0            0         0         30        0        0            0       -
==vssd== report 118.30
secs_elapsed,interval_qps
9,900
18,600
==vssd== out 118.40
Keys:       16 bytes each (+ 0 bytes user-defined timestamp)
overwrite    :     558.663 micros/op 1789 ops/sec 18.1 seconds 1500 operations;    1.7 MB/s
Microseconds per write:
Count: 1500 Average: 558.6630  StdDev: 120.00
Min: 7  Median: 8.0000  Max: 99000
Percentiles: P50: 8.00 P75: 9.00 P99: 20.00 P99.9: 900.00 P99.99: 990.00
------------------------------------------------------
[       0,       6 ]      900  60.000%  60.000% ############
(       6,      10 ]      500  33.333%  93.333% #######
(      10,     110 ]      100   6.667% 100.000% #
"""


def test_parse() -> None:
    """Times, pages, streams by the host's numbers, operations, latencies."""
    run = Store().parse(TEXT)
    assert [(s.at_s, s.written, s.copied) for s in run.samples] == [
        (100, 1000, 0), (109.1, 5000, 60), (118.2, 8000, 180)]
    assert run.samples[-1].by_stream == {-1: 8192000, 3: 24576000}
    assert run.samples[-1].copied_of == {-1: 0, 3: 150}
    assert {s.full for s in run.samples} == {0.9}
    assert run.ops == [(9, 900), (18, 600)]
    assert run.quantile_us(60) == 6
    assert run.quantile_us(99) == pytest.approx(95)
    assert run.quantile_us(100) == 110


@pytest.mark.parametrize("text,word", [
    ("", "nothing"),
    (TEXT.replace("secs", "x").replace("\n9,", "\nx").replace("\n18,", "\nx"),
     "no results"),
    (TEXT.split("==vssd== minute")[0] + "perl: not found\n", "perl: not found"),
    (TEXT + "put error: IO error: No space left on device\n", "is full")])
def test_no_results(text: str, word: str) -> None:
    """A run that came to nothing says why."""
    with pytest.raises(UserError, match=word):
        Store().parse(text)
    for status, said in ((3, "status 3"), (124, "waits for ever")):
        with pytest.raises(UserError, match=said):
            Store().parse(TEXT, status)


@pytest.mark.parametrize("method", (FADVISE, HINT))
@pytest.mark.parametrize("name", fg.conditions(FADVISE))
def test_script(name: str, method: str) -> None:
    """Each is a script, complete, and says what its conditions are."""
    conditions = fg.conditions(method)[name]
    text = Store().script(conditions, "SERIAL", 4, 9)
    done = subprocess.run(["sh", "-n"], input=text, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "@" not in text
    assert ("noatime,discard" in text) == conditions.discard
    assert ("streams)\" = Y" in text) == conditions.streams
    # The load has the run's streams, too: else its tables share blocks with
    # the system's files from the first minute on.
    assert text.count(f"streamrun -m {method} -H -r") == \
        2 * bool(conditions.rules)
    # The store's hints: of the kernel, or translated.
    assert text.count("streamrun -m fadvise -T -- db_bench") == \
        2 * (name == fs.DATA and method == FADVISE)
    assert text.count("--duration=36") == 1


def test_drives_are_equal() -> None:
    """The one that stays fresh has the same capacity, and more room."""
    profile = find_profile(sg.PROFILE)
    first = model.drive_info(profile, sg.options(fs.OFF, Conditions()))
    assert first["raw_bytes"] % (sg.BLOCKS * first["erase_bytes"]) == 0
    for name, conditions in {**fc.conditions(FADVISE),
                             **fg.conditions(HINT)}.items():
        info = model.drive_info(profile, sg.options(name, conditions))
        assert info["capacity_bytes"] == pytest.approx(
            first["capacity_bytes"], rel=0.001)
        assert info["raw_bytes"] == first["raw_bytes"] * (
            sg.ROOM if name == sg.FRESH else 1)
        assert info["nstreams"] == (sg.STREAMS + 1 if
                                    conditions.streams else 1)


def made(rate: float, waf: float, tail_us: int) -> guest_store.Run:
    """A run of 20 minutes."""
    m = sg.MINUTE_S
    samples = [guest_store.Sample(50 + m * i, 1000 * i,
                              int(1000 * i * (waf - 1)), {-1: 4096000 * i},
                              {-1: 10 * i, 4: 30 * i}, 0.9)
               for i in range(21)]
    return guest_store.Run(samples, [(m * i, int(rate)) for i in range(1, 21)],
                       [(0, 10, 99_000), (10, tail_us, 1000)])


def test_judging() -> None:
    """What the paper says, holds; what it does not, deviates."""
    good = {sg.FRESH: made(1000, 1, 100), fs.OFF: made(400, 3, 1000),
            fs.ON: made(635, 2, 1000), fs.APP: made(800, 1.5, 900),
            fs.LOG: made(900, 1.2, 700), fs.DATA: made(990, 1.001, 458)}
    assert sg.whole_minutes(good) == 20

    def judged(runs: dict[str, guest_store.Run]) -> list[bool]:
        found = sg.series(runs, 20)
        assert found[fs.OFF].waf == pytest.approx(
            1 + runs[fs.OFF].samples[-1].copied / 20000)
        rows = (fs.throughput([found], 20, []).rows
                + fs.copies([found], 20, []).rows
                + fs.tails([found], 20, [], "").rows)
        return [r["verdict"] == "holds" for r in rows if r["verdict"]]
    assert judged(good) and all(judged(good))
    assert len(judged(good)) == len(fs.STATEMENTS)
    panel = sg.explain(fs.copies([sg.series(good, 20)], 20, []), good[fs.DATA])
    assert not any("stream 4" in r["why"] for r in panel.rows)
    bad = {**good, fs.DATA: good[fs.OFF], fs.OFF: good[fs.DATA]}
    assert not any(judged(bad)[i] for i in (0, 1, 6))
    panel = sg.explain(fs.copies([sg.series(bad, 20)], 20, []), bad[fs.DATA])
    assert "75 % is of stream 4, 25 % is the system's" in panel.rows[4]["why"]
    assert all(r["verdict"] is None and r["kind"] == "shown"
               for r in sg.beside(panel, "a second set").rows)


def test_sweep_of_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each claim says for which values of what fills the drive it holds; the
    judged runs are not made again, and a short form has no sweep."""
    asked: list[tuple[int, int, int]] = []

    def play(setting: sg.Setting, _jobs: int, minutes: int,
             **_: object) -> dict[str, guest_store.Run]:
        fill = setting.store.system >> 20
        asked.append((fill, setting.store.seed, minutes))
        level = 990 if fill >= 44 else 500
        return {sg.FRESH: made(1000, 1, 100), fs.OFF: made(400, 3, 1000),
                fs.ON: made(600, 2, 1000), fs.APP: made(700, 1.5, 900),
                fs.LOG: made(800, 1.2, 700), fs.DATA: made(level, 1.001, 458)}

    monkeypatch.setattr(sg, "play", play)
    monkeypatch.setattr(sg, "accelerator", lambda _: "tcg")

    def rows(sweeps: bool) -> list[judge.Row]:
        runner = Runner(Path("vssd-sim"), 1)
        ctx = Context(runner, None, Path(), 0.5, 2, sweeps)
        return [r for p in sg.panels(ctx, fg.setting(Store()), "a store", "")
                for r in p.rows]
    found = rows(True)
    first = sg.SEED
    assert asked == [(44, first, 20), (44, first + 1, 20), (14, first, 20),
                     (14, first + 1, 20), (29, first, 20), (29, first + 1, 20)]
    swept = {r["point"]: r["sweeps"][sg.FILL] for r in found
             if r["kind"] == "claim"}
    assert len(swept) == len(fs.STATEMENTS)
    level = swept[f"{fs.DATA}, of the fresh level"]
    assert [(v["value"], v["used"], v["verdict"]) for v in level] == [
        ("14", False, "deviates"), ("29", False, "deviates"),
        ("44", True, "holds")]
    asked.clear()
    assert not any("sweeps" in r for r in rows(False))
    assert {fill for fill, _, _ in asked} == {44}


def test_sweep_of_the_erase_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cassandra's erase units are those of one, two and four planes."""
    from vssd_lab.figures import cassandra, cassandra_files

    asked: list[int] = []

    def play(setting: sg.Setting, _jobs: int, _minutes: int,
             **_: object) -> dict[str, guest_store.Run]:
        asked.append(setting.unit)
        return {n: made(600 + 100 * setting.unit, 2 - setting.unit / 10, 900)
                for n in (sg.FRESH, *fs.SERIES)}

    monkeypatch.setattr(sg, "play", play)
    monkeypatch.setattr(sg, "accelerator", lambda _: "tcg")
    monkeypatch.setattr(cassandra_files, "ensure", Path)
    setting = dataclasses.replace(fc.setting(cassandra.Store()), fills=())
    ctx = Context(Runner(Path("vssd-sim"), 1), None, Path(), 0.5, 1, True)
    rows = [r for p in sg.panels(ctx, setting, "a store", "") for r in p.rows]
    assert asked == [1, 2, 4]
    swept = [r["sweeps"][sg.UNIT] for r in rows if r["kind"] == "claim"]
    assert [(v["value"], v["used"]) for v in swept[0]] == [
        ("256 KiB", True), ("512 KiB", False), ("1024 KiB", False)]
    profile = find_profile(sg.PROFILE)
    one, four = (model.drive_info(profile, sg.options(
        fs.OFF, Conditions(), unit=unit)) for unit in (1, 4))
    assert one["raw_bytes"] == four["raw_bytes"] \
        == 4 * sg.BLOCKS * sg.BLOCK_KIB << 10
    assert one["capacity_bytes"] == four["capacity_bytes"]


def test_no_copies_are_not_judged() -> None:
    """Where GC copies nothing, no order of mappings is claimed."""
    runs = {n: made(1000, 1, 100) for n in (sg.FRESH, *fs.SERIES)}
    found = sg.series(runs, 20)
    points = {s.point: s.samples([found], 20) for s in fs.STATEMENTS}
    assert points[f"{fs.LOG} above {fs.APP}"] == []
    assert points[f"{fs.LOG}, less than {fs.APP} by"] == []
    assert points[f"{fs.DATA}, of the fresh level"] == [1]


def test_not_among_all() -> None:
    """It takes too long, and must be asked for."""
    def names(*given: str) -> list[str]:
        return cmd_figures._check(argparse.Namespace(
            names=list(given), traces="", scale=1.0, jobs=0, seeds=None,
            quick=False, sweeps=False))
    for name in cmd_figures.LONG:
        assert name not in names("all")
        assert names("all", name)[-1] == name


def test_memory() -> None:
    """Guests that do not fit are refused in one line that says what does."""
    sg.check_memory(2, 2048, 4096)
    with pytest.raises(UserError, match="--jobs 3"):
        sg.check_memory(4, 1024, 4095)
    with pytest.raises(UserError, match="--jobs 1"):
        sg.check_memory(2, 2048, 100)
