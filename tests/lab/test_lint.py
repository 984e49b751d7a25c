# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd test lint: each check finds a fault that is planted in a tree of its
own, and what is found is a failure of the group."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from vssd.build import model, packages, venv
from vssd.paths import PROJECT
from vssd_lab.cli import lint
from vssd_lab.cli import test as cmd_test

SPELT_WRONG = "rec" "ieve"
MISTAKES = {
    "ruff": ("scripts/vssd/a.py", "import os\n", "F401"),
    "mypy": ("scripts/vssd/a.py", "def f() -> int:\n    return ''\n",
             "return-value"),
    "shellcheck": ("run", "#!/bin/sh\nrm $1\n", "SC2086"),
    "codespell": ("docs/a.md", f"{SPELT_WRONG}\n", SPELT_WRONG),
    "clang-format": ("core/a.c", "int a;\nint  b;\n", "+int b;"),
    "clang-tidy": ("core/a.c", "int f(int a)\n{\n    return a == a;\n}\n",
                   "misc-redundant-expression"),
    "documents": (lint.DOCUMENTS, "def test_x():\n    assert 0\n", "test_x"),
}
SETTINGS = ("pyproject.toml", ".codespellrc", ".clang-format", ".clang-tidy",
            ".shellcheckrc")


@pytest.fixture(autouse=True)
def programs() -> None:
    """The programs of the checks."""
    packages.ensure(packages.CLANG, packages.LINT)
    venv.extra("lint")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the settings of this one, and a good file of each kind,
    in git's history."""
    monkeypatch.setattr(lint, "PROJECT", tmp_path)
    for name, text in (("scripts/vssd/__init__.py", ""),
                       ("lab/vssd_lab/__init__.py", ""), ("core/a.c", "int a;\n"),
                       ("run", "#!/bin/sh\necho\n"), ("docs/a.md", "a\n"),
                       (lint.DOCUMENTS, "import vssd\n\n\ndef test_x():\n"
                        "    assert vssd\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in SETTINGS:
        (tmp_path / name).write_text((PROJECT / name).read_text())
    for args in (["init", "-q"], ["add", "-A"],
                 ["-c", "user.name=a", "-c", "user.email=a@a.example",
                  "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *args], check=True)
    build = tmp_path / "build"
    build.mkdir()
    (build / "compile_commands.json").write_text(json.dumps([
        {"directory": str(build), "file": "../core/a.c",
         "command": "clang -c ../core/a.c"}]))
    monkeypatch.setattr(model, "configured", lambda _kind: build)
    return tmp_path


@pytest.mark.parametrize("name", lint.CHECKS)
def test_a_mistake_is_found(name: str, tree: Path) -> None:
    """Nothing is said of the good tree, and the mistake is named."""
    file, text, said = MISTAKES[name]
    assert lint.CHECKS[name]() == []
    (tree / file).write_text(text)
    assert said in "\n".join(lint.CHECKS[name]())


def test_a_file_that_is_the_same_is_not_looked_at_again(
        tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By clang-tidy, which takes seconds for each; what a file includes is of it."""
    looked_at: list[object] = []

    def run(args: list[str | Path]) -> list[str]:
        looked_at.extend(a for a in args if str(a).endswith(".c"))
        return []

    monkeypatch.setattr(lint, "findings", run)
    (tree / "core/a.h").write_text('#include "b.h"\n')
    (tree / "core/b.h").touch()
    (tree / "core/b.c").write_text('#include "a.h"\n')
    for changed, names in (("core/b.c", ["core/a.c", "core/b.c"]),
                           ("docs/a.md", []), ("core/b.c", ["core/b.c"]),
                           ("core/a.c", ["core/a.c"]), ("core/b.h", ["core/b.c"]),
                           (".clang-tidy", ["core/a.c", "core/b.c"])):
        looked_at.clear()
        with (tree / changed).open("a") as f:
            f.write(f"# {len(names)}\n" if changed[0] == "."
                    else f"/* {len(names)} {changed} */\n")
        assert lint.clang_tidy() == []
        assert looked_at == names, changed
    commands = tree / "build/compile_commands.json"
    commands.write_text(commands.read_text().replace("clang -c", "clang -O -c"))
    looked_at.clear()
    assert lint.clang_tidy() == [] and looked_at == ["core/a.c"]


def test_older_lines_keep_their_form(tree: Path) -> None:
    """clang-format looks at changed lines only."""
    old = tree / "core/old.c"
    old.write_text("int  a;\n")
    (tree / ".clang-format").write_text(
        (tree / ".clang-format").read_text() + "# changed\n")
    for args in (["add", "-A"], ["-c", "user.name=a", "-c",
                                 "user.email=a@a.example", "commit", "-qm", "b"]):
        subprocess.run(["git", "-C", str(tree), *args], check=True)
    old.write_text("int  a;\nint b;\n")
    assert lint.clang_format() == []


def test_the_group_counts(monkeypatch: pytest.MonkeyPatch,
                          capsys: pytest.CaptureFixture[str]) -> None:
    """A finding is a failure with its lines; a check without history is
    skipped; a missing program is a failure."""
    def skipped() -> list[str]:
        raise lint.Skipped("why")

    monkeypatch.setattr(lint, "CHECKS", {
        "good": list, "bad": lambda: ["a.c:1: bad"], "not": skipped,
        "gone": lambda: lint.findings(["no-such-program"])})
    tally = cmd_test.Tally()
    cmd_test.run_lint("lint", [], tally, False)
    assert (tally.passed, tally.failed, tally.skipped) == (
        1, ["lint: bad", "lint: gone"], 1)
    out = capsys.readouterr().out
    assert "     | a.c:1: bad" in out and "skip lint: not (why)" in out
    assert "no-such-program is not installed" in out
    assert "lint" in cmd_test.GROUPS
