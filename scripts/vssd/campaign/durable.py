# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a log of durable data (docs/durable-log-format.md), and make the image
that a power cut at an instant leaves."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import UserError
from ..signature import refuse_early

SIGNATURE = b"vssdDUR1"
HEADER = struct.Struct("<8sIIQQ")
RECORD = struct.Struct("<QQQBBHHH")
DATA, ZEROES, START, END = 1, 2, 3, 4
FLUSH = 0
FUA = 1  # in the status of a START
NAMES = {0: "flush", 1: "write", 2: "read", 4: "write-uncorrectable",
         5: "compare", 8: "write-zeroes", 9: "trim"}
MOST_BLOCK = 65536
ZERO_PIECE = 1 << 20


@dataclass(frozen=True)
class Record:
    """One record; the place of its data in the file, for DATA."""

    at_ns: int
    lba: int
    nblocks: int
    kind: int
    opcode: int
    status: int
    queue: tuple[int, int]  # SQID and CID
    place: int = 0

    @property
    def changes(self) -> bool:
        """Does it change the durable data?"""
        return self.kind in (DATA, ZEROES)

    def text(self, since_ns: int) -> str:
        """A command, for people."""
        name = NAMES.get(self.opcode, f"opcode {self.opcode:02x}")
        where = f" lba {self.lba} +{self.nblocks}" if self.nblocks else ""
        what = f"{name}{where}"
        if self.kind == START:
            what += " FUA" if self.status & FUA else ""
            what = f"starts: {what}"
        else:
            what = f"ends:   {what}"
            what += f" status {self.status:#x}" if self.status else ""
        return f"{(self.at_ns - since_ns) / 1e9:+.9f} s  {what}"


class Log:
    """A log in a file, whose records are read once; close it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: BinaryIO = path.open("rb")
        head = self.file.read(HEADER.size)
        refuse_early(path, head)
        if len(head) < HEADER.size or not head.startswith(SIGNATURE):
            raise UserError(f"{path}: not a log of durable data")
        _, self.block, _, self.nblocks, _ = HEADER.unpack(head)
        if not 512 <= self.block <= MOST_BLOCK:
            raise UserError(f"{path}: blocks of {self.block} bytes")
        self.records = sorted(self._read(), key=lambda r: r.at_ns)

    def _read(self) -> Iterator[Record]:
        at = HEADER.size
        size = os.fstat(self.file.fileno()).st_size
        while at < size:
            self.file.seek(at)
            head = self.file.read(RECORD.size)
            at += RECORD.size
            if len(head) < RECORD.size:
                raise UserError(f"{self.path}: ends within a record")
            ns, lba, n, kind, opcode, status, sqid, cid = RECORD.unpack(head)
            if kind not in (DATA, ZEROES, START, END) or (
                    kind in (DATA, ZEROES) and lba + n > self.nblocks):
                raise UserError(f"{self.path}: damaged at byte"
                                f" {at - RECORD.size}")
            yield Record(ns, lba, n, kind, opcode, status, (sqid, cid), at)
            at += n * self.block if kind == DATA else 0
            if at > size:
                raise UserError(f"{self.path}: ends within a record")

    def data(self, record: Record) -> bytes:
        """The content of a DATA record."""
        self.file.seek(record.place)
        return self.file.read(record.nblocks * self.block)

    def apply(self, record: Record, image: BinaryIO) -> None:
        """Make the change of a record in an image; ranges behind its end are
        of no namespace."""
        if record.kind == DATA:
            image.seek(record.lba * self.block)
            image.write(self.data(record))
        elif record.kind == ZEROES:
            image.flush()
            _zero(image.fileno(), record.lba * self.block,
                  record.nblocks * self.block)

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _zero(fd: int, first: int, count: int) -> None:
    """Zeroes where the sparse file has data."""
    end = min(first + count, os.fstat(fd).st_size)
    at = first
    while at < end:
        try:
            begin = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            return
        hole = min(os.lseek(fd, begin, os.SEEK_HOLE), end)
        at = begin
        while at < hole:
            n = min(hole - at, ZERO_PIECE)
            os.pwrite(fd, bytes(n), at)
            at += n
        at = max(at, hole)


def blank(path: Path, size: int) -> None:
    """An empty, sparse image."""
    with path.open("wb") as f:
        f.truncate(size)


class Replayer:
    """An image that follows a log forward in time."""

    def __init__(self, log: Log, path: Path, size: int) -> None:
        self.log = log
        self.path = path
        self.next = 0
        self.changes = 0  # applied so far: equal numbers, equal images
        blank(path, size)

    def advance(self, at_ns: int) -> None:
        """To the image of a power cut at this instant: all that became durable
        at it or before."""
        with self.path.open("r+b") as image:
            while self.next < len(self.log.records):
                record = self.log.records[self.next]
                if record.at_ns > at_ns:
                    break
                self.next += 1
                if record.changes:
                    self.changes += 1
                    self.log.apply(record, image)


def flush_instants(log: Log, first_ns: int, last_ns: int) -> list[int]:
    """When each Flush and each write with FUA started and ended."""
    started: dict[tuple[int, int], Record] = {}
    found = set()
    for r in log.records:
        if r.kind == START:
            started[r.queue] = r
        elif r.kind == END and r.queue in started:
            start = started.pop(r.queue)
            if start.opcode == FLUSH or start.status & FUA:
                found |= {start.at_ns, r.at_ns}
    return sorted(t for t in found if first_ns <= t <= last_ns)
