# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: its sub-commands, a module of this package for each."""

from __future__ import annotations

import argparse
import functools
import importlib.util

from .. import ending, ui
from . import (
    age,
    bench,
    cache,
    checklog,
    compare,
    completion,
    console,
    cp,
    doctor,
    execute,
    fault,
    figures,
    fit,
    fleet,
    fuzz,
    help,
    kernel,
    libvirt,
    man,
    metrics,
    model,
    plot,
    policy,
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
    vng,
)
from .parsing import Parser, add_quiet, show_group, wants_colours

DESCRIPTION = """\
vssd: a virtual SSD.  A guest boots inside QEMU from an NVMe drive whose
controller, FTL and NAND are modelled; the same model plays block traces.
"""

# Each module has add_parser() and main(); --help lists them in this order.
# Help, completion and man pages read the same parsers.
GROUPS = {
    "guests": (run, vng, ps, console, execute, cp, ssh, stop, powercut, fault,
               stat, top, metrics, libvirt, kernel),
    "simulation": (sim, age, sweep, fleet, fit, model, policy),
    "look at results": (compare, report, plot, checklog),
    "the laboratory": (figures, validate, bench, test, fuzz),
    "this program": (setup, doctor, cache, help, completion, man),
}



class Version(argparse.Action):
    """--version: git is asked only then."""

    def __call__(self, *_: object) -> None:
        from ..origin import version_text

        print(version_text())
        raise SystemExit(0)


def parser() -> argparse.ArgumentParser:
    """All options of all commands."""
    p = Parser(
        prog="vssd", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", action=Version, nargs=0,
                   help="print version and commit")
    sub = p.add_subparsers(metavar="COMMAND", required=True)
    for title, modules in GROUPS.items():
        for module in modules:
            module.add_parser(sub)
        show_group(p, sub, title)
    add_quiet(p)
    # A command may ask for the libraries that it needs, few or none, by itself.
    p.set_defaults(without_libraries=False)
    p.set_defaults(command_parser=p, run_again=_command)
    return p


def main(argv: list[str]) -> int:
    """Run one command; its exit status."""
    return ending.run(lambda: _command(argv))


def _command(argv: list[str]) -> int:
    from ..build import venv

    if wants_colours() and {"-h", "--help", "help"} & {*argv}:
        venv.enter_if_made(argv)
    args = _parsed(argv)
    ui.quiet = args.quiet
    _check(args)
    args.need_library = functools.partial(_need, argv)
    if not (getattr(args, "dry_run", False) or args.without_libraries):
        venv.enter(argv)
    return int(args.call(args))


def _check(args: argparse.Namespace) -> None:
    """Mistakes in the arguments, before anything is installed or built."""
    from ..build import venv

    check = getattr(args, "check_arguments", None)
    try:
        if check:
            check(args)
    except ModuleNotFoundError:  # a library: it is checked again in there
        if venv.inside():
            raise


def _parsed(argv: list[str]) -> argparse.Namespace:
    words = [a for a in argv if a != "--quiet"]
    if words[:1] == ["sim"] and "sim" in argv[:2]:
        # vssd-sim reads its own options.
        at = argv.index("sim")
        return argparse.Namespace(call=sim.main, rest=argv[at + 1:],
                                  quiet=at > 0, check_arguments=sim.check,
                                  without_libraries=False)
    p = parser()
    args = p.parse_args(argv)
    if getattr(args, "qemu", None) and "--" not in argv:
        p.error(f"what is {args.qemu[0]!r}?  Arguments for QEMU come"
                " after --")
    return args


def _need(argv: list[str], library: str) -> None:
    """Have a library: of this Python, else of the environment."""
    if importlib.util.find_spec(library) is None:
        from ..build import venv

        venv.enter(argv)
