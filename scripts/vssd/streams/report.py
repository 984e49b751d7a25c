# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of ./vssd streams: what the drive says in the guest, as numbers, and the
two runs side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MB = 1e6
NOT_ONE = "-"  # a stream that the host has no number for
OTHER, ALL = "other", "all"


@dataclass
class Row:
    """One stream or handle; or what is of none, or the sum."""

    handle: str
    host_bytes: int = 0
    nand_bytes: int = 0
    files: int = 0  # that have data in it

    @property
    def waf(self) -> float | None:
        """Write amplification; of nothing there is none."""
        return self.nand_bytes / self.host_bytes if self.host_bytes else None


@dataclass(frozen=True)
class Part:
    """Units of a file: of one stream, in one erase block or the buffer."""

    handle: str
    erase_block: int | None
    alone: bool  # the erase block has no other stream
    units: int


@dataclass
class Run:
    """One load on one drive."""

    rows: dict[str, Row] = field(default_factory=dict)
    files: dict[str, list[Part]] = field(default_factory=dict)

    def apart(self) -> int:
        """Files in erase blocks of one stream each, and of one stream."""
        return sum(all(p.alone for p in parts)
                   and len({p.handle for p in parts}) == 1
                   for parts in self.files.values())


def read_rows(text: str) -> dict[str, Row]:
    """The table of `vssdctl streams`, by the host's number."""
    lines = [line.split() for line in text.splitlines()]
    at = {name: i for i, name in enumerate(lines[0])}
    rows: dict[str, Row] = {}
    for words in lines[1:]:
        name = words[0] if words[0] in (OTHER, ALL) else words[at["id"]]
        row = rows.setdefault(name, Row(name))
        row.host_bytes += int(words[at["host_bytes"]])
        row.nand_bytes += int(words[at["nand_bytes"]])
    return rows


def since(now: dict[str, Row], before: dict[str, Row]) -> dict[str, Row]:
    """What came since then."""
    return {name: Row(name, row.host_bytes - before[name].host_bytes
                      if name in before else row.host_bytes,
                      row.nand_bytes - before[name].nand_bytes
                      if name in before else row.nand_bytes)
            for name, row in now.items()}


def read_files(text: str) -> dict[str, list[Part]]:
    """The table of `vssdctl blocks`."""
    files: dict[str, list[Part]] = {}
    for line in text.splitlines()[1:]:
        handle, block, where, units, path = line.split(None, 4)
        files.setdefault(path, []).append(Part(
            handle, None if block == "-" else int(block), where != "shared",
            int(units)))
    return files


def count_files(run: Run) -> None:
    """Fill in Row.files."""
    for parts in run.files.values():
        for handle in {p.handle for p in parts}:
            if handle in run.rows:
                run.rows[handle].files += 1
    if ALL in run.rows:
        run.rows[ALL].files = len(run.files)


def names(runs: tuple[Run, Run]) -> list[str]:
    """Rows that say something, those of numbers first."""
    found = {n for run in runs for n, row in run.rows.items()
             if row.host_bytes or row.nand_bytes}
    order = {NOT_ONE: 1, OTHER: 2, ALL: 3}
    return sorted(found, key=lambda n: (order.get(n, 0),
                                        int(n) if n.isdigit() else 0))


def _cells(row: Row | None) -> list[str]:
    if not row:
        return ["", "", "", ""]
    return [f"{row.host_bytes / MB:.1f}", f"{row.nand_bytes / MB:.1f}",
            "-" if row.waf is None else f"{row.waf:.3f}", str(row.files)]


HEAD = ["host MB", "NAND MB", "WAF", "files"]


def cells(runs: tuple[Run, Run]) -> list[list[str]]:
    """Rows of text: without streams on the left, with them on the right, each
    as in HEAD."""
    said = {NOT_ONE: "none"}
    return [[said.get(n, n), *_cells(runs[0].rows.get(n)),
             *_cells(runs[1].rows.get(n))] for n in names(runs)]


def places(run: Run, most: int) -> list[str]:
    """A line for each of the first files."""
    lines = []
    for path, parts in list(run.files.items())[:most]:
        handles = ", ".join(dict.fromkeys(
            "none" if p.handle == NOT_ONE else p.handle for p in parts))
        blocks = ", ".join("buffer" if p.erase_block is None
                           else str(p.erase_block) + "*" * (not p.alone)
                           for p in parts)
        lines.append(f"{path}: {handles}; erase blocks {blocks}")
    if len(run.files) > most:
        lines.append(f"... and {len(run.files) - most} more (--json FILE)")
    return lines


def as_json(runs: tuple[Run, Run], facts: dict[str, Any]) -> dict[str, Any]:
    """All of it."""
    def one(run: Run) -> dict[str, Any]:
        return {"rows": [{**asdict(run.rows[n]), "waf": run.rows[n].waf}
                         for n in names(runs) if n in run.rows],
                "files_apart": run.apart(),
                "files": {path: [asdict(p) for p in parts]
                          for path, parts in run.files.items()}}
    return {**facts, "without": one(runs[0]), "with": one(runs[1])}
