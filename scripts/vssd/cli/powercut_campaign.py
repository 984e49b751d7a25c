# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd powercut campaign: cut the power under a program again and again, and
check what is left (docs/powercut-campaign.md)."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from .. import origin
from ..campaign import plan as plans
from ..errors import UserError
from ..paths import cache_dir
from ..ui import say

FAILED = 1
EPILOG = """\
The write command runs once, in a guest, and each line that it prints is a
promise with an instant.  The check command runs once for each cut, with the
drive as the cut has left it.  It finds the lines that had been printed before
the cut in the file $VSSD_NOTES, and fails if one of them is not kept.  Both
start in the file system, and find --files in $VSSD_FILES and the drive as
$VSSD_DEVICE.  Exit status 1: a check failed, or no promise was checked.

examples:
  ./vssd powercut campaign --files db.py --write 'python3 $VSSD_FILES/db.py w'
      --check 'python3 $VSSD_FILES/db.py check' --cuts 50 --jobs 2
  ./vssd powercut campaign --write CMD --check CMD --at flush --fs xfs
  ./vssd powercut campaign --write CMD --check CMD --at 1.5s 1500300us
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    plan = plans.Plan("", "")
    p = sub.add_parser(
        "campaign", help="cut the power under a program again and again",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--write", required=True, metavar="CMD",
                   help="command that writes; it may run for ever")
    p.add_argument("--check", required=True, metavar="CMD",
                   help="command that checks: exit status 0 if all is well")
    p.add_argument("--setup", default="", metavar="CMD",
                   help="command before the write command; its writes are"
                   " durable")
    p.add_argument("--files", action="append", default=[], type=Path,
                   metavar="PATH", help="file or directory that the commands"
                   " need; may be repeated; up to 90 KiB packed")
    p.add_argument("--packages", default="", metavar="P,...",
                   help="Debian packages that the commands need")
    p.add_argument("--cuts", type=int, default=plan.cuts, metavar="N",
                   help="number of cuts (default: %(default)s)")
    p.add_argument("--at", nargs="+", default=plan.at, metavar="WHEN",
                   help="random (default), flush: when a Flush or a write with"
                   " FUA starts and ends, or instants since the start of the"
                   " write command, as 1.5s")
    p.add_argument("--seed", type=int, default=plan.seed, metavar="N",
                   help="of the guest, the drive and the instants (default:"
                   " %(default)s)")
    p.add_argument("--jobs", type=int, default=plan.jobs, metavar="N",
                   help="guests that check at a time (default: %(default)s)")
    p.add_argument("--fs", choices=plans.FILE_SYSTEMS, default=plan.fs,
                   help="file system, made anew; none: the commands use the"
                   " raw drive (default: %(default)s)")
    p.add_argument("--drive", default=plan.drive,
                   metavar="PROFILE[,KEY=VALUE...]",
                   help="the drive, as with ./vssd run; size= defaults to 512M"
                   " (default: %(default)s)")
    p.add_argument("--seconds", type=float, default=plan.seconds, metavar="S",
                   help="the write command is killed after so many seconds of"
                   " the guest (default: %(default)s)")
    p.add_argument("--check-seconds", type=float, default=plan.check_seconds,
                   metavar="S", help="limit of the check command, which then"
                   " fails (default: %(default)s)")
    p.add_argument("--fsck", action=argparse.BooleanOptionalAction,
                   default=True, help="also check the file system (default:"
                   " on)")
    p.add_argument("--icount", action=argparse.BooleanOptionalAction,
                   default=True, help="virtual time: two runs are equal"
                   " (default: on)")
    p.add_argument("--recorded", type=Path, metavar="DIR",
                   help="use the recorded run in DIR, of --output")
    p.add_argument("--output", type=Path, metavar="DIR",
                   help="new directory for the recorded run and the image of"
                   " the first violation (default: in the cache's logs, kept"
                   " if there is a violation)")
    p.add_argument("--json", action="store_true",
                   help="origin and rows as JSON on standard output")
    p.set_defaults(call=main)


def _folder(args: argparse.Namespace) -> Path:
    if args.output:
        try:
            args.output.mkdir(parents=True)
        except OSError as e:
            raise UserError(f"--output {args.output}: {e.strerror}") from e
        return Path(args.output)
    logs = cache_dir() / "logs"
    for i in itertools.count(1):
        try:
            (logs / f"powercut-{i}").mkdir(parents=True)
        except FileExistsError:
            continue
        return logs / f"powercut-{i}"
    raise AssertionError


def plan_of(args: argparse.Namespace) -> plans.Plan:
    """The options as a plan, which is checked."""
    plan = plans.Plan(
        args.write, args.check, args.setup, args.cuts, args.seed, args.at,
        args.jobs, args.fs, args.drive, args.files, args.packages,
        args.seconds, args.check_seconds, args.fsck, args.icount,
        args.recorded)
    plan.validate()
    return plan


def main(args: argparse.Namespace) -> int:
    """./vssd powercut campaign"""
    from ..campaign import campaign, guests

    plan = plan_of(args)
    guests.check_drive(plan)
    folder = _folder(args)
    keep = args.output is not None
    try:
        result = campaign.run(plan, folder)
        keep |= bool(result.violations)
    finally:
        if not keep:
            campaign.remove(folder)
    if args.json:
        origin.write({
            "seed": plan.seed, "fs": plan.fs, "drive": plan.drive,
            "at": plan.at, "icount": plan.icount, "write": plan.write,
            "check": plan.check, "write_ns": result.end_ns - result.begin_ns,
            "states": result.states, "promises": result.promises,
            "promises_checked": result.checked,
            "violations": len(result.violations),
            "output": str(folder) if keep else "", "rows": result.rows()})
    else:
        _report(result, plan.recorded or folder, folder)
    if why := result.nothing_checked():
        raise UserError(why)
    return FAILED if result.violations else 0


def _report(result: object, recorded: Path, folder: Path) -> None:
    from ..campaign import campaign

    assert isinstance(result, campaign.Result)
    bad = result.violations
    say(f"{len(result.cuts)} cuts in {(result.end_ns - result.begin_ns) / 1e9:.3f}"
        f" s of the write command, {result.states} different states,"
        f" {result.checked} of {result.promises} promises checked:"
        f" {len(bad)} violations")
    if not bad:
        return
    cut = bad[0]
    lines = cut.text[:500]
    print(f"violation: cut {cut.number},"
          f" {(cut.at_ns - result.begin_ns) / 1e9:.9f} s after the start of the"
          f" write command, {cut.promises} lines printed before it")
    print(f"  check:   {lines or 'it printed nothing'}")
    print("  the last commands that the drive saw:")
    for line in campaign.trace_lines(recorded, result, cut):
        print(f"    {line}")
    print(f"  image:   {folder}/cut{cut.number}.img")
    print(f"  trace:   {recorded}/{plans.LOG}")
    print(f"  replay:  {result.plan.command(cut.at_ns - result.begin_ns)}")
    if not result.plan.recorded:
        print(f"  without the run of the write command: --recorded {recorded}")
