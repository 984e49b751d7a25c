# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that take long or look at what is rare (docs/testing.md lists them).

LONG: ./vssd test --long runs them, the short form does not.  of_part(): the short
form runs them, too, unless they have passed with the same files (kept_passes.py).
"""

from __future__ import annotations

import os

import pytest

IS_LONG = "VSSD_LONG" in os.environ
LONG = pytest.mark.skipif(not IS_LONG, reason="runs with --long only")
# Parts of several tests: what starts a guest, the device as it sees it, and what the
# builds consist of.
START = ("vssd", "scripts/*", "scripts/vssd/*.py", "scripts/vssd/build/",
         "scripts/vssd/guest/", "scripts/vssd/cli/run.py", "guest-tools/", "hw-ssd/qemu/")
DEVICE = (*START, "hw-ssd/", "profiles/")
MESON = ("meson.build", "meson_options.txt", "*/meson.build", "*/*/meson.build")


def of_part(*files: str) -> pytest.MarkDecorator:
    """A test of the part that these files are: folders that end in "/", and
    patterns of pathlib, from the top of the sources.  The test's own file, and
    those in its folder without tests, are of the part, too."""
    return pytest.mark.part(*files)
