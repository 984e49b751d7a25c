# SPDX-License-Identifier: GPL-2.0-or-later
"""The defaults of the drive's options, from the table that the program prints."""

from __future__ import annotations

import functools
import re

from ..paths import PROJECT

OPTIONS = PROJECT / "docs/options.md"  # a row has an option and its default


@functools.cache
def default_of(place: str) -> str | None:
    """The value of an option, as nand.read or options.nand.read, that a run was
    not given; None of what is no option."""
    if not OPTIONS.is_file():
        return None
    name = re.escape(place.removeprefix("options."))
    m = re.search(rf"^\| `{name}` \| ([^|]+?) \|",
                  OPTIONS.read_text(encoding="utf-8"), re.M)
    return m[1] if m else None
