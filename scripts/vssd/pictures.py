# SPDX-License-Identifier: GPL-2.0-or-later
"""matplotlib for pictures in files: without a display, and with the
same bytes for the same data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .paths import cache_dir

# Nothing about the time or the program: SVG would name them.
NO_ORIGIN = {"Date": None, "Creator": None, "Format": None, "Type": None}


def pyplot() -> Any:
    """matplotlib.pyplot; its caller has had venv.extra("figures")."""
    os.environ.setdefault("MPLCONFIGDIR", str(cache_dir() / "matplotlib"))
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "vssd"
    import matplotlib.pyplot as plt

    return plt


def save(fig: Any, path: Path) -> None:
    """As a file of the kind that the name's end says; the figure is closed."""
    meta = NO_ORIGIN if path.suffix == ".svg" else {}
    fig.savefig(path, dpi=120, metadata=meta)
    pyplot().close(fig)
