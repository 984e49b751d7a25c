# SPDX-License-Identifier: GPL-2.0-or-later
"""Black-box models: what is seen of a workload, what a tree makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd.build import model, venv
from vssd.figures import figure as figures
from vssd.paths import find_profile
from vssd.sim import run as simrun

venv.extra("figures")
venv.extra("blackbox")
np = pytest.importorskip("numpy")
from vssd.figures import blackbox_input as fi  # noqa: E402
from vssd.figures import blackbox_model as bb  # noqa: E402
from vssd.figures import blackbox_runs as br  # noqa: E402
from vssd.figures import traces as ft  # noqa: E402

MIB = 1 << 20


def trace(*requests: tuple[str, int, int]) -> ft.Trace:
    kind, offset, nbytes = zip(*requests)
    return ft.Trace(np.zeros(len(requests), "i8"),
                    np.array([k == "W" for k in kind]), np.array(offset),
                    np.array(nbytes), "")


def test_features() -> None:
    """Writes begin at 1, 2, 15, 17 times 4096 B: the second goes on, of three
    that could two do not.  Reads at 1, 2, 7 times 512 B: the second goes on."""
    got = bb.features(trace(
        ("W", 4096, 4096), ("R", 512, 512), ("W", 8192, 4096),
        ("R", 1024, 512), ("W", 61440, 4096), ("R", 3584, 512),
        ("W", 69632, 4096)), 8)
    assert got == {
        "wr_ratio": 4 / 7, "q_dep": 8.0, "req_size": (4 * 4096 + 3 * 512) / 7,
        "rand": 3 / 5, "wr_size": 4096.0, "rd_size": 512.0,
        "wr_rand": 2 / 3, "rd_rand": 1 / 2,
        "wr_stride": 4096.0, "rd_stride": 512.0}
    assert set(bb.BASIC) | set(bb.EXTENDED) == set(got)


def test_features_of_strides() -> None:
    """6 KiB at each multiple of 8 KiB is sequential in its stride; a step back
    is not, nor one over a place.  A kind that does not occur has zeros."""
    got = bb.features(trace(*(("R", n * 8192, 6144) for n in (1, 2, 3, 4))), 1)
    assert (got["rd_rand"], got["rd_stride"]) == (0.0, 8192.0)
    assert (got["wr_size"], got["wr_rand"], got["wr_stride"]) == (0, 0, 0)
    got = bb.features(trace(*(("R", n * 8192, 6144) for n in (3, 1, 3))), 1)
    assert got["rd_rand"] == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_requests_have_what_the_knobs_say(seed: int) -> None:
    """The trace's characteristics are the knobs' settings."""
    rng = np.random.default_rng(seed)
    knobs = br.Knobs(0.4, 16, (4096 << seed, 512 << seed), (0.25, 0.75),
                     (512 << seed, 8192))
    t = br.requests(knobs, 64 * MIB, int(rng.integers(1 << 62)))
    got = bb.features(t, knobs.depth)
    assert len(t) == knobs.requests()
    assert got["wr_ratio"] == pytest.approx(0.4, abs=0.06)
    assert got["q_dep"] == 16
    assert (got["rd_size"], got["wr_size"]) == knobs.size
    assert (got["rd_stride"], got["wr_stride"]) == knobs.stride
    assert got["rd_rand"] == pytest.approx(0.25, abs=0.06)
    assert got["wr_rand"] == pytest.approx(0.75, abs=0.08)
    assert (t.offset + t.nbytes).max() <= 64 * MIB and t.offset.min() >= 0


def test_pure() -> None:
    """A pure workload has nothing else."""
    for name, (ratio, random) in br.PURE.items():
        rng = np.random.default_rng(5)
        for _ in range(20):
            knobs = br.draw_pure(rng, name)
            assert ratio is None or knobs.wr_ratio == ratio
            assert random is None or knobs.random == (random, random)


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
    y = np.where(x["wr_size"] > 0.5, 30.0, 10.0)
    return bb.Runs(x, dict.fromkeys(bb.TARGETS, y))


def test_extended_sees_what_basic_does_not() -> None:
    """The step is told by the features that have it, and only by those."""
    runs, other = made_up(400, 1), made_up(200, 2)
    scores = [bb.score(other.y["latency"],
                       bb.Model(names, runs).predict("latency", other))
              for names in (bb.BASIC, bb.EXTENDED)]
    assert scores[0].r2 < 0.1
    assert scores[1].r2 > 0.9 and scores[1].mre < 0.02
    rows, held = bb.split(100, 0.2, 1)
    assert len(held) == 20 and sorted([*rows, *held]) == list(range(100))
    both = bb.join(runs, other)
    assert len(both) == 600
    assert both.x["rand"].tolist() == [*runs.x["rand"], *other.x["rand"]]


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
    assert bb.features(web, 1)["rd_rand"] == pytest.approx(0.94, abs=0.01)


def test_runs_repeat(tmp_path: Path) -> None:
    """The same seed, the same drive: the same rows, of one drive and of an
    array of two, which is faster."""
    ctx = figures.Context(simrun.Runner(model.sim()), None, tmp_path)
    drive = br.age(ctx, find_profile("tiny"), "tiny", 0.7)
    runs = [br.synthetic(ctx, drive, "test", 4, 7) for _ in range(2)]
    for target in bb.TARGETS:
        assert runs[0].y[target].tolist() == runs[1].y[target].tolist()
        assert (runs[0].y[target] > 0).all()
    array = br.side_by_side(drive, 2, "64k")
    faster = br.synthetic(ctx, array, "test", 4, 7)
    assert (faster.y["bandwidth"] > runs[0].y["bandwidth"]).all()
    assert not list(tmp_path.glob("*.csv"))
