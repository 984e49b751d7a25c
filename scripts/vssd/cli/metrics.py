# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd metrics: statistics of running guests' drives for Prometheus."""

from __future__ import annotations

import argparse
import contextlib
import threading
from typing import TYPE_CHECKING

from .. import ranges, rundir
from ..build import venv
from ..errors import UserError
from ..ui import say
from .powercut import find_drives

if TYPE_CHECKING:
    from ..watch.source import Drive

PORT = 9470
EPILOG = """\
  ./vssd metrics                  serves http://127.0.0.1:9470/metrics
  ./vssd metrics --once           prints the metrics

docs/watch.md has the rules of the names, and the Grafana dashboard.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "metrics", help="serve statistics of running guests' drives to"
        " Prometheus",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--port", type=int, default=PORT, metavar="N",
                   help="listen there; 0: a free one (default: %(default)s)")
    p.add_argument("--address", default="127.0.0.1", metavar="IP",
                   help="listen on this address (default: %(default)s)")
    p.add_argument("--run", action="append", metavar="NAME",
                   help="only this guest; may be repeated (default: all that"
                   " run, also those that start later)")
    p.add_argument("--once", action="store_true",
                   help="print the metrics once, and end")
    p.set_defaults(call=main)


def drives(runs: list[str] | None) -> list[Drive]:
    """The drives that there are now."""
    from ..watch.source import Drive, Monitor

    names = runs or [run.name for run in rundir.running()]
    out = []
    for run in names:
        try:
            machine = rundir.find(run)
            with Monitor(machine) as qmp:
                out += [Drive(machine, name)
                        for name in find_drives(qmp, None)]
        except UserError as e:
            say(str(e))
    return out


def main(args: argparse.Namespace) -> int:
    """./vssd metrics"""
    from ..watch import metrics

    ranges.check("--port", args.port, 0, ranges.MOST_PORT)
    for name in args.run or []:
        rundir.find(name)  # a name that is wrong is an error now, not later
    venv.extra("metrics")
    collector = metrics.Collector(lambda: drives(args.run))
    if args.once:
        print(metrics.text(collector), end="")
        return 0
    server, port = metrics.serve(collector, args.address, args.port)
    say(f"serving http://{args.address}:{port}/metrics; Ctrl-C ends it")
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    server.shutdown()
    return 0
