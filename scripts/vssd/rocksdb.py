# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB's db_bench in a guest: what it is told, and what it says.

Knows a guest's shell and the text of db_bench and vssdctl; knows nothing of
figures, nor of how a guest is started.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from .errors import UserError

PACKAGES = ("rocksdb-tools",)
MARK = "==vssd=="
LOADED = "loaded"
ENDED = "ended"
FULL = "No space left on device"
LATE_MINUTES = 20  # a store that has not ended by then waits for ever
TIMED_OUT = 124


@dataclass(frozen=True)
class Store:
    """A store that is loaded in order of the keys, then overwritten at random
    places.  The sizes fit a drive of 147 MB."""

    records: int = 44000
    record_bytes: int = 1000
    key_bytes: int = 16
    memtable: int = 512 << 10
    table: int = 512 << 10  # a file of a level
    base: int = 2 << 20  # the first level, at most
    times: int = 4  # as much in each further one; the last holds nearly all
    dirty: int = 1 << 20  # bytes that the kernel has not written yet, at most
    expire_s: float = 4.5  # and for how long
    debt: int = 12 << 20  # of compaction, from which on writes are slowed down
    system: int = 44 << 20  # bytes of files of the system
    system_writes_s: float = 15  # parts of 4 KiB of these, written again
    seed: int = 2014

    def options(self) -> list[str]:
        """Of db_bench."""
        given = {
            "db": "/mnt/db", "num": self.records, "seed": self.seed,
            "key_size": self.key_bytes, "value_size": self.record_bytes,
            "compression_type": "none", "checksum_type": 0, "open_files": -1,
            "write_buffer_size": self.memtable,
            "target_file_size_base": self.table,
            "max_bytes_for_level_base": self.base,
            "max_bytes_for_level_multiplier": self.times,
            "level_compaction_dynamic_level_bytes": "true",
            "level0_file_num_compaction_trigger": 4,
            "level0_slowdown_writes_trigger": 8,
            "level0_stop_writes_trigger": 12,
            "soft_pending_compaction_bytes_limit": self.debt,
            "hard_pending_compaction_bytes_limit": 2 * self.debt,
            "max_background_jobs": 3}
        return [f"--{k}={v}" for k, v in given.items()]


@dataclass(frozen=True)
class Conditions:
    """What is done with the store's files."""

    discard: bool = True  # what is deleted is trimmed
    rules: tuple[str, ...] = ()  # of streamrun; the store's hints do not count
    hints: bool = False  # the store's own hints count

    @property
    def streams(self) -> bool:
        """Does the kernel use streams?"""
        return bool(self.rules) or self.hints


# Runs as sh; each @name@ is filled in.  What it prints begins with MARK, a word
# and the guest's uptime; then comes text.
SCRIPT = r"""
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mark() { read -r up rest </proc/uptime; echo "@mark@ $1 $up"; }
fail() { echo "$*" >&2; exit 1; }
where() { mark "$1"; df --output=used,size /mnt | tail -n 1; vssdctl -d $dev streams; }
dev=/dev/$(basename "$(dirname "$(grep -lw @serial@ /sys/class/nvme/*/serial)")")n1
[ -b "$dev" ] || fail "no drive @serial@"
cd /proc/sys/vm && echo @dirty@ >dirty_bytes && echo @behind@ >dirty_background_bytes &&
    echo @expire@ >dirty_expire_centisecs || fail "no limits of dirty memory"
[ "$(cat /sys/module/nvme_core/parameters/streams)" = @want@ ] ||
    fail "nvme_core.streams is not @want@"
mkfs.ext4 -q -F -b 4096 -m 0 -J size=4 -N 1024 -E nodiscard $dev &&
    mount -t ext4 -o noatime,@discard@ $dev /mnt || fail "no file system"
head -c @system@ /dev/zero >/mnt/system && sync || fail "no system files"
db_bench @options@ --benchmarks=fillseq >/run/load 2>&1 ||
    fail "$(tail -n 3 /run/load)"
sync
perl -e 'srand(@seed@); open(F, "+<", "/mnt/system") or die;
    while (1) { sysseek(F, 4096 * int(rand(@parts@)), 0);
        syswrite(F, "x" x 4096); select(undef, undef, undef, @pause@) }' &
system=$!
where @loaded@
(while sleep @minute@; do where minute; done) &
minutes=$!
timeout @limit@ @run@db_bench @options@ --use_existing_db=1 --benchmarks=overwrite \
    --duration=@duration@ --histogram=1 --report_interval_seconds=@minute@ \
    --report_file=/run/report >/run/out 2>&1
status=$?
kill $minutes $system
where @ended@
mark report; cat /run/report
mark out; tr '\r' '\n' </run/out | grep -v '^\.\.\. finished'
exit $status
"""


def script(store: Store, conditions: Conditions, serial: str, minutes: int,
           minute_s: int) -> str:
    """The command for the guest."""
    run = ""
    if conditions.rules:
        run = "streamrun -H " + " ".join(
            f"-r {shlex.quote(r)}" for r in conditions.rules) + " -- "
    given = {
        "mark": MARK, "serial": serial, "loaded": LOADED, "ended": ENDED,
        "want": "Y" if conditions.streams else "N", "run": run,
        "discard": "discard" if conditions.discard else "nodiscard",
        "system": store.system, "parts": store.system // 4096,
        "dirty": store.dirty, "behind": store.dirty // 2,
        "expire": int(100 * store.expire_s),
        "pause": f"{1 / store.system_writes_s:.4f}", "seed": store.seed,
        "options": " ".join(store.options()), "minute": minute_s,
        "duration": minutes * minute_s,
        "limit": (minutes + LATE_MINUTES) * minute_s}
    return re.sub("@([a-z]+)@", lambda m: str(given[m[1]]), SCRIPT)


# ---- what it says -----------------------------------------------------------


@dataclass
class Sample:
    """The drive at a time: units of 4 KiB by the host and copied; bytes and
    copies by the number that the host gave the stream, -1 for none."""

    at_s: float
    written: int
    copied: int
    by_stream: dict[int, int]
    copied_of: dict[int, int]
    full: float  # share of the file system that is in use


@dataclass
class Run:
    """One run of the store."""

    samples: list[Sample] = field(default_factory=list)  # first: loaded
    ops: list[tuple[float, int]] = field(default_factory=list)  # until, number
    buckets: list[tuple[float, float, int]] = field(default_factory=list)

    def quantile_us(self, percent: float) -> float:
        """Latency that so many writes do not exceed; within a bucket they are
        taken to be evenly spread."""
        total = sum(n for _, _, n in self.buckets)
        wanted = total * percent / 100
        for low, high, n in self.buckets:
            if wanted <= n:
                return low + (high - low) * wanted / n
            wanted -= n
        return self.buckets[-1][1]


def _sample(at_s: float, lines: list[str]) -> Sample:
    """A line of df, and the table of vssdctl streams."""
    used, *table = (x.split() for x in lines)
    found = Sample(at_s, 0, 0, {}, {}, int(used[0]) / int(used[1]))
    for cells in table[1:]:
        if len(cells) != len(table[0]):
            continue
        row: dict[str, Any] = dict(zip(table[0], cells))
        found.written += int(row["host_units"])
        found.copied += int(row["copied"])
        if row["stream"] != "mixed":
            number = -1 if row["id"] == "-" else int(row["id"])
            found.by_stream[number] = found.by_stream.get(number, 0) \
                + int(row["host_bytes"])
            found.copied_of[number] = found.copied_of.get(number, 0) \
                + int(row["copied"])
    return found


def _buckets(lines: list[str]) -> list[tuple[float, float, int]]:
    found = []
    for line in lines:
        m = re.match(r"[\[(]\s*(\d+),\s*(\d+)\s*[\])]\s+(\d+)\s", line)
        if m:
            found.append((float(m[1]), float(m[2]), int(m[3])))
    return found


def _ops(lines: list[str]) -> list[tuple[float, int]]:
    rows = [line.split(",") for line in lines if line[:1].isdigit()]
    return [(float(at), int(n)) for at, n in rows]


def sections(text: str) -> list[tuple[str, float, list[str]]]:
    """Word, uptime and lines of each part."""
    found: list[tuple[str, float, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(MARK):
            _, word, at = line.split()
            found.append((word, float(at), []))
        elif found:
            found[-1][2].append(line)
    return found


def parse(text: str, status: int = 0) -> Run:
    """What became of script(), which ended with `status`; UserError where the
    store gave up."""
    if FULL in text:
        raise UserError("db_bench: the file system is full")
    if status == TIMED_OUT:
        raise UserError("db_bench waits for ever, as RocksDB does when the"
                        " file system is full")
    if status:
        raise UserError(f"db_bench ended with status {status}")
    run = Run()
    for word, at_s, lines in sections(text):
        if word in (LOADED, "minute", ENDED):
            run.samples.append(_sample(at_s, lines))
        elif word == "report":
            run.ops = _ops(lines)
        elif word == "out":
            run.buckets = _buckets(lines)
    if len(run.samples) < 3 or not run.ops or not run.buckets:
        last = text.strip().splitlines()[-1:] or ["nothing"]
        raise UserError(f"db_bench has no results; it said: {last[0]}")
    return run
