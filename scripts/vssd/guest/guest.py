# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest for tests and measurements: start it, run commands in it, read its
drives' statistics.  A Machine behind calls that simply return."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import Any, TypeVar

from ..errors import UserError
from .hardware import Spec
from .machine import Machine, Result

T = TypeVar("T")


class Guest:
    """with Guest(spec) as guest: guest.run("nvme list")"""

    MOMENT_S = 300  # for actions that take no time on an idle machine
    BOOT_S = 1500
    COMMAND_S = 1800

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever,
                                       daemon=True)
        self.machine: Machine | None = None

    def __enter__(self) -> Guest:
        self.thread.start()
        try:
            self.machine = self._wait(self._start(), self.MOMENT_S)
        except BaseException:
            self._stop_loop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if self.machine:
                self._wait(self.machine.quit(), self.MOMENT_S)
        finally:
            self._stop_loop()

    async def _start(self) -> Machine:
        machine = Machine(self.spec)
        await machine.start()
        return machine

    def _stop_loop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        if not self.thread.is_alive():
            self.loop.close()

    def _wait(self, what: Coroutine[Any, Any, T], timeout_s: float) -> T:
        future = asyncio.run_coroutine_threadsafe(what, self.loop)
        try:
            return future.result(timeout_s)
        except FutureTimeout as e:
            future.cancel()
            said = ""
            if self.machine:
                path = asyncio.run_coroutine_threadsafe(
                    self.machine.keep_evidence(), self.loop).result()
                said = (f"{self.machine.last_console_lines(5)}"
                        f" (all of it: {path})")
            raise UserError(f"no answer in {timeout_s:.0f} s; the console"
                            f" said: {said}") from e

    @property
    def live(self) -> Machine:
        """The machine, which must have been started."""
        if self.machine is None:
            raise UserError("the guest has not been started")
        return self.machine

    @property
    def pid(self) -> int:
        """The process of its QEMU."""
        assert self.live.proc
        return self.live.proc.pid

    @property
    def console(self) -> str:
        """All that the serial console showed."""
        return self.live.console_log.decode(errors="replace")

    def wait_agent(self, timeout_s: float = BOOT_S) -> None:
        """Until the agent is there."""
        self._wait_for(self.live.greeted, timeout_s)

    def wait_prompt(self, timeout_s: float = BOOT_S) -> None:
        """Until the console shows a login prompt."""
        self._wait_for(self.live.prompt, timeout_s)

    def _wait_for(self, event: asyncio.Event, timeout_s: float) -> None:
        async def wait() -> None:
            m = self.live
            while not (event.is_set() or m.ended.is_set()):
                await m.first(event, m.ended)
            if not event.is_set():
                raise UserError(f"the guest ended ({m.end_reason}):"
                                f" {m.last_console_lines(5)} {m.complaint()}")
        self._wait(wait(), timeout_s)

    def run(self, command: str, check: bool = True,
            timeout_s: float = COMMAND_S) -> str:
        """Run a command; returns its output. check: it must succeed."""
        result = self.result(command, timeout_s)
        if check and result.status != 0:
            raise UserError(f"in the guest, {command!r} ended with status "
                            f"{result.status}: {result.err.decode()}"
                            f" {result.out.decode()[-2000:]}")
        return result.out.decode(errors="replace")

    def result(self, command: str, timeout_s: float = COMMAND_S) -> Result:
        """Run a command; all about it."""
        self.wait_agent()
        return self._wait(self.live.request(command), timeout_s)

    def type(self, text: str) -> None:
        """Type on the serial console."""
        self._wait(self.live.type(text.encode()), self.MOMENT_S)

    def stats(self, drive: int = 0) -> dict[str, Any]:
        """A vssd drive's statistics."""
        return self._wait(self.live.stats(drive), self.MOMENT_S) or {}

    def qmp(self, command: str, **arguments: Any) -> Any:
        """A monitor command."""
        return self._wait(self.live.qmp.execute(command, arguments),
                          self.MOMENT_S)

    def power_off(self, timeout_s: float = BOOT_S) -> None:
        """Power the guest off and wait until it has."""
        self._wait(self.live.power_off(), self.MOMENT_S)
        self.wait_end(timeout_s)

    def wait_end(self, timeout_s: float = BOOT_S) -> str:
        """Until the guest has ended; why it did."""
        self._wait(self.live.ended.wait(), timeout_s)
        return self.live.end_reason
