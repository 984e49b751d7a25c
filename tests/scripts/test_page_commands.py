# SPDX-License-Identifier: GPL-2.0-or-later
"""Each command line of each page has its place (tests/page_places.py); the
arguments of vssd's commands are those that they have; what needs no guest is
run as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from page_commands import Command, Line, lines
from page_places import (
    ELSEWHERE,
    IN_WORKS,
    LINES,
    PAGES,
    WORKS,
    in_scripts,
    make_files,
    reason,
    works,
)

from vssd.build import model
from vssd.cli.run import DEFAULT_PROFILE, mebibytes
from vssd.guest import drives
from vssd.paths import cache_dir, find_profile
from vssd_lab.cli.main import parser

ALL = list(dict.fromkeys(c for line in LINES for c in line.commands))


def test_each_line_has_its_place() -> None:
    """It is run, or stands in the list; the list has no more than that."""
    assert len(ALL) > 150 and len(WORKS) > 30
    assert [str(line) for line in LINES
            if not reason(line) and line not in IN_WORKS
            and not in_scripts(line)] == []
    assert set(ELSEWHERE) - {reason(line) for line in LINES} == set()


def test_what_is_typed_belongs_to_the_run_before_it() -> None:
    """Blocks of a guest follow its ./vssd run; without one they have no
    place."""
    run = Line("p", "./vssd run --drive tiny\n")
    other = Line("p", "./vssd run\n")
    stat = Line("p", "./vssd stat\n")
    typed = Line("p", "nvme list\n")
    found, taken = works([[run, other], [stat], [typed]])
    assert [(w.start, w.steps) for w in found] == [
        (run.text, [(False, stat.text), (True, typed.text)]), (other.text, [])]
    assert taken == {run, other, stat, typed}
    assert works([[typed]]) == ([], set())
    for words in ("--exec 'nvme list'", "--print-command"):
        once = Line("p", f"./vssd run {words}\n")
        assert [w.start for w in works([[once]])[0]] == [""]


def test_what_is_typed_names_drives_by_serial() -> None:
    """With several controllers the numbers follow from the order in which
    Linux's probes end."""
    typed = [text for work in WORKS
             if re.search(r"--(drive|controllers)\b", work.start)
             for in_guest, text in work.steps if in_guest]
    assert len(typed) > 10
    assert [text for text in typed
            if re.search(r"/dev/n(vme|g)\d+n|nvme-subsys\d", text)] == []


def test_pictures_of_the_course() -> None:
    """Each picture that a command makes is on its page, and is there."""
    pages = [p for p in PAGES if p.parent.name == "course"]
    assert any("![" in page.read_text() for page in pages)
    for page in pages:
        made = re.findall(r" -o /tmp/(\S+\.svg)", page.read_text())
        shown = re.findall(r"!\[[^\]]+\]\((\S+)\)", page.read_text())
        assert made == shown
        for name in shown:
            assert "<svg" in (page.parent / name).read_text()


def test_lines_as_a_shell_takes_them() -> None:
    """Loops, documents, quotes and what needs a variable are not divided."""
    kept = ["a \\\n b\n", "for i in 1; do\nx\ndone\n", "c <<E\nit's\nE\n",
            "d 'e\nf' |\ng\n", "v=1\nh $v\n"]
    assert list(lines("# a comment\n".join(kept))) == kept


def options_of(words: tuple[str, ...], name: str) -> list[str]:
    """The values of an option, but those that only the shell knows."""
    return [b for a, b in zip(words, words[1:])
            if a == name and "$" not in b]


@pytest.mark.parametrize(
    "command", [c for c in ALL if c.words[0] not in ("sim", "heads")],
    ids=str)
def test_its_arguments_exist(command: Command, tmp_path: Path) -> None:
    """Options, profiles, drives and sizes; no file is looked for."""
    words = command.words
    try:
        parser().parse_args(list(words))
    except SystemExit as e:
        assert e.code in (0, None), command
    profiles = {p for p in options_of(words, "--profile")
                if not p.endswith(".ini")}
    sets = {find_profile(p): options_of(words, "--set")
            for p in profiles or {DEFAULT_PROFILE}}
    for text in options_of(words, "--drive"):
        if "," not in text or any(f in text for f in drives.FILES):
            continue
        found = drives.parse(text)
        sets[found.profile] = found.sets
    for text in options_of(words, "--mem"):
        mebibytes(text)
    for profile, values in sets.items():
        if values:
            given = [w for v in values for w in ("--set", v)]
            done = subprocess.run(
                [model.sim(), "info", "--profile", profile, *given],
                capture_output=True, text=True, check=False, cwd=tmp_path)
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the pages name."""
    path = tmp_path_factory.mktemp("pages")
    make_files(path)
    return path


@pytest.mark.parametrize("line", [x for x in LINES if in_scripts(x)], ids=str)
def test_it_runs(line: Line, folder: Path) -> None:
    """As it is printed, but for the place of files in /tmp."""
    text = line.text.replace("/tmp/", f"{folder}/")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-ec", text], capture_output=True,
        check=False, cwd=folder, timeout=900, stdin=subprocess.DEVNULL,
        env=os.environ | {"HOME": str(folder), "VSSD_CACHE": str(cache_dir())})
    assert done.returncode == 0, done.stderr[-500:]
