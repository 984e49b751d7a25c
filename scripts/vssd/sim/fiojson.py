# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of fio (--output-format=json) as figures that the model can be
compared with.

Knows fio's JSON and which workload of vssd-sim repeats a job; does not run
anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, one_line

KINDS = {"read": "read", "write": "write", "randread": "randread",
         "randwrite": "randwrite", "rw": "rw", "readwrite": "rw",
         "randrw": "randrw"}
# Engines that have one request in flight for each job, whatever iodepth says.
SYNC = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
# They pace the requests, so the figures are not those of the drive.
PACED = ("rate", "rate_iops", "rate_min", "thinktime", "latency_target")
MATCHES = ("iops", "mean", "p50", "p99", "p999")
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9}
FILLS = ("none", "preload", "seq", "random")
SIZE = re.compile(r"(\d+)([kmgt]?)(?:i?b?)", re.I)


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


def matches(text: str) -> tuple[str, ...]:
    """--match."""
    names = tuple(n.strip() for n in text.split(",") if n.strip())
    for name in names:
        if name not in MATCHES:
            raise UserError(f"--match {name}: allowed " + ", ".join(MATCHES))
    if not names:
        raise UserError("--match: it is empty; allowed " + ", ".join(MATCHES))
    return names


def targets(path: Path, how: How) -> list[Target]:
    """The figures of all jobs of a file."""
    jobs = _jobs(path)
    out = []
    for job, options in jobs:
        out += _targets(f"{path}: job {job.get('jobname', '?')!r}", job,
                        options, how)
    return out


def _jobs(path: Path) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Each job with its options, the global ones included."""
    data = _load(path)
    common = data.get("global options", {})
    jobs = data.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise UserError(f"{path}: no jobs; give the output of"
                        " fio --output-format=json")
    out = []
    groups: dict[Any, str] = {}
    for job in jobs:
        if not isinstance(job, dict):
            raise UserError(f"{path}: no jobs; give the output of"
                            " fio --output-format=json")
        name = str(job.get("jobname", "?"))
        group = job.get("groupid", len(groups))
        if group in groups:
            raise UserError(
                f"{path}: jobs {groups[group]!r} and {name!r} ran at the same"
                " time; use stonewall between jobs, and group_reporting with"
                " numjobs")
        groups[group] = name
        out.append((job, {**common, **job.get("job options", {})}))
    return out


def _load(path: Path) -> dict[str, Any]:
    """The file's object; fio may print notes before it."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    start = text.find("{")
    try:
        data, _ = json.JSONDecoder().raw_decode(text[max(start, 0):])
    except ValueError as e:
        raise UserError(f"{path}: no JSON ({one_line(str(e))}); give the"
                        " output of fio --output-format=json") from e
    if not isinstance(data, dict):
        raise UserError(f"{path}: no results of fio")
    return data


def _size(where: str, key: str, text: str) -> int:
    m = SIZE.fullmatch(text.strip())
    if not m:
        raise UserError(f"{where}: {key}={text}: allowed one size, as 4k")
    return int(m[1]) << (10 * (" kmgt".index(m[2].lower() or " ")))


def _count(where: str, options: dict[str, str], key: str) -> int:
    text = str(options.get(key, "1"))
    if not text.isdigit() or int(text) < 1:
        raise UserError(f"{where}: {key}={text}: allowed 1 or more")
    return int(text)


def depth_of(where: str, options: dict[str, str]) -> int:
    """Requests that the job keeps in flight."""
    depth = _count(where, options, "iodepth")
    if options.get("ioengine", "psync") in SYNC:
        depth = 1
    return depth * _count(where, options, "numjobs")


def workload_of(where: str, options: dict[str, str], requests: int) -> str:
    """The job as keywords of vssd-sim run --workload."""
    kind = options.get("rw", options.get("readwrite", "read"))
    if kind not in KINDS:
        raise UserError(f"{where}: rw={kind}: allowed " + ", ".join(KINDS))
    for key in PACED:
        if key in options:
            raise UserError(f"{where}: {key}: the job must run as fast as the"
                            " drive")
    kind = KINDS[kind]
    depth = depth_of(where, options)
    words = [f"rw={kind}", f"iodepth={depth}"]
    if "bssplit" in options:
        words.append(f"bssplit={options['bssplit']}")
    else:
        bs = options.get("bs", options.get("blocksize", "4k"))
        words.append(f"bs={_size(where, 'bs', str(bs))}")
    if kind in ("rw", "randrw"):
        words.append(f"rwmixread={options.get('rwmixread', '50')}")
    for key in ("random_distribution", "percentage_random"):
        if key in options:
            words.append(f"{key}={options[key]}")
    if not requests:
        requests = max(100 * depth, 5000) if kind in ("read", "randread") \
            else max(400 * depth, 60000)
    return " ".join([*words, f"number_ios={requests}"])


def _fill(kind: str) -> str:
    return {"read": "preload", "randread": "preload", "write": "none"} \
        .get(kind, "random")


def _targets(where: str, job: dict[str, Any], options: dict[str, str],
             how: How) -> list[Target]:
    workload = workload_of(where, options, how.requests)
    kind = workload.split()[0].removeprefix("rw=")
    fill = how.fill or _fill(kind)
    sides = [s for s in ("read", "write")
             if job.get(s, {}).get("total_ios", job.get(s, {}).get("iops"))]
    if not sides:
        raise UserError(f"{where}: no requests completed")
    name = str(job.get("jobname", "?"))
    out = []
    for match in how.match:
        if match == "iops":
            out.append(Target(name, "iops", sum(
                float(job[s]["iops"]) for s in sides), workload, fill))
            continue
        for side in sides:
            prefix = "" if len(sides) == 1 else side + "."
            value = _latency_us(where, job[side], match)
            out.append(Target(name, f"{prefix}{match}_us", value, workload,
                              fill))
    for t in out:
        if t.value <= 0:
            raise UserError(f"{where}: {t.measure} is {t.value}: allowed more"
                            " than 0")
    return out


def _latency_us(where: str, side: dict[str, Any], match: str) -> float:
    """Mean or percentile, of submission to completion where fio has it."""
    kinds = [side.get("lat_ns", {}), side.get("clat_ns", {})]
    for kind in kinds:
        if match == "mean" and "mean" in kind:
            return float(kind["mean"]) / 1e3
        for name, value in kind.get("percentile", {}).items():
            if match != "mean" and float(name) == PERCENTILES[match]:
                return float(value) / 1e3
    raise UserError(f"{where}: fio reported no {match}; give fio"
                    " --percentile_list=50:99:99.9, or use --match iops,mean")
