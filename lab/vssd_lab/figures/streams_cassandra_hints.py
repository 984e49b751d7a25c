# SPDX-License-Identifier: GPL-2.0-or-later
"""streams_cassandra.py by the write hints of a stock Linux 5.10, instead of the
paper's interface on our kernel.  All of it is shown, nothing counted."""

from __future__ import annotations

from collections.abc import Iterator

from vssd.guest.store import HINT

from . import streams_cassandra
from .figure import Context, Panel

TITLE = streams_cassandra.TITLE + ", by stock write hints"


def panels(ctx: Context) -> Iterator[Panel]:
    """The same runs."""
    yield from streams_cassandra.panels(ctx, HINT)
