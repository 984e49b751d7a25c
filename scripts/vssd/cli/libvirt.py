# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd libvirt: a libvirt domain that uses our emulator and drive.

libvirt knows no vssd device, so the drive's -blockdev and -device go through
libvirt's interface for such arguments (qemu:commandline); everything else is
ordinary.  Statistics are read through libvirt's monitor.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from .. import paths
from ..errors import UserError, one_line
from ..ui import say
from .run import DEFAULT_PROFILE, image_format, mebibytes

QEMU_NS = "http://libvirt.org/schemas/domain/qemu/1.0"
SEABIOS = "/usr/share/seabios/bios-256k.bin"
EPILOG = """\
The drive's statistics of a running domain:
  virsh qemu-monitor-command NAME '{"execute": "qom-get", "arguments":
      {"path": "/machine/peripheral/ssd0", "property": "stats"}}'
The guest's writes are kept: in IMAGE, or for the built-in guest in a file of
the cache.
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
    p.add_argument("--mem", default="1G", metavar="SIZE",
                   help="the guest's memory (default: 1G)")
    p.add_argument("--smp", type=int, default=2, metavar="N",
                   help="the guest's CPUs (default: 2)")
    p.add_argument("--define", action="store_true",
                   help="define the domain with virsh instead of printing it")
    p.set_defaults(call=main)


def qemu_arguments(image: Path, fmt: str, profile: Path,
                   sets: list[str]) -> list[str]:
    """Arguments that libvirt passes to QEMU unchanged."""
    from ..build.qemu_build import FIRMWARE_DIRS

    node = {"driver": fmt, "node-name": "disk0", "discard": "unmap",
            "file": {"driver": "file", "filename": str(image)}}
    device = {"driver": "vssd", "id": "ssd0", "drive": "disk0",
              "serial": "VSSD0000", "profile": str(profile), "bootindex": 1}
    if sets:
        device["options"] = ";".join(sets)
    args = []
    for folder in FIRMWARE_DIRS:
        args += ["-L", folder]
    return args + ["-blockdev", json.dumps(node), "-device",
                   json.dumps(device)]


def domain(name: str, emulator: Path, accel: str, mem_mib: int, smp: int,
           arguments: list[str], uuid: str = "") -> str:
    """The domain's XML; with the UUID of the one that it replaces."""
    def add(parent: ElementTree.Element, tag: str, text: str = "",
            **attributes: str) -> ElementTree.Element:
        e = ElementTree.SubElement(parent, tag, attributes)
        e.text = text or None
        return e

    ElementTree.register_namespace("qemu", QEMU_NS)
    top = ElementTree.Element(
        "domain", {"type": "kvm" if accel == "kvm" else "qemu"})
    add(top, "name", name)
    if uuid:
        add(top, "uuid", uuid)
    add(top, "memory", str(mem_mib), unit="MiB")
    add(top, "vcpu", str(smp))
    system = add(top, "os")
    add(system, "type", "hvm", arch="x86_64", machine="q35")
    add(system, "loader", SEABIOS, readonly="yes", type="rom")
    features = add(top, "features")
    add(features, "acpi")
    add(top, "cpu",
        mode="host-passthrough" if accel == "kvm" else "maximum")
    add(top, "on_poweroff", "destroy")
    add(top, "on_reboot", "restart")
    devices = add(top, "devices")
    add(devices, "emulator", str(emulator))
    net = add(devices, "interface", type="user")
    add(net, "model", type="virtio")
    add(net, "rom", enabled="no")
    add(devices, "serial", type="pty")
    add(devices, "console", type="pty")
    add(devices, "memballoon", model="none")
    # The user who made the files runs the guest that uses them.
    label = add(top, "seclabel", type="static", model="dac", relabel="no")
    add(label, "label", f"+{os.getuid()}:+{os.getgid()}")
    command = ElementTree.SubElement(top, f"{{{QEMU_NS}}}commandline")
    for arg in arguments:
        ElementTree.SubElement(command, f"{{{QEMU_NS}}}arg", {"value": arg})
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode") + "\n"


def _disk(args: argparse.Namespace, qemu_img: Path) -> tuple[Path, str]:
    from ..guest import image

    if args.disk:
        return args.disk.resolve(), image_format(args.disk)
    built_in = image.ensure()
    path = paths.cache_dir() / f"libvirt-{args.name}-{built_in.key}.qcow2"
    if not path.exists():
        part = path.with_suffix(".part")
        image.overlay(qemu_img, built_in.disk, part)
        part.rename(path)
    return path, "qcow2"


def make(args: argparse.Namespace) -> str:
    """The XML that the command's arguments ask for."""
    from ..build import qemu_build
    from ..guest import kvm

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", args.name):
        raise UserError(f"NAME {args.name!r}: letters, digits and . _ + - only")
    if args.disk and not args.disk.is_file():
        raise UserError(f"--disk {args.disk}: no such file")
    profile = paths.find_profile(args.profile)
    qemu = qemu_build.ensure()
    path, fmt = _disk(args, qemu.img)
    return domain(args.name, qemu.emulator, kvm.accelerator(qemu),
                  mebibytes(args.mem), args.smp,
                  qemu_arguments(path, fmt, profile, args.set),
                  known_uuid(args.name) if args.define else "")


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
    xml = make(args)
    if not args.define:
        sys.stdout.write(xml)
        return 0
    done = _virsh("define", "/dev/stdin", text=xml)
    if done.returncode != 0:
        raise UserError("virsh define: " + one_line(done.stderr))
    say(f"defined; start it with: virsh start {args.name} --console")
    return 0
