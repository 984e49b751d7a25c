# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sim: play a workload or a trace on the model, without a guest."""

from __future__ import annotations

import argparse
import os

from . import paths


def add_parser(sub: "argparse._SubParsersAction[argparse.ArgumentParser]") \
        -> None:
    """The command takes what vssd-sim takes."""
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


def main(args: argparse.Namespace) -> int:
    """./vssd sim"""
    from . import model

    rest = resolved(args.rest)
    program = str(model.sim())
    os.execv(program, ["vssd-sim", *rest])
