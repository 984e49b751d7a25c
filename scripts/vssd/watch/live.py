# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive's live file: the one reader of docs/live-format.md.

The drive writes a picture of its state into the file, and only while a reader
asks for it: want() does, once a second or more often.  Reading takes no lock.
The header's sequence is odd while a picture is written, and another one
afterwards; a copy during which it changed is taken again.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import UserError
from ..signature import refuse_early

SIGNATURE = b"vssdLIV1"
SCHEMA = "vssd-live 1"
HEADER = struct.Struct("<8sII Q QQ QQ QQQQQ")
HEADER_BYTES = 4096
HEAD_BYTES = 128  # of the header, which go before each picture to a viewer
SEQUENCE, WANTED, WRITTEN = 64 // 8, 72 // 8, 80 // 8  # in words of 8 bytes
RUNNING, ENDED = 1, 2
MOST_BYTES = 64 << 20  # of a file
WANTED_NS = 2_000_000_000  # for which want() asks
ATTEMPTS = 1000  # at a picture that changes while it is copied
TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f64": "d"}


@dataclass(frozen=True)
class Section:
    """An array of a picture."""

    name: str
    type: str  # of TYPES
    count: int
    offset: int  # bytes from the start of the picture
    words: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)  # unit, kind, edges_ns

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.count * struct.calcsize(TYPES[self.type])

    @cached_property
    def index(self) -> dict[str, int]:
        """The element of each word."""
        return {word: i for i, word in enumerate(self.words)}


@dataclass(frozen=True)
class Head:
    """The header, as it was when it was read."""

    state: int  # RUNNING or ENDED
    file_bytes: int
    layout: tuple[int, int]  # offset, bytes
    picture: tuple[int, int]
    process: int
    sequence: int
    wanted_ns: int  # of CLOCK_MONOTONIC, as written_ns
    written_ns: int
    pictures: int


class Picture:
    """A copy of a picture, with the header's first HEAD_BYTES before it."""

    def __init__(self, raw: bytes, sections: dict[str, Section]) -> None:
        self.raw = raw
        self.sections = sections

    def array(self, name: str) -> Sequence[Any]:
        """The elements of a section; empty without the section."""
        one = self.sections.get(name)
        if one is None:
            return ()
        part = memoryview(self.raw)[HEAD_BYTES + one.offset:
                                    HEAD_BYTES + one.end]
        if sys.byteorder == "big":
            return struct.unpack(f"<{one.count}{TYPES[one.type]}", part)
        return memoryview.cast(part, TYPES[one.type])  # type: ignore[call-overload, no-any-return]

    def value(self, path: str) -> Any:
        """A counter or a gauge by its path; None if the drive has none."""
        for name in ("counter", "gauge"):
            one = self.sections.get(name)
            if one and path in one.index:
                return self.array(name)[one.index[path]]
        return None


class LiveFile:
    """with LiveFile(path) as live: live.want(), live.picture()

    Raises UserError for what is no live file of this version."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.map, self.inode = _mapped(path)
        try:
            self.first = self._checked()
            self.layout = self._layout()
            self.sections = _sections(path, self.layout, self.first.picture[1])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> LiveFile:
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the file."""
        self.map.close()

    def head(self) -> Head:
        """The header now."""
        _, _, state, size, a, b, c, d, process, *rest = HEADER.unpack_from(
            self.map)
        return Head(state, size, (a, b), (c, d), process, *rest)

    @property
    def drive(self) -> dict[str, Any]:
        """What the layout says of the drive."""
        found: dict[str, Any] = self.layout["drive"]
        return found

    def sequence(self) -> int:
        """The number that changes with each picture."""
        return self._word(SEQUENCE)

    def want(self) -> None:
        """Ask for pictures during the next WANTED_NS."""
        until = time.monotonic_ns() + WANTED_NS
        with contextlib.suppress(TypeError):  # the file is only readable
            if until > self._word(WANTED):
                # One store of 8 bytes, which the drive reads whole.
                with self._words() as words:
                    words[WANTED] = until if sys.byteorder == "little" else \
                        int.from_bytes(until.to_bytes(8, "little"), "big")

    def picture(self, attempts: int = ATTEMPTS) -> Picture | None:
        """The last picture; None while there is none, or while its writer is
        stopped in the middle of one."""
        begin, size = self.first.picture
        for _ in range(attempts):
            before = self._word(SEQUENCE)
            if before == 0:
                return None
            if before % 2:
                time.sleep(50e-6)
                continue
            raw = self.map[:HEAD_BYTES] + self.map[begin:begin + size]
            if self._word(SEQUENCE) == before:
                return Picture(raw, self.sections)
        return None

    def next_picture(self, after: int = 0, limit_s: float = 5.0) \
            -> Picture | None:
        """Wait for a picture whose sequence is another one than `after`, and ask
        for it; the last one if the drive has ended or writes none in time."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end and self.state() == "running":
            self.want()
            if self.sequence() not in (0, after):
                break
            time.sleep(0.01)
        return self.picture()

    def state(self) -> str:
        """running; ended: in order; gone: the process is not there any more."""
        head = self.head()
        if head.state == ENDED:
            return "ended"
        return "running" if _alive(head.process) else "gone"

    def silent_s(self) -> float:
        """Seconds since the last picture."""
        return max(time.monotonic_ns() - self._word(WRITTEN), 0) / 1e9

    def replaced(self) -> bool:
        """Has another drive put its file in this one's place?"""
        try:
            return self.path.stat().st_ino != self.inode
        except OSError:
            return False

    @contextlib.contextmanager
    def _words(self) -> Iterator[memoryview]:
        """The header as words of this machine."""
        with memoryview(self.map) as whole, whole[:HEADER_BYTES] as head, \
                head.cast("Q") as words:
            yield words

    def _word(self, index: int) -> int:
        with self._words() as words:
            found = words[index]
        return found if sys.byteorder == "little" else \
            int.from_bytes(found.to_bytes(8, "big"), "little")

    def _checked(self) -> Head:
        head = self.head()
        size = len(self.map)
        parts = (head.layout, head.picture)
        if head.file_bytes != size or any(
                offset < HEADER_BYTES or offset % 8 or offset + length > size
                for offset, length in parts):
            raise UserError(f"{self.path}: damaged: the header does not fit the"
                            " file")
        return head

    def _layout(self) -> dict[str, Any]:
        begin, size = self.first.layout
        try:
            found = json.loads(self.map[begin:begin + size].rstrip(b"\0"))
            schema = found["schema"]
            if not isinstance(found["drive"], dict):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise UserError(f"{self.path}: damaged: its layout is no layout of a"
                            " live file") from e
        if schema != SCHEMA:
            raise UserError(f"{self.path}: a live file of schema {schema}; this"
                            f" vssd reads {SCHEMA}")
        layout: dict[str, Any] = found
        return layout


def _mapped(path: Path) -> tuple[mmap.mmap, int]:
    """The file, shared with the drive, for reading alone if need be; its inode."""
    try:
        try:
            fd, access = os.open(path, os.O_RDWR), mmap.ACCESS_WRITE
        except PermissionError:
            fd, access = os.open(path, os.O_RDONLY), mmap.ACCESS_READ
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    try:
        status = os.fstat(fd)
        size = status.st_size
        first = os.pread(fd, len(SIGNATURE), 0)
        _check_signature(path, first)
        if not HEADER_BYTES <= size <= MOST_BYTES:
            raise UserError(f"{path}: damaged: a live file has {HEADER_BYTES} to"
                            f" {MOST_BYTES} bytes")
        return mmap.mmap(fd, size, access=access), status.st_ino
    except (OSError, ValueError) as e:
        raise UserError(f"{path}: no live file: {e}") from e
    finally:
        os.close(fd)


def _check_signature(path: Path, first: bytes) -> None:
    refuse_early(path, first)
    if first[:-1] == SIGNATURE[:-1] and first != SIGNATURE:
        raise UserError(f"{path}: a live file of another version of vssd: start"
                        " the drive again with this one")
    if first != SIGNATURE:
        raise UserError(f"{path}: no live file, as live=FILE and --live FILE"
                        " make it")


def _sections(path: Path, layout: dict[str, Any], size: int) \
        -> dict[str, Section]:
    out = {}
    try:
        for one in layout["sections"]:
            more = dict(one)
            found = Section(str(more.pop("name")), more.pop("type"),
                            more.pop("count"), more.pop("offset"),
                            tuple(more.pop("words", ())), more)
            if found.offset % 8 or found.offset < 0 or found.count < 0 \
                    or found.end > size:
                raise ValueError(found.name)
            out[found.name] = found
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise UserError(f"{path}: damaged: a section of its layout does not fit"
                        " the picture") from e
    return out


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
