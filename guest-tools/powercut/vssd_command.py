# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command for the pytest plugins."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from typing import Any

import pytest


def find(given: str = "") -> list[str]:
    """Its words: those that are given, else $VSSD, else vssd of PATH."""
    words = shlex.split(given or os.environ.get("VSSD", "") or "vssd")
    if not words or not shutil.which(words[0]):
        raise pytest.UsageError(
            f"vssd: there is no command {words[0] if words else given!r}: set VSSD")
    return words


def options(given: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as options: check_seconds=9 is --check-seconds 9, fsck=False
    is --no-fsck, a list repeats its option."""
    words = []
    for name, value in given.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{option}")
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words += [f"--{option}", str(one)]
    return words
