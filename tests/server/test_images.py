# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces that lose their image while a client is there, and get another."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from qemu.qmp import ExecuteError
from test_nbd import content, nbd, qcow2
from test_server import host_of
from vmm import MIB, Server, Vmm

from nvme_host import BUFFER, OP_READ, OP_WRITE, NvmeHost
from test_swap import active, identity, read, write

__all__ = ["qcow2"]
KIB = 1 << 10
BLOCK = 4096
SET_FEATURES, GET_LOG = 0x09, 0x02
OP_VERIFY = 0x0C
BAD_FIELD = 2


@contextmanager
def pair(folder: Path, *more: str) -> Iterator[tuple[Server, NvmeHost]]:
    """A drive with namespaces of 2 MiB and 1 MiB, each with an image, and its host."""
    for name, nbytes in (("one", 2 * MIB), ("two", MIB)):
        path = folder / name
        if not path.exists():
            path.write_bytes(name.encode()[:2] * (nbytes // 2))
    with Server(folder, folder / "one", "--image", str(folder / "two"), *more) as server, \
            Vmm(server.socket) as vmm:
        yield server, host_of(vmm)


def refused(server: Server, name: str, value: object) -> str:
    """The one line of a refusal."""
    with pytest.raises(ExecuteError) as caught:
        server.put(name, value)
    text = str(caught.value)
    assert "\n" not in text and text.startswith("vssd: ")
    return text


@pytest.mark.parametrize("wanted", ["", ";identity=keep", ";identity=new"])
def test_swap(tmp_path: Path, wanted: str) -> None:
    """The old image keeps all that was written, the new one is read and written,
    and the host is told of both."""
    new = tmp_path / "new"
    new.write_bytes(b"new!" * (MIB // 8) + bytes(MIB // 4))  # less than its place
    with pair(tmp_path) as (server, host):
        before = identity(host, 2)
        files = server.open_files()
        host.check(host.admin.run(SET_FEATURES, nsid=0, cdw=(0x0B, 1 << 8)))
        write(host, 2, 8, b"mine")  # not flushed
        write(host, 1, 8, b"kept")
        server.put("namespace-remove", 2)
        assert active(host) == [1]
        assert host.io.run(OP_READ, nsid=2, prp1=BUFFER,
                           cdw=(0, 0, 0)).status & 0x7FF == BAD_FIELD
        old = (tmp_path / "two").read_bytes()
        assert old == b"tw" * (2 * KIB) + b"mine" * 128 + b"tw" * ((MIB - 4608) // 2)
        write(host, 1, 16, b"more")
        host.check(host.io.run(0, nsid=1))
        assert read(host, 1, 8) == b"kept"
        host.check(host.admin.run(GET_LOG, nsid=0xFFFFFFFF, prp1=BUFFER,
                                  cdw=(0x04 | 1023 << 16,)))
        assert struct.unpack("<II", host.qtest.read(BUFFER, 8)) == (2, 0)
        server.put("namespace-insert", f"2={new}{wanted}")
        assert active(host) == [1, 2]
        assert struct.unpack_from("<Q", host.identify(0, 2))[0] == 3 * MIB // 4 // 512
        assert (identity(host, 2) != before) == wanted.endswith("new")
        assert read(host, 2) == b"new!"
        assert read(host, 2, 1024) == bytes(4)
        write(host, 2, 1535, b"end!")
        host.check(host.io.run(0, nsid=2))
        assert host.io.run(OP_READ, nsid=2, prp1=BUFFER,
                           cdw=(1536, 0, 0)).status & 0x7FF == 0x80
        assert server.open_files() == files
        assert server.end() == ""
    assert new.read_bytes()[-512:] == b"end!" * 128
    assert (tmp_path / "two").read_bytes() == old


def test_time_goes_on(tmp_path: Path) -> None:
    """The rest lets the modelled time of commands in flight pass at once.  Later ones
    take their own time: the drive's clock is right, and so is its timer."""
    verify = {"opcode": OP_VERIFY, "cdw": (0, 0, 511)}

    def timed(count: int, **command: object) -> float:
        began = time.monotonic()
        for _ in range(count):
            host.io.push(**command)
        host.io.ring()
        for _ in range(count):
            host.check(host.io.wait())
        return time.monotonic() - began

    with pair(tmp_path, "--set", "nand.read=10ms") as (server, host):
        alone = timed(28, **verify)
        assert alone > 0.8
        for _ in range(28):
            host.io.push(**verify)
        host.io.ring()
        server.put("namespace-remove", 2)
        server.put("namespace-insert", f"2={tmp_path / 'two'}")
        for _ in range(28):
            host.check(host.io.wait())
        assert timed(1, opcode=OP_WRITE, prp1=BUFFER, cdw=(0, 0, 7)) < alone / 2
        assert timed(28, **verify) < 1.5 * alone


def test_held(tmp_path: Path) -> None:
    """A drive that is held by `stop` stays so."""
    with pair(tmp_path) as (server, host):
        write(host, 2, 8, b"mine")
        server.ask("stop")
        server.put("namespace-remove", 2)
        server.put("namespace-insert", f"2={tmp_path / 'two'}")
        host.io.push(OP_READ, nsid=2, prp1=BUFFER, cdw=(8, 0, 0))
        host.io.ring()
        time.sleep(0.5)
        stats = server.get("stats")
        assert isinstance(stats, dict) and stats["latency_ns"]["read"]["count"] == 0
        server.ask("cont")
        host.check(host.io.wait())
        assert host.qtest.read(BUFFER, 4) == b"mine"


def test_state(tmp_path: Path) -> None:
    """A drive that ends without an image has one at the next start: that data."""
    state = ("--state", str(tmp_path / "drive.state"))
    with pair(tmp_path, *state) as (server, host):
        write(host, 1, 8, b"kept")
        write(host, 2, 8, b"mine")
        server.put("namespace-remove", 2)
        assert server.end() == ""
    with pair(tmp_path, *state) as (server, host):
        assert active(host) == [1, 2]
        assert (read(host, 1, 8), read(host, 2, 8)) == (b"kept", b"mine")
        assert server.end() == ""


def test_refused(tmp_path: Path) -> None:
    """One line each; the namespace works on, or may still get an image."""
    one, two, larger = (tmp_path / name for name in ("one", "two", "larger"))
    larger.write_bytes(bytes(MIB + BLOCK))
    (tmp_path / "empty").touch()
    with pair(tmp_path) as (server, host):
        for nsid in (0, 3, -1):
            assert "allowed 1..2" in refused(server, "namespace-remove", nsid)
        assert "namespace 2 has an image" in refused(server, "namespace-insert", f"2={two}")
        assert read(host, 2) == b"twtw"
        server.put("namespace-remove", 2)
        assert "namespace 2 has no image" in refused(server, "namespace-remove", 2)
        for text, why in (
                (f"2={tmp_path}/none", "No such file"),
                (f"2={larger}", f"has {MIB + BLOCK} bytes, namespace 2 only {MIB}"),
                (f"2={tmp_path}/empty", "smaller than one block"),
                (f"2={one}", "another program has the image open"),
                (str(two), "allowed is N=FILE"), (f"2={two};identity=x", "allowed keep, new"),
                (f"3={two}", "allowed 1..2")):
            assert why in refused(server, "namespace-insert", text), text
        server.put("namespace-insert", f"2={two}")
        assert read(host, 2) == b"twtw"
        server.put("power-cut", "running")
        assert "no power" in refused(server, "namespace-remove", 2)
        assert server.end() == ""


@pytest.mark.parametrize("more, why", [
    (("--oplog", "log"), "no other images with --oplog"),
    (("--durable_log", "log"), "no other images with --durable_log"),
])
def test_logs(tmp_path: Path, more: tuple[str, str], why: str) -> None:
    """The formats of the logs have no change of an image."""
    with pair(tmp_path, more[0], str(tmp_path / more[1])) as (server, _):
        assert why in refused(server, "namespace-remove", 2)


def test_one_image_stays(server: Server) -> None:
    """That of a drive with one."""
    assert "with one --image it stays" in refused(server, "namespace-remove", 1)


@pytest.mark.usefixtures("qcow2")  # skips without libnbd
def test_nbd(tmp_path: Path) -> None:
    """A namespace moves from a raw file to a qcow2 image, whose server may then end."""
    small = tmp_path / "small.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(small), "1M"], check=True)
    with pair(tmp_path) as (server, host):
        with nbd(tmp_path, small) as (uri, _):
            server.put("namespace-remove", 2)
            server.put("namespace-insert", f"2={uri}")
            write(host, 2, 8, b"mine")
            server.put("namespace-remove", 2)
        assert content(small) == bytes(8 * 512) + b"mine" * 128 + bytes(MIB - 9 * 512)
        server.put("namespace-insert", f"2={tmp_path / 'two'}")
        assert read(host, 2, 8) == b"twtw"
        assert server.end() == ""
