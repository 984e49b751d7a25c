# SPDX-License-Identifier: GPL-2.0-or-later
"""Another simulator on the board: its binary in place of vssd-sim.

Knows the facts of a drive's profile and how results are kept; each peer knows
its own files and reports.
"""

from __future__ import annotations

import configparser
import dataclasses
import inspect
import re
from pathlib import Path

from vssd.errors import UserError
from vssd.measured.drives import Drive
from vssd.measured.loads import Load
from vssd.measured.play import Player
from vssd.paths import key_of

NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
REQUESTS = 30_000  # of each kind: a peer's percentiles are of p99 at most

Facts = dict[str, str]


def facts_of_file(profile: Path) -> Facts:
    """The options of a profile."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read_string(profile.read_text(encoding="utf-8"))
    return {f"{section}.{key}": value for section in ini.sections()
            for key, value in ini.items(section)}


def facts_of(drive: Drive) -> Facts:
    """The options of the profile, with those of the drive."""
    return {**facts_of_file(drive.path),
            **dict(one.split("=", 1) for one in drive.sets)}


def number(facts: Facts, key: str, default: int = 1) -> int:
    """An option without a unit."""
    return int(facts.get(key, default))


def ns(facts: Facts, key: str) -> int:
    """A time; 0: it is not there."""
    text = facts.get(key, "0ns")
    found = re.fullmatch(r"([\d.]+)([num]?s)", text)
    if not found:
        raise UserError(f"{key}={text}: a peer needs a time")
    return int(float(found.group(1)) * NS[found.group(2)])


def spare(facts: Facts) -> float:
    """Spare space, as a share of the user capacity."""
    return float(facts.get("ftl.op_percent", "7%").rstrip("%")) / 100


def program_ns(facts: Facts, bits: int) -> int:
    """Of a page.  A one-shot program writes the pages of a word line in one
    time."""
    return ns(facts, "nand.program") // (
        bits if facts.get("nand.one_shot") == "on" else 1)


def mixed_rates(load: Load) -> tuple[float, float]:
    """Reads and writes a second of a mixed load."""
    words = dict(w.split("=") for w in load.workload.split())
    rate, share = (float(words[n]) for n in ("rate_iops", "rwmixread"))
    return rate * share / 100, rate * (1 - share / 100)


class Peer(Player):
    """A player whose run() is another simulator's."""

    name = ""

    def __init__(self, player: Player, program: Path) -> None:
        super().__init__(player.states, player.requests, player.library)
        self.program = program
        self.content = program.read_bytes()

    def _file(self, drive: Drive, load: Load) -> Path:
        module = Path(inspect.getfile(type(self)))
        key = key_of(self.content, module.read_bytes(),
                     Path(__file__).read_bytes(), drive.path.read_bytes(),
                     *drive.sets, dataclasses.astuple(load))
        return self.states.folder / f"{self.name}-{key}.json"
