# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sim: play a workload or a trace on the model, without a guest."""

from __future__ import annotations

import argparse
import functools
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

from .. import ending, installed, paths
from ..errors import printable
from ..nearest import hint
from ..paths import PROJECT

HELP = Path(__file__).with_name("sim-help.txt")
HEADING = re.compile(r"^==== vssd-sim (.*)--help ====\n", re.M)
# Of a table of options in the sources: the name, and the kind of its value.
OPTION = re.compile(r"""\{"([a-z-]+)", (?:0|'.'), \w+,\s+G_OPTION_ARG_(\w+)""")
# Files that are read; those of --trace and of these commands, too.
INPUTS = ("--job", "--state", "--trace")
READERS = ("replay", "convert", "info")


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command takes the arguments of vssd-sim."""
    p = sub.add_parser(
        "sim", add_help=False,
        help="play a workload or a trace on a modelled drive, without a guest")
    p.add_argument("rest", nargs=argparse.REMAINDER)
    p.set_defaults(call=main)


def command_of(rest: list[str]) -> str:
    """The command of vssd-sim; "" is the program itself.  Bare options are
    those of run, or with --trace of replay."""
    if rest[:1] in (["--help"], ["-h"]):
        return ""
    if rest and rest[0].startswith("-"):
        return "replay" if value_of("--trace", rest) else "run"
    return rest[0] if rest else ""


def asks_for_help(rest: list[str]) -> bool:
    """Is it a question of how vssd-sim is called?"""
    words = rest[:rest.index("--")] if "--" in rest else rest
    return bool({"-h", "--help"} & {*words})


@functools.cache
def help_texts() -> dict[str, str]:
    """What vssd-sim prints as its help, by the words before --help.  A test
    compares them."""
    parts = HEADING.split(HELP.read_text(encoding="utf-8"))[1:]
    return {words.strip(): text for words, text in zip(parts[::2], parts[1::2])}


def help_of(rest: list[str]) -> str | None:
    """The text, if it is that of help_texts()."""
    words = [command_of(rest), *(["--describe"] if "--describe" in rest else [])]
    return help_texts().get(" ".join(words).strip()) \
        if asks_for_help(rest) else None


def needs_no_build(rest: list[str]) -> bool:
    """Can it be answered by what there is?"""
    from ..build import model

    return installed.here() or model.sim_is_made() \
        or help_of(rest) is not None


def check(args: argparse.Namespace) -> None:
    """The command, its options and the files that it reads, before anything is
    built."""
    if needs_no_build(args.rest):
        args.without_libraries = True
        return
    command = command_of(args.rest)
    if not (PROJECT / f"sim/cmd-{command}.c").is_file():
        what = f"{printable(command)}: " if args.rest else ""
        commands = [n for n in help_texts() if n.isalpha()]
        _usage(f"{what}which command? {', '.join(commands)}"
               f"{hint(command, commands)} (vssd-sim --help)")
    words = _words(args.rest, command)
    for option in INPUTS:
        if name := value_of(option, args.rest):
            paths.check_input(option, name)
    workload = value_of("--workload", args.rest) or ""
    if workload.startswith("@"):
        paths.check_input("--workload", workload[1:])
    for name in words if command in READERS else []:
        paths.check_input("", name)
    resolved(args.rest)


def _words(rest: list[str], command: str) -> list[str]:
    """The arguments that are no options, without the command; an option that
    the sources do not have is a wrong command line."""
    kinds = {"help": "NONE", "trace": "FILENAME"}
    for path in (PROJECT / "sim").glob("*.c"):
        kinds.update(OPTION.findall(path.read_text("utf-8")))
    words: list[str] = []
    left = iter(rest[rest[0] == command:])
    for arg in left:
        if arg == "--":
            return [*words, *left]
        name, equals, _ = arg.partition("=")
        if name == "-" or not arg.startswith("-"):
            words.append(arg)
        elif name != "-h" and name[2:] not in kinds:
            _usage(f"Unknown option {printable(name)}{hint(name[2:], kinds, '--')}"
                   f" (vssd-sim {command} --help)")
        elif not equals and kinds.get(name[2:]) != "NONE":
            next(left, None)
    return words


def _usage(text: str) -> NoReturn:
    print(f"vssd-sim: {text}", file=sys.stderr)
    raise SystemExit(ending.USAGE)


def resolved(rest: list[str]) -> list[str]:
    """The arguments, with the names of shipped profiles as files."""
    out = list(rest)
    for i, arg in enumerate(out):
        if arg == "--profile" and i + 1 < len(out):
            out[i + 1] = str(paths.find_profile(out[i + 1]))
        elif arg.startswith("--profile="):
            out[i] = "--profile=" + str(paths.find_profile(arg[10:]))
    return out


def value_of(option: str, rest: list[str]) -> str | None:
    """The value of an option, in either spelling; the last counts."""
    found = None
    for arg, after in zip(rest, [*rest[1:], None]):
        if arg == option:
            found = after
        elif arg.startswith(option + "="):
            found = arg[len(option) + 1:]
    return found


def claim_states(rest: list[str]) -> list[int]:
    """Nobody else may write the state that is read, or use the one that is
    written; vssd-sim keeps the file descriptors as long as it runs."""
    if {"--help", "-h", "--describe"} & {*rest}:
        return []  # it only prints
    held = []
    saved = value_of("--save-state", rest)
    if saved:
        held.append(paths.claim("--save-state", Path(saved)))
    state = value_of("--state", rest)
    if state and Path(state).resolve() != Path(saved or "/").resolve():
        held.append(paths.claim("--state", Path(state), shared=True))
    for fd in held:
        os.set_inheritable(fd, True)
    return held


def main(args: argparse.Namespace) -> int:
    """./vssd sim"""
    from ..build import model

    text = help_of(args.rest)
    if text is None or installed.here() or model.sim_is_made():
        _execute(args.rest)
    print(text, end="")
    return 0


def _execute(rest: list[str]) -> NoReturn:
    from ..build import tuned

    rest = resolved(rest)
    program = str(tuned.first())
    claim_states(rest)
    os.execv(program, ["vssd-sim", *rest])
