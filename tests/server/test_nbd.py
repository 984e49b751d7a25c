# SPDX-License-Identifier: GPL-2.0-or-later
"""Images behind qemu-nbd: qcow2."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_server import host_of, pattern, refused
from vmm import LIMIT_S, MIB, PROJECT, Server, Vmm

from nvme_host import BUFFER, OP_DSM, OP_READ, OP_WRITE

BLOCK = 4096
NO_ANSWER_S = 30
WITHOUT = "built without libnbd"


def tool(folder: Path, name: str) -> Path:
    """Another program of QEMU's image tools, started as qemu-img is."""
    img = Path(os.environ["VSSD_QEMU_IMG"])
    if not img.read_bytes().startswith(b"#!"):
        return img.with_name(name)
    path = folder / name
    path.write_text(img.read_text().replace("qemu-img", name))
    path.chmod(0o755)
    return path


@contextmanager
def nbd(folder: Path, image: Path, *more: str
        ) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of that qcow2 image; its URI."""
    sock = folder / "nbd.sock"
    with subprocess.Popen([str(tool(folder, "qemu-nbd")), "-f", "qcow2",
                           "--persistent", "--discard=unmap", "-k", str(sock),
                           *more, str(image)]) as proc:
        end = time.monotonic() + LIMIT_S
        while not sock.exists():
            assert proc.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        try:
            yield f"nbd+unix:///?socket={sock}", proc
        finally:
            proc.kill()


@pytest.fixture
def qcow2(tmp_path: Path) -> Path:
    """An empty image of 8 MiB; skips where the server has no NBD."""
    said = refused("--profile", "tiny", "--image", "nbd+unix:///?socket=/none",
                   "--socket", str(tmp_path / "none"))
    if WITHOUT in said:
        pytest.skip(said)
    path = tmp_path / "disk.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(path), "8M"], check=True)
    return path


def content(qcow2: Path) -> bytes:
    """All of it, by qemu-img."""
    raw = qcow2.with_suffix(".raw")
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "convert", "-O", "raw",
                    str(qcow2), str(raw)], check=True)
    return raw.read_bytes()


@pytest.mark.parametrize("shared", ["1", "8"])
def test_data(tmp_path: Path, qcow2: Path, shared: str) -> None:
    """Writes, zeroes and trims come to the image; the next run has the data of
    its allocation map."""
    with nbd(tmp_path, qcow2, f"--shared={shared}") as (uri, _):
        with Server(tmp_path, uri) as server, Vmm(server.socket) as vmm:
            host = host_of(vmm)
            for i in range(64):
                host.write(8 * i, pattern(i))
            host.check(host.io.run(8, cdw=(8, 0, 7)))  # Write Zeroes
            host.qtest.write(BUFFER, struct.pack("<IIQ", 0, 64, 8 * 16))
            host.check(host.io.run(OP_DSM, prp1=BUFFER, cdw=(0, 4)))
            host.flush()
            assert host.read(0, BLOCK) == pattern(0)
            assert host.read(8, BLOCK) == bytes(BLOCK)
            assert server.end() == ""
        with Server(tmp_path, uri) as server, Vmm(server.socket) as vmm:
            host = host_of(vmm)
            before = server.get("stats")
            assert host.read(8 * 40, BLOCK) == pattern(40)
            assert host.read(8 * 20, BLOCK) == bytes(BLOCK)
            assert host.read(MIB // 512 * 6, BLOCK) == bytes(BLOCK)
            after = server.get("stats")
            assert isinstance(before, dict) and isinstance(after, dict)
            # The trimmed 32 KiB are zeroes in a cluster of 64 KiB that holds
            # data; at 6 MiB there is no cluster.
            assert after["nand"]["reads"] == before["nand"]["reads"] + 2
    data = content(qcow2)
    for i in range(64):
        there = i != 1 and not 16 <= i < 24
        assert data[BLOCK * i:BLOCK * (i + 1)] == (
            pattern(i) if there else bytes(BLOCK)), i


def test_image_of_each_namespace(tmp_path: Path, qcow2: Path, image: Path
                                 ) -> None:
    """One may be NBD, the other a raw file."""
    os.truncate(image, MIB)
    with nbd(tmp_path, qcow2) as (uri, _), Server(tmp_path, image, "--image", uri, "--set",
                "nand.blocks=64") as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.qtest.write(BUFFER, pattern(2))
        host.check(host.io.run(OP_WRITE, nsid=2, prp1=BUFFER,
                               cdw=(0, 0, 7)))
        host.write(0, pattern(1))
        host.check(host.io.run(0, nsid=0xFFFFFFFF))
        assert server.end() == ""
    assert content(qcow2)[:BLOCK] == pattern(2)
    assert image.read_bytes()[:BLOCK] == pattern(1)


def test_server_of_the_image_ends(tmp_path: Path, qcow2: Path) -> None:
    """Reads fail, the drive lives on, and lost data is said."""
    with nbd(tmp_path, qcow2) as (uri, proc), \
            Server(tmp_path, uri) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        host.flush()
        proc.kill()
        proc.wait()
        for i in range(40):
            host.io.run(OP_WRITE, prp1=BUFFER, cdw=(512 + 8 * i, 0, 7))
        host.io.run(0)
        done = host.io.run(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        assert done.status & 0x7FF == 0x281  # Unrecovered Read Error
        said = server.end(status=1).splitlines()
    assert len(said) == 1 and f"--image {uri}: " in said[0], said


@contextmanager
def hung(proc: subprocess.Popen[bytes]) -> Iterator[None]:
    """It does not answer, and its connections stay."""
    proc.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        proc.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("written", [True, False])
def test_server_of_the_image_hangs(tmp_path: Path, qcow2: Path, written: bool) -> None:
    """The end waits for half a minute, then says which data is lost, if any is."""
    with nbd(tmp_path, qcow2, "--shared=8") as (uri, proc), \
            Server(tmp_path, uri) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        host.flush()
        with hung(proc):
            if written:
                for i in range(40):
                    host.io.push(OP_WRITE, prp1=BUFFER, cdw=(512 + 8 * i, 0, 7))
                host.io.push(0)
                host.io.ring()
                time.sleep(1)
            began = time.monotonic()
            said = server.end(status=int(written)).splitlines()
            assert NO_ANSWER_S <= time.monotonic() - began < NO_ANSWER_S + 25
    assert len(said) == written
    if written:
        assert said[0].startswith(f"vssd-server: --image {uri}: "), said
        assert "Connection timed out" in said[0]


def test_a_hung_server_at_the_start(tmp_path: Path, qcow2: Path) -> None:
    """It is refused after half a minute."""
    with nbd(tmp_path, qcow2) as (uri, proc):
        with Server(tmp_path, uri) as server:  # it listens
            assert server.end() == ""
        with hung(proc):
            said = refused("--profile", str(PROJECT / "profiles/tiny.ini"), "--socket",
                           str(tmp_path / "s"), "--image", uri)
        assert f"--image {uri}: no answer for 30 s" in said


def test_refused(tmp_path: Path, qcow2: Path) -> None:
    """No server, one that is read-only, and no URI: one line each."""
    base = ("--profile", str(PROJECT / "profiles/tiny.ini"), "--socket",
            str(tmp_path / "s"), "--image")
    uri = f"nbd+unix:///?socket={tmp_path / 'nobody'}"
    assert f"--image {uri}: " in refused(*base, uri)
    assert "--image nbd://:::/: " in refused(*base, "nbd://:::/")
    with nbd(tmp_path, qcow2, "--read-only") as (uri, _):
        assert f"--image {uri}: it is read-only" in refused(*base, uri)
