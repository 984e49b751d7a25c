# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest with one NVMe drive under test, for suites of other projects.

The root file system is a virtio disk, so that nothing but the suite touches
the drive.  Knows how to boot, how to share a folder with the guest, and how to
tell whether the drive still answers; knows nothing about any suite.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from vssd.build import emulator
from vssd.errors import UserError
from vssd.guest import hardware, image, kvm, machine
from vssd.guest.guest import Guest
from vssd.ui import say

from . import cut
from .suite import Form

SLOT = "slot0"
SHARE = "suite"
DRIVE = "ssd0"
IOMMU = "intel-iommu,intremap=off"
KINDS = ("vssd", "nvme")
# The test's drive as Linux names it now: a test may have removed it.
FIND = r"""
for d in /sys/class/nvme/nvme*; do
    [ "$(cat $d/transport 2>/dev/null)" = pcie ] || continue
    for n in $d/nvme*n*; do
        [ -d "$n" ] && echo /dev/$(basename $n | sed 's/c[0-9]*n/n/') && exit
    done
done
exit 1
"""
# Why the drive is of no use; nothing when it answers.
STATE = """
test -b "{dev}" || {{ echo no block device; exit; }}
test "$(blockdev --getsize64 {dev})" -gt 0 || {{ echo no capacity; exit; }}
timeout 120 dd if={dev} of=/dev/null bs=64k count=1 iflag=direct 2>/dev/null \\
    || echo a read failed or took over 120 s
"""
# Messages of the kernel about a drive that misbehaves.
COMPLAINTS = (r"nvme.*(?:timeout|CSTS|controller is down|resetting controller"
              r"|Removing after|not ready|failed)|I/O error|blocked for more")


@dataclass
class Setup:
    """The tests, and their guest."""

    kind: str                     # vssd, or nvme: QEMU's own
    folder: Path                  # where the drive's image is made
    nbytes: int
    profile: Path
    sets: list[str] = field(default_factory=list)
    block_bytes: int = 512
    form: Form = Form()
    packages: tuple[str, ...] = ()
    share: Path | None = None     # a folder of the host, read only
    kernel: str = image.SUITE     # Debian's suite of the guest
    smp: int = 2
    mem_mib: int = 1536


def device_args(setup: Setup, disk: Path) -> list[str]:
    """QEMU's arguments for the drive, in a slot that it can be removed from."""
    node = {"driver": "raw", "node-name": "disk0", "discard": "unmap",
            "file": {"driver": "file", "filename": str(disk)}}
    args = [*(["-device", IOMMU] if setup.form.iommu else []),
            "-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            "-device", f"pcie-root-port,id={SLOT},slot=1",
            "-blockdev", json.dumps(node)]
    device: dict[str, Any] = {"driver": setup.kind, "id": DRIVE, "bus": SLOT,
                              "serial": "SUITE"}
    if setup.kind == "vssd":
        device.update(drive="disk0", profile=str(setup.profile),
                      logical_block_size=setup.block_bytes, **setup.form.ours)
        if setup.sets:
            device["options"] = ";".join(setup.sets)
        return [*args, "-device", json.dumps(device)]
    if setup.form.subsys:
        args += ["-device", setup.form.subsys]
        device["subsys"] = "sub0"
    device.update(setup.form.theirs)
    space = {"driver": "nvme-ns", "drive": "disk0",
             "logical_block_size": setup.block_bytes,
             "physical_block_size": setup.block_bytes, **setup.form.space}
    return [*args, "-device", json.dumps(device), "-device",
            json.dumps(space)]


def _root_args(path: Path) -> list[str]:
    node = {"driver": "qcow2", "node-name": "root0",
            "file": {"driver": "file", "filename": str(path)}}
    return ["-blockdev", json.dumps(node), "-device",
            "virtio-blk-pci,drive=root0"]


def _share_args(folder: Path) -> list[str]:
    path = str(folder.resolve()).replace(",", ",,")
    return ["-fsdev", f"local,id={SHARE},path={path},security_model=none,"
            "readonly=on", "-device",
            f"virtio-9p-pci,fsdev={SHARE},mount_tag={SHARE}"]


class Target:
    """with Target(setup, work) as target: target.run("nvme list")

    A guest that does not answer in time is ended; restart() begins again with
    an empty drive.
    """

    def __init__(self, setup: Setup, work: Path) -> None:
        self.setup = setup
        self.work = work
        self.qemu = emulator.ensure()
        self.image = image.ensure(suite=setup.kernel,
                                  more=tuple(sorted(setup.packages)))
        self.guest: Guest | None = None
        self.boots = 0

    def __enter__(self) -> Target:
        try:
            self.restart()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.end()

    @property
    def disk(self) -> Path:
        """The image file of the drive under test."""
        return self.setup.folder / f"suite-{self.setup.kind}.raw"

    def end(self) -> None:
        """End the guest; its drive's image goes too."""
        if self.guest:
            self.guest.__exit__(None, None, None)
            self.guest = None
        self.disk.unlink(missing_ok=True)

    def restart(self) -> None:
        """A fresh guest with an empty drive, and the shared folder's files in
        /root/suite."""
        self.end()
        self.boots += 1
        with self.disk.open("wb") as f:
            f.truncate(self.setup.nbytes)
        root = self.work / f"root-{self.boots}.qcow2"
        image.overlay(self.qemu.img, self.image.disk, root)
        extra = device_args(self.setup, self.disk) + _root_args(root)
        if self.setup.share:
            extra += _share_args(self.setup.share)
        spec = hardware.Spec(
            self.qemu.emulator, kvm.accelerator(self.qemu), [],
            self.setup.mem_mib, self.setup.smp, kernel=self.image.kernel,
            initrd=self.image.initrd, serve=True, extra=extra,
            confined=self.setup.share is not None,
            append=f"root={self.image.root} rw {hardware.KERNEL_ARGS}"
            " nvme_core.multipath=N"
            + (" intel_iommu=on" if self.setup.form.iommu else ""))
        begin = time.monotonic()
        guest = Guest(spec)
        guest.__enter__()  # pylint: disable=unnecessary-dunder-call
        self.guest = guest
        guest.wait_agent()
        cut.serve(guest, DRIVE if self.setup.kind == "vssd" else "")
        say(f"guest with {self.setup.kind}: up after"
            f" {time.monotonic() - begin:.0f} s")
        if self.setup.share:
            self.run("modprobe 9pnet_virtio && mount -t 9p -o trans=virtio,ro,"
                     f"version=9p2000.L {SHARE} /mnt && mkdir -p /root/suite"
                     " && cp -a /mnt/. /root/suite && umount /mnt")

    @property
    def live(self) -> Guest:
        """The guest, which is up."""
        assert self.guest
        return self.guest

    def run(self, command: str) -> str:
        """Run a command that must succeed; returns its output."""
        return self.live.run(command)

    def timed(self, command: str, limit_s: float) \
            -> tuple[machine.Result | None, float]:
        """Run a command; None if it did not end in time, and its seconds.
        The guest's timeout(1) comes first; the guest may be stuck, too."""
        quoted = "'" + command.replace("'", "'\\''") + "'"
        begin = time.monotonic()
        try:
            result: machine.Result | None = self.live.result(
                f"timeout -k 10 {limit_s:.0f} bash -c {quoted}", limit_s + 60)
        except UserError as e:
            say(str(e))
            result = None
        if result and result.status in (124, 137):
            result = None
        return result, time.monotonic() - begin

    def device(self) -> str:
        """The drive's block device; empty when it has none."""
        try:
            return self.live.result(FIND, 120).out.decode().strip()
        except UserError:
            return ""

    def trouble(self) -> str:
        """Why the drive is of no use now; empty when it answers."""
        try:
            return self.live.result(STATE.format(dev=self.device()),
                                    180).out.decode().strip()
        except UserError:
            return "the guest does not answer"

    def complaints(self) -> list[str]:
        """Messages of the kernel about the drive since the last call."""
        try:
            text = self.live.result("dmesg -c", 120).out.decode(
                errors="replace")
        except UserError:
            return []
        return [re.sub(r"^\[ *[\d.]+\] ", "", x) for x in text.splitlines()
                if re.search(COMPLAINTS, x)]

    def versions(self) -> dict[str, str]:
        """The parts of the guest, and the place of the drive's image."""
        text = self.run("uname -r; fio --version; nvme version | head -1")
        kernel, fio, nvme = text.splitlines()[:3]
        return {"kernel": kernel, "fio": fio, "nvme_cli": nvme,
                "host_fs": filesystem(self.setup.folder)}


def filesystem(path: Path) -> str:
    """The type of the file system that a folder is on."""
    best, kind = "", "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, what = line.split()[:3]
        inside = str(path.resolve()) + "/"
        if inside.startswith(where.rstrip("/") + "/") \
                and len(where) >= len(best):
            best, kind = where, what
    return kind
