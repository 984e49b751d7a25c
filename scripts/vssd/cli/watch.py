# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd watch: a running drive as a page in the browser."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from typing import Any

from .. import ranges, rundir
from ..build import venv
from ..errors import UserError
from ..guest import monitor
from ..ui import say
from ..watch import control
from .fault import put

# Requests to a guest, and how many words follow.
OF_GUEST = {"state": 0, "pause": 0, "go": 0, "options": 0, "get": 1, "set": 1}

EPILOG = """\
  ./vssd watch                            the drive of the only guest
  ./vssd watch NAME --drive ssd1          a drive of a guest with several
  ./vssd watch live.vssd                  a file of vssd-sim --live, vssd-server
                                          --live, libvssd or live=FILE

  ./vssd watch live.vssd step gc          a request to vssd-sim --control:
                                          state, pause, go, step KIND, speed X,
                                          mark, back N, get KEY, set KEY=VALUE,
                                          options
  ./vssd watch NAME set ftl.gc_low=3%     of a guest: state, pause, go, get, set,
                                          options

docs/watch.md describes the page and the requests.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "watch", help="show a running drive as a page in the browser",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="?", metavar="RUN|FILE",
                   help="a guest, as ./vssd ps names it, or a live file"
                   " (default: the only guest)")
    p.add_argument("request", nargs="*", metavar="REQUEST",
                   help="no page: make this request to the run or guest")
    p.add_argument("--drive", metavar="ID",
                   help="this drive of the guest, as ssd0 (default: the only"
                   " one)")
    p.add_argument("--port", type=int, default=0, metavar="N",
                   help="listen there, on 127.0.0.1 (default: a free one)")
    p.add_argument("--no-browser", action="store_true",
                   help="only print the page's address")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that need no library."""
    ranges.check("--port", args.port, 0, ranges.MOST_PORT)
    _, _, path = find(args.what, args.drive)
    if args.request:
        control.line_of(args.request)
        if not Path(args.what).is_file():
            check_of_guest(args.what, args.request)
        if args.port or args.no_browser:
            raise UserError(f"{path}: a request goes without --port and"
                            " --no-browser")


def find(what: str | None, drive: str | None) -> tuple[str, str, Path]:
    """The names of run and drive, and the live file."""
    if what and Path(what).is_file():
        if drive:
            raise UserError(f"--drive {drive}: {what} is the file of one drive")
        return "", Path(what).name, Path(what)
    if what and ("/" in what or not rundir.NAME.fullmatch(what)):
        raise UserError(f"{what}: no such file")
    machine = _machine(what)
    files = machine.live_files
    if not files:
        raise UserError(f"the guest {machine.name} has no drive that shows"
                        " itself: it has another device than vssd")
    if drive is None and len(files) > 1:
        raise UserError(f"the guest {machine.name} has several drives, say"
                        f" which: --drive {' or '.join(files)}")
    name = drive or next(iter(files))
    if name not in files:
        raise UserError(f"--drive {name}: the guest {machine.name} has"
                        f" {', '.join(files)}")
    return machine.name, name, files[name]


def _machine(name: str | None) -> rundir.Run:
    found = {run.name: run for run in rundir.running()}
    if name and name not in found:
        raise UserError(f"{name}: no such file, and no such guest; there are: "
                        + (", ".join(found) or "none"))
    return rundir.find(name)


def _browse(address: str) -> None:
    """Only a graphical browser: one of the terminal would take it over."""
    import webbrowser

    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def check_of_guest(name: str, words: list[str]) -> None:
    """Refuse what only a run of vssd-sim takes."""
    if OF_GUEST.get(words[0]) != len(words) - 1:
        raise UserError(f"{' '.join(words)}: the guest {name} takes state, pause, go,"
                        " options, get KEY, set KEY=VALUE")


def ask_guest(qmp: Any, drive: str, words: list[str]) -> control.Answer:
    """The answer of a guest; a pause stops the whole machine."""
    if words[0] in ("pause", "go"):
        qmp.cmd({"pause": "stop", "go": "cont"}[words[0]])
    elif words[0] == "set":
        put(qmp, drive, "set-option", words[1])
        words = ["get", words[1].split("=")[0]]
    if words[0] not in ("options", "get"):
        return {"state": qmp.cmd("query-status")["status"]}
    options = qmp.cmd("qom-get", path=f"/machine/peripheral/{drive}",
                      property="running-options")
    if words[0] == "options":
        return {"options": options}
    if words[1] not in options:
        raise UserError(f"{words[1]}: not among the options that may change")
    return {"key": words[1], "value": options[words[1]]["value"]}


def request(path: Path, words: list[str]) -> None:
    """Print the answer; after going back, the state there."""
    found = control.ask(path, control.line_of(words))
    if words[0] == "back":
        found = control.ask(path, "state")
    print(control.text(found))


def main(args: argparse.Namespace) -> int:
    """./vssd watch"""
    from ..watch.live import LiveFile

    run, drive, path = find(args.what, args.drive)
    if args.request and run:
        with monitor.opened(rundir.find_to_change(run)) as qmp:
            print(control.text(ask_guest(qmp, drive, args.request)))
        return 0
    if args.request:
        request(path, args.request)
        return 0
    with LiveFile(path) as live:
        venv.extra("watch")
        from ..watch import serve

        def ready(address: str) -> None:
            print(address, flush=True)
            say("Ctrl-C ends it")
            if not args.no_browser:
                _browse(address)

        asyncio.run(serve.serve(live, {"run": run, "name": drive}, args.port,
                                ready))
    return 0
