# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements of the pages that deny a feature of vssd: the table of them
(claims.toml), and the patterns that find one that is not in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vssd import tomlfile
from vssd.paths import PROJECT

TABLE = Path(__file__).with_name("claims.toml")
CODE = re.compile(r"^( *)```.*?^\1```$"
                  r"|(?:\A|(?<=\n\n))(?:(?: {4}|\t)[^\n]*\n)+", re.M | re.S)
# A paragraph, a row of a table, an item of a list.
PARTS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|] ?|\d+\. ))")
ENDS = re.compile(r"(?<=[.;:])\s+(?=[A-Z`\[(])")
OURS = (r"(?:\bvssd(?:-sim|-server)?`?|\blibvssd"
        r"|\b[Tt]he (?:drive|controller|device|model|library|simulator|server|flake)"
        r"|\b[Mm]aps? \([^)]*\)|\bVFs)")
DENIES = [re.compile(p) for p in (
    r"(?i:\b(?:not|un)[ -]?(?:supported|modelled|implemented|available)\b)",
    r"(?i:\bno support\b)",
    r"\b[Nn]o [A-Z]\w",  # of a standard or a part: no Copy
    rf"{OURS}(?: [^ .]+){{0,2}} (?:has|have|knows?|takes?|offers?) no\b",
    rf"{OURS} (?:does|do|can|is|are) ?not\b",
)]
# What another program has, and vssd has not.
NONE = re.compile(r"^\| [^|]* \| none \| ")
COMPARES = "docs/coming-from.md"
# Within a section of limits each of these words denies.
LIMITS = re.compile(r"^(?:#+ )?(?:Limits\b|Simplifications).*", re.M)
HEADING = re.compile(r"^#+ ", re.M)
SMALL = re.compile(r"\b(?:no|not|none|nor|only|cannot|never|without|refused|needs)\b", re.I)
# Pages of measured results: they tell of runs and of other programs.
RESULTS = re.compile(r"docs/(?:results|lab/(?:figures?[-.]|suites|validation)|course/)")


@dataclass(frozen=True)
class Claim:
    """A row of the table; its names are explained there."""

    page: str
    words: str
    sim: str = ""
    nvme: str = ""
    property: str = ""
    refused: str = ""
    file: str = ""
    has: str = ""
    lacks: str = ""

    def __str__(self) -> str:
        return f"{self.page}: {self.words[:60]}"


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def table() -> tuple[list[Claim], list[Claim]]:
    """The claims, and what looks like one."""
    rows = tomlfile.load(TABLE, "tests/claims.toml")
    return ([Claim(**row) for row in rows["claim"]],
            [Claim(page, words) for page, all_words in rows["other"].items()
             for words in all_words])


def text_of(page: str) -> str:
    """On one line."""
    return flat((PROJECT / page).read_text(encoding="utf-8"))


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Sentences, rows and items; whether a section of limits has it."""
    limits = False
    for part in PARTS.split(CODE.sub("\n", text)):
        if HEADING.match(part) or LIMITS.match(part):
            limits = bool(LIMITS.match(part))
        line = flat(part)
        whole = limits or line.startswith("|")
        for sentence in [line] if whole else ENDS.split(line):
            yield sentence, limits


def denials(page: str, text: str) -> list[str]:
    """The parts of a page that deny something."""
    if RESULTS.match(page):
        return []
    return [part for part, limits in parts(text)
            if any(p.search(part) for p in DENIES)
            or page == COMPARES and NONE.match(part)
            or limits and part.startswith(("- ", "* ")) and SMALL.search(part)]
