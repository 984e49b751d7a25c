# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd libvirt: a libvirt domain that uses our emulator and drives."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

from .. import paths, ranges
from ..errors import UserError, one_line
from ..guest import domain, drives
from ..ui import say
from .run import DEFAULT_PROFILE, MOST_CPUS, image_format, mebibytes

EPILOG = """\
The drive's statistics of a running domain:
  virsh qemu-monitor-command NAME '{"execute": "qom-get", "arguments":
      {"path": "/machine/peripheral/ssd0", "property": "stats"}}'
The guest's writes are kept: in IMAGE, and for the built-in guest and drives
without image= in files of the cache.  docs/libvirt.md has snapshots, managed
save, and what AppArmor and SELinux need.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "libvirt", help="print or define a libvirt domain with a modelled"
        " drive", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", metavar="NAME", help="the domain's name")
    p.add_argument("--disk", type=Path, metavar="IMAGE",
                   help="a raw or qcow2 image (default: the built-in guest)")
    p.add_argument("--profile", default=DEFAULT_PROFILE, metavar="P",
                   help="a profile's file, or the name of a shipped one"
                   " (default: %(default)s)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="override one option of the profile; may be repeated")
    drives.add_option(p)
    p.add_argument("--mem", default="1G", metavar="SIZE",
                   help="the guest's memory (default: 1G)")
    p.add_argument("--smp", type=int, default=2, metavar="N",
                   help="the guest's CPUs (default: 2)")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--define", action="store_true",
                      help="define the domain with virsh, or update it, instead"
                      " of printing it")
    what.add_argument("--virt-install", action="store_true",
                      help="print a virt-install command that makes such a"
                      " domain, to add options to")
    what.add_argument("--apparmor", action="store_true",
                      help="print the rules that AppArmor needs for the domain")
    what.add_argument("--apparmor-daemon", action="store_true",
                      help="print the rule that AppArmor needs for libvirt's"
                      " daemon")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Errors that can be found before anything is made."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", args.name):
        raise UserError(f"NAME {args.name!r}: letters, digits and . _ + - only")
    if args.disk and not args.disk.is_file():
        raise UserError(f"--disk {args.disk}: no such file")
    ranges.check("--smp", args.smp, 1, MOST_CPUS)
    for one in args.set:
        if "=" not in one or ";" in one:
            raise UserError(f"--set {one}: give KEY=VALUE")
    mebibytes(args.mem)
    paths.find_profile(args.profile)
    args.further = drives.check_all(args.drive, 1)
    drives.refuse_used(args.further, "libvirt")
    for one in args.further:
        if len(one.images) > 1:
            raise UserError(f"--drive {one.text}: image2 not with libvirt, which starts"
                            " no domain whose drive has several block nodes; add the"
                            " drive to a running one (docs/libvirt.md)")


def _first(args: argparse.Namespace, qemu_img: Path, built_in: Path | None,
           key: str) -> domain.Disk:
    """The drive that the guest boots from."""
    from ..guest import image

    profile = paths.find_profile(args.profile)
    if args.disk:
        return domain.Disk(args.disk.resolve(), image_format(args.disk),
                           profile, args.set)
    assert built_in
    path = paths.cache_dir() / f"libvirt-{args.name}-{key}.qcow2"
    if not path.exists():
        part = path.with_suffix(".part")
        image.overlay(qemu_img, built_in, part)
        part.rename(path)
    return domain.Disk(path, "qcow2", profile, args.set)


def _further(args: argparse.Namespace, qemu_img: Path) -> list[domain.Disk]:
    found = []
    for i, one in enumerate(args.further, 1):
        files = {name: path for name, path in one.files.items()
                 if name not in drives.IMAGES}
        if one.image:
            path = one.image.resolve()
            fmt = image_format(path, "--drive image")
        else:
            path, fmt = drives.kept(
                one, qemu_img,
                paths.cache_dir() / f"libvirt-{args.name}-ssd{i}.qcow2"), "qcow2"
        found.append(domain.Disk(path, fmt, one.profile, one.sets, one.serial,
                                 files, one.properties))
    return found


def make(args: argparse.Namespace) -> tuple[domain.Domain, Path | None]:
    """The domain that the arguments ask for, and the built-in guest's image
    that it has; its files are made."""
    from ..build import emulator
    from ..guest import image, kvm

    check(args)
    qemu = emulator.ensure()
    built_in = None if args.disk else image.ensure()
    disk = built_in.disk if built_in else None
    disks = [_first(args, qemu.img, disk, built_in.key if built_in else ""),
             *_further(args, qemu.img)]
    return domain.Domain(
        args.name, qemu.emulator, kvm.accelerator(qemu), mebibytes(args.mem),
        args.smp, disks, known_uuid(args.name) if args.define else ""), disk


def _virsh(*args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["virsh", *args], input=text, check=False,
                              capture_output=True, text=True)
    except FileNotFoundError as e:
        raise UserError("virsh is not installed: apt-get install"
                        " libvirt-clients libvirt-daemon-system") from e


def known_uuid(name: str) -> str:
    """Of the domain of that name, which libvirt then takes as an update."""
    done = _virsh("domuuid", name)
    return done.stdout.strip() if done.returncode == 0 else ""


def main(args: argparse.Namespace) -> int:
    """./vssd libvirt"""
    made, built_in = make(args)
    if args.apparmor:
        sys.stdout.write(domain.apparmor_rules(made, built_in))
    elif args.apparmor_daemon:
        sys.stdout.write(domain.apparmor_daemon_rules(made))
    elif args.virt_install:
        print(shlex.join(domain.virt_install(made)))
    elif not args.define:
        sys.stdout.write(domain.xml(made))
    else:
        done = _virsh("define", "/dev/stdin", text=domain.xml(made))
        if done.returncode != 0:
            raise UserError("virsh define: " + one_line(done.stderr))
        say(f"defined; start it with: virsh start {args.name} --console")
    return 0
