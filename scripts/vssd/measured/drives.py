# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of the files and their profiles: profiles/drives.toml.

Says which profile, with which options, stands for a drive, and which of its
rows a parameter of the profile was fitted on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tomlfile
from ..errors import UserError
from ..paths import PROJECT
from .rows import Row

FILE = PROJECT / "profiles/drives.toml"
DOC = "docs/lab/measured-drives.md"
KEYS = ("name", "profile", "set", "capacity", "by_rule", "fitted")
USES = ("fitted", "by rule", "predicted")


@dataclass(frozen=True)
class Drive:
    """A drive of the files."""

    name: str
    profile: Path | None  # nothing: there is none yet
    sets: tuple[str, ...]
    capacity: int  # bytes of the real drive
    by_rule: bool  # made from facts alone
    fitted: tuple[str, ...]  # patterns: "EXPERIMENT | WORKLOAD | METRIC"

    @property
    def path(self) -> Path:
        """Of its profile."""
        if self.profile is None:
            raise UserError(f"{self.name}: no profile ({FILE.name})")
        return self.profile

    def use(self, row: Row) -> str:
        """One of USES."""
        text = f"{row.experiment} | {row.workload} | {row.metric}"
        if any(re.search(p, text) for p in self.fitted):
            return "fitted"
        return "by rule" if self.by_rule else "predicted"


def _drive(where: str, table: dict[str, Any], folder: Path) -> Drive:
    for key in table:
        if key not in KEYS:
            raise UserError(f"{where}.{key}: allowed {', '.join(KEYS)}")
    for key in ("name", "capacity"):
        if key not in table:
            raise UserError(f"{where}: {key} is missing")
    if table.get("by_rule") and table.get("fitted"):
        raise UserError(f"{where}: by_rule and fitted exclude each other")
    profile = folder / f"{table['profile']}.ini" if "profile" in table \
        else None
    if profile and not profile.is_file():
        raise UserError(f"{where}: no profile {profile.name}")
    return Drive(table["name"], profile, tuple(table.get("set", [])),
                 int(table["capacity"]), bool(table.get("by_rule")),
                 tuple(table.get("fitted", [])))


def read(path: Path = FILE) -> dict[str, Drive]:
    """By name."""
    data = tomlfile.load(path, DOC)
    drives = [_drive(f"{path.name}: drive[{i}]", one, path.parent)
              for i, one in enumerate(data.get("drive", []))]
    return {d.name: d for d in drives}
