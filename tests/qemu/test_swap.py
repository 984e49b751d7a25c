# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces that lose their image while the machine runs, and get another."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from qemu.qmp import ExecuteError

from machine import Machine, drive_args
from nvme_host import BUFFER, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost

KIB = 1 << 10
MIB = 1 << 20
PATH = "/machine/peripheral/ssd"
SET_FEATURES = 0x09
GET_LOG = 0x02


def args_of(tmp_path: Path, **device: str) -> list[str]:
    """A drive with namespaces of 2 MiB and 1 MiB, each with an image."""
    files = {"one": 2 * MIB, "two": MIB}
    for name, nbytes in files.items():
        path = tmp_path / f"{name}.img"
        if not path.exists():
            path.write_bytes(name.encode()[:2] * (nbytes // 2))
    return ["-blockdev", "driver=raw,file.driver=file,node-name=d1,"
            f"file.filename={tmp_path / 'two.img'}",
            *drive_args("tiny", tmp_path / "one.img", drive2="d1", eui64="1152921504606846976",
                        **device)]


def add_node(machine: Machine, path: Path, name: str, read_only: bool = False) -> None:
    """A block node of an image."""
    machine.cmd("blockdev-add", **{
        "driver": "raw", "node-name": name, "read-only": read_only,
        "file": {"driver": "file", "filename": str(path)}})


def put(machine: Machine, name: str, value: object) -> None:
    """Set a property of the drive."""
    machine.cmd("qom-set", path=PATH, property=name, value=value)


def refused(machine: Machine, name: str, value: object) -> str:
    """The one line of a refusal."""
    with pytest.raises(ExecuteError) as caught:
        put(machine, name, value)
    text = str(caught.value)
    assert "\n" not in text and text.startswith("vssd: ")
    return text


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def active(host: NvmeHost) -> list[int]:
    """Identifiers of the attached namespaces."""
    return [nsid for nsid in struct.unpack("<1024I", host.identify(2)) if nsid]


def identity(host: NvmeHost, nsid: int) -> bytes:
    """EUI-64 and UUID."""
    return host.identify(3, nsid)[:36]


def read(host: NvmeHost, nsid: int, lba: int = 0) -> bytes:
    """Four bytes of a block."""
    host.check(host.io.run(OP_READ, nsid=nsid, prp1=BUFFER, cdw=(lba, 0, 0)))
    return host.qtest.read(BUFFER, 4)


def write(host: NvmeHost, nsid: int, lba: int, data: bytes) -> None:
    """Write one block and wait."""
    host.qtest.write(BUFFER, data * 128)
    host.check(host.io.run(OP_WRITE, nsid=nsid, prp1=BUFFER, cdw=(lba, 0, 0)))




@pytest.mark.parametrize("identity_of", ["", ";identity=keep", ";identity=new"])
def test_swap(tmp_path: Path, identity_of: str) -> None:
    """The old image keeps all that was written, the new one is read and written,
    and the host is told of both."""
    new = tmp_path / "new.img"
    new.write_bytes(b"new!" * (MIB // 8) + bytes(MIB // 4))  # less than its place
    with Machine(*args_of(tmp_path)) as machine:
        host = host_of(machine)
        before = identity(host, 2)
        host.check(host.admin.run(SET_FEATURES, nsid=0, cdw=(0x0B, 1 << 8)))
        write(host, 2, 8, b"mine")  # not flushed
        write(host, 1, 8, b"kept")
        put(machine, "namespace-remove", 2)
        assert active(host) == [1]
        assert host.io.run(OP_READ, nsid=2, prp1=BUFFER, cdw=(0, 0, 0)).status & 0x7FF == 2
        old = (tmp_path / "two.img").read_bytes()
        assert old == b"tw" * (2 * KIB) + b"mine" * 128 + b"tw" * ((MIB - 4608) // 2)
        machine.cmd("blockdev-del", **{"node-name": "d1"})
        write(host, 1, 16, b"more")
        host.check(host.io.run(OP_FLUSH, nsid=1))
        assert read(host, 1, 8) == b"kept"
        host.check(host.admin.run(GET_LOG, nsid=0xFFFFFFFF, prp1=BUFFER,
                                  cdw=(0x04 | 1023 << 16,)))
        assert struct.unpack("<II", host.qtest.read(BUFFER, 8)) == (2, 0)
        add_node(machine, new, "d2")
        put(machine, "namespace-insert", f"2=d2{identity_of}")
        assert active(host) == [1, 2]
        assert struct.unpack_from("<Q", host.identify(0, 2))[0] == 3 * MIB // 4 // 512
        assert (identity(host, 2) != before) == identity_of.endswith("new")
        assert read(host, 2) == b"new!"
        assert read(host, 2, 1024) == bytes(4)
        write(host, 2, 1535, b"end!")
        assert host.io.run(OP_READ, nsid=2, prp1=BUFFER,
                           cdw=(1536, 0, 0)).status & 0x7FF == 0x80
        assert machine.quit() == 0
    data = new.read_bytes()
    assert data[:MIB // 2] == b"new!" * (MIB // 8)
    assert (tmp_path / "two.img").read_bytes() == old


def test_state(tmp_path: Path) -> None:
    """A drive that ends without an image has one at the next start: that data."""
    args = args_of(tmp_path, state=str(tmp_path / "drive.state"))
    with Machine(*args) as machine:
        host = host_of(machine)
        write(host, 1, 8, b"kept")
        write(host, 2, 8, b"mine")
        put(machine, "namespace-remove", 2)
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        assert active(host) == [1, 2]
        assert read(host, 1, 8) == b"kept"
        assert read(host, 2, 8) == b"mine"
        put(machine, "namespace-remove", 1)
        assert active(host) == [2]
        assert read(host, 2, 8) == b"mine"
        assert machine.quit() == 0


def test_stopped(tmp_path: Path) -> None:
    """A machine that stands stays so."""
    with Machine(*args_of(tmp_path)) as machine:
        host = host_of(machine)
        write(host, 2, 8, b"mine")
        machine.cmd("stop")
        put(machine, "namespace-remove", 2)
        put(machine, "namespace-insert", "2=d1")
        status = machine.cmd("query-status")
        assert isinstance(status, dict) and status["status"] == "paused"
        machine.cmd("cont")
        assert active(host) == [1, 2]
        assert read(host, 2, 8) == b"mine"
        assert machine.quit() == 0


def test_refused(tmp_path: Path) -> None:
    """One line each; the namespace works on, or may still get an image."""
    larger, locked = tmp_path / "larger.img", tmp_path / "locked.img"
    larger.write_bytes(bytes(MIB + 4096))
    locked.write_bytes(bytes(MIB))
    with Machine(*args_of(tmp_path)) as machine:
        host = host_of(machine)
        assert "namespace 3: allowed 1..2" in refused(machine, "namespace-remove", 3)
        assert "namespace 0: allowed 1..2" in refused(machine, "namespace-remove", 0)
        assert "namespace 2 has an image" in refused(machine, "namespace-insert", "2=d1")
        assert read(host, 2) == b"twtw"
        put(machine, "namespace-remove", 2)
        assert "namespace 2 has no image" in refused(machine, "namespace-remove", 2)
        add_node(machine, larger, "larger")
        add_node(machine, locked, "locked", read_only=True)
        for text, why in (("2=nowhere", "no block node 'nowhere'"),
                          ("2=larger", f"has {MIB + 4096} bytes, namespace 2 only {MIB}"),
                          ("2=locked", "read-only"), ("2=d0", "namespace 2 only"),
                          ("d1", "allowed is N=NODE"), ("2=d1;identity=x", "allowed keep, new"),
                          ("3=d1", "allowed 1..2")):
            assert why in refused(machine, "namespace-insert", text), text
        put(machine, "namespace-insert", "2=d1")
        assert read(host, 2) == b"twtw"
        put(machine, "namespace-remove", 1)
        put(machine, "power-cut", "running")
        assert "no power" in refused(machine, "namespace-remove", 2)
        assert machine.quit() == 0


def test_in_use(tmp_path: Path) -> None:
    """An image that another namespace has."""
    (tmp_path / "one.img").write_bytes(bytes(MIB))
    with Machine(*args_of(tmp_path)) as machine:
        put(machine, "namespace-remove", 2)
        assert "d0" in refused(machine, "namespace-insert", "2=d0")
        assert machine.quit() == 0


@pytest.mark.parametrize("device", [{"namespaces": "2"}, {}])
def test_other_drives(image: Path, device: dict[str, str]) -> None:
    """Only with drive2=."""
    with Machine(*drive_args("tiny", image, **device)) as machine:
        assert "drive2=" in refused(machine, "namespace-remove", 1)
        assert machine.quit() == 0


@pytest.mark.parametrize("log", ["oplog", "durable_log"])
def test_logs(tmp_path: Path, log: str) -> None:
    """The formats of the logs have no change of an image."""
    with Machine(*args_of(tmp_path, **{log: str(tmp_path / "log")})) as machine:
        assert f"with {log}=" in refused(machine, "namespace-remove", 2)
        assert machine.quit() == 0
