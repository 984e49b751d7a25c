# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd powercut: cut the power of a running guest's drives; campaign is in
powercut_campaign.py."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from .. import rundir
from ..errors import UserError
from ..guest import monitor
from ..ui import say
from . import powercut_campaign

MODES = ("reset", "stop", "running")
EPILOG = """\
modes:
  reset    the whole machine loses power and starts again (default)
  stop     the machine ends; with ./vssd run --keep the image then holds
           the durable data
  running  the drives disappear, and return a second later

A guest of another checkout or user has to be named, by --run.
docs/power.md describes the surviving data and the guest's view.
"./vssd powercut campaign" starts guests of its own.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "powercut", help="cut the power of a running guest's drives",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mode", choices=MODES, default="reset",
                   help="effect on the machine (default: %(default)s)")
    p.add_argument("--drive", metavar="ID",
                   help="with running: only this one, as ssd0 (default: all)")
    rundir.add_option(p)
    p.set_defaults(call=main)
    powercut_campaign.add_parser(p.add_subparsers(
        title="instead of a running guest", metavar="campaign"))


def find_drives(qmp: Any, wanted: str | None) -> list[str]:
    """The vssd drives of the machine."""
    drives = [x["name"] for x in qmp.cmd("qom-list", path="/machine/peripheral")
              if x["type"] == "child<vssd>"]
    if wanted and wanted not in drives:
        raise UserError(f"--drive {wanted}: the guest has "
                        + (", ".join(drives) or "no vssd drive"))
    if not drives:
        raise UserError("the guest has no vssd drive")
    return [wanted] if wanted else drives


def cut(qmp: Any, mode: str, drives: list[str]) -> None:
    """All at one instant of the guest; then the action of the mode."""
    from qemu.qmp import ExecInterruptedError, QMPError

    def put(drive: str, name: str, value: object) -> None:
        qmp.cmd("qom-set", path=f"/machine/peripheral/{drive}", property=name,
                value=value)

    qmp.cmd("stop")
    if mode == "running":
        for drive in drives:
            put(drive, "power-cut", mode)
    else:
        for drive in drives[1:]:
            put(drive, "powered", False)
        with contextlib.suppress(ExecInterruptedError):
            put(drives[0], "power-cut", mode)
    if mode != "stop":
        # A run with --exec ends when the machine is reset: during the command,
        # or before it, and then there is nobody to say it to.
        with contextlib.suppress(EOFError, OSError, QMPError):
            qmp.cmd("cont")


def cut_served(qmp: Any, mode: str, drives: list[str],
               run: rundir.Run) -> None:
    """The drive is in vssd-server: it loses its power, and then the machine is
    reset or ended, which is another process."""
    from qemu.qmp import ExecInterruptedError, QMPError

    if mode == "running":
        cut(qmp, mode, drives)
        return
    with monitor.opened(run, run.machine_monitor) as machine:
        machine.cmd("stop")
        # It is back before the machine looks: QEMU complains of a device that
        # it cannot wake up for its reset.
        for powered in (False, True):
            qmp.cmd("qom-set", path=f"/machine/peripheral/{drives[0]}",
                    property="powered", value=powered)
        with contextlib.suppress(ExecInterruptedError):
            machine.cmd("system_reset" if mode == "reset" else "quit")
        if mode == "reset":
            with contextlib.suppress(EOFError, OSError, QMPError):
                machine.cmd("cont")


def main(args: argparse.Namespace) -> int:
    """./vssd powercut"""
    if args.drive and args.mode != "running":
        raise UserError("--drive goes with --mode running only: the machine"
                        " loses the power of all its drives")
    run = rundir.find_to_change(args.run)
    with monitor.opened(run) as qmp:
        drives = find_drives(qmp, args.drive)
        if run.machine_monitor:
            cut_served(qmp, args.mode, drives, run)
        else:
            cut(qmp, args.mode, drives)
    say(f"cut the power of {', '.join(drives)}: {args.mode}")
    return 0
