# SPDX-License-Identifier: GPL-2.0-or-later
"""state=FILE: the drive of one run goes on in the next."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from machine import PROFILES, Machine, drive_args, pid, start_and_fail
from nvme_host import NvmeHost

KIB = 1 << 10
PATH = "/machine/peripheral/ssd"


def stats(machine: Machine) -> dict:
    """The drive's statistics."""
    found = machine.cmd("qom-get", path=PATH, property="stats")
    assert isinstance(found, dict)
    return found


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


@pytest.mark.parametrize("shutdown", [True, False])
def test_goes_on(image: Path, tmp_path: Path, shutdown: bool) -> None:
    """Data, map, wear and counters are those of the run before."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as machine:
        host = host_of(machine)
        for i in range(64):
            host.write(i * 8, bytes([i]) * 4 * KIB)
        host.flush()
        assert machine.qtest
        machine.qtest.clock_step(5_000_000_000)
        if shutdown:
            host.shutdown()
        before = stats(machine)
        assert machine.quit() == 0
    assert state.stat().st_size > 0
    with Machine(*args) as machine:
        assert machine.qtest
        after = stats(machine)
        assert after["gc"]["mapped_units"] == before["gc"]["mapped_units"]
        assert after["nand"]["programs"] == before["nand"]["programs"]
        host = host_of(machine)
        began_ns = machine.qtest.clock_step(1)
        for i in range(64):
            assert host.read(i * 8, 4 * KIB) == bytes([i]) * 4 * KIB
        # The drive's clock goes on: no command waits for the time before.
        assert machine.qtest.clock_step(1) - began_ns < 1_000_000_000
        host.write(0, b"new!" * KIB)
        host.flush()
        assert host.read(0, 4 * KIB) == b"new!" * KIB
        assert machine.quit() == 0


def test_power_cut(image: Path, tmp_path: Path) -> None:
    """Switching the machine off is a power cut for what was not flushed."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, b"kept" * KIB)
        host.flush()
        host.write(8, b"lost" * KIB)
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        assert host.read(0, 4 * KIB) == b"kept" * KIB
        assert host.read(8, 4 * KIB) == bytes(4 * KIB)


def test_kept(image: Path, tmp_path: Path) -> None:
    """Saved features and blocks of Write Uncorrectable; without them the file
    has the drive alone, which vssd-sim accepts."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, b"data" * 2 * KIB)
        host.flush()
        assert machine.quit() == 0
    assert b"vssdKEPT" not in state.read_bytes()
    with Machine(*args) as machine:
        host = host_of(machine)
        host.check(host.admin.run(9, nsid=0, cdw=(1 << 31 | 8, 0x0203)))
        host.check(host.io.run(4, cdw=(8, 0, 7)))
        host.flush()
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        assert host.admin.run(10, nsid=0, cdw=(8,)).result == 0x0203
        assert host.read(0, 4 * KIB) == b"data" * KIB
        done = host.io.run(2, prp1=0x1100000, cdw=(15, 0, 0))
        assert done.status & 0x7FF == 0x281
        host.write(8, b"new!" * KIB)
        assert host.read(8, 4 * KIB) == b"new!" * KIB
        assert machine.quit() == 0


def test_image_changed(image: Path, tmp_path: Path) -> None:
    """Data that somebody wrote to the image meanwhile is not lost."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, b"mine" * KIB)
        host.flush()
        assert machine.quit() == 0
    with image.open("r+b") as f:
        f.seek(1 << 20)
        f.write(b"else" * 16 * KIB)
    with Machine(*args) as machine:
        host = host_of(machine)
        assert host.read(0, 4 * KIB) == b"mine" * KIB
        assert host.read(2048, 4 * KIB) == b"else" * KIB
        assert stats(machine)["gc"]["mapped_units"] >= 17
        host.write(2048, b"mine" * KIB)
        host.flush()
        assert host.read(2048, 8 * KIB) == b"mine" * KIB + b"else" * KIB


def test_refused(image: Path, tmp_path: Path) -> None:
    """What is no state of this drive is refused in one line."""
    state = tmp_path / "drive.state"
    state.write_bytes(b"nonsense" * 100)
    message = start_and_fail(*drive_args("tiny", image, state=str(state)))
    assert "no saved drive" in message and str(state) in message
    os.unlink(state)
    with Machine(*drive_args("tiny", image, state=str(state))) as machine:
        assert machine.quit() == 0
    message = start_and_fail(*drive_args("tiny", image, state=str(state),
                                         options="nand.pages=32"))
    assert "nand.pages" in message


@pytest.mark.parametrize("unplug", [False, True])
def test_cannot_be_written(image: Path, tmp_path: Path, unplug: bool) -> None:
    """QEMU's status is a failure's, and one line has the file and the reason."""
    folder = tmp_path / "states"
    folder.mkdir()
    state = folder / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine("-machine", "pc" if unplug else "q35", *args) as machine:
        shutil.rmtree(folder)
        if unplug:
            machine.cmd("device_del", id="ssd")
            machine.qtest.outl(0xAE08, 1 << 4)  # the guest lets the slot go
            while any("ssd" in str(x) for x in machine.cmd(
                    "qom-list", path="/machine/peripheral")):
                pass
        machine.cmd("quit")
        status, text = machine.wait()
    assert status == 1, text
    lines = [x for x in text.splitlines() if "state file" in x]
    assert len(lines) == 1 and str(state) in lines[0], text
    assert "No such file or directory" in lines[0]


@pytest.mark.parametrize("name", ["state", "oplog", "trace", "timeline",
                                  "durable_log"])
def test_belongs_to_one_drive(image: Path, tmp_path: Path, name: str) -> None:
    """A second QEMU is refused whatever it calls the file, and while the first
    is stopped; afterwards the file is free, also when the first was killed."""
    path = tmp_path / "file"
    lock = tmp_path / "file.vssd-lock"
    copy = tmp_path / "copy.img"
    shutil.copyfile(image, copy)
    args = drive_args("tiny", image, **{name: str(path)})
    with Machine(*args) as machine:
        machine.cmd("stop")
        for other in (name, "state", "trace"):
            said = start_and_fail(*drive_args("tiny", copy,
                                              **{other: str(path)}))
            assert said.endswith(f"{path}: in use by another drive (process"
                                 f" {pid(machine)})"), said
            assert f"{other}={path}: " in said or other not in (
                "state", "durable_log")
        assert machine.process
        machine.process.kill()
        machine.process.wait()
        assert lock.exists()
    assert path.exists() == (name != "state")
    with Machine(*args) as machine:
        assert machine.quit() == 0
    assert path.exists() and not lock.exists()


def test_two_drives_of_one_machine(image: Path, tmp_path: Path) -> None:
    """The same within a process; a drive that is unplugged lets go."""
    state = tmp_path / "drive.state"
    copy = tmp_path / "copy.img"
    shutil.copyfile(image, copy)
    with Machine("-machine", "pc", *drive_args("tiny", image, state=str(state))
                 ) as machine:
        machine.cmd("blockdev-add", **{
            "driver": "raw", "node-name": "second",
            "file": {"driver": "file", "filename": str(copy)}})
        assert machine.qmp and machine.qtest
        second = {"execute": "device_add", "arguments": {
            "driver": "vssd", "drive": "second", "id": "second",
            "profile": str(PROFILES / "tiny.ini"), "state": str(state)}}
        said = machine.qmp.cmd_obj(second)["error"]["desc"]
        assert said == (f"vssd: state={state}: in use by another drive (process"
                        f" {pid(machine)})")
        machine.cmd("device_del", id="ssd")
        machine.qtest.outl(0xAE08, 1 << 4)  # the guest lets the slot go
        while "'ssd'" in str(machine.cmd("qom-list",
                                         path="/machine/peripheral")):
            pass
        assert "return" in machine.qmp.cmd_obj(second)
        assert machine.quit() == 0


@pytest.mark.parametrize("name", ["oplog", "trace", "timeline", "durable_log"])
def test_full_disk(image: Path, name: str) -> None:
    """The same for each file of a run that has no room."""
    with Machine(*drive_args("tiny", image, **{name: "/dev/full"})) as machine:
        machine.cmd("quit")
        status, text = machine.wait()
    assert status == 1, text
    assert "/dev/full: No space left on device" in text
