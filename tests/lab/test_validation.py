# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd validate: the file of published figures, its page, refusals."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest

from vssd import tomlfile
from vssd.build import model
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim import calibrate, validation
from vssd.sim.run import Runner

PROFILES = PROJECT / "profiles"

FILE = """\
[sources]
s = "a source"
[runs.r]
what = "read"
fill = "preload"
workload = "rw=randread number_ios=100"
[[drive]]
name = "D"
profile = "tiny"
about = "a drive"
figures = [
    {run = "r", measure = "iops", value = 100, source = "s", use = "fitted"},
    {run = "r", measure = "p50_us", value = 9, source = "s", use = "not-modelled", why = "w"},
]
"""


def vssd(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROJECT / "vssd"), *map(str, args)],
                          capture_output=True, text=True, check=False)


def file_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / "tiny.ini").write_text("[nand]\nread = 50us\n")
    path = tmp_path / "published.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("old, new, says", [
    ("[sources]", "[source]", "file.source: allowed"),
    ('what = "read"', 'what = 3', "runs.r: allowed a table"),
    ('fill = "preload"\n', "", "runs.r: fill is missing"),
    ('profile = "tiny"', 'profile = "none"', "no profile none.ini"),
    ('run = "r", measure = "iops"', 'run = "q", measure = "iops"',
     "figures[0].run=q: allowed r"),
    ('measure = "iops"', 'measure = "speed"', "measure=speed: allowed iops"),
    ("value = 100", "value = 0", "value=0: allowed a number above 0"),
    ('source = "s", use = "fitted"', 'source = "t", use = "fitted"',
     "source=t: allowed s"),
    ('use = "fitted"', 'use = "guessed"', "use=guessed: allowed fitted"),
    ('use = "fitted"', 'use = "not-modelled"', "figures[0].why"),
    ('about = "a drive"\n', "", "drive: about is missing"),
    ("[[drive]]", "[[drive", "published.toml"),
])
def test_a_wrong_file_is_refused(old: str, new: str, says: str,
                                 tmp_path: Path) -> None:
    """With the place, in one line."""
    assert old in FILE
    path = file_with(tmp_path, FILE.replace(old, new, 1))
    with pytest.raises(UserError, match=re.escape(says)) as e:
        validation.read(path)
    assert "\n" not in str(e.value)


def test_rows(tmp_path: Path) -> None:
    """Errors, and means without the figures that are not modelled."""
    published = validation.read(file_with(tmp_path, FILE))
    points = validation.points(published.drives)
    assert len(points) == 1
    rows = validation.rows(published.drives, {points[0]: {"iops": 110.0}})
    assert [r["ours"] for r in rows] == [110.0, None]
    assert rows[0]["error"] == pytest.approx(0.1) and rows[0]["fitted"]
    assert {"drive", "quantity", "published", "ours", "error", "fitted"} \
        <= set(rows[0])
    assert validation.mean_error(rows, True) == pytest.approx(0.1)
    assert validation.mean_error(rows, False) is None
    page = validation.page(published, rows)
    assert "| read | IOPS | 100.0 | 110.0 | +10.0 % | fitted | s |" in page
    assert "| read | us, p50 | 9.0 | - | - | not modelled: w | s |" in page
    assert validation.of_page(page) == [
        ("D", "read", "IOPS", "100.0", "fitted", "s"),
        ("D", "read", "us, p50", "9.0", "not modelled: w", "s")]


def test_nothing_to_compare(tmp_path: Path,
                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Drives without a modelled figure, and a file without drives, fail; a
    comparison tells how many figures it had."""
    from vssd_lab.cli import main, validate

    first = FILE.index("    {run")
    only = FILE[:first] + FILE[FILE.index("    {run", first + 1):]
    assert "not-modelled" in only and "iops" not in only
    none = "drive = []\n" + FILE[:FILE.index("[[drive]]")]
    for published in [validation.read(file_with(tmp_path, text))
                      for text in (only, none)]:
        monkeypatch.setattr(validation, "read", Mock(return_value=published))
        for more in ([], ["--json"]):
            with pytest.raises(UserError, match="no figure to compare") as e:
                validate.main(main.parser().parse_args(["validate", *more]))
            assert "\n" not in str(e.value)
    monkeypatch.undo()
    published = validation.read(file_with(tmp_path, FILE))
    (point,) = validation.points(published.drives)
    rows = validation.rows(published.drives, {point: {"iops": 110.0}})
    assert validation.compared(rows) == 1


def test_shipped_file() -> None:
    """Each drive can be made, each source is used, and free parameters are
    options with bounds that hold what the profile has."""
    published = validation.read()
    assert len(published.drives) >= 8
    short = tomlfile.load(PROJECT / "profiles/published.toml", "")["short"]
    used = {f.source for d in published.drives for f in d.figures} \
        | {point["source"] for point in short["point"]}
    assert used == set(published.sources)
    options = subprocess.run([str(model.sim()), "options"], check=True,
                             capture_output=True, text=True).stdout
    kinds = calibrate.option_kinds(options)
    for drive in published.drives:
        model.drive_info(drive.profile, list(drive.sets))
        fitted = [f for f in drive.figures if f.use == "fitted"]
        assert bool(fitted) == bool(drive.free), drive.name
        have = calibrate.settings(drive.profile.read_text())
        for free in calibrate.parse_free(drive.free, kinds) \
                if drive.free else []:
            value, _ = calibrate.number_of(have[free.key])
            assert free.low <= value <= free.high, (drive.name, free.key)


def test_drives_of_the_last_ten_years() -> None:
    """They suspend programs and erases and read ahead; older ones, and those
    of papers, do not."""
    recent = set()
    for profile in PROFILES.glob("*.ini"):
        text = profile.read_text()
        kind = re.search(r"^# Class: +(.*)$", text, re.M)
        date = re.search(r"^# Date: +(\d{4})$", text, re.M)
        assert kind, profile
        have = calibrate.settings(text)
        both = (have.get("nand.suspend") == "both",
                have.get("host.read_ahead", "0") != "0")
        is_drive = re.match(r"(\S+ )?(consumer|NVMe|SATA)", kind[1])
        is_recent = bool(is_drive and date and int(date[1]) >= 2016)
        assert both == (is_recent, is_recent), profile
        if is_recent:
            recent.add(profile.stem)
    assert {"p4500", "pm9a3", "zn540", "980-pro", "870-qvo", "qlc",
            "tlc-generic", "low-latency-slc"} <= recent


@pytest.mark.parametrize("profile", ["pm9a3", "980-pro", "zn540"])
def test_reads_beside_writes(profile: str) -> None:
    """The measured reads of a mixed load stand beside ours, as predictions."""
    figures = {f.measure: f for d in validation.chosen(validation.read(),
                                                       [profile])
               for f in d.figures if f.measure.startswith("read.")}
    assert set(figures) == {"read.mean_us", "read.p99_us"}
    assert {f.use for f in figures.values()} == {"predicted"}
    assert len({f.point for f in figures.values()}) == 1
    result = {"latency_ns": {"read": {"mean": 75e3, "p99": 237e3},
                             "all": {"mean": 1, "p99": 1}}}
    assert validation.measured("read.mean_us", result) == 75
    assert validation.measured("read.p99_us", result) == 237


def test_the_page_is_that_of_the_file() -> None:
    """Same drives, figures, published numbers and sources; errors and means
    are those of its numbers.  ./vssd validate --write-doc makes it again."""
    published = validation.read()
    text = validation.PAGE.read_text()
    rows = [f.row(None) for d in published.drives for f in d.figures]
    expected = validation.of_page(validation.page(published, rows))
    assert validation.of_page(text) == expected
    assert text.startswith(validation.HEAD)
    errors: dict[str, list[float]] = {"fitted": [], "predicted": []}
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) != 7 or cells[5] not in errors:
            continue
        there, ours = (float(c.replace(",", "")) for c in cells[2:4])
        error = float(cells[4].removesuffix(" %"))
        assert error == pytest.approx(100 * (ours / there - 1), abs=0.7), line
        errors[cells[5]].append(abs(error))
    total = re.search(r"^\| all figures \|  \| (\d+) \| ([\d.]+) % \| (\d+) \|"
                      r" ([\d.]+) % \|$", text, re.M)
    assert total
    for i, some in enumerate(errors.values()):
        assert int(total[2 * i + 1]) == len(some)
        assert float(total[2 * i + 2]) == pytest.approx(
            sum(some) / len(some), abs=0.2)


def test_the_page_is_that_of_the_model() -> None:
    """The short runs give what the page says."""
    published = validation.read()
    drives = validation.chosen(published, ["ZN540"])
    short = {f.point for d in drives for f in d.figures
             if f.use != "not-modelled" and "preload" in f.point.args
             and int(f.point.workload.split("number_ios=")[1]) <= 20000}
    assert len(short) >= 8
    results = {}
    Runner(model.sim()).points(list(short), results.__setitem__)
    lines = validation.PAGE.read_text().splitlines()
    for drive in drives:
        for f in drive.figures:
            if f.point in results:
                ours = f.row(validation.measured(f.measure, results[f.point]))
                cells = (f.quantity, validation.MEASURES[f.measure][0],
                         validation.shown(ours, "published"),
                         validation.shown(ours, "ours"))
                assert any(x.startswith("| " + " | ".join(cells) + " |")
                           for x in lines), cells


def test_command() -> None:
    """Refusals of one line, and a drive by its name."""
    for args, says in ((["x"], "no drive 'x': there are Intel P4500 2 TB"),
                       (["--write-doc", "p4500"], "--write-doc: not with"),
                       (["--jobs", "-1"], "--jobs -1: allowed 0..1024, it is below 0")):
        done = vssd("validate", *args)
        assert done.returncode == 1 and says in done.stderr
        assert len(done.stderr.splitlines()) == 1
    done = vssd("validate", "870 QVO")
    assert done.returncode == 0, done.stderr
    assert "predicted: 2 figures, mean absolute error" in done.stdout
    assert "not modelled: " in done.stdout
