# SPDX-License-Identifier: GPL-2.0-or-later
"""The frames of the guest's agent (guest-tools/vssd-agent.c): a byte of type,
four of length (little-endian), the payload.

The agent greets at each start of the guest, which may cut a frame anywhere, and
when it is out of step: see ask().  A greeting begins with a byte that no frame
begins with.  Within a frame the same bytes are payload, unless the frame turns
out to be cut: see FrameReader.
"""

from __future__ import annotations

import re
import secrets

HELLO = b"\0\0vssd-agent 1\n"        # it takes no marks
HELLO_MARKS = b"\0\0vssd-agent 2\n"  # it takes requests after SYNC
GREETING = re.compile(b"|".join((HELLO, HELLO_MARKS)))
SYNC = b"\0\0H\14\0\0\0vssd-host 1\n"
NO_MARK = b"0" * 8     # of an agent that has greeted
HEAD_BYTES = 5
PAYLOAD_MAX = 1 << 20  # bytes of a frame; the agent's own limit of a request
STATUS_MAX = 255       # of a command, as a shell shows it
OUT, ERR, TAKEN, EXIT, SAME = "O", "E", "A", "X", "S"
MARK = "M"             # a request: the agent's mark, and a new one
SIZES = {TAKEN: 0, EXIT: 4, SAME: len(NO_MARK)}  # of payloads


def new_mark() -> bytes:
    """One that no other agent has."""
    return b"%08o" % secrets.randbelow(1 << 24)


def ask(mark: bytes, new: bytes) -> bytes:
    """The request that tells whether the agent is the one of before: it answers
    SAME, or greets.  It may come within another request, which then has zeros;
    no rest of it is a request that does anything."""
    both = mark + new
    return SYNC + MARK.encode() + len(both).to_bytes(4, "little") + both


def _head_may_be(data: bytes) -> bool:
    """Can a frame of the agent, or its first bytes, begin so?"""
    if not data:
        return True
    kind = chr(data[0])
    size = int.from_bytes(data[1:HEAD_BYTES], "little")
    if kind in SIZES:
        right = SIZES[kind].to_bytes(4, "little")
        if right[:len(data) - 1] != data[1:HEAD_BYTES]:
            return False
        return kind != EXIT or not any(data[HEAD_BYTES + 1:HEAD_BYTES + 4])
    return kind in (OUT, ERR) and size <= PAYLOAD_MAX


def _may_follow(data: bytes) -> bool:
    """Can this come after a whole frame?"""
    return _greeting_may_be(data[:len(HELLO)]) or _head_may_be(
        data[:HEAD_BYTES + 4])


def _greeting_may_be(data: bytes | bytearray) -> bool:
    return HELLO.startswith(data) or HELLO_MARKS.startswith(data)


def _find(data: bytes | bytearray, at: int, end: int | None = None) -> int:
    """Where a greeting is; -1: there is none."""
    found = GREETING.search(data, at, len(data) if end is None else end)
    return found.start() if found else -1


def _ends_with_greeting(data: bytes | bytearray) -> bool:
    return GREETING.fullmatch(data[-len(HELLO):]) is not None


def _only_frames(data: bytes) -> bool:
    """Is this one frame or more, each whole?"""
    at = 0
    while at + HEAD_BYTES <= len(data) and _head_may_be(
            data[at:at + HEAD_BYTES + 4]):
        at += HEAD_BYTES + int.from_bytes(data[at + 1:at + HEAD_BYTES],
                                          "little")
    return 0 < at == len(data)


class FrameReader:
    """Takes the agent's frames out of a stream of bytes.

    A greeting within a frame means that the guest has started again, when
    - the bytes after the frame begin no other,
    - the frame is not complete, but whole frames follow the greeting (guess),
    - or the caller knows it: restarted(), settle().
    """

    def __init__(self, greeted: bool = False, guess: bool = True) -> None:
        self.guess = guess
        self.data = bytearray()
        self.past = b""       # the last frame that was taken
        self.greeted = greeted
        self.greetings = 0
        self.marks = False    # the agent has one: HELLO_MARKS

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """The frames that are complete now."""
        self.data += chunk
        frames: list[tuple[str, bytes]] = []
        while self._search() if not self.greeted else self._take(frames):
            pass
        return frames

    def restarted(self) -> None:
        """The guest has started again.  Its greeting is still to come, or it
        was the last that came: the agent says no more until it is asked."""
        if _ends_with_greeting(self.past + self.data):
            self._greet(len(self.data))
        else:
            self.data = bytearray((self.past + self.data)[-len(HELLO):])
            self.past = b""
            self.greeted = False

    def unsettled(self) -> bool:
        """Is the last that came either a greeting or a part of a frame?"""
        return self.greeted and _ends_with_greeting(self.data)

    def settle(self) -> None:
        """No more has come for a while: it is a greeting, since the agent
        does not pause within a frame."""
        if self.unsettled():
            self._greet(len(self.data))

    def _greet(self, end: int) -> None:
        self.marks = self.data[:end].endswith(HELLO_MARKS)
        del self.data[:end]
        self.past = b""
        self.greeted = True
        self.greetings += 1

    def _lose(self) -> None:
        """Nothing is understood until a greeting, which the last frame may
        have swallowed."""
        self.data[:0] = self.past
        self.past = b""
        self.greeted = False

    def _search(self) -> bool:
        at = _find(self.data, 0)
        if at < 0:
            del self.data[:-len(HELLO)]
            return False
        self._greet(at + len(HELLO))
        return True

    def _take(self, frames: list[tuple[str, bytes]]) -> bool:
        """Take one greeting or frame; false: more has to come."""
        data = self.data
        if GREETING.match(data):
            self._greet(len(HELLO))
            return True
        if _greeting_may_be(data):
            return False
        if not _head_may_be(bytes(data[:HEAD_BYTES + 4])):
            self._lose()
            return True
        end = HEAD_BYTES + int.from_bytes(data[1:HEAD_BYTES], "little")
        if len(data) < max(end, HEAD_BYTES):
            return self._cut()
        at = _find(data, 1, end + len(HELLO) - 1)
        if at > 0 and not _may_follow(bytes(data[end:end + len(HELLO)])):
            self._greet(at + len(HELLO))
            return True
        frames.append((chr(data[0]), bytes(data[HEAD_BYTES:end])))
        self.past = bytes(data[:end])
        del data[:end]
        return True

    def _cut(self) -> bool:
        """Has the guest started again within this frame?"""
        at = _find(self.data, 1) if self.guess else -1
        while at > 0:
            end = at + len(HELLO)
            if _only_frames(bytes(self.data[end:])):
                self._greet(end)
                return True
            at = _find(self.data, end)
        return False


class Splitter:
    """Takes frames out of a stream of vssd's own, which is never cut."""

    def __init__(self) -> None:
        self.data = bytearray()

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """The frames that are complete now."""
        self.data += chunk
        frames = []
        while len(self.data) >= HEAD_BYTES:
            end = HEAD_BYTES + int.from_bytes(self.data[1:HEAD_BYTES],
                                              "little")
            if len(self.data) < end:
                break
            frames.append((chr(self.data[0]), bytes(self.data[HEAD_BYTES:end])))
            del self.data[:end]
        return frames
