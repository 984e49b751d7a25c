# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure warp: its inputs, what it reads from a result, and a short run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from long_form import LONG

from vssd.build import venv
from vssd.paths import PROJECT

venv.extra("figures")
np = pytest.importorskip("numpy")
from vssd_lab.figures import figure, warp, warp_input, warp_runs  # noqa: E402

DRIVE = 896 * 64  # pages
Rows = dict[str, dict[str, Any]]
CHUNK = 4


def parts(writes: warp_input.Writes, role: int) -> tuple[int, int, int]:
    """Pages written, first and last page of a role."""
    mine = writes.role == role
    page, n = writes.page[mine], writes.pages[mine]
    return int(n.sum()), int(page.min()), int((page + n).max())


def test_cache() -> None:
    """Large objects in sequence, region after region; small ones anywhere in
    the rest; each its share, evenly over time."""
    cfg = warp_input.Cache(0.25, 0.6, region=CHUNK)
    w = warp_input.cache(cfg, DRIVE, 4, 1)
    loc, first, last = parts(w, warp_input.LOC)
    assert (first, last) == (0, DRIVE * 3 // 4)
    assert loc == pytest.approx(4 * 0.4 * DRIVE, rel=0.001)
    pages = w.page[w.role == warp_input.LOC]
    assert (np.diff(pages[:DRIVE * 3 // 4 // CHUNK]) == CHUNK).all()
    assert pages[DRIVE * 3 // 4 // CHUNK] == 0  # the oldest region again
    soc, first, last = parts(w, warp_input.SOC)
    assert first >= DRIVE * 3 // 4 and last <= DRIVE
    assert soc == pytest.approx(4 * 0.6 * DRIVE, rel=0.001)
    half = len(w.role) // 2
    assert w.role[:half].mean() == pytest.approx(w.role.mean(), abs=0.001)
    same = warp_input.cache(cfg, DRIVE, 4, 1)
    other = warp_input.cache(cfg, DRIVE, 4, 2)
    assert (same.page == w.page).all() and (other.page != w.page).any()


def test_popular_keys() -> None:
    """With a Zipf law some buckets are written more often."""
    def busiest(theta: float) -> int:
        w = warp_input.cache(warp_input.Cache(0.5, 0.9, CHUNK, theta), DRIVE,
                             1, 1)
        return int(np.bincount(w.page[w.role == warp_input.SOC]).max())
    assert busiest(0.9) > 10 * busiest(0)


@pytest.mark.parametrize("theta", [0.9, 1.2, 2.2])
def test_zipf(theta: float) -> None:
    """Shares of the first ranks are those of the law."""
    n = 10_000
    ranks = warp_input.zipf(np.random.default_rng(1), n, theta, 200_000)
    law = np.arange(1, n + 1) ** -theta
    assert ranks.min() == 0 and ranks.max() < n
    for rank in (0, 1):
        assert (ranks == rank).mean() == pytest.approx(
            law[rank] / law.sum(), rel=0.05)
    assert (ranks < 100).mean() == pytest.approx(
        law[:100].sum() / law.sum(), rel=0.05)


def test_three_streams() -> None:
    """A fill of one volume; then three streams, in their places."""
    cfg = warp_input.Streams("80/20", (0.6, 0.3, 0.1), CHUNK, scale=1)
    w = warp_input.streams(cfg, DRIVE, 3, 1)
    border = int(DRIVE * 0.9) // CHUNK * CHUNK
    fill = int(np.searchsorted(np.cumsum(w.pages), DRIVE, "right"))
    assert not (w.role[:fill] == warp_input.OVER).any()
    for role, share in enumerate(cfg.bytes):
        first, last = (border, DRIVE) if role == warp_input.RANDOM \
            else (0, border)
        late = w.pages[fill:][w.role[fill:] == role].sum()
        assert late == pytest.approx(2 * share * DRIVE, rel=0.001)
        assert parts(w, role)[1] >= first and parts(w, role)[2] <= last
    over = w.page[w.role == warp_input.OVER]
    assert (over < 0.2 * border).mean() == pytest.approx(0.8, abs=0.02)
    assert (over >= 0.4 * border).mean() == pytest.approx(0.1, abs=0.02)


def test_places_stand_for_several() -> None:
    """A drive of a quarter has the same share of overwritten places."""
    def touched(drive: int, scale: int) -> float:
        cfg = warp_input.Streams("zipf 1.2", (0, 0, 1), CHUNK, scale)
        w = warp_input.streams(cfg, drive, 1.5, 1)
        over = w.page[w.role == warp_input.OVER]
        return len(np.unique(over)) / drive
    assert touched(DRIVE // 4, 32) == pytest.approx(touched(DRIVE, 8),
                                                    rel=0.05)


def test_trace(tmp_path: Path) -> None:
    """Time is the volume written."""
    w = warp_input.Writes(np.array([5, 0]), np.array([1, 3]), np.array([1, 0]))
    warp_input.save(w, 8, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().split() == [
        "time_us,is_write,page,pages,stream", "500000,1,5,1,1", "2000000,1,0,3,0"]


def test_curve() -> None:
    """WAF at a volume between two samples, and by handle."""
    pages = 1000
    result = {"series": {"bytes_written": [1000 * 4096] * 2,
                         "copied_units": [0, 600]},
              "streams": [{"host_bytes_written": 1500 * 4096,
                           "copied_units": 450},
                          {"host_bytes_written": 500 * 4096,
                           "copied_units": 150}]}
    c = warp_runs.curve(result, pages)
    assert c.waf(1) == 1 and c.waf(2) == pytest.approx(1.3)
    assert c.waf(1.5) == pytest.approx(1.2)
    assert c.handle_waf(0) == pytest.approx(1.3)
    assert c.share(0) == pytest.approx(0.75)


def test_drives() -> None:
    """985 and 1021 reclaim units, as in WARP's scripts; smaller ones are
    more."""
    for drive, blocks, pages in ((warp.WARP_A, 985, 64),
                                 (warp.WARP_A2, 1021, 64),
                                 (warp_runs.Drive(10, True, 128), 1971, 32)):
        sets = drive.sets(64, 3)
        assert f"nand.blocks={blocks}" in sets
        assert f"nand.pages={pages}" in sets
        assert "fdp.ruhs=3" in sets


def test_whole_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number of the paper is a claim; sweeps and hypotheses of the whole
    form, with made-up curves."""
    def play(_ctx: Any, _title: str, cases: Any, seeds: Any) -> Any:
        one = warp_runs.Curve(np.array([0.0, 5.0]), np.array([0.0, 9.0]),
                              (4.0, 0.5, 0.5), (0.1, 0.2, 0.3))
        return {label: [one for _ in seeds] for label in cases}

    monkeypatch.setattr(warp, "play", play)
    ctx = figure.Context(None, None, Path(),  # type: ignore[arg-type]
                         sweeps=True)
    rows = [r for p in warp.panels(ctx) for r in p.rows]
    claims = [r for r in rows if r["kind"] == "claim"]
    assert len(claims) == 68
    assert sum("sweeps" in r for r in claims) == 6 + 9 + 7 + 18
    assert all(r["source"] for r in claims)
    saved = [r["hypothesis"] for r in claims
             if r["point"].startswith("save sequential")]
    assert len(saved) == 3
    assert all(h["run"].endswith(warp.A_MORE) and not h["confirmed"]
               for h in saved)


@pytest.fixture(name="short", scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Rows of the short form, by their points."""
    done = subprocess.run(
        [str(PROJECT / "vssd"), "figures", "warp", "--quick", "--json",
         "--out", str(tmp_path_factory.mktemp("warp"))],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {f"{r['panel']}: {r['point']}": r for r in json.loads(done.stdout)}


# What does not hold at the size of the short form; docs/results/figures.md has
# the whole one's.
HOLD = (
    "cache: SOC 4 %, no FDP", "cache: SOC 4 %, FDP", "cache: SOC 20 %, FDP",
    "cache: SOC 40 %, FDP",
    *(f"cache: SOC {soc} %: FDP below no FDP" for soc in (4, 20, 40)),
    *(f"three streams, II: {law}, {way}" for law in warp.LAWS
      for way in warp.WAYS if (law, way) != ("zipf 2.2", warp.MIXED)),
    *(f"three streams, {kind}: {law}: {low} below {high}"
      for kind in ("II", "PI") for law in warp.LAWS
      for low, high in ((warp.FDP, warp.MIXED), (warp.MIXED, warp.NONE))
      if (law, low) != ("zipf 2.2", warp.MIXED)),
    *(f"by handle: noisy handle: WAF of handle {h}, {law} below 80/20"
      for h in (1, 2) for law in warp.LAWS[:2]),
    *(f"isolation: RU {ru} MiB, OP 10 %: PI below II" for ru in (128, 256)))


@LONG
def test_short_form(short: Rows) -> None:
    """The statements that hold."""
    bad = [p for p in HOLD if short[p]["verdict"] != "holds"]
    assert not bad
