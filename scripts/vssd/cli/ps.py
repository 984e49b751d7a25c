# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd ps: the guests that run."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from .. import rundir, ui


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "ps", help="list the guests that run",
        description="Lists the guests of ./vssd run, of this user's cache"
        " (docs/machines.md).")
    p.add_argument("--json", action="store_true",
                   help="all facts of each, as a JSON array")
    p.set_defaults(call=main)


def up_text(seconds: float) -> str:
    """As 3 h 5 min."""
    minutes = int(seconds) // 60
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{max(int(seconds), 0)} s"


def row(run: rundir.Run) -> list[str]:
    """A line of the table."""
    from ..watch.source import present

    facts = run.facts
    drives = ", ".join(f"{d['id']} {d['profile'] or d['device']}"
                       for d in present(run))
    how = [str(facts.get("accel", "?"))]
    how += ["icount"] * bool(facts.get("icount"))
    how += ["detached"] * bool(facts.get("detached"))
    return [run.name, str(facts.get("pid", "?")),
            up_text(time.time() - facts["started"]) if "started" in facts
            else "starts", " ".join(how), str(facts.get("ssh_port") or "-"),
            drives or "?", run.owner]


def facts_of(run: rundir.Run) -> dict[str, Any]:
    """All that is known of it now."""
    from ..watch.source import present

    facts = {**run.facts, "name": run.name, "folder": str(run.folder)}
    if "drives" in facts:
        facts["drives"] = present(run)
    return facts


def main(args: argparse.Namespace) -> int:
    """./vssd ps"""
    found = rundir.running()
    if args.json:
        print(json.dumps([facts_of(run) for run in found], indent=2))
    elif not found:
        ui.say("no guest runs: start one with ./vssd run")
    else:
        ui.table("", ["name", "pid", "up", "runs by", "ssh port", "drives",
                      "checkout (user)"],
                 [row(run) for run in found])
    return 0
