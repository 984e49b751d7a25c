# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver of virtio-iommu-pci, as far as the tests need it, over qtest.

QEMU's has no MSI-X: faults interrupt by INTx.  Numbers are from Virtual I/O Device
(VIRTIO) 1.2, clauses 2.7 (split virtqueues), 4.1.4 (PCI) and 5.13 (IOMMU device).
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass

from machine import LIMIT_S, Qtest
from nvme_host import PciFunction

CONFIG_BAR = 0xD0100000  # beyond the drive's
RINGS, REQUEST, EVENTS = 0x3010000, 0x3014000, 0x3016000
VENDOR_CAP, COMMON_CFG, NOTIFY_CFG, ISR_CFG = 0x09, 1, 2, 3
F_VERSION_1, F_MAP_UNMAP = 1 << 32, 1 << 2
ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK = 1, 2, 4, 8
T_ATTACH, T_MAP = 1, 3
DOMAIN = 1
ENTRIES = 16
EVENT_BYTES = 24
FAULT_R_MAPPING = 2
FAULT_F_WRITE, FAULT_F_ADDRESS = 2, 1 << 8
REQUEST_QUEUE, EVENT_QUEUE = 0, 1


@dataclass(frozen=True)
class Fault:
    """What the event queue tells of one."""

    reason: int
    flags: int
    endpoint: int
    address: int


class Ring:
    """A split virtqueue of ENTRIES descriptors."""

    def __init__(self, qtest: Qtest, at: int) -> None:
        self._qtest = qtest
        self.desc, self.avail, self.used = at, at + 0x400, at + 0x800
        self._put = self._taken = 0
        qtest.call(f"memset {at:#x} 0x1000 0x0")

    def describe(self, index: int, addr: int, size: int, flags: int,
                 following: int = 0) -> None:
        """A descriptor; flags: 1 another follows, 2 the device writes it."""
        self._qtest.write(self.desc + 16 * index, struct.pack(
            "<QIHH", addr, size, flags, following))

    def offer(self, index: int) -> None:
        """Hand a chain of descriptors to the device."""
        self._qtest.write(self.avail + 4 + 2 * (self._put % ENTRIES),
                          struct.pack("<H", index))
        self._put = (self._put + 1) & 0xFFFF
        self._qtest.write(self.avail + 2, struct.pack("<H", self._put))

    def take(self) -> int | None:
        """A chain that the device has done with."""
        if struct.unpack("<H", self._qtest.read(self.used + 2, 2))[0] == \
                self._taken:
            return None
        index: int = struct.unpack("<I", self._qtest.read(
            self.used + 4 + 8 * (self._taken % ENTRIES), 4))[0]
        self._taken = (self._taken + 1) & 0xFFFF
        return index


class VirtioIommu:
    """The driver."""

    def __init__(self, qtest: Qtest, slot: int) -> None:
        self._qtest = qtest
        self._pci = PciFunction(qtest, slot)
        self._pci.write(0x20, CONFIG_BAR)
        self._pci.write(0x24, 0)
        self._pci.write(4, 6)
        self._common = self._structure(COMMON_CFG)[0]
        self._notify, self._multiplier = self._structure(NOTIFY_CFG)
        self._isr = self._structure(ISR_CFG)[0]
        self._negotiate()
        self._rings = [self._queue(i) for i in (REQUEST_QUEUE, EVENT_QUEUE)]
        self._put(0x14, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, "b")
        for i in range(ENTRIES):
            self._rings[EVENT_QUEUE].describe(i, EVENTS + 64 * i, EVENT_BYTES, 2)
            self._rings[EVENT_QUEUE].offer(i)
        self._kick(EVENT_QUEUE)

    def _structure(self, kind: int) -> tuple[int, int]:
        """Where a structure of registers is; the notifications' multiplier."""
        at = self._pci.read(0x34) & 0xFC
        while at:
            head = self._pci.read(at)
            if head & 0xFF == VENDOR_CAP and head >> 24 == kind:
                assert self._pci.read(at + 4) & 0xFF == 4, "BAR"
                return (CONFIG_BAR + self._pci.read(at + 8),
                        self._pci.read(at + 16))
            at = head >> 8 & 0xFC
        raise LookupError(f"structure {kind}")

    def _put(self, offset: int, value: int, size: str) -> None:
        self._qtest.call(f"write{size} {self._common + offset:#x} {value:#x}")

    def _negotiate(self) -> None:
        self._put(0x14, 0, "b")
        self._put(0x14, ACKNOWLEDGE | DRIVER, "b")
        for half in (0, 1):
            self._put(8, half, "l")
            self._put(12, (F_VERSION_1 | F_MAP_UNMAP) >> 32 * half & 0xFFFFFFFF,
                      "l")
        self._put(0x14, ACKNOWLEDGE | DRIVER | FEATURES_OK, "b")

    def _queue(self, index: int) -> Ring:
        ring = Ring(self._qtest, RINGS + 0x1000 * index)
        self._put(0x16, index, "w")
        self._put(0x18, ENTRIES, "w")
        for offset, addr in ((0x20, ring.desc), (0x28, ring.avail),
                             (0x30, ring.used)):
            self._put(offset, addr, "l")
            self._put(offset + 4, 0, "l")
        self._put(0x1C, 1, "w")
        return ring

    def _kick(self, index: int) -> None:
        self._qtest.call(f"writew {self._notify + self._multiplier * index:#x}"
                         f" {index}")

    def _request(self, request: bytes) -> None:
        ring = self._rings[REQUEST_QUEUE]
        self._qtest.write(REQUEST, request)
        self._qtest.write(REQUEST + 0x800, b"\xff" * 4)
        ring.describe(0, REQUEST, len(request), 1, 1)
        ring.describe(1, REQUEST + 0x800, 4, 2)
        ring.offer(0)
        self._kick(REQUEST_QUEUE)
        end = time.monotonic() + LIMIT_S
        while ring.take() is None:
            assert time.monotonic() < end, "the IOMMU does not answer"
        assert self._qtest.read(REQUEST + 0x800, 1) == b"\0"
        self.interrupted()

    def interrupted(self) -> bool:
        """Has a queue interrupted since this was last asked?"""
        return bool(int(self._qtest.call(f"readb {self._isr:#x}"), 16) & 1)

    def attach(self, endpoint: int) -> None:
        """From now on its DMA is translated, to what has been mapped."""
        self._request(struct.pack("<B3xIII4x", T_ATTACH, DOMAIN, endpoint, 0))

    def map(self, start: int, size: int, access: int = 3) -> None:
        """To the same addresses; access: 1 to read, 2 to write, 3 both."""
        self._request(struct.pack("<B3xIQQQI", T_MAP, DOMAIN, start,
                                  start + size - 1, start, access))

    def faults(self) -> list[Fault]:
        """Those reported since the last call; their buffers are offered again,
        and the interrupt line goes down.

        At most as many as there are buffers: QEMU drops the rest.
        """
        found = []
        ring = self._rings[EVENT_QUEUE]
        self.interrupted()
        while (index := ring.take()) is not None:
            reason, flags, endpoint, address = struct.unpack(
                "<B3xII4xQ", self._qtest.read(EVENTS + 64 * index, EVENT_BYTES))
            found.append(Fault(reason, flags, endpoint, address))
            ring.offer(index)
        return found
