# SPDX-License-Identifier: GPL-2.0-or-later
"""Several controllers of one drive: vssd-ctrl (docs/subsystem.md)."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from pathlib import Path

import pytest
from qemu.qmp import ExecuteError

from machine import LIMIT_S, Machine, drive_args, start_and_fail
from nvme_host import BUFFER, CC, CSTS, NvmeHost
from test_migration import migrate

STRIDE = 0x1000000  # of what a controller has in guest memory
SECOND = ("-device", "vssd-ctrl,id=c1,subsys=ssd,addr=5")
REGISTER, ACQUIRE, REPORT = 0x0D, 0x11, 0x0E
OP_WRITE, OP_READ = 1, 2
CONFLICT = 0x83
NSSR, NSSR_MAGIC = 0x20, 0x4E564D65
PATH = "/machine/peripheral/ssd"


def pattern(seed: int, nbytes: int) -> bytes:
    """Bytes that differ in each block."""
    return b"".join(struct.pack("<QQ", seed, i) * 32
                    for i in range(nbytes // 512))


def host_of(machine: Machine, n: int = 0, slot: int = 0, bus: int = 0
            ) -> NvmeHost:
    """The driver of controller n, enabled."""
    assert machine.qtest
    host = NvmeHost(machine.qtest, slot or 4 + n, bus, at=n * STRIDE)
    host.enable()
    return host


def pair(machine: Machine) -> tuple[NvmeHost, NvmeHost]:
    """The drivers of both controllers."""
    return host_of(machine), host_of(machine, 1)


def cntlid(host: NvmeHost) -> int:
    """Of Identify Controller."""
    return struct.unpack_from("<H", host.identify(1), 78)[0]


def controllers(host: NvmeHost) -> list[int]:
    """Identify Controller List, CNS 13h."""
    words = struct.unpack("<2048H", host.identify(0x13))
    return list(words[1:1 + words[0]])


def two(image: Path, **device: str) -> list[str]:
    """Arguments of a drive with two controllers."""
    return [*drive_args("tiny", image, controllers="2", **device), *SECOND]


# ---- one drive ----------------------------------------------------------------

def test_both_work_on_the_same_namespace(image: Path) -> None:
    with Machine(*two(image)) as machine:
        first, second = pair(machine)
        first.write(0, pattern(1, 8192))
        assert second.read(0, 8192) == pattern(1, 8192)
        second.write(8, pattern(2, 4096))
        assert first.read(8, 4096) == pattern(2, 4096)
        ids = sorted((cntlid(first), cntlid(second)))
        assert ids[0] != ids[1]
        assert controllers(first) == controllers(second) == ids
        assert first.identify(1)[4:24] == second.identify(1)[4:24]  # serial
        assert first.identify(1)[76] & 2  # CMIC: several controllers
        assert second.identify(0, 1)[30] & 1  # NMIC: shared
        assert first.identify(1)[768:1024] == second.identify(1)[768:1024]
        assert machine.quit() == 0


def test_identifiers_that_collide(image: Path) -> None:
    """Where another controller has the identifier of the slot, the next one;
    one that is asked for is given, or refused."""
    with Machine(*two(image)) as machine:
        own = cntlid(pair(machine)[1])
    args = drive_args("tiny", image, controllers="3")
    taken = f"vssd-ctrl,id=c2,subsys=ssd,addr=6,cntlid={own}"
    with Machine(*args, "-device", taken, *SECOND) as machine:
        ids = [cntlid(host_of(machine, n)) for n in range(3)]
        assert ids[2] == own and ids[1] == own + 1
        assert controllers(host_of(machine)) == sorted(ids)
    first = SECOND[1] + f",cntlid={own}"
    error = start_and_fail(*args, "-device", first, "-device", taken)
    assert error.endswith(f"vssd-ctrl: controller {own}: the drive has one of"
                          " that number"), error
    error = start_and_fail(*args, "-device", SECOND[1] + ",cntlid=65520")
    assert error.endswith("vssd-ctrl: cntlid=65520: allowed 0..65519"), error


def test_one_controller_says_that_it_is_alone(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        assert not host.identify(1)[76] & 2
        assert not host.identify(0, 1)[30] & 1
        assert controllers(host) == [cntlid(host)]


def test_reset_of_one_leaves_the_other(image: Path) -> None:
    with Machine(*two(image)) as machine:
        first, second = pair(machine)
        first.write(0, pattern(3, 4096))
        first.reg_write(CC, 0)
        assert not first.reg_read(CSTS) & 1
        assert second.read(0, 4096) == pattern(3, 4096)
        second.pci.write(second.pci.capability(0x10) + 8, 1 << 15)  # FLR
        first.enable()
        assert first.read(0, 4096) == pattern(3, 4096)
        assert not second.reg_read(CSTS) & 1
        second.enable()
        assert second.read(0, 4096) == pattern(3, 4096)


def test_subsystem_reset_resets_both(image: Path) -> None:
    with Machine(*two(image)) as machine:
        first, second = pair(machine)
        second.reg_write(NSSR, NSSR_MAGIC)
        for host in (first, second):
            assert not host.reg_read(CSTS) & 1
            assert host.reg_read(CSTS) & 1 << 4  # NSSRO
        for host in (first, second):
            host.enable()
        second.write(0, pattern(4, 4096))
        assert first.read(0, 4096) == pattern(4, 4096)


def test_power_cut_takes_both(image: Path) -> None:
    with Machine("-machine", "pc", *two(image, power_return_ms="0")
                 ) as machine:
        first, second = pair(machine)
        first.write(0, pattern(5, 4096))
        second.flush()
        machine.cmd("qom-set", path=PATH, property="power-cut",
                    value="running")
        for host in (first, second):
            assert host.pci.read(0) == 0xFFFFFFFF
            assert host.reg_read(CSTS) == 0xFFFFFFFF
        with pytest.raises(ExecuteError, match="the drive has no power"):
            machine.cmd("device_add", driver="vssd-ctrl", id="c2",
                        subsys="ssd")
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        first, second = pair(machine)
        assert second.read(0, 4096) == pattern(5, 4096)
        assert first.read(0, 4096) == pattern(5, 4096)


# ---- reservations ---------------------------------------------------------------

def reserve(host: NvmeHost, opcode: int, cdw10: int, keys: tuple[int, int]
            ) -> int:
    """A reservation command with its two keys; its status."""
    host.qtest.write(BUFFER, struct.pack("<2Q", *keys))
    return host.io.run(opcode, prp1=BUFFER, cdw=(cdw10,)).status & 0x7FF


def set_host(host: NvmeHost, identifier: int) -> None:
    """Set Features, Host Identifier of 64 bits."""
    host.qtest.write(BUFFER, struct.pack("<Q", identifier))
    host.check(host.admin.run(9, nsid=0, prp1=BUFFER, cdw=(0x81,)))


def test_reservation_of_one_host_keeps_the_other_out(image: Path) -> None:
    with Machine(*two(image)) as machine:
        first, second = pair(machine)
        set_host(first, 0x11)
        set_host(second, 0x22)
        assert reserve(first, REGISTER, 0, (0, 0xAA)) == 0
        assert reserve(second, REGISTER, 0, (0, 0xBB)) == 0
        assert reserve(first, ACQUIRE, 1 << 8, (0xAA, 0)) == 0
        first.write(0, pattern(6, 512))
        done = second.io.run(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
        assert done.status & 0x7FF == CONFLICT
        assert second.read(0, 512) == pattern(6, 512)
        second.check(second.io.run(REPORT, prp1=BUFFER, cdw=(31, 0)))
        data = second.qtest.read(BUFFER, 128)
        assert data[4] == 1  # Write Exclusive
        assert struct.unpack_from("<H", data, 5)[0] == 2  # registrants
        places = {struct.unpack_from("<HB", data, 24 + 24 * i)
                  for i in range(2)}
        assert places == {(cntlid(first), 1), (cntlid(second), 0)}


# ---- coming and going -----------------------------------------------------------

def deleted(machine: Machine, name: str) -> None:
    """Wait for DEVICE_DELETED."""
    assert machine.qmp
    end = time.monotonic() + LIMIT_S
    while True:
        event = machine.qmp.pull_event(wait=LIMIT_S)
        assert event and time.monotonic() < end
        if event["event"] == "DEVICE_DELETED" and \
                event["data"].get("device") == name:
            return


def eject(machine: Machine, slot: int) -> None:
    """The guest's consent to an unplug: ACPI's eject register."""
    assert machine.qtest
    machine.qtest.outl(0xAE08, 1 << slot)


def unplug(machine: Machine, name: str, slot: int) -> None:
    """device_del, and the guest's consent."""
    machine.cmd("device_del", id=name)
    eject(machine, slot)
    deleted(machine, name)


def test_hot_plug_and_unplug_under_io(image: Path) -> None:
    with Machine("-machine", "pc",
                 *drive_args("tiny", image, controllers="2")) as machine:
        first = host_of(machine)
        first.write(0, pattern(7, 4096))
        alone = controllers(first)
        for turn in range(3):
            machine.cmd("device_add", driver="vssd-ctrl", id="c1",
                        subsys="ssd", addr="5")
            second = host_of(machine, 1)
            assert len(controllers(first)) == 2
            assert second.read(0, 4096) == pattern(7, 4096)
            for host in (first, second):
                for lba in range(16):
                    host.io.push(OP_WRITE, prp1=BUFFER, cdw=(64 + lba, 0, 0))
                host.io.ring()
            unplug(machine, "c1", 5)
            first.io.wait_count(16)
            assert controllers(first) == alone
            first.write(8, pattern(turn, 4096))
            assert first.read(8, 4096) == pattern(turn, 4096)
        stats = machine.cmd("qom-get", path=PATH, property="stats")
        assert isinstance(stats, dict) and stats["host_bytes_written"]
        assert machine.quit() == 0


def test_device_del_of_a_drive_with_others_is_refused(image: Path) -> None:
    with Machine("-machine", "pc", *two(image)) as machine:
        with pytest.raises(ExecuteError,
                           match="further controller, 'c1': unplug it first"):
            machine.cmd("device_del", id="ssd")
        unplug(machine, "c1", 5)
        unplug(machine, "ssd", 4)
        assert machine.quit() == 0


def test_guest_that_removes_the_drive_removes_its_controllers(
        image: Path) -> None:
    with Machine("-machine", "pc", *two(image)) as machine:
        first, second = pair(machine)
        for lba in range(16):
            second.io.push(OP_READ, prp1=BUFFER, cdw=(lba, 0, 0))
        second.io.ring()
        eject(machine, 4)
        deleted(machine, "ssd")
        assert second.pci.read(0) == 0xFFFFFFFF
        assert second.reg_read(CSTS) == 0xFFFFFFFF
        second.reg_write(CC, 0)
        assert first.pci.read(0) == 0xFFFFFFFF
        machine.cmd("system_reset")
        unplug(machine, "c1", 5)
        # The node is free again.
        machine.cmd("blockdev-del", **{"node-name": "d0"})
        assert machine.quit() == 0


# ---- saving ---------------------------------------------------------------------

def moved(host: NvmeHost, machine: Machine) -> NvmeHost:
    """The same driver, in a machine that went on elsewhere or before."""
    assert machine.qtest
    to = NvmeHost(machine.qtest, at=host.at)
    for ours, theirs in ((to.admin, host.admin), (to.io, host.io)):
        ours.tail, ours.head = theirs.tail, theirs.head
        ours.phase, ours.cid = theirs.phase, theirs.cid
    return to


def begin(hosts: tuple[NvmeHost, NvmeHost]) -> None:
    """Data of both, and commands of both in flight."""
    for n, host in enumerate(hosts):
        host.write(8 * n, pattern(20 + n, 4096))
    for n, host in enumerate(hosts):
        host.qtest.write(BUFFER, pattern(30, 4096))
        for i in range(8):
            host.io.push(OP_WRITE, prp1=BUFFER,
                         cdw=(64 * (n + 1) + 8 * i, 0, 7))
        host.io.ring()


def finish(hosts: tuple[NvmeHost, NvmeHost]) -> None:
    """What was begun ends; each finds what the other has written."""
    for host in hosts:
        host.io.wait_count(8)
    for n, host in enumerate(hosts):
        other = 1 - n
        assert host.read(8 * other, 4096) == pattern(20 + other, 4096)
        assert host.read(64 * (other + 1), 4096) == pattern(30, 4096)
    ids = sorted(cntlid(host) for host in hosts)
    assert controllers(hosts[0]) == ids


def monitor(machine: Machine, line: str) -> str:
    """A command for people; what it answers."""
    return str(machine.cmd("human-monitor-command", **{"command-line": line}))


def test_snapshot(tmp_path: Path) -> None:
    disk = tmp_path / "disk.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    disk, "8M"], check=True)
    node = f"driver=qcow2,file.driver=file,file.filename={disk}"
    with Machine(*drive_args("tiny", node, controllers="2"), *SECOND
                 ) as machine:
        hosts = pair(machine)
        begin(hosts)
        assert monitor(machine, "savevm here") == ""
        saved = moved(hosts[0], machine), moved(hosts[1], machine)
        finish(hosts)
        for _ in range(2):
            assert monitor(machine, "loadvm here") == ""
            machine.cmd("cont")
            finish((moved(saved[0], machine), moved(saved[1], machine)))
        assert machine.quit() == 0
    with Machine("-loadvm", "here", *drive_args("tiny", node, controllers="2"),
                 *SECOND) as machine:
        finish((moved(saved[0], machine), moved(saved[1], machine)))
        assert machine.quit() == 0


def test_migration(image: Path, tmp_path: Path) -> None:
    args = two(image)
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        hosts = pair(source)
        begin(hosts)
        migrate(source, target)
        assert source.quit() == 0
        finish((moved(hosts[0], target), moved(hosts[1], target)))
        assert target.quit() == 0


@pytest.mark.parametrize("there, message", [
    ([], "it was saved with further_controllers="),
    (["-device", "vssd-ctrl,id=c1,subsys=ssd,addr=6"],
     "this drive has further_controllers="),
    ([*SECOND, "-device", "vssd-ctrl,id=c2,subsys=ssd,addr=6"],
     "this drive has further_controllers="),
])
def test_migration_to_other_controllers(image: Path, tmp_path: Path,
                                        there: list[str], message: str
                                        ) -> None:
    args = drive_args("tiny", image, controllers="3")
    with Machine(*args, *SECOND) as source, \
            Machine(*args, *there, "-incoming", f"unix:{tmp_path}/wire"
                    ) as target:
        pair(source)
        source.cmd("migrate", uri=f"unix:{tmp_path}/wire")
        status, said = target.wait()
        assert status == 1
        lines = [x for x in said.splitlines() if "cannot be loaded" in x]
        assert len(lines) == 1 and message in lines[0]
        host_of(source).write(0, pattern(40, 512))


def test_state_file(image: Path, tmp_path: Path) -> None:
    """The drive of the last run, with its controllers or without."""
    state = str(tmp_path / "drive.state")
    with Machine(*two(image, state=state)) as machine:
        _, second = pair(machine)
        second.write(0, pattern(41, 4096))
        second.flush()
        assert machine.quit() == 0
    for args in (two(image, state=state),
                 drive_args("tiny", image, state=state)):
        with Machine(*args) as machine:
            assert host_of(machine).read(0, 4096) == pattern(41, 4096)
            assert machine.quit() == 0


def test_a_controller_goes_while_the_power_is_off(image: Path) -> None:
    with Machine("-machine", "pc", *two(image, power_return_ms="0")
                 ) as machine:
        first, _ = pair(machine)
        alone = cntlid(first)
        first.write(0, pattern(42, 4096))
        first.flush()
        machine.cmd("qom-set", path=PATH, property="powered", value=False)
        unplug(machine, "c1", 5)
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        first.enable()
        assert controllers(first) == [alone]
        assert first.read(0, 4096) == pattern(42, 4096)
        assert machine.quit() == 0


# ---- what is refused ----------------------------------------------------------

@pytest.mark.parametrize("args, message", [
    (["-device", "vssd-ctrl,id=c1"], "vssd-ctrl: subsys=ID is missing"),
    (["-device", "vssd-ctrl,id=c1,subsys=nobody"], "'nobody' not found"),
    (["-device", "vssd-ctrl,id=c1,subsys=ssd,profile=x.ini"],
     "Property 'vssd-ctrl.profile' not found"),
])
def test_bad_options(image: Path, args: list[str], message: str) -> None:
    error = start_and_fail(*drive_args("tiny", image, controllers="2"), *args)
    assert message in error and "\n" not in error


def test_more_controllers_than_the_drive_may_have(image: Path) -> None:
    error = start_and_fail(*drive_args("tiny", image), *SECOND)
    assert "the drive has controllers=1, and no place is free" in error
    assert "\n" not in error
    error = start_and_fail(*drive_args("tiny", image, controllers="33"))
    assert "controllers=33: allowed 1..32" in error
