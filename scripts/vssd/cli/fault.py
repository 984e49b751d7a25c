# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fault: break the drives of a running guest by rules."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .. import rundir
from ..errors import UserError
from ..guest import monitor
from ..ui import say
from .powercut import find_drives

ACTIONS = ("add", "list", "remove")
EPILOG = """\
  ./vssd fault add 'cmd=write nth=100 -> status 2/80'
  ./vssd fault add 'ctrl -> cfs' --drive ssd1
  ./vssd fault list
  ./vssd fault remove 1

docs/faults.md has the grammar, and what Linux does.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "fault", help="add, list and remove faults of a running guest's drive",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("action", choices=ACTIONS)
    p.add_argument("what", nargs="?", metavar="RULE|ID",
                   help="the rule to add; the number of the one to remove")
    p.add_argument("--drive", metavar="ID",
                   help="this drive, as ssd0 (default: the only one)")
    rundir.add_option(p)
    p.add_argument("--json", action="store_true",
                   help="with list: the rules as JSON")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that need no guest."""
    if args.action == "list" and args.what is not None:
        raise UserError(f"fault list: what is {args.what!r}?  It takes nothing")
    if args.action == "add" and not args.what:
        raise UserError("fault add: a rule must follow, as"
                        " 'cmd=read nth=3 -> status 2/81'")
    if args.action == "remove" and not (args.what or "").isdecimal():
        raise UserError("fault remove: a rule's number must follow"
                        f" ({args.what or 'there is none'}; fault list has"
                        " them)")
    if args.json and args.action != "list":
        raise UserError("--json goes with fault list only")


def only_drive(qmp: Any, wanted: str | None) -> str:
    """The drive that is meant."""
    drives = find_drives(qmp, wanted)
    if len(drives) > 1:
        raise UserError("the guest has several drives, say which: --drive "
                        + " or ".join(drives))
    return drives[0]


def rules(qmp: Any, drive: str) -> list[dict[str, Any]]:
    """The drive's rules, the oldest first."""
    found: list[dict[str, Any]] = qmp.cmd(
        "qom-get", path=f"/machine/peripheral/{drive}", property="faults")
    return found


def put(qmp: Any, drive: str, name: str, value: object) -> None:
    """Set a property of the drive; its refusal is the user's error."""
    from qemu.qmp import ExecuteError

    try:
        qmp.cmd("qom-set", path=f"/machine/peripheral/{drive}", property=name,
                value=value)
    except ExecuteError as e:
        raise UserError(str(e).removeprefix("vssd: ")) from e


def act(qmp: Any, args: argparse.Namespace) -> None:
    """What the command does to the drive, and says."""
    drive = only_drive(qmp, args.drive)
    if args.action == "add":
        put(qmp, drive, "fault-add", args.what)
        say(f"{drive}: rule {max(r['id'] for r in rules(qmp, drive))}")
    elif args.action == "remove":
        put(qmp, drive, "fault-remove", int(args.what))
        say(f"{drive}: rule {args.what} is removed")
    elif args.json:
        print(json.dumps(rules(qmp, drive)))
    else:
        for r in rules(qmp, drive):
            lasts = ", lasts" if r["lasts"] else ""
            print(f"{r['id']}: {r['rule']}  (matched {r['matched']},"
                  f" fired {r['fired']}{lasts})")


def main(args: argparse.Namespace) -> int:
    """./vssd fault"""
    check(args)
    find = rundir.find if args.action == "list" else rundir.find_to_change
    with monitor.opened(find(args.run)) as qmp:
        act(qmp, args)
    return 0
