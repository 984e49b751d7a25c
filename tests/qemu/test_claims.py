# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements of the pages that deny a property of the device: the rows of
tests/claims.toml with `property` match none of the device's."""

from __future__ import annotations

import re

from page_claims import table

from machine import Machine


def test_no_such_property() -> None:
    """Correct the page, and then the table, when a property has come."""
    denied = [claim.property for claim in table()[0] if claim.property]
    with Machine() as m:
        assert m.qmp
        told = m.qmp.cmd("device-list-properties", typename="vssd")
    names = [row["name"] for row in told]
    assert "drive" in names and denied
    assert [(p, n) for p in denied for n in names if re.match(p, n)] == []
