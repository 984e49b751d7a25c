# SPDX-License-Identifier: GPL-2.0-or-later
"""A hard disk: seeks, rotation, transfer, a buffer, and a queue.

Seek time by distance: the three-parameter curve of E. K. Lee, R. H. Katz, "An
Analytic Performance Model of Disk Arrays", SIGMETRICS 1993, of a seek to the
next track, an average one and a full stroke.  Parts of a request's time as in
C. Ruemmler, J. Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer
27(3), 1994: controller, seek, rotation, media and bus transfer; reads go on
into the buffer while the arm rests, writes end in the buffer.  The nearest
request goes first.  One zone, no spare sectors.

Knows requests and times; knows nothing of SSDs and figures.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

NS = 1_000_000_000


@dataclass(frozen=True)
class Geometry:
    """A disk.  Times in seconds, rates in bytes per second."""

    capacity: int
    rotation: float  # of one turn
    seek_track: float
    seek_mean: float
    seek_full: float
    media_rate: float
    bus_rate: float
    buffer: int
    command: float  # of the controller, for each request
    queue: int  # commands that are sorted

    def seek(self, x: float) -> float:
        """By the distance as a share of a full stroke."""
        if x <= 0:
            return 0.0
        root = (-10 * self.seek_track + 15 * self.seek_mean
                - 5 * self.seek_full) / 3
        line = (7 * self.seek_track - 15 * self.seek_mean
                + 8 * self.seek_full) / 3
        return self.seek_track + root * sqrt(x) + line * x


# HDD_S: capacity, buffer and 5.6 ms of latency (half a turn at 5400 rpm) are
# the slides'.  Seeks are those of a 5400 rpm drive of the time (Hitachi 5K320,
# OEM specification, tables 5 to 7: 1, 12, 20 ms).  The queue is that of the
# drive (32) and of Linux 2.6, which sorts up to 128 requests (nr_requests).  The
# rate is chosen.
HDD_S = Geometry(capacity=500 * 10**9, rotation=60 / 5400, seek_track=1e-3,
                 seek_mean=12e-3, seek_full=20e-3, media_rate=70e6,
                 bus_rate=300e6, buffer=8 << 20, command=50e-6, queue=128)


def scaled(g: Geometry, n: int) -> Geometry:
    """A disk with an nth of the capacity and of the buffer."""
    return replace(g, capacity=g.capacity // n, buffer=g.buffer // n)


AHEAD = 256 << 10  # bytes that it reads ahead


class Disk:
    """One run: the arm, the buffer, the requests that wait for the arm."""

    def __init__(self, g: Geometry) -> None:
        self.g = g
        self.free_at = 0.0  # of the arm
        self.head = 0  # where it ended
        self.ended = 0.0  # when
        self.dirty = 0  # bytes of writes in the buffer
        self.waiting: list[tuple[int, int]] = []  # offset, request

    def nearest(self) -> int:
        """Place in the queue of the request next to the arm."""
        i = bisect_left(self.waiting, (self.head, -1))
        if i == len(self.waiting):
            return i - 1
        if i and (self.head - self.waiting[i - 1][0]
                  < self.waiting[i][0] - self.head):
            return i - 1
        return i

    def streamed(self, offset: int, nbytes: int, begin: float,
                 write: bool) -> float | None:
        """When the transfer ends, if the head comes to the place along its
        track: reads go on into the buffer for a while, a write follows at
        once.  None: it does not."""
        g = self.g
        behind = offset - self.head
        passed = (begin - self.ended) * g.media_rate
        end = self.ended + (behind + nbytes) / g.media_rate
        if write:
            return end if behind == 0 and passed < 1 else None
        if 0 <= behind <= AHEAD and (passed <= AHEAD
                                     or behind + nbytes <= AHEAD):
            return end
        return None

    def moved(self, offset: int, nbytes: int, begin: float) -> float:
        """When the transfer ends after a seek and a turn to the place."""
        g = self.g
        at = begin + g.seek(abs(offset - self.head) / g.capacity)
        track = g.rotation * g.media_rate
        angle = offset % track / track
        at += (angle - at / g.rotation) % 1.0 * g.rotation
        return at + nbytes / g.media_rate

    def serve(self, offset: int, nbytes: int, begin: float, write: bool) \
            -> float:
        """Transfer: when it has ended.  What was read ahead is there
        already."""
        end = self.streamed(offset, nbytes, begin, write)
        if end is None:
            end = self.moved(offset, nbytes, begin)
        self.head = offset + nbytes
        self.ended = end
        return max(begin, end)


def play(g: Geometry, write: Any, offset: Any, nbytes: Any, depth: int,
         seconds: float) -> dict[str, float]:
    """Requests in a closed loop of that depth, none begun after that time:
    their number, mean latency (s), bytes, and the time of the last."""
    disk = Disk(g)
    kind, where, size = write.tolist(), offset.tolist(), nbytes.tolist()
    n = len(kind)
    slots = [0.0] * depth  # when the host sends the next request
    begun = [0.0] * n
    held: deque[int] = deque()  # writes that wait for room in the buffer
    outside: deque[int] = deque()  # beyond the drive's queue
    in_queue = sent = done = 0
    total = last = link = 0.0
    moved = 0

    def finish(i: int, at: float) -> None:
        nonlocal total, last, done, moved
        total += at - begun[i]
        last = max(last, at)
        done += 1
        moved += size[i]
        heapq.heappush(slots, at)

    def accept(i: int, now: float) -> None:
        """The drive takes a request: a write ends in the buffer, if it fits."""
        nonlocal link, in_queue
        link = max(link, now) + g.command
        if not kind[i]:
            in_queue += 1
            insort(disk.waiting, (where[i], i))
        elif disk.dirty + size[i] <= g.buffer or not disk.dirty:
            link += size[i] / g.bus_rate
            disk.dirty += size[i]
            insort(disk.waiting, (where[i], i))
            finish(i, link)
        else:
            in_queue += 1
            held.append(i)

    def room(now: float) -> None:
        """After the arm's turn: writes that waited, requests from outside."""
        nonlocal in_queue
        while held and (not disk.dirty
                        or disk.dirty + size[held[0]] <= g.buffer):
            i = held.popleft()
            in_queue -= 1
            disk.dirty += size[i]
            insort(disk.waiting, (where[i], i))
            finish(i, now)
        while outside and in_queue < g.queue:
            accept(outside.popleft(), now)

    while done < n:
        more = sent < n and slots and slots[0] < seconds
        if not more and done == sent:
            break
        if more and (not disk.waiting
                     or slots[0] <= max(disk.free_at, 0.0)):
            now = heapq.heappop(slots)
            begun[sent] = now
            if in_queue < g.queue:
                accept(sent, now)
            else:
                outside.append(sent)
            sent += 1
            continue
        place, i = disk.waiting.pop(disk.nearest())
        begin = max(disk.free_at, begun[i] + g.command)
        end = disk.serve(place, size[i], begin, kind[i])
        disk.free_at = max(disk.free_at, end)
        if kind[i]:
            disk.dirty -= size[i]
        else:
            in_queue -= 1
            finish(i, end + size[i] / g.bus_rate)
        room(end)
    return {"requests": done, "latency_s": total / max(done, 1),
            "bytes": moved, "seconds": last}
