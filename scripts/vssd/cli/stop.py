# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd stop: end a guest that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from .. import arch, ranges, rundir
from ..errors import UserError
from ..guest import monitor
from ..ui import say

POLL_S = 0.2
FORCED_S = 60
SUMMARY = "vssd: drive"  # begins the summary in a detached run's log


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "stop", help="end a guest that runs",
        description="Presses the guest's power button and waits until it has"
        " ended.  Shows the summary of a detached run.  A guest of another"
        " checkout or user has to be named.")
    p.add_argument("name", nargs="?", metavar="NAME",
                   help="which guest; as --run")
    rundir.add_option(p)
    p.add_argument("--all", action="store_true", help="every guest of this checkout and user")
    p.add_argument("--force", action="store_true",
                   help="end it as if its power went; statistics are written")
    p.add_argument("--timeout", type=float, default=120, metavar="SECONDS",
                   help="wait so long for the guest to power down (default:"
                   " %(default)s)")
    p.set_defaults(call=main)


def wanted(args: argparse.Namespace) -> list[rundir.Run]:
    """The guests that are meant."""
    if sum(map(bool, (args.name, args.run, args.all))) > 1:
        raise UserError("stop: give one of NAME, --run NAME and --all")
    ranges.check_seconds("--timeout", args.timeout)
    if not args.all:
        return [rundir.find_to_change(args.name or args.run)]
    found = rundir.running()
    if others := [run for run in found if not run.ours]:
        say("not of this checkout and user, left running: "
            + ", ".join(f"{run.name} of {run.owner}" for run in others)
            + "; --run NAME ends one")
    return [run for run in found if run.ours]


def press_power_button(run: rundir.Run) -> None:
    """By QEMU's monitor."""
    path = run.machine_monitor or run.monitor
    if not path.exists():  # it may be too long for a socket
        raise UserError(f"the guest {run.name} has no monitor: --force ends it")
    with monitor.opened(run, path, "; --force ends it") as qmp:
        qmp.cmd("system_powerdown")


def power_off(run: rundir.Run, timeout_s: float) -> None:
    """By the agent, after the command that runs there."""
    from ..guest import attach

    def drop(_: object) -> None:
        return None

    # The guest may be gone before the agent has answered.
    with contextlib.suppress(UserError):
        attach.execute(run, "setsid poweroff >/dev/null 2>&1 &",
                       attach.Streams(drop, drop, drop), timeout_s)


def wait(run: rundir.Run, seconds: float) -> bool:
    """Has the run ended by then?"""
    end = time.monotonic() + seconds
    while run.alive:
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return True


def summary(log: str) -> str:
    """The end of a detached run's log: what was said of its drives."""
    try:
        text = Path(log).read_text("utf-8", "replace")
    except OSError:
        return ""
    return text[text.rindex(SUMMARY):] if SUMMARY in text else text[-2000:]


def stop(run: rundir.Run, force: bool, timeout_s: float) -> None:
    """End it, and say what it said."""
    facts, name = run.facts, run.name
    if force:
        if "pid" not in facts:
            raise UserError(f"the guest {name} starts: try again in a moment")
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(facts["pid"]), signal.SIGTERM)
        timeout_s = FORCED_S
    elif arch.ALL[facts.get("arch", arch.X86_64.name)].power_button:
        from ..guest.console import PRESS_S

        press_power_button(run)
        if not wait(run, min(PRESS_S, timeout_s)):
            with contextlib.suppress(UserError):  # it may be ending
                press_power_button(run)
    else:
        power_off(run, timeout_s)
    if not wait(run, timeout_s):
        raise UserError(f"the guest {name} has not ended in {timeout_s:g} s"
                        + ("" if force else ": --force ends it as if its power"
                           " went"))
    sys.stderr.write(summary(facts.get("log", "")))
    say(f"{name} has ended")


def main(args: argparse.Namespace) -> int:
    """./vssd stop"""
    for run in wanted(args):
        stop(run, args.force, args.timeout)
    return 0
