# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the file of a live view as docs/live-format.md describes it; shares no
code with the reader of ./vssd watch."""

from __future__ import annotations

import json
import math
import pathlib
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("<8sII10Q")
WANTED_AT = 72
TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f64": "d"}
RUNS, ENDED = 1, 2


@dataclass
class Header:
    signature: bytes
    header_bytes: int
    state: int
    file_bytes: int
    layout_at: int
    layout_bytes: int
    picture_at: int
    picture_bytes: int
    process: int
    sequence: int
    wanted_ns: int
    written_ns: int
    pictures: int


@dataclass
class Picture:
    header: Header
    layout: dict[str, Any]
    values: dict[str, tuple[float, ...]]  # by section

    def named(self, section: str) -> dict[str, float]:
        """The elements of a section by their words."""
        words = next(s["words"] for s in self.layout["sections"]
                     if s["name"] == section)
        return dict(zip(words, self.values[section], strict=True))

    def words(self, section: str) -> list[str]:
        """The states of a section as words."""
        words = next(s["words"] for s in self.layout["sections"]
                     if s["name"] == section)
        return [words[int(i)] for i in self.values[section]]


def header(data: bytes) -> Header:
    return Header(*HEADER.unpack_from(data))


def parse(data: bytes) -> Picture:
    h = header(data)
    assert h.signature == b"vssdLIV1" and h.header_bytes == 4096
    assert len(data) == h.file_bytes == h.picture_at + h.picture_bytes
    layout = json.loads(data[h.layout_at:h.layout_at + h.layout_bytes])
    assert layout["schema"] == "vssd-live 1"
    values, end = {}, 0
    for s in layout["sections"]:
        assert s["offset"] % 8 == 0 and s["offset"] >= end, s
        form = f"<{s['count']}{TYPES[s['type']]}"
        values[s["name"]] = struct.unpack_from(form, data, h.picture_at + s["offset"])
        end = s["offset"] + struct.calcsize(form)
    assert end <= h.picture_bytes < end + 8
    return Picture(h, layout, values)


def read(path: pathlib.Path) -> Picture:
    """A whole picture: it was not written meanwhile."""
    while True:
        data = path.read_bytes()
        before = header(data).sequence
        if before % 2 == 0 and header(path.read_bytes()).sequence == before:
            return parse(data)


def want(path: pathlib.Path, seconds: float = 2) -> None:
    """Raise the wish for pictures, as each reader does once a second."""
    until = time.monotonic_ns() + int(seconds * 1e9)
    with path.open("r+b", buffering=0) as f:
        f.seek(WANTED_AT)
        if struct.unpack("<Q", f.read(8))[0] < until:
            f.seek(WANTED_AT)
            f.write(struct.pack("<Q", until))


def watch(path: pathlib.Path, seconds: float = 60) -> Iterator[Picture]:
    """Pictures as they come, until the drive has ended."""
    end, last = time.monotonic() + seconds, -1
    while time.monotonic() < end:
        try:
            want(path)
            picture = read(path)
        except FileNotFoundError:
            time.sleep(.005)
            continue
        if picture.header.sequence != last:
            last = picture.header.sequence
            yield picture
        if picture.header.state == ENDED:
            return
        time.sleep(.005)
    raise AssertionError(f"the drive has not ended after {seconds} s")


def member(result: Any, path: str) -> Any:
    """Of a JSON text, by its path in docs/results.md."""
    for step in path.split("."):
        result = result[step]
    return result


def check_numbers(picture: Picture, result: Any) -> int:
    """Each number of the picture is that of the statistics of the same instant;
    how many were compared."""
    n = 0
    for section in ("counter", "gauge"):
        for path, value in picture.named(section).items():
            if path.split(".")[1:2] in (["all"], ["shutdown"]) and \
                    path.split(".")[1] not in result["latency_ns"]:
                continue  # a run of vssd-sim does not have these two
            expected = member(result, path)
            assert math.isclose(value, expected, rel_tol=1e-9), (path, value, expected)
            n += 1
    nand = result["nand"]
    assert list(picture.values["die.busy_ns"]) == nand["busy_ns"]["die"]
    assert list(picture.values["channel.busy_ns"]) == nand["busy_ns"]["channel"]
    for op in ("read", "write"):
        check_latency(picture, op, result["latency_ns"][op])
    for name, path in (("units", "host_units"), ("host_bytes", "host_bytes_written"),
                       ("nand_bytes", "media_bytes_written")):
        assert list(picture.values[f"stream.{name}"]) == \
            [s[path] for s in result["streams"]]
    return n


def check_latency(picture: Picture, op: str, stats: Any) -> None:
    """Count and quantiles, which are in the bin of the exact value's bucket."""
    section = next(s for s in picture.layout["sections"] if s["name"] == f"latency.{op}")
    edges, bins = section["edges_ns"], picture.values[f"latency.{op}"]
    assert len(edges) == len(bins) and edges == sorted(edges)
    assert sum(bins) == stats["count"]
    for name, ppm in (("p50", 500000), ("p99", 990000), ("p999", 999000)):
        left = math.ceil(stats["count"] * ppm / 1e6)
        for i, n in enumerate(bins):
            left -= n
            if left <= 0 < n:
                after = edges[i + 1] if i + 1 < len(edges) else math.inf
                assert edges[i] <= stats[name] < after, (op, name)
                break


def check_blocks(picture: Picture, result: Any) -> None:
    """Superblocks of one block each, one to a cell: sums are those of the
    statistics."""
    drive = picture.layout["drive"]
    assert drive["superblocks"] == drive["blocks"]
    assert drive["superblocks_per_cell"] == 1
    states = picture.words("superblock.state")
    erases = picture.values["superblock.erases"]
    assert len(states) == drive["blocks"]
    slc = "slc" in result  # its free blocks are not among those of GC
    assert states.count("free") >= result["gc"]["free_blocks"]
    assert slc or states.count("free") == result["gc"]["free_blocks"]
    assert states.count("bad") == result["media"]["factory_bad_blocks"] + \
        result["media"]["grown_bad_blocks"]
    assert max(erases) == result["nand"]["max_erase_count"]
    assert math.isclose(sum(erases) / len(erases), result["nand"]["mean_erase_count"],
                        rel_tol=1e-9)
    if slc:
        return  # blocks in SLC mode have fewer units
    # No block's share is rounded up.
    units = sum(picture.values["superblock.valid"]) / 255 * drive["superblock_units"]
    mapped = result["gc"]["mapped_units"] - result["buffer"]["units_dirty"]
    assert mapped * .99 - 1 <= units + drive["blocks"] / 255 * drive["superblock_units"]
    assert units <= result["gc"]["mapped_units"] + 1
