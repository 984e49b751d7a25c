# SPDX-License-Identifier: GPL-2.0-or-later
"""The jobs of fio that determine parameters of a profile: ./vssd fit --plan.

Knows which figures depend on which option (docs/fitting.md); does not run fio.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UserError

SECONDS = 60
RAMP = 10
MOST_MINUTES = 30
AGE_SECONDS = 600  # of the writes that bring a drive to its steady state


@dataclass(frozen=True)
class Job:
    """One job, and the options (patterns) that its figures depend on."""

    name: str
    keys: str
    lines: tuple[str, ...]
    writes: bool = False
    seconds: int = SECONDS + RAMP


def _random(rw: str, depth: int, *more: str) -> tuple[str, ...]:
    return (f"rw={rw}", "bs=4k", f"iodepth={depth}", *more)


READS = r"nand\.(read|suspend|channels|chips|dies|planes|bus)|host\.firmware"
SPREAD = r"nand\.(channels|chips|dies|planes|read\b)|host\.(cores|max_iops)"
# In the order in which they are run: those that write come last.
JOBS = (
    Job("read-q1", READS, _random("randread", 1)),
    Job("read-q8", SPREAD, _random("randread", 8)),
    Job("read-q32", SPREAD, _random("randread", 32)),
    Job("read-q128", SPREAD + r"|host\.firmware", _random("randread", 128)),
    Job("read-q512", r"host\.(cores|max_iops)|nand\.dies",
        _random("randread", 512)),
    Job("read-128k-q32", r"host\.link|nand\.bus|nand\.channels",
        ("rw=randread", "bs=128k", "iodepth=32")),
    Job("seqread-q1", r"host\.read_ahead", ("rw=read", "bs=4k", "iodepth=1")),
    Job("seqread-q32", r"host\.link", ("rw=read", "bs=128k", "iodepth=32")),
    Job("seqwrite-q8", r"nand\.(program|planes|dies)|buffer\.size",
        ("rw=write", "bs=1m", "iodepth=8"), True),
    Job("write-q1", r"host\.(firmware_write|link)|buffer\.",
        _random("randwrite", 1), True),
    Job("age", r"ftl\.(op_percent|gc)|nand\.(program|erase)",
        _random("randwrite", 128), True, AGE_SECONDS),
    Job("write-q128", r"ftl\.(op_percent|gc)|nand\.(program|erase)",
        _random("randwrite", 128), True),
    Job("mix-70", r"nand\.(suspend|schedule|program|erase)",
        _random("randrw", 16, "rwmixread=70"), True),
    Job("mix-rated", r"nand\.(suspend|schedule|program|erase)|ftl\.gc",
        _random("randrw", 64, "rwmixread=50", "rate_iops=5000,5000",
                "rate_process=poisson"), True),
)
HEAD = """\
# Made by ./vssd fit --plan: about {minutes} minutes.  Run it on the drive as
#   fio --output-format=json --output=mine.json {name}
# and give mine.json to ./vssd fit --fio.
{warning}# For: {keys}.
[global]
filename=/dev/nvmeXnY
direct=1
ioengine=io_uring
time_based=1
group_reporting=1
norandommap=1
randrepeat=0
percentile_list=50:99:99.9:99.99
"""


def jobs_for(keys: list[str]) -> list[Job]:
    """The jobs that parameters need; UserError: none is known for one."""
    for key in keys:
        if not any(re.match(job.keys, key) for job in JOBS):
            raise UserError(f"--plan: no job of fio determines {key}")
    return [j for j in JOBS if any(re.match(j.keys, k) for k in keys)]


def seconds_of(jobs: list[Job]) -> int:
    """How long they take at most."""
    return sum(j.seconds for j in jobs)


def text_of(keys: list[str], name: str) -> str:
    """A job file for these parameters."""
    jobs = jobs_for(keys)
    seconds = seconds_of(jobs)
    assert seconds <= MOST_MINUTES * 60
    parts = [HEAD.format(
        minutes=-(-seconds // 60), name=name, keys=", ".join(keys),
        warning="# Some jobs WRITE: all data on the drive is lost.\n"
        if any(j.writes for j in jobs) else "")]
    for job in jobs:
        whole = job.seconds == AGE_SECONDS
        times = (f"runtime={job.seconds}s",) if whole else (
            f"runtime={SECONDS}s", f"ramp_time={RAMP}s")
        parts.append("\n".join((f"[{job.name}]", "stonewall", *job.lines,
                                *times)) + "\n")
    return "\n".join(parts)
