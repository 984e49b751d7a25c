# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd age: make a used drive, for QEMU or vssd-sim to start from."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .. import ending, paths, ranges, ui
from ..errors import UserError, one_line

EPILOG = """\
The drive is filled, then overwritten at random, without modelled time, until
its write amplification changes no more (docs/state.md).

  ./vssd age pm9a3 -o used.state
  ./vssd run --profile pm9a3 --state used.state
  ./vssd sim run --profile pm9a3 --state used.state \\
      --workload 'rw=randread'
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "age", help="make a used drive to start from", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("profile", metavar="PROFILE",
                   help="a profile's file, or the name of a shipped one")
    p.add_argument("-o", "--output", type=Path, required=True, metavar="FILE",
                   help="the state file")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="override one option of the profile; may be repeated")
    p.add_argument("--seed", type=int, default=1, metavar="N",
                   help="which units are overwritten (default: 1)")
    p.add_argument("--block", choices=("512", "4096"), default="512",
                   help="logical block size (default: 512)")
    p.set_defaults(call=main, check_arguments=check)


def command(sim: str, args: argparse.Namespace) -> list[str]:
    """vssd-sim's command line."""
    cmd = [sim, "run", "--profile", str(paths.find_profile(args.profile)),
           "--precondition", "--save-state", str(args.output),
           "--seed", str(args.seed), "--block", args.block]
    for one in args.set:
        cmd += ["--set", one]
    return cmd


def check(args: argparse.Namespace) -> None:
    """Errors that need no program."""
    ranges.check("--seed", args.seed, 0, ranges.MOST_SEED)
    paths.find_profile(args.profile)
    paths.check_output("-o", args.output)


def main(args: argparse.Namespace) -> int:
    """./vssd age"""
    from ..build import model

    paths.claim("-o", args.output)
    cmd = command(str(model.sim()), args)
    if sys.stderr.isatty() and not ui.quiet:
        # vssd-sim shows its progress, and what was wrong.
        if subprocess.run(cmd, check=False).returncode:
            return ending.FAILED
    else:
        print(_report(cmd))
    print(f"{args.output}: {args.output.stat().st_size / 1e6:.1f} MB")
    return 0


def _report(cmd: list[str]) -> str:
    ran = subprocess.run(cmd, check=False, stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        text = ran.stderr.strip() or f"vssd-sim ended with {ran.returncode}"
        last = text.splitlines()[-1]
        raise UserError(one_line(last.removeprefix("vssd-sim: ")))
    return ran.stderr.strip()
