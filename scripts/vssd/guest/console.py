# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's serial console on this terminal, or on a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
import threading
import tty
from collections.abc import AsyncIterator, Iterator

from .machine import Machine

STDIN = 0
ESCAPE = 0x01  # Ctrl-A
QUIET_S = 1.5
PROMPT_S = 600
POWERDOWN_S = 120
PRESS_S = 20  # then again: the guest may not have listened yet
HELP = b"\r\nCtrl-A x: end the guest; Ctrl-A Ctrl-A: send Ctrl-A\r\n"


@contextlib.contextmanager
def raw_terminal() -> Iterator[None]:
    """Every key goes to the guest."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        # The guest may have left the terminal in any mode.
        os.write(sys.stdout.fileno(), b"\x1b[0m\x1b[?25h\r\n")


def show(data: bytes) -> None:
    """The guest's output, as it is."""
    while data:
        try:
            data = data[os.write(sys.stdout.fileno(), data):]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            return


async def relay_terminal(machine: Machine) -> None:
    """Until the guest ends, or the user ends it."""
    loop = asyncio.get_running_loop()
    keys: asyncio.Queue[bytes] = asyncio.Queue()
    fd = sys.stdin.fileno()
    machine.on_console = show
    with raw_terminal():
        loop.add_reader(fd, lambda: keys.put_nowait(os.read(fd, 4096)))
        try:
            task = asyncio.create_task(_pass_keys(machine, keys))
            await machine.first(task, machine.ended)
            task.cancel()
        finally:
            loop.remove_reader(fd)


async def _pass_keys(machine: Machine, keys: asyncio.Queue[bytes]) -> None:
    """Ends when the user says so."""
    escaped = False
    while data := await keys.get():
        plain = bytearray()
        for key in data:
            if escaped:
                escaped = False
                if key in b"xX":
                    return
                if key == ESCAPE:
                    plain.append(key)
                else:
                    show(HELP)
            elif key == ESCAPE:
                escaped = True
            else:
                plain.append(key)
        if plain:
            await machine.type(bytes(plain))


async def relay_pipe(machine: Machine) -> None:
    """Standard input is no terminal: its lines are typed one by one, each when
    the guest has been quiet; at its end the guest is powered down."""
    quiet = _Quiet()

    def shown(data: bytes) -> None:
        quiet.heard.set()
        show(data)

    machine.on_console = shown
    await machine.first(machine.prompt, machine.ended, timeout_s=PROMPT_S)
    async for line in _lines(machine):
        await quiet.wait()
        if machine.ended.is_set():
            return
        await machine.type(line)
    await quiet.wait()
    for seconds in (PRESS_S, POWERDOWN_S):
        if not machine.ended.is_set():
            await machine.press_power_button()
            await machine.first(machine.ended, timeout_s=seconds)


async def _lines(machine: Machine) -> AsyncIterator[bytes]:
    """The lines of standard input, each when it comes, until its end or that of
    the guest."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def put(line: bytes) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        rest = b""
        with contextlib.suppress(OSError, RuntimeError):  # closed; loop ended
            while data := os.read(STDIN, 65536):
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    put(line + b"\n")
        with contextlib.suppress(RuntimeError):
            if rest:
                put(rest)
            put(b"")

    # A thread, since files cannot be waited for otherwise; it may stay in its
    # read() when the guest has ended.
    threading.Thread(target=read, daemon=True).start()
    while not machine.ended.is_set():
        line = asyncio.ensure_future(lines.get())
        await machine.first(line, machine.ended)
        if not line.done() or not line.result():
            line.cancel()
            return
        yield line.result()


class _Quiet:
    """Has the console been idle for a while?"""

    def __init__(self) -> None:
        self.heard = asyncio.Event()

    async def wait(self) -> None:
        """Until it has."""
        while True:
            self.heard.clear()
            try:
                await asyncio.wait_for(self.heard.wait(), QUIET_S)
            except asyncio.TimeoutError:
                return
