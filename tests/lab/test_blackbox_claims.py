# SPDX-License-Identifier: GPL-2.0-or-later
"""A short form of the figure blackbox (--long): statements that hold with a twelfth
of the runs, and errors of the method that make them fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from long_form import LONG

from vssd.build import model, venv
from vssd.sim import run as simrun
from vssd_lab.figures import figure as figures

venv.extra("figures")
venv.extra("blackbox")
np = pytest.importorskip("numpy")
from vssd_lab.figures import blackbox as figure  # noqa: E402
from vssd_lab.figures import blackbox_model as bb  # noqa: E402
from vssd_lab.figures import blackbox_paper as paper  # noqa: E402
from vssd_lab.figures import blackbox_runs as br  # noqa: E402
from vssd_lab.figures import judge  # noqa: E402

pytestmark = LONG
SHORT = 1000  # runs
HOLD = ("iops, R2, extended", "latency, MRE, basic",
        "bandwidth, R2, basic", "iops, R2, basic",
        "extended better than basic")


@pytest.fixture(scope="module", name="runs")
def fixture_runs(tmp_path_factory: pytest.TempPathFactory) -> bb.Runs:
    """Of SSD_I."""
    folder = tmp_path_factory.mktemp("blackbox")
    ctx = figures.Context(simrun.Runner(model.sim()), None, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(br, "cache_dir", lambda: folder)
        return figure._runs(ctx, figure._device(ctx, "SSD_I"), SHORT,
                            figure.SEED, "short runs of")


def verdicts(runs: bb.Runs) -> dict[str, str]:
    """Of the statements of HOLD."""
    learnt = figure.Learnt(None, bb.Validated(runs))
    rows = [r for t in figure.TARGETS for m in figure.MEASURES
            for r in figure._cell_rows("SSD_I", learnt, "SSD_I", t,
                                       m).values() if r["point"] in HOLD]
    rows.append(judge.claim("SSD_I", HOLD[-1], figure._better({"": learnt}), 1,
                            None, source=""))
    return {r["point"]: r["verdict"] for r in rows}


def one_kind(runs: bb.Runs) -> bb.Runs:
    """Reads and writes are not told apart."""
    x = dict(runs.x)
    for kind in ("wr", "rd"):
        x[f"{kind}_size"], x[f"{kind}_rand"] = x["req_size"], x["rand"]
        x[f"{kind}_stride"] = np.zeros(len(runs))
    return bb.Runs(x, runs.y)


def kept(*names: str) -> Callable[[bb.Runs], bb.Runs]:
    """Of those of the extended model, only these say anything, and the basic
    model's."""
    def change(runs: bb.Runs) -> bb.Runs:
        return bb.Runs({k: v if k in (*names, *bb.BASIC) else np.zeros(len(runs))
                        for k, v in runs.x.items()}, runs.y)
    return change


def test_short_form(runs: bb.Runs) -> None:
    """All of them hold."""
    assert verdicts(runs) == dict.fromkeys(HOLD, judge.HOLDS)


@pytest.mark.parametrize("wrong", [
    one_kind, lambda runs: runs.shuffled(1), kept(),
    kept("wr_rand", "rd_rand", "wr_stride", "rd_stride")])
def test_errors_of_the_method_are_found(
        runs: bb.Runs, wrong: Callable[[bb.Runs], bb.Runs]) -> None:
    """Some do not hold then."""
    assert set(verdicts(wrong(runs)).values()) != {judge.HOLDS}


def test_shuffled_results_say_nothing(runs: bb.Runs) -> None:
    """R2 of a model that learnt the results of other runs is near 0, and not
    above."""
    learnt = figure.Learnt(None, bb.Validated(runs))
    for target in figure.TARGETS:
        assert -0.1 < figure._shuffled(learnt, target) < 0.1


def test_minute_is_scaled(runs: bb.Runs, tmp_path: Path) -> None:
    """All runs last 60 s times 1.25 GB / 80 GB."""
    ctx = figures.Context(simrun.Runner(model.sim()), None, tmp_path)
    device = figure._device(ctx, "SSD_I")
    assert device.seconds == pytest.approx(60 / 64, rel=0.002)
    assert runs.seconds.min() >= br.LASTED * device.seconds


def test_mean_rates(runs: bb.Runs) -> None:
    """Within 40 % of the paper's, with so few runs."""
    for target, cell in paper.EXTENDED["SSD_I"].items():
        assert 0.6 < runs.y[target].mean() / cell.mean < 1.4
