# SPDX-License-Identifier: GPL-2.0-or-later
"""The first bytes of the files that vssd writes: core/signature.h has them."""

from __future__ import annotations

from pathlib import Path

from .errors import UserError


def refuse_early(path: Path, head: bytes) -> None:
    """Of a version before 1.0 no file is read."""
    if head.startswith(b"VSSD"):
        raise UserError(f"{path}: it is of a version of vssd before 1.0: make"
                        " it again")
