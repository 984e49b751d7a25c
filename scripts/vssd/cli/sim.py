# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sim: play a workload or a trace on the model, without a guest."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .. import paths


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command takes the arguments of vssd-sim."""
    p = sub.add_parser(
        "sim", add_help=False,
        help="play a workload or a trace on a modelled drive, without a guest")
    p.add_argument("rest", nargs=argparse.REMAINDER)
    p.set_defaults(call=main)


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
    from ..build import tuned

    rest = resolved(args.rest)
    program = str(tuned.first())
    claim_states(rest)
    os.execv(program, ["vssd-sim", *rest])
