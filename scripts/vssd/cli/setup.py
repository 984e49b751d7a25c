# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd setup: make everything that the other commands need."""

from __future__ import annotations

import argparse

from .. import installed
from ..build import packages
from ..errors import UserError
from ..proc import together
from ..ui import say

EPILOG = """\
The other commands also make their parts when needed; setup makes all at once, and
is where QEMU's source can be named.  Everything but the Debian packages goes
to the cache: VSSD_CACHE, else XDG_CACHE_HOME/vssd, else ~/.cache/vssd.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "setup", help="install packages, build the device, make the guest image",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qemu-source", default="", metavar="WHERE",
                   help="build QEMU from this source: a directory, a tarball, or"
                   " the http address of one (default: Debian's emulator with"
                   " the device as a plug-in)")
    p.add_argument("--sha256", default="", metavar="SUM",
                   help="the checksum of --qemu-source; needed for an address")
    p.add_argument("--qemu-suite", default="", metavar="SUITE",
                   help="build QEMU from the source package of this suite of"
                   " Debian, as trixie; newest: the newest that the mirror has")
    p.add_argument("--mirror", default="", metavar="URI",
                   help="the Debian mirror (default: as this machine's apt)")
    p.add_argument("--dry-run", action="store_true",
                   help="list the parts that would be installed and made, and end")
    p.add_argument("--no-image", action="store_true",
                   help="do not make the guest image")
    p.set_defaults(call=main)


def main(args: argparse.Namespace) -> int:
    """./vssd setup"""
    from ..build import qemu_build
    from ..build.qemu_source import Origin

    if args.qemu_source:
        installed.needs_sources("--qemu-source")
    if args.qemu_suite:
        installed.needs_sources("--qemu-suite")
        if args.qemu_source:
            raise UserError("--qemu-source and --qemu-suite exclude each other")
    if args.sha256 and not args.qemu_source:
        raise UserError("--sha256 is the checksum of --qemu-source: give both")
    if args.dry_run:
        return _dry_run(args)
    packages.ensure(*packages.setup_groups())
    origin = Origin(args.qemu_source, args.sha256, args.mirror,
                    args.qemu_suite)
    if origin == Origin():
        origin = qemu_build.remembered_origin()
    if origin.source or origin.suite:
        qemu_build.ensure(origin)
    qemu_build.remember_origin(origin)
    return _rest(args)


def _rest(args: argparse.Namespace) -> int:
    from ..build import emulator, tuned
    from ..guest import image, kvm

    qemu, _ = together(
        emulator.ensure,
        lambda: None if args.no_image else image.ensure(args.mirror))
    tuned.sim()
    accel = kvm.accelerator(qemu)
    say(f"ready; guests run with {accel.upper()}"
        + ("" if accel == "kvm" else ", since KVM does not work here"))
    return 0


def _dry_run(args: argparse.Namespace) -> int:
    from .. import paths

    packages.print_plan(*packages.setup_groups())
    built = args.qemu_source or args.qemu_suite
    qemu = f"QEMU, built from {built}" if built \
        else "Debian's QEMU, the device for it"
    print(f"would make in {paths.cache_dir()}: a Python environment, {qemu},"
          " vssd-sim, the guest image")
    return 0
