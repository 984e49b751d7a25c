# SPDX-License-Identifier: GPL-2.0-or-later
"""oplog=FILE: the device writes the operation log, whose checker agrees."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from machine import LIMIT_S, Machine, drive_args, start_and_fail
from nvme_host import NvmeHost

UNIT = 4096
LBAS = UNIT // 512
PATH = "/machine/peripheral/ssd"


def judge(log: Path) -> subprocess.CompletedProcess[str]:
    """The independent checker's word on a log."""
    return subprocess.run([os.environ["VSSD_OPLOG_CHECK"], str(log)],
                          capture_output=True, text=True, check=False)


def commands(log: Path) -> int:
    """Commands that the log has seen end; all its rules hold."""
    done = judge(log)
    assert done.returncode == 0, done.stdout + done.stderr
    m = re.search(r"(\d+) commands;.*every rule holds", done.stdout)
    assert m, done.stdout
    return int(m[1])


def work(host: NvmeHost, rounds: int) -> int:
    """Writes over and over, reads and flushes; how many commands."""
    for i in range(rounds):
        for unit in range(40):
            host.write(unit * LBAS, bytes([i + 1]) * UNIT)
        assert host.read(7 * LBAS, UNIT) == bytes([i + 1]) * UNIT
        host.flush()
    return rounds * 42


def test_whole_life(image: Path, tmp_path: Path) -> None:
    """From the image's data on the drive to the end of QEMU."""
    image.write_bytes(b"data" * (2 << 18))
    log = tmp_path / "log"
    with Machine(*drive_args("tiny", image, oplog=str(log))) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        assert host.read(0, UNIT) == b"data" * 1024
        n = 1 + work(host, 4)
        assert machine.quit() == 0
    assert commands(log) == n


def test_power_cut(image: Path, tmp_path: Path) -> None:
    """A cut, and what follows, are in the log, too."""
    log = tmp_path / "log"
    with Machine(*drive_args("tiny", image, oplog=str(log),
                             power_return_ms="50")) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        n = work(host, 2)
        host.write(0, b"lost" * 1024)
        machine.cmd("qom-set", path=PATH, property="power-cut",
                    value="running")
        machine.qtest.clock_step(60_000_000)
        host = NvmeHost(machine.qtest)
        host.enable()
        assert host.read(0, UNIT) == bytes([2]) * UNIT
        n += 2 + work(host, 1)
        assert machine.quit() == 0
    assert commands(log) == n
    assert "1 power cuts" in judge(log).stdout


def test_changed_log(image: Path, tmp_path: Path) -> None:
    """One record less, and the checker says so."""
    log = tmp_path / "log"
    with Machine(*drive_args("tiny", image, oplog=str(log))) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        work(host, 1)
        assert machine.quit() == 0
    whole = log.read_bytes()
    log.write_bytes(whole[:-32])
    assert judge(log).returncode == 1


def test_unplugged(image: Path, tmp_path: Path) -> None:
    """A drive that leaves the machine ends its log."""
    log = tmp_path / "log"
    with Machine("-machine", "pc", *drive_args("tiny", image,
                                               oplog=str(log))) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        n = work(host, 1)
        assert judge(log).returncode != 0  # it has not ended
        machine.cmd("device_del", id="ssd")
        machine.cmd("system_reset")  # without a guest this lets it go
        end = time.monotonic() + LIMIT_S
        while "'ssd'" in str(machine.cmd("qom-list",
                                         path="/machine/peripheral")):
            assert time.monotonic() < end
        assert commands(log) == n
        assert machine.quit() == 0
    assert commands(log) == n


def test_cannot_be_written(image: Path) -> None:
    text = start_and_fail(*drive_args("tiny", image, oplog="/nowhere/log"))
    assert len(text.splitlines()) == 1
    assert "oplog" in text and "/nowhere/log" in text and "No such" in text
