# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine for a guest: its parts, and QEMU's arguments for them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..arch import X86_64, Arch
from ..build import qemu_plugin
from ..build.qemu_build import FIRMWARE_DIRS
from ..errors import UserError
from . import uring

OVMF_CODE = ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_CODE.fd")
OVMF_VARS = ("/usr/share/OVMF/OVMF_VARS_4M.fd", "/usr/share/OVMF/OVMF_VARS.fd")
KERNEL_ARGS = X86_64.kernel_command_line
ICOUNT_SHIFT = 3  # an instruction takes 2^this ns
# QEMU ends when a server does not answer for so long (default 5 s): on a busy
# machine that is no reason.
MSG_TIMEOUT_MS = 120_000
# vfio-user-pci neither carries the state of its drive nor refuses to migrate
# without.  A node of this format does refuse, and so does savevm then.
NO_MIGRATION = "drive-in-vssd-server"


@dataclass
class Drive:
    """A block node and the NVMe device in front of it."""

    image: Path
    fmt: str = "qcow2"
    device: str = "vssd"  # or nvme, QEMU's own, to compare with
    profile: Path | None = None
    sets: list[str] = field(default_factory=list)
    properties: dict[str, int] = field(default_factory=dict)  # vssd only
    state: Path | None = None  # the drive of the last run; saved at the end
    serial: str = ""
    node: dict[str, Any] | None = None  # instead of image and fmt
    more: list[tuple[Path, str]] = field(default_factory=list)  # of namespaces 2...
    oplog: Path | None = None  # operations of the drive; vssd only
    timeline: Path | None = None  # its work over time; vssd only
    timeline_options: dict[str, str] = field(default_factory=dict)  # from, for, size
    trace: Path | None = None  # trace the guest's commands to this file
    durable_log: Path | None = None  # all that becomes durable; vssd only
    live: Path | None = None  # what it does now; vssd only
    controllers: int = 1  # of the drive; vssd, or in a vssd-server
    sriov_vfs: int = 0  # virtual functions; vssd only
    slot: bool = False  # in a hot-plug slot: it can go and come back
    forget: bool = False  # writes are lost when QEMU ends (snapshot=on)
    # Sockets of a vssd-server that has the drive: of its first controller
    # (socket_of()), of the drive's properties; the file NO_MIGRATION is beside
    # them.  The image and its options are that process's then.
    server: tuple[Path, Path] | None = None


@dataclass
class Spec:
    """The machine to start."""

    emulator: Path
    accel: str
    drives: list[Drive]
    mem_mib: int = 1024
    smp: int = 2
    firmware: str = ""          # "", "seabios" or "ovmf"
    ovmf_vars: Path | None = None
    kernel: Path | None = None
    initrd: Path | None = None
    append: str = ""
    network: bool = True
    ports: list[tuple[int, int]] = field(default_factory=list)  # host's, guest's
    icount: bool = False
    icount_shift: int = ICOUNT_SHIFT
    seed: int = 1
    command: str | None = None  # run it and power off
    early: bool = False         # the command does not wait for the whole boot
    serve: bool = False         # the agent takes requests
    reboot_ends: bool = False
    pause_at_end: bool = True   # so that the drive can still be asked
    extra: list[str] = field(default_factory=list)
    confined: bool = False      # a share gives no rights: confined.py
    arch: Arch = X86_64

def socket_of(first: Path, k: int) -> Path:
    """Of controller k of a vssd-server, from 0 on."""
    return first.with_stem(f"{first.stem}{k}") if k else first


def node_of(drive: str, nsid: int) -> str:
    """The block node of a namespace of `disk1` or `ssd1`: namespace 1 has the
    drive's."""
    return f"{drive}n{nsid}" if nsid > 1 else drive


def image_node(name: str, path: Path, fmt: str, aio: str = "threads") -> dict[str, Any]:
    """A block node of an image, as in -blockdev."""
    return {"driver": fmt, "node-name": name, "discard": "unmap",
            "file": {"driver": "file", "filename": str(path), "aio": aio}}


def _image_args(drive: Drive, name: str, path: Path, fmt: str, aio: str) -> list[str]:
    if drive.forget:
        return ["-drive", f"if=none,id={name},format={fmt}"
                f",discard=unmap,snapshot=on,aio={aio},file={_no_commas(path)}"]
    return ["-blockdev", json.dumps(image_node(name, path, fmt, aio))]


def _block_args(i: int, drive: Drive, aio: str) -> list[str]:
    if drive.node:
        return ["-blockdev", json.dumps({**drive.node, "node-name": f"disk{i}"})]
    return [arg for nsid, (path, fmt) in enumerate(
                [(drive.image, drive.fmt), *drive.more], 1)
            for arg in _image_args(drive, node_of(f"disk{i}", nsid), path, fmt, aio)]


def _server_args(i: int, drive: Drive, first: Path, boot: bool) -> list[str]:
    found = []
    for k in range(drive.controllers):
        device: dict[str, Any] = {
            "driver": "vfio-user-pci", "id": f"ssd{i}c{k}" if k else f"ssd{i}",
            "socket": {"type": "unix", "path": str(socket_of(first, k))},
            "x-msg-timeout": MSG_TIMEOUT_MS}
        if boot and not k:
            device["bootindex"] = i
        found += ["-device", json.dumps(device)]
    return found


def has_format(emulator: Path, name: str) -> bool:
    """Does this QEMU know a format of images?"""
    said = subprocess.run([str(emulator), "-drive", "format=help"], check=False,
                          capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    return name in said.stdout.split()


def no_migration(spec: Spec) -> list[str]:
    """A node that has QEMU refuse to migrate without the drive of a server."""
    files = [drive.server[0].with_name(NO_MIGRATION)
             for drive in spec.drives if drive.server]
    if not files or not has_format(spec.emulator, "qcow"):
        return []
    return ["-blockdev", json.dumps({
        "driver": "qcow", "node-name": NO_MIGRATION,
        "file": {"driver": "file", "filename": str(files[0])}})]


def drive_args(i: int, drive: Drive, boot: bool, arch: Arch = X86_64,
               aio: str = "threads") -> list[str]:
    """QEMU's arguments for the drive ssd<i>; boot: firmware may boot from it;
    aio: how QEMU reads and writes the image."""
    if drive.server:
        return _server_args(i, drive, drive.server[0], boot)
    device: dict[str, Any] = {
        "driver": drive.device, "id": f"ssd{i}", "drive": f"disk{i}",
        "serial": drive.serial or f"VSSD{i:04d}"}
    if drive.device == "vssd":
        if drive.profile:
            device["profile"] = str(drive.profile)
        for nsid, _ in enumerate(drive.more, 2):
            device[f"drive{nsid}"] = node_of(f"disk{i}", nsid)
        if drive.sets:
            device["options"] = ";".join(drive.sets)
        device.update(drive.properties)
        if drive.state:
            device["state"] = str(drive.state.absolute())
        if drive.oplog:
            device["oplog"] = str(drive.oplog.absolute())
        if drive.timeline:
            device["timeline"] = str(drive.timeline.absolute())
        for key, value in drive.timeline_options.items():
            device[f"timeline_{key}"] = value
        if drive.trace:
            device["trace"] = str(drive.trace.absolute())
        if drive.durable_log:
            device["durable_log"] = str(drive.durable_log.absolute())
        if drive.live:
            device["live"] = str(drive.live.absolute())
        if drive.controllers > 1:
            device["controllers"] = drive.controllers
        if drive.sriov_vfs:
            device["sriov_vfs"] = drive.sriov_vfs
    if boot:
        device["bootindex"] = i
    devices = [device, *(
        {"driver": "vssd-ctrl", "id": f"ssd{i}c{k}", "subsys": f"ssd{i}"}
        for k in range(1, drive.controllers))]
    slots: list[str] = []
    if drive.slot or drive.sriov_vfs:  # they follow the drive on its bus
        # The slot's own hot-plug, which can say that a drive has gone; ACPI's
        # cannot.
        if arch is X86_64:
            slots = ["-global",
                     "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
        for k, one in enumerate(devices):
            one["bus"] = f"slot{i}c{k}" if k else f"slot{i}"
            slots += ["-device", f"pcie-root-port,id={one['bus']},"
                      f"slot={i + 100 * k}"]
    return [*slots, *_block_args(i, drive, aio), *(arg for one in devices
                                                   for arg in ("-device", json.dumps(one)))]


def _no_commas(path: Path) -> str:
    return str(path).replace(",", ",,")


def _first_file(names: tuple[str, ...]) -> str:
    for name in names:
        if os.path.exists(name):
            return name
    raise UserError(f"no OVMF firmware ({names[0]}): run ./vssd setup")


def goes_on(spec: Spec, how: str) -> bool:
    """Has QEMU this argument for a guest that has booted elsewhere?"""
    return any(arg.lstrip("-") == how for arg in spec.extra)


def find_ovmf_vars() -> str:
    """The template of OVMF's variables."""
    return _first_file(OVMF_VARS)


def _firmware_args(spec: Spec) -> list[str]:
    if spec.firmware != "ovmf":
        return []
    return ["-drive", "if=pflash,format=raw,readonly=on,file="
            + _first_file(OVMF_CODE),
            "-drive", "if=pflash,format=raw," + (
                f"file={_no_commas(spec.ovmf_vars)}" if spec.ovmf_vars
                else f"snapshot=on,file={find_ovmf_vars()}")]


def _end_action(spec: Spec) -> list[str]:
    actions = ["shutdown=pause"] * spec.pause_at_end \
        + ["reboot=shutdown"] * spec.reboot_ends
    return ["-action", ",".join(actions)] if actions else []


def _memory_args(spec: Spec) -> list[str]:
    """A server reads and writes guest memory, so it is shared then."""
    if not any(drive.server for drive in spec.drives):
        return ["-machine", spec.arch.machine]
    return ["-machine", f"{spec.arch.machine},memory-backend=mem", "-object",
            f"memory-backend-memfd,id=mem,size={spec.mem_mib}M,share=on"]


def aio_of(emulator: Path) -> str:
    """The value of aio= for images of this emulator's drives."""
    return "io_uring" if uring.works(emulator) else "threads"


def _accel(spec: Spec) -> str:
    """One thread for all vCPUs where several may lose interrupts."""
    single = spec.accel == "tcg" and spec.smp > 1 and not spec.icount \
        and qemu_plugin.loses_interrupts(spec.emulator)
    return spec.accel + ",thread=single" * single


def command_line(spec: Spec) -> list[str]:
    """QEMU's arguments, all but those of the channels."""
    args = [str(spec.emulator), "-nodefaults", "-no-user-config",
            "-display", "none", *_memory_args(spec), "-accel", _accel(spec),
            "-cpu", "host" if spec.accel == "kvm" else spec.arch.cpu,
            "-m", str(spec.mem_mib),
            "-smp", str(1 if spec.icount else spec.smp),
            *_end_action(spec)]
    for folder in FIRMWARE_DIRS:
        args += ["-L", folder]
    args += _firmware_args(spec)
    if spec.arch.bios:
        args += ["-bios", spec.arch.bios]
    if spec.icount:
        args += ["-icount", f"shift={spec.icount_shift},sleep=off", "-seed", str(spec.seed),
                 "-rtc", "base=2026-01-01T00:00:00,clock=vm"]
    for i, drive in enumerate(spec.drives):
        args += drive_args(i, drive, spec.kernel is None, spec.arch,
                           aio_of(spec.emulator))
    args += no_migration(spec)
    if spec.kernel:
        args += ["-kernel", str(spec.kernel), "-append", spec.append]
        if spec.initrd:
            args += ["-initrd", str(spec.initrd)]
    if spec.network and not spec.icount:
        args += ["-netdev", "user,id=net0" + "".join(
            f",hostfwd=tcp:127.0.0.1:{host}-:{guest}"
            for host, guest in spec.ports), "-device",
                 "virtio-net-pci,netdev=net0,romfile=",
                 "-fw_cfg", "name=opt/vssd/network,string=1"]
    for name, given in (("early", spec.early), ("serve", spec.serve)):
        if given:
            args += ["-fw_cfg", f"name=opt/vssd/{name},string=1"]
    return args + spec.extra
