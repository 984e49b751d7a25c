# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in comments of the sources: pages, files and members of structs that
are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import words

STRUCT = re.compile(r"\b(?:struct|union)\s+(\w+)\s*\{")
MACRO = re.compile(r"\b[A-Z][A-Z_0-9]{2,}\s*\(")  # it may make members
MEMBER = re.compile(r"\b([A-Z]\w*[a-z]\w*)\.([a-z]\w*)\b(?!\()")
FILE = re.compile(r"(?<![\w.*/-])((?:[\w-]+/)*[\w-]+\.(?:md|[ch]))\b")
# Of QEMU, the C library, Linux and examples.
FOREIGN = {"AbstractHistogram", "DeviceState", "PCIDeviceClass",
           "config-host.h", "trace-hw_ssd.c", "raid5.c", "mine.c", "a.c",
           "trace/events/block.h"}


def body(text: str, at: int) -> str:
    """Of the braces that open before `at`."""
    depth = 1
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if not depth:
            return text[at:end]
    return text[at:]


def structs(sources: Mapping[str, str]) -> dict[str, set[str] | None]:
    """The words in the body of each struct; None: a macro makes members."""
    found: dict[str, set[str] | None] = {}
    for name, text in sources.items():
        if not name.endswith((".c", ".h")):
            continue
        code = words.C_TOKEN.sub(" ", text)
        for m in STRUCT.finditer(code):
            inside = body(code, m.end())
            known = found.setdefault(m[1], set())
            if MACRO.search(inside) or known is None:
                found[m[1]] = None
            else:
                known.update(re.findall(r"\w+", inside))
    return found


def comments(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Those of a C or Python source."""
    return (words.python_comments if name.endswith(".py")
            else words.c_comments)(text)


def gone_members(name: str, text: str,
                 known: Mapping[str, set[str] | None]) -> list[str]:
    """`Struct.member` in the comments of a C source without such a member."""
    if name.endswith(".py"):
        return []
    return [f"{name}:{at}: {m[0]}" for at, comment in comments(name, text)
            for m in MEMBER.finditer(comment) if m[1] not in FOREIGN
            and m[2] not in (known[m[1]] or {m[2]} if m[1] in known else ())]


def gone_files(name: str, text: str, tracked: set[str]) -> list[str]:
    """Pages and C files in comments that the project does not have: pages by
    path, others by name, unless their folder is not the project's."""
    bad = []
    for at, comment in comments(name, text):
        for m in FILE.finditer(comment):
            first, *rest = m[1].split("/")
            if "NAME" in m[1] or m[1] in FOREIGN or rest and first not in tracked:
                continue
            if (m[1] if first == "docs" else m[1].split("/")[-1]) not in tracked:
                bad.append(f"{name}:{at}: {m[1]}")
    return bad
