# SPDX-License-Identifier: GPL-2.0-or-later
"""The grader of the course: solutions pass, what a student starts with and half
solutions do not (docs/course/exercises.md)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from long_form import LONG, of_part

from vssd.paths import PROJECT

COURSE = PROJECT / "docs/course"
SOLVED = PROJECT / "tests/corpora/course"
PART = of_part("docs/course/", "tests/corpora/course/", "ftl/vssd-policy.h",
               "scripts/vssd/sim/policytest.py")


def graded(exercise: str, file: Path) -> tuple[int, list[str], str]:
    """The grader's status, its lines, and what it said beside them."""
    done = subprocess.run([COURSE / "grade.py", exercise, file], check=False,
                          capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.strip()


def built(source: Path, folder: Path) -> Path:
    """A policy as the page compiles it."""
    made = folder / f"{source.stem}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", PROJECT / "ftl",
                    source, "-o", made], check=True)
    return made


def missed(lines: list[str]) -> int:
    """Requirements that are not reached."""
    return sum(line.startswith("FAIL ") for line in lines)


@PART
def test_a_formula(tmp_path: Path) -> None:
    """The solution is within 8 % everywhere; the one for large drives is not."""
    status, lines, said = graded("waf", SOLVED / "waf.py")
    assert (status, lines[-1], said) == (0, "passed", "")
    assert len(lines) == 11
    large = tmp_path / "waf.py"
    large.write_text((SOLVED / "waf.py").read_text().replace(
        "OPEN / blocks", "0"))
    status, lines, _ = graded("waf", large)
    assert status == 1
    assert 0 < missed(lines) < 10


@pytest.mark.parametrize(("text", "said"), [
    ("x = 1", "it has no function waf"),
    ("def waf(:", "SyntaxError"),
    ("def waf(spare, blocks, units): return 1 / 0", "ZeroDivisionError"),
])
def test_work_that_cannot_be_graded(tmp_path: Path, text: str, said: str) -> None:
    """One line each, status 2."""
    file = tmp_path / "waf.py"
    file.write_text(text)
    status, lines, error = graded("waf", file)
    assert (status, lines) == (2, [])
    assert said in error
    assert "\n" not in error


def test_a_call_that_is_wrong(tmp_path: Path) -> None:
    """No such exercise, no such file, a store of another name."""
    assert graded("x", tmp_path)[::2] == (
        2, "usage: grade.py waf|gc|buffer|streams|store FILE")
    assert "no such file" in graded("gc", tmp_path / "x.so")[2]
    rules = tmp_path / "rules.txt"
    for text, said in (("# none\n", "no rule"), ("/data/x=5", "=1 to 4"),
                       ("/root/x=1", "/data/PATTERN")):
        rules.write_text(text)
        assert said in graded("streams", rules)[2]
    (tmp_path / "x.py").touch()
    assert "must be store.py" in graded("store", tmp_path / "x.py")[2]


@PART
@pytest.mark.parametrize("exercise", ["gc", "buffer"])
def test_a_policy(exercise: str, tmp_path: Path) -> None:
    """The solution passes."""
    status, lines, said = graded(exercise, built(SOLVED / f"{exercise}.c", tmp_path))
    assert (status, lines[-1], said) == (0, "passed", "")


@LONG
@pytest.mark.parametrize(("exercise", "start"), [
    ("gc", "greedy"), ("buffer", "lru")])
def test_the_start(exercise: str, start: str, tmp_path: Path) -> None:
    """The example that ./vssd policy new begins with keeps the rules, and reaches
    none of the rest but what it equals."""
    example = PROJECT / f"lib/examples/policies/{start}.c"
    status, lines, _ = graded(exercise, built(example, tmp_path))
    assert status == 1
    assert lines[0].startswith("ok   ./vssd policy test passes")
    assert missed(lines) == 2


@LONG
def test_streams(tmp_path: Path) -> None:
    """A stream for each kind of file reaches it; one for all does not."""
    status, lines, said = graded("streams", SOLVED / "rules.txt")
    assert (status, lines[-1], said) == (0, "passed", "")
    one = tmp_path / "rules.txt"
    one.write_text("/data/*=1\n")
    status, lines, _ = graded("streams", one)
    assert status == 1
    assert missed(lines) == 1
    assert lines[0].startswith("ok   the files have streams")


@LONG
def test_a_promise(tmp_path: Path) -> None:
    """The solution keeps each promise; without one of its syncs, and as the student
    gets it, it breaks some."""
    whole = (SOLVED / "store.py").read_text()
    status, lines, _ = graded("store", SOLVED / "store.py")
    assert (status, lines[-1]) == (0, "passed")
    half = tmp_path / "store.py"
    for text in ((COURSE / "start/store.py").read_text(),
                 whole.replace("            os.fsync(f.fileno())\n", "")):
        assert text != whole
        half.write_text(text)
        status, lines, _ = graded("store", half)
        assert status == 1
        assert lines[0].startswith("FAIL no cut breaks a promise")
