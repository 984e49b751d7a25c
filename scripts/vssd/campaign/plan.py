# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign of power cuts does: its options, and the instants of its
cuts.  Knows no guest."""

from __future__ import annotations

import bisect
import random
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from .. import ranges
from ..errors import UserError
from .durable import Log, flush_instants

FILE_SYSTEMS = ("ext4", "xfs", "f2fs", "btrfs", "none")
PACKAGES = {"btrfs": "btrfs-progs"}  # that a file system needs
LOG, NOTES = "durable.log", "notes.log"  # files of a recorded run
MOST_CUTS = 100_000
MOST_JOBS = 64
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "": 1}
DRIVE = "tlc-generic,buffer.policy=lru"
DRIVE_BYTES = 512 << 20
# Options with which the content of a drive after a cut is not what became
# durable before it.
REFUSED = {"media.paired_pages": ("on",)}


@dataclass
class Plan:
    """The options of ./vssd powercut campaign."""

    write: str
    check: str
    setup: str = ""
    cuts: int = 20
    seed: int = 1
    at: list[str] = field(default_factory=lambda: ["random"])
    jobs: int = 1
    fs: str = "ext4"
    drive: str = DRIVE
    files: list[Path] = field(default_factory=list)
    packages: str = ""
    seconds: float = 20.0
    check_seconds: float = 60.0
    fsck: bool = True
    icount: bool = True
    recorded: Path | None = None

    def validate(self) -> None:
        """UserError for what no campaign could do."""
        for name in ("write", "check"):
            if not getattr(self, name).strip():
                raise UserError(f"--{name}: give a command")
        ranges.check("--cuts", self.cuts, 1, MOST_CUTS)
        ranges.check("--jobs", self.jobs, 1, MOST_JOBS)
        ranges.check("--seed", self.seed, 0, 2**32 - 1)
        ranges.check("--seconds", self.seconds, 0.1, 3600)
        ranges.check("--check-seconds", self.check_seconds, 1, 3600)
        instants(self.at)
        for path in self.files:
            if not path.exists():
                raise UserError(f"--files {path}: no such file")
        for name in (LOG, NOTES) if self.recorded else ():
            if not (Path(self.recorded or "") / name).is_file():
                raise UserError(f"--recorded {self.recorded}: it has no {name}")
        names = [path.resolve().name for path in self.files]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"--files: two have the name {name}")

    def command(self, at_ns: int) -> str:
        """The command that repeats one cut."""
        default = Plan("", "")
        words = ["./vssd", "powercut", "campaign", "--write", self.write,
                 "--check", self.check]
        for name in ("setup", "seed", "fs", "drive", "packages", "seconds",
                     "check_seconds"):
            value = getattr(self, name)
            if value != getattr(default, name):
                words += [f"--{name.replace('_', '-')}", f"{value}"]
        for path in self.files:
            words += ["--files", str(path)]
        words += [] if self.fsck else ["--no-fsck"]
        words += [] if self.icount else ["--no-icount"]
        if self.recorded:
            words += ["--recorded", str(self.recorded)]
        return shlex.join([*words, "--at", f"{at_ns}ns"])


def instants(words: list[str]) -> list[int] | None:
    """Nanoseconds of --at INSTANT...; None: it names a way."""
    if words in (["random"], ["flush"]):
        return None
    found = []
    for word in words:
        m = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s|)", word)
        if not m:
            raise UserError(f"--at {word}: give random, flush, or instants as"
                            " 1.5s, 20ms, 300ns")
        found.append(round(float(m[1]) * UNITS[m[2]]) if "." in m[1]
                     else int(m[1]) * UNITS[m[2]])
    return sorted(set(found))


def choose(plan: Plan, log: Log, first_ns: int, last_ns: int) -> list[int]:
    """The instants of the cuts, from first_ns to last_ns, ascending."""
    given = instants(plan.at)
    if given is not None:
        beyond = [t for t in given if t > last_ns - first_ns]
        if beyond:
            raise UserError(f"--at {beyond[0]}ns: the write command ended after"
                            f" {(last_ns - first_ns) / 1e9:.9f} s")
        return [first_ns + t for t in given]
    chance = random.Random(plan.seed)
    if plan.at == ["flush"]:
        found = flush_instants(log, first_ns, last_ns)
        if not found:
            raise UserError("--at flush: the write command sent neither a Flush"
                            " nor a write with FUA")
        return found if len(found) <= plan.cuts \
            else sorted(chance.sample(found, plan.cuts))
    return _random(plan.cuts, chance, log, first_ns, last_ns)


def _random(cuts: int, chance: random.Random, log: Log, first_ns: int,
            last_ns: int) -> list[int]:
    """One half uniform over time.  The other half uniform over the states of
    the durable data, however short they last."""
    changes = sorted({r.at_ns for r in log.records
                      if r.changes and first_ns <= r.at_ns <= last_ns})
    found: set[int] = set()
    for i in range(cuts):
        at = chance.randint(first_ns, last_ns)
        if i % 2 and changes:
            begin = chance.choice(changes)
            k = bisect.bisect_right(changes, begin)
            end = changes[k] - 1 if k < len(changes) else last_ns
            at = chance.randint(begin, max(begin, end))
        found.add(at)
    return sorted(found)
