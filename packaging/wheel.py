# SPDX-License-Identifier: GPL-2.0-or-later
"""The package of the wheel: the sources of vssd, as in a checkout, and the
program `vssd`, which starts the command among them."""

import os
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent


def main() -> int:
    """The command; PYTHONPATH is for the Python environment that it enters."""
    paths = [str(SOURCES / "scripts"), str(SOURCES / "lab")]
    old = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = ":".join([*paths, *([old] if old else [])])
    sys.path[:0] = paths
    from vssd_lab.cli.main import main as command

    return command(sys.argv[1:])
