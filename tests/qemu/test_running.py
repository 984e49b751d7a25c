# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of the device that change while the machine runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from qemu.qmp import ExecuteError

from machine import Machine, drive_args
from test_power import PATH, host_of, put
from test_state import stats

KIB = 1 << 10


def test_options_change(image: Path) -> None:
    """Those that may, at once; others are refused in one line."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)

        def value() -> str:
            found = machine.cmd("qom-get", path=PATH, property="running-options")
            assert "nand.dies" not in found
            return str(found["host.firmware"]["value"])

        before = value()
        host.write(0, b"fast" * KIB)
        assert stats(machine)["latency_ns"]["write"]["max"] < 123_000
        put(machine, "set-option", "host.firmware=123us")
        assert before != value() == "123us"
        for text, error in (("nand.dies=3", "nand.dies: does not change while"),
                            ("host.firmware=1h", "host.firmware=1h: allowed"),
                            ("host.firmware", "host.firmware: not KEY=VALUE"),
                            ("x=1", "x: no such option")):
            with pytest.raises(ExecuteError, match=error):
                put(machine, "set-option", text)
        assert value() == "123us"
        host.write(0, b"slow" * KIB)
        assert stats(machine)["latency_ns"]["write"]["max"] > 123_000
        assert host.read(0, 4 * KIB) == b"slow" * KIB
