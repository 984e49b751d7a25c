# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive loses its power under a running machine, and gets it back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from machine import LIMIT_S, Machine, drive_args
from nvme_host import CSTS, NvmeHost, PciFunction

KIB = 1 << 10
PATH = "/machine/peripheral/ssd"
ALL_ONES = 0xFFFFFFFF
PRESENT = 0x40  # of Slot Status


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def put(machine: Machine, name: str, value: object) -> None:
    """qom-set of the drive."""
    machine.cmd("qom-set", path=PATH, property=name, value=value)


def powered(machine: Machine) -> bool:
    """Has the drive power?"""
    return bool(machine.cmd("qom-get", path=PATH, property="powered"))


def wait_for(machine: Machine, on: bool, step_ns: int = 10_000_000) -> None:
    """Let virtual time pass until the drive has power, or has not."""
    assert machine.qtest
    end = time.monotonic() + LIMIT_S
    while powered(machine) != on:
        assert time.monotonic() < end
        machine.qtest.clock_step(step_ns)


def write_two(host: NvmeHost) -> tuple[bytes, bytes]:
    """One unit that is flushed, one that is not."""
    kept, lost = b"kept" * KIB, b"lost" * KIB
    host.write(0, kept)
    host.flush()
    host.write(8, lost)
    return kept, lost


def check_two(host: NvmeHost, kept: bytes) -> None:
    """After the cut the flushed unit is there, the other is not."""
    assert host.read(0, 4096) == kept
    assert host.read(8, 4096) == bytes(4096)


def test_running(image: Path) -> None:
    """It answers all ones, and comes back as after a reset of the function."""
    with Machine(*drive_args("tiny", image, power_return_ms="50")) as machine:
        host = host_of(machine)
        kept, _ = write_two(host)
        put(machine, "power-cut", "running")
        assert not powered(machine)
        assert host.reg_read(CSTS) == ALL_ONES
        assert host.pci.read(0) == ALL_ONES
        host.pci.write(0x10, 0)  # nobody is there to take it
        host.reg_write(CSTS, 1)
        machine.qtest.clock_step(40_000_000)
        assert not powered(machine)
        machine.qtest.clock_step(20_000_000)
        assert powered(machine)
        assert host.pci.read(0) & 0xFFFF == 0x1234
        assert host.pci.read(0x10) & ~0xF == 0
        host = host_of(machine)
        check_two(host, kept)
        assert host.pci.capability(0x11)  # the function is whole again
        assert machine.quit() == 0


def test_stays_off(image: Path) -> None:
    """Without power_return_ms, or with powered=false, until it is told."""
    with Machine(*drive_args("tiny", image, power_return_ms="0")) as machine:
        kept, _ = write_two(host_of(machine))
        put(machine, "power-cut", "running")
        machine.qtest.clock_step(60_000_000_000)
        assert not powered(machine)
        put(machine, "powered", True)
        check_two(host_of(machine), kept)
        put(machine, "powered", False)
        put(machine, "powered", False)
        assert not powered(machine)
        put(machine, "powered", True)
        put(machine, "powered", True)
        check_two(host_of(machine), kept)
        assert machine.quit() == 0
    with Machine(*drive_args("tiny", image, power_return_ms="5")) as machine:
        put(machine, "powered", False)
        machine.qtest.clock_step(60_000_000_000)
        assert not powered(machine)
        assert machine.quit() == 0


@pytest.mark.parametrize("how", ["property", "system_reset"])
def test_reset(image: Path, how: str) -> None:
    """A reset of the machine switches the drive on."""
    with Machine(*drive_args("tiny", image, power_return_ms="0")) as machine:
        kept, _ = write_two(host_of(machine))
        if how == "property":
            put(machine, "power-cut", "reset")
        else:
            put(machine, "power-cut", "running")
            machine.cmd("system_reset")
        end = time.monotonic() + LIMIT_S
        while not powered(machine):
            assert time.monotonic() < end
        check_two(host_of(machine), kept)
        assert machine.quit() == 0


def test_stop(image: Path) -> None:
    """The machine ends; the image holds what was durable."""
    with Machine(*drive_args("tiny", image)) as machine:
        kept, _ = write_two(host_of(machine))
        put(machine, "power-cut", "stop")
        assert machine.wait()[0] == 0
    content = image.read_bytes()
    assert content[:4096] == kept
    assert content[4096:8192] == bytes(4096)


def test_protected(image: Path) -> None:
    """buffer.plp: what has completed is there, and in the image even when the
    process is killed."""
    with Machine(*drive_args("tiny", image,
                             options="buffer.plp=on")) as machine:
        kept, more = write_two(host_of(machine))
        put(machine, "power-cut", "reset")
        end = time.monotonic() + LIMIT_S
        while not powered(machine):
            assert time.monotonic() < end
        host = host_of(machine)
        assert host.read(0, 4096) == kept
        assert host.read(8, 4096) == more
        host.write(16, b"last" * KIB)
        assert machine.process
        machine.process.kill()
        machine.process.wait()
    assert image.read_bytes()[8192:12288] == b"last" * KIB


def test_rule(image: Path, tmp_path: Path) -> None:
    """A rule cuts the power: the drive comes back by itself, and by a reset."""
    rules = tmp_path / "rules"
    rules.write_text("cmd=4 -> cut power\ncmd=8 -> cut power\n")
    with Machine(*drive_args("tiny", image, options=f"faults={rules}",
                             power_return_ms="30")) as machine:
        host = host_of(machine)
        kept, _ = write_two(host)
        host.io.push(2, prp1=0x1100000, cdw=(0, 0, 0))
        host.io.ring()
        wait_for(machine, False)
        assert host.reg_read(CSTS) == ALL_ONES
        wait_for(machine, True)
        host = host_of(machine)
        check_two(host, kept)
        for _ in range(2):
            host.io.push(2, prp1=0x1100000, cdw=(0, 0, 0))
        host.io.ring()
        wait_for(machine, False, 1000)
        machine.cmd("system_reset")
        wait_for(machine, True, 1000)
        check_two(host_of(machine), kept)
        assert machine.quit() == 0


def test_bad_mode(image: Path) -> None:
    """Refused in one line that says what is allowed."""
    with Machine(*drive_args("tiny", image)) as machine:
        assert machine.qmp
        answer = machine.qmp.cmd_obj({
            "execute": "qom-set",
            "arguments": {"path": PATH, "property": "power-cut",
                          "value": "gently"}})
        assert "running, reset, stop" in answer["error"]["desc"]
        assert powered(machine)
        assert host_of(machine).reg_read(CSTS) == 1


def in_slot(image: Path) -> Machine:
    """A machine with the drive in a slot that does its own hot-plug."""
    return Machine("-global",
                   "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
                   "-device", "pcie-root-port,id=rp,slot=1,addr=5",
                   *[a.replace("addr=4", "bus=rp,power_return_ms=50")
                     for a in drive_args("tiny", image)])


def test_on_before_the_slot_is_off(image: Path) -> None:
    """The guest listens to the slot, and switches it off after the drive is told
    to come back: it is not there at that moment, since QEMU would take it out,
    and comes later.  Switched off again meanwhile, it stays off."""
    with in_slot(image) as machine:
        assert machine.qtest
        port = PciFunction(machine.qtest, 5)
        slot = port.capability(0x10) + 0x18
        listens, off, seen = 0x28, 0x700, 8 << 16  # presence, interrupts
        port.write(slot, listens)
        for stays_off in (False, True):
            put(machine, "powered", False)
            put(machine, "powered", True)
            machine.qtest.clock_step(1_000_000_000)
            assert not powered(machine)
            port.write(slot, listens | off | seen)
            assert not port.read(slot) >> 16 & PRESENT
            if stays_off:
                put(machine, "powered", False)
            machine.qtest.clock_step(300_000_000)
            assert bool(port.read(slot) >> 16 & PRESENT) is not stays_off
            if not stays_off:
                port.write(slot, listens | seen)  # the slot is on
                assert powered(machine)
        assert not powered(machine)
        assert machine.cmd("qom-get", path=PATH, property="type") == "vssd"
        assert machine.quit() == 0


def test_slot(image: Path) -> None:
    """A hot-plug slot reports that its drive has gone and is back; so does a
    reset that brings it back; and the drive may be taken out meanwhile."""
    with in_slot(image) as machine:
        assert machine.qtest
        port = PciFunction(machine.qtest, 5)
        status = port.capability(0x10) + 0x18

        def presence() -> tuple[bool, bool]:
            value = port.read(status) >> 16
            return bool(value & PRESENT), bool(value & 8)  # it, its change

        assert presence()[0]
        put(machine, "power-cut", "running")
        assert presence() == (False, True)
        port.write(status, 8 << 16)  # seen
        assert presence() == (False, False)
        machine.qtest.clock_step(60_000_000)
        assert powered(machine)
        assert presence() == (True, True)
        put(machine, "powered", False)
        machine.cmd("system_reset")
        wait_for(machine, True, 1000)
        assert presence()[0]
        put(machine, "powered", False)
        assert machine.quit() == 0
