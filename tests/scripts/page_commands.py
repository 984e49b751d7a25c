# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of vssd in the code of the pages, as a shell would take them.

Knows no pages by name; test_page_commands.py says what is done with each.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
INDENTED = re.compile(r"(?:\A|(?<=\n\n))(?:(?: {4,}|\t).*\n)+", re.M)
HERE = re.compile(r"<<-?\s*'?(\w+)'?[^\n]*\n.*?\n\s*\1\n", re.S)
SHELLS = ("", "sh", "bash", "console")
ENDS = {"|", "||", "&", "&&", ";", "(", ")", ";;"}
OURS = re.compile(r"(?:^|[\s(;&|])(?:\./|~/vssd/)?vssd\s")


@dataclass(frozen=True)
class Command:
    """One command: `words` after "vssd"."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: ./vssd {' '.join(self.words)}"


def blocks(text: str) -> Iterator[str]:
    """Code that a shell takes."""
    for m in FENCE.finditer(text):
        if m[2] in SHELLS:
            yield m[3]
    for m in INDENTED.finditer(FENCE.sub("\n", text)):
        yield m[0]


def lines(block: str) -> Iterator[str]:
    """Whole lines: a backslash or an open quote joins the next one."""
    held = ""
    for line in HERE.sub("\n", block).replace("\\\n", " ").splitlines():
        held += line + "\n"
        try:
            shlex.split(held, comments=True)
        except ValueError:  # within quotes
            continue
        yield held
        held = ""


def words_of(line: str) -> Iterator[tuple[str, ...]]:
    """The words after `vssd` of each command of a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: list[str] | None = None
    skip = False  # the file of a redirection
    for word in [*lexer, ";"]:
        if word in ENDS:
            if found is not None:
                yield tuple(found)
            found = None
        elif found is None:
            if word in ("./vssd", "~/vssd/vssd", "vssd"):
                found = []
        elif skip or re.fullmatch(r"\d?[<>]+&?", word):
            skip = not skip
        else:
            found.append(word)


def commands(page: Path, root: Path) -> Iterator[Command]:
    """Those of a page."""
    for block in blocks(page.read_text(encoding="utf-8")):
        for line in lines(block):
            if OURS.search(line):
                for words in words_of(line):
                    yield Command(str(page.relative_to(root)), words)
