# SPDX-License-Identifier: GPL-2.0-or-later
"""An NVMe driver in as few lines as the tests need, over qtest.

Polls completions and has one queue pair for I/O.  Numbers are from the NVM
Express Base Specification 1.4, sections 3.1, 4.2, 4.6 and 5.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from machine import LIMIT_S, Qtest

CONFIG_ADDRESS, CONFIG_DATA = 0xCF8, 0xCFC
BAR0 = 0xC0000000
CAP, VS, CC, CSTS, AQA, ASQ, ACQ = 0, 8, 0x14, 0x1C, 0x24, 0x28, 0x30
DOORBELLS = 0x1000
CSTS_RDY, CSTS_CFS, CSTS_SHST_DONE = 1, 2, 8

# Where things are in guest memory.
ADMIN_SQ, ADMIN_CQ, IO_SQ, IO_CQ = 0x1000000, 0x1001000, 0x1002000, 0x1003000
BUFFER, PRP_LIST = 0x1100000, 0x1010000
MSI_TARGET = 0x1020000
ENTRIES = 32

OP_FLUSH, OP_WRITE, OP_READ, OP_DSM = 0, 1, 2, 9


@dataclass
class Completion:
    """One completion queue entry."""

    result: int
    sq_head: int
    sq: int
    cid: int
    status: int  # without the phase


class PciFunction:
    """Configuration space of function 0 in one slot, through 0xcf8."""

    def __init__(self, qtest: Qtest, slot: int, bus: int = 0,
                 bar0: int = BAR0) -> None:
        self.qtest = qtest
        self.bar0 = bar0
        self._address = 0x80000000 | bus << 16 | slot << 11

    def read(self, offset: int) -> int:
        """Four bytes of configuration space."""
        self.qtest.outl(CONFIG_ADDRESS, self._address | offset & 0xFC)
        return self.qtest.inl(CONFIG_DATA)

    def write(self, offset: int, value: int) -> None:
        """Write four bytes."""
        self.qtest.outl(CONFIG_ADDRESS, self._address | offset & 0xFC)
        self.qtest.outl(CONFIG_DATA, value)

    def capability(self, wanted: int) -> int:
        """Offset of a capability, 0: none."""
        at = self.read(0x34) & 0xFC
        while at:
            value = self.read(at)
            if value & 0xFF == wanted:
                return at
            at = value >> 8 & 0xFC
        return 0

    def enable(self) -> None:
        """BAR 0 at its place, memory and bus mastering on."""
        self.write(0x10, self.bar0 & 0xFFFFFFFF)
        self.write(0x14, self.bar0 >> 32)
        self.write(4, 0x6)


class Queue:
    """A submission queue with the completion queue of the same number."""

    def __init__(self, host: NvmeHost, qid: int, sq: int, cq: int,
                 entries: int = ENTRIES) -> None:
        self.host, self.qid, self.sq, self.cq = host, qid, sq, cq
        self.entries = entries
        self.tail = self.head = 0
        self.phase = 1
        self.cid = 0

    def push(self, opcode: int, nsid: int = 1, prp1: int = 0, prp2: int = 0,
             cdw: tuple[int, ...] = ()) -> int:
        """Put one command into the queue, without ringing; its id."""
        self.cid = (self.cid + 1) & 0xFFFF
        words = list(cdw) + [0] * (6 - len(cdw))
        entry = struct.pack("<BBHIQQQQ6I", opcode, 0, self.cid, nsid, 0, 0,
                            prp1, prp2, *words)
        self.host.qtest.write(self.sq + 64 * self.tail, entry)
        self.tail = (self.tail + 1) % self.entries
        return self.cid

    def push_same(self, count: int, opcode: int, nsid: int = 1, prp1: int = 0,
                  prp2: int = 0, cdw: tuple[int, ...] = ()) -> None:
        """Put count equal commands into the queue, without ringing."""
        words = list(cdw) + [0] * (6 - len(cdw))
        entry = struct.pack("<BBHIQQQQ6I", opcode, 0, 0, nsid, 0, 0, prp1,
                            prp2, *words)
        while count:
            n = min(count, self.entries - self.tail)
            self.host.qtest.write(self.sq + 64 * self.tail, entry * n)
            self.tail = (self.tail + n) % self.entries
            count -= n

    def ring(self) -> None:
        """Tell the controller."""
        self.host.reg_write(DOORBELLS + 8 * self.qid, self.tail)

    def poll(self) -> Completion | None:
        """The next completion, if it is there."""
        raw = self.host.qtest.read(self.cq + 16 * self.head, 16)
        result, _, sq_head, sq, cid, status = struct.unpack("<IIHHHH", raw)
        if status & 1 != self.phase:
            return None
        self._consume(1)
        return Completion(result, sq_head, sq, cid, status >> 1)

    def _consume(self, count: int) -> None:
        self.head += count
        if self.head >= self.entries:
            self.head -= self.entries
            self.phase ^= 1
        self.host.reg_write(DOORBELLS + 8 * self.qid + 4, self.head)

    def wait_count(self, count: int, step_ns: int = 100_000,
                   limit_s: float = LIMIT_S, status: int = 0) -> None:
        """Wait for so many completions with this status, and take them."""
        end = time.monotonic() + limit_s
        left = count
        while left:
            n = min(left, self.entries - self.head)
            raw = self.host.qtest.read(self.cq + 16 * self.head, 16 * n)
            found = struct.unpack("<" + "14xH" * n, raw)
            done = 0
            while done < n and found[done] & 1 == self.phase:
                assert found[done] >> 1 & 0x7FF == status, hex(found[done] >> 1)
                done += 1
            if done:
                self._consume(done)
                left -= done
                continue
            assert time.monotonic() < end, f"{left} completions are missing"
            self.host.pass_time(step_ns)

    def wait(self, step_ns: int = 0, limit_s: float = LIMIT_S) -> Completion:
        """The next completion; moves the virtual clock while waiting."""
        end = time.monotonic() + limit_s
        while (done := self.poll()) is None:
            assert time.monotonic() < end, "no completion"
            if step_ns:
                self.host.pass_time(step_ns)
        return done

    def run(self, opcode: int, step_ns: int = 100_000, **args: object
            ) -> Completion:
        """One command from start to end."""
        cid = self.push(opcode, **args)  # type: ignore[arg-type]
        self.ring()
        done = self.wait(step_ns)
        assert done.cid == cid
        return done


class NvmeHost:
    """The driver; at: where its BAR and its queues are, behind those of the
    machine's first one."""

    def __init__(self, qtest: Qtest, slot: int = 4, bus: int = 0, at: int = 0
                 ) -> None:
        self.qtest = qtest
        self.at = at
        self.bar0 = BAR0 + at
        self.pci = PciFunction(qtest, slot, bus, self.bar0)
        self._new_queues()
        # What happens again and again while this waits for the drive.
        self.pass_time: Callable[[int], object] = qtest.clock_step

    def _new_queues(self) -> None:
        self.admin = Queue(self, 0, ADMIN_SQ + self.at, ADMIN_CQ + self.at)
        self.io = Queue(self, 1, IO_SQ + self.at, IO_CQ + self.at)

    def reg_read(self, offset: int) -> int:
        """A 4-byte register."""
        return self.qtest.readl(self.bar0 + offset)

    def reg_write(self, offset: int, value: int) -> None:
        """Write a 4-byte register."""
        self.qtest.writel(self.bar0 + offset, value)

    def enable(self) -> None:
        """Bring the controller up, with one I/O queue pair."""
        self.pci.enable()
        self.qtest.call(f"memset {ADMIN_SQ + self.at:#x} 0x4000 0x0")
        self._new_queues()
        self.reg_write(CC, 0)
        self.reg_write(AQA, (ENTRIES - 1) << 16 | ENTRIES - 1)
        self.qtest.writeq(self.bar0 + ASQ, self.admin.sq)
        self.qtest.writeq(self.bar0 + ACQ, self.admin.cq)
        sets = 6 << 4 if self.qtest.readq(self.bar0) >> 43 & 1 else 0  # CAP, CC.CSS
        self.reg_write(CC, 4 << 20 | 6 << 16 | sets | 1)
        self.wait_csts(CSTS_RDY)
        size = (ENTRIES - 1) << 16 | 1
        self.check(self.admin.run(5, prp1=self.io.cq, cdw=(size, 3)))
        self.check(self.admin.run(1, prp1=self.io.sq, cdw=(size, 1 << 16 | 1)))

    def add_queue(self, qid: int, entries: int, sq: int, cq: int,
                  vector: int | None = None) -> Queue:
        """One more queue pair; without a vector: without interrupts."""
        flags = 1 if vector is None else vector << 16 | 3
        size = (entries - 1) << 16 | qid
        self.qtest.call(f"memset {cq:#x} {16 * entries:#x} 0x0")
        self.check(self.admin.run(5, prp1=cq, cdw=(size, flags)))
        self.check(self.admin.run(1, prp1=sq, cdw=(size, qid << 16 | 1)))
        return Queue(self, qid, sq, cq, entries)

    def wait_csts(self, bits: int, limit_s: float = LIMIT_S) -> None:
        """Wait until all of these status bits are set."""
        end = time.monotonic() + limit_s
        while self.reg_read(CSTS) & bits != bits:
            assert time.monotonic() < end, f"CSTS {self.reg_read(CSTS):#x}"
            self.pass_time(1_000_000)

    def shutdown(self) -> None:
        """A normal shutdown, as an operating system does it."""
        self.reg_write(CC, self.reg_read(CC) & ~(3 << 14) | 1 << 14)
        self.wait_csts(CSTS_SHST_DONE)

    @staticmethod
    def check(done: Completion) -> Completion:
        """The command must have succeeded."""
        assert done.status == 0, f"status {done.status:#x}"
        return done

    def _prps(self, nbytes: int) -> tuple[int, int]:
        pages = (nbytes + 4095) // 4096
        if pages <= 2:
            return BUFFER, BUFFER + 4096 if pages == 2 else 0
        entries = [BUFFER + 4096 * i for i in range(1, pages)]
        self.qtest.write(PRP_LIST, struct.pack(f"<{len(entries)}Q", *entries))
        return BUFFER, PRP_LIST

    def write(self, lba: int, data: bytes, block: int = 512) -> Completion:
        """Write and wait."""
        self.qtest.write(BUFFER, data)
        prp1, prp2 = self._prps(len(data))
        return self.check(self.io.run(
            OP_WRITE, prp1=prp1, prp2=prp2,
            cdw=(lba & 0xFFFFFFFF, lba >> 32, len(data) // block - 1)))

    def read(self, lba: int, nbytes: int, block: int = 512) -> bytes:
        """Read and wait."""
        prp1, prp2 = self._prps(nbytes)
        self.check(self.io.run(
            OP_READ, prp1=prp1, prp2=prp2,
            cdw=(lba & 0xFFFFFFFF, lba >> 32, nbytes // block - 1)))
        return self.qtest.read(BUFFER, nbytes)

    def flush(self) -> Completion:
        """Flush and wait."""
        return self.check(self.io.run(OP_FLUSH))

    def identify(self, cns: int, nsid: int = 0) -> bytes:
        """An Identify structure."""
        self.check(self.admin.run(6, nsid=nsid, prp1=BUFFER, cdw=(cns,)))
        return self.qtest.read(BUFFER, 4096)
