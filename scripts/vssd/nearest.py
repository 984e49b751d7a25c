# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of several names a misspelt one may mean.

By the rule of core/nearest.c, which serves vssd-sim and the device.
"""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 64  # of a name; longer ones are never near


def hint(given: str, names: Iterable[str], before: str = "") -> str:
    """"; did you mean NAME?", or "" where none is near; before: what is to
    stand in front of the name."""
    found = nearest(given, names)
    return f"; did you mean {before}{found}?" if found else ""


def nearest(given: str, names: Iterable[str]) -> str:
    """The first of those with the fewest mistakes; "": all have too many."""
    best, least = "", _allowed(len(given)) + 1
    for name in names:
        if max(len(given), len(name)) <= LONGEST:
            found = mistakes(given.lower(), name.lower())
            if found < least:
                best, least = name, found
    return best


def _allowed(length: int) -> int:
    if length < 2 or length > LONGEST:
        return 0
    return 1 if length < 6 else 2 if length < 9 else 3


def mistakes(a: str, b: str) -> int:
    """Characters that are missing, superfluous or wrong, and adjacent ones that
    are exchanged."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (x != y)))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                row[-1] = min(row[-1], before[j - 1] + 1)
        before, last = last, row
    return last[-1]
