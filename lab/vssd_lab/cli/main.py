# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command with the laboratory: the product's commands and its own."""

from __future__ import annotations

import argparse

from vssd.cli import main as product

from . import bench, figures, fuzz, model, test, validate

*_FIRST, _LAST = product.GROUPS.items()
# As those of the product, of which the last group stays the last.
GROUPS: product.Groups = {
    **dict(_FIRST),
    "the laboratory": (figures, validate, model, bench, test, fuzz),
    **dict([_LAST]),
}


def parser() -> argparse.ArgumentParser:
    """All options of all commands."""
    return product.parser(GROUPS)


def main(argv: list[str]) -> int:
    """Run one command; its exit status."""
    return product.main(argv, GROUPS, "vssd_lab")
