# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd kernel: build guest kernels with patches of your own."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from .. import ranges
from ..build import kernel_build
from ..build.kernel_source import Wanted
from ..ui import say, table

EPILOG = """\
Without options: Debian's linux 6.12 with the project's series, which gives
posix_fadvise() a stream (guest-tools/kernel, docs/kernels.md); its name is
"streams".  Kernels are kept in the cache, and built again only when their
inputs changed.

examples:
  ./vssd kernel build
  ./vssd kernel build --patches my-series/ --name mine
  ./vssd kernel build --source ~/linux
  ./vssd run --kernel mine --exec 'uname -r'
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "kernel", help="build guest kernels, with patches of your own",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = p.add_subparsers(title="actions", metavar="ACTION", required=True)
    b = what.add_parser("build", help="build a kernel", epilog=EPILOG,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    b.add_argument("--name", default="",
                   help="how ./vssd run --kernel calls it (default: the name"
                   " of the patches' folder or of the source, else streams)")
    b.add_argument("--patches", default="", metavar="DIR",
                   help="apply *.patch of DIR in order (or as its file series"
                   " says) instead of the project's series")
    b.add_argument("--no-patches", action="store_true",
                   help="Debian's source as it is")
    b.add_argument("--source", default="", metavar="WHERE",
                   help="a kernel tree, built where it is unless it is to be"
                   " patched, or a tar archive (default: Debian's source"
                   " package linux 6.12)")
    b.add_argument("--config", type=Path, metavar="FILE",
                   help="options on top of guest-tools/kernel/config, as lines"
                   " CONFIG_X=y; or a whole .config")
    b.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="compile so many files at a time (default: as many as"
                   " there are CPUs)")
    b.add_argument("--mirror", default="", metavar="URI",
                   help="the Debian mirror (default: as this machine's apt)")
    b.set_defaults(call=build)
    shown = what.add_parser("list", help="show the kernels that are built")
    shown.set_defaults(call=show)
    r = what.add_parser("remove", help="delete a kernel from the cache")
    r.add_argument("name", metavar="NAME")
    r.set_defaults(call=remove)


def build(args: argparse.Namespace) -> int:
    """./vssd kernel build"""
    ranges.check_jobs(args.jobs)
    wanted = Wanted(args.source, args.patches, args.no_patches, args.mirror)
    kernel = kernel_build.ensure(wanted, args.name, args.config, args.jobs)
    say(f"{kernel.facts()['release']} is ready: ./vssd run --kernel"
        f" {kernel.name}")
    print(kernel.image)
    return 0


def show(_args: argparse.Namespace) -> int:
    """./vssd kernel list"""
    rows = []
    for kernel in kernel_build.built():
        facts = kernel.facts()
        rows.append([kernel.name, facts["release"], facts["source"],
                     _patches(facts),
                     facts["config"] or "-",
                     time.strftime("%Y-%m-%d %H:%M",
                                   time.localtime(facts["built"])),
                     kernel_build.took(kernel)])
    if not rows:
        say("no kernel is built: ./vssd kernel build makes one")
        return 0
    table("kernels", ["name", "release", "source", "patches", "config",
                      "built", "took"], rows)
    return 0


def _patches(facts: dict[str, Any]) -> str:
    n = len(facts["patches"])
    # a kernel of an earlier version has no folder in its facts
    return f"{n} of {facts.get('patch_folder', '?')}" if n else "none"


def remove(args: argparse.Namespace) -> int:
    """./vssd kernel remove"""
    kernel_build.remove(args.name)
    return 0
