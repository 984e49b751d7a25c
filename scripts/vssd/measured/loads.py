# SPDX-License-Identifier: GPL-2.0-or-later
"""What was run on a real drive, as a load of the model.

A load is the state at the start and the requests; rows of the same load are
one point.  Spans are shares of the drive, so that a load is the same at any
scale.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .rows import Row

SEEDED = "seed=17"  # another than that of the fill


@dataclass(frozen=True)
class Load:
    """One experiment point."""

    kind: str
    state: str = ""
    workload: str = ""
    why: str = ""  # of kind "none": what cannot be played
    beside: str = ""  # a second job
    share: float = 1.0  # used size, as a share of the drive
    fills: float = 0.0  # of the used size
    zone: float = 0.0  # share of the drive
    zones: int = 0

    def words(self) -> str:
        """For people."""
        text = f"{self.kind}: {self.workload}"
        return text + (f" beside {self.beside}" if self.beside else "")


def _bytes(text: str) -> float:
    found = re.fullmatch(r"([\d.]+)([kmgKMG]?)(iB|ib)?", text)
    if not found:
        return 0.0
    return float(found.group(1)) * 1024.0 ** " kmg".index(
        found.group(2).lower() or " ")


def bs_of(workload: str) -> int:
    """The bytes of a request."""
    found = re.search(r"bs=(\S+)", workload)
    return int(_bytes(found.group(1))) if found else 4096


# The name of a state (states.py) by the text of a precondition.
STATES = (
    (r"not filled|zones reset|^sanitized; trimmed$|fully erased", "none"),
    (r"random 4k (\d)x", "random:{}"),
    (r"seq fill|512k blocks in random order", "seq"),
    (r"^zones filled|^not (told|stated)|^in GC", "preload"),
    (r"^(sanitized|formatted|trimmed|erased|fresh)", "none"),
)


def state_of(text: str) -> str:
    """The state that a precondition leaves."""
    for pattern, name in STATES:
        found = re.search(pattern, text)
        if found:
            return name.format(*found.groups())
    raise ValueError("no such state")


def _depth(row: Row) -> int:
    text = row.word("iodepth")
    return (int(text) if text.isdigit() else 32) * int(
        row.word("numjobs") or 1)


def _run(row: Row, capacity: int) -> Load:
    """A closed loop of one job; of a drive with zones, each job writes a zone."""
    rw = row.word("rw").split("(")[0]
    words = [f"rw={rw}", f"bs={row.word('bs')}", f"iodepth={_depth(row)}"]
    if row.word("rwmixread"):
        words.append(f"rwmixread={row.word('rwmixread')}")
    if row.word("active_zones") and rw == "write":
        words.append(f"max_open_zones={row.word('active_zones')}")
    if row.word("zone_append"):
        words.append("zone_append=1")
    size = row.word("size")
    share = 1.0
    if size.endswith("G") and capacity:  # of a zoned drive: a zone is on all
        share = _bytes(size) / capacity  # dies, so the whole drive is the same
        words.append(f"size={100 * share:.4g}%")
    return Load("run", state_of(row.precondition), " ".join(words),
                share=share)


def _rated(row: Row, _capacity: int) -> Load:
    rw, bs, depth = (row.word(n) for n in ("rw", "bs", "iodepth"))
    if not depth:
        depth = "256" if rw == "randwrite" else "128"
    state = "seq"
    if rw == "randwrite" and depth != "1":
        state = "random:2"
    elif rw == "write":
        state = "none"
    return Load("run", state, f"rw={rw} bs={bs} iodepth={depth}")


def _mixed(row: Row, _capacity: int) -> Load:
    return Load("mixed", state_of(row.precondition),
                f"rate_iops={row.word('rate_iops')}"
                f" rwmixread={row.word('rwmixread')}")


def _steady(row: Row, capacity: int) -> Load:
    words = [f"iodepth={_depth(row)}"]
    skew = row.word("random_distribution")
    state, share = state_of(row.precondition), 1.0
    if skew:
        words.append(f"random_distribution={skew}")
        # Hot addresses are scattered over the drive; here the fill is.
        if state != "none" and "noshuffle" not in row.file:
            state = "scattered"
    used = row.word("size")
    if used.endswith("iB") and capacity:
        share = min(_bytes(used) / capacity, 1.0)
        state = f"used:{share:.4f}"
    return Load("steady", state, " ".join(words), share=share)


def _zones_trim(row: Row, capacity: int) -> Load:
    return Load("zones", "seq", "bs=512k iodepth=1",
                zone=_bytes(row.word("zonesize")) / capacity,
                zones=int(row.word("active_zones")))


def _slc(_row: Row, _capacity: int) -> Load:
    return Load("slc", "none", "rw=write bs=1m iodepth=8")


def _seq_fill(row: Row, capacity: int) -> Load:
    if row.word("rw") == "randwrite":  # blocks in random order, each once
        return Load("zones", "none", f"bs=512k iodepth={_depth(row)}",
                    zone=524288 / capacity, zones=1)
    return Load("run", "none",
                f"rw=write bs={row.word('bs')} iodepth={_depth(row)}")


def _pair(state: str, reads: str, writes: str) -> Load:
    return Load("pair", state, reads, beside=writes)


def _rate_limited(row: Row, _capacity: int) -> Load:
    """Writes of 128 KiB at a rate beside reads, by the name of the file."""
    rate, depth = re.findall(r"\d+", row.file)[-2:]
    in_order = row.base == "rate-limited-seqread"
    zones = "zones" in row.precondition
    reads = f"rw={'read' if in_order else 'randread'} bs=4k iodepth={depth}"
    rw = "append" if row.base == "rate-limited-append" else "write"
    writes = f"rw={rw} bs=128k iodepth=1"
    if rate != "0":
        writes += f" rate_iops={int(rate) * 8}"
    elif not in_order:
        writes = ""
    if zones and writes:
        reads, writes = f"{reads} size=44%", f"{writes} offset=44% size=44%"
    return _pair(state_of(row.precondition), reads, writes)


def _flow(row: Row, _capacity: int) -> Load:
    share, depth = re.findall(r"\d+", row.file)[-2:]
    return _pair(state_of(row.precondition),
                 f"rw=randread bs=4k iodepth={depth} flow={share}"
                 " size=11%", f"rw=write bs=4k iodepth={depth}"
                 f" flow={100 - int(share)} offset=11% size=11%")


def _long_gc(row: Row, capacity: int) -> Load:
    depth, rate = re.findall(r"\d+", row.file)[-2:]
    part = 100 * 1024**3 * 100 / capacity
    reads = f"rw=randread bs=4k iodepth={depth} size={part:.3g}%"
    if rate == "0":
        return _pair("seq", reads, "")
    return _pair("megabytes:2", reads,
                 f"rw=randwrite bs=1m iodepth=128 rate_iops={4 * int(rate)}"
                 f" offset={part:.3g}% size={4 * part:.3g}%")


DRIVES = 8  # that the jobs of one experiment go round


def _round_robin(row: Row, _capacity: int) -> Load:
    """One of eight drives sees an eighth of the requests in flight."""
    found = re.search(r"num_t_(\d+)", row.file)
    jobs = int(found.group(1)) if found else 0
    depth = 128 if "qd128" in row.base else 1
    reads = f"rw=randread bs=4k iodepth={max(depth // DRIVES, 1)}"
    if depth < DRIVES:
        reads += f" pause={DRIVES - depth}"
    bs = "64k" if "64k" in row.base else "4k"
    writes = f"rw=randwrite bs={bs} iodepth={jobs * 128 // DRIVES}"
    return _pair(state_of(row.precondition), reads, writes if jobs else "")


def _zone_command(row: Row, _capacity: int) -> Load:
    """A Reset or Finish of zones of which a part is written."""
    found = re.match(r"(reset|finish) of a zone of which (\d+) of (\d+)",
                     row.workload)
    if not found:
        raise ValueError("no such command")
    part = int(found.group(2)) / int(found.group(3))
    return Load("zone", "none", f"{found.group(1)} {part:.6f}")


INTERFERENCE = {"zone append": "rw=append", "zone write": "rw=write",
                "random read": "rw=randread"}


def _interference(row: Row, _capacity: int) -> Load:
    """Requests of depth 1 in one half of the zones, resets in the other."""
    if row.workload.startswith("open of"):
        return Load("zone", "none", "open 0")
    words = row.workload.replace("beside reads", "beside random reads") \
        .replace("beside writes", "beside zone writes") \
        .replace("beside appends", "beside zone appends")
    what = next(v for k, v in INTERFERENCE.items() if k in words)
    alone = "beside" not in words
    return _pair(state_of(row.precondition),
                 f"{what} bs=4k iodepth=1 size=50%",
                 "" if alone else "rw=reset bs=4k iodepth=1 offset=50% size=50%")


BUILDERS = {
    "rated": _rated, "mixed": _mixed, "steady": _steady,
    "initial-state": _steady, "used-size": _steady,
    "zones-trim": _zones_trim, "slc": _slc, "seq-fill": _seq_fill,
    "depth-": _run, "jobs-": _run, "randread": _run, "write": _run,
    "writerand": _run, "mixratio": _run, "append": _run,
    "zone-reset": _zone_command, "zone-finish": _zone_command,
    "zone-interference": _interference, "rate-limited": _rate_limited,
    "flow": _flow, "long-gc": _long_gc,
    "read-": _round_robin,
}

def load_of(row: Row, capacity: int) -> Load:
    """The load of a row.  An experiment of another name is a closed loop of its
    workload."""
    names = [n for n in BUILDERS if row.base.startswith(n)]
    return BUILDERS.get(max(names, key=len, default=""), _run)(row, capacity)
