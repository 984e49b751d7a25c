# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd drive: take drives and namespaces of a running guest away, and bring them
back."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
from typing import Any

from .. import ranges, rundir
from ..errors import UserError
from ..guest import drives, hardware, monitor
from ..ui import say
from .fault import put
from .powercut import find_drives
from .run import image_format

ACTIONS = ("remove", "return")
IDENTITIES = ("keep", "new")
EPILOG = """\
  ./vssd drive remove ssd1                   it leaves its slot, without power
  ./vssd drive return ssd1                   it is back, with all that was durable
  ./vssd drive remove ssd1 --namespace 2     the namespace loses its image
  ./vssd drive return ssd1 --namespace 2 --image other.raw

docs/machines.md has the drives of a guest, docs/namespaces.md what happens to
a namespace.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "drive", help="take a drive or namespace away from a guest",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("action", choices=ACTIONS)
    p.add_argument("drive", metavar="DRIVE", help="as ssd1")
    p.add_argument("--namespace", type=int, metavar="N",
                   help="only this namespace, which has an image of its own"
                   " (image2= of --drive)")
    p.add_argument("--image", type=Path, metavar="FILE",
                   help="return --namespace: with this image; writes are kept there"
                   " in a run with --keep")
    p.add_argument("--identity", choices=IDENTITIES,
                   help="return --namespace: its identifiers (default: keep)")
    rundir.add_option(p)
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that need no guest."""
    with_image = args.action == "return" and args.namespace is not None
    for name in ("image", "identity"):
        if getattr(args, name) is not None and not with_image:
            raise UserError(f"--{name} goes with return and --namespace only")
    if args.namespace is not None:
        ranges.check("--namespace", args.namespace, 1, drives.MOST_NAMESPACES)
    if with_image and args.image is None:
        raise UserError(f"drive return: which image has namespace {args.namespace}?"
                        "  Give --image FILE")
    if args.image and not args.image.is_file():
        raise UserError(f"--image {args.image}: no such file")


def _ask(qmp: Any, command: str, **arguments: Any) -> Any:
    """A command of the monitor; its refusal is the user's error."""
    from qemu.qmp import ExecuteError

    try:
        return qmp.cmd(command, **arguments)
    except ExecuteError as e:
        raise UserError(str(e)) from e


def _remove_namespace(qmp: Any, drive: str, nsid: int) -> str:
    """The image is free for others afterwards."""
    node = _ask(qmp, "qom-get", path=f"/machine/peripheral/{drive}",
                property=f"drive{nsid}" if nsid > 1 else "drive")
    put(qmp, drive, "namespace-remove", nsid)
    _ask(qmp, "blockdev-del", **{"node-name": node})
    return f"namespace {nsid} has no image"


def _place(run: rundir.Run, name: str, image: Path) -> tuple[Path, str]:
    """The file that takes the guest's writes, and its format: the image itself, or
    one over it that is dropped at the end of the run."""
    from ..build import emulator
    from ..guest import image as image_module

    fmt = image_format(image, "--image")
    if run.facts.get("keep"):
        return image.resolve(), fmt
    overlay = run.folder / f"{name}.qcow2"
    image_module.overlay(emulator.made().img, image, overlay, fmt)
    return overlay, "qcow2"


def _return_namespace(qmp: Any, run: rundir.Run, args: argparse.Namespace) -> str:
    nsid = args.namespace
    node = f"{args.drive}-{nsid}-{secrets.token_hex(4)}"
    file, fmt = _place(run, node, args.image)
    _ask(qmp, "blockdev-add", **hardware.image_node(node, file, fmt))
    try:
        put(qmp, args.drive, "namespace-insert",
            f"{nsid}={node};identity={args.identity or IDENTITIES[0]}")
    except UserError:
        _ask(qmp, "blockdev-del", **{"node-name": node})
        raise
    return f"namespace {nsid} has {args.image}"


def act(qmp: Any, run: rundir.Run, args: argparse.Namespace) -> str:
    """Do it; what is so now."""
    there = find_drives(qmp, None)
    if args.drive not in there:
        raise UserError(f"drive {args.drive}: the guest has {', '.join(there)}")
    if args.namespace is None:
        put(qmp, args.drive, "powered", args.action == "return")
        return "it has been removed" if args.action == "remove" \
            else "it returns, when the guest has seen it go"
    if run.machine_monitor:
        raise UserError("--namespace: the drive of ./vssd run --server has one image")
    if args.action == "remove":
        return _remove_namespace(qmp, args.drive, args.namespace)
    return _return_namespace(qmp, run, args)


def main(args: argparse.Namespace) -> int:
    """./vssd drive"""
    run = rundir.find_to_change(args.run)
    with monitor.opened(run) as qmp:
        said = act(qmp, run, args)
    say(f"{args.drive}: {said}")
    return 0
