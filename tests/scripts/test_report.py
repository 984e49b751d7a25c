# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd report and plot: pictures of real results of vssd-sim."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from vssd.build import venv
from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.watch import oplog, plot, result

venv.extra("figures")
LOAD = "rw=randrw bs=4k iodepth=8 number_ios=12000"


def sim(*args: object) -> str:
    """The JSON of a run on the drive tiny."""
    done = subprocess.run(
        [str(PROJECT / "vssd"), "sim", "run", "--profile", "tiny", "--workload",
         LOAD, "--json", *map(str, args)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="runs")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder: full.json with all that a run can record, plain.json with
    nothing more, two.json of two drives."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "full.json").write_text(sim(
        "--series", "0.02", "--csv", folder / "full.csv", "--oplog",
        folder / "full.oplog"))
    (folder / "plain.json").write_text(sim("--set", "nand.read=90us"))
    (folder / "two.json").write_text(sim("--drives", "2"))
    return folder


@pytest.fixture
def here(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As a user: in a folder for output, without a new environment."""
    for name in ("enter", "extra"):
        monkeypatch.setattr(venv, name, lambda _: None)
    monkeypatch.chdir(tmp_path)
    return runs


def pictures(page: str) -> list[Any]:
    """The pictures of a page or a file, each read as XML."""
    return [ElementTree.fromstring(x)
            for x in re.findall(r"<svg.*?</svg>", page, re.S)]


def test_report(here: Path) -> None:
    """Every part; what a result does not have is named with its option."""
    assert cli.main(["report", str(here / "full.json"),
                     str(here / "plain.json"), "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert len(pictures(page)) >= 12
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles == ["Summary", "What bounded the run",
                      "Latency: distribution", "Latency over time",
                      "Requests over time", "Write amplification",
                      "Free blocks and the buffer", "Garbage collection",
                      "Dies", "Wear"]
    missing = re.findall(r"Without data: (.*?)\.  <code>(.*?)</code>", page)
    assert {name for name, _ in missing} == {"plain"}
    options = " ".join(option for _, option in missing)
    assert all(o in options for o in ("--series", "--csv", "--oplog"))
    assert "<td>nand.read<td>50us<td>90us" in page
    full = json.loads((here / "full.json").read_text())
    assert f"full: {full['explain']['bound_by']}." in page


def test_report_needs_nothing_else(here: Path) -> None:
    """No address of another file or machine, but names of XML."""
    assert cli.main(["report", str(here / "full.json")]) == 0
    page = Path("report.html").read_text()
    links = re.findall(r'(?:href|src)="(.{8})', page)
    assert links and all(x.startswith(("#", "data:")) for x in links)
    assert not re.search(r"@import|<script|<link|url\((?!#)", page)


def test_report_is_the_same_again(here: Path) -> None:
    """The same bytes for the same results."""
    texts = []
    for _ in range(2):
        assert cli.main(["report", str(here / "plain.json")]) == 0
        texts.append(Path("report.html").read_text())
    assert texts[0] == texts[1]


def test_report_of_several_drives(here: Path) -> None:
    """Each drive of an array has its curve."""
    assert cli.main(["report", str(here / "two.json")]) == 0
    page = Path("report.html").read_text()
    assert "two, drive 0" in page and "two, drive 1" in page


@pytest.mark.parametrize("name, text, error", [
    ("no.json", None, "No such file"), ("bad.json", "{", "no JSON"),
    ("x.json", "{}", "schema_version is missing"),
    ("part.json", '{"schema_version": 1, "waf": 2}', "waf_by_cause is missing")
    ])
def test_report_of_nothing(here: Path, capsys: pytest.CaptureFixture[str],
                           name: str, text: str | None, error: str) -> None:
    """One line."""
    if text is not None:
        Path(name).write_text(text)
    assert cli.main(["report", name]) == 1
    said = capsys.readouterr().err
    assert error in said and said.count("\n") == 1


def test_names(here: Path) -> None:
    """Of two files of one name."""
    same = [result.Result("a", {}), result.Result("a", {}),
            result.Result("b", {})]
    result.name_apart(same, ["x/a.json", "y/a.json", "b.json"])
    assert [r.name for r in same] == ["x/a.json", "a", "b"]
    twice = [result.Result("a", {}), result.Result("a", {})]
    result.name_apart(twice, ["a.json", "a.json"])
    assert len({r.name for r in twice}) == 2


def test_operation_log(runs: Path) -> None:
    """Erases and the time of the array are those of the drive's statistics."""
    stats = json.loads((runs / "full.json").read_text())
    log = oplog.read(runs / "full.oplog", 7)
    assert stats["nand"]["erases"] > 0
    assert log.erases.sum() == stats["nand"]["erases"]
    assert log.erases.shape == (4, 32)
    # Each die of tiny has one plane; the last program may end after the log.
    worked = log.busy.mean(axis=1) * log.end_s
    planes = [ns / 1e9 for ns in stats["nand"]["busy_ns"]["plane"]]
    assert worked.tolist() == pytest.approx(planes, rel=0.02)


def test_commands(runs: Path, tmp_path: Path) -> None:
    """The file of --csv; one that is cut."""
    stats = json.loads((runs / "full.json").read_text())
    found = result.read_commands(runs / "full.csv")
    assert max(found.latency_ns) == stats["latency_ns"]["all"]["max"]
    assert found.op.count("read") == stats["latency_ns"]["read"]["count"]
    text = (runs / "full.csv").read_text().splitlines()
    (tmp_path / "cut.csv").write_text("\n".join([*text[:9], text[9][:12]]))
    with pytest.raises(UserError, match="or cut short"):
        result.read_commands(tmp_path / "cut.csv")


@pytest.mark.parametrize("data", [b"", b"VSSDLOG1", b"x" * 200])
def test_no_operation_log(tmp_path: Path, data: bytes) -> None:
    """A file that is none."""
    (tmp_path / "a.oplog").write_bytes(data)
    with pytest.raises(UserError, match="no operation log"):
        oplog.read(tmp_path / "a.oplog")


# ---- plot -------------------------------------------------------------------


@pytest.mark.parametrize("args", [
    ["--y", "waf", "--y", "iops"], ["--y", "gc.free_blocks_over_time"],
    ["--y", "series.mean_ns", "--log", "y"],
    ["--y", "buffer.over_time.units_dirty"],
    ["--y", "waf", "--x", "options.nand.read"],
    ["--y", "iops", "--x", "latency_ns.all.mean", "--by", "profile"]])
def test_plot(here: Path, args: list[str]) -> None:
    """Values, lists, over the run, an option, another value."""
    assert cli.main(["plot", str(here / "full.json"), str(here / "plain.json"),
                     *args]) == 0
    assert len(pictures(Path("plot.svg").read_text())) == 1


def test_points_of_a_plot(here: Path) -> None:
    """The numbers are those of the results."""
    full = json.loads((here / "full.json").read_text())
    found = plot.sources([str(here / "full.json"), str(here / "plain.json")])
    (curve,) = plot.curves(found, "waf", None, None)
    assert curve.x == ["full", "plain"] and curve.y[0] == full["waf"]
    (curve,) = plot.curves(found, "series.max_ns", None, None)
    assert curve.y == full["series"]["max_ns"]
    assert curve.x[:2] == pytest.approx([0.01, 0.03])
    assert plot.label("waf") == "waf (ratio)"
    assert plot.label("nand.busy_ns.die") == "nand.busy_ns.die (ns)"
    assert plot.label("gc.free_blocks_over_time") == "gc.free_blocks_over_time"


def test_plot_of_a_table(here: Path, tmp_path: Path) -> None:
    """A curve for each value of a column, in the order of x."""
    Path("t.csv").write_text("op,policy,waf\n30,a,2\n10,a,3\n10,b,4\n,b,\n")
    found = plot.sources(["t.csv"])
    some = plot.curves(found, "waf", "op", "policy")
    assert [(c.name, c.x, c.y) for c in some] == [
        ("policy=a", [10, 30], [3.0, 2.0]), ("policy=b", [10], [4.0])]
    assert cli.main(["plot", "t.csv", "--y", "waf", "-o", "t.png"]) == 0
    assert Path("t.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("args, error", [
    (["--y", "no.such"], "--y no.such: no result has a number"),
    (["--y", "profile"], "--y profile: no result has a number"),
    (["--y", "waf", "--x", "no.such"], "--x no.such: no result has it"),
    (["--y", "series.mean_ns", "--x", "waf"], "--x waf: full has no list"),
    (["--y", "series.mean_ns", "--by", "waf"], "--by goes with single values"),
    (["--y", "streams"], "--y streams: not a list of numbers"),
    (["--y", "waf", "-o", "a.txt"], "-o a.txt: allowed names that end in")])
def test_plot_refuses(here: Path, capsys: pytest.CaptureFixture[str],
                      args: list[str], error: str) -> None:
    """One line that names the option."""
    assert cli.main(["plot", str(here / "full.json"), *args]) == 1
    said = capsys.readouterr().err
    assert error in said and said.count("\n") == 1
