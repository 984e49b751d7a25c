# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: its sub-commands, a module of this package for each."""

from __future__ import annotations

import argparse
import functools
import importlib.util
from types import ModuleType

from .. import ending, ui
from ..errors import UserError
from . import (
    age,
    cache,
    checklog,
    compare,
    completion,
    console,
    cp,
    doctor,
    drive,
    execute,
    explain,
    fault,
    fit,
    fleet,
    help,
    kernel,
    libvirt,
    man,
    metrics,
    plot,
    policy,
    powercut,
    profile,
    ps,
    report,
    run,
    setup,
    sim,
    ssh,
    stat,
    stop,
    streams,
    sweep,
    top,
    vng,
    watch,
)
from .parsing import Parser, add_quiet, show_group, wants_colours

DESCRIPTION = """\
vssd: a virtual SSD.  A guest boots inside QEMU from an NVMe drive whose
controller, FTL and NAND are modelled; the same model plays block traces.
"""

Groups = dict[str, tuple[ModuleType, ...]]
# Each module has add_parser() and main(); --help lists them in this order.
# Help, completion and man pages read the same parsers.
GROUPS: Groups = {
    "guests": (run, vng, ps, console, execute, cp, ssh, stop, powercut, fault,
               drive, watch, stat, top, metrics, libvirt, kernel,
               streams),
    "simulation": (sim, age, sweep, fleet, fit, profile, policy),
    "look at results": (explain, compare, report, plot, checklog),
    "this program": (setup, doctor, cache, help, completion, man),
}
# Commands of the laboratory, which is a package beside this one (lab/).
LABORATORY = ("figures", "validate", "model", "bench", "test", "fuzz")


class Version(argparse.Action):
    """--version: git is asked only then."""

    def __call__(self, *_: object) -> None:
        from ..origin import version_text

        print(version_text())
        raise SystemExit(0)


def parser(groups: Groups = GROUPS) -> argparse.ArgumentParser:
    """All options of all commands."""
    p = Parser(
        prog="vssd", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", action=Version, nargs=0,
                   help="print version and commit")
    sub = p.add_subparsers(metavar="COMMAND", required=True)
    for title, modules in groups.items():
        for module in modules:
            module.add_parser(sub)
        show_group(p, sub, title)
    add_quiet(p)
    # A command may ask for the libraries that it needs, few or none, by itself.
    p.set_defaults(without_libraries=False)
    p.set_defaults(command_parser=p,
                   run_again=functools.partial(_command, groups=groups))
    return p


def main(argv: list[str], groups: Groups = GROUPS,
         package: str = "vssd") -> int:
    """Run one command; its exit status.  package: the one that was started, whose
    commands the groups are."""
    from ..build import venv

    venv.package = package
    return ending.run(lambda: _command(argv, groups))


def _command(argv: list[str], groups: Groups) -> int:
    from ..build import venv

    if wants_colours() and {"-h", "--help", "help"} & {*argv}:
        venv.enter_if_made(argv)
    args = _parsed(argv, groups)
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


def _parsed(argv: list[str], groups: Groups) -> argparse.Namespace:
    words = [a for a in argv if a != "--quiet"]
    if words[:1] == ["sim"] and "sim" in argv[:2]:
        # vssd-sim reads its own options.
        at = argv.index("sim")
        return argparse.Namespace(call=sim.main, rest=argv[at + 1:],
                                  quiet=at > 0, check_arguments=sim.check,
                                  without_libraries=False)
    of_help = words[:1] == ["help"]
    named = next(iter(words[of_help:]), "")
    if groups is GROUPS and named in LABORATORY:
        raise UserError(f"{named} is a command of the laboratory, which is"
                        " not beside this vssd: run ./vssd of a checkout")
    p = parser(groups)
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
