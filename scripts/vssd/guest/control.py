# SPDX-License-Identifier: GPL-2.0-or-later
"""The sockets by which other commands reach a guest that runs: its console, and
its agent.

They are in the run's directory.  The console's has the bytes of the serial
console, both ways, for any number of clients.  A client of the agent's sends
frames as the agent takes them (guest-tools/vssd-agent.c), for one command, and
gets its frames back, NOTE and FAILED; a client that goes has its command killed.
attach.py is the other end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from .. import rundir
from ..errors import UserError
from .machine import RESTARTED, Machine

BACKLOG_BYTES = 16384  # of the console's past, for a client that comes
MOST_BYTES = 1 << 20   # that a client may leave unread
CONSOLE_CLIENTS = 16
PART_S = 10
NOTE = "N"             # a frame of ours: why the command waits
FAILED = "F"           # a frame of ours: why the command has no status
COMMAND_MAX = 1 << 20  # bytes of a frame, as in the agent

# What a terminal answers, as if it were typed (xterm's ctlseqs).
QUERIES = re.compile(rb"""
    \x1b\[ [<=>?]? [0-9;]* (?: [cnqx]                 # DA, DSR, XTVERSION
                             | \$ [pwu] | \* y )      # DECRQM and the like
  | \x1b\[ \? [0-9;]* [uS]                            # keyboard, graphics
  | \x1b\[ (?: 1[1-9] | 2[01] ) (?: ; [0-9;]* )? t    # the window
  | \x1b\] [^\x07\x1b]* \? (?: \x07 | \x1b\\ )      # OSC: colours, clipboard
  | \x1bP [+$] q [^\x1b]* \x1b\\                      # DECRQSS, XTGETTCAP
  | \x1bZ | \x05                                     # DECID, ENQ
    """, re.VERBOSE)


def frame(kind: str, payload: bytes = b"") -> bytes:
    """One frame."""
    return kind.encode() + struct.pack("<I", len(payload)) + payload


@contextlib.contextmanager
def short_path(folder: Path, name: str) -> Iterator[str]:
    """The path of a socket; a name of sun_path's 108 bytes for any folder."""
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{fd}/{name}"
    finally:
        os.close(fd)


def _listen(folder: Path, name: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with short_path(folder, name) as path:
        sock.bind(path)
    sock.listen(8)
    return sock


async def _read_frame(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = await reader.readexactly(5)
    size = int.from_bytes(head[1:], "little")
    if size > COMMAND_MAX:
        raise ConnectionError("a frame that is too large")
    return chr(head[0]), await reader.readexactly(size)


class Control:
    """The sockets of one machine; use within its event loop."""

    def __init__(self, machine: Machine, folder: Path, setup: str = "") -> None:
        self.machine = machine
        self.folder = folder
        self.setup = setup         # a script that the agent runs first
        self.busy = asyncio.Lock()  # the agent runs one command at a time
        self.consoles: list[asyncio.StreamWriter] = []
        self.servers: list[asyncio.Server] = []
        self.tasks: list[asyncio.Task[str]] = []

    async def start(self) -> None:
        """Listen; the setup comes before every other command."""
        if self.setup:
            await self.busy.acquire()
            self.tasks.append(asyncio.create_task(self._set_up()))
        for name, serve in ((rundir.CONSOLE, self._console_client),
                            (rundir.AGENT, self._agent_client)):
            self.servers.append(await asyncio.start_unix_server(
                serve, sock=_listen(self.folder, name)))

    def stop(self) -> None:
        """No more clients."""
        for server in self.servers:
            server.close()
        for writer in self.consoles:
            writer.close()
        for task in self.tasks:
            task.cancel()

    async def set_up(self) -> str:
        """What the setup said when it failed; empty: it did not."""
        return await self.tasks[0] if self.setup else ""

    async def _set_up(self) -> str:
        m = self.machine
        try:
            await m.first(m.greeted, m.ended)
            if m.ended.is_set():
                return ""
            result = await m.request(self.setup)
            text = " ".join((result.out + result.err).decode("utf-8", "replace")
                            .split())
            return text or f"status {result.status}" if result.status else ""
        except UserError:
            return ""  # the guest has ended, which others say
        finally:
            self.busy.release()

    # -- the console ----------------------------------------------------

    def console(self, data: bytes) -> None:
        """Output of the console, for all clients that keep up."""
        for writer in list(self.consoles):
            if writer.transport.get_write_buffer_size() > MOST_BYTES:
                writer.transport.abort()
                self.consoles.remove(writer)
            else:
                writer.write(data)

    async def _console_client(self, reader: asyncio.StreamReader,
                              writer: asyncio.StreamWriter) -> None:
        if len(self.consoles) < CONSOLE_CLIENTS:
            past = self.machine.console_log[-BACKLOG_BYTES:]
            writer.write(QUERIES.sub(b"", past))
            self.consoles.append(writer)
            with contextlib.suppress(OSError):
                while data := await reader.read(4096):
                    await self.machine.type(data)
        if writer in self.consoles:
            self.consoles.remove(writer)
        writer.close()

    # -- the agent ------------------------------------------------------

    async def _agent_client(self, reader: asyncio.StreamReader,
                            writer: asyncio.StreamWriter) -> None:
        m = self.machine
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            kind, command = await _read_frame(reader)
            if kind in "RT":
                if not m.greeted.is_set():
                    writer.write(frame(NOTE, b"the guest boots"))
                elif self.busy.locked():
                    writer.write(frame(NOTE, b"another command runs"))
                gone = asyncio.create_task(_peer_gone(reader))
                async with self.busy:
                    await m.first(m.greeted, m.ended, gone)
                    if not m.ended.is_set() and not gone.done():
                        gone.cancel()
                        await self._command(kind, command, reader, writer)
                gone.cancel()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(_part(reader, writer), PART_S)
        writer.close()

    async def _command(self, kind: str, command: bytes,
                       reader: asyncio.StreamReader,
                       writer: asyncio.StreamWriter) -> None:
        m = self.machine

        def output(what: str, data: bytes) -> None:
            if not writer.is_closing():
                writer.write(frame(what, data))
                if writer.transport.get_write_buffer_size() > MOST_BYTES:
                    m.hear_agent(False)
                    waits.append(asyncio.create_task(self._hear_again(writer)))

        waits: list[asyncio.Task[None]] = []
        status = m.new_command()
        m.on_output = output
        await self._send(kind, command)
        pump = asyncio.create_task(self._pass_input(reader))
        await m.first(status, m.ended, m.restarted)
        pump.cancel()
        m.on_output = None
        if status.done():
            writer.write(frame("X", struct.pack("<I", status.result())))
        elif not m.ended.is_set():
            writer.write(frame(FAILED, RESTARTED.encode()))

    async def _hear_again(self, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await writer.drain()
        self.machine.hear_agent(True)

    async def _pass_input(self, reader: asyncio.StreamReader) -> None:
        """Input for the command.  The client waits with each frame until the
        agent has answered the last one, so its end is always seen here."""
        try:
            while True:
                kind, data = await _read_frame(reader)
                if kind != "I":
                    break
                await self._send(kind, data)
        except (OSError, asyncio.IncompleteReadError):
            pass
        self.machine.hear_agent(True)
        await self._send("K")

    async def _send(self, kind: str, payload: bytes = b"") -> None:
        await self.machine.send(frame(kind, payload))


async def _part(reader: asyncio.StreamReader,
                writer: asyncio.StreamWriter) -> None:
    """A client closes when it has all; what it still sends is dropped."""
    await writer.drain()
    writer.write_eof()
    while await reader.read(65536):
        pass


async def _peer_gone(reader: asyncio.StreamReader) -> None:
    """Ends when a client closes while its command waits.  Its input stays
    unread: the stream's own limit stops what it sends."""
    while not reader.at_eof():
        await asyncio.sleep(0.2)
