# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/schema/: real results are as the schemas say, and what is wrong is
found."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from schema import FOLDER, faults, load

from vssd.build import model, venv
from vssd.paths import PROJECT
from vssd_lab.figures import judge

RUN = ("sim", "run", "--profile", "tiny", "--workload",
       "rw=randrw number_ios=500", "--json")


def vssd(*args: object) -> Any:
    done = subprocess.run([str(PROJECT / "vssd"), *map(str, args)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", name="result")
def _result() -> Any:
    return vssd(*RUN)


def test_each_is_a_schema() -> None:
    """By the schema of schemas."""
    venv.extra("schema")
    from jsonschema import Draft202012Validator

    names = sorted(p.stem for p in FOLDER.glob("*.json"))
    assert names == ["bench", "compare", "device", "doctor", "figures", "info",
                     "powercut", "run", "validate"]
    for name in names:
        Draft202012Validator.check_schema(load(name))


@pytest.mark.parametrize("more", [
    (), ("--drives", "2"), ("--series", "0.01"),
    ("--set", "ftl.map=dftl", "--set", "ftl.op_percent=100")])
def test_results_of_vssd_sim(more: tuple[str, ...]) -> None:
    """One drive, several, with series, with another map."""
    assert faults("run", vssd(*RUN, *more)) == []


def test_info() -> None:
    """Geometry."""
    assert faults("info", vssd("sim", "info", "--profile", "tiny")) == []


@pytest.mark.parametrize("path,value", [
    (("vssd", "commit"), 5), (("options", "ftl.gc"), {}),
    (("host", "cores"), "2"), (("nand", "reads"), -1), (("waf",), "high"),
    (("latency_ns", "all", "p99"), None), (("checked",), 0)])
def test_wrong_values_are_found(result: Any, path: tuple[str, ...],
                                value: object) -> None:
    """Each alone, and a member that is missing."""
    bad = copy.deepcopy(result)
    at = bad
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    assert faults("run", bad)
    if path != ("options", "ftl.gc"):
        del at[path[-1]]
        assert faults("run", bad)


def test_compare(result: Any, tmp_path: Path) -> None:
    """Of two results."""
    (tmp_path / "a.json").write_text(json.dumps(result))
    (tmp_path / "b.json").write_text(json.dumps(
        {**result, "options": {}, "iops": None}))
    got = vssd("compare", tmp_path / "a.json", tmp_path / "b.json", "--json")
    assert faults("compare", got) == [] and got["differs"]


def test_rows_of_figures() -> None:
    """Each kind of row; a shown one has no verdict."""
    row = judge.claim("p", "x", [1.0, 2.0], 0, 3, source="Figure 1",
                      runs=[("a", 1)])
    judge.swept(row, "tR", {"50 us": [1.0], "500 us": []}, "50 us")
    judge.because(row, "text", "run", [1.0], 0, 1)
    rows = [{"figure": "f", **r} for r in (
        row, judge.shown("p", "x", None, "note"),
        judge.extreme("p", "x", {"a": [1.0], "b": [2.0]}, "b", source=""))]
    rows = json.loads(json.dumps(rows))
    venv.extra("figures")
    assert faults("figures", rows) == []
    rows[1]["verdict"] = "holds"
    assert faults("figures", rows)


@pytest.mark.parametrize("name,args", [
    ("bench", ("scaling",)), ("validate", ("870 QVO",)), ("doctor", ())])
def test_origin_of_other_outputs(result: Any, name: str,
                                 args: tuple[str, ...]) -> None:
    """That of results of vssd-sim; what is missing is found."""
    got = vssd(name, *args, "--json")
    assert faults(name, got) == []
    assert got["vssd"] == result["vssd"] and got["host"] == result["host"]
    for member in ("schema_version", "vssd", "host"):
        assert faults(name, {k: v for k, v in got.items() if k != member})


def test_the_commit_makes_no_work(result: Any) -> None:
    """A build that is up to date stays so, and names the last commit that changed
    what it is built from (git may not know a copy of the sources)."""
    build = model.ensure("release", "sim/vssd-sim")
    assert model.up_to_date(build, ("sim/vssd-sim",))
    last = subprocess.run(["git", "-C", str(PROJECT), "log", "-1",
                           "--abbrev=12", "--format=%h", "--", "meson.build",
                           "core", "ftl", "hw-ssd", "nand", "sim"],
                          capture_output=True, text=True, check=False)
    assert result["vssd"]["commit"] == last.stdout.strip()
