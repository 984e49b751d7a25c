# SPDX-License-Identifier: GPL-2.0-or-later
"""Which class a number belongs to, and which numbers are left out.

Each row has one class.  A row is left out only for a reason in VOIDS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .rows import Row

CLASSES = ("peaks", "depth", "size", "writes", "wa", "mix", "slc", "zones")
# Experiments by the beginning of their name; the longest counts.
EXPERIMENTS = {
    "rated": "peaks", "seq-fill": "peaks", "jobs-qd128": "peaks",
    "depth-4k": "depth", "jobs-qd1": "depth", "randread": "depth",
    "writerand": "depth",
    "depth-bs": "size", "write": "size",
    "steady": "writes", "initial-state": "writes", "used-size": "writes",
    "zones-trim": "writes",
    "mixed": "mix", "mixratio": "mix", "flow": "mix", "rate-limited": "mix",
    "long-gc": "mix", "read-qd1-beside": "mix",
    "read-4k-qd128-beside": "mix",
    "slc": "slc",
    "append": "zones", "zone-": "zones", "mixratio-append": "zones",
    "rate-limited-append": "zones",
}
GRIDS = ("write", "writerand", "append")  # their best rate is a peak

Test = Callable[[Row], bool]


def _is(drive: str, experiment: str, **more: str) -> Test:
    """Rows of a drive and an experiment whose members have these patterns."""
    return lambda r: (drive in r.drive
                      and re.fullmatch(experiment, r.experiment) is not None
                      and all(re.search(p, str(getattr(r, name)))
                              for name, p in more.items()))


def _link(row: Row) -> bool:
    """At the limit of the PCIe 3 host."""
    bs = row.word("bs")
    return (row.drive == "Samsung 980 PRO 1TB" and row.metric == "iops"
            and bs == "4k" and row.value * 4096 > 3.1e9)


VOIDS: tuple[tuple[Test, str], ...] = (
    (_is("PM9A3", "steady-uniform/curve", note=r"at=0-0\.25fills"),
     "doubtful whether that run began with a fresh drive (trap 1)"),
    (_link, "the rate is the limit of the host's PCIe 3 (trap 3)"),
    (_is("nvme-a", "mixratio/.*", workload="rwmixread=100"),
     "the drive was partly unwritten (trap 4)"),
    (lambda r: "io_uring poll" in r.note and r.metric.startswith("p")
     and r.value > 1e7, "not a latency: 17 s, where the mean is far below"),
    (lambda r: "clipped" in r.note
     and (r.metric == "mean_us" or r.value >= 20000) and
     r.metric.endswith("_us"), "values above 20 ms were recorded as 20 ms"),
    (_is("P5520", "initial-state.*", file="fiozipf"),
     "another skew than told: fio's zipf (README, initial-state)"),
)


def void(row: Row) -> str:
    """Why a row is left out, or nothing."""
    return next((why for test, why in VOIDS if test(row)), "")


def class_of(row: Row) -> str:
    """The class of a row; nothing: neither its experiment nor its workload
    says it."""
    if row.metric == "wa":
        return "wa"
    found = [name for name in EXPERIMENTS if row.base.startswith(name)]
    if not found:
        if not (row.word("rw") and row.word("bs")):
            return ""
        if row.word("rwmixread"):
            return "mix"
        return "depth" if row.word("bs") == "4k" else "size"
    name = EXPERIMENTS[max(found, key=len)]
    if name == "depth" and row.word("bs") not in ("4k", ""):
        return "size"
    return name


def best(rows: Iterable[Row]) -> set[Row]:
    """The peaks of the grids: the highest rate of 4 KiB and of 128 KiB."""
    top: dict[tuple[str, ...], Row] = {}
    for row in rows:
        bs = row.word("bs")
        if row.base in GRIDS and row.metric == "iops" and \
                bs in ("4k", "128k") and class_of(row) != "zones":
            key = (row.drive, row.base, bs)
            if key not in top or row.value > top[key].value:
                top[key] = row
    return set(top.values())
