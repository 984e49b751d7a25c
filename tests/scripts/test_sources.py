# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules that every file of the project keeps."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from vssd.paths import PROJECT

SOURCE = re.compile(r"\.(?:c|h|py|sh|build|service|network)$")
NAMED = ("vssd", "run", "Kconfig", "meson.build")
# Spelled in parts, so that this file keeps its own rule.
FORBIDDEN = {
    "a path of one machine": re.compile(r"/wor" r"k/|/root/\.|/home/\w"),
    "a mirror's name": re.compile(r"\b(?:deb|security|ftp|archive|snapshot)\."
                                  r"(?:debian|ubuntu)\.(?:org|com)\b|pypi\."
                                  r"org|files\.pythonhosted", re.I),
    "work left over": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b"
                                 r"|not im" r"plemented", re.I),
}


def files() -> list[Path]:
    """What git knows, or would add; without git or a checkout all that is in
    the tree."""
    try:
        done = subprocess.run(
            ["git", "-C", str(PROJECT), "ls-files", "-co",
             "--exclude-standard"], capture_output=True, text=True, check=True)
        paths = [PROJECT / name for name in done.stdout.splitlines()]
    except (OSError, subprocess.CalledProcessError):
        paths = [p for p in PROJECT.rglob("*")
                 if not {".git", "__pycache__"} & {*p.parts}]
    return [p for p in paths if p.is_file() and "corpora" not in str(p)]


def test_sources_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no git looks at the same files."""
    with_git = set(files())
    monkeypatch.setenv("PATH", "/nonexistent")
    assert with_git <= set(files())


def text_of(path: Path) -> str:
    """The file; empty when it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def violations(text: str) -> list[str]:
    """The rules that a text breaks."""
    return [what for what, rule in FORBIDDEN.items() if rule.search(text)]


def test_the_rules_find_violations() -> None:
    """Each rule has a text that breaks it."""
    assert violations("open('/wor" "k/x')") == ["a path of one machine"]
    assert violations("http://deb." "debian.org/debian") == ["a mirror's name"]
    assert violations("/* FIX" "ME: later */") == ["work left over"]
    assert violations("a plain line") == []


def test_sources_keep_the_rules() -> None:
    """No file names a machine or a mirror, none leaves work over."""
    found = [f"{p.relative_to(PROJECT)}: {what}" for p in files()
             if p.name != "LICENSE" for what in violations(text_of(p))]
    assert found == []


STATIC = re.compile(r"^static [^;={}()]*?\b(\w+)\(", re.M)
STANDS_MOST = 9  # times, in the sources in C


def crowded(texts: dict[str, str]) -> set[str]:
    """Names of static functions that stand in too many files to say what they are
    of: those that fill a member of that name in a table are left out."""
    stands: dict[str, set[str]] = {}
    for file, text in texts.items():
        for name in STATIC.findall(text):
            if f".{name} = {name}" not in text:
                stands.setdefault(name, set()).add(file)
    return {n for n, where in stands.items() if len(where) > STANDS_MOST}


def test_static_names_say_what_they_are_of() -> None:
    """begin(), take() or run() alone says nothing in a backtrace or a search."""
    texts = {str(i): "static void begin(int a)\n{\n}\n" for i in range(10)}
    assert crowded(texts) == {"begin"}
    assert crowded({i: f"{t}x = {{.begin = begin}};" for i, t in texts.items()}) \
        == set()
    folders = ("core", "nand", "ftl", "hw-ssd", "lib", "sim", "tools")
    assert crowded({str(p): text_of(p) for p in files() if p.suffix == ".c"
                    and p.relative_to(PROJECT).parts[0] in folders}) == set()


def test_sources_name_their_licence() -> None:
    """An SPDX line within the first lines of each source; tests for blktests
    have that project's licence."""
    sources = [p for p in files()
               if SOURCE.search(p.name) or p.name in NAMED]
    assert len(sources) > 60
    missing = [str(p.relative_to(PROJECT)) for p in sources
               if not p.name.endswith(".build") and p.name != "Kconfig"
               and "SPDX-License-Identifier: " + (
                   "GPL-3.0+" if PROJECT / "guest-tools/suites/blktests"
                   in p.parents else "GPL-2.0-or-later")
               not in "\n".join(text_of(p).splitlines()[:4])]
    assert missing == []


HEAD = re.compile(r"# Class:  \S.*\n# Source: \S.*\n(?:#         \S.*\n)*"
                  r"# Date:   \S.*\n(?:#|\[)")


def test_profiles_have_a_head() -> None:
    """Class, source and date, in this order and form."""
    found = sorted((PROJECT / "profiles").glob("*.ini"))
    assert len(found) > 15
    assert [p.name for p in found if not HEAD.match(p.read_text())] == []
    assert not HEAD.match("# Class:  a drive\n# Date:   2026\n[nand]\n")
