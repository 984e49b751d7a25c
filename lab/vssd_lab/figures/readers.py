# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of trace files: each format's columns as a Trace.

Formats that vssd-sim reads have its names and rules (docs/traces.md).  Knows
files; knows nothing of figures and of generated traces.  Needs numpy.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from vssd.errors import UserError, one_line

from .traces import NS, PAGE, SECTOR, Trace

MS, US = 1_000_000, 1000
ENDS = ("", ".gz", ".xz", ".bz2")
FAULTS = (OSError, EOFError, ValueError, IndexError, lzma.LZMAError)
# A time so long after the first one is damage (docs/traces.md, Errors).
TOO_LATE_S = 10 * 366 * 86400


def _open(path: Path) -> Any:
    opener: dict[str, Callable[..., Any]] = {
        ".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    return opener.get(path.suffix, open)(path, "rt", encoding="ascii",
                                         errors="replace")


def _table(path: Path, delimiter: str | None, usecols: tuple[int, ...],
           types: tuple[str, ...], skip: int) -> Any:
    dtype = [(f"f{i}", t) for i, t in enumerate(types)]
    with _open(path) as f:
        return np.loadtxt(f, dtype=dtype, delimiter=delimiter,
                          usecols=usecols, ndmin=1, skiprows=skip)


def _columns(path: Path, delimiter: str | None, usecols: tuple[int, ...],
             types: tuple[str, ...], skip: int = 0) -> list[Any]:
    """The columns of a text file, one array each."""
    try:
        rows = _table(path, delimiter, usecols, types, skip)
    except FAULTS as e:
        raise UserError(f"{path}: {one_line(str(e))}") from e
    if not len(rows):
        raise UserError(f"{path}: no requests")
    return [rows[name] for name in rows.dtype.names]


def _lines(path: Path, pattern: str) -> list[tuple[str, ...]]:
    """The groups of the lines that match; the others are no requests."""
    matches = re.compile(pattern).match
    try:
        with _open(path) as f:
            rows = [m.groups() for m in map(matches, f) if m]
    except FAULTS as e:
        raise UserError(f"{path}: {one_line(str(e))}") from e
    if not rows:
        raise UserError(f"{path}: no requests")
    return rows


def _beside(device: Any, offset: Any, nbytes: Any) -> Any:
    """Each device is an address space of its own: side by side."""
    rank = np.unique(device, return_inverse=True)[1]
    reach = int((offset + nbytes).max()) // PAGE * PAGE + PAGE
    return rank * reach + offset


def _made(path: Path, at_ns: Any, write: Any, offset: Any, nbytes: Any) \
        -> Trace:
    order = np.argsort(at_ns, kind="stable")
    at_ns = at_ns[order] - at_ns.min()
    return Trace(at_ns, write[order], offset[order],
                 np.maximum(nbytes[order], SECTOR), path.name)


# ---- formats --------------------------------------------------------------------


def read_msr(path: Path) -> Trace:
    """MSR Cambridge CSV: 100 ns ticks, host, disk, type, offset, bytes."""
    ticks, kind, offset, nbytes = _columns(
        path, ",", (0, 3, 4, 5), ("i8", "U8", "i8", "i8"))
    write = np.char.lower(kind) == "write"
    return _made(path, ticks * 100, write, offset, nbytes)


def read_spc(path: Path) -> Trace:
    """SPC (UMass): ASU, LBA in sectors, bytes, R or W, seconds."""
    asu, lba, nbytes, kind, at_s = _columns(
        path, ",", (0, 1, 2, 3, 4), ("i8", "i8", "i8", "U1", "f8"))
    return _made(path, np.round(at_s * NS).astype("i8"),
                 np.char.upper(kind) == "W",
                 _beside(asu, lba * SECTOR, nbytes), nbytes)


def _five(unit_ns: int, grain: int = SECTOR) -> Callable[[Path], Trace]:
    """Time, device, first sector, size in grains, 0 for a write."""
    def read(path: Path) -> Trace:
        at, device, sector, n, kind = _columns(
            path, None, (0, 1, 2, 3, 4), ("f8", "i8", "i8", "i8", "i8"))
        return _made(path, np.round(at * unit_ns).astype("i8"),
                     kind & 1 == 0,
                     _beside(device, sector * SECTOR, n * grain), n * grain)
    return read


read_ssdsim = _five(1)
read_disksim = _five(MS)


def read_windows(path: Path) -> Trace:
    """Windows that a third party cut: ms, device, offset, bytes, 1 = read."""
    at_ms, offset, nbytes, kind = _columns(
        path, None, (0, 2, 3, 4), ("f8", "i8", "i8", "i8"))
    return _made(path, np.round(at_ms * MS).astype("i8"), kind == 0, offset,
                 nbytes)


def read_replayed(path: Path) -> Trace:
    """The same after a replay: ms, latency, 1 = read, bytes, offset, ..."""
    at_ms, kind, nbytes, offset = _columns(
        path, ",", (0, 2, 3, 4), ("f8", "i8", "i8", "i8"))
    return _made(path, np.round(at_ms * MS).astype("i8"), kind == 0, offset,
                 nbytes)


def read_systor17(path: Path) -> Trace:
    """SYSTOR '17: seconds, response, R or W, unit, offset, bytes."""
    at_s, kind, unit, offset, nbytes = _columns(
        path, ",", (0, 2, 3, 4, 5), ("f8", "U1", "i8", "i8", "i8"), 1)
    return _made(path, np.round((at_s - at_s.min()) * NS).astype("i8"),
                 np.char.upper(kind) == "W", _beside(unit, offset, nbytes),
                 nbytes)


def read_cbs(path: Path) -> Trace:
    """Tencent's block storage: seconds, sector, sectors, 1 = write, volume."""
    at_s, sector, n, kind, volume = _columns(
        path, ",", (0, 1, 2, 3, 4), ("i8",) * 5)
    return _made(path, at_s * NS, kind == 1,
                 _beside(volume, sector * SECTOR, n * SECTOR), n * SECTOR)


def _timed(path: Path, rows: list[tuple[float, bool, int, int]]) -> Trace:
    """Seconds, write, offset, bytes; without damaged times."""
    at_s, write, offset, nbytes = (np.array(c) for c in zip(*rows))
    good = at_s - at_s.min() < TOO_LATE_S
    return _made(path, np.round(at_s[good] * NS).astype("i8"), write[good],
                 offset[good].astype("i8"), nbytes[good].astype("i8"))


BLKPARSE = (r"\s*\d+,\d+\s+\d+\s+\d+\s+([\d.]+)\s+\d+\s+([QD])"
            r"\s+F?([RW])\w*\s+(\d+) \+ (\d+)")


def read_blkparse(path: Path) -> Trace:
    """blkparse's text: action D if there is any, else Q; no discards."""
    rows = _lines(path, BLKPARSE)
    action = "D" if any(r[1] == "D" for r in rows) else "Q"
    return _timed(path, [(float(t), k == "W", int(s) * SECTOR, int(n) * SECTOR)
                         for t, a, k, s, n in rows if a == action])


EVENT = r"\d+ \w (read|write) (\d+) (\d+) ([\d.]+) "


def read_events(path: Path) -> Trace:
    """A simulator's events: pid, action, kind, offset, bytes, seconds, ..."""
    return _timed(path, [(float(t), k == "write", int(o), int(n))
                         for k, o, n, t in _lines(path, EVENT)])


def read_order(path: Path) -> Trace:
    """Time (rounded to nothing), kind, offset: only the order is left."""
    rows = _lines(path, r"[\d.E+]+,(Read|Write),(\d+)$")
    n = len(rows)
    return _made(path, np.arange(n), np.array([k == "Write" for k, _ in rows]),
                 np.array([int(o) for _, o in rows]), np.full(n, PAGE))


# ---- which one -------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A reader, and how its lines begin."""

    read: Callable[[Path], Trace]
    line: str


FORMATS: dict[str, Format] = {
    "msr": Format(read_msr, r"\d+,\w+,\d+,(Read|Write),\d+,\d+,"),
    "spc": Format(read_spc, r"\d+,\d+,\d+,[rRwW],[\d.]+"),
    "systor17": Format(read_systor17, r"Timestamp,Response,IOType,LUN,"),
    "cbs": Format(read_cbs, r"\d{10},\d+,\d+,[01],\d+$"),
    "replayed": Format(read_replayed, r"\d+\.\d+,\d+,[01],\d+,\d+,[\d.]+,\d+"),
    "blkparse": Format(read_blkparse, r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d+\s"),
    "events": Format(read_events, r"\d+ \w (read|write|discard) \d+ \d+ "),
    "ssdsim": Format(read_ssdsim, r"\d+\s+\d+\s+\d+\s+\d+\s+[01]$"),
    # As disksim, and detected by its sizes.
    "windows": Format(read_windows, r"\d+\.\d+ 0 \d+ (\d+) [01]$"),
    "disksim": Format(read_disksim, r"\d+\.\d+\s+\d+\s+\d+\s+\d+\s+[01]$"),
}
HEAD = 32  # lines by which a format is detected


@dataclass(frozen=True)
class Special:
    """A file whose lines do not tell its units, or that lacks a column."""

    name: str
    read: Callable[[Path], Trace]
    lacks: tuple[str, ...] = ()


SPECIAL = (
    # Sizes in pages of 4 KiB, addresses in sectors.
    Special("leokang_*.trace", _five(MS, PAGE)),
    # Microseconds without a decimal point.
    Special("dtrs1K.trace", _five(US)),
    Special("*.revised_*.txt", _five(US), ("times",)),
    # Ten units of time from each request to the next.
    Special("systor17_*LUN*.txt", _five(US), ("times",)),
    Special("*_mangled.csv", read_order, ("times", "sizes")),
)


def plain_name(path: Path) -> str:
    """The name without the ending of a compression."""
    return path.stem if path.suffix in ENDS[1:] else path.name


def _head(path: Path) -> list[str]:
    try:
        with _open(path) as f:
            lines = [line.rstrip() for _, line in zip(range(HEAD), f)]
    except FAULTS as e:
        raise UserError(f"{path}: {one_line(str(e))}") from e
    return [line for line in lines if line]


def _bytes_not_sectors(lines: list[str]) -> bool:
    return all(int(line.split()[3]) % SECTOR == 0 for line in lines)


def detect(path: Path) -> str | None:
    """The name of the format by the first lines, or None."""
    lines = _head(path)
    for name, f in FORMATS.items():
        if lines and re.match(f.line, lines[0]) and (
                name != "windows" or _bytes_not_sectors(lines)):
            return name
    return None


def read(path: Path) -> Trace:
    """Any file: by its name if that is special, else by its lines."""
    for one in SPECIAL:
        if fnmatch(plain_name(path), one.name):
            return replace(one.read(path), lacks=one.lacks)
    name = detect(path)
    if name is None:
        raise UserError(f"{path}: no format fits; known: "
                        + ", ".join(FORMATS))
    return FORMATS[name].read(path)


# ---- a figure's traces -------------------------------------------------------------

# A volume: the whole week's names, then excerpts.  Files that lack a column are
# no input of a figure.
VOLUMES: dict[str, tuple[str, ...]] = {
    "hm0": ("hm_0.csv", "*hm_0.csv", "caffeine_msr-cambridge1-sample.csv",
            "*msr*iops.1006.trace", "*msr*rw_*.trace"),
    "proj0": ("proj_0.csv", "*proj_0.csv"),
    "prn0": ("prn_0.csv",),
    "prxy0": ("prxy_0.csv", "*prxy_0.csv"),
    "web0": ("web_0.csv", "CAMRESWEBA03-lvm0.csv", "*web_0.csv"),
    "fin1": ("Financial1.spc", "ssdsim_example.ascii", "*fin1.trace"),
    "fin2": ("Financial2.spc", "*fin2.trace"),
    "web1": ("WebSearch1.spc", "*wsrch*.trace", "*_web1.trace"),
    "web2": ("WebSearch2.spc", "*_web2.trace"),
}


def named(folder: Path, pattern: str) -> list[Path]:
    """Files of that name, plain or compressed."""
    return sorted(p for end in ENDS for p in folder.glob(pattern + end))


def find(folder: Path | None, base: str, write_share: float) -> Trace | None:
    """The real trace, if the folder has it; else, of the excerpts that it has,
    the one whose share of writes is nearest to the whole's."""
    if not folder:
        return None
    excerpts = []
    for name in VOLUMES[base]:
        for path in named(folder, name):
            trace = read(path)
            if "*" not in name and name == VOLUMES[base][0]:
                return trace
            if not trace.lacks:
                excerpts.append(trace)
    return min(excerpts, default=None,
               key=lambda t: abs(float(t.write.mean()) - write_share))


# ---- histograms of addresses ---------------------------------------------------------


def read_frequencies(path: Path) -> Any:
    """How often each start offset was used, most first."""
    offset, count = _columns(path, ",", (0, 1), ("i8", "i8"), 1)
    if len(np.unique(offset)) != len(offset):
        raise UserError(f"{path}: an offset has two lines")
    return np.sort(count)[::-1]


def frequencies(folder: Path | None, base: str) -> Any | None:
    """Of lba_freq of the folder, if it has the volume."""
    if not folder:
        return None
    volume = f"{base[:-1]}_{base[-1:]}"  # hm_0, ...
    found = named(folder / "lba_freq", f"lba_freq_{volume}.csv")
    return read_frequencies(found[0]) if found else None


def files(folder: Path) -> Iterator[Path]:
    """Every trace of a folder: not its notes, not its histograms."""
    for path in sorted(folder.iterdir()):
        name = plain_name(path)
        if path.is_file() and not name.endswith((".md", ".tsv", ".stats")):
            yield path
