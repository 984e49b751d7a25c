# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd report and plot of real results of vssd-sim; test_report_page.py has the
page in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from report_data import data_of
from schema import faults

from vssd.build import venv
from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.watch import oplog, plot, result

venv.extra("figures")
venv.extra("watch")
venv.extra("schema")
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
    """The pictures of a file, each read as XML."""
    return [ElementTree.fromstring(x)
            for x in re.findall(r"<svg.*?</svg>", page, re.S)]


def test_report(here: Path) -> None:
    """What the page has of each result, and the differences first."""
    assert cli.main(["report", str(here / "full.json"),
                     str(here / "plain.json"), "-o", "page.html"]) == 0
    found = data_of("page.html")
    full, plain = found["runs"]
    assert full["data"] == json.loads((here / "full.json").read_text())
    assert {k for k, v in plain.items() if v is None} == {"commands", "log"}
    assert len(full["log"]["erases"]) == 4 and full["log"]["joined"] == 1
    assert full["why"]["bound"].startswith("the dies bound the run")
    origins = {r["name"]: r["values"] for r in found["summary"]["origins"]}
    assert origins["options.nand.read"] == ["50us", "90us"]
    numbers = [r["values"] for r in found["summary"]["numbers"]]
    ratios = [max(v) / min(v) for v in numbers
              if all(isinstance(x, (int, float)) and x > 0 for x in v)]
    assert ratios == sorted(ratios, reverse=True) and ratios[0] > 1 == ratios[-1]


def test_report_needs_nothing_else(here: Path) -> None:
    """No address of another file or machine in the page's elements."""
    assert cli.main(["report", str(here / "plain.json")]) == 0
    page = Path("report.html").read_text()
    links = re.findall(r'<[^>]*(?:href|src)="?(.{5})',
                       re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))
    assert sorted(links) == ["#main", "data:"]
    assert "default-src 'none'" in page.partition("</head>")[0]


def test_report_is_the_same_again(here: Path) -> None:
    """The same bytes for the same results."""
    texts = []
    for _ in range(2):
        assert cli.main(["report", str(here / "plain.json")]) == 0
        texts.append(Path("report.html").read_text())
    assert texts[0] == texts[1]


def test_report_of_several_drives(here: Path) -> None:
    """Each drive of an array is there, with statistics of its own."""
    assert cli.main(["report", str(here / "two.json")]) == 0
    names = [one["name"] for one in data_of("report.html")["runs"]]
    assert names == ["two", "two, drive 0", "two, drive 1"]


@pytest.mark.parametrize("name, text, error", [
    ("no.json", None, "No such file"), ("bad.json", "{", "no JSON"),
    ("x.json", "{}", "schema_version is missing"),
    ("x.json", '{"schema_version": 2}', "x.json: a result with schema_version 2"),
    ("x.json", '{"schema_version": 1, "waf": NaN}', "NaN is no number of JSON"),
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


@pytest.mark.parametrize("left, error", [
    (6000.5, "a.csv: no file of vssd-sim run --csv, or cut short: "),
    (6000, "a.csv: 5999 commands, but the result beside it has 12000: cut")])
def test_report_of_a_damaged_csv(here: Path, left: float, error: str,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    """Cut in a line, or after one: one line that names the file."""
    Path("a.json").write_text((here / "full.json").read_text())
    lines = (here / "full.csv").read_text().splitlines(keepends=True)
    text = "".join(lines[:int(left)])
    Path("a.csv").write_text(text if left == int(left) else text + lines[-1][:20])
    assert cli.main(["report", "a.json"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"vssd: {error}") and said.count("\n") == 1


def guests_file(path: Path, here: Path, *names: str) -> Path:
    """As ./vssd run --stats writes it with so many drives."""
    path.write_text(json.dumps({"drives": {
        f"ssd{i}": json.loads((here / f"{name}.json").read_text())
        for i, name in enumerate(names)}}))
    return path


def test_files_of_several_drives(here: Path,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    """Report, plot and compare take what ./vssd run --stats writes with
    --drive: each drive is a result."""
    a = guests_file(Path("a.json"), here, "full", "plain")
    b = guests_file(Path("b.json"), here, "plain", "full")
    Path("a.oplog").write_bytes((here / "full.oplog").read_bytes())
    assert cli.main(["report", str(a), "-o", "all.html"]) == 0
    assert cli.main(["report", str(a), "--drive", "ssd1", "-o", "1.html"]) == 0
    names = [[one["name"] for one in data_of(page)["runs"]]
             for page in ("all.html", "1.html")]
    assert names == [["a ssd0", "a ssd1"], ["a ssd1"]]
    assert [r.oplog is not None for r in result.load("a.json")] == [True, False]
    assert cli.main(["plot", str(a), str(b), "--y", "waf"]) == 0
    (curve,) = plot.curves(plot.sources(["a.json", "b.json"]), "iops", None,
                           None)
    assert curve.x == ["a ssd0", "a ssd1", "b ssd0", "b ssd1"]
    assert curve.y[0] == curve.y[3] != curve.y[1]
    capsys.readouterr()
    assert cli.main(["compare", str(a), str(b), "--json"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert faults("compare", got) == []
    rows = {(r["drive"], r["name"]): r for r in got["rows"]}
    assert rows["ssd0", "iops"]["a"] == rows["ssd1", "iops"]["b"] == curve.y[0]
    assert got["differs"][0]["drive"] == "ssd0"
    assert cli.main(["compare", str(a), str(b)]) == 0
    assert "drive ssd1" in capsys.readouterr().out
    one = ["compare", str(a), str(here / "plain.json")]
    assert cli.main([*one, "--drive", "ssd1"]) == 0
    said = capsys.readouterr().out
    n, equal = re.findall(r"compared: (\d+) numbers, (\d+) of", said)[0]
    assert n == equal, said


@pytest.mark.parametrize("command", ["report", "plot", "compare"])
@pytest.mark.parametrize("text, more, error", [
    ('{"drives": {}}', (), "it has no drives"),
    ('{"drives": {"ssd0": {"waf": 1}}}', (), "x.json, drive ssd0: no result"),
    ('{"drives": {"ssd0": 5}}', (), "x.json, drive ssd0: no result"),
    ("FULL", ("--drive", "ssd7"), "--drive ssd7: x.json has ssd0, ssd1"),
    ("FULL", (), "name the one to compare with --drive ID")])
def test_files_without_the_drive(here: Path,
                                 capsys: pytest.CaptureFixture[str],
                                 command: str, text: str,
                                 more: tuple[str, ...], error: str) -> None:
    """One line, that does not ask for what was given."""
    if text == "FULL" and (command != "compare" if not more
                           else command == "plot"):
        pytest.skip("it takes such files")
    Path("x.json").write_text(text)
    if text == "FULL":
        guests_file(Path("x.json"), here, "full", "plain")
    others = {"report": list[str](), "plot": ["--y", "waf"],
              "compare": [str(here / "full.json")]}[command]
    assert cli.main([command, "x.json", *others, *more]) == 1
    said = capsys.readouterr().err
    assert error in said and said.count("\n") == 1


def test_names(here: Path) -> None:
    """Of two files of one name."""
    same = [result.Result("a", {}, given="x/a.json"),
            result.Result("a", {}, given="y/a.json"),
            result.Result("b", {}, given="b.json")]
    result.name_apart(same)
    assert [r.name for r in same] == ["x/a.json", "y/a.json", "b"]
    twice = [result.Result("a", {}, given="a.json") for _ in range(2)]
    result.name_apart(twice)
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


@pytest.mark.parametrize(("data", "why"), [
    (b"", "no operation log"), (b"vssdLOG1", "no operation log"),
    (b"x" * 200, "no operation log"),
    (b"VSSDLOG1" + bytes(120), "before 1.0: make it again")])
def test_no_operation_log(tmp_path: Path, data: bytes, why: str) -> None:
    """A file that is none, or of before version 1.0."""
    (tmp_path / "a.oplog").write_bytes(data)
    with pytest.raises(UserError, match=why):
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


@pytest.mark.parametrize("values, x, unit", [
    (["40%", "60%", "100%"], [40, 60, 100], "%"),
    (["100%", "60", 40], [40, 60, 100], "%"),
    (["40", "60", "100"], [40, 60, 100], ""),
    (["64KiB", "1MiB"], [65536, 1048576], "bytes"),
    (["2ms", "50us", "1s"], [5e4, 2e6, 1e9], "ns"),
    (["", "28%"], [7, 28], "%"),
    (["greedy", "fifo"], ["greedy", "fifo"], ""),
    (["7%", "off"], ["7%", "off"], ""),
    (["1KiB", "1ms"], ["1KiB", "1ms"], "")])
def test_points_stand_at_their_values(here: Path, values: list[Any],
                                      x: list[Any], unit: str) -> None:
    """With their units and the default, of tables and of results."""
    Path("t.csv").write_text("ftl.op_percent,waf\n" + "".join(
        f"{v},{i + 1}\n" for i, v in enumerate(values)))
    found = plot.sources(["t.csv"])
    (curve,) = plot.curves(found, "waf", "ftl.op_percent", None)
    assert curve.x == x and curve.unit == unit
    names = []
    for i, value in enumerate(values):
        names.append(f"{i}.json")
        Path(names[-1]).write_text(json.dumps(
            {"schema_version": 1, "waf": i, "options":
             {"ftl.op_percent": value} if value != "" else {}}))
    found = plot.sources(names)
    (curve,) = plot.curves(found, "waf", "options.ftl.op_percent", None)
    assert curve.x == x and curve.unit == unit
    fig = plot.draw(found, ["waf"], "options.ftl.op_percent", None, "")
    # A curve of a value that a run was not given has the default's name.
    for curve in plot.curves(found, "waf", None, "options.ftl.op_percent"):
        assert not curve.name.endswith("=None")
    (line,) = fig.axes[0].lines
    assert list(line.get_xdata()) == x
    assert (f"({unit})" in fig.axes[0].get_xlabel()) == bool(unit)


def test_a_colour_is_a_workload(here: Path) -> None:
    """Also of rows with equal values of --by, of traces, and of more curves
    than matplotlib has colours."""
    Path("t.csv").write_text("op,policy,workload,waf\n" + "".join(
        f"{op},{p},w{w},{w}\n" for op in (40, 60) for p in "ab"
        for w in range(7)))
    found = plot.sources(["t.csv"])
    some = plot.curves(found, "waf", "op", None)
    assert [c.name for c in some] == [f"w{i}" for i in range(7)]
    some = plot.curves(found, "waf", "op", "policy")
    assert len(some) == 14 and some[0].name == "policy=a, w0"
    assert all(len(set(c.y)) == 1 for c in some)
    (ax,) = plot.draw(found, ["waf"], "op", "policy", "").axes
    assert len({str(line.get_color()) for line in ax.lines}) == 14
    names = []
    for i in range(2):
        names.append(f"{i}.json")
        Path(names[-1]).write_text(json.dumps(
            {"schema_version": 1, "waf": i, "trace": f"t{i}"}))
    assert [c.name for c in plot.curves(plot.sources(names), "waf", None, None)
            ] == ["t0", "t1"]


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
