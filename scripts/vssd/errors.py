# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that the user sees as one line."""

import re
import unicodedata


class UserError(Exception):
    """The fault and its remedy, in one line; the exit status is 1."""


def printable(text: str, kept: str = "\n\t") -> str:
    """The text without control characters, which a terminal would obey: they
    become \\x1b and the like."""
    return "".join(
        f"\\x{ord(c):02x}" if unicodedata.category(c) == "Cc" and c not in kept
        else c for c in text)


def one_line(text: str) -> str:
    """The text on one line, without colours and control characters: the form
    of an error message."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return printable(" ".join(plain.split()), "")
