# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that take long or look at what is rare: ./vssd test --long runs them, the
short form does not (docs/testing.md lists them)."""

from __future__ import annotations

import os

import pytest

IS_LONG = "VSSD_LONG" in os.environ
LONG = pytest.mark.skipif(not IS_LONG, reason="runs with --long only")
