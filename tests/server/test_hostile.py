# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that do not keep to the protocol: 300 seeded cases (--long 20,000), each
a connection.  The server survives them with the descriptors and the memory that
it had, and a client that keeps to the protocol finds its data.

A failing case: VSSD_CASE=SEED runs that one alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import socket
import struct
import time
from collections.abc import Callable

import pytest
import vmm as v
from test_server import BLOCK, host_of, pattern

from nvme_host import ACQ, AQA, ASQ, CC, DOORBELLS, NvmeHost

CASES = 20000 if os.environ.get("VSSD_LONG") else 300
ROUND = 100  # cases before the server is looked at
KEPT = 64    # block with data that no case may touch
EDGES = (0, 1, 2, 7, 8, 15, 16, 17, 24, 31, 32, 64, 255, 256, 4095, 4096, 4097,
         8191, 8192, 16383, 16384, 16385, 65535, 65536, 1 << 20, (1 << 20) + 1,
         0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 1 << 32, 1 << 43,
         (1 << 63) - 1, 1 << 63, (1 << 64) - 4096, (1 << 64) - 1)


def full_counter() -> int:
    """An eventfd to which a write waits."""
    fd = os.eventfd(0)
    os.eventfd_write(fd, (1 << 64) - 2)
    return fd


class Case:
    """One connection, from its seed."""

    def __init__(self, server: v.Server, seed: int) -> None:
        self.rng = random.Random(seed)
        self.wire = v.Wire(server.socket)
        self.wire.sock.settimeout(10)
        self.files: list[int] = []

    def number(self, bits: int) -> int:
        """A number that may be an edge."""
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice(EDGES) & (1 << bits) - 1
        return rng.getrandbits(rng.randrange(1, bits + 1))

    def file(self) -> int:
        """A descriptor of some kind."""
        kind = self.rng.randrange(6)
        if kind == 0:
            fd = full_counter() if self.rng.random() < 0.5 else os.eventfd(0)
        elif kind == 1:
            fd, other = os.pipe()
            self.files.append(other)
        elif kind == 2:
            fd = os.open("/dev/zero", os.O_RDWR)
        else:
            fd = os.memfd_create("hostile")
            os.ftruncate(fd, self.rng.choice((0, 1, 4096, v.MIB)))
        self.files.append(fd)
        return fd

    def fds(self, most: int = 3) -> list[int]:
        """Some descriptors, now and then too many."""
        count = self.rng.choice((0, 1, 1, 1, most, 20))
        return [self.file() for _ in range(count)]

    def payload(self, command: int) -> bytes:
        """What the command may have, with numbers of any kind."""
        n, rng = self.number, self.rng
        makers: dict[int, Callable[[], bytes]] = {
            v.VERSION: lambda: struct.pack("<HH", n(16), n(16)) + rng.choice(
                (b"", b"{}\0", b'{"capabilities":[]}\0', b"[" * 500 + b"\0",
                 b'{"capabilities":{"max_msg_fds":-1}}\0', b"{")),
            v.DMA_MAP: lambda: struct.pack(
                "<IIQQQ", rng.choice((32, n(32))), rng.choice((3, n(32))),
                rng.choice((0, n(64))), n(64), n(64)),
            v.DMA_UNMAP: lambda: struct.pack(
                "<IIQQ", rng.choice((24, n(32))), rng.choice((0, 2, n(2))),
                n(64), n(64)) + rng.choice((b"", struct.pack("<QQ", n(64), n(64)))),
            v.SET_IRQS: lambda: struct.pack(
                "<IIIII", rng.choice((20, n(32))), rng.choice((33, 36, n(6))),
                rng.randrange(6), n(32) if rng.random() < 0.5 else 0,
                rng.choice((0, 1, 2, 5, n(32)))) + bytes(rng.randrange(8)),
        }
        if command in (v.REGION_READ, v.REGION_WRITE):
            return self.access(command)
        if command in makers:
            return makers[command]()
        return struct.pack("<IIIIQQ", rng.choice((32, n(32))), n(32),
                           rng.randrange(12), n(32), n(64), n(64))

    def access(self, command: int) -> bytes:
        """A register, configuration space, or nothing."""
        rng = self.rng
        where = rng.choice((v.BAR0_REGION, v.CONFIG_REGION, rng.randrange(12)))
        count = rng.choice((1, 2, 4, 8, 3, 64, self.number(12)))
        at = rng.choice((rng.randrange(0, 0x40, 4), CC, AQA, ASQ, ACQ, 4, 0x42,
                         DOORBELLS + 4 * rng.randrange(12), self.number(14),
                         self.number(64)))
        data = rng.randbytes(count) if rng.random() < 0.5 else bytes(count)
        if rng.random() < 0.1:
            count = self.number(32)
        return v.region(where, at, count,
                        data if command == v.REGION_WRITE else b"")

    def message(self) -> bytes:
        """One message, mostly with the right size."""
        rng = self.rng
        command = rng.choice((*range(17), v.DMA_MAP, v.REGION_WRITE,
                              v.SET_IRQS, v.REGION_WRITE))
        body = self.payload(command)
        if rng.random() < 0.2:
            body = body[:rng.randrange(len(body) + 1)]
        size = 16 + len(body)
        if rng.random() < 0.1:
            size = self.number(32)
        flags = rng.choice((0, 0, 0, 0, v.NO_REPLY, v.REPLY, self.number(32)))
        data = v.HEADER.pack(self.number(16), command, size, flags, 0) + body
        if rng.random() < 0.03:
            data = rng.randbytes(rng.randrange(1, 200))
        return data

    def run(self) -> None:
        """Say things, and go at any moment."""
        rng = self.rng
        if rng.random() < 0.9:
            self.wire.hello()
        for _ in range(rng.randrange(1, 12)):
            data = self.message()
            if rng.random() < 0.1:
                data = data[:rng.randrange(1, len(data) + 1)]
            fds = self.fds()
            if fds:
                socket.send_fds(self.wire.sock, [data], fds)
            else:
                self.wire.sock.sendall(data)
            if rng.random() < 0.5:
                self.listen()
        if rng.random() < 0.2:
            self.listen()

    def listen(self) -> None:
        """Take what the server says, or not."""
        self.wire.sock.settimeout(0.002)
        with contextlib.suppress(TimeoutError):
            self.wire.sock.recv(65536)
        self.wire.sock.settimeout(10)

    def close(self) -> None:
        """Gone."""
        self.wire.close()
        for fd in self.files:
            os.close(fd)


def run_case(server: v.Server, seed: int) -> None:
    """One case; the server may end the connection at any moment."""
    case = Case(server, seed)
    try:
        case.run()
    except OSError:
        pass
    finally:
        case.close()
    assert server.proc.poll() is None, f"the server has ended: VSSD_CASE={seed}"


def look(server: v.Server) -> NvmeHost:
    """A client that keeps to the protocol finds its data."""
    with v.Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert host.read(KEPT, BLOCK) == pattern(1)
        host.write(0, pattern(2))
        assert host.read(0, BLOCK) == pattern(2)
    return host


def alone(server: v.Server) -> tuple[int, int]:
    """Its descriptors and its memory, without a client."""
    end = time.monotonic() + v.LIMIT_S
    while server.counts()["attached"]:
        assert time.monotonic() < end
        time.sleep(0.01)
    return server.open_files(), server.resident()


def test_hostile_clients(server: v.Server) -> None:
    """See above."""
    with v.Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(KEPT, pattern(1))
        host.flush()
    only = os.environ.get("VSSD_CASE")
    seeds = [int(only)] if only else list(range(CASES))
    for seed in seeds[:ROUND]:
        run_case(server, seed)
    look(server)
    files, memory = alone(server)
    for at in range(ROUND, len(seeds), ROUND):
        for seed in seeds[at:at + ROUND]:
            run_case(server, seed)
        look(server)
    now = alone(server)
    assert now[0] <= files
    assert now[1] < memory + 32 * v.MIB
    counts = server.counts()
    if not only:  # the cases reach what they are for
        assert counts["clients"] > CASES // 2
        assert counts["messages_refused"] > CASES // 4
    assert counts["memory_ranges"] == 0


@pytest.mark.parametrize("size", [8, v.HEADER.size])
def test_half_a_message(server: v.Server, size: int) -> None:
    """A header without its body, or a part of one, does not stop the drive, and
    ends the connection after a second."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm).write(KEPT, pattern(1))
        vmm.sock.sendall(v.HEADER.pack(9, v.REGION_READ, 32, 0, 0)[:size])
        time.sleep(0.1)
        before, began = server.cpu_s(), time.monotonic()
        assert server.counts()["attached"]
        assert server.cpu_s() - before < 0.1
        assert time.monotonic() - began < 0.7
        with pytest.raises(ConnectionError):
            vmm.receive()
    look(server)


@pytest.mark.parametrize("size", [8, v.HEADER.size])
def test_half_a_message_of_one_that_goes(server: v.Server, size: int) -> None:
    """Nobody waits for the rest: the next client is served at once."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm).write(KEPT, pattern(1))
        vmm.sock.sendall(v.HEADER.pack(9, v.REGION_READ, 32, 0, 0)[:size])
    began = time.monotonic()
    with v.Vmm(server.socket):
        assert time.monotonic() - began < 0.7
    look(server)


@pytest.mark.parametrize("size", [0, 15, 16401])
def test_size_of_a_message(server: v.Server, size: int) -> None:
    """A message that says that it is shorter than its header, or longer than
    any, ends the connection at once."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm).write(KEPT, pattern(1))
        vmm.sock.settimeout(0.9)
        vmm.sock.sendall(v.HEADER.pack(9, v.REGION_READ, size, 0, 0))
        assert vmm.sock.recv(1) == b""
    look(server)


def test_silent_client(server: v.Server) -> None:
    """One that connects and says nothing does not keep the others out."""
    sock = v.connect(server.socket)
    with v.Vmm(server.socket) as vmm:
        host_of(vmm).write(KEPT, pattern(1))
    sock.close()


def test_client_that_does_not_read(server: v.Server) -> None:
    """Its answers fill the socket; the server ends the connection."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm).write(KEPT, pattern(1))
        vmm.sock.settimeout(0.5)
        payload = v.region(v.CONFIG_REGION, 0, 4096)
        with contextlib.suppress(OSError):
            for _ in range(5000):
                vmm.send(v.REGION_READ, payload)
        assert server.proc.poll() is None
    look(server)


def test_counter_that_is_full(server: v.Server) -> None:
    """A blocking eventfd whose counter is at its end does not stop it."""
    with v.Vmm(server.socket, msix=False) as vmm:
        full = [full_counter() for _ in range(v.QUEUES + 1)]
        vmm.call(v.SET_IRQS, v.irq_set(v.MSIX, v.IRQ_TRIGGER | v.IRQ_EVENTFD, 0,
                                       len(full)), full)
        host = host_of(vmm)
        at = host.pci.capability(0x11)
        host.pci.write(at, host.pci.read(at) | 1 << 31)
        queue = host.add_queue(2, 16, 0x1200000, 0x1210000, vector=2)
        for _ in range(20):
            queue.run(0)
        for fd in full:
            os.close(fd)


def test_same_memory_twice(server: v.Server) -> None:
    """Maps that overlap are refused, and leave no descriptor behind."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm)
        before = server.open_files()
        for start, size in ((0, v.MEMORY_BYTES), (4096, 4096),
                            ((1 << 64) - 4096, 8192), (1 << 40, 0)):
            for _ in range(20):
                with pytest.raises(v.Refused):
                    vmm.call(v.DMA_MAP, v.dma_map(start, size), [vmm.memfd])
        assert server.open_files() == before


def test_refused_message_is_answered(server: v.Server) -> None:
    """One that the server refuses is taken off the socket as a whole, and its
    answer has its number; the next message is heard."""
    with v.Vmm(server.socket) as vmm:
        host_of(vmm)
        for n in (8, 1024, 5000):
            sent = vmm.send(v.DIRTY_PAGES, bytes(n))
            number, _, size, _, error = v.HEADER.unpack(
                vmm.sock.recv(v.HEADER.size))
            assert (number, size, error) == (sent, v.HEADER.size, errno.EINVAL)
        before = server.counts()["messages_refused"]
        assert before == 3
        host_of(vmm).write(KEPT, pattern(1))


def test_many_ranges(server: v.Server) -> None:
    """The most that there may be, and one more."""
    with v.Vmm(server.socket, share=False) as vmm:
        for i in range(16):
            vmm.share(i * v.MIB, v.MIB)
        with pytest.raises(v.Refused):
            vmm.share(16 * v.MIB, v.MIB)
        for i in range(16):
            vmm.unshare(i * v.MIB, v.MIB)
        vmm.share()
        host_of(vmm)
