# SPDX-License-Identifier: GPL-2.0-or-later
"""Key-value namespaces: what another process finds in the image, and in a
state file."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import BUFFER, OP_FLUSH, Completion, NvmeHost

MIB = 1 << 20
STORE, RETRIEVE, DELETE = 0x01, 0x02, 0x10
NOT_THERE = 0x87
PATH = "/machine/peripheral/ssd"
SPACES = "6M:kv;rest"
KILL_S = 10


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def run(host: NvmeHost, opcode: int, key: int, nbytes: int = 0) -> Completion:
    """A command with a key of 16 bytes, of which the last 8 are a number."""
    return host.io.run(opcode, prp1=BUFFER,
                       cdw=(nbytes, 16, 0, 0, *struct.unpack(
                           "<II", struct.pack("<Q", key))))


def store(host: NvmeHost, key: int, value: bytes) -> None:
    """Up to a page."""
    host.qtest.write(BUFFER, value)
    host.check(run(host, STORE, key, len(value)))


def retrieve(host: NvmeHost, key: int) -> bytes | None:
    """None: there is no such key."""
    done = run(host, RETRIEVE, key, 4096)
    if done.status & 0x7FF == NOT_THERE:
        return None
    host.check(done)
    return host.qtest.read(BUFFER, done.result)


def value(key: int) -> bytes:
    """One that tells its key."""
    return struct.pack("<I", key) * (1 + key * 7)


@pytest.mark.parametrize("end", ["quit", "kill"])
def test_image(image: Path, end: str) -> None:
    """Without a state file the image has the index."""
    args = drive_args("tiny", image, namespaces=SPACES)
    with Machine(*args) as machine:
        host = host_of(machine)
        for key in range(100):
            store(host, key, value(key))
        host.check(run(host, DELETE, 50))
        host.check(host.io.run(OP_FLUSH, nsid=1))
        store(host, 200, b"not durable")
        found = machine.cmd("qom-get", path=PATH, property="stats")
        assert isinstance(found, dict)
        index = found["namespaces"][0]["kv"]
        assert index["keys"] == 100 and index["commits"] == 1
        assert "kv" not in found["namespaces"][1]
        if end == "quit":
            assert machine.quit() == 0
        else:
            assert machine.process
            machine.process.kill()
            machine.process.wait(KILL_S)
    with Machine(*args) as machine:
        host = host_of(machine)
        for key in range(100):
            assert retrieve(host, key) == (None if key == 50 else value(key))
        assert retrieve(host, 200) in (None, b"not durable")
        assert machine.quit() == 0


def test_state(image: Path, tmp_path: Path) -> None:
    """With one, too; the drive loses its power when the machine ends."""
    args = drive_args("tiny", image, namespaces=SPACES,
                      state=str(tmp_path / "drive.state"))
    with Machine(*args) as machine:
        host = host_of(machine)
        for key in range(20):
            store(host, key, value(key))
        host.check(host.io.run(OP_FLUSH, nsid=1))
        store(host, 3, b"not durable")
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        assert retrieve(host, 3) in (value(3), b"not durable")
        for key in range(4, 20):
            assert retrieve(host, key) == value(key)
        assert machine.quit() == 0


@pytest.mark.parametrize("more, text", [
    ({"namespaces": "1M:kv"}, "namespaces="),
    ({"namespaces": SPACES, "kv_cache": "1K"}, "kv_cache="),
    ({"namespaces": SPACES, "kv_cache": "0"}, "kv_cache="),
])
def test_refused(image: Path, more: dict[str, str], text: str) -> None:
    """One line that names the property."""
    message = start_and_fail(*drive_args("tiny", image, **more))
    assert text in message and "\n" not in message.strip()
