# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd streams: the same load without and with streams, side by side."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from .. import paths, ranges
from ..errors import UserError
from ..guest import image
from ..streams import load as loads
from ..streams import ways
from ..ui import table
from . import run

if TYPE_CHECKING:
    from ..streams import report

PROFILE = "tlc-generic"
# Of the drive without --profile and --set: 400 MB in 512 KiB erase blocks, so
# that GC works after seconds.
SMALL = ("nand.channels=2", "nand.dies=1", "nand.blocks=256", "nand.pages=32",
         "ftl.op_percent=28%")
STREAMS = 4
DATA_SHARE = 0.75  # of the capacity, that the churn has as data
WRITES = 4  # times its data
MOST_WRITES = 1000
MOST_SHOWN = 3
EPILOG = """\
A guest boots with two equal drives.  The load runs on one with streams and on
the other without, and the drives say what each stream has cost.  Without --fio
and COMMAND the load is a churn of hot, warm and cold files, streams 1 to 3.
COMMAND runs in a shell, with $TARGET (a folder, or with --fs raw the device)
and $STREAMS (1 or 0).

examples:
  ./vssd streams --kernel streams --fs xfs
  ./vssd streams --suite trixie-backports --fs f2fs --json f2fs.json
  ./vssd streams --suite trixie-backports --fs raw --by uring
  ./vssd streams --kernel streams --rule '*.log=1' -- 'my-store $TARGET'
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "streams", help="compare a load with and without streams, in a guest",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", metavar="K",
                   help="boot this kernel: a file, or the name of one that"
                   " ./vssd kernel build made")
    p.add_argument("--suite", choices=tuple(image.SUITES), metavar="SUITE",
                   help="boot the kernel of this suite of Debian:"
                   f" {', '.join(image.SUITES)} (default: {image.SUITE})")
    p.add_argument("--param", action="append", default=[], metavar="ARG",
                   help="add one argument to the kernel's command line; may be"
                   " repeated")
    p.add_argument("--fs", choices=ways.FILE_SYSTEMS, default="xfs",
                   help="the file system, or raw: the block device (default:"
                   " %(default)s)")
    p.add_argument("--by", choices=tuple(ways.WAYS), metavar="WAY",
                   help=f"how data gets streams: {', '.join(ways.WAYS)}"
                   " (default: fdp-f2fs with --fs f2fs, hint with --suite"
                   " bullseye, uring with --fs raw and without --kernel, else"
                   " fadvise; docs/streams-guest.md)")
    p.add_argument("--streams", type=int, default=STREAMS, metavar="N",
                   help="streams or reclaim unit handles of the drive (default:"
                   f" %(default)s; {ways.LEAST_STREAMS}..{ways.MOST_STREAMS})")
    p.add_argument("--profile", default=PROFILE, metavar="P",
                   help="a profile's file, or the name of a shipped one"
                   " (default: %(default)s, made small)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="override one option of the profile; may be repeated")
    p.add_argument("--aged", action="store_true",
                   help="both drives are used: in the steady state of GC")
    p.add_argument("--seed", type=int, default=1, metavar="N",
                   help="seed of the drives and of the churn (default: 1)")
    p.add_argument("--writes", type=float, default=WRITES, metavar="N",
                   help="the churn writes so many times its data, which is"
                   f" {DATA_SHARE:.0%} of the drive".replace("%", "%%")
                   + " (default: %(default)s)")
    p.add_argument("--fio", type=Path, metavar="FILE",
                   help="the load is this job file of fio; each job has a"
                   " stream, in the order of the file")
    p.add_argument("--rule", action="append", default=[], metavar="GLOB=N",
                   help="with --fio or COMMAND: files below the target that"
                   " match GLOB have stream N; may be repeated")
    p.add_argument("--mem", default="1G", metavar="SIZE",
                   help="the guest's memory (default: 1G)")
    p.add_argument("--json", type=Path, metavar="FILE",
                   help="write all rows and the erase blocks of all files")
    p.add_argument("command", nargs="*", metavar="-- COMMAND",
                   help="the load is this command")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that can be found before anything is built."""
    if args.kernel and args.suite:
        raise UserError("--kernel and --suite exclude each other")
    if args.kernel:
        from ..build import kernel_build

        args.kernel_file = kernel_build.find(args.kernel)
    ranges.check("--streams", args.streams, ways.LEAST_STREAMS,
                 ways.MOST_STREAMS)
    ranges.check("--seed", args.seed, 1, ranges.MOST_SEED)
    if not 0 <= args.writes <= MOST_WRITES:
        raise UserError(f"--writes {args.writes:g}: allowed 0..{MOST_WRITES}")
    args.way = ways.WAYS[args.by] if args.by else \
        ways.usual(args.kernel, args.suite, args.fs)
    ways.check(args.way, args.fs, args.streams)
    for one in args.set:
        if "=" not in one or ";" in one:
            raise UserError(f"--set {one}: give KEY=VALUE")
    paths.find_profile(args.profile)
    run.mebibytes(args.mem)
    paths.check_output("--json", args.json)
    _check_load(args)


def _check_load(args: argparse.Namespace) -> None:
    if args.fio and args.command:
        raise UserError("--fio and COMMAND exclude each other")
    if args.rule and not (args.fio or args.command):
        raise UserError("--rule needs --fio or COMMAND: the churn gives streams"
                        " by itself")
    if args.rule and not args.way.rules:
        raise UserError(f"--rule: not with {args.way.name}, which is no way of"
                        " files of other programs")
    if args.fio and args.way.name == "uring":
        raise UserError("--fio: fio has no write streams of io_uring; allowed"
                        " with uring: the churn and COMMAND")
    loads.check_rules(args.rule, args.streams)
    if args.fio:
        args.fio_text = loads.read_fio(args.fio)
        if not args.rule and args.way.rules:
            args.rule = list(loads.rules_of_jobs(args.fio_text, args.streams))


def _load(args: argparse.Namespace, profile: Path, sets: list[str]) \
        -> loads.Load:
    if args.fio:
        return loads.Load(fio=args.fio_text, rules=tuple(args.rule))
    if args.command:
        words = args.command
        return loads.Load(
            command=words[0] if len(words) == 1 else shlex.join(words),
            rules=tuple(args.rule))
    from ..build import model

    size = int(model.drive_info(profile, sets)["capacity_bytes"])
    data = max(int(size * DATA_SHARE) >> 20, 3)
    return loads.Load(data, int(data * args.writes), args.seed)


def main(args: argparse.Namespace) -> int:
    """./vssd streams"""
    from ..streams import bench, report

    profile = paths.find_profile(args.profile)
    small = args.profile == PROFILE and not args.set
    sets = [*(SMALL if small else args.set), f"seed={args.seed}"]
    one = bench.Bench(
        args.way, args.fs,
        _load(args, profile, [*sets, f"{args.way.option}={args.streams}"]),
        profile, sets, args.streams,
        Path(args.kernel_file).absolute() if args.kernel else None,
        args.suite or image.SUITE, "".join(f" {p}" for p in args.param),
        run.mebibytes(args.mem), args.aged)
    runs, release = bench.measure(one)
    _show(args, runs, release)
    if args.json:
        facts = {"kernel": release, "fs": args.fs, "by": args.way.name,
                 "seed": args.seed, "profile": args.profile, "set": sets,
                 "drives": list(ways.drives(args.way, args.streams))}
        args.json.write_text(json.dumps(report.as_json(runs, facts), indent=1)
                             + "\n")
    return 0


def _show(args: argparse.Namespace, runs: tuple[report.Run, report.Run],
          release: str) -> None:
    from ..streams import report

    word = "handle" if args.way.option == "fdp.ruhs" else "stream"
    table(f"Linux {release}, {args.fs}, by {args.way.name}: without streams, then"
          " with them", [word, *report.HEAD, *report.HEAD], report.cells(runs))
    if runs[1].files:
        print(f"{runs[1].apart()} of {len(runs[1].files)} files are in erase"
              f" blocks of one {word} each")
    for line in report.places(runs[1], MOST_SHOWN):
        print(line)
