# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest with two equal drives: the load on one without streams, and on the
other with them."""

from __future__ import annotations

import base64
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError, one_line
from ..guest import hardware, image, kvm, suite_kernel, used
from ..guest.guest import Guest
from ..paths import find_profile
from ..ui import Stage
from . import report
from .load import JOB_FILE, Load, script
from .ways import Way, drives

SERIALS = ("WITHOUT-STREAMS", "WITH-STREAMS")
MOST_FILES = 4096
MOST_LOAD_S = 24 * 3600  # of a load; other commands take moments
AT_ONCE = 64  # files of one command
EARLY = " quiet systemd.unit=vssd-agent-early.service"
# ext4 would have blocks of 1 KiB on a small drive, and files share units then.
MAKE = {"ext4": "mkfs.ext4 -q -F -b 4096 -E nodiscard {0}",
        "xfs": "mkfs.xfs -q -f -K $(test $(uname -r | cut -d. -f1) -ge 6 || find"
               " /usr/share/xfsprogs -name lts_5.10.conf -printf '-c options=%p')"
               " {0}",
        "f2fs": "mkfs.f2fs -q -f -t 0 {0} > /dev/null"}


@dataclass
class Bench:
    """What is to be compared."""

    way: Way
    fs: str
    load: Load
    profile: Path
    sets: list[str]  # with the seed
    streams: int
    kernel: Path | None  # None: that of the suite
    suite: str
    params: str
    mem_mib: int
    aged: bool


def _root_drive(root: Path) -> hardware.Drive:
    """The guest's system, on a drive that takes no time."""
    return hardware.Drive(root, profile=find_profile("zero-latency"))


def _boot(bench: Bench, folder: Path) -> hardware.Spec:
    """The machine, all but the two drives."""
    from ..build import emulator

    whole = bench.suite not in (image.SUITE, image.SUITE + "-backports")
    built_in = image.ensure(suite=bench.suite if whole else image.SUITE)
    kernel: Path = bench.kernel or built_in.kernel
    initrd: Path | None = None if bench.kernel else built_in.initrd
    if not bench.kernel and not whole and bench.suite != image.SUITE:
        found = suite_kernel.ensure(bench.suite)
        kernel = found.kernel
        initrd = found.initrd(built_in.initrd, folder / "initrd.img")
    qemu = emulator.ensure()
    root = folder / "root.qcow2"
    image.overlay(qemu.img, built_in.disk, root, "raw")
    return hardware.Spec(
        qemu.emulator, kvm.accelerator(qemu), [_root_drive(root)],
        mem_mib=bench.mem_mib, kernel=kernel, initrd=initrd, network=False,
        serve=True, early=True,
        append=f"root={built_in.root} rw {hardware.KERNEL_ARGS}{EARLY}"
        f"{bench.way.param}{bench.params}")


def _drive(bench: Bench, folder: Path, serial: str, option: str) \
        -> hardware.Drive:
    from ..build import model

    sets = [*bench.sets, option]
    path = folder / f"{serial}.raw"
    size = int(model.drive_info(bench.profile, sets)["capacity_bytes"])
    with open(path, "wb") as f:
        f.truncate(size)
    state = None
    if bench.aged:
        state = used.copy(bench.profile, sets, used.AGED,
                          folder / f"{serial}.state")
    return hardware.Drive(path, "raw", "vssd", bench.profile, sets,
                          state=state, serial=serial)


def _say(guest: Guest, command: str,
         timeout_s: float = Guest.COMMAND_S) -> str:
    """Run it; its own line is the error."""
    done = guest.result(command, timeout_s)
    if done.status:
        said = one_line((done.err or done.out).decode(errors="replace"))
        raise UserError(said or f"{command}: status {done.status}")
    return done.out.decode(errors="replace")


def _check_way(guest: Guest, bench: Bench, device: str, target: str) -> None:
    """Refuse a kernel that lacks the way."""
    way = bench.way
    if way.by_itself or way.name == "uring":
        queue = f"/sys/block/{device.removeprefix('/dev/')}/queue"
        found = _say(guest, f"cat {queue}/max_write_streams 2>/dev/null || :")
        if int(found or "0") < bench.streams:
            raise UserError(
                f"--by {way.name}: Linux {_say(guest, 'uname -r').strip()} has"
                f" {int(found or '0')} write streams for the drive; use"
                f" {way.kernel}")
        return
    done = guest.result(f"streamchurn -c -m {way.method} {target}")
    if done.status:
        said = one_line(done.err.decode(errors="replace"))
        raise UserError(f"--by {way.name}: {said.removeprefix('streamchurn: ')}"
                        f"; use {way.kernel}")


def _rows(guest: Guest, device: str) -> dict[str, report.Row]:
    return report.read_rows(_say(guest, f"vssdctl -d {device} streams"))


def _files(guest: Guest, target: str) -> dict[str, list[report.Part]]:
    """Where the files below the target are."""
    paths = _say(guest, f"find {target} -xdev -type f -size +0 | sort -V"
                 f" | head -n {MOST_FILES}").splitlines()
    found: dict[str, list[report.Part]] = {}
    for i in range(0, len(paths), AT_ONCE):
        found.update(report.read_files(_say(guest, shlex.join(
            ["vssdctl", "blocks", *paths[i:i + AT_ONCE]]))))
    return found


def _one(guest: Guest, bench: Bench, serial: str, on: bool) -> report.Run:
    """The load on one of the drives."""
    name = _say(guest, f"grep -lw {serial} /sys/class/nvme/*/serial")
    device = target = f"/dev/{name.split('/')[-2]}n1"
    before = _rows(guest, device)
    if bench.fs != "raw":
        target = "/mnt"
        _say(guest, MAKE[bench.fs].format(device))
        _say(guest, f"mount -t {bench.fs} -o discard {device} {target}")
    if on:
        _check_way(guest, bench, device, target)
    _say(guest, script(bench.load, bench.way, target, on), MOST_LOAD_S)
    _say(guest, f"sync; nvme flush {device} > /dev/null")
    run = report.Run(report.since(_rows(guest, device), before))
    if bench.fs != "raw":
        run.files = _files(guest, target)
        _say(guest, f"umount {target}")
    report.count_files(run)
    return run


def _check_placed(bench: Bench, run: report.Run, release: str) -> None:
    """A file system that could place data by itself, and did not."""
    used_handles = [n for n, row in run.rows.items()
                    if n.isdigit() and row.host_bytes]
    if bench.way.by_itself and len(used_handles) < 2:
        raise UserError(f"--by {bench.way.name}: {bench.fs} of Linux {release}"
                        " wrote all data to one handle: it has no support of"
                        f" FDP; use {bench.way.kernel}")


def measure(bench: Bench) -> tuple[tuple[report.Run, report.Run], str]:
    """Both runs, and the guest's kernel."""
    with tempfile.TemporaryDirectory(prefix="vssd-streams.") as name:
        folder = Path(name)
        spec = _boot(bench, folder)
        spec.drives += [_drive(bench, folder, serial, option) for serial, option
                        in zip(SERIALS, drives(bench.way, bench.streams))]
        with Guest(spec) as guest:
            with Stage("booting the guest"):
                guest.wait_agent()
            release = _say(guest, "uname -r").strip()
            if bench.load.fio:
                text = base64.b64encode(bench.load.fio.encode()).decode()
                _say(guest, f"echo {text} | base64 -d > {JOB_FILE}")
            runs = []
            for serial, on in zip(reversed(SERIALS), (True, False)):
                with Stage("the load " + serial.lower().replace("-", " ")):
                    runs.append(_one(guest, bench, serial, on))
                if on:
                    _check_placed(bench, runs[0], release)
        return (runs[1], runs[0]), release
