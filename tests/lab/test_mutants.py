# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of mutants fits the sources, and ./vssd test mutants says which
survive."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from vssd import paths
from vssd.errors import UserError
from vssd_lab.cli import mutantgroups, mutants
from vssd_lab.cli import test as cmd_test
from vssd_lab.cli.mutantgroups import group_of
from vssd_lab.cli.test import Tally

# Folders of ftl/ and hw-ssd/, and those of the top.
COMPONENTS = ("ftl-buffer", "ftl-controller", "ftl-gc", "ftl-host", "ftl-inspect",
              "ftl-journal", "ftl-map", "ftl-media", "ftl-placement", "ftl-power",
              "ftl-state", "ftl-thermal", "hw-ssd-nvme", "hw-ssd-qemu",
              "hw-ssd-vfio-user", "core", "lab", "lib", "nand", "scripts", "sim")
LEAST = 5  # mutants of each

ENTRY = """[[mutant]]
file = "{file}"
old = '{old}'
new = '{new}'
wrong = "it is wrong"
tests = [{tests}]
"""


def written(root: Path, **more: str) -> Path:
    """A tree with one file and a list of one mutant."""
    (root / "tests").mkdir()
    (root / "a.c").write_text("x = 1;\ny = 1;\n", encoding="utf-8")
    entry = {"file": "a.c", "old": "x = 1", "new": "x = 2",
             "tests": '"alloc"', **more}
    (root / mutants.LIST).write_text(ENTRY.format(**entry), encoding="utf-8")
    return root


def test_list() -> None:
    """Each mutant's text is in its file once, its tests exist, and a test has
    its part; each component has mutants."""
    found = mutants.load()
    assert len(found) >= 400
    assert len({m.name for m in found}) == len(found)
    of_part = Counter(re.sub(r"^(ftl|hw-ssd)/", r"\1-", m.file).split("/")[0]
                      for m in found)
    for name in COMPONENTS:
        assert of_part[name] >= LEAST, name
    known = "\n".join(p.read_text(encoding="utf-8")
                      for p in (paths.PROJECT / "tests").rglob("meson.build"))
    for name in mutants.own_tests(found):
        if group := group_of(name):
            assert group in mutantgroups.GROUPS, name
            file, function = name.split("::")
            text = (paths.PROJECT / "tests" / file).read_text("utf-8")
            assert f"\ndef {function}(" in text, name
            marks = text.split(f"\ndef {function}(")[0].rpartition("\n\n\n")[2]
            assert not re.search(r"@LONG|@of_part|not LONG", marks), name
            assert not re.search(r"^pytestmark = of_part", text, re.M), name
        else:
            assert re.search(rf"'{name.removeprefix('nvme-')}'", known), name
    cases = "\n".join(p.read_text(encoding="utf-8")
                      for p in (paths.PROJECT / "tests").rglob("*.c"))
    for m in found:
        assert f'"{m.part}"' in cases or not m.part, m.name


@pytest.mark.parametrize(("more", "said"), [
    ({"old": "= 1"}, "2 times"), ({"old": "z"}, "0 times"),
    ({"new": "x = 1"}, "not once"), ({"file": "b.c"}, "b.c: No such file"),
    ({"tests": ""}, "needs file"),
    ({"tests": '"a", "b"]\npart = "/a"\nmore = ["c"'}, "needs file"),
    ({"tests": '"a", "b"]\npart = "/a"\n#'}, "part is of one test")])
def test_refused(tmp_path: Path, more: dict[str, str], said: str) -> None:
    """An entry that does not fit is named."""
    with pytest.raises(UserError, match=said):
        mutants.load(written(tmp_path, **more))


class Fake:
    """A tree whose tests find some mutants."""

    def __init__(self, killers: list[str | None]) -> None:
        self.killers = iter(killers)

    def sound(self, _mutants: list[mutants.Mutant]) -> None:
        """All tests pass without a mutant."""

    def killer(self, _one: mutants.Mutant) -> str | None:
        """The next of the list."""
        return next(self.killers)

    def cost_s(self, _one: mutants.Mutant) -> float:
        """All are equal."""
        return 1


def test_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A mutant that was tested is not tested again, until its tests or the
    mutant change; a test has ten times what it took, and its own limit at
    least."""
    def tree(**keys: str) -> mutants.Tree:
        one = object.__new__(mutants.Tree)
        one.results = mutants.Results(tmp_path / "results.json")
        one.results.load()
        one.limits_s = {"a": 30.0, "b": 30.0}
        one.keys = {"a": "ka", "b": "kb", **keys}
        return one
    asked: list[str] = []

    def killer(_self: mutants.Tree, one: mutants.Mutant) -> str | None:
        asked.append(one.wrong)
        return None if one.wrong == "w" else "a"

    monkeypatch.setattr(mutants.Tree, "_killer", killer)
    one = mutants.Mutant("a.c", "1", "2", "w", ("a",))
    two = mutants.Mutant("a.c", "1", "2", "v", ("a", "b"))
    first = tree()
    assert first._factor(("a",)) == "0"
    first.results.took_s |= {"ka": 6.0, "kb": 0.1}
    assert first._factor(("a", "b")) == "2.00"
    assert first._factor(("b",)) == "1.00"
    assert [first.killer(m) for m in (one, two)] == [None, "a"]
    again = tree()
    assert [again.killer(m) for m in (one, two)] == [None, "a"]
    assert again.results.took_s == {"ka": 6.0, "kb": 0.1}
    assert asked == ["w", "v"]
    other = tree(b="other")
    assert [other.killer(m) for m in (one, two)] == [None, "a"]
    mutated = mutants.Mutant("a.c", "1", "3", "w", ("a",))
    other.killer(mutated)
    assert asked == ["w", "v", "v", "w"]
    (tmp_path / "results.json").write_text("[1]", encoding="utf-8")
    assert tree().results.killers == {}


def test_copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a result depends on, beside programs: files that a test may read,
    so not what is compiled, the documents or the list."""
    names = ("ftl/a.c", "profiles/a.ini", "docs/a.md", str(mutants.LIST))
    root = tmp_path / "root"
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.setattr(mutants, "PROJECT", root)
    monkeypatch.setattr(mutants, "file_bytes",
                        lambda n: (root / n).read_bytes())
    tree = object.__new__(mutants.Tree)
    tree.source = tmp_path / "source"
    keys = [tree._copy()]
    for name in names:
        (root / name).write_text("2", encoding="utf-8")
        keys.append(tree._copy())
        assert (tree.source / name).read_text(encoding="utf-8") == "2"
    assert [a == b for a, b in zip(keys, keys[1:])] == [True, False, True,
                                                       True]


TESTS = """\
import os, subprocess, sys, time, pytest
def test_good(): assert os.environ["VSSD_SERVER"]
def test_bad(): assert not "good"
def test_skipped(): pytest.skip("no server")
def test_hangs(): subprocess.Popen(["sleep", "60"]).wait()
"""


def test_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A test of pytest passes or fails in the copy; one that hangs has failed,
    and nothing of it is left; one that is skipped says nothing."""
    file = tmp_path / "source/tests/lab/test_x.py"
    file.parent.mkdir(parents=True)
    file.write_text(TESTS, encoding="utf-8")
    env = dict(os.environ, VSSD_SERVER="there")
    groups = mutantgroups.Groups(tmp_path / "source", tmp_path / "build", env)
    assert groups.run("lab/test_x.py::test_good", None, 10)[0]
    assert not groups.run("lab/test_x.py::test_bad", None, 10)[0]
    with pytest.raises(UserError, match="skipped"):
        groups.run("lab/test_x.py::test_skipped", None, 10)
    with pytest.raises(UserError, match="test_none"):
        groups.run("lab/test_x.py::test_none", None, 10)
    monkeypatch.setattr(mutantgroups, "LEAST_S", 3.0)
    passed, took_s = groups.run("lab/test_x.py::test_hangs", 0.1, 10)
    assert not passed and took_s < 20


def test_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests in C come first; those in Python follow only while none has failed."""
    tree = object.__new__(mutants.Tree)
    tree.results, tree.keys = mutants.Results(Path()), {"lab/a::b": "k"}
    tree.groups = mutantgroups.Groups(Path(), Path(), {})
    asked: list[str] = []

    def run(_self: mutantgroups.Groups, test: str, took_s: float | None,
            longer: int) -> tuple[bool, float]:
        asked.append(test)
        return False, 0.5

    monkeypatch.setattr(mutants.Tree, "_make", lambda *_: None)
    monkeypatch.setattr(mutantgroups.Groups, "run", run)
    for failed, by in (("c", "c"), (None, "lab/a::b")):
        monkeypatch.setattr(mutants.Tree, "_test_meson", lambda *_, f=failed: f)
        assert tree.test(("c", "lab/a::b")) == by
    assert asked == ["lab/a::b"]


@pytest.mark.parametrize(("alive", "failed"), [(1, 0), (2, 1)])
def test_share(monkeypatch: pytest.MonkeyPatch,
               capsys: pytest.CaptureFixture[str], alive: int,
               failed: int) -> None:
    """One survivor of twenty is allowed, two are not; each is named."""
    one = mutants.Mutant("a.c", "1", "2", "it is wrong", ("alloc",))
    monkeypatch.setattr(mutants, "load", lambda: [one] * 20)
    monkeypatch.setattr(mutants, "Tree",
                        lambda: Fake([None] * alive + ["alloc"] * 20))
    tally = Tally()
    cmd_test.run_mutants("mutants", [], tally, False)
    assert len(tally.failed) == failed
    assert capsys.readouterr().out.count("survives: a.c: it is wrong") == alive
