# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures: the frame, the traces behind it, and a short run."""

from __future__ import annotations

import json
import lzma
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from long_form import LONG

from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim.run import Point, Runner
from vssd_lab.cli import figures as cmd_figures
from vssd_lab.figures import figure as figures

# The tests run in the project's environment; this is what figures add to it.
venv.extra("figures")
np = pytest.importorskip("numpy")
from vssd_lab.figures import buffer_input as fb  # noqa: E402
from vssd_lab.figures import lsm, readers, standin  # noqa: E402
from vssd_lab.figures import traces as ft  # noqa: E402

TABLE = standin.Table(0.3273, 14.74, 16.67, 0.15, 4096, 64 << 20)


def vssd(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROJECT / "vssd"), *map(str, args)],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("k", [1, 4, 64])
def test_retime(k: int) -> None:
    """Reads keep their times, writes their addresses and mean rate; batches
    have 1..k writes, and N mean times follow a batch of N."""
    t = standin.generate("hm0", TABLE, 20_000, 1)
    r = ft.retime(t, k, 5)
    assert (np.diff(r.at_ns) >= 0).all()
    assert (r.at_ns[~r.write] == t.at_ns[~t.write]).all()
    assert (r.offset[r.write] == t.offset[t.write]).all()
    before, after = t.at_ns[t.write], r.at_ns[r.write]
    mean = (before[-1] - before[0]) / (len(before) - 1)
    at, size = np.unique(after, return_counts=True)
    assert size.max() == k if k < 64 else 48 < size.max() <= 64
    assert np.diff(at)[:-1] == pytest.approx(size[:-2] * mean, abs=2)
    assert after[-1] - after[0] == pytest.approx(before[-1] - before[0],
                                                 rel=0.01)


def test_compact() -> None:
    """Data that was together is together, and nothing else is between."""
    t = ft.Trace(np.arange(3), np.array([True] * 3),
                 np.array([1 << 30, (1 << 30) + 4096 + 512, 512]),
                 np.array([8192, 512, 1024]), "")
    c = ft.compact(t)
    assert c.offset.tolist() == [4096, 8192 + 512, 512]
    assert ft.extent(c) == 3 * 4096


def test_real_traces(tmp_path: Path) -> None:
    """The whole week before excerpts; of excerpts, the nearest in writes."""
    line = "1280{0},hm,0,{1},4096,8192,0\n"

    def put(name: str, kinds: str) -> None:
        text = "".join(line.format(i, {"R": "Read", "W": "Write"}[k])
                       for i, k in enumerate(kinds))
        (tmp_path / name).write_bytes(lzma.compress(text.encode()))

    put("x_hm_0.csv.xz", "RRRW")
    put("y_hm_0.csv.xz", "RWWW")
    near = readers.find(tmp_path, "hm0", 0.7)
    assert near and near.source == "y_hm_0.csv.xz" and len(near) == 4
    assert near.at_ns.tolist() == [0, 100, 200, 300]
    put("hm_0.csv.xz", "RR")
    whole = readers.find(tmp_path, "hm0", 0.7)
    assert whole and whole.source == "hm_0.csv.xz"
    assert readers.find(tmp_path, "fin2", 0.5) is None
    (tmp_path / "Financial2.spc").write_text("0,1,512,W,x\n")
    with pytest.raises(UserError, match="Financial2.spc"):
        readers.find(tmp_path, "fin2", 0.5)


def test_round_trip(tmp_path: Path) -> None:
    """What is written as MSR CSV is read as it was."""
    t = standin.generate("hm0", TABLE, 1000, 3)
    ft.write_msr(t, tmp_path / "t.csv")
    r = readers.read_msr(tmp_path / "t.csv")
    assert (r.offset == t.offset).all() and (r.write == t.write).all()
    assert (abs(r.at_ns - (t.at_ns - t.at_ns[0])) <= 100).all()


def lsm_writer(seed: int = 1) -> lsm.Writer:
    store = lsm.Store(records=20_000, memtable=1 << 20, piece=256 << 10, other=0.3,
                      journal=1 << 20, metadata=1 << 20)
    w = lsm.Writer(store, 200 << 20, seed)
    w.load()
    w.run(500 << 20)
    return w


def test_lsm_store_writes_to_what_is_free() -> None:
    """Tables are in free space; trimmed ranges were a table's; the rest
    is what the store has.  Without this its streams would mean nothing."""
    w = lsm_writer()
    begin = w.log + w.cfg.segment * w.cfg.segments
    page = lsm.PAGE
    live = np.zeros((200 << 20) // page, dtype=bool)
    written = [0] * len(lsm.KINDS)
    for op, offset, n, kind in zip(w.op, w.offset, w.nbytes, w.kind):
        part = live[offset // page:(offset + n) // page]
        assert offset % page == 0 and n % page == 0 and len(part) * page == n
        if op == "D":
            assert offset >= begin and part.all()
            part[:] = False
            continue
        written[kind] += n
        assert (offset >= begin) == (kind in (lsm.FLUSH, lsm.TIER1, lsm.TIER2))
        if offset >= begin:
            assert not part.any()
            part[:] = True
    assert written == w.written and min(written) > 0
    tables = w.tables + [t for k in w.tasks for t in (k.table, *k.inputs)]
    used = sum(e[1] for t in tables for e in t.extents)
    assert used == live.sum() * page
    held = sum(e[2] for t in tables for e in t.extents)
    assert held + w.space.free == (200 << 20) - begin
    keys = np.unique(np.concatenate([t.keys for t in tables] + w.memtable))
    assert keys.tolist() == list(range(20_000))
    again, other = lsm_writer(), lsm_writer(2)
    assert again.offset == w.offset and other.offset != w.offset


def test_lsm_merges_fours() -> None:
    """A merge has four tables or more of like size, and one of each key."""
    w = lsm_writer()
    for task in w.tasks:
        if task.inputs:
            sizes = [len(t.keys) for t in task.inputs]
            assert len(sizes) >= 4
            assert max(sizes) <= 1.5 * sum(sizes) / len(sizes) + 1
        assert len(np.unique(task.table.keys)) == len(task.table.keys)
    assert max(t.tier for t in w.tables) >= 2


def test_lsm_full() -> None:
    """A store that does not fit says so."""
    w = lsm.Writer(lsm.Store(records=100_000, journal=1 << 20,
                             metadata=1 << 20), 100 << 20, 1)
    with pytest.raises(lsm.Full):
        w.load()


def test_bands_and_verdicts() -> None:
    """Both ends, open ends, and what is not judged."""
    assert figures.band("p", "x", 5, 3.7, 9.1)["verdict"] == "holds"
    over = figures.band("p", "over", 18.2, 3.7, 9.1, "reasons")
    under = figures.band("p", "under", 1.85, 3.7, None)
    assert over["verdict"] == "deviates" and figures.distance(over) == "+100.0 %"
    assert under["verdict"] == "deviates" and figures.distance(under) == "-50.0 %"
    none = figures.band("p", "none", None, 0, 1)
    assert none["verdict"] is None
    good = figures.Panel("p", "", [], [figures.band("p", "x", 5, 3, 9), none])
    assert figures.verdict(good) == \
        "1 of 2 statements hold; 1 not judged"
    bad = figures.Panel("p", "", [], [over, none])
    assert figures.verdict(bad) == \
        "0 of 2 statements hold; 1 deviate; 1 not judged;" \
        " over deviates (+100.0 %), because reasons"


def test_plain_rows_become_a_panel() -> None:
    """A module may yield rows alone."""
    rows = [figures.band("a", "x", 1, 0, 2), figures.band("b", "y", 3, 0, 2)]
    got = list(figures.collect(iter(rows)))
    assert [p.name for p in got] == ["a", "b"]
    assert got[0].chart and got[0].chart.series == {"ours": [1]}
    assert got[1].chart and got[1].chart.high == [2]


def test_points() -> None:
    """A row in points deviates by points, not by a share of its bound."""
    r = figures.band("p", "below, %", -6.0, -4.5, 28.5) | {"points": True}
    assert figures.distance(r) == "-1.5 points"
    del r["points"]
    assert figures.distance(r) == "+33.3 %"


def test_mix_is_its_four() -> None:
    """Section 4.1's "merged by time"."""
    whole = sum(fb.TABLE[n].requests() for n in fb.MIXED)
    assert fb.TABLE["mix"].requests() == pytest.approx(whole, rel=0.01)


def test_generated_inputs_of_buffer(tmp_path: Path) -> None:
    """Means as in Table 1, addresses and requests scaled; the mix is as fast
    as the table says, and its address spaces are side by side."""
    scale = 0.001
    ctx = figures.Context(None, None, tmp_path,  # type: ignore[arg-type]
                          scale / fb.WEEK)
    made = fb.generate(ctx)
    assert list(made) == [n for n in fb.TABLE if n != "mix"] + ["mix"]
    for name in ("hm0", "prxy0", "mix"):
        one, row = made[name], fb.TABLE[name]
        assert not one.real and one.requests == pytest.approx(
            scale * row.requests(), rel=0.01)
        assert one.extent <= row.accessed_gb * 1e9 * scale + 4 * fb.PAGE
        for f in one.fit:
            assert f.made == pytest.approx(f.asked, rel=0.1), (name, f)
        t = readers.read(one.trace)
        assert len(t) == one.requests and ft.extent(t) <= one.extent
    assert t.at_ns[-1] / 1e9 / len(t) == pytest.approx(row.interval_s, rel=0.3)


def test_beside() -> None:
    """Two traces side by side: no address in common, in order of time."""
    one = ft.Trace(np.array([0, 20]), np.array([True, False]),
                   np.array([1 << 30, 0]), np.array([8192, 512]), "one")
    two = ft.Trace(np.array([10]), np.array([True]), np.array([4096]),
                   np.array([4096]), "two")
    both = fb.beside([one, two])
    assert both.at_ns.tolist() == [0, 10, 20]
    assert both.offset.tolist() == [8192, 2 * 8192 + 4096, 0]
    assert both.source == "one + two"


def test_excerpt_scales_the_buffer(tmp_path: Path) -> None:
    """An excerpt of the buffer figures is played with buffers as much smaller
    as it touches less; the traces that are there make the mix."""
    for name, n in (("hm_0", 100), ("proj_0", 50)):
        (tmp_path / f"x_{name}.csv").write_text("".join(
            f"{1000 + i},hm,0,Write,{i * 8192},8192,0\n" for i in range(n)))
    ctx = figures.Context(None, tmp_path, tmp_path)  # type: ignore[arg-type]
    found = fb.real(ctx)
    assert sorted(found) == ["hm0", "mix", "proj0"]
    assert found["hm0"].scale == pytest.approx(100 * 8192 / 2.5e9)
    assert found["mix"].scale == pytest.approx(150 * 8192 / (2.5e9 + 3.27e9))
    assert "without prn0, prxy0" in found["mix"].source
    assert all(one.real and one.trace for one in found.values())


def test_a_point_runs_once(tmp_path: Path,
                           monkeypatch: pytest.MonkeyPatch) -> None:
    """A result is kept by the program, the options and the content of the
    files; their place and time do not matter."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    sim = tmp_path / "sim"
    sim.write_text("#!/bin/sh\necho >> \"$0.log\"; echo '{\"iops\": 1}'\n")
    sim.chmod(0o755)
    profile = tmp_path / "p.ini"
    profile.write_text("")
    traces = [tmp_path / name for name in "abc"]
    for trace, text in zip(traces, ("1", "1", "2")):
        trace.write_text(text)

    def runs(*points: Point) -> int:
        """How often the program was started."""
        log = tmp_path / "sim.log"
        log.write_text("")
        for point in points:
            ctx = figures.Context(Runner(sim, 1), None, tmp_path)
            assert ctx.run("t", {"x": point}) == {"x": {"iops": 1}}
        return len(log.read_text())

    one = Point(profile, trace=traces[0])
    assert runs(one, one, replace(one, trace=traces[1])) == 1
    assert runs(replace(one, trace=traces[2])) == 1
    assert runs(replace(one, sets=("nand.read=1us",))) == 1
    state = replace(one, args=("--state", str(traces[0])))
    assert runs(state, replace(one, args=("--state", str(traces[1])))) == 1
    traces[0].write_text("3")
    assert runs(state) == 1
    save = replace(one, args=("--save-state", str(tmp_path / "s")))
    assert runs(save, save) == 2
    sim.write_text(sim.read_text() + "#\n")
    assert runs(replace(one, trace=traces[1])) == 1


OF_MINUTES = ("blackbox", "buffer", "scatter", "warp")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=LONG) if name in OF_MINUTES else name
    for name in sorted(set(cmd_figures.FIGURES) - set(cmd_figures.LONG))])
def test_short_run(name: str, tmp_path: Path) -> None:
    """Each figure makes rows, pictures and the page."""
    done = vssd("figures", name, "--quick", "--scale", "0.01", "--out",
                tmp_path / "o", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {"panel", "point", "ours", "paper", "verdict"} <= set(rows[0])
    assert any(r["verdict"] for r in rows)
    panels = {r["panel"] for r in rows}
    for end, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
        files = list((tmp_path / "o").glob(f"{name}-*{end}"))
        assert len(files) == len(panels)
        assert all(f.read_bytes().startswith(magic) for f in files)
    page = (tmp_path / "o/index.html").read_text()
    for file in (tmp_path / "o").glob("*.svg"):
        assert file.name in page
    assert "deviates" in page or "holds" in page
    runs = (tmp_path / f"o/runs-{name}.html").read_text()
    for row in rows:
        assert row["kind"] == "shown" or row["runs"], row["point"]
    linked = set(re.findall(rf'runs-{name}.html#(run-[0-9]+)"', page))
    assert linked and linked <= set(re.findall('id="(run-[0-9]+)"', runs))
    assert json.loads((tmp_path / "o/rows.json").read_text()) == rows


def test_a_folder_of_the_user_is_left_alone(tmp_path: Path) -> None:
    """Inputs are made again; files that no figure made stay."""
    folder = cmd_figures._inputs(tmp_path, "scatter")
    (folder / "old").touch()
    assert cmd_figures._inputs(tmp_path, "scatter") == folder
    assert not (folder / "old").exists()
    mine = tmp_path / "inputs/layout/mine"
    mine.parent.mkdir()
    mine.touch()
    with pytest.raises(UserError, match="no figure made"):
        cmd_figures._inputs(tmp_path, "layout")
    assert mine.exists()


def test_refusals(tmp_path: Path) -> None:
    """One line each."""
    for args, word in ((["nothing"], "scatter"),
                       (["scatter", "--traces", str(tmp_path / "x")],
                        "no such folder"),
                       (["scatter", "--scale", "0"], "0.001")):
        done = vssd("figures", *args)
        assert done.returncode == 1, args
        assert word in done.stderr and "Traceback" not in done.stderr
