# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands in the code of the pages, as a shell would take them.

Knows no pages by name; page_places.py says what is done with each.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CODE = re.compile(r"^( *)```(?P<kind>\w*)\n(?P<fenced>.*?)^\1```$"
                  r"|(?:\A|(?<=\n\n))(?P<indented>(?:(?: {4,}|\t)[^\n]*\n)+)",
                  re.M | re.S)
SHELLS = ("sh", "bash", "console")
# A step of a CI job, of GitHub or GitLab, that is a command.
STEP = re.compile(r"^ *- (?:run: )?((?:vssd|python3) .*\n)", re.M)
# An indented block that begins with one of these is a shell's; others are
# formulas and output.
PROGRAMS = re.compile(r"\s*(?:export |\w+=\S+ )*(?:\./|~/)?(?:vssd|tests|apt|cc|"
                      r"cd|cloud-hypervisor|dpkg|fio|FOLDER|gcc|git|make|meson|"
                      r"ninja|nix|nvme|pip|podman|printf|python3?|restorecon|"
                      r"rpmbuild|semanage|sh|sudo|virsh)\b")
HERE = re.compile(r"<<-?\s*'?(\w+)'?[^\n]*\n.*?^\s*\1\n", re.S | re.M)
HERE_BEGINS = re.compile(r"<<-?\s*'?\w")
ASSIGNS = re.compile(r"\w+=(?:\"[^\"]*\"|\$\(.*\)|\S*)(?: +\w+=\S+)*\s*(?:#.*)?\n")
ENDS = set("();|&\n")
OURS = ("./vssd", "~/vssd/vssd", "vssd")


@dataclass(frozen=True)
class Command:
    """One command: `words` after "vssd"."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: ./vssd {' '.join(self.words)}"


@dataclass(frozen=True)
class Line:
    """One command line, as printed; it may be several lines long."""

    page: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.flat}"

    @property
    def flat(self) -> str:
        """On one line."""
        return " ".join(self.text.replace("\\\n", " ").split())

    @property
    def commands(self) -> tuple[Command, ...]:
        """Those of vssd."""
        return tuple(Command(self.page, words) for words in words_of(self.text))


def blocks(text: str) -> Iterator[str]:
    """Code of a page that a shell takes."""
    for m in CODE.finditer(text):
        if m["indented"] and PROGRAMS.match(m["indented"]):
            yield m["indented"]
        elif m["kind"] in SHELLS:
            yield m["fenced"]
        elif m["kind"] == "yaml":
            yield "".join(STEP.findall(m["fenced"]))


def whole(text: str) -> bool:
    """Is this a command line, not the beginning of one?"""
    here = HERE.sub("\n", text)
    if text.endswith(("\\\n", "|\n", "&&\n")) or HERE_BEGINS.search(here):
        return False
    if len(re.findall(r"\bdo\b", here)) != len(re.findall(r"\bdone\b", here)):
        return False
    try:
        shlex.split(here.replace("\\\n", " "), comments=True)
    except ValueError:  # within quotes
        return False
    return True


def lines(block: str) -> Iterator[str]:
    """Command lines of a block.  What follows a variable needs it, and is one
    with it."""
    held = ""
    for line in block.splitlines(keepends=True):
        held += line
        if whole(held) and not ASSIGNS.match(held):
            if shlex.split(HERE.sub("\n", held), comments=True):
                yield held
            held = ""
    if held:
        yield held


def words_of(line: str) -> Iterator[tuple[str, ...]]:
    """The words after `vssd` of each command of a line."""
    text = HERE.sub("\n", line).replace("\\\n", " ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace_split = True
    lexer.whitespace = " \t"
    found: list[str] | None = None
    skip = False  # the file of a redirection
    for word in [*lexer, ";"]:
        if set(word) <= ENDS:
            if found is not None:
                yield tuple(found)
            found = None
        elif found is None:
            if word in OURS or word.endswith(("$(./vssd", "`./vssd")):
                found = []
        elif skip or re.fullmatch(r"\d?[<>]+&?", word):
            skip = not skip
        else:
            found.append(word)


def blocks_of(page: Path, root: Path) -> list[list[Line]]:
    """The command lines of a page, by block."""
    name = str(page.relative_to(root))
    return [[Line(name, line) for line in lines(block)]
            for block in blocks(page.read_text(encoding="utf-8"))]
