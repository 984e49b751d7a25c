# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of several jobs beside each other, on libvssd: a program of its own.

    python -m vssd.measured.host '{"library": ..., "jobs": [...], ...}'

Each job has its requests in flight, its rate, its pause or its share of all
requests, as jobs of fio have, and a submission queue of its own.  The drive
takes commands from these by turns, as an NVMe controller does, and holds
host.queue_depth of them.  vssd-sim plays one job at a time.
"""

from __future__ import annotations

import ctypes
import heapq
import json
import random
import sys
from array import array
from collections import deque
from typing import Any

NEVER = 2**64 - 1
BLOCK = 512
BATCH = 256
# A job of fio with a share (flow=, flow_sleep=1) that is ahead of it waits until
# none of its requests is in flight, and sleeps for 1 us.
FLOW_SLEEP_NS = 1_000
READ, WRITE, APPEND, RESET, FINISH, OPEN = 0, 1, 5, 6, 7, 8  # VssdOp
N_KINDS = 3  # of latencies: reads, writes, resets
OWN = 3  # resets that no job asked for
AGAIN = -11  # -EAGAIN: the zone is busy
PERCENTS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95,
            97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999)


class Setup(ctypes.Structure):
    """VssdSetup."""

    _fields_ = [("size", ctypes.c_size_t), ("profile", ctypes.c_char_p),
                ("options", ctypes.c_char_p), ("seed", ctypes.c_void_p),
                ("block_bytes", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("policy", ctypes.c_void_p), ("n_policies", ctypes.c_size_t)]


class Info(ctypes.Structure):
    """VssdInfo."""

    _fields_ = [("size", ctypes.c_size_t), ("nblocks", ctypes.c_uint64),
                ("raw_bytes", ctypes.c_uint64), ("page_bytes", ctypes.c_uint64),
                ("erase_bytes", ctypes.c_uint64),
                ("reclaim_bytes", ctypes.c_uint64),
                ("memory_bytes", ctypes.c_uint64),
                ("block_bytes", ctypes.c_uint32),
                ("unit_bytes", ctypes.c_uint32), ("streams", ctypes.c_uint32),
                ("queue_depth", ctypes.c_uint32),
                ("zone_blocks", ctypes.c_uint64)]


class Request(ctypes.Structure):
    """VssdRequest."""

    _fields_ = [("time_ns", ctypes.c_uint64), ("lba", ctypes.c_uint64),
                ("nblocks", ctypes.c_uint32), ("stream", ctypes.c_uint16),
                ("op", ctypes.c_uint8), ("flags", ctypes.c_uint8)]


class Completion(ctypes.Structure):
    """VssdCompletion without costs."""

    _fields_ = [("tag", ctypes.c_uint64), ("submit_ns", ctypes.c_uint64),
                ("complete_ns", ctypes.c_uint64), ("bad_lba", ctypes.c_uint64),
                ("status", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


def open_library(path: str) -> Any:
    """libvssd with the types of what is called."""
    lib = ctypes.CDLL(path)
    lib.vssd_now.restype = ctypes.c_uint64
    lib.vssd_next_event.restype = ctypes.c_uint64
    lib.vssd_advance.restype = ctypes.c_int64
    lib.vssd_message.restype = ctypes.c_char_p
    lib.vssd_now.argtypes = lib.vssd_next_event.argtypes = [ctypes.c_void_p]
    lib.vssd_message.argtypes = [ctypes.c_void_p]
    lib.vssd_advance.argtypes = [ctypes.c_void_p, ctypes.c_uint64,
                                 ctypes.c_void_p, ctypes.c_size_t,
                                 ctypes.c_size_t]
    lib.vssd_submit.argtypes = [ctypes.c_void_p, ctypes.c_uint64,
                                ctypes.c_void_p, ctypes.c_uint64]
    lib.vssd_preload.argtypes = [ctypes.c_void_p, ctypes.c_uint64,
                                 ctypes.c_uint64]
    lib.vssd_rest.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    return lib


def open_drive(lib: Any, setup: dict[str, Any]) -> Any:
    """A drive of a profile, new or from a state, full or not."""
    drive = ctypes.c_void_p()
    said = ctypes.create_string_buffer(1024)
    c = Setup(ctypes.sizeof(Setup), setup["profile"].encode(),
              ";".join(setup["sets"]).encode(), None, BLOCK, 0, None, 0)
    size = ctypes.c_size_t(1024)
    if setup.get("state"):
        r = lib.vssd_load_file(ctypes.byref(c), setup["state"].encode(),
                               ctypes.byref(drive), said, size)
    else:
        r = lib.vssd_create(ctypes.byref(c), ctypes.byref(drive), said, size)
    if r < 0:
        raise SystemExit(said.value.decode())
    if setup.get("preload") and \
            lib.vssd_preload(drive, 0, info_of(lib, drive).nblocks) < 0:
        raise SystemExit(lib.vssd_message(drive).decode())
    return drive


def info_of(lib: Any, drive: Any) -> Info:
    """Its sizes."""
    info = Info(ctypes.sizeof(Info))
    lib.vssd_get_info(drive, ctypes.byref(info))
    return info


class Job:
    """One job: `iodepth` places, each of which waits for its next instant, and
    a submission queue."""

    def __init__(self, words: dict[str, Any], units: int, seed: int,
                 zone: int) -> None:
        self.rng = random.Random(seed)
        self.bs = int(words["bs"])
        self.depth = int(words["iodepth"])
        rw = words["rw"]
        self.reads = 1.0 if rw.endswith("read") else \
            float(words["rwmixread"]) / 100 if "rwmixread" in words else 0.0
        self.write = {"append": APPEND, "reset": RESET}.get(rw, WRITE)
        # Which addresses are random: those of reads and of writes.
        self.random = (rw in ("randread", "randrw", "randmix"),
                       rw in ("randwrite", "randrw"))
        self.interval = 1e9 / words["rate_iops"] if words.get("rate_iops") \
            else 0.0
        self.pause = float(words.get("pause", 0))  # latencies of a request
        self.flow = float(words.get("flow", 0))
        step = self.bs
        if zone:  # whole zones; a reset takes one
            step = zone * BLOCK if self.write == RESET else self.bs
            units -= units % (zone // 8)
        span = units * 4096 // step
        per = max(zone * BLOCK // step, 1)  # requests of a zone
        self.first = int(span * words.get("offset", 0)) // per * per
        self.n = max(int(span * words.get("size", 1.0)) // per * per, 1)
        self.step = step // BLOCK
        self.next = [0, 0]  # of addresses in order
        self.queue: deque[int] = deque()  # instants of arrival
        self.n_paced = 0  # requests that the rate has given an instant
        self.issued = 0
        self.flying = 0
        self.held: list[int] = []  # places that wait because of its share
        # A request whose zone is busy, and whether that was reset for it.
        self.drawn: tuple[int, int] | None = None
        self.begun = False

    def paced_ns(self) -> int:
        """Since the start: the rate lets the next request begin then.  Each
        request has an instant of its own, however many are in flight."""
        self.n_paced += 1
        return int((self.n_paced - 1) * self.interval)

    def draw(self) -> tuple[int, int]:
        """The kind and the first block of the next request."""
        kind = READ if self.reads == 1.0 or (
            self.reads > 0 and self.rng.random() < self.reads) else WRITE
        if self.write == RESET and self.next[kind] == self.n:
            raise StopIteration
        if self.random[kind]:
            at = self.rng.randrange(self.n)
        else:
            at = self.next[kind] % self.n
            self.next[kind] += 1
        return kind, (self.first + at) * self.step


class Host:
    """Plays jobs until there are enough requests."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.lib = open_library(setup["library"])
        self.drive = open_drive(self.lib, setup)
        info = info_of(self.lib, self.drive)
        self.zone = int(info.zone_blocks)
        self.slots = int(info.queue_depth)
        units = setup["capacity"] // 4096
        self.jobs = [Job(words, units, 17 + i, self.zone)
                     for i, words in enumerate(setup["jobs"])]
        self.stuck: list[int] = []  # jobs whose zone is busy
        self.over = False  # a job has come to its end
        self.sharing = [j for j in self.jobs if j.flow]
        self.flow = sum(j.flow for j in self.jobs)
        self.issued = 0
        self.request = Request()
        self.at = ctypes.byref(self.request)
        # Places that wait: instant, order, job.
        self.waiting: list[tuple[int, int, int]] = []
        self.order = 0
        self.turn = 0  # the job whose queue comes next
        self.n_queued = 0  # requests in all queues
        # By tag: job, kind and instant of arrival.
        self.flying: dict[int, tuple[int, int, int]] = {}
        # Latencies of so many jobs count, the rates of all.
        self.n_measured = setup.get("measured", len(self.jobs))
        self.begin()
        self.start: int = self.lib.vssd_now(self.drive)
        for index, job in enumerate(self.jobs):
            for _ in range(job.depth):
                self._wait(index, self.start + job.paced_ns())

    def _wait(self, job: int, at: int) -> None:
        self.order += 1
        heapq.heappush(self.waiting, (at, self.order, job))

    def _ahead(self, job: Job) -> bool:
        """Of its share of the requests?"""
        return job.issued * self.flow > job.flow * self.issued

    def _wake(self, job: Job, now: int) -> None:
        """Its places go on after a sleep: none of its requests is in flight,
        and the others have gone on."""
        if job.held and not job.flying and not self._ahead(job):
            for index in job.held:
                self._wait(index, now + FLOW_SLEEP_NS)
            job.held = []

    def _arrive(self, now: int, index: int) -> None:
        """A request, in the queue of its job."""
        job = self.jobs[index]
        if job.flow and (job.held or self._ahead(job)):
            job.held.append(index)
            self._wake(job, now)
            return
        job.queue.append(now)
        self.n_queued += 1
        self._fetch(now)

    def _fetch(self, now: int) -> None:
        """The drive takes commands while it has room: one of each queue in a
        round (NVMe Base Specification, round robin arbitration)."""
        while self.n_queued and len(self.flying) < self.slots:
            index, self.turn = self.turn, (self.turn + 1) % len(self.jobs)
            queue = self.jobs[index].queue
            if queue:
                self.n_queued -= 1
                self._submit(now, index, queue.popleft())

    def _submit(self, now: int, index: int, arrival: int) -> None:
        job = self.jobs[index]
        try:
            kind, lba = job.drawn or job.draw()
        except StopIteration:
            self.over = True
            return
        job.drawn = None
        if self.zone and kind == WRITE and not self._zone_is_free(
                now, index, lba):
            return
        self.order += 1
        r = self._give(now, WRITE if not self.zone and kind else
                       job.write if kind else READ, lba, job.bs // BLOCK)
        if r == AGAIN:
            job.drawn = kind, lba
            self.stuck.append(index)
            return
        kind = 2 if kind and job.write == RESET else kind
        self.flying[self.order] = index, kind, arrival
        job.issued += 1
        job.flying += 1
        self.issued += 1
        for other in self.sharing:
            if other.held:
                self._wake(other, now)

    def _give(self, now: int, op: int, lba: int, nblocks: int) -> int:
        self.request.op, self.request.lba = op, lba
        self.request.nblocks = nblocks
        r = int(self.lib.vssd_submit(self.drive, now, self.at, self.order))
        if r < 0 and r != AGAIN:
            raise SystemExit(self.lib.vssd_message(self.drive).decode())
        return r

    def _zone_is_free(self, now: int, index: int, lba: int) -> bool:
        """A write to the start of a zone resets that before."""
        job = self.jobs[index]
        if lba % self.zone or job.begun or job.write == RESET:
            job.begun = job.begun and bool(lba % self.zone == 0)
            return True
        job.drawn = WRITE, lba
        self.stuck.append(index)
        self.order += 1
        if self._give(now, RESET, lba, 1) != AGAIN:
            self.flying[self.order] = index, OWN, now
            job.begun = True
        return False

    def _ended(self, done: Any) -> None:
        index, kind, arrival = self.flying.pop(done.tag)
        job = self.jobs[index]
        while self.stuck:
            self._wait(self.stuck.pop(), done.complete_ns)
        if kind == OWN:
            return
        job.flying -= 1
        ns = done.complete_ns - arrival
        if kind == WRITE:
            self.written += job.bs
        self.ended[kind] += 1
        if index < self.n_measured:
            self.latency[kind].append(ns)
        self._wait(index, max(done.complete_ns + int(job.pause * ns),
                              self.start + job.paced_ns()))
        if job.held:
            self._wake(job, done.complete_ns)

    def play(self, enough: Any) -> int:
        """Go on until enough(self); so many ns."""
        drive, waiting = self.drive, self.waiting
        now, next_event, advance = (
            self.lib.vssd_now, self.lib.vssd_next_event, self.lib.vssd_advance)
        done = (Completion * BATCH)()
        at_done, size = ctypes.addressof(done), ctypes.sizeof(Completion)
        start = now(drive)
        while not enough(self) and not self.over:
            ended = 0
            while ended < BATCH:
                event = next_event(drive)
                while waiting and waiting[0][0] <= event:
                    at, _, index = heapq.heappop(waiting)
                    self._arrive(max(at, now(drive)), index)
                    event = next_event(drive)
                if event == NEVER or self.over:
                    return int(now(drive) - start)
                n = advance(drive, event, at_done, BATCH, size)
                for i in range(n):
                    self._ended(done[i])
                self._fetch(now(drive))
                ended += n
        return int(now(drive) - start)

    def begin(self) -> None:
        """Latencies count from here."""
        self.latency = tuple(array("Q") for _ in range(N_KINDS))
        self.ended = [0] * N_KINDS  # of all jobs
        self.written = 0

    def side(self, kind: int, seconds: float) -> dict[str, Any] | None:
        """Of one kind of request."""
        return side(self.latency[kind], self.ended[kind] / seconds)


def side(latency: array[int], iops: float) -> dict[str, Any] | None:
    """Rate, mean and percentiles."""
    n = len(latency)
    if not n:
        return None
    sorted_ns = sorted(latency)
    return {"n": n, "iops": iops, "mean_us": sum(sorted_ns) / n / 1e3,
            "percentiles": {
                f"{p:g}": sorted_ns[min(int(n * p / 100), n - 1)] / 1e3
                for p in PERCENTS if n * min(p, 100 - p) >= 1e4 - 1e-6}}


def main() -> int:
    """The program."""
    setup = json.loads(sys.argv[1])
    host = Host(setup)
    requests, most = setup["requests"], setup["most_written"]

    def enough_of(part: float) -> Any:
        def enough(h: Host) -> bool:
            return bool(len(h.latency[READ]) >= part * requests
                        or h.written >= part * most
                        or sum(h.ended) >= part * setup["most"])
        return enough

    resets = any(job.write == RESET for job in host.jobs)
    host.play((lambda h: len(h.latency[2]) > 0) if resets else enough_of(0.1))
    host.begin()
    seconds = max(host.play((lambda _: False) if resets else enough_of(1.0)),
                  1) / 1e9
    print(json.dumps({"read": host.side(READ, seconds),
                      "write": host.side(WRITE, seconds),
                      "reset": host.side(2, seconds)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
