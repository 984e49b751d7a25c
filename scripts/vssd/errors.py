# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that the user sees as one line."""

import re


class UserError(Exception):
    """The fault and its remedy, in one line; the exit status is 1."""


def one_line(text: str) -> str:
    """The text on one line and without colours: the form of an error message."""
    return " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split())
