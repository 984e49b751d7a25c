# SPDX-License-Identifier: GPL-2.0-or-later
"""Defaults and ranges of the drive's options, from the table that the program
prints."""

from __future__ import annotations

import functools
import re

from ..paths import PROJECT

OPTIONS = PROJECT / "docs/options.md"  # a row: option, default, range


@functools.cache
def _row(place: str) -> tuple[str, str] | None:
    if not OPTIONS.is_file():
        return None
    name = re.escape(place.removeprefix("options."))
    m = re.search(rf"^\| `{name}` \| ([^|]+?) \| ([^|]+?) \|",
                  OPTIONS.read_text(encoding="utf-8"), re.M)
    return (m[1], m[2]) if m else None


def default_of(place: str) -> str | None:
    """The value of an option, as nand.read or options.nand.read, that a run was
    not given; None of what is no option."""
    row = _row(place)
    return row[0] if row else None


def range_of(place: str) -> str | None:
    """Of an option, as "1..64" or "0ns..10ms"; None of what is no option."""
    row = _row(place)
    return row[1] if row else None
