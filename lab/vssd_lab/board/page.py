# SPDX-License-Identifier: GPL-2.0-or-later
"""The board as a page."""

from __future__ import annotations

from collections import Counter

from vssd.measured.classes import CLASSES
from vssd.measured.drives import Drive
from vssd.measured.score import FEW, Board, Scored, boards, shown
from vssd.paths import PROJECT

DOC = "docs/results/validation.md"
PAGE = PROJECT / DOC

HEAD = """\
# Validation: measured results

**Readers:** users who ask how far to trust a profile. **Afterwards you can** read the error of each
class of experiments, drive by drive.

`./vssd validate --data FOLDER --write-doc` makes this page from a folder of measurements of real
drives. [measured-drives.md](../lab/measured-drives.md) describes the experiments and the rules.
Each cell is the mean error of its rows in per cent, and the median in brackets. The error of a
number is |ln(ours / theirs)|, at most 300 %; a number that is not modelled counts 300 %. The last
line of a table is the mean of its drives."""

ABOUT = {
    "fitted": "A parameter of the profile was chosen for these rows.",
    "by rule": "The profile is made from facts and rated figures; nothing was"
               " fitted.",
    "predicted": "Other rows of drives with fitted parameters, and of their"
                 " brothers.",
}


def _table(board: Board) -> list[str]:
    out = ["| drive | " + " | ".join(CLASSES) + " |",
           "|---" * (len(CLASSES) + 1) + "|"]
    return out + ["| " + " | ".join(
        [drive, *(shown(columns.get(c)) for c in CLASSES)]) + " |"
        for drive, columns in board.items()]


def _reasons(title: str, head: str, counts: dict[str, int]) -> list[str]:
    if not counts:
        return []
    return ["", f"## {title}", "", f"| rows | {head} |", "|---|---|",
            *(f"| {n} | {why} |" for why, n in
              sorted(counts.items(), key=lambda c: (-c[1], c[0])))]


def _drive(drive: Drive) -> str:
    if drive.profile is None:
        return f"| {drive.name} | none |  |"
    return (f"| {drive.name} | `{drive.profile.stem}` | "
            + ", ".join(f"`{s}`" for s in drive.sets) + " |")


def page(scored: list[Scored], left: dict[str, int], how: str) -> str:
    """The page; `how` says which points were played."""
    out = [*HEAD.splitlines(), "", how]
    for use, board in boards(scored).items():
        out += ["", f"## {use.capitalize()}", "", ABOUT[use], "",
                *_table(board)]
    drives = dict.fromkeys(s.entry.drive for s in scored)
    out += ["", "## Drives", "", "| drive | profile | with |", "|---|---|---|",
            *(_drive(d) for d in sorted(drives, key=lambda d: d.name))]
    why = Counter(s.why for s in scored if s.why and s.why != FEW)
    out += _reasons("Not modelled", "cause", why)
    out += _reasons("Left out", "reason", left)
    return "\n".join(out) + "\n"
