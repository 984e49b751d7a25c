# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of a guest that runs: its console on this terminal, a command by its
agent.  control.py is the other end."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from .. import rundir
from ..errors import UserError
from . import console
from .control import COMMAND_MAX, FAILED, NOTE, frame, short_path
from .frames import Splitter

INPUT_BYTES = 32768
TIMED_OUT = 124
QUIET_S = 1.5
DETACH = b"dD"
HELP = b"\r\nCtrl-A d: leave the console; Ctrl-A Ctrl-A: send Ctrl-A\r\n"


def _connect(run: rundir.Run, name: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(run.folder, name) as path:
            sock.connect(path)
    except OSError as e:
        sock.close()
        raise UserError(f"the guest {run.name} takes no commands: it runs"
                        " with --exec or has ended") from e
    return sock


@dataclass
class Streams:
    """A command's streams on this side; input is a file or nothing."""

    out: Callable[[bytes], object]
    err: Callable[[bytes], object]
    note: Callable[[str], object]
    stdin: int | None = None


def execute(run: rundir.Run, command: str, streams: Streams,
            timeout_s: float | None = None) -> int:
    """Run a command in the guest; its status, or TIMED_OUT."""
    data = command.encode()
    if len(data) > COMMAND_MAX:
        raise UserError(f"the command has {len(data)} bytes, allowed"
                        f" 1..{COMMAND_MAX}")
    with _connect(run, rundir.AGENT) as sock:
        kind = "R" if streams.stdin is None else "T"
        sock.sendall(frame(kind, data))
        return _relay(run, sock, streams, timeout_s)


def _relay(run: rundir.Run, sock: socket.socket, streams: Streams,
           timeout_s: float | None) -> int:
    frames = Splitter()
    end = None if timeout_s is None else time.monotonic() + timeout_s
    stdin = streams.stdin
    taken = True  # the guest has the last input, so that this never blocks
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        ready, _, _ = select.select(
            [sock] + ([stdin] if stdin is not None and taken else []), [], [],
            left)
        if not ready:
            return TIMED_OUT
        if sock in ready:
            chunk = sock.recv(65536)
            if not chunk:
                raise UserError(f"the guest {run.name} ended before the"
                                " command")
            for kind, payload in frames.feed(chunk):
                if kind == "X":
                    return int.from_bytes(payload, "little")
                if kind == "A":
                    taken = True
                elif kind == FAILED:
                    raise UserError(f"{run.name}: {payload.decode()}")
                elif kind == NOTE:
                    streams.note(payload.decode())
                else:
                    (streams.out if kind == "O" else streams.err)(payload)
        elif stdin is not None and stdin in ready:
            data = os.read(stdin, INPUT_BYTES)
            with contextlib.suppress(BrokenPipeError):
                sock.sendall(frame("I", data))
            taken = False
            if not data:
                stdin = None


def show_console(run: rundir.Run) -> None:
    """Until the guest ends or the user leaves; without a terminal, until the
    input has ended and the console is quiet."""
    with _connect(run, rundir.CONSOLE) as sock:
        if os.isatty(console.STDIN):
            with console.raw_terminal():
                _typed(sock)
        else:
            _piped(sock)


def _typed(sock: socket.socket) -> None:
    escaped = False
    while True:
        ready: list[int] = select.select([sock.fileno(), console.STDIN], [],
                                         [])[0]
        if sock.fileno() in ready:
            data = sock.recv(65536)
            if not data:
                return
            console.show(data)
        if console.STDIN not in ready:
            continue
        plain = bytearray()
        for key in os.read(console.STDIN, 4096):
            if escaped and key in DETACH:
                return
            if escaped and key != console.ESCAPE:
                console.show(HELP)
            elif key == console.ESCAPE and not escaped:
                escaped = True
                continue
            else:
                plain.append(key)
            escaped = False
        sock.sendall(plain)


def _piped(sock: socket.socket) -> None:
    """Each line is typed when the console is quiet: a login drops what is typed
    ahead of it."""
    lines: list[bytes] = []
    rest, ended = b"", False
    while True:
        waits = bool(lines) or ended
        ready, _, _ = select.select(
            [sock] + ([] if waits else [console.STDIN]), [], [],
            QUIET_S if waits else None)
        if sock in ready:
            data = sock.recv(65536)
            if not data:
                return
            console.show(data)
        elif not ready and lines:
            sock.sendall(lines.pop(0))
        elif not ready:
            return
        else:
            data = os.read(console.STDIN, 4096)
            *whole, rest = (rest + data).split(b"\n")
            lines = [line + b"\n" for line in whole]
            if not data:
                ended = True
                lines += [rest] if rest else []
