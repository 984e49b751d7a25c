# SPDX-License-Identifier: GPL-2.0-or-later
"""A suite of another project: its needs in the guest, how one of its tests is
started there, and how to read what it says.

None of their code is part of this project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vssd.errors import UserError

GOOD, BAD, SKIPPED, HUNG = "pass", "fail", "skip", "hang"
HERE = "cd /root/suite && "
REASON_MAX = 160


@dataclass
class Row:
    """The result of one test."""

    name: str
    result: str
    reason: str = ""
    seconds: float = 0.0
    detail: str = ""                # all that the suite said
    complaints: list[str] = field(default_factory=list)
    dead: str = ""                  # why the drive is of no use afterwards


@dataclass(frozen=True)
class Form:
    """The drive that a suite wants, of both devices."""

    size_mib: int = 3072
    sets: tuple[str, ...] = ()      # options of ours
    ours: dict[str, object] = field(default_factory=dict)    # properties
    theirs: dict[str, object] = field(default_factory=dict)  # QEMU's nvme's
    subsys: str = ""                # of QEMU's nvme-subsys; empty: none
    space: dict[str, object] = field(default_factory=dict)   # of its nvme-ns
    iommu: bool = False             # the guest translates the drive's DMA


@dataclass(frozen=True)
class Suite:
    """One suite; tests are started one at a time."""

    name: str
    help: str
    part: str                       # of the checkout, that the guest gets
    mark: str                       # a file of it: is this the checkout?
    tests: Callable[[Path], list[str]]
    prepare: str                    # once in each guest
    command: Callable[[str, str, int], str]  # test, device, seconds
    rows: Callable[[str, str], list[Row]]    # test, what it said
    limit_s: int                    # for one test
    form: Form = Form()
    source: str = ""                # Debian's source package; empty: none
    group: str = ""                 # below guest-tools/suites: tests of ours
    packages: tuple[str, ...] = ()  # of the guest, beside the runner's

    def check(self, folder: Path) -> None:
        """UserError unless the folder is a checkout of this suite."""
        if not (folder / self.mark).exists():
            raise UserError(f"--dir {folder}: no checkout of {self.name}: it"
                            f" has no {self.mark}")


def short(text: str) -> str:
    """As one line for a table."""
    line = " ".join(text.split())
    return line if len(line) <= REASON_MAX else line[:REASON_MAX - 3] + "..."


def silent(test: str, text: str) -> list[Row]:
    """A suite that ends without a result has not passed."""
    return [Row(test, BAD, short("no result: " + text[-300:]), detail=text)]
