# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd model: learn a profile, predict, evaluate; bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vssd.build import venv
from vssd.errors import UserError
from vssd_lab.cli import model as cmd_model
from vssd_lab.cli.main import parser

venv.extra("figures")
venv.extra("blackbox")
np = pytest.importorskip("numpy")
from vssd_lab.figures import blackbox_file as bf  # noqa: E402
from vssd_lab.figures import blackbox_runs as br  # noqa: E402

READS = "wr_ratio=0,q_dep=1,rd_size=4k,rd_rand=1,rd_stride=4k"


def vssd(capsys: pytest.CaptureFixture[str], *args: object) -> Any:
    """The command in this process; what --json prints."""
    chosen = parser().parse_args(["model", *map(str, args), "--json"])
    assert chosen.call(chosen) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module", name="learnt")
def fixture_learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the smallest drive."""
    folder = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(br, "cache_dir", lambda: folder)
        args = parser().parse_args([
            "model", "train", "--profile", "tiny", "--runs", "300",
            "--seconds", "0.05", "--out", str(folder / "m.json"), "--json"])
        assert args.call(args) == 0
    return folder / "m.json"


@pytest.fixture(name="trace")
def fixture_trace(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    path.write_text("".join(
        f"{n * 1000},h,0,{'Write' if w else 'Read'},{o * 4096},4096,0\n"
        for n, (w, o) in enumerate(zip(rng.random(1500) < 0.3,
                                       rng.integers(0, 5000, 1500)))))
    return path


def test_file(learnt: Path) -> None:
    """It has both models, their errors, and the drive."""
    m = bf.load(str(learnt))
    t = m.training
    assert (t.device, t.runs, t.mixed, t.full) == ("tiny", 300, 75, 0.7)
    assert "[nand]" in t.profile and t.ranges["q_dep"] == [1, 64]
    for model in (m.basic, m.extended):
        for target, s in model.scores.items():
            tree = model.trees[target]
            leaf = tree.left < 0
            assert s.mae > 0 and tree.n[leaf].sum() == 375
            # The leaves' errors, by their runs, are the whole's.
            whole = (tree.absolute * tree.n)[leaf].sum() / 375
            assert whole == pytest.approx(s.mae)
    assert m.extended.scores["bandwidth"].r2 \
        > m.basic.scores["bandwidth"].r2


def test_predict(learnt: Path, trace: Path,
                 capsys: pytest.CaptureFixture[str]) -> None:
    """Of characteristics, and of each window of a trace; what was not learnt
    is said."""
    (row,) = vssd(capsys, "predict", learnt, "--features", READS)
    assert row["features"]["rd_size"] == 4096
    assert row["features"]["wr_size"] == 0 and row["outside"] == []
    for target in ("latency", "bandwidth", "iops"):
        assert row[target]["value"] > 0 and row[target]["runs"] >= 1
        assert row[target]["absolute_error"] >= 0
    (far,) = vssd(capsys, "predict", learnt, "--features",
                  READS.replace("q_dep=1", "q_dep=500"))
    assert far["outside"] == ["q_dep=500 (learnt: 1 to 64)"]
    assert far["iops"]["value"] > row["iops"]["value"]
    rows = vssd(capsys, "predict", learnt, "--trace", trace, "--iodepth", 4,
                "--window", 500)
    assert len(rows) == 3
    assert all(r["features"]["q_dep"] == 4 for r in rows)
    chosen = parser().parse_args(["model", "predict", str(learnt),
                                  "--features",
                                  READS.replace("q_dep=1", "q_dep=500")])
    assert chosen.call(chosen) == 0
    got = capsys.readouterr()
    assert "latency, ms" in got.out and "q_dep=500" in got.err


def test_evaluate(learnt: Path, trace: Path, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch,
                  capsys: pytest.CaptureFixture[str]) -> None:
    """New runs have about the error that was expected; another drive has
    more; a trace's windows are played, too."""
    monkeypatch.setattr(br, "cache_dir", lambda: tmp_path)
    got = vssd(capsys, "evaluate", learnt, "--runs", 100)
    new, expected = got["extended"], got["extended, expected"]
    for target in ("bandwidth", "iops"):
        assert 0.4 < new[target]["mae"] / expected[target]["mae"] < 2.5
    assert got["extended"]["bandwidth"]["r2"] > 0.4
    other = tmp_path / "slow.ini"
    m = bf.load(str(learnt))
    other.write_text(m.training.profile + "\n[host]\nlink_mb_s = 5\n")
    slow = vssd(capsys, "evaluate", learnt, "--runs", 60, "--profile", other)
    assert slow["extended"]["bandwidth"]["mre"] \
        > 3 * new["bandwidth"]["mre"]
    got = vssd(capsys, "evaluate", learnt, "--trace", trace, "--iodepth", 4,
               "--window", 300)
    assert 0 < got["extended"]["iops"]["mre"] < 20


def test_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                  capsys: pytest.CaptureFixture[str]) -> None:
    """HDD_S has no profile."""
    monkeypatch.setattr(br, "cache_dir", lambda: tmp_path)
    out = tmp_path / "d.json"
    vssd(capsys, "train", "--profile", "HDD_S", "--runs", 40, "--mixed", 0,
         "--seconds", 2, "--out", out)
    assert bf.load(str(out)).training.profile == ""
    assert vssd(capsys, "evaluate", out, "--runs", 5)["basic"]


@pytest.mark.parametrize("words,says", [
    ("predict M --features wr_ratio=2", "--features wr_ratio=2: allowed 0..1, it is above 1"),
    ("predict M --features q_dep=0", "--features q_dep=0: allowed 1"),
    ("predict M --features wr_ratio=0,q_dep=1", "rd_size is missing"),
    ("predict M --features x=1", "--features x=1: give each of wr_ratio"),
    ("predict M --features q_dep=1,q_dep=1", "once"),
    ("predict M --features q_dep=1 --iodepth 4", "--iodepth: only with"),
    ("predict M --features q_dep=1 --window 4", "--window: only with"),
    ("predict M --trace T", "give --iodepth, too"),
    ("predict M --trace T --iodepth 0", "--iodepth 0: allowed 1..65536, it is below 1"),
    ("predict M --trace T --iodepth 1 --window 5", "--window 5: allowed 10"),
    ("predict M --trace M --iodepth 1", "no format fits"),
    ("predict M --trace gone --iodepth 1", "--trace gone: no such file"),
    ("predict gone --features q_dep=1", "gone: No such file"),
    ("predict T --features q_dep=1", "no JSON"),
    ("evaluate M --runs 1", "--runs 1: allowed 2"),
    ("evaluate M --trace T --iodepth 1 --window 1500", "lower --window"),
    ("evaluate M --profile none", "no profile 'none'"),
    ("train --profile tiny --out O --runs 3", "--runs 3: allowed 20"),
    ("train --profile tiny --out O --full 0", "--full 0: allowed 0.01..1, it is below 0.01"),
    ("train --profile tiny --out O --seconds 0", "--seconds 0: allowed"),
    ("train --profile tiny --out O --mixed -1", "--mixed -1: allowed 0"),
    ("train --profile tiny --out O --drives 0", "--drives 0: allowed 1"),
    ("train --profile tiny --out O --stripe 4k", "--stripe: only with"),
    ("train --profile HDD_S --out O --drives 2", "--drives: not with HDD_S"),
    ("train --profile tiny --out /none/x", "--out /none/x: No such file"),
    ("train --profile none --out O", "no profile 'none'")])
def test_refused(learnt: Path, trace: Path, tmp_path: Path, words: str,
                 says: str) -> None:
    """In one line."""
    names = {"M": learnt, "T": trace, "O": tmp_path / "o.json"}
    args = parser().parse_args(
        ["model", *(str(names.get(w, w)) for w in words.split())])
    with pytest.raises(UserError) as e:
        args.call(args)
    assert says in str(e.value) and "\n" not in str(e.value)
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize("change", [
    lambda d: d.pop("training"), lambda d: d["training"].pop("span"),
    lambda d: d["extended"]["trees"].pop("iops"),
    lambda d: d["extended"]["trees"]["iops"]["left"].pop(),
    lambda d: d["extended"]["trees"]["iops"].update(left=[0] * 3),
    lambda d: d["extended"]["trees"]["iops"].update(feature=["x"]),
    lambda d: d["basic"]["scores"].pop("latency"),
    lambda d: d.update(vssd_model=9), lambda d: d.pop("vssd_model")])
def test_damaged_models(learnt: Path, tmp_path: Path, change: Any) -> None:
    """Are refused, and do not keep a walk through a tree from ending."""
    d = json.loads(learnt.read_text())
    change(d)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(d))
    with pytest.raises(UserError, match=r"x\.json: "):
        bf.load(str(path))


def test_commands_are_listed() -> None:
    """Each has its help."""
    for name in ("train", "predict", "evaluate"):
        with pytest.raises(SystemExit) as e:
            parser().parse_args(["model", name, "--help"])
        assert e.value.code == 0
    assert cmd_model.DISK == "HDD_S"
