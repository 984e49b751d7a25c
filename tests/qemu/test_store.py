# SPDX-License-Identifier: GPL-2.0-or-later
"""The path from the device to its image: holes, and a host disk that is slow,
full or failing."""

from __future__ import annotations

import os
import re
import resource
import struct
import time
from pathlib import Path

import pytest

from machine import LIMIT_S, Machine, drive_args
from nvme_host import BUFFER, OP_DSM, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost
from vssd.guest import uring

KIB = 1 << 10
MIB = 1 << 20


def pattern(seed: int, nbytes: int) -> bytes:
    """Bytes that differ from block to block."""
    return b"".join(struct.pack("<QQ", seed, i) for i in range(nbytes // 16))


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def overlay(machine: Machine) -> dict:
    """What the statistics say of the path to the image."""
    stats = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                        property="stats")
    assert isinstance(stats, dict)
    return stats["overlay"]


def trim(host: NvmeHost, lba: int, nblocks: int) -> None:
    """Deallocate one range."""
    host.qtest.write(BUFFER, struct.pack("<IIQ", 0, nblocks, lba))
    host.check(host.io.run(OP_DSM, prp1=BUFFER, cdw=(0, 4)))


def allocated(image: Path) -> int:
    """Bytes of the image that take room on the host's disk."""
    return os.stat(image).st_blocks * 512


# ---- holes --------------------------------------------------------------------

@pytest.mark.parametrize("stopped", [False, True])
def test_holes_are_made_in_the_end(image: Path, stopped: bool) -> None:
    """Flush and shutdown do not wait for a hole; the drive's idle time, or the
    end of the machine, makes it."""
    node = ("driver=raw,discard=unmap,file.driver=file,file.discard=unmap,"
            f"file.filename={image}")
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        for at in range(0, 4 * MIB, 128 * KIB):
            host.write(at // 512, pattern(at, 128 * KIB))
        host.flush()
        assert allocated(image) >= 4 * MIB
        trim(host, 0, 2 * MIB // 512)
        end = time.monotonic() + LIMIT_S
        while overlay(machine)["zero_ranges"]:
            assert time.monotonic() < end, "nobody zeroes the range"
            host.qtest.clock_step(10_000_000)
        assert allocated(image) <= 2 * MIB + 64 * KIB
        trim(host, 2 * MIB // 512, 1 * MIB // 512)
        host.shutdown()
        if stopped:
            machine.cmd("stop")
        assert machine.quit() == 0
    assert allocated(image) <= 1 * MIB + 64 * KIB
    content = image.read_bytes()
    assert content[:3 * MIB] == bytes(3 * MIB)
    assert content[3 * MIB:][:128 * KIB] == pattern(3 * MIB, 128 * KIB)


# ---- errors of the host's disk ----------------------------------------------

WRITE_FAULT = 0x280
ENOSPC, EIO = 28, 5


def failing(image: Path, iotype: str, errno: int, once: bool = True) -> str:
    """A node that fails: once, or always."""
    return (f"driver=blkdebug,image.driver=file,image.filename={image},"
            "inject-error.0.event=none,"
            f"inject-error.0.errno={errno},inject-error.0.iotype={iotype},"
            f"inject-error.0.once={'on' if once else 'off'}")


def wait_event(machine: Machine, name: str) -> dict:
    """The next event of that name."""
    assert machine.qmp
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        event = machine.qmp.pull_event(wait=LIMIT_S)
        if event and event["event"] == name:
            return event.get("data", {})
    raise AssertionError(f"no {name}")


def wait_stopped(machine: Machine) -> dict:
    """The machine stops because of an error; what the event says."""
    data = wait_event(machine, "BLOCK_IO_ERROR")
    wait_event(machine, "STOP")
    status = machine.cmd("query-status")
    assert isinstance(status, dict) and status["status"] == "io-error"
    return data


def flush_that_stops(machine: Machine, host: NvmeHost) -> dict:
    """A Flush during which the machine stops; what the event says."""
    host.io.push(OP_FLUSH)
    host.io.ring()
    host.qtest.clock_step(100_000_000)
    data = wait_stopped(machine)
    assert host.io.poll() is None
    return data


def test_full_disk_stops_the_machine(image: Path) -> None:
    """werror=enospc is the default; after cont the write is asked for again."""
    data = pattern(1, 64 * KIB)
    with Machine(*drive_args("tiny", failing(image, "write", ENOSPC))
                 ) as machine:
        host = host_of(machine)
        host.write(0, data)
        event = flush_that_stops(machine, host)
        assert event["action"] == "stop" and event["nospace"]
        assert event["operation"] == "write"
        machine.cmd("cont")
        NvmeHost.check(host.io.wait(100_000))
        assert overlay(machine)["units_failed"] == 0
        assert host.read(0, len(data)) == data
        assert machine.quit() == 0
    assert image.read_bytes()[:len(data)] == data


@pytest.mark.parametrize("iotype, error", [("write", EIO), ("flush", EIO)])
def test_werror_stop(image: Path, iotype: str, error: int) -> None:
    """Any error of a write or a flush stops the machine."""
    data = pattern(2, 64 * KIB)
    args = drive_args("tiny", failing(image, iotype, error), werror="stop")
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, data)
        event = flush_that_stops(machine, host)
        assert event["action"] == "stop" and not event["nospace"]
        machine.cmd("cont")
        NvmeHost.check(host.io.wait(100_000))
        assert machine.quit() == 0
    assert image.read_bytes()[:len(data)] == data


def test_rerror_stop(image: Path) -> None:
    """A read is asked for again, too."""
    data = pattern(3, 4 * KIB)
    with image.open("r+b") as file:
        file.write(data)
    args = drive_args("tiny", failing(image, "read", EIO), rerror="stop")
    with Machine(*args) as machine:
        host = host_of(machine)
        host.io.push(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        host.io.ring()
        host.qtest.clock_step(100_000_000)
        event = wait_stopped(machine)
        assert event["action"] == "stop" and event["operation"] == "read"
        machine.cmd("cont")
        NvmeHost.check(host.io.wait(100_000))
        assert host.qtest.read(BUFFER, len(data)) == data


def boots_and_halts(image: Path) -> None:
    """A boot sector for SeaBIOS to read, which stops the processor."""
    with image.open("r+b") as file:
        file.write(bytes([0xF4, 0xEB, 0xFD]) + bytes(507) + b"\x55\xaa")


def wait_request(machine: Machine, more_than: int = 0) -> dict:
    """The statistics, when more host requests than these have ended."""
    end = time.monotonic() + LIMIT_S
    while True:
        stats = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                            property="stats")
        assert isinstance(stats, dict)
        if stats["lateness_ns"]["count"] > more_than:
            return stats
        assert time.monotonic() < end, "the read does not end"
        time.sleep(0.1)


@pytest.mark.parametrize("icount", [False, True])
def test_stop_of_a_running_machine(image: Path, icount: bool) -> None:
    """SeaBIOS reads the boot sector, in virtual time too."""
    boots_and_halts(image)
    args = ["-accel", "tcg", *drive_args(
        "tiny", failing(image, "read", EIO), rerror="stop", bootindex="0")]
    if icount:
        args += ["-icount", "shift=3,sleep=off"]
    with Machine(*args, qtest=False) as machine:
        assert wait_stopped(machine)["action"] == "stop"
        stats = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                            property="stats")
        assert isinstance(stats, dict)
        machine.cmd("cont")
        stats = wait_request(machine, stats["lateness_ns"]["count"])
        assert stats["overlay"]["store_errors"] == 0
        assert machine.quit() == 0


@pytest.mark.parametrize("aio", ["threads", "native", "io_uring"])
def test_virtual_time_awaits_the_image(image: Path, aio: str) -> None:
    """By each way to the host's disk: those of the kernel hold requests back
    inside a section that defers calls, and none of ours may be in one."""
    if aio == "io_uring" and not uring.kernel_has():
        pytest.skip("this kernel has no io_uring")
    boots_and_halts(image)
    node = (f"driver=raw,file.driver=file,file.filename={image},file.aio={aio},"
            "cache.direct=on,file.cache.direct=on")
    with Machine("-accel", "tcg", "-icount", "shift=3,sleep=off",
                 *drive_args("tiny", node, bootindex="0"),
                 qtest=False) as machine:
        assert wait_request(machine)["overlay"]["store_errors"] == 0
        assert machine.quit() == 0


def test_errors_ignored(image: Path) -> None:
    """As QEMU's disks: who wants it gets it, and a read then finds zeroes."""
    with image.open("r+b") as file:
        file.write(pattern(4, 64 * KIB))
    node = failing(image, "read", EIO, once=False)
    with Machine(*drive_args("tiny", node, rerror="ignore")) as machine:
        host = host_of(machine)
        assert host.read(0, 4 * KIB) == bytes(4 * KIB)
        assert wait_event(machine, "BLOCK_IO_ERROR")["action"] == "ignore"


def test_machine_that_stopped_ends(image: Path) -> None:
    """With refused requests: power cut, reset, savevm, quit."""
    args = drive_args("tiny", failing(image, "write", EIO, once=False),
                      werror="stop")
    with Machine(*args) as machine:
        host = host_of(machine)
        host.write(0, pattern(5, 64 * KIB))
        flush_that_stops(machine, host)
        answer = machine.cmd("human-monitor-command",
                             **{"command-line": "savevm x"})
        assert "Error" in str(answer)
        machine.cmd("qom-set", path="/machine/peripheral/ssd",
                    property="power-cut", value="running")
        machine.cmd("system_reset")
        machine.cmd("quit")
        status, text = machine.wait()
    assert status == 1
    # What the drive had not yet given to the image is lost by the cut.
    refused = re.search(r"the image d0 has refused (\d+) bytes", text)
    assert refused and int(refused[1]) in range(4 * KIB, 64 * KIB + 1, 4 * KIB)
    assert "they are lost: Input/output error" in text


def test_unplugged_with_refused_requests(image: Path) -> None:
    """The requests end, and QEMU says what is lost."""
    node = failing(image, "write", EIO, once=False)
    props = drive_args("tiny", node, werror="stop")
    with Machine("-machine", "pc", *props) as machine:
        host = host_of(machine)
        host.write(0, pattern(8, 64 * KIB))
        flush_that_stops(machine, host)
        machine.cmd("device_del", id="ssd")
        machine.qtest.outl(0xAE08, 1 << 4)  # the guest lets the slot go
        wait_event(machine, "DEVICE_DELETED")
        machine.cmd("quit")
        status, text = machine.wait()
    assert status == 1
    assert "refused 65536 bytes" in text


def test_saving_waits_for_room(tmp_path: Path) -> None:
    """A machine with refused requests cannot be saved; after cont it can."""
    image = tmp_path / "disk.qcow2"
    os.system(f"{os.environ['VSSD_QEMU'].replace('system-x86_64', 'img')} "
              f"create -q -f qcow2 {image} 8M")
    node = ("driver=qcow2,file.driver=blkdebug,file.image.driver=file,"
            f"file.image.filename={image},file.inject-error.0.event=write_aio,"
            "file.inject-error.0.errno=28,file.inject-error.0.once=on")
    data = pattern(6, 64 * KIB)
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        host.write(0, data)
        flush_that_stops(machine, host)
        answer = machine.cmd("human-monitor-command",
                             **{"command-line": "savevm x"})
        assert "has refused requests" in str(answer)
        machine.cmd("cont")
        NvmeHost.check(host.io.wait(100_000))
        answer = machine.cmd("human-monitor-command",
                             **{"command-line": "savevm x"})
        assert answer == ""
        assert host.read(0, len(data)) == data
        assert machine.quit() == 0


class LimitedMachine(Machine):
    """Files of this one cannot grow beyond some bytes, until it is allowed."""

    def __init__(self, file_bytes: int, *args: str) -> None:
        super().__init__(*args)
        self.file_bytes = file_bytes

    def command_line(self, fds: dict[str, int]) -> list[str]:
        """Too large a file is an error, not a signal."""
        return ["env", "--ignore-signal=XFSZ", "prlimit",
                f"--fsize={self.file_bytes}:unlimited",
                *super().command_line(fds)]

    def allow(self) -> None:
        """There is room again."""
        assert self.process
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def resident(self) -> int:
        """Bytes of memory."""
        assert self.process
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * KIB


def put_prp_list(host: NvmeHost, nbytes: int) -> tuple[int, int]:
    """PRPs for a buffer behind BUFFER."""
    return host._prps(nbytes)  # pylint: disable=protected-access


def test_refused_writes_take_no_memory(tmp_path: Path) -> None:
    """512 MiB that the image refuses: what is acknowledged is bounded, stays
    readable, and reaches the image when that has room."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(512 * MIB)
    args = drive_args("zero-latency", image, mdts="9", backlog="16M",
                      werror="report")
    with LimitedMachine(1 * MIB, *args) as machine:
        host = host_of(machine)
        data = pattern(7, 2 * MIB)
        host.qtest.write(BUFFER, data)
        prp1, prp2 = put_prp_list(host, len(data))
        before = machine.resident()
        taken = 0
        for i in range(1, 256):
            cdw = (i * 4096, 0, 4095)
            done = host.io.run(OP_WRITE, prp1=prp1, prp2=prp2, cdw=cdw)
            assert done.status & 0x7FF in (0, WRITE_FAULT)
            taken += done.status == 0
        grown = machine.resident() - before
        print(f"{taken} writes of 2 MiB acknowledged, {grown >> 20} MiB")
        assert 8 <= taken <= 13
        assert grown < 64 * MIB
        assert wait_event(machine, "BLOCK_IO_ERROR")["action"] == "report"
        assert host.io.run(OP_FLUSH).status & 0x7FF == WRITE_FAULT
        for i in range(1, taken + 1):
            assert host.read(i * 4096, 64 * KIB) == data[:64 * KIB]
        machine.allow()
        host.flush()
        assert machine.quit() == 0
    with image.open("rb") as file:
        for i in range(1, taken + 1):
            file.seek(i * len(data))
            assert file.read(len(data)) == data
