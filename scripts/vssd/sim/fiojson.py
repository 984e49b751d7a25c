# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of fio (--output-format=json) as figures that the model can be
compared with.

Knows which workload of vssd-sim repeats a job, and which job none repeats; does
not know the files (fiofile.py), and does not run anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from . import fiofile
from .fiofile import Job, LeftOut

KINDS = {"read": "read", "write": "write", "randread": "randread",
         "randwrite": "randwrite", "rw": "rw", "readwrite": "rw",
         "randrw": "randrw"}
# Engines that have one request in flight for each job, whatever iodepth says.
SYNC = ("sync", "psync", "vsync", "pvsync", "pvsync2")
CACHED = ("mmap", "splice")  # they go through the page cache, even with direct=1
# They never do, whatever direct= says.
UNCACHED = ("io_uring_cmd", "sg", "spdk", "xnvme", "libblkio", "nvme")
NO_DRIVE = ("null", "cpuio", "net", "netsplice", "rdma", "exec", "http", "rados",
            "rbd", "ftruncate", "falloc", "e4defrag", "filecreate", "filestat",
            "filedelete", "dircreate", "dirstat", "dirdelete")
SPEED = "the job must run as fast as the drive"
DEPTH = "the job must keep its requests in flight"
# Options with which a run of the model is another one, unless they have one of
# the values that turn them off.
REFUSED = {
    **dict.fromkeys(("rate", "rate_min", "rate_iops_min", "thinktime",
                     "latency_target", "flow"), SPEED),
    **dict.fromkeys(("iodepth_low", "iodepth_batch_complete",
                     "iodepth_batch_complete_min"), DEPTH),
    "sync": "writes that wait for the medium have no keyword of --workload",
    "sync_file_range": "it is of the page cache, not of the drive",
    "verify": "reads that check the data are among the requests",
    "verify_only": "it reads no data of the workload",
    "zonemode": "the requests follow zones",
    "zonesize": "the requests follow zones",
    "read_iolog": "the requests are those of a log; replay that",
    "kb_base": "sizes in other units",
    "fdp": "the writes have placement hints",
    "dataplacement": "the writes have placement hints",
    "bs_is_seq_rand": "sizes for sequential and random requests",
    "bs_unaligned": "sizes that are no whole blocks",
    "blocksize_unaligned": "sizes that are no whole blocks",
}
OFF = {
    "sync": ("0", "none"), "verify": ("0", "null", "none"),
    "zonemode": ("none",), "kb_base": ("1024",),
    "iodepth_batch_complete": ("1", "0"),
    "iodepth_batch_complete_min": ("1", "0"),
}
MATCHES = ("iops", "mean", "p50", "p99", "p999", "p9999")
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "p9999": 99.99}
REACHED = 0.97  # of its rate, from which a paced job was not held up
FILLS = ("none", "preload", "seq", "random")
SIZE = re.compile(r"(\d+)([kmgt]?)(?:i?b?)", re.I)
HOT = re.compile(r"random|zipf(?::[\d.]+)?|zoned:.*")
SIZES_MAX = 64  # in one mix of vssd-sim
OTHERS = "jobs with other options are in its group: use stonewall between them"
SIZE_ERROR = 0.02  # of the mean size, to what the options say
MIX_ERROR = 5.0  # percentage points of reads


@dataclass(frozen=True)
class Target:
    """A figure of a job: what a run of the workload should give."""

    job: str
    measure: str  # as validation.measured() takes it
    value: float
    workload: str
    fill: str


@dataclass(frozen=True)
class How:
    """What to make of a job."""

    match: tuple[str, ...]
    fill: str  # "": by the kind of the job
    requests: int  # 0: by its kind and depth
    client: str = ""  # of fio's, where there are several


def matches(text: str) -> tuple[str, ...]:
    """--match."""
    names = tuple(n.strip() for n in text.split(",") if n.strip())
    for name in names:
        if name not in MATCHES:
            raise UserError(f"--match {name}: allowed " + ", ".join(MATCHES))
    if not names:
        raise UserError("--match: it is empty; allowed " + ", ".join(MATCHES))
    return names


def targets(path: Path, how: How,
            left_out: Callable[[str], None] = lambda _: None) -> list[Target]:
    """The figures of all jobs of a file.  Jobs that cannot be repeated are told
    to left_out(); a file without any other is refused."""
    out: list[Target] = []
    faults = []
    for job in fiofile.jobs(path, how.client):
        try:
            out += _targets(job, how)
        except LeftOut as e:
            faults.append(str(e))
    if not out:
        more = f" (and {len(faults) - 1} more jobs)" if faults[1:] else ""
        raise UserError(faults[0] + more)
    for text in faults:
        left_out(text)
    return out


# ---- options -----------------------------------------------------------------


def _size(where: str, key: str, text: str, whole: str = "") -> int:
    m = SIZE.fullmatch(text.strip())
    if not m or int(m[1]) == 0:
        raise LeftOut(f"{where}: {key}={whole or text}: allowed one size, as"
                      " 4k")
    return int(m[1]) << (10 * (" kmgt".index(m[2].lower() or " ")))


def _count(where: str, options: dict[str, str], key: str) -> int:
    text = str(options.get(key, "1"))
    if not text.isdigit() or int(text) < 1:
        raise LeftOut(f"{where}: {key}={text}: allowed 1 or more")
    return int(text)


def depth_of(where: str, options: dict[str, str]) -> int:
    """Requests that the job keeps in flight."""
    depth = _count(where, options, "iodepth")
    if options.get("ioengine", "psync") in SYNC:
        depth = 1
    return depth * _count(where, options, "numjobs")


def is_direct(options: dict[str, str]) -> bool:
    """Does the job go past the page cache?  fio's default is not to."""
    if engine_of(options) in UNCACHED:
        return True
    direct = False
    for key, value in options.items():  # the last one counts
        if key in ("direct", "buffered"):
            direct = (value.strip().lower() not in ("0", "false")) \
                == (key == "direct")
        elif key in ("atomic", "o_atomic"):
            direct = direct or value.strip() != "0"
    return direct and engine_of(options) not in CACHED


def engine_of(options: dict[str, str]) -> str:
    """The engine's name; one from a file has a path before it."""
    name = options.get("ioengine", "psync").removeprefix("external:")
    return "spdk" if "spdk" in name else name


def _check_method(where: str, options: dict[str, str]) -> None:
    """Is it the drive that was measured, at its own speed?"""
    engine = engine_of(options)
    if engine in NO_DRIVE:
        raise LeftOut(f"{where}: ioengine={engine}: it measures no drive")
    if not is_direct(options):
        what = f"ioengine={engine}" if engine in CACHED else \
            "buffered I/O (direct=0 is fio's default)"
        raise LeftOut(f"{where}: {what}: it measures the page cache, not the"
                      " drive; run it with direct=1"
                      + (" and another engine" if engine in CACHED else ""))
    for key, why in REFUSED.items():
        if key not in options:
            continue
        value = options[key].strip().lower()
        off = OFF.get(key, ("0", "0,0", "0,0,0"))
        if value not in off:
            name = key if value.isdigit() else f"{key}={value}".rstrip("=")
            raise LeftOut(f"{where}: {name}: {why}")
    files = options.get("filename", "").replace("\\:", "")
    if files.count(":/dev/"):
        raise LeftOut(f"{where}: filename={files}: several drives at once")


def _mix(where: str, options: dict[str, str]) -> str:
    """bssplit=, as vssd-sim takes it: all shares written out, no trims."""
    text = options["bssplit"]
    if text.count(",") < 2 and all(_is_whole(k) for k in text.split(",")):
        return f"bssplit={text}"
    kinds = []
    for kind in text.split(",")[:2]:
        parts = [p.partition("/") for p in kind.split(":") if p]
        given = [float(s) for _, _, s in parts if _is_number(s)]
        blank = len(parts) - len(given)
        if not parts or any(s and not _is_number(s) for _, _, s in parts):
            raise LeftOut(f"{where}: bssplit={text}: allowed SIZE/PERCENT:...")
        each = (100 - sum(given)) / blank if blank else 0.0
        kinds.append(_shares([
            (_size(where, "bssplit", size, text),
             float(share) if share else each) for size, _, share in parts]))
    return "bssplit=" + ",".join(kinds)


def _is_whole(text: str) -> bool:
    """Are all shares there, in sizes that vssd-sim takes?"""
    parts = [re.fullmatch(r"\d+[kmgt]?b?/(\d+)", p, re.I)
             for p in text.split(":")]
    return sum(int(m[1]) for m in parts if m) == 100 and all(parts)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", text) is not None


def _shares(sizes: list[tuple[int, float]]) -> str:
    """Sizes and percentages that add up to 100, in steps of 0.0001."""
    sizes = [(size, share) for size, share in sizes if share > 0]
    total = sum(share for _, share in sizes) or 1.0
    parts, before, so_far = [], 0, 0.0
    for size, share in sizes:
        so_far += share
        end = round(1e6 * so_far / total)
        parts.append(f"{size}/{(end - before) / 1e4:.4f}".rstrip("0")
                     .rstrip("."))
        before = end
    return ":".join(parts)


def _range(where: str, text: str) -> list[tuple[int, float]]:
    """bsrange=LOW-HIGH: multiples of LOW, each as often, as fio draws them; of
    many, as many as vssd-sim takes, at equal distances."""
    low, _, high = text.partition("-")
    least = _size(where, "bsrange", low, text)
    most = _size(where, "bsrange", high, text)
    if most < least:
        raise LeftOut(f"{where}: bsrange={text}: the smaller size comes first")
    count = most // least
    taken = min(count, SIZES_MAX)
    return [(least * (1 + (2 * i + 1) * count // (2 * taken)), 100 / taken)
            for i in range(taken)]


def _range_mix(where: str, options: dict[str, str]) -> str:
    """bsrange= as a mix of sizes."""
    kinds = options["bsrange"].split(",")[:2]
    return "bssplit=" + ",".join(_shares(_range(where, k)) for k in kinds)


def _sizes(where: str, options: dict[str, str]) -> str:
    """The sizes of requests, as a keyword; fio takes bssplit before bsrange,
    and of bs and bsrange the one that comes last."""
    names = {"blocksize": "bs", "blocksize_range": "bsrange"}
    options = {names.get(k, k): v for k, v in options.items()}
    if options.get("bssplit"):
        return _mix(where, options)
    which = [k for k in options if k in ("bs", "bsrange")]
    if which and which[-1] == "bsrange":
        return _range_mix(where, options)
    return f"bs={_size(where, 'bs', options.get('bs', '4k'))}"


def _flushes(where: str, options: dict[str, str]) -> int:
    """Writes between two flushes; 0: none."""
    found = []
    for key in ("fsync", "fdatasync"):
        text = options.get(key, "0")
        if not text.isdigit():
            raise LeftOut(f"{where}: {key}={text}: allowed a number of writes")
        if int(text):
            found.append(int(text))
    if len(found) > 1:
        raise LeftOut(f"{where}: fsync and fdatasync: allowed one of them")
    return found[0] if found else 0


def _kind(where: str, options: dict[str, str]) -> str:
    kind = options.get("rw", options.get("readwrite", "read"))
    if kind not in KINDS:
        raise LeftOut(f"{where}: rw={kind}: allowed " + ", ".join(KINDS))
    return KINDS[kind]


def _reads(options: dict[str, str]) -> str:
    """The percentage of reads in a mix; the last option counts."""
    reads = "50"
    for key, value in options.items():
        if key == "rwmixread":
            reads = value
        elif key == "rwmixwrite" and value.isdigit():
            reads = str(100 - int(value))
    return reads


def rate_of(where: str, options: dict[str, str], kind: str) -> int:
    """Requests a second of a paced job, of reads and writes together; 0: it is
    not paced.  fio paces each direction of each of numjobs by itself."""
    given = options.get("rate_iops", "0").split(",")
    if not all(g.strip().isdigit() for g in given[:2]):
        raise LeftOut(f"{where}: rate_iops={options['rate_iops']}: allowed"
                      " requests a second")
    both = [int(given[0]), int(given[1] if given[1:] else given[0])]
    sides = both if kind in ("rw", "randrw") else \
        both[1:] if kind in ("write", "randwrite") else both[:1]
    if any(sides) and not all(sides):
        raise LeftOut(f"{where}: rate_iops of one direction alone")
    return sum(sides) * _count(where, options, "numjobs")


def workload_of(where: str, options: dict[str, str], requests: int) -> str:
    """The job as keywords of vssd-sim run --workload."""
    kind = _kind(where, options)
    depth = depth_of(where, options)
    words = [f"rw={kind}", f"iodepth={depth}", _sizes(where, options)]
    if kind in ("rw", "randrw"):
        words.append(f"rwmixread={_reads(options)}")
    if kind.startswith("rand"):
        hot = options.get("random_distribution", "")
        if hot and not HOT.fullmatch(hot):
            raise LeftOut(f"{where}: random_distribution={hot}: allowed"
                          " random, zipf:THETA, zoned:ACCESS/AREA:...")
        if hot:
            words.append("random_distribution="
                         + ("zipf:1.1" if hot == "zipf" else hot))
        if "percentage_random" in options:
            words.append("percentage_random=" + options["percentage_random"])
    flushes = _flushes(where, options)
    if flushes and kind not in ("read", "randread"):
        words.append(f"fsync={flushes}")
    rate = rate_of(where, options, kind)
    if rate:
        words += [f"rate_iops={rate}", "rate_process="
                  + options.get("rate_process", "linear")]
    if not requests:
        requests = max(100 * depth, 5000) if kind in ("read", "randread") \
            else max(400 * depth, 60000)
    return " ".join([*words, f"number_ios={requests}"])


# ---- figures --------------------------------------------------------------------


def _fill(kind: str) -> str:
    return {"read": "preload", "randread": "preload", "write": "none"} \
        .get(kind, "random")


def _sides(job: Job) -> list[str]:
    """The kinds of requests that completed; "mixed" is both
    (unified_rw_reporting)."""
    sides = [s for s in ("read", "write") if _ios(job.fields.get(s))]
    if not sides and _ios(job.fields.get("mixed")):
        sides = ["mixed"]
    if not sides:
        raise LeftOut(f"{job.where}: no requests completed")
    return sides


def _ios(side: Any) -> float:
    if not isinstance(side, dict):
        return 0.0
    return float(side.get("total_ios", side.get("iops")) or 0)


def _check_group(job: Job, kind: str, sides: list[str], workload: str) -> None:
    """fio tells the options of a group's first job alone (group_reporting): do
    the requests agree with them?"""
    for side, other in (("read", "write"), ("write", "read")):
        if kind.removeprefix("rand") == side and other in sides:
            raise LeftOut(f"{job.where}: rw={kind}, but there are {other}s:"
                          f" {OTHERS}")
    for side in sides:
        fields = job.fields[side]
        ios, nbytes = _ios(fields), float(fields.get("io_bytes") or 0)
        want = _mean_size(workload, side)
        error = SIZE_ERROR  # a mix of sizes has one of its own
        if " bs=" not in workload:
            error += 10 / ios ** 0.5
        if nbytes and want and abs(nbytes / ios / want - 1) > error:
            raise LeftOut(
                f"{job.where}: {side}s of {nbytes / ios:.0f} bytes, where its"
                f" options say {want:.0f}: {OTHERS}")
    ios = sum(_ios(job.fields[s]) for s in sides)
    counted = all("total_ios" in job.fields[s] for s in sides)
    if kind in ("rw", "randrw") and "mixed" not in sides and counted:
        reads = 100 * _ios(job.fields.get("read")) / ios
        said = float(_reads(job.options))
        if abs(reads - said) > MIX_ERROR + 300 / ios ** 0.5:
            raise LeftOut(f"{job.where}: {reads:.0f} % reads, where its"
                          f" options say {said:.0f}: {OTHERS}")


def _mean_size(workload: str, side: str) -> float:
    """Bytes of a request of that side; 0: not known."""
    key, _, text = workload.split()[2].partition("=")
    if key == "bs":
        return float(text)
    kinds = text.split(",")
    if side == "mixed" and len(kinds) > 1:
        return 0.0
    parts = [p.partition("/") for p in kinds[-1 if side == "write" else 0]
             .split(":")]
    return sum(_size("", key, size) * float(share) / 100
               for size, _, share in parts)


def _iops(job: Job, sides: list[str], workload: str) -> float:
    """Of reads and writes, and of the flushes, which the model counts, too."""
    flush = re.search(r" fsync=(\d+)", workload)
    per_write = 1 + (1 / int(flush[1]) if flush else 0)
    return sum(float(job.fields[s].get("iops") or 0)
               * (per_write if s == "write" else 1) for s in sides)


def _targets(job: Job, how: How) -> list[Target]:
    if job.fault:
        raise LeftOut(f"{job.where}: {job.fault}")
    sides = _sides(job)
    if not job.options:
        raise LeftOut(f"{job.where}: fio wrote no options of the job; use a"
                      " newer fio")
    _kind(job.where, job.options)
    _check_method(job.where, job.options)
    workload = workload_of(job.where, job.options, how.requests)
    kind = workload.split()[0].removeprefix("rw=")
    _check_group(job, kind, sides, workload)
    rate = rate_of(job.where, job.options, kind)
    if rate and _iops(job, sides, workload) < REACHED * rate:
        raise LeftOut(f"{job.where}: rate_iops: the drive did not reach it")
    flushes = " fsync=" in workload
    if flushes and sides == ["mixed"]:
        raise LeftOut(f"{job.where}: unified_rw_reporting with flushes")
    fill = how.fill or _fill(kind)
    out = []
    for match in how.match:
        if match == "iops":
            out.append(Target(job.name, "iops", _iops(job, sides, workload),
                              workload, fill))
            continue
        for side in sides:
            alone = len(sides) == 1 and not flushes
            value = _latency_us(job, job.fields[side], match)
            out.append(Target(job.name, ("" if alone else side + ".")
                              + f"{match}_us", value, workload, fill))
    for t in out:
        if t.value <= 0:
            raise UserError(f"{job.where}: {t.measure} is {t.value}: allowed"
                            " more than 0")
    return out


def _latency_us(job: Job, side: dict[str, Any], match: str) -> float:
    """Mean or percentile, of submission to completion where fio has it."""
    # fio 2 has microseconds.
    for kind, unit in (("lat_ns", 1e3), ("clat_ns", 1e3), ("lat", 1.0),
                       ("clat", 1.0)):
        found = side.get(kind) or {}
        if match == "mean" and found.get("mean"):
            return float(found["mean"]) / unit
        for name, value in (found.get("percentile") or {}).items():
            if match != "mean" and float(name) == PERCENTILES[match] \
                    and value:
                return float(value) / unit
    if job.apart and match != "mean":
        raise UserError(f"{job.where}: fio reported {match} of each of its"
                        " numjobs jobs alone; give fio --group_reporting, or"
                        " use --match iops,mean")
    raise UserError(f"{job.where}: fio reported no {match}; give fio"
                    " --percentile_list=50:99:99.9, or use --match iops,mean")
