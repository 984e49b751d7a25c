# SPDX-License-Identifier: GPL-2.0-or-later
"""A libvirt domain with modelled drives, as XML.

libvirt knows no vssd device, so the -blockdev and -device of drives go through
libvirt's interface for such arguments (qemu:commandline); everything else is
ordinary.
"""

from __future__ import annotations

import json
import os
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from ..build import qemu_package, qemu_plugin
from ..build.qemu_build import FIRMWARE_DIRS
from ..errors import UserError

QEMU_NS = "http://libvirt.org/schemas/domain/qemu/1.0"
UUIDS = uuid.UUID("0d6a3c52-44c6-4f0b-9d64-2f0a5a1c7f3e")
SPARE_PORTS = 6  # for devices that virsh attach-device adds
# Of drives' ports, where libvirt cannot be asked for places of its own.
FIRST_ADDRESS = 0x10
MARKS = "\"'<>&"
Form = Callable[[Mapping[str, object]], str]


@dataclass
class Disk:
    """A drive and its image, which keeps the writes of the guest."""

    image: Path
    fmt: str
    profile: Path
    sets: list[str] = field(default_factory=list)
    serial: str = ""
    files: dict[str, Path] = field(default_factory=dict)  # state, oplog, trace
    properties: dict[str, int] = field(default_factory=dict)  # of the device


@dataclass
class Domain:
    """All that the XML depends on."""

    name: str
    emulator: Path
    accel: str
    mem_mib: int
    smp: int
    disks: list[Disk]
    uuid: str = ""  # of the domain that it replaces

    @property
    def lasting_uuid(self) -> str:
        """Always the same for a name, so that a second definition updates the
        first."""
        return self.uuid or str(uuid.uuid5(UUIDS, self.name))


def _device(i: int, disk: Disk) -> dict[str, object]:
    device: dict[str, object] = {
        "driver": "vssd", "id": f"ssd{i}", "drive": f"disk{i}",
        "serial": disk.serial or f"VSSD{i:04d}", "profile": str(disk.profile),
        "bus": f"slot{i}"}
    if disk.sets:
        device["options"] = ";".join(disk.sets)
    device.update(disk.properties)
    for name, path in disk.files.items():
        device[name] = str(path.absolute())
    if i == 0:
        device["bootindex"] = 1
    return device


def _pairs(value: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, dict):
            yield from _pairs(one, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={one}".replace(",", ",,")


def key_values(value: Mapping[str, object]) -> str:
    """A value of -device or -blockdev without quotation marks."""
    driver, *pairs = _pairs(value)
    return ",".join([driver.partition("=")[2], *pairs])


def qemu_arguments(disks: list[Disk], form: Form = json.dumps,
                   placed: bool = False) -> list[str]:
    """Arguments that libvirt passes to QEMU unchanged: each drive behind a
    hot-plug slot of its own.  placed: at a PCI address that is given."""
    args = [arg for folder in FIRMWARE_DIRS for arg in ("-L", folder)]
    # A drive that goes is told to the guest by its slot, as in ./vssd run.
    args += ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
    for i, disk in enumerate(disks):
        node = {"driver": disk.fmt, "node-name": f"disk{i}", "discard": "unmap",
                "file": {"driver": "file", "filename": str(disk.image)}}
        # libvirt numbers the chassis of its own ports from 1 on.  As JSON, since
        # QEMU makes devices in other forms first, where libvirt's would be.
        port: dict[str, object] = {
            "driver": "pcie-root-port", "id": f"slot{i}", "chassis": 0,
            "slot": i}
        if placed:
            port |= {"addr": f"0x{FIRST_ADDRESS + i // 8:x}.{i % 8}",
                     "multifunction": "on"}
        args += ["-device", form(port), "-blockdev", form(node),
                 "-device", form(_device(i, disk))]
    return args


def virt_install(domain: Domain) -> list[str]:
    """A command of virt-install that makes such a domain.

    Its version 4.1 escapes each of MARKS twice, so the command has none.
    """
    args = qemu_arguments(domain.disks, key_values, placed=True)
    for arg in (*args, str(domain.emulator)):
        for mark in MARKS:
            if mark in arg:
                raise UserError(f"{arg}: virt-install cannot pass {mark} to QEMU;"
                                " use --define")
    return [
        "virt-install", "--name", domain.name, "--uuid", domain.lasting_uuid,
        "--virt-type", "kvm" if domain.accel == "kvm" else "qemu",
        "--machine", "q35", "--memory", str(domain.mem_mib),
        "--vcpus", str(domain.smp), "--osinfo", "detect=on,require=off",
        "--cpu", "host-passthrough" if domain.accel == "kvm"
        else "xpath1.set=./@mode,xpath1.value=maximum",
        "--import", "--boot", f"emulator={domain.emulator}", "--disk", "none",
        "--network",
        "user,model.type=virtio,xpath1.set=./rom/@enabled,xpath1.value=no",
        "--graphics", "none", "--memballoon", "none", "--seclabel",
        f"type=static,model=dac,relabel=no,label=+{os.getuid()}:+{os.getgid()}",
        "--noautoconsole", "--qemu-commandline=" + shlex.join(args)]


def xml(domain: Domain) -> str:
    """The domain's XML."""
    def add(parent: ElementTree.Element, tag: str, text: str = "",
            **attributes: str) -> ElementTree.Element:
        e = ElementTree.SubElement(parent, tag, attributes)
        e.text = text or None
        return e

    kvm = domain.accel == "kvm"
    ElementTree.register_namespace("qemu", QEMU_NS)
    top = ElementTree.Element("domain", {"type": "kvm" if kvm else "qemu"})
    add(top, "name", domain.name)
    add(top, "uuid", domain.lasting_uuid)
    add(top, "title", "a guest with a modelled SSD")
    add(top, "memory", str(domain.mem_mib), unit="MiB")
    add(top, "vcpu", str(domain.smp))
    system = add(top, "os")
    add(system, "type", "hvm", arch="x86_64", machine="q35")
    add(add(top, "features"), "acpi")
    add(top, "cpu", mode="host-passthrough" if kvm else "maximum")
    add(top, "on_poweroff", "destroy")
    add(top, "on_reboot", "restart")
    devices = add(top, "devices")
    add(devices, "emulator", str(domain.emulator))
    add(devices, "controller", type="pci", index="0", model="pcie-root")
    for i in range(1, SPARE_PORTS + 1):
        add(devices, "controller", type="pci", index=str(i),
            model="pcie-root-port")
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
    for arg in qemu_arguments(domain.disks):
        ElementTree.SubElement(command, f"{{{QEMU_NS}}}arg", {"value": arg})
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode") + "\n"


def _backing(disk: Disk, built_in: Path | None) -> list[Path]:
    return [built_in] if built_in and disk.fmt == "qcow2" else []


def _plugin_rules(emulator: Path) -> list[str]:
    """Of an emulator that is a script (build/qemu_plugin.py)."""
    plugin = emulator.with_name(qemu_plugin.NAME)
    if not plugin.exists():
        return []
    package = qemu_package.there(qemu_plugin.SUITE)
    return ["/{usr/,}bin/{da,}sh rmix,", f'"{plugin.resolve()}" rm,',
            *([f'"{package.root}/**" rmix,'] if package else [])]


def apparmor_daemon_rules(domain: Domain) -> str:
    """What AppArmor must permit to libvirt's daemon, which asks the emulator what
    it can do: a line for local/usr.sbin.libvirtd."""
    return f'"{domain.emulator}" PUx,\n'


def apparmor_rules(domain: Domain, built_in: Path | None) -> str:
    """What AppArmor must permit to the domain's QEMU beside libvirt's own
    rules: lines for abstractions/libvirt-qemu.  built_in: the image behind
    those of the built-in guest."""
    rules = [f'"{domain.emulator}" rmix,', *_plugin_rules(domain.emulator)]
    for disk in domain.disks:
        rules.append(f'"{disk.profile}" r,')
        rules.append(f'"{disk.image}" rwk,')
        rules += [f'"{path}" rk,' for path in _backing(disk, built_in)]
        # A state is saved beside the old one and takes its place.
        rules += [f'"{path.absolute()}*" rwk,' for path in disk.files.values()]
    rules += [f'"{folder}/**" r,' for folder in FIRMWARE_DIRS]
    # QEMU limits its coroutines by it; the rules of libvirt 9 lack it.
    rules.append("/proc/sys/vm/max_map_count r,")
    return "\n".join(dict.fromkeys(rules)) + "\n"
