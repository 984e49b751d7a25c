# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: its sub-commands, a module of this package for each."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from .. import ending
from ..errors import one_line
from . import (
    age,
    bench,
    cache,
    checklog,
    compare,
    console,
    cp,
    execute,
    fault,
    figures,
    fit,
    fuzz,
    kernel,
    libvirt,
    metrics,
    model,
    plot,
    powercut,
    ps,
    report,
    run,
    setup,
    sim,
    ssh,
    stat,
    stop,
    sweep,
    test,
    top,
    validate,
)

DESCRIPTION = """\
vssd: a virtual SSD.  A guest boots inside QEMU from an NVMe drive whose
controller, FTL and NAND are modelled; the same model plays block traces.
"""

# Each module has add_parser() and main(); --help lists them in this order.
COMMANDS = (setup, cache, run, ps, console, execute, cp, ssh, stop, powercut,
            fault, stat, top, metrics, sim, age, sweep, compare, report, plot,
            figures, validate, fit, model, libvirt,
            kernel, test, fuzz, bench, checklog)


class Parser(argparse.ArgumentParser):
    """argparse's, with errors of one line."""

    def error(self, message: str) -> NoReturn:
        """Status 2, as usual."""
        name = self.prog.removeprefix("vssd").strip()
        print(f"vssd: {name + ': ' if name else ''}{one_line(message)}"
              f" (./{self.prog} --help says more)", file=sys.stderr)
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    """All options of all commands."""
    p = Parser(
        prog="vssd", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(sub)
    return p


def main(argv: list[str]) -> int:
    """Run one command; its exit status."""
    return ending.run(lambda: _command(argv))


def _command(argv: list[str]) -> int:
    if argv[:1] == ["sim"]:
        # vssd-sim reads its own options.
        args = argparse.Namespace(call=sim.main, rest=argv[1:])
    else:
        p = parser()
        args = p.parse_args(argv)
        if getattr(args, "qemu", None) and "--" not in argv:
            p.error(f"what is {args.qemu[0]!r}?  Arguments for QEMU come"
                    " after --")
    if not getattr(args, "dry_run", False):
        from ..build import venv
        venv.enter(argv)
    return int(args.call(args))
