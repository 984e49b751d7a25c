# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine monitor in as few lines as the tests need: a client of
vfio-user, with guest memory and a bus for one function, and no guest.

NvmeHost (tests/qemu/nvme_host.py) drives it as it drives QEMU's test interface.
Messages are those of QEMU's docs/interop/vfio-user.rst, structures those of
<linux/vfio.h>.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from qemu.qmp.legacy import QEMUMonitorProtocol

PROJECT = Path(__file__).resolve().parents[2]
LIMIT_S = 60.0  # for what takes a moment on an idle machine
MIB = 1 << 20
MEMORY_BYTES = 64 * MIB
BAR0 = 0xC0000000  # as nvme_host.py has it
CONFIG_ADDRESS, CONFIG_DATA = 0xCF8, 0xCFC

(VERSION, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO, GET_REGION_IO_FDS,
 GET_IRQ_INFO, SET_IRQS, REGION_READ, REGION_WRITE, DMA_READ, DMA_WRITE, RESET,
 DIRTY_PAGES) = range(1, 15)
BAR0_REGION, CONFIG_REGION = 0, 7
INTX, MSIX = 0, 2
REPLY, NO_REPLY, ERROR = 1, 0x10, 0x20
IRQ_NONE, IRQ_EVENTFD = 1, 4
IRQ_MASK, IRQ_UNMASK, IRQ_TRIGGER = 8, 16, 32
HEADER = struct.Struct("<HHIII")
QUEUES = 4


class Refused(Exception):
    """The server's error number for a message."""


class Server:
    """A vssd-server process."""

    def __init__(self, folder: Path, image: Path | str, *more: str,
                 profile: str = "tiny",
                 profiles: Path = PROJECT / "profiles") -> None:
        self.socket = folder / "s.sock"
        self.control = folder / "q.sock"
        self.proc = subprocess.Popen(
            [os.environ["VSSD_SERVER"], "--profile",
             str(profiles / f"{profile}.ini"), "--image", str(image),
             "--socket", str(self.socket), "--qmp", str(self.control),
             "--num_queues", str(QUEUES), *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.proc.stdout and self.proc.stderr
        if "bytes at" not in self.proc.stdout.readline():
            raise RuntimeError(self.proc.stderr.read())

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.communicate()

    def end(self, number: int = signal.SIGTERM, status: int = 0) -> str:
        """End it in an orderly way, with that status; its messages."""
        self.proc.send_signal(number)
        _, said = self.proc.communicate(timeout=LIMIT_S)
        assert self.proc.returncode == status, said
        return said

    def ask(self, command: str, **arguments: object) -> object:
        """A command on the control socket."""
        qmp = QEMUMonitorProtocol(str(self.control))
        qmp.connect()
        try:
            return qmp.cmd(command, **arguments)
        finally:
            qmp.close()

    def get(self, name: str) -> object:
        """A property of the drive."""
        return self.ask("qom-get", path="/machine/peripheral/ssd0",
                        property=name)

    def put(self, name: str, value: object) -> None:
        """Set one."""
        self.ask("qom-set", path="/machine/peripheral/ssd0", property=name,
                 value=value)

    def counts(self) -> dict[str, int]:
        """What the process has counted."""
        found = self.get("server")
        assert isinstance(found, dict)
        return found

    def cpu_s(self) -> float:
        """The CPU time that it has used."""
        words = Path(f"/proc/{self.proc.pid}/stat").read_text().rsplit(")")[1]
        used = words.split()[11:13]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")

    def open_files(self) -> int:
        """Descriptors that it has."""
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def resident(self) -> int:
        """Its memory in bytes."""
        text = Path(f"/proc/{self.proc.pid}/statm").read_text().split()[1]
        return int(text) * mmap.PAGESIZE


def connect(path: Path, limit_s: float = LIMIT_S) -> socket.socket:
    """A connection, without a message."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(limit_s)
    end = time.monotonic() + limit_s
    while True:
        try:
            sock.connect(str(path))
            return sock
        except BlockingIOError:  # the one before is still being served
            if time.monotonic() > end:
                raise
            time.sleep(0.001)


class Wire:
    """Messages on a connection."""

    def __init__(self, path: Path) -> None:
        self.sock = connect(path)
        self.number = 0

    def close(self) -> None:
        """Go."""
        self.sock.close()

    def send(self, command: int, payload: bytes = b"",
             fds: Sequence[int] = (), flags: int = 0) -> int:
        """One message; its number."""
        self.number = self.number + 1 & 0xFFFF
        data = HEADER.pack(self.number, command, HEADER.size + len(payload),
                           flags, 0) + payload
        socket.send_fds(self.sock, [data], list(fds)) if fds \
            else self.sock.sendall(data)
        return self.number

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.sock.recv(count - len(data))
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more
        return data

    def receive(self) -> tuple[int, bytes]:
        """The number and the payload of the next reply."""
        number, _, size, flags, error = HEADER.unpack(
            self._exactly(HEADER.size))
        payload = self._exactly(size - HEADER.size)
        assert flags & 0xF == REPLY
        if flags & ERROR:
            raise Refused(error)
        return number, payload

    def call(self, command: int, payload: bytes = b"",
             fds: Sequence[int] = ()) -> bytes:
        """A message and its reply."""
        sent = self.send(command, payload, fds)
        number, answer = self.receive()
        assert number == sent
        return answer

    def hello(self) -> bytes:
        """Agree on the version."""
        text = b'{"capabilities":{"max_msg_fds":8,"max_data_xfer_size":1048576}}'
        return self.call(VERSION, struct.pack("<HH", 0, 1) + text + b"\0")


def dma_map(start: int, size: int, offset: int = 0, flags: int = 3) -> bytes:
    """The payload of a DMA_MAP."""
    return struct.pack("<IIQQQ", 32, flags, offset, start, size)


def dma_unmap(start: int, size: int, flags: int = 0) -> bytes:
    """The payload of a DMA_UNMAP."""
    return struct.pack("<IIQQ", 24, flags, start, size)


def irq_set(index: int, flags: int, start: int, count: int) -> bytes:
    """The payload of a SET_IRQS."""
    return struct.pack("<IIIII", 20, flags, index, start, count)


def region(index: int, offset: int, count: int, data: bytes = b"") -> bytes:
    """The payload of a REGION_READ or REGION_WRITE."""
    return struct.pack("<QII", offset, index, count) + data


class Vmm(Wire):
    """One that has memory from 0 on, and a function in slot 4."""

    def __init__(self, path: Path, msix: bool = True, share: bool = True) -> None:
        super().__init__(path)
        self.hello()
        self.memfd = os.memfd_create("guest")
        os.ftruncate(self.memfd, MEMORY_BYTES)
        self.memory = mmap.mmap(self.memfd, MEMORY_BYTES)
        self.eventfds = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(QUEUES + 1)]
        if share:
            self.share()
        if msix:
            self.call(SET_IRQS, irq_set(MSIX, IRQ_TRIGGER | IRQ_EVENTFD, 0,
                                        len(self.eventfds)), self.eventfds)

    def __enter__(self) -> Vmm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        super().close()
        self.memory.close()
        for fd in (self.memfd, *self.eventfds):
            with contextlib.suppress(OSError):
                os.close(fd)

    def share(self, start: int = 0, size: int = MEMORY_BYTES) -> None:
        """Map guest memory."""
        self.call(DMA_MAP, dma_map(start, size, start), [self.memfd])

    def unshare(self, start: int = 0, size: int = MEMORY_BYTES) -> None:
        """And take it back."""
        self.call(DMA_UNMAP, dma_unmap(start, size))

    def region_read(self, index: int, offset: int, count: int) -> bytes:
        """Read a register, or configuration space."""
        return self.call(REGION_READ, region(index, offset, count))[16:]

    def region_write(self, index: int, offset: int, data: bytes,
                     posted: bool = False) -> None:
        """Write there; posted: without an answer, as QEMU does."""
        payload = region(index, offset, len(data), data)
        if posted:
            self.send(REGION_WRITE, payload, flags=NO_REPLY)
        else:
            self.call(REGION_WRITE, payload)

    def interrupted(self, vector: int, limit_s: float = LIMIT_S) -> bool:
        """Wait for an event of this vector, and take it."""
        fd = self.eventfds[vector]
        if not select.select([fd], [], [], limit_s)[0]:
            return False
        os.eventfd_read(fd)
        return True


class Bus:
    """A Vmm as NvmeHost uses it: as tests/qemu/machine.py: Qtest."""

    def __init__(self, vmm: Vmm) -> None:
        self.vmm = vmm
        self.config_at = 0

    def call(self, line: str) -> None:
        """memset ADDRESS SIZE VALUE"""
        _, at, size, value = line.split()
        self.write(int(at, 16), bytes([int(value, 16)]) * int(size, 16))

    def write(self, addr: int, data: bytes) -> None:
        """Guest memory."""
        self.vmm.memory[addr:addr + len(data)] = data

    def read(self, addr: int, size: int) -> bytes:
        """Guest memory."""
        return self.vmm.memory[addr:addr + size]

    def _read(self, addr: int, size: int) -> int:
        return int.from_bytes(
            self.vmm.region_read(BAR0_REGION, addr - BAR0, size), "little")

    def _write(self, addr: int, value: int, size: int) -> None:
        self.vmm.region_write(BAR0_REGION, addr - BAR0,
                              value.to_bytes(size, "little"), posted=True)

    def readl(self, addr: int) -> int:
        """A register of 4 bytes."""
        return self._read(addr, 4)

    def readq(self, addr: int) -> int:
        """A register of 8 bytes."""
        return self._read(addr, 8)

    def writel(self, addr: int, value: int) -> None:
        """A register of 4 bytes."""
        self._write(addr, value, 4)

    def writeq(self, addr: int, value: int) -> None:
        """A register of 8 bytes."""
        self._write(addr, value, 8)

    def outl(self, port: int, value: int) -> None:
        """Configuration space by ports."""
        if port == CONFIG_ADDRESS:
            self.config_at = value & 0xFF
        else:
            self.vmm.region_write(CONFIG_REGION, self.config_at,
                                  value.to_bytes(4, "little"))

    def inl(self, port: int) -> int:
        """Configuration space by ports."""
        assert port == CONFIG_DATA
        return int.from_bytes(
            self.vmm.region_read(CONFIG_REGION, self.config_at, 4), "little")

    @staticmethod
    def clock_step(_ns: int) -> None:
        """Time passes by itself."""
        time.sleep(0.0002)
