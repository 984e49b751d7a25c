# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/results*.md, and the members of a result that they
describe."""

import functools
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
SECTION = re.compile(r"<!-- statistics: (\w+) -->\n(.*?)<!-- end -->", re.S)
STEP = re.compile(r"(<\w+>|\[\w+\])")


@functools.cache
def tables() -> dict[str, list[list[str]]]:
    """By section of the pages: the cells of the rows of its tables."""
    text = "".join((DOCS / f"{name}.md").read_text()
                   for name in ("results", "results-drive"))
    return {name: [line.strip("| ").split(" | ") for line in part.splitlines()
                   if line.startswith("| `")]
            for name, part in SECTION.findall(text)}


@functools.cache
def sets() -> dict[str, list[str]]:
    """The names that `<set>` stands for."""
    found = {cells[0].strip("`<>"): re.findall(r"`(\w+)`",
                                              cells[1].split(":")[0])
             for cells in tables()["sets"] if cells[0].startswith("`<")}
    found["histogram"] = [cells[0].strip("`").split(".")[1]
                          for cells in tables()["histogram"]]
    return found


def pattern(path: str) -> re.Pattern[str]:
    """Of the paths() of JSON that a path of the pages describes."""
    def step(text: str) -> str:
        name = text[1:-1]
        if text.startswith("<"):
            return f"(?:{'|'.join(sets()[name])})"
        return rf"\[{name}\]" if name.isdigit() else r"\[\d+\]"

    return re.compile("".join(step(p) if STEP.fullmatch(p) else re.escape(p)
                              for p in STEP.split(path)))


def paths(value: object, path: str = "") -> set[str]:
    """Those of all numbers, texts and nulls."""
    if isinstance(value, dict):
        return {p for k, v in value.items()
                for p in paths(v, f"{path}.{k}" if path else k)}
    if isinstance(value, list):
        return {p for i, v in enumerate(value)
                for p in paths(v, f"{path}[{i}]")}
    return {path}


def differences(shown: set[str], *sections: str) -> tuple[list[str], list[str]]:
    """Members without a row in the sections, and rows without a member."""
    rows = [cells[0].strip("`") for name in sections
            for cells in tables()[name]]
    every = re.compile("|".join(f"(?:{pattern(r).pattern})" for r in rows))
    return (sorted(p for p in shown if not every.fullmatch(p)),
            [r for r in rows if not any(map(pattern(r).fullmatch, shown))])
