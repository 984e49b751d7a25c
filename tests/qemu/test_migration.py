# SPDX-License-Identifier: GPL-2.0-or-later
"""savevm, loadvm and live migration of a drive that has work to do."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest

from machine import LIMIT_S, PROFILES, Machine, drive_args, pid
from nvme_host import BUFFER, DOORBELLS, ENTRIES, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost

KIB = 1 << 10
MIB = 1 << 20
PATH = "/machine/peripheral/ssd"
ASYNC_EVENT = 0x0C


def block(seed: int) -> bytes:
    """4 KiB that tell which they are."""
    return struct.pack("<II", seed, ~seed & 0xFFFFFFFF) * 512


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def moved(host: NvmeHost, machine: Machine) -> NvmeHost:
    """The same driver, in a machine that went on elsewhere or before."""
    assert machine.qtest
    to = NvmeHost(machine.qtest)
    for ours, theirs in ((to.admin, host.admin), (to.io, host.io)):
        ours.tail, ours.head = theirs.tail, theirs.head
        ours.phase, ours.cid = theirs.phase, theirs.cid
    return to


def stats(machine: Machine) -> dict:
    """The drive's statistics."""
    found = machine.cmd("qom-get", path=PATH, property="stats")
    assert isinstance(found, dict)
    return found


def monitor(machine: Machine, line: str) -> str:
    """A command for people; what it answers."""
    return str(machine.cmd("human-monitor-command", **{"command-line": line}))


def wait_for(machine: Machine, command: str, *states: str) -> str:
    """The status that a command reports, once it is one of these."""
    end = time.monotonic() + LIMIT_S
    while True:
        found = machine.cmd(command)
        assert isinstance(found, dict)
        if found.get("status") in states:
            return str(found["status"])
        assert time.monotonic() < end, found
        time.sleep(0.05)


def busy(host: NvmeHost) -> dict[int, int]:
    """A drive with data in its buffer, commands in flight, and one that waits
    for an event; what each block holds."""
    content = {}
    for i in range(24):
        host.write(8 * i, block(i))
        content[8 * i] = i
    host.flush()
    for i in range(8):  # only the buffer has it
        host.write(8 * i, block(100 + i))
        content[8 * i] = 100 + i
    host.admin.push(ASYNC_EVENT, nsid=0)
    host.admin.ring()
    for i in range(6):
        host.qtest.write(BUFFER + 4096 * i, block(200 + i))
        host.io.push(OP_WRITE, prp1=BUFFER + 4096 * i,
                     cdw=(8 * (30 + i), 0, 7))
        content[8 * (30 + i)] = 200 + i
    for i in range(6):
        host.io.push(OP_READ, prp1=BUFFER + 4096 * (8 + i), cdw=(8 * i, 0, 7))
    host.io.push(OP_FLUSH)
    host.io.ring()
    return content


def finish(host: NvmeHost, content: dict[int, int]) -> None:
    """What was begun ends; everything is there; and the drive still works."""
    for _ in range(13):
        NvmeHost.check(host.io.wait(100_000))
    for i in range(6):
        assert host.qtest.read(BUFFER + 4096 * (8 + i), 4096) == block(100 + i)
    for lba, seed in content.items():
        assert host.read(lba, 4 * KIB) == block(seed)
    host.reg_write(DOORBELLS + 8, ENTRIES + 7)  # an event: no such tail
    done = NvmeHost.check(host.admin.wait(100_000))
    assert done.result == 0x10100
    for i in range(3 * ENTRIES):
        host.write(8 * (40 + i), block(300 + i))
        assert host.read(8 * (40 + i), 4 * KIB) == block(300 + i)
    host.shutdown()


def qcow2(path: Path) -> str:
    """A new image that can hold snapshots; its node."""
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    path, str(8 * MIB)], check=True)
    return f"driver=qcow2,file.driver=file,file.filename={path}"


# ---- savevm, loadvm -----------------------------------------------------------

@pytest.mark.parametrize("paused", [False, True])
def test_snapshot(tmp_path: Path, paused: bool) -> None:
    """The drive goes on where it was saved, as often as that is wanted."""
    node = qcow2(tmp_path / "disk.qcow2")
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        content = busy(host)
        saved = moved(host, machine)
        if paused:
            machine.cmd("stop")
        assert monitor(machine, "savevm here") == ""
        if paused:
            machine.cmd("cont")
        before = stats(machine)
        finish(host, content)
        for _ in range(2):
            assert monitor(machine, "loadvm here") == ""
            assert wait_for(machine, "query-status", "running", "paused")
            if paused:
                machine.cmd("cont")
            again = stats(machine)
            for key in ("nand", "gc", "buffer"):
                assert again[key] == before[key]
            finish(moved(saved, machine), content)
        assert machine.quit() == 0


def test_snapshot_with_a_slow_image(tmp_path: Path) -> None:
    """Block I/O that has begun is waited for, whatever limits its rate."""
    qcow2(tmp_path / "disk.qcow2")
    args = ["-object", "throttle-group,id=slow,x-iops-total=1000",
            "-blockdev", "driver=throttle,throttle-group=slow,file.driver=file,"
            f"file.filename={tmp_path}/disk.qcow2,node-name=slow0",
            *drive_args("tiny", "driver=qcow2,file=slow0")]
    with Machine(*args) as machine:
        host = host_of(machine)
        content = busy(host)
        machine.cmd("qom-set", path="/objects/slow", property="limits",
                    value={"iops-total": 10})
        for i in range(8):
            host.io.push(OP_READ, prp1=BUFFER + 4096 * (20 + i),
                         cdw=(8 * (8 + i), 0, 7))
        host.io.ring()
        machine.cmd("stop")
        assert monitor(machine, "savevm here") == ""
        machine.cmd("qom-set", path="/objects/slow", property="limits",
                    value={"iops-total": 0})
        machine.cmd("cont")
        saved = moved(host, machine)
        for _ in range(2):
            for _ in range(8):
                NvmeHost.check(host.io.wait(100_000))
            finish(host, content)
            assert monitor(machine, "loadvm here") == ""
            machine.cmd("cont")
            host = moved(saved, machine)
        assert machine.quit() == 0


def test_snapshot_of_a_new_process(tmp_path: Path) -> None:
    """QEMU begins with -loadvm."""
    node = qcow2(tmp_path / "disk.qcow2")
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        content = busy(host)
        assert monitor(machine, "savevm here") == ""
        finish(moved(host, machine), content)
        assert machine.quit() == 0
    with Machine(*drive_args("tiny", node), "-loadvm", "here") as machine:
        finish(moved(host, machine), content)
        assert machine.quit() == 0


def test_snapshot_in_virtual_time(tmp_path: Path) -> None:
    """With -icount; firmware is the guest, and reads from the drive."""
    node = qcow2(tmp_path / "disk.qcow2")
    args = drive_args("tiny", node, bootindex="0")
    with Machine("-icount", "shift=3,sleep=off", *args, qtest=False) as machine:
        end = time.monotonic() + LIMIT_S
        while stats(machine)["latency_ns"]["read"]["count"] == 0:
            assert time.monotonic() < end
            time.sleep(0.1)
        machine.cmd("stop")
        assert monitor(machine, "savevm here") == ""
        before = stats(machine)
        machine.cmd("cont")
        time.sleep(0.5)
        assert monitor(machine, "loadvm here") == ""
        machine.cmd("stop")
        again = stats(machine)
        for key in ("latency_ns", "lateness_ns", "host_bytes_read"):
            assert again[key] == before[key]
        assert again["lateness_ns"]["max"] == 0
        machine.cmd("cont")
        assert machine.quit() == 0


def test_snapshot_without_power(tmp_path: Path) -> None:
    """A drive without power is saved, too, and can be switched on."""
    node = qcow2(tmp_path / "disk.qcow2")
    args = drive_args("tiny", node, power_return_ms="0")
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, block(1))
        host.flush()
        host.write(8, block(2))
        machine.cmd("qom-set", path=PATH, property="powered", value=False)
        assert monitor(machine, "savevm off") == ""
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        assert monitor(machine, "loadvm off") == ""
        assert machine.cmd("qom-get", path=PATH, property="powered") is False
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        host = host_of(machine)
        assert host.read(0, 4 * KIB) == block(1)
        assert host.read(8, 4 * KIB) == bytes(4 * KIB)
        assert machine.quit() == 0


# ---- live ---------------------------------------------------------------------

def migrate(source: Machine, target: Machine) -> None:
    """Move the guest through a socket, and wait until it runs there."""
    assert target.qmp
    address = target.cmd("query-migrate")
    assert isinstance(address, dict)
    listening = address["socket-address"][0]["path"]
    source.cmd("migrate", uri=f"unix:{listening}")
    assert wait_for(source, "query-migrate", "completed",
                    "failed") == "completed"
    wait_for(target, "query-status", "running")


@pytest.mark.parametrize("iothread", [False, True])
def test_live(image: Path, tmp_path: Path, iothread: bool) -> None:
    """Two QEMUs share the image; the second one goes on, and the first is no
    more than a stopped machine."""
    args = drive_args("tiny", image)
    if iothread:
        args = ["-object", "iothread,id=t"] + drive_args("tiny", image,
                                                         iothread="t")
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        host = host_of(source)
        content = busy(host)
        migrate(source, target)
        before = stats(source)
        again = stats(target)
        for key in ("nand", "gc", "buffer"):
            assert again[key] == before[key]
        assert source.quit() == 0
        finish(moved(host, target), content)
        assert target.quit() == 0
    data = image.read_bytes()
    for lba, seed in content.items():
        assert data[512 * lba:512 * lba + 4096] == block(seed)


def test_state_file_goes_along(image: Path, tmp_path: Path) -> None:
    """With state=FILE the QEMU that has the drive writes the file, no other."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        host = host_of(source)
        content = busy(host)
        migrate(source, target)
        assert source.quit() == 0
        assert not state.exists()
        finish(moved(host, target), content)
        programs = stats(target)["nand"]["programs"]
        assert target.quit() == 0
    assert state.exists()
    with Machine(*args) as machine:
        assert stats(machine)["nand"]["programs"] == programs
        host = host_of(machine)
        for lba, seed in content.items():
            assert host.read(lba, 4 * KIB) == block(seed)


def test_lock_goes_along(image: Path, tmp_path: Path) -> None:
    """The lock of state=FILE is the source's until the drive has gone, and then
    the target's; a source that moved to nobody takes it back."""
    state = tmp_path / "drive.state"
    lock = tmp_path / "drive.state.vssd-lock"
    args = drive_args("tiny", image, state=str(state))
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        assert int(lock.read_text()) == pid(source)
        migrate(source, target)
        assert int(lock.read_text()) == pid(target)
        assert source.quit() == 0
        assert int(lock.read_text()) == pid(target)
        target.cmd("migrate", uri="exec:cat >/dev/null")
        assert wait_for(target, "query-migrate", "completed",
                        "failed") == "completed"
        assert not lock.exists()
        target.cmd("cont")
        assert int(lock.read_text()) == pid(target)
        assert target.quit() == 0
    assert state.exists() and not lock.exists()


@pytest.mark.parametrize("paused", [False, True])
def test_lock_comes_back(image: Path, tmp_path: Path, paused: bool) -> None:
    """The target has taken the drive and then fails at another device."""
    state = tmp_path / "drive.state"
    lock = tmp_path / "drive.state.vssd-lock"
    copy = tmp_path / "copy.img"
    shutil.copyfile(image, copy)
    both = [*drive_args("tiny", image, state=str(state)), "-blockdev",
            "driver=raw,file.driver=file,node-name=d1,file.filename="
            f"{copy}", "-device", f"vssd,drive=d1,addr=5,profile={PROFILES}/"
            "tiny.ini,num_vectors="]
    with Machine(*both[:-1], f"{both[-1]}3") as source, \
            Machine(*both[:-1], f"{both[-1]}4", "-incoming",
                    f"unix:{tmp_path}/wire") as target:
        if paused:
            source.cmd("stop")
        for machine in (source, target):
            machine.cmd("migrate-set-capabilities", capabilities=[
                {"capability": "return-path", "state": True}])
        source.cmd("migrate", uri=f"unix:{tmp_path}/wire")
        assert wait_for(source, "query-migrate", "completed",
                        "failed") == "failed"
        status, said = target.wait()
        assert status == 1 and "num_vectors=3" in said, said
        assert not state.exists()
        end = time.monotonic() + LIMIT_S
        while not lock.exists() or lock.read_text() != f"{pid(source)}\n":
            assert time.monotonic() < end
            time.sleep(0.01)
        assert source.quit() == 0
    assert state.exists() and not lock.exists()


def test_a_target_without_the_lock(image: Path, tmp_path: Path) -> None:
    """A drive that comes while another has its state is refused."""
    state = tmp_path / "drive.state"
    copy = tmp_path / "copy.img"
    shutil.copyfile(image, copy)
    with Machine(*drive_args("tiny", image)) as source:
        source.cmd("migrate", uri=f"exec:cat >{tmp_path}/stream")
        assert wait_for(source, "query-migrate", "completed",
                        "failed") == "completed"
    with Machine(*drive_args("tiny", copy, state=str(state))) as other:
        status, said = incoming((tmp_path / "stream").read_bytes(), image,
                                tmp_path, state=str(state))
        assert status == 1
        assert f"state={state}: in use by another drive (process" in said
        assert other.quit() == 0
    assert state.exists()


def test_a_target_in_vain_saves_nothing(image: Path, tmp_path: Path) -> None:
    """The drive never came."""
    state = tmp_path / "drive.state"
    with Machine(*drive_args("tiny", image, state=str(state)), "-incoming",
                 f"unix:{tmp_path}/wire") as target:
        assert target.quit() == 0
    assert not state.exists()


def test_timeline_stays(image: Path, tmp_path: Path) -> None:
    """It tells of the source's process; the target says that it writes none."""
    timeline = tmp_path / "run.pftrace"
    args = drive_args("tiny", image, timeline=str(timeline))
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        busy(host_of(source))
        migrate(source, target)
        assert source.quit() == 0
        taken = timeline.read_bytes()
        assert len(taken) > 4 * KIB
        target.cmd("quit")
        status, said = target.wait()
        assert status == 0
        assert f"timeline={timeline}: it is not written of a drive that" in said
    assert timeline.read_bytes() == taken


@pytest.mark.parametrize("what", ["oplog", "trace"])
def test_what_must_tell_all(image: Path, tmp_path: Path, what: str) -> None:
    """A log of one process's run is not torn apart."""
    args = drive_args("tiny", image, **{what: str(tmp_path / "log")})
    with Machine(*args) as machine:
        assert machine.qmp
        answer = machine.qmp.cmd_obj({
            "execute": "migrate", "arguments": {"uri": "exec:cat >/dev/null"}})
        assert f"{what}=" in answer["error"]["desc"]
        assert f"{what}=" in monitor(machine, "savevm here")


# ---- streams that cannot be trusted --------------------------------------------

@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """What a source sends of a busy drive; the image."""
    folder = tmp_path_factory.mktemp("stream")
    image = folder / "disk.img"
    with image.open("wb") as file:
        file.truncate(8 * MIB)
    with Machine(*drive_args("tiny", image)) as machine:
        busy(host_of(machine))
        machine.cmd("migrate", uri=f"exec:cat >{folder}/stream")
        assert wait_for(machine, "query-migrate", "completed",
                        "failed") == "completed"
    return (folder / "stream").read_bytes(), image


def incoming(data: bytes, image: Path, folder: Path, **device: str) \
        -> tuple[int, str]:
    """Start QEMU with this stream; its end and what it said."""
    path = folder / "sent"
    path.write_bytes(data)
    with Machine(*drive_args("tiny", image, **device), "-incoming", "defer") \
            as machine:
        machine.cmd("migrate-incoming", uri=f"exec:cat {path}",
                    **{"exit-on-error": True})
        return machine.wait()


def test_other_drives_are_refused(stream: tuple[bytes, Path], tmp_path: Path
                                  ) -> None:
    """The options of both must agree; one line says which does not."""
    data, image = stream
    for device, what in (({"options": "nand.pages=32"}, "nand.pages"),
                         ({"queue_size": "64"}, "queue_size=64"),
                         ({"num_vectors": "3"}, "this drive has num_vectors=3"),
                         ({"serial": "other"}, "serial=other")):
        status, said = incoming(data, image, tmp_path, **device)
        lines = [line for line in said.splitlines() if "vssd: the" in line]
        assert status == 1 and len(lines) == 1 and what in lines[0], said


def end_of(data: bytes, at: int) -> int:
    """Of a stream of ours that begins here: lengths and pieces, then a 0."""
    while (n := struct.unpack_from(">I", data, at)[0]) > 0:
        at += 4 + n
    return at + 4


def test_early_stream(stream: tuple[bytes, Path], tmp_path: Path) -> None:
    """Before version 1.0 the section of a drive had another name."""
    data, image = stream
    name, early = b"/vssd-drive", b"/vssd"
    end = data.index(name)
    start = data.rindex(b"0000:", 0, end)
    length = data[start - 1] - len(name) + len(early)
    status, said = incoming(
        data[:start - 1] + bytes([length]) + data[start:end] + early
        + data[end + len(name):], image, tmp_path)
    assert status == 1 and "/vssd'" in said, said


def test_broken_streams(stream: tuple[bytes, Path], tmp_path: Path) -> None:
    """A bit that has turned, a part that is missing: an error, not a crash."""
    data, image = stream
    chance = random.Random(5)
    first = data.index(b"vssdSTAT") - 4
    second = data.index(b"vssdNVME") - 4
    assert end_of(data, first) == second
    end = end_of(data, second)
    places = [first, second, end - 4] + [
        chance.randrange(first if turn % 2 else second, end)
        for turn in range(8)]
    for at in places:
        bad = bytearray(data)
        bad[at] ^= 1 << chance.randrange(8)
        status, said = incoming(bytes(bad), image, tmp_path)
        assert status == 1 and "vssd: the drive cannot be" in said, said
    for cut in (first + 100, second + 100, end - 20):
        status, said = incoming(data[:cut], image, tmp_path)
        assert status == 1, said
