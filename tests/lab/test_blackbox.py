# SPDX-License-Identifier: GPL-2.0-or-later
"""Black-box models: what is seen of a workload, what a tree makes of it, what
is kept of runs, and the disk."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from vssd.build import model, venv
from vssd.paths import find_profile
from vssd.sim import run as simrun
from vssd_lab.figures import figure as figures

venv.extra("figures")
venv.extra("blackbox")
np = pytest.importorskip("numpy")
from vssd_lab.figures import blackbox as figure  # noqa: E402
from vssd_lab.figures import blackbox_disk as disk  # noqa: E402
from vssd_lab.figures import blackbox_features as bf  # noqa: E402
from vssd_lab.figures import blackbox_input as fi  # noqa: E402
from vssd_lab.figures import blackbox_model as bb  # noqa: E402
from vssd_lab.figures import blackbox_paper as paper  # noqa: E402
from vssd_lab.figures import blackbox_runs as br  # noqa: E402
from vssd_lab.figures import judge  # noqa: E402
from vssd_lab.figures import traces as ft  # noqa: E402

MIB = 1 << 20


def trace(*requests: tuple[str, int, int]) -> ft.Trace:
    kind, offset, nbytes = zip(*requests)
    return ft.Trace(np.zeros(len(requests), "i8"),
                    np.array([k == "W" for k in kind]), np.array(offset),
                    np.array(nbytes), "")


def check_features(bf: ModuleType | Any) -> None:
    """Writes begin at 1, 2, 15, 17 times 4096 B: the second goes on, of three
    that could two do not.  Reads at 1, 2, 7 times 512 B: the second goes on."""
    got = bf.features(trace(
        ("W", 4096, 4096), ("R", 512, 512), ("W", 8192, 4096),
        ("R", 1024, 512), ("W", 61440, 4096), ("R", 3584, 512),
        ("W", 69632, 4096)), 8)
    assert got == {
        "wr_ratio": 4 / 7, "q_dep": 8.0, "req_size": (4 * 4096 + 3 * 512) / 7,
        "rand": 3 / 5, "wr_size": 4096.0, "rd_size": 512.0,
        "wr_rand": 2 / 3, "rd_rand": 1 / 2,
        "wr_stride": 4096.0, "rd_stride": 512.0}
    assert set(bb.BASIC) | set(bb.EXTENDED) == set(got)


def check_strides(bf: ModuleType | Any) -> None:
    """6 KiB at each multiple of 8 KiB is sequential in its stride; a step back
    is not, nor one over a place.  A kind that does not occur has zeros."""
    got = bf.features(trace(*(("R", n * 8192, 6144) for n in (1, 2, 3, 4))), 1)
    assert (got["rd_rand"], got["rd_stride"]) == (0.0, 8192.0)
    assert (got["wr_size"], got["wr_rand"], got["wr_stride"]) == (0, 0, 0)
    got = bf.features(trace(*(("R", n * 8192, 6144) for n in (3, 1, 3))), 1)
    assert got["rd_rand"] == 1.0
    got = bf.features(trace(*(("R", n * 4096, 4096) for n in (4, 3, 9, 5))),
                      1)
    assert got["rd_stride"] == 4096.0


CHECKS = (check_features, check_strides)


@pytest.mark.parametrize("check", CHECKS)
def test_features(check: Any) -> None:
    """The module passes."""
    check(bf)


@pytest.mark.parametrize("old,new", [
    ("trace.write.mean()", "(1 - trace.write).mean()"),
    ("gap < 0", "gap < -1 << 40"),
    ("gap >= max(grid, SECTOR)", "gap > max(grid, SECTOR)"),
    ("gap >= max(grid, SECTOR)", "gap >= SECTOR"),
    ("offset & -offset", "offset & offset"),
    ("np.sort(", "np.array("),
    ("(len(low) - 1) // 4", "len(low) - 1"),
    ("else 0.0\n        out[f\"{name}_rand\"]",
     "else 1.0\n        out[f\"{name}_rand\"]"),
    ("offset[1:] - (offset[:-1] + nbytes[:-1])", "offset[1:] - offset[:-1]"),
    ("n_random / n_judged", "n_random / len(trace)"),
    ("trace.write == kind", "trace.write != kind")])
def test_wrong_features_are_found(old: str, new: str) -> None:
    """Each mutant of the module fails a check."""
    path = Path(str(bf.__file__))
    source = path.read_text("utf-8")
    assert source.count(old) == 1
    mutant = ModuleType("vssd_lab.figures.mutant")
    mutant.__package__ = "vssd_lab.figures"
    exec(compile(source.replace(old, new), str(path), "exec"),
         mutant.__dict__)
    failed = 0
    for check in CHECKS:
        try:
            check(mutant)
        except AssertionError:
            failed += 1
    assert failed


@pytest.mark.parametrize("seed", range(4))
def test_requests_have_what_the_knobs_say(seed: int) -> None:
    """The trace's characteristics are the knobs' settings."""
    rng = np.random.default_rng(seed)
    knobs = br.Knobs(0.4, 16, ((4096 << seed,), (512 << seed,)), (0.25, 0.75),
                     (512 << seed, 8192))
    t = br.requests(knobs, 64 * MIB, int(rng.integers(1 << 62)), 3000)
    got = bf.features(t, knobs.depth)
    assert got["wr_ratio"] == pytest.approx(0.4, abs=0.06)
    assert got["q_dep"] == 16
    assert ((got["rd_size"],), (got["wr_size"],)) == knobs.size
    assert (got["rd_stride"], got["wr_stride"]) == knobs.stride
    assert got["rd_rand"] == pytest.approx(0.25, abs=0.06)
    assert got["wr_rand"] == pytest.approx(0.75, abs=0.08)
    assert (t.offset + t.nbytes).max() <= 64 * MIB and t.offset.min() >= 0


def test_several_sizes() -> None:
    """Each of them occurs, and a sequential request begins at the next
    multiple of the stride behind the one before."""
    knobs = br.Knobs(0.0, 4, ((512, 6144, 8192), (512,)), (0.0, 0.0),
                     (4096, 512))
    t = br.requests(knobs, 64 * MIB, 3, 3000)
    assert sorted(set(t.nbytes.tolist())) == [512, 6144, 8192]
    gap = t.offset[1:] - (t.offset[:-1] + t.nbytes[:-1])
    assert ((gap >= 0) & (gap < 4096) & (t.offset[1:] % 4096 == 0)).mean() \
        > 0.99
    assert bf.features(t, 4)["rd_rand"] < 0.01
    seen = {len(br.draw(np.random.default_rng(i), br.Ranges(mixed=4)).size[0])
            for i in range(50)}
    assert seen == {1, 2, 3, 4}
    assert all(len(br.draw(np.random.default_rng(i), br.Ranges()).size[1]) == 1
               for i in range(50))


def test_pure() -> None:
    """A pure workload has nothing else."""
    for name, (ratio, random) in br.PURE.items():
        rng = np.random.default_rng(5)
        for _ in range(20):
            knobs = br.draw(rng, br.pure(name, br.Ranges()))
            assert ratio is None or knobs.wr_ratio == ratio
            assert random is None or knobs.random == (random, random)


@pytest.mark.parametrize("name", br.PURE)
def test_workloads_that_fit_a_pattern(name: str) -> None:
    """Those drawn for it do; of others, those with its share of writes whose
    requests are as random as it says."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        assert br.fits(br.draw(rng, br.pure(name, br.Ranges())), name)

    def knobs(ratio: float, reads: float, writes: float) -> br.Knobs:
        return br.Knobs(ratio, 1, ((512,), (512,)), (reads, writes),
                        (512, 512))

    fit = {k for k in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0),
                       (1.0, 0.0, 1.0), (0.5, 0.0, 0.0), (0.5, 0.0, 1.0))
           if br.fits(knobs(*k), name)}
    assert fit == {
        "rd_only": {(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)},
        "wr_only": {(1.0, 1.0, 0.0), (1.0, 0.0, 1.0)},
        "rand_only": {(0.0, 1.0, 0.0), (1.0, 0.0, 1.0)},
        "seq_only": {(0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.5, 0.0, 0.0)},
        "rand_rd": {(0.0, 1.0, 0.0)}, "rand_wr": {(1.0, 0.0, 1.0)},
        "seq_rd": {(0.0, 0.0, 1.0)}, "seq_wr": {(1.0, 1.0, 0.0)}}[name]


def test_repeated_workloads() -> None:
    """The same knobs, other draws; the first draw is the series' own."""
    first, again = (br.Series(br.Ranges(), 7, 64 * MIB, a) for a in (0, 1))
    for i in range(5):
        (a, depth), (b, same) = first(i, 400), again(i, 400)
        assert depth == same == first.knobs(i).depth
        assert set(a.nbytes.tolist()) == set(b.nbytes.tolist())
        assert a.offset.tolist() != b.offset.tolist()
        assert first(i, 400)[0].offset.tolist() == a.offset.tolist()


def test_score() -> None:
    """Errors 0, 1, 2 of 1, 2, 4: SSE 5, SST 14/3; relative 0, 1/2, 1/2."""
    s = bb.score(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0]))
    assert s.r2 == pytest.approx(1 - 5 / (14 / 3))
    assert s.mae == pytest.approx(1)
    assert s.mre == pytest.approx(1 / 3)
    assert s.mean == pytest.approx(7 / 3)


def made_up(n: int, seed: int) -> bb.Runs:
    """Runs of a drive whose latency is a step in the size of writes, while all
    requests together are of one size."""
    rng = np.random.default_rng(seed)
    x = {name: rng.random(n) for name in sorted({*bb.BASIC, *bb.EXTENDED})}
    x["req_size"] = np.ones(n)
    y = np.where(x["wr_size"] > 0.5, 30.0, 10.0) + rng.random(n)
    return bb.Runs(x, dict.fromkeys(bb.TARGETS, y))


def test_extended_sees_what_basic_does_not() -> None:
    """The step is told by the features that have it, and only by those; with
    the results of other runs, by none."""
    valid = bb.Validated(made_up(300, 1))
    basic, extended = (valid.scores(names, "latency")
                       for names in (bb.BASIC, bb.EXTENDED))
    assert len(basic) == len(extended) == bb.FOLDS
    assert max(s.r2 for s in basic) < 0.1
    assert min(s.r2 for s in extended) > 0.9
    shuffled = bb.Validated(made_up(300, 1).shuffled(1))
    r2 = [s.r2 for s in shuffled.scores(bb.EXTENDED, "latency")]
    assert max(r2) < 0.1
    both = bb.join(valid.runs, made_up(200, 2))
    assert len(both) == 500
    assert both.x["rand"][:300].tolist() == valid.runs.x["rand"].tolist()


def test_folds_are_of_runs_that_were_not_learnt() -> None:
    """Each run is told once; the runs learnt are the others, and the extra
    ones."""
    runs, extra = made_up(103, 1), made_up(10, 2)
    valid = bb.Validated(runs, extra)
    told = [valid.held(i).x["rand"].tolist() for i in range(bb.FOLDS)]
    assert sorted(sum(told, [])) == sorted(runs.x["rand"].tolist())
    for i, mine in enumerate(told):
        learnt = set(valid.train(i).x["rand"].tolist())
        assert not learnt & set(mine) and len(learnt) == 113 - len(mine)
        assert set(extra.x["rand"].tolist()) <= learnt


def test_threads_learn_the_same() -> None:
    """A model does not depend on how many of its trees grow at a time."""
    one, three = (bb.Model.learn(bb.EXTENDED, made_up(300, 1), jobs=jobs)
                  for jobs in (1, 3))
    assert one.to_json() == three.to_json()


def test_leaf_errors() -> None:
    """A leaf has the error of runs told by other trees: small where results
    repeat, large where they do not."""
    runs = made_up(400, 1)
    rng = np.random.default_rng(3)
    large = runs.x["wr_size"] > 0.5
    y = np.where(large, 30.0 + 10 * rng.random(400), 10.0)
    model = bb.Model.learn(bb.EXTENDED, bb.Runs(
        runs.x, dict.fromkeys(bb.TARGETS, y)))
    row = dict.fromkeys(bb.EXTENDED, 0.25)
    small = model.expect("latency", row)
    assert small["value"] == pytest.approx(10)
    assert small["absolute_error"] < 0.5 and small["runs"] > 100
    loose = model.expect("latency", row | {"wr_size": 0.75})
    assert loose["value"] == pytest.approx(35, abs=4)
    assert 1 < loose["absolute_error"] < 10
    copy = bb.Model.from_json(json.loads(json.dumps(model.to_json())))
    for target in bb.TARGETS:
        assert copy.predict(target, runs).tolist() \
            == model.predict(target, runs).tolist()
    assert copy.scores == model.scores


def test_trees_are_those_of_scikit_learn() -> None:
    """Our walk ends in the same leaves."""
    from sklearn.tree import DecisionTreeRegressor

    runs = made_up(300, 4)
    x, y = runs.table(bb.EXTENDED), runs.y["latency"]
    ours = bb.fit(x, y, 2).predict(x)
    theirs = DecisionTreeRegressor(min_samples_leaf=2, random_state=0) \
        .fit(x, y).predict(x)
    assert ours == pytest.approx(theirs)


# ---- the disk -------------------------------------------------------------------

DISK = disk.HDD_S


def disk_run(kind: str, offset: Any, nbytes: int, depth: int,
             seconds: float = 1e9, queue: int = 32) -> dict[str, float]:
    n = len(offset)
    return disk.play(replace(DISK, queue=queue), np.full(n, kind == "W"), np.array(offset),
                     np.full(n, nbytes), depth, seconds)


def test_seek_curve() -> None:
    """The three times that it is made of: the next track, a full stroke, and
    the mean over two random places."""
    assert DISK.seek(0) == 0
    assert DISK.seek(1e-9) == pytest.approx(DISK.seek_track, rel=0.01)
    assert DISK.seek(1) == pytest.approx(DISK.seek_full)
    a, b = np.random.default_rng(1).random((2, 20_000))
    mean = np.mean([DISK.seek(abs(d)) for d in (a - b).tolist()])
    assert mean == pytest.approx(DISK.seek_mean, rel=0.01)
    times = [DISK.seek(x / 100) for x in range(101)]
    assert times == sorted(times)


def test_random_reads_of_the_disk() -> None:
    """One at a time: a seek, half a turn, and the transfer; a queue lets it
    take the nearest first, and no more than the drive holds."""
    rng = np.random.default_rng(2)
    offset = rng.integers(0, DISK.capacity // 4096, 1500) * 4096
    one = disk_run("R", offset, 4096, 1)
    expected = DISK.seek_mean + DISK.rotation / 2 + DISK.command
    assert one["latency_s"] == pytest.approx(expected, rel=0.05)
    rate = {d: disk_run("R", offset, 4096, d) for d in (4, 32, 64)}
    iops = [r["requests"] / r["seconds"] for r in (one, *rate.values())]
    assert iops[0] < iops[1] < iops[2]
    assert iops[3] == pytest.approx(iops[2], rel=0.05)
    assert rate[64]["latency_s"] > 1.8 * rate[32]["latency_s"]


def test_disk_is_scaled() -> None:
    """The figure's has an eighth of capacity, buffer and time; all else is the
    disk's."""
    assert br.DISK.capacity == DISK.capacity // 8
    assert br.DISK.buffer == 1 << 20
    assert replace(br.DISK, capacity=DISK.capacity,
                   buffer=DISK.buffer) == DISK
    assert br.hard_disk(1.0).seconds == 7.5


def test_sequential_disk() -> None:
    """At the rate of the media, also if the host asks one by one."""
    offset = np.arange(1000) * 65536
    for kind, depth in (("R", 1), ("R", 8), ("W", 8)):
        r = disk_run(kind, offset, 65536, depth)
        assert r["requests"] == 1000
        rate = r["bytes"] / r["seconds"]
        high = 1.2 if kind == "W" else 1.01  # its buffer holds the last ones
        assert 0.9 * DISK.media_rate < rate < high * DISK.media_rate


def test_buffer_of_the_disk() -> None:
    """A few writes end in the buffer; more wait for the arm."""
    rng = np.random.default_rng(3)
    offset = rng.integers(0, DISK.capacity // 4096, 6000) * 4096
    few = disk_run("W", offset[:500], 4096, 1)
    assert few["latency_s"] < 1e-3
    many = disk_run("W", offset, 4096, 1)
    assert many["latency_s"] > 1e-3
    short = disk_run("R", offset, 4096, 4, 2.0)
    assert short["requests"] < 600 and short["seconds"] < 2.5


# ---- runs -----------------------------------------------------------------------


def test_stand_ins(tmp_path: Path) -> None:
    """Each trace is made from its attributes, fits, and has windows."""
    for name, reads in (("Financial1", 0.23), ("Financial2", 0.82),
                        ("WebSearch1", 1.0), ("WebSearch2", 1.0)):
        t = fi.load(tmp_path, name, 100 * MIB)
        assert "generated" in t.source
        assert 1 - t.write.mean() == pytest.approx(reads, abs=0.01)
        assert (t.offset + t.nbytes).max() <= 100 * MIB
        assert fi.windows(t) == fi.GENERATED // fi.WINDOW
        again = fi.window(t, fi.windows(t) + 1)
        assert again.offset.tolist() == fi.window(t, 1).offset.tolist()
    web = fi.load(tmp_path, "WebSearch1", 100 * MIB)
    assert web.nbytes.mean() == pytest.approx(15_400, rel=0.02)
    assert bf.features(web, 1)["rd_rand"] == pytest.approx(0.94, abs=0.01)
    make = fi.Windows(web, 90, 1)
    assert len(make(0, fi.WINDOW)[0]) == fi.WINDOW
    assert len(make(0, 10)[0]) == 10


def test_windows_of_a_trace_are_in_one_fold(tmp_path: Path) -> None:
    """All runs of a window are told by the models that have not learnt it,
    and each fold has windows."""
    web = ft.head(fi.load(tmp_path, "WebSearch1", 100 * MIB), 12_000)
    fold = fi.Windows(web, 400, 1).folds(bb.FOLDS)
    assert len(fold) == 400 and set(fold.tolist()) == set(range(bb.FOLDS))
    for i in range(12):
        assert len(set(fold[i::12].tolist())) == 1


@pytest.fixture(name="cache")
def fixture_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs are kept elsewhere."""
    monkeypatch.setattr(br, "cache_dir", lambda: tmp_path)
    return tmp_path


def test_runs_are_kept(cache: Path) -> None:
    """The same seed, the same drive: the same rows, of one drive and of an
    array of two, which is faster.  What has been played is not played again,
    and a line that was cut off is."""
    runner = simrun.Runner(model.sim())
    drive = replace(br.age(runner, find_profile("tiny"), "tiny", 0.7, cache),
                    seconds=0.1)
    first = br.synthetic(runner, cache, drive, "test", 4, 7)
    (store,) = (cache / "blackbox").iterdir()
    whole = store.read_text()
    store.write_text(whole[:-20])
    lines = len(store.read_text().splitlines())
    again = br.synthetic(runner, cache, drive, "test", 6, 7)
    assert len(store.read_text().splitlines()) == lines + 3
    store.unlink()
    fresh = br.synthetic(runner, cache, drive, "test", 6, 7)
    for target in bb.TARGETS:
        assert first.y[target].tolist() == again.y[target][:4].tolist()
        assert fresh.y[target].tolist() == again.y[target].tolist()
        assert (first.y[target] > 0).all()
    assert (first.seconds > 0.05).all()
    array = br.side_by_side(drive, 2, "64k")
    faster = br.synthetic(runner, cache, array, "test", 4, 7)
    assert (faster.y["bandwidth"] > first.y["bandwidth"]).all()
    assert not list(cache.glob("*.blk"))


def test_old_results_go(cache: Path) -> None:
    """Those of a drive that nobody has used for a month."""
    br.Store("a").add(0, ({}, {}, 1.0))
    (path,) = (cache / "blackbox").iterdir()
    assert br.Store("a").runs[0] == ({}, {}, 1.0)
    month = path.stat().st_mtime - 31 * 86_400
    os.utime(path, (month, month))
    assert br.Store("b").runs == br.Store("a").runs == {}
    assert not list((cache / "blackbox").iterdir())


def test_batch_is_replay(cache: Path) -> None:
    """A run of a batch has the result of vssd-sim replay."""
    runner = simrun.Runner(model.sim())
    drive = br.age(runner, find_profile("tiny"), "tiny", 0.7, cache)
    series = br.Series(br.Ranges(), 3, drive.span)
    seen = br.play_all(runner, cache, replace(br.to_the_end(drive), most=500),
                       "test", 3, series)
    for i in range(3):
        t, depth = series(i, 500)
        path = cache / "t.csv"
        ft.write_msr(t, path)
        alone = runner.one(simrun.Point(
            drive.profile or path, trace=path,
            args=("--format", "msr", "--iodepth", str(depth), "--state",
                  str(drive.state))))
        assert br.results(alone) == {k: v[i] for k, v in seen.y.items()}


def test_runs_last_their_time(cache: Path) -> None:
    """A run that would end too early has more requests; one with a limit has
    no more than that, and one of given requests has those."""
    asked: list[int] = []

    def make(i: int, n: int) -> tuple[ft.Trace, int]:
        asked.append(n)
        return ft.head(trace(*[("R", 0, 512)] * 50_000), min(n, 30_000)), i

    def one(t: ft.Trace, depth: int) -> br.Run:
        return {"n": float(len(t))}, {}, min(len(t) / 1000, 10.5)

    device = br.Device("d", MIB, 10.0)
    assert br.whole(device, make, 1, one) == ({"n": 12_500.0}, {}, 10.5)
    assert asked == [br.FIRST, 12_500]
    assert br.whole(replace(device, most=500), make, 1, one)[2] == 0.5
    assert br.whole(replace(device, seconds=100.0), make, 1,
                    one)[0]["n"] == 30_000


# ---- the figure -----------------------------------------------------------------


def test_cells() -> None:
    """The slides' own consequences: shares of the mean, what MRE falls by."""
    for name, cells in paper.EXTENDED.items():
        assert set(cells) == set(paper.TARGETS)
        for t, cell in cells.items():
            assert 0 < cell.part() < 0.3 and cell.r2 > 0.75
            if name in paper.BASIC:
                basic = paper.BASIC[name][t]
                assert basic.mean == cell.mean and basic.r2 < cell.r2
                assert 1 - cell.mre / basic.mre \
                    > judge.about(paper.IMPROVED)[0]
    for t in paper.TARGETS:
        assert 1 - paper.EXTENDED["SSD_I"][t].mre \
            / paper.BASIC["SSD_I"][t].mre > judge.about(paper.IMPROVED_I)[0]


def context(cache: Path) -> figures.Context:
    """Of a figure that runs nothing."""
    return figures.Context(simrun.Runner(Path("none")), None, cache)


def test_runs_of_some_kinds(cache: Path) -> None:
    """Only reads or only writes, in all of those that are; or in none."""
    runs = made_up(300, 1)
    runs.x["wr_ratio"] = np.round(runs.x["wr_ratio"] * 4) / 4
    learnt = figure.Learnt(None, bb.Validated(runs))
    one, both = (figure._some(context(cache), learnt, kinds).runs
                 for kinds in (1, 2))
    assert set(one.x["wr_ratio"].tolist()) == {0.0, 1.0}
    assert set(both.x["wr_ratio"].tolist()) == {0.25, 0.5, 0.75}
    assert len(one) + len(both) == len(runs)


def test_a_cell_is_judged(cache: Path) -> None:
    """Both models have to be as good as the paper's; deviations are tested."""
    runs = made_up(500, 1)
    learnt = figure.Learnt(None, bb.Validated(runs))
    rows = figure._cell_rows("p", learnt, "SSD_I", "latency", figure.MRE)
    extended, basic = rows["extended"], rows["basic"]
    assert extended["high"] == pytest.approx(0.12 * 1.5 + 0.005)
    assert basic["high"] == pytest.approx(0.63 * 1.5 + 0.005)
    assert extended["verdict"] == basic["verdict"] == judge.HOLDS
    row = figure._cell_rows("p", learnt, "SSD_I", "latency",
                            figure.R2)["basic"]
    assert row["low"] == pytest.approx(0.627 - 0.03 - 0.0005)
    assert row["verdict"] == judge.DEVIATES
    runs.x["wr_ratio"] = np.round(runs.x["wr_ratio"])
    why = figure.Why(context(cache), learnt)
    why.explain(row, "basic", "latency", figure.R2)
    assert row["hypothesis"]["confirmed"] is False
    assert set(figure._cell_rows("p", learnt, "Array_I", "iops",
                                 figure.MAE)) == {"extended"}
    assert figure._count(context(cache), 12_000) == 12_000


def test_extended_is_better(cache: Path) -> None:
    """In all cells of a drive whose latency only it sees; and by how much."""
    learnt = figure.Learnt(None, bb.Validated(made_up(500, 1)))
    assert figure._better({"a": learnt}) == [1.0] * bb.FOLDS
    assert figure._increase(context(cache), "p", learnt, "SSD_S")["verdict"] \
        == judge.HOLDS
    row = figure._improved("p", learnt, "SSD_I", "latency")
    assert row["low"] == pytest.approx(0.72)
    assert row["verdict"] == judge.HOLDS
    runs = made_up(500, 1)
    runs.x["req_size"] = runs.x["wr_size"]  # so that the basic model is good
    learnt = figure.Learnt(None, bb.Validated(runs))
    assert max(figure._better({"a": learnt})) < 1
    row = figure._increase(context(cache), "p", learnt, "SSD_S")
    assert row["verdict"] == judge.DEVIATES and "hypothesis" in row
    row = figure._improved("p", learnt, "SSD_I", "latency")
    assert row["verdict"] == judge.DEVIATES
    assert row["hypothesis"]["confirmed"] is False


def test_windows_that_were_not_learnt() -> None:
    """The models of a fold have learnt the traces' windows of the others:
    what only one window has, none of them tells."""
    learnt = figure.Learnt(None, bb.Validated(made_up(300, 1)))
    runs = made_up(50, 2)
    for name in runs.x:
        runs.x[name] += 10
    fold = np.arange(50) % bb.FOLDS
    same = bb.Runs(runs.x, dict.fromkeys(bb.TARGETS, np.full(50, 90.0)))
    told = {"T": figure.Told("t", same, fold)}
    errors = figure._trace_errors(figure._trace_models(learnt, told),
                                  told["T"])
    assert errors == {t: [0.0] * bb.FOLDS for t in bb.TARGETS}
    own = bb.Runs(runs.x, dict.fromkeys(bb.TARGETS, 50.0 + 10 * fold))
    for at, name in enumerate(runs.x):
        runs.x[name] = 10 + fold + 0 * at
    told = {"T": figure.Told("t", bb.Runs(runs.x, own.y), fold)}
    errors = figure._trace_errors(figure._trace_models(learnt, told),
                                  told["T"])
    assert min(errors["latency"]) > 0.1
