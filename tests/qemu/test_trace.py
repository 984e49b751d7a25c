# SPDX-License-Identifier: GPL-2.0-or-later
"""trace=FILE: what the guest does to the drive, whole when QEMU ends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from machine import PROJECT, Machine, drive_args, start_and_fail
from test_power import host_of, put, wait_for

KIB = 1 << 10


def checked(trace: Path) -> dict[str, Any]:
    """What vssd-sim replay --check says of a trace that it finds to be true."""
    done = subprocess.run(
        [str(PROJECT / "vssd"), "sim", "replay", str(trace), "--check",
         "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["checked"] is True
    return found


def test_power_cuts_and_resets(image: Path, tmp_path: Path) -> None:
    """Played again, each command ends when it did; at a reset the file is
    whole up to there."""
    image.write_bytes(b"old" * KIB + bytes(image.stat().st_size - 3 * KIB))
    trace = tmp_path / "guest.trace"
    with Machine(*drive_args("tiny", image, trace=str(trace),
                             power_return_ms="50")) as machine:
        host = host_of(machine)
        for i in range(40):
            host.write(8 * i, bytes([i + 1]) * 4 * KIB)
            assert host.read(8 * i, 4096)[:1] == bytes([i + 1])
        put(machine, "power-cut", "running")
        wait_for(machine, True)
        host = host_of(machine)
        host.read(0, 4096)
        host.write(16, b"new" * KIB + bytes(KIB))
        host.flush()
        before = trace.stat().st_size
        machine.cmd("system_reset")
        assert trace.stat().st_size > before
        host_of(machine).read(16, 4096)
        assert machine.quit() == 0
    found = checked(trace)
    assert found["requests"] >= 84
    assert found["power_cuts"] == 1
    assert found["latency_ns"]["write"]["count"] == 41


def test_cannot_be_written(image: Path, tmp_path: Path) -> None:
    """One line that names the file."""
    text = start_and_fail(*drive_args("tiny", image,
                                      trace=str(tmp_path / "no" / "file")))
    assert "no/file" in text and "No such file" in text
