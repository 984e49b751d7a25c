# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripted faults of commands and controllers, by QOM properties of the device."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from qemu.qmp import ExecuteError

from machine import LIMIT_S, Machine, drive_args
from nvme_host import CSTS, NvmeHost
from test_power import ALL_ONES, PATH, host_of, put

KIB = 1 << 10


def rules(machine: Machine) -> list[dict[str, Any]]:
    """The drive's rules."""
    found: list[dict[str, Any]] = machine.cmd("qom-get", path=PATH,
                                              property="faults")
    return found


def test_add_list_remove(image: Path) -> None:
    """A rule counts, acts and goes; what is none is refused in one line."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.write(0, b"here" * KIB)
        put(machine, "fault-add", "temperature 90")
        put(machine, "fault-add", "cmd=read lba=8..15 -> status 2/81 once")
        end = time.monotonic() + LIMIT_S  # a thread of QEMU lets the first act
        while not rules(machine)[0]["fired"]:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert rules(machine) == [
            {"id": 1, "rule": "temperature 90", "matched": 1, "fired": 1,
             "lasts": True},
            {"id": 2, "rule": "cmd=read lba=8..15 -> status 2/81 once",
             "matched": 0, "fired": 0, "lasts": False}]
        assert host.read(0, 4096) == b"here" * KIB
        put(machine, "fault-remove", 1)
        assert [r["id"] for r in rules(machine)] == [2]
        with pytest.raises(ExecuteError, match="fault 1: there is no such"):
            put(machine, "fault-remove", 1)
        with pytest.raises(ExecuteError, match=r"sqid=99: allowed 0\.\.16"):
            put(machine, "fault-add", "cmd=read sqid=99 -> drop")


def test_file(image: Path, tmp_path: Path) -> None:
    """Rules of both kinds in the file of faults=; a wrong one is refused with its
    line."""
    file = tmp_path / "rules"
    file.write_text("on=erase nth=100000 -> fail once\n"
                    "cmd=admin:any nth=100000 -> drop\n")
    with Machine(*drive_args("tiny", image, options=f"faults={file}")) as m:
        assert [r["rule"] for r in rules(m)] == [
            "cmd=admin:any nth=100000 -> drop"]
        host_of(m).read(0, 4096)
    file.write_text("\ncmd=admin:any -> pord\n")
    with pytest.raises(Exception, match=f"{file}:2: pord: no such action"), \
            Machine(*drive_args("tiny", image, options=f"faults={file}")):
        pass


def test_fatal_status(image: Path) -> None:
    """CFS, until the controller is reset."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        put(machine, "fault-add", "ctrl -> cfs")
        host.wait_csts(2)  # the drive's thread acts on it
        host = host_of(machine)
        assert not host.reg_read(CSTS) & 2
        host.read(0, 4096)


@pytest.mark.parametrize("what", ["surprise-remove", "link-down"])
def test_gone(image: Path, what: str) -> None:
    """All ones, and back as after a reset; flushed data is there."""
    with Machine(*drive_args("tiny", image)) as machine:
        host: NvmeHost = host_of(machine)
        host.write(0, b"kept" * KIB)
        host.flush()
        assert machine.qtest
        put(machine, "fault-add", f"ctrl -> {what} for 30ms")
        end = time.monotonic() + LIMIT_S  # a thread of QEMU sees to it
        while host.reg_read(CSTS) != ALL_ONES:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert host.pci.read(0) == ALL_ONES
        for _ in range(8):
            machine.qtest.clock_step(50_000_000)
        assert host.pci.read(0) & 0xFFFF == 0x1234
        host = host_of(machine)
        assert host.read(0, 4096) == b"kept" * KIB
