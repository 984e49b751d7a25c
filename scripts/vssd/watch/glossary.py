# SPDX-License-Identifier: GPL-2.0-or-later
"""What docs/glossary.md says of a term, as plain text."""

from __future__ import annotations

import re

from ..paths import PROJECT

PAGE = PROJECT / "docs/glossary.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.M)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def plain(text: str) -> str:
    """Markdown of the glossary without its marks."""
    return re.sub(r"[*`]", "", LINK.sub(r"\1", text)).strip()


def terms() -> dict[str, str]:
    """The meaning of each term, in lower case; a row names one or several."""
    out: dict[str, str] = {}
    for names, meaning in ROW.findall(PAGE.read_text(encoding="utf-8")):
        for name in plain(names).split(","):
            out.setdefault(name.strip().lower(), plain(meaning))
    out.pop("term", None)
    return {name: text for name, text in out.items() if not name.startswith("---")}
