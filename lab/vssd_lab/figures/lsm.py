# SPDX-License-Identifier: GPL-2.0-or-later
"""The writes of a size-tiered LSM store, and of the system around it, to a drive.

Keys are followed exactly: memtables, tables and merges hold the keys that the
updates gave them, so files shrink as updates of one key meet.  Tables are put
together as Cassandra's size-tiered strategy does (its documentation: tables
within 0.5 to 1.5 of a mean size, four at least).  Files get room next-fit from a
file system that gives it piece by piece, so that files that grow at the same
time interleave.  Knows bytes; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

KIB = 1 << 10
MIB = 1 << 20
PAGE = 4096

# Kinds of written data, as numbers in the column "stream".
KINDS = ("system", "log", "flush", "compaction", "later compactions")
SYSTEM, LOG, FLUSH, TIER1, TIER2 = range(len(KINDS))


@dataclass(frozen=True)
class Store:
    """Sizes and rates."""

    records: int = 62_500
    record_bytes: int = 1000
    theta: float = 0.99  # of the Zipf law of the updates
    memtable: int = 8 * MIB
    segment: int = 2 * MIB  # of the commit log
    segments: int = 16  # of the commit log, used in turn
    log_write: int = 64 * KIB
    table_write: int = 128 * KIB
    piece: int = MIB  # that a file gets at a time
    tables: int = 4  # of like size are merged
    compactions: int = 2  # at a time
    flush_rate: float = 2.0  # bytes, per byte of the log, while one goes on
    merge_rate: float = 3.0  # the same of each compaction
    journal: int = 8 * MIB  # of the file system, used in turn
    journal_write: int = 16 * KIB
    journal_share: float = 0.02  # of the bytes that the store writes
    metadata: int = 16 * MIB  # written again page by page at random
    metadata_share: float = 0.01
    other: float = 0.85  # of the capacity: files of the system
    other_write: int = 4 * KIB  # of which such parts are written at random
    other_share: float = 0.02


class Full(Exception):
    """The file system has no room."""


class Space:
    """Free extents of a file system, given away next-fit."""

    def __init__(self, begin: int, end: int) -> None:
        self.start = [begin]  # rising
        self.length = [end - begin]
        self.cursor = begin

    def take(self, nbytes: int) -> tuple[int, int]:
        """An extent of at most that length."""
        if not self.start:
            raise Full
        i = bisect.bisect_right(self.start, self.cursor) - 1
        if i < 0 or self.start[i] + self.length[i] <= self.cursor:
            i = (i + 1) % len(self.start)
        at = max(self.start[i], self.cursor) if \
            self.cursor < self.start[i] + self.length[i] else self.start[i]
        n = min(nbytes, self.start[i] + self.length[i] - at)
        before, after = at - self.start[i], \
            self.start[i] + self.length[i] - at - n
        if before:
            self.length[i] = before
            i += 1
            if after:
                self.start.insert(i, at + n)
                self.length.insert(i, after)
        elif after:
            self.start[i], self.length[i] = at + n, after
        else:
            del self.start[i], self.length[i]
        self.cursor = at + n
        return at, n

    def give(self, at: int, n: int) -> None:
        """Back; it is joined with adjacent free ranges."""
        i = bisect.bisect_right(self.start, at)
        if i < len(self.start) and at + n == self.start[i]:
            n += self.length[i]
            del self.start[i], self.length[i]
        if i and self.start[i - 1] + self.length[i - 1] == at:
            self.length[i - 1] += n
        else:
            self.start.insert(i, at)
            self.length.insert(i, n)

    @property
    def free(self) -> int:
        """Bytes."""
        return sum(self.length)


@dataclass(eq=False)
class Table:
    """A sorted table: its keys, and where it is."""

    keys: Any
    tier: int  # how many merges it has been through
    extents: list[list[int]] = field(default_factory=list)


@dataclass(eq=False)
class Task:
    """A table that is being written."""

    table: Table
    left: int  # bytes
    kind: int
    inputs: list[Table]  # deleted at its end
    credit: float = 0


class Writer:
    """The store at work; its writes are in the lists."""

    def __init__(self, cfg: Store, capacity: int, seed: int) -> None:
        self.cfg = cfg
        self.rng = np.random.default_rng(seed)
        self.op: list[str] = []
        self.offset: list[int] = []
        self.nbytes: list[int] = []
        self.kind: list[int] = []
        self.written = [0] * len(KINDS)
        self._layout(capacity)
        self.tables: list[Table] = []
        self.tasks: list[Task] = []
        self.memtable: list[Any] = []
        self.memtable_bytes = 0
        self.log_at = self.journal_at = 0
        self.debt = [0.0, 0.0, 0.0]  # of the system's kinds of writes
        self.least_free = self.space.free
        self.loaded = 0  # requests of the load
        self.loaded_bytes = 0

    def _layout(self, capacity: int) -> None:
        c = self.cfg
        self.journal = 0
        self.metadata = c.journal
        self.other = self.metadata + c.metadata
        self.other_bytes = int(capacity * c.other) // MIB * MIB
        self.log = self.other + self.other_bytes
        begin = self.log + c.segment * c.segments
        self.space = Space(begin, capacity // PAGE * PAGE)

    # ---- requests -------------------------------------------------------------

    def _put(self, op: str, offset: int, nbytes: int, kind: int) -> None:
        self.op.append(op)
        self.offset.append(offset)
        self.nbytes.append(nbytes)
        self.kind.append(kind)
        if op == "W":
            self.written[kind] += nbytes

    def _system(self, nbytes: int) -> None:
        """Writes of the system beside so many bytes of the store."""
        c = self.cfg
        kinds = ((c.journal_share, c.journal_write), (c.metadata_share, PAGE),
                 (c.other_share, c.other_write))
        for i, (share, size) in enumerate(kinds):
            self.debt[i] += share * nbytes
            while self.debt[i] >= size:
                self.debt[i] -= size
                self._put("W", self._system_place(i), size, SYSTEM)

    def _system_place(self, i: int) -> int:
        c = self.cfg
        if i == 0:
            at = self.journal_at
            self.journal_at = (at + c.journal_write) % c.journal
            return self.journal + at
        begin, room, size = ((self.metadata, c.metadata, PAGE),
                             (self.other, self.other_bytes, c.other_write)
                             )[i - 1]
        return begin + int(self.rng.integers(room // size)) * size

    def _store(self, offset: int, nbytes: int, kind: int) -> None:
        self._put("W", offset, nbytes, kind)
        self._system(nbytes)

    # ---- tables ---------------------------------------------------------------

    def _grow(self, task: Task) -> None:
        """One more write of a table."""
        want = min(self.cfg.table_write, task.left)
        extents = task.table.extents
        if not extents or extents[-1][1] == extents[-1][2]:
            piece = -(-min(self.cfg.piece, task.left) // PAGE) * PAGE
            at, n = self.space.take(piece)
            extents.append([at, 0, n])  # start, used, length
            self.least_free = min(self.least_free, self.space.free)
        last = extents[-1]
        n = min(-(-want // PAGE) * PAGE, last[2] - last[1])
        self._store(last[0] + last[1], n, task.kind)
        last[1] += n
        task.left -= n

    def _delete(self, table: Table) -> None:
        joined: list[list[int]] = []
        for at, _, n in sorted(table.extents):
            self.space.give(at, n)
            if joined and joined[-1][0] + joined[-1][1] == at:
                joined[-1][1] += n
            else:
                joined.append([at, n])
        for at, n in joined:
            self._put("D", at, n, SYSTEM)

    def _begin(self, keys: Any, tier: int, inputs: list[Table]) -> None:
        kind = (FLUSH, TIER1, TIER2)[min(tier, 2)]
        self.tasks.append(Task(Table(keys, tier),
                               len(keys) * self.cfg.record_bytes, kind,
                               inputs))

    def _end(self, task: Task) -> None:
        self.tasks.remove(task)
        for table in task.inputs:
            self._delete(table)
        self.tables.append(task.table)
        self._compact()

    def _bucket(self) -> list[Table]:
        """Tables to merge: of the buckets that are full, that of the least
        size."""
        busy = {id(t) for task in self.tasks for t in task.inputs}
        idle = sorted((t for t in self.tables if id(t) not in busy),
                      key=lambda t: len(t.keys))
        bucket: list[Table] = []
        for t in idle + [Table((), 0)]:
            mean = sum(len(b.keys) for b in bucket) / max(len(bucket), 1)
            if bucket and not 0.5 * mean <= len(t.keys) <= 1.5 * mean:
                if len(bucket) >= self.cfg.tables:
                    break
                bucket = []
            bucket.append(t)
        return bucket if len(bucket) >= self.cfg.tables else []

    def _compact(self) -> None:
        """Begin the compactions that are due and have room."""
        while sum(t.kind != FLUSH for t in self.tasks) < self.cfg.compactions:
            bucket = self._bucket()
            if not bucket:
                return
            self.tables = [t for t in self.tables
                           if not any(t is b for b in bucket)]
            keys = np.unique(np.concatenate([t.keys for t in bucket]))
            self._begin(keys, 1 + max(t.tier for t in bucket), bucket)

    def _background(self, nbytes: int) -> None:
        """Flushes and compactions, while the log grew by so much.  One write
        of each in turn."""
        for task in self.tasks:
            rate = self.cfg.flush_rate if task.kind == FLUSH \
                else self.cfg.merge_rate
            task.credit += rate * nbytes
        going = True
        while going:
            going = False
            for task in list(self.tasks):
                if task.left > 0 and task.credit >= self.cfg.table_write:
                    task.credit -= self.cfg.table_write
                    self._grow(task)
                    going = True
                if task.left <= 0:
                    self._end(task)

    # ---- updates --------------------------------------------------------------

    def _flush(self) -> None:
        keys = np.unique(np.concatenate(self.memtable))
        self.memtable, self.memtable_bytes = [], 0
        self._begin(keys, 0, [])

    def _update(self, keys: Any) -> None:
        """Updates that fill one write of the log."""
        c = self.cfg
        self._store(self.log + self.log_at, c.log_write, LOG)
        self.log_at = (self.log_at + c.log_write) % (c.segment * c.segments)
        self.memtable.append(keys)
        self.memtable_bytes += len(keys) * c.record_bytes
        if self.memtable_bytes >= c.memtable:
            self._flush()
        self._background(c.log_write)

    def load(self) -> None:
        """The system's files, and each record once, in no order."""
        step = self.cfg.table_write
        for at in range(self.other, self.other + self.other_bytes, step):
            self._put("W", at, step, SYSTEM)
        keys = self.rng.permutation(self.cfg.records)
        per = self.cfg.log_write // self.cfg.record_bytes
        for i in range(0, len(keys), per):
            self._update(keys[i:i + per])
        self.loaded = len(self.op)
        self.loaded_bytes = sum(self.written)
        self.least_free = self.space.free

    def run(self, nbytes: int) -> None:
        """Updates until so much has been written, of whatever kind."""
        end = sum(self.written) + nbytes
        per = self.cfg.log_write // self.cfg.record_bytes
        for keys in self._updates(per):
            if sum(self.written) >= end:
                return
            self._update(keys)

    def _updates(self, per: int) -> Iterator[Any]:
        """Keys by a Zipf law, the frequent ones anywhere."""
        n = self.cfg.records
        cdf = np.cumsum(np.arange(1, n + 1) ** -self.cfg.theta)
        names = self.rng.permutation(n)
        while True:
            drawn = np.searchsorted(cdf, self.rng.random(1000 * per) * cdf[-1])
            keys = names[np.minimum(drawn, n - 1)]
            for i in range(0, len(keys), per):
                yield keys[i:i + per]


def save(writer: Writer, path: Path, trim: bool) -> None:
    """As a trace for vssd-sim's --format=csv.  Times say the order only."""
    with path.open("w", encoding="ascii") as f:
        f.write("time_ns,op,offset,size,stream\n")
        f.writelines(
            f"{i},{op},{offset},{n},{kind}\n" for i, (op, offset, n, kind)
            in enumerate(zip(writer.op, writer.offset, writer.nbytes,
                             writer.kind)) if trim or op != "D")
