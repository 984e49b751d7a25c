# SPDX-License-Identifier: GPL-2.0-or-later
"""A running machine's drives, read through its monitor.

A reading opens the monitor and closes it: QEMU serves one connection of it at a
time, and ./vssd fault, powercut and other readers need it as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import UserError
from ..rundir import Run
from . import members

LIMIT_S = 10.0  # for an answer
PRESENT_S = 2.0  # the same, where the facts will do without one
Stats = dict[str, Any]


class Monitor:
    """with Monitor(machine) as qmp: qmp.cmd("query-status")"""

    def __init__(self, machine: Run, limit_s: float = LIMIT_S,
                 path: Path | None = None) -> None:
        from qemu.qmp import QMPClient

        self.machine = machine
        self.path = path or machine.monitor
        self.limit_s = limit_s
        self.loop = asyncio.new_event_loop()
        self.qmp = QMPClient("vssd")
        self.qmp.logger.setLevel(logging.CRITICAL)  # errors are raised as well

    def _wait(self, what: Any) -> Any:
        from qemu.qmp import QMPError

        try:
            return self.loop.run_until_complete(
                asyncio.wait_for(what, self.limit_s))
        except asyncio.TimeoutError as e:
            raise UserError(
                f"the guest {self.machine.name} does not answer within"
                f" {self.limit_s:g} s; another program may hold its monitor") \
                from e
        except (OSError, EOFError, QMPError) as e:
            raise UserError(f"the guest {self.machine.name} does not"
                            f" answer: {e}") from e

    def __enter__(self) -> Monitor:
        try:
            self._wait(self.qmp.connect(str(self.path)))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        with contextlib.suppress(UserError):
            self._wait(self.qmp.disconnect())
        self.loop.close()

    def cmd(self, name: str, **arguments: Any) -> Any:
        """A command of the monitor; its answer."""
        return self._wait(self.qmp.execute(name, arguments))


def stats(qmp: Any, drive: str) -> Stats:
    """The statistics of a drive, as of `./vssd run --stats`."""
    text = qmp.cmd("qom-get", path=f"/machine/peripheral/{drive}",
                   property="stats-text")
    found: Stats = members.ordered(json.loads(text))
    return found


class Drive:
    """One drive of a running machine."""

    def __init__(self, machine: Run, name: str) -> None:
        self.machine = machine
        self.name = name

    @property
    def run(self) -> str:
        """The name of the machine's run."""
        return self.machine.name

    def read(self) -> Stats:
        """Its statistics now."""
        from qemu.qmp import ExecuteError

        with Monitor(self.machine) as qmp:
            try:
                return stats(qmp, self.name)
            except UserError as e:
                cause = e.__cause__
                if isinstance(cause, ExecuteError) \
                        and cause.error_class == "DeviceNotFound":
                    raise UserError(
                        f"the guest {self.run} has no drive {self.name} any"
                        " more: QEMU has deleted it (docs/machines.md)") from e
                raise


def present(machine: Run) -> list[dict[str, Any]]:
    """The drives of the machine's facts that it still has: QEMU deletes one
    whose slot the guest powers off.  All of them, if QEMU does not answer."""
    known: list[dict[str, Any]] = list(machine.facts.get("drives", []))
    path = machine.machine_monitor or machine.monitor
    if not known or not path.exists():
        return known
    try:
        with Monitor(machine, PRESENT_S, path) as qmp:
            there = {x["name"] for x in qmp.cmd("qom-list",
                                                path="/machine/peripheral")}
    except UserError:
        return known
    return [one for one in known if one["id"] in there]
