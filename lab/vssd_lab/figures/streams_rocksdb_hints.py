# SPDX-License-Identifier: GPL-2.0-or-later
"""streams_rocksdb.py by the write hints of a stock Linux 5.10, instead of the
paper's interface on our kernel.  All of it is shown, nothing counted."""

from __future__ import annotations

from collections.abc import Iterator

from vssd.guest.store import HINT

from . import streams_rocksdb
from .figure import Context, Panel

TITLE = streams_rocksdb.TITLE + ", by stock write hints"


def panels(ctx: Context) -> Iterator[Panel]:
    """The same runs."""
    yield from streams_rocksdb.panels(ctx, HINT)
