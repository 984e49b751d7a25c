# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that never sleeps: it feeds shadow doorbells from a thread.

Guest memory is a file that this process maps, so that the thread needs no qtest
call, as another vCPU needs none.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time
from pathlib import Path

from machine import LIMIT_S, Machine
from nvme_host import DOORBELLS, OP_READ, NvmeHost

DOORBELL_BUFFER_CONFIG = 0x7C
SHADOW_DB, SHADOW_EI = 0x1030000, 0x1031000
FEED_SQ, FEED_CQ, FEED_ENTRIES = 0x2000000, 0x2100000, 256
FEED_BUFFER = 0x1700000
FEED_QID = 2


def shared_memory(path: Path, mib: int = 256) -> list[str]:
    """QEMU arguments: guest memory in a file at path."""
    with path.open("wb") as file:
        file.truncate(mib << 20)
    return ["-object", f"memory-backend-file,id=ram,size={mib}M,share=on,"
            f"mem-path={path}", "-machine", "memory-backend=ram"]


class Feeder:
    """Keeps a queue of reads full until it is stopped; a context manager."""

    def __init__(self, machine: Machine, memory: Path, span: int = 1024) -> None:
        assert machine.qtest
        self.host = NvmeHost(machine.qtest)
        self.completed = 0
        self._span = span
        with memory.open("r+b") as file:
            self._ram = mmap.mmap(file.fileno(), 0)
        self._lock = threading.Lock()  # of the following
        self._head, self._phase, self._tail = 0, 1, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.bring_up()

    def bring_up(self) -> None:
        """Enable the controller, with the queue that is fed."""
        with self._lock:
            self.host.enable()
            self.host.check(self.host.admin.run(
                DOORBELL_BUFFER_CONFIG, prp1=SHADOW_DB, prp2=SHADOW_EI))
            self.host.add_queue(FEED_QID, FEED_ENTRIES, FEED_SQ, FEED_CQ)
            for i in range(FEED_ENTRIES):
                at = FEED_SQ + 64 * i
                self._ram[at:at + 64] = struct.pack(
                    "<BBHIQQQQ6I", OP_READ, 0, i, 1, 0, 0, FEED_BUFFER, 0,
                    8 * (i * 37 % self._span), 0, 7, 0, 0, 0)
            self._head, self._phase, self._tail = 0, 1, FEED_ENTRIES - 1

    def ring(self) -> None:
        """Wake the drive, which looks at the shadows then."""
        self.host.reg_write(DOORBELLS + 8 * FEED_QID, 0)

    def _word(self, at: int, value: int) -> None:
        self._ram[at:at + 4] = struct.pack("<I", value)

    def _feed(self) -> bool:
        """Take what has ended, and ask for as many again."""
        fresh = 0
        self._word(SHADOW_DB + 8 * FEED_QID, self._tail)
        while fresh < FEED_ENTRIES and \
                self._ram[FEED_CQ + 16 * self._head + 14] & 1 == self._phase:
            fresh += 1
            self._head = (self._head + 1) % FEED_ENTRIES
            self._phase ^= self._head == 0
        if fresh:
            self._word(SHADOW_DB + 8 * FEED_QID + 4, self._head)
            self._tail = (self._tail + fresh) % FEED_ENTRIES
            self.completed += fresh
        return fresh > 0

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                more = self._feed()
            if not more:
                time.sleep(0.0002)  # the other thread's turn

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def wait(self, reads: int) -> None:
        """Until so many reads have ended; rings, lest the drive sleeps."""
        end = time.monotonic() + LIMIT_S
        while self.completed < reads:
            assert time.monotonic() < end, f"{self.completed} reads and no more"
            self.ring()
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._ram.close()
