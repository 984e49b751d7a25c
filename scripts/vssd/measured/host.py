# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of several jobs beside each other, on libvssd: a program of its own.

    python -m vssd.measured.host '{"library": ..., "jobs": [...], ...}'

Each job has its requests in flight, its rate, its pause or its share of all
requests, as jobs of fio have.  vssd-sim plays one job at a time.
"""

from __future__ import annotations

import ctypes
import heapq
import json
import random
import sys
from array import array
from typing import Any

NEVER = 2**64 - 1
BLOCK = 512
BATCH = 256
# A job of fio with a share (flow=, flow_sleep=1) that is ahead of it waits until
# none of its requests is in flight, and sleeps for 1 us.
FLOW_SLEEP_NS = 1_000
READ, WRITE = 0, 1
PERCENTS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95,
            97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999)


class Setup(ctypes.Structure):
    """VssdSetup."""

    _fields_ = [("size", ctypes.c_size_t), ("profile", ctypes.c_char_p),
                ("options", ctypes.c_char_p), ("seed", ctypes.c_void_p),
                ("block_bytes", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("policy", ctypes.c_void_p), ("n_policies", ctypes.c_size_t)]


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
    return lib


class Job:
    """One job: `iodepth` places, each of which waits for its next instant."""

    def __init__(self, words: dict[str, Any], units: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.bs = int(words["bs"])
        self.depth = int(words["iodepth"])
        rw = words["rw"]
        self.reads = 1.0 if rw.endswith("read") else \
            float(words["rwmixread"]) / 100 if "rwmixread" in words else 0.0
        # Which addresses are random: those of reads and of writes.
        self.random = (rw in ("randread", "randrw", "randmix"),
                       rw in ("randwrite", "randrw"))
        self.interval = 1e9 / words["rate_iops"] if words.get("rate_iops") \
            else 0.0
        self.pause = float(words.get("pause", 0))  # latencies of a request
        self.flow = float(words.get("flow", 0))
        span = units * 4096 // self.bs
        self.first = int(span * words.get("offset", 0))
        self.n = max(int(span * words.get("size", 1.0)), 1)
        self.next = [0, 0]  # of addresses in order
        self.issued = 0
        self.flying = 0
        self.held: list[int] = []  # places that wait because of its share

    def draw(self) -> tuple[int, int]:
        """The kind and the first block of the next request."""
        kind = READ if self.reads == 1.0 or (
            self.reads > 0 and self.rng.random() < self.reads) else WRITE
        if self.random[kind]:
            at = self.rng.randrange(self.n)
        else:
            at = self.next[kind] % self.n
            self.next[kind] += 1
        return kind, (self.first + at) * (self.bs // BLOCK)


class Host:
    """Plays jobs until there are enough requests."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.lib = open_library(setup["library"])
        self.drive = ctypes.c_void_p()
        said = ctypes.create_string_buffer(1024)
        c = Setup(ctypes.sizeof(Setup), setup["profile"].encode(),
                  ";".join(setup["sets"]).encode(), None, BLOCK, 0, None, 0)
        if self.lib.vssd_load_file(
                ctypes.byref(c), setup["state"].encode(),
                ctypes.byref(self.drive), said, ctypes.c_size_t(1024)) < 0:
            raise SystemExit(said.value.decode())
        units = setup["capacity"] // 4096
        self.jobs = [Job(words, units, 17 + i)
                     for i, words in enumerate(setup["jobs"])]
        self.sharing = [j for j in self.jobs if j.flow]
        self.flow = sum(j.flow for j in self.jobs)
        self.issued = 0
        self.request = Request()
        self.at = ctypes.byref(self.request)
        # Places that wait: instant, order, job.
        self.waiting: list[tuple[int, int, int]] = []
        self.order = 0
        self.flying: dict[int, tuple[int, int]] = {}  # tag: job and kind
        self.latency = (array("Q"), array("Q"))
        self.written = 0
        self.start: int = self.lib.vssd_now(self.drive)
        for index, job in enumerate(self.jobs):
            for _ in range(job.depth):
                self._wait(index, self.start)

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

    def _submit(self, now: int, index: int) -> None:
        job = self.jobs[index]
        if job.flow and (job.held or self._ahead(job)):
            job.held.append(index)
            self._wake(job, now)
            return
        kind, self.request.lba = job.draw()
        self.request.op, self.request.nblocks = kind, job.bs // BLOCK
        self.order += 1
        if self.lib.vssd_submit(self.drive, now, self.at, self.order) < 0:
            raise SystemExit(self.lib.vssd_message(self.drive).decode())
        self.flying[self.order] = index, kind
        job.issued += 1
        job.flying += 1
        self.issued += 1
        for other in self.sharing:
            if other.held:
                self._wake(other, now)

    def _ended(self, done: Any) -> None:
        index, kind = self.flying.pop(done.tag)
        job = self.jobs[index]
        job.flying -= 1
        ns = done.complete_ns - done.submit_ns
        if kind == WRITE:
            self.written += job.bs
        self.latency[kind].append(ns)
        at = done.complete_ns + int(job.pause * ns)
        if job.interval:
            at = max(at, self.start + int(job.issued * job.interval))
        self._wait(index, at)
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
        while not enough(self):
            ended = 0
            while ended < BATCH:
                event = next_event(drive)
                while waiting and waiting[0][0] <= event:
                    at, _, index = heapq.heappop(waiting)
                    self._submit(max(at, now(drive)), index)
                    event = next_event(drive)
                if event == NEVER:
                    return int(now(drive) - start)
                n = advance(drive, event, at_done, BATCH, size)
                for i in range(n):
                    self._ended(done[i])
                ended += n
        return int(now(drive) - start)

    def begin(self) -> None:
        """Latencies count from here."""
        self.latency = (array("Q"), array("Q"))
        self.written = 0


def side(latency: array[int], seconds: float) -> dict[str, Any] | None:
    """Rate, mean and percentiles."""
    n = len(latency)
    if not n:
        return None
    sorted_ns = sorted(latency)
    return {"n": n, "iops": n / seconds, "mean_us": sum(sorted_ns) / n / 1e3,
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
            reads, writes = (len(x) for x in h.latency)
            return bool(reads >= part * requests or h.written >= part * most
                        or reads + writes >= part * setup["most"])
        return enough

    host.play(enough_of(0.1))
    host.begin()
    seconds = max(host.play(enough_of(1.0)), 1) / 1e9
    print(json.dumps({"read": side(host.latency[READ], seconds),
                      "write": side(host.latency[WRITE], seconds)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
