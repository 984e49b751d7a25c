# SPDX-License-Identifier: GPL-2.0-or-later
"""A store in a guest, with its files on a drive that knows streams: commands
to the guest and their results, for any store.

Knows a guest's shell and the text of vssdctl; knows nothing of figures, nor of
how a guest is started.  rocksdb.py and cassandra.py know the stores.
"""

from __future__ import annotations

import abc
import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError

MARK = "==vssd=="
LOADED = "loaded"
ENDED = "ended"
FULL = "No space left on device"
LATE_MINUTES = 20  # a store that has not ended by then waits for ever
TIMED_OUT = 124


FADVISE = "fadvise"  # the paper's interface, by the patches of our kernel
HINT = "hint"  # write hints, by Debian 11's kernel


@dataclass(frozen=True)
class Conditions:
    """The treatment of the store's files."""

    discard: bool = True  # deleted files are trimmed
    rules: tuple[str, ...] = ()  # of streamrun
    own: bool = False  # the store's own choice of streams counts, too
    method: str = FADVISE  # how the kernel is told

    @property
    def streams(self) -> bool:
        """Does the kernel use streams?"""
        return bool(self.rules) or self.own

    @property
    def streamrun(self) -> str:
        """The words before the store's command.  What the store itself wants
        is refused where it does not count; by fadvise, its hints count only
        when they are translated."""
        words = ["streamrun", "-m", self.method]
        if not self.own:
            words.append("-H")
        elif self.method == FADVISE:
            words.append("-T")
        elif not self.rules:
            return ""
        if not self.streams:
            return ""
        for rule in self.rules:
            words += ["-r", shlex.quote(rule)]
        return " ".join([*words, "-- "])


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


@dataclass(frozen=True)
class Store(abc.ABC):
    """The environment of any store, and its task."""

    dirty: int = 1 << 20  # bytes that the kernel has not written yet, at most
    expire_s: float = 4.5  # and for how long
    system: int = 44 << 20  # bytes of files of the system
    system_writes_s: float = 15  # parts of 4 KiB of these, written again
    seed: int = 2014

    @abc.abstractmethod
    def script(self, conditions: Conditions, serial: str, minutes: int,
               minute_s: int) -> str:
        """The command for the guest: load, and so many minutes of writes."""

    @abc.abstractmethod
    def parse(self, text: str, status: int = 0) -> Run:
        """The result of script(), which ended with `status`; UserError where
        the store failed."""

    def given(self, conditions: Conditions, serial: str, minutes: int,
              minute_s: int) -> dict[str, object]:
        """Values of fill() for HEAD and MEANWHILE, and a store's own part."""
        return {
            "mark": MARK, "serial": serial, "loaded": LOADED, "ended": ENDED,
            "want": "Y" if conditions.streams else "N",
            "run": conditions.streamrun,
            "discard": "discard" if conditions.discard else "nodiscard",
            "system": self.system, "parts": self.system // 4096,
            "dirty": self.dirty, "behind": self.dirty // 2,
            "expire": int(100 * self.expire_s),
            "pause": f"{1 / self.system_writes_s:.4f}", "seed": self.seed,
            "minute": minute_s, "duration": minutes * minute_s,
            "limit": (minutes + LATE_MINUTES) * minute_s}


# These run as sh; each @name@ is filled in.  Their output begins with MARK, a
# word and the guest's uptime; then comes text.  In HEAD, the file system:
HEAD = r"""
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mark() { read -r up rest </proc/uptime; echo "@mark@ $1 $up"; }
fail() { echo "$*" >&2; exit 1; }
where() {
    now=$(mark "$1"; df --output=used,size /mnt | tail -n 1; vssdctl -d $dev streams)
    echo "$now" # at once: the last minute may end when the store does
}
drive() { echo /dev/$(basename "$(dirname "$(grep -lw $1 /sys/class/nvme/*/serial)")")n1; }
dev=$(drive @serial@)
[ -b "$dev" ] || fail "no drive @serial@"
cd /proc/sys/vm && echo @dirty@ >dirty_bytes && echo @behind@ >dirty_background_bytes &&
    echo @expire@ >dirty_expire_centisecs || fail "no limits of dirty memory"
[ "$(cat /sys/module/nvme_core/parameters/streams)" = @want@ ] ||
    fail "nvme_core.streams is not @want@"
mkfs.ext4 -q -F -b 4096 -m 0 -J size=4 -N 1024 -E nodiscard $dev &&
    mount -t ext4 -o noatime,@discard@ $dev /mnt || fail "no file system"
head -c @system@ /dev/zero >/mnt/system && sync || fail "no system files"
"""
# Work while the store is measured: the system writes, and samples.
MEANWHILE = r"""sync
perl -e 'srand(@seed@); open(F, "+<", "/mnt/system") or die;
    while (1) { sysseek(F, 4096 * int(rand(@parts@)), 0);
        syswrite(F, "x" x 4096); select(undef, undef, undef, @pause@) }' &
system=$!
where @loaded@
(while sleep @minute@; do where minute; done) &
minutes=$!
"""
TAIL = r"""kill $minutes $system
where @ended@
mark report; cat /run/report
"""


def fill(template: str, given: dict[str, object]) -> str:
    """With the value of each @name@."""
    return re.sub("@([a-z]+)@", lambda m: str(given[m[1]]), template)


# ---- results -----------------------------------------------------------


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
        m = re.match(r"[\[(]\s*(\d+),\s*(\d+)\s*[\])]\s+(\d+)(\s|$)", line)
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


def run_of(text: str, who: str) -> Run:
    """The samples, report and histogram of a script that `who` came to the end
    of; UserError if there is not enough."""
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
        raise UserError(f"{who} has no results; it said: {last[0]}")
    return run
