# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd test counts what its groups do: each result, a worker that dies, a
file that cannot be read, a group that runs nothing, a build whose tests do not
all report.  It says what took longest."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import long_form
import pytest

from vssd import paths
from vssd.build import model
from vssd.errors import UserError
from vssd_lab.cli import test as cmd_test
from vssd_lab.cli import testnames, testparts, testpasses
from vssd_lab.cli.test import Tally
from vssd_lab.cli.testtimes import Times

RESULTS = """
import os, pytest

@pytest.fixture
def broken():
    raise OSError

def test_passes(): pass
def test_fails(): assert False
def test_error(broken): pass
def test_skipped(): pytest.skip("no reason")
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail
def test_not_expected(): pass
@pytest.mark.xdist_group("g")
@pytest.mark.parametrize("text", ["a::b@c PASSED\\n"])
def test_named(text): assert not text
"""
OF_PARTS = """
import pytest
from long_form import of_part

@pytest.fixture
def broken():
    yield
    assert False

@of_part("README.md", "scripts/vssd/cli/")
def test_long(): pass
@of_part("README.md")
def test_fails(): assert False
@of_part("README.md")
def test_ends_badly(broken): pass
def test_other(): pass
"""
DIES = "import os\ndef test_dies(): os._exit(0)\ndef test_lives(): pass\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tests; two workers, whatever the machine has."""
    folder = tmp_path / "tests/scripts"
    folder.mkdir(parents=True)
    for name in ("scripts", "lab"):
        (tmp_path / name).symlink_to(paths.PROJECT / name)
    for name in ("vssd_lines", "kept_passes", "long_form"):
        (tmp_path / f"tests/{name}.py").symlink_to(
            paths.PROJECT / f"tests/{name}.py")
    monkeypatch.setattr(cmd_test, "PROJECT", tmp_path)
    monkeypatch.setattr(cmd_test, "log_file", tmp_path.joinpath)
    monkeypatch.setattr(testpasses, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(cmd_test.os, "sched_getaffinity", lambda _: {0, 1})
    return folder


def ran(parts: list[str] | None = None) -> Tally:
    """What became of the group."""
    tally = Tally()
    cmd_test.run_pytest("scripts", parts or [], tally, False)
    return tally


def test_each_result_is_counted(project: Path) -> None:
    """Once, by two workers."""
    (project / "test_one.py").write_text(RESULTS)
    tally = ran()
    assert tally.passed == 2 and tally.skipped == 1
    assert sorted(tally.failed) == [
        "scripts: test_error", "scripts: test_fails",
        r"scripts: test_named[a::b@c PASSED\n]", "scripts: test_not_expected"]


def test_a_pass_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a test of a part: until a file changes, or the test is named.  A
    failure is not kept, and an old pass does not count."""
    path = project / "test_one.py"
    path.write_text(OF_PARTS)
    monkeypatch.setattr(cmd_test.os, "sched_getaffinity", lambda _: {0})

    def results(*parts: str) -> tuple[int, int, int]:
        tally = ran([*parts])
        return tally.passed, len(tally.failed), tally.skipped

    assert results() == (3, 2, 0)
    assert results() == (2, 2, 1)
    assert results("test_long") == (1, 0, 0)
    kept, = (project.parents[1] / "passes").iterdir()
    os.utime(kept, (0, time.time() - testpasses.COUNTS_S))
    assert results() == (3, 2, 0)
    (project / "helper.py").touch()
    assert results() == (3, 2, 0)
    path.write_text(OF_PARTS + "\n")
    assert results() == (3, 2, 0)


def test_files_of_a_part(tmp_path: Path) -> None:
    """Of folders and by patterns; a pattern without a file is an error."""
    for name in ("a/b/c.py", "a/b/__pycache__/c.pyc", "a/d", "e", "f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = testpasses.files_of(["a/", "[e]"], tmp_path)
    assert [str(p.relative_to(tmp_path)) for p in found] == ["a/b/c.py", "a/d", "e"]
    for patterns in (cmd_test.SOURCES, long_form.START, long_form.DEVICE, long_form.MESON):
        assert testpasses.files_of(patterns)
    with pytest.raises(ValueError, match="no file is a/x"):
        testpasses.files_of(["a/", "a/x*"], tmp_path)


def test_a_worker_that_dies(project: Path) -> None:
    """Even with status 0; the others' tests go on."""
    (project / "test_one.py").write_text(DIES)
    tally = ran()
    assert "scripts: test_dies" in tally.failed
    assert tally.passed == 1


def test_a_file_that_cannot_be_read(project: Path) -> None:
    """The group fails."""
    (project / "test_one.py").write_text("import nothing_of_this_name\n")
    assert ran().failed


def test_a_group_that_runs_nothing(project: Path) -> None:
    """Fails, but where the user chose tests by name."""
    assert ran().failed == ["scripts: pytest"]
    (project / "test_one.py").write_text("def test_a(): pass\n")
    assert ran(["other"]) == Tally()
    assert ran(["test_a"]).passed == 1


@pytest.mark.parametrize("lines, status, passed, failed", [
    (["1/2 vssd:ftl / a        OK      0.1s", "2/2 vssd:ftl / a-b OK 0.25s"],
     0, 3, []),
    (["1/2 vssd:ftl / a   OK   0.1s", "2/2 vssd:ftl / b  TIMEOUT  9.9s",
      "Summary of Failures:", "2/2 vssd:ftl / b  TIMEOUT  9.9s"],
     1, 2, ["gcc: ftl/b"]),
    (["1/2 vssd:ftl / a   OK   0.1s"], 0, 2, ["gcc: meson test"]),
    (["1/2 vssd:ftl / a OK 0.1s", "2/2 vssd:ftl / b OK 0.1s"],
     3, 3, ["gcc: meson test"]),
    ([], 1, 1, ["gcc: meson test"]),
], ids=["good", "bad", "one-missing", "bad-status", "nothing"])
def test_builds_of_the_model(
        project: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str],
        status: int, passed: int, failed: list[str]) -> None:
    """All tests must have reported, and meson must agree."""
    def said(*_: object) -> Iterator[tuple[str, int | None]]:
        yield from ((line, None) for line in lines)
        yield "", status

    monkeypatch.setattr(model, "ensure", lambda _: project)
    monkeypatch.setattr(cmd_test, "_meson_names", lambda *_: ["a", "b"])
    monkeypatch.setattr(cmd_test, "_lines", said)
    tally = Tally()
    cmd_test.run_meson("gcc", [], tally, False)
    assert (tally.passed, tally.failed) == (passed, failed)


def test_a_group_that_has_passed(project: Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """Is skipped until a source changes, unless tests are named; a failure is
    not kept."""
    def run(*parts: str, failed: int = 0) -> tuple[int, int, int]:
        tally = Tally()

        def tests() -> None:
            for result in ["OK"] * 2 + ["FAIL"] * failed:
                tally.note("clang: a", result)

        cmd_test._unless_passed("clang", [*parts], tally, tests)
        return tally.passed, len(tally.failed), tally.skipped

    monkeypatch.setattr(cmd_test, "SOURCES", ["README.md"])
    assert run(failed=1) == (2, 1, 0)
    assert run() == (2, 0, 0)
    assert run() == (0, 0, 1)
    assert run("a") == (2, 0, 0)
    monkeypatch.setattr(cmd_test, "SOURCES", ["README.md", "LICENSE"])
    assert run() == (2, 0, 0)


def test_what_took_longest(capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty tests, the slowest first, and the time of each group."""
    tally = Tally()
    for number in range(30):
        tally.note(f"gcc: t{number}", "OK", seconds=number % 25)
    times = tally.times
    times.groups = {"gcc": (90.2, 170.8), "qemu": (10.0, 5.0)}
    lines = list(times.lines())
    assert lines[:3] == ["slowest tests:", "    24.0 s  gcc: t24",
                         "    23.0 s  gcc: t23"]
    assert lines[21:] == ["groups:",
                          "       gcc  90 s, with 171 s of CPU time",
                          "      qemu  10 s, with 5 s of CPU time",
                          "       all  100 s, with 176 s of CPU time"]
    capsys.readouterr()
    with times.group("lint"):
        pass
    assert capsys.readouterr().out == \
        "     | lint took 0 s, with 0 s of CPU time\n"
    assert list(times.groups) == ["gcc", "qemu", "lint"]


def test_no_time_of_any_test() -> None:
    """Only the groups."""
    assert list(Times([], {"lint": (1.0, 2.0)}).lines()) == [
        "groups:", "      lint  1 s, with 2 s of CPU time",
        "       all  1 s, with 2 s of CPU time"]


def test_each_part_has_its_files_and_tests() -> None:
    """Of the table of long tests."""
    for part in testparts.PARTS:
        for name in part.files:
            assert [*paths.PROJECT.glob(f"{name.rstrip('/')}*")], name
        for group, names in part.tests.items():
            assert group in cmd_test.GROUPS
            assert testnames.unknown([group], list(names)) == []


def test_long_tests_of_a_change() -> None:
    """Those of each part that has changed, once."""
    assert testparts.long_tests(["CONTRIBUTING.md", "tests/mutants.toml"]) == {}
    found = testparts.long_tests(["ftl/gc/gc.c", "nand/nand.c", "docs/a.md"])
    assert found == {"gcc": ["swarm", "power", "wide"], "clang": ["swarm"],
                     "server": ["test_upgrade"], "guest": ["test_pages"]}


def test_changed_since_a_commit() -> None:
    """A name that git knows, or one line."""
    assert testparts.changed_since("HEAD") is not None
    with pytest.raises(UserError, match="--changed --no-such: name a tag"):
        testparts.changed_since("--no-such")
