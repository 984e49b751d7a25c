# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd vng: boot the kernel tree of the current folder by virtme-ng, with a
modelled drive."""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from pathlib import Path

from .. import paths, ranges, rundir
from ..errors import UserError
from ..guest import drives, vng
from ..ui import say
from .run import DEFAULT_PROFILE, further, monitor

EPILOG = """\
virtme-ng boots the kernel that is built in the current folder; the guest's
files are those of this machine, and its writes there are lost.  The drive is
an empty /dev/nvme0n1.  ./vssd stat, top, fault and powercut reach the guest
while it runs.  Arguments after -- go to virtme-ng; its status is the command's.

examples:
  cd ~/linux && ./vssd vng
  ./vssd vng -- --exec 'mkfs.xfs /dev/nvme0n1'
  ./vssd vng --drive zero-latency,size=1G -- --cpus 4 --memory 4G
  ./vssd vng -- -r v6.12 --exec 'nvme list'
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "vng", help="boot the kernel tree of the current folder by virtme-ng",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--profile", default=DEFAULT_PROFILE, metavar="P",
                   help="a profile's file, or the name of a shipped one"
                   " (default: %(default)s)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="override one option of the profile; may be repeated")
    drives.add_option(p)
    p.add_argument("--seed", type=int, default=1, metavar="N",
                   help="seed of everything random in the drives (default: 1)")
    p.add_argument("--name", metavar="NAME",
                   help="how other commands find this run, by their --run NAME"
                   " (default: a name is made)")
    p.add_argument("qemu", nargs="*", metavar="-- VNG-ARGUMENT",
                   help=argparse.SUPPRESS)
    # Options of run that further() reads.
    p.set_defaults(call=main, check_arguments=check, keep=False,
                   print_command=False)


def check(args: argparse.Namespace) -> None:
    """Errors that can be found before the run."""
    vng.check(Path.cwd(), args.qemu)
    if args.name is not None:
        rundir.check_name(args.name)
    for one in args.set:
        if "=" not in one or ";" in one:
            raise UserError(f"--set {one}: give KEY=VALUE")
    ranges.check("--seed", args.seed, 0, ranges.MOST_SEED)
    first = drives.Further(f"{args.profile}", paths.find_profile(args.profile),
                           serial="VSSD0000", sets=args.set)
    args.further = [first, *drives.check_all(args.drive, 1)]


def main(args: argparse.Namespace) -> int:
    """./vssd vng"""
    from ..build import emulator, packages, venv
    from ..guest import kvm

    check(args)
    packages.ensure(packages.VNG)
    venv.extra("vng")
    qemu = emulator.ensure()
    with rundir.rundir() as folder:
        held = drives.claim(args.further, keep=False)
        made = further(args, qemu, folder, first=0)
        accel = kvm.accelerator(qemu)
        command = vng.command(venv.tool("vng"), qemu.emulator, accel, made,
                              monitor(folder), args.qemu)
        name = args.name or folder.name
        rundir.describe(folder, {
            "name": name, "pid": os.getpid(), "started": int(time.time()),
            "accel": accel,
            "drives": [{"id": f"ssd{i}", "device": d.device,
                        "profile": d.profile.stem if d.profile else "",
                        "serial": d.serial or f"VSSD{i:04d}"}
                       for i, d in enumerate(made)]})
        say(f"starts virtme-ng; the run's name is {name}")
        try:
            return subprocess.run(command, check=False,
                                  env=os.environ | venv.path_env()).returncode
        finally:
            for fd in held:
                os.close(fd)
