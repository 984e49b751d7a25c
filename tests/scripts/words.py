# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that docs/glossary.md replaced, in documents and in comments."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

# Pattern, and the word to use.
WORDS = {
    r"cleaning|cleaned|cleans": "GC, collects",
    r"silent|silence": "idle, masked",
    r"doubts?": "(say which state is unknown)",
    r"books|book-?keeping": "tables, counters, lists",
    r"flying": "in flight",
    r"lands?|landed": "is placed, is written",
    r"lies?|lying": "is, is in",
    r"mates?": "(name the other block)",
    r"neighbours?": "adjacent",
    r"stripe of blocks": "superblock",
    r"anew": "again; rewrite, refresh",
    r"gives? up|given up|giving up|gave up": "evicts, fails",
    r"not used for (?:the )?longest|for (?:the )?longest time":
        "least recently used",
    r"(?:of|on) its own accord": "by itself",
    r"does away with": "removes",
    r"strangers?|doors?|kicks?|debts?|owes?": "(use the term of the glossary)",
    r"believe[sd]?": "checks, uses",
    r"remember(?:s|ed)?": "keeps, records",
}

# Words of names in C, as parts of an identifier, with the word to use.  QEMU's
# and virtio's own term for a doorbell is a kick.
NAMES = {
    "mate": "joined, joinable, in_group",
    "mates": "joined, joinable",
    "kick": "pump, wake",
    "guest": "foreign",
    "guests": "foreign",
}
NAMED = ("core/", "nand/", "ftl/", "sim/", "lib/")  # hw-ssd/ serves guests

C_TOKEN = re.compile(r'''/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'''
                     r"|'(?:\\.|[^'\\\n])*'", re.S)
CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|\w+(?:\(\)|[-_.]\w+)+")


def c_comments(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment of a C source."""
    for m in C_TOKEN.finditer(text):
        if m[0].startswith("/"):
            yield text.count("\n", 0, m.start()) + 1, m[0]


def python_comments(text: str) -> Iterator[tuple[int, str]]:
    """The same of a Python source, docstrings included."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
                token.type == tokenize.STRING
                and token.string.startswith('"""')):
            yield token.start[0], token.string.strip('"')


def found_in(prose: str, words: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Each word of the list: the word, the one to use, and its line."""
    for pattern, instead in words.items():
        for m in re.finditer(rf"\b(?:{pattern})\b", prose, re.I):
            end = prose.find("\n", m.end())
            line = prose[prose.rfind("\n", 0, m.start()) + 1:
                         end if end >= 0 else len(prose)]
            yield m[0], instead, line.strip()[:80]


def in_comments(name: str, text: str) -> list[str]:
    """Words of the list in the comments of a source, but for code in them."""
    comments = python_comments if name.endswith(".py") else c_comments
    return [f"{name}:{at}: {word!r} -> {instead}: {line}"
            for at, comment in comments(text)
            for word, instead, line in found_in(CODE.sub("x", comment), WORDS)]


def in_names(name: str, text: str) -> Iterator[str]:
    """Identifiers of a C source with a word of NAMES."""
    if not name.startswith(NAMED) or not name.endswith((".c", ".h")):
        return
    code = C_TOKEN.sub(" ", text)
    for identifier in sorted(set(re.findall(r"[A-Za-z_]\w+", code))):
        for part in identifier.lower().split("_"):
            if part in NAMES:
                yield f"{name}: {identifier} -> {NAMES[part]}"
