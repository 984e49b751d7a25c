# SPDX-License-Identifier: GPL-2.0-or-later
"""A row of results: the measurement and its reference."""

from __future__ import annotations

from typing import Any


def row(name: str, ours: float, peer: float | None, unit: str, note: str = "",
        ratio: float | None = None) -> dict[str, Any]:
    """One line of results."""
    if ratio is None and peer:
        ratio = ours / peer
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio,
            "unit": unit, "note": note}
