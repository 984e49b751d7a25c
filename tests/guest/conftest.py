# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests with guests share: a booted guest with four vssd drives, one with
drives of many kinds, and ways to boot others."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import featured as featured_drives
from featured import MIB as MIB
from featured import blank as blank
from vssd import paths, rundir
from vssd.build import emulator, model, qemu_build
from vssd.guest import hardware, kvm
from vssd.guest import image as image_module
from vssd.guest.guest import Guest

SMALL = ["nand.channels=2", "nand.dies=1", "nand.pages=8",
         "ftl.op_percent=7%"]

EARLY = "vssd-agent-early.service"

# Tests run at the same time but for these, which look at the guests that ./vssd
# run has started: one worker has them all.
OF_RUN = ("test_run", "test_command_line", "test_machines", "test_operator", "test_powercut",
          "test_trace", "test_rocksdb", "test_cassandra", "test_vfio_user",
          "test_vng")
# Fixtures that start a guest; its tests are one worker's, too.
GUESTS = ("patched", "old", "new", "two_paths", "cut_guest", "four_cpus", "featured")
# What takes longest begins first; then come the others.
LONGEST = ("run", "test_drive", "cut_guest-sound", "test_migration")


def _group(item: pytest.Function) -> str:
    """Whose tests go to one worker."""
    module = item.module.__name__
    if module in OF_RUN:
        return "run"
    params = item.callspec.params if hasattr(item, "callspec") else {}
    for name in GUESTS:
        if name in item.fixturenames or params.get("kernel") == name:
            param = item.callspec.id.split("-")[0] \
                if name == "cut_guest" else ""
            return f"{name}-{param}" if param else name
    if module in ("test_boot", "test_pages"):  # "]" ends a name in what pytest-xdist says
        return re.sub(r"\W", "-", item.name)
    return module


def pytest_configure(config: pytest.Config) -> None:
    """Without ./vssd test, too, the user's guests are not ours."""
    if "VSSD_RUNS" not in os.environ:
        ends = contextlib.ExitStack()
        config.add_cleanup(ends.close)
        os.environ["VSSD_RUNS"] = str(ends.enter_context(rundir.apart()))
        ends.callback(os.environ.pop, "VSSD_RUNS")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For the workers of pytest-xdist, which read the marks in this hook."""
    def order(group: str) -> int:
        return LONGEST.index(group) if group in LONGEST else len(LONGEST)

    groups = {item: _group(item) for item in items
              if isinstance(item, pytest.Function)}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: order(groups.get(item, "")))


@dataclass
class Env:
    """What is built."""

    qemu: qemu_build.Qemu
    image: image_module.Image
    accel: str

    def overlay(self, folder: Path) -> Path:
        """A fresh copy of the guest image's disk, qcow2."""
        path = folder / "root.qcow2"
        image_module.overlay(self.qemu.img, self.image.disk, path)
        return path

    def spec(self, drives: list[hardware.Drive], **more: Any) -> hardware.Spec:
        """Direct boot of the image's kernel, agent at work."""
        given: dict[str, Any] = {
            "kernel": self.image.kernel, "initrd": self.image.initrd,
            "append": f"root={self.image.root} rw {hardware.KERNEL_ARGS}",
            "serve": True}
        given.update(more)
        return hardware.Spec(self.qemu.emulator, self.accel, drives, **given)

    def lean(self, drives: list[hardware.Drive], **more: Any) -> hardware.Spec:
        """The same, but systemd starts the agent alone: no network, no udev, no
        login, and half of the time to boot."""
        spec = self.spec(drives, early=True, network=False, **more)
        spec.append += " quiet systemd.unit=" + EARLY
        return spec


def drive(path: Path, fmt: str = "qcow2", profile: str = "tlc-generic",
          sets: list[str] | None = None) -> hardware.Drive:
    """A vssd drive in front of a file."""
    return hardware.Drive(path, fmt, "vssd", paths.find_profile(profile),
                         sets or [])


def number_of(guest: Guest, ctrl: str, nsid: int) -> str:
    """The 2 of /dev/nvme1n2 and /dev/ng1n2: not always the namespace's ID,
    since Linux scans namespaces side by side from 6.12 on."""
    said = guest.run(f"for d in /dev/ng{ctrl}n*; do nvme get-ns-id $d; done")
    found = {int(x): n for n, x in
             re.findall(r"n(\d+): namespace-id: *(\d+)", said)}
    return found[nsid]


def vssd(*args: str, env: dict[str, str] | None = None,
         timeout_s: float = 1500, cwd: Path | None = None) \
        -> subprocess.CompletedProcess[str]:
    """Run ./vssd as a user would, without a terminal."""
    return subprocess.run(
        [str(paths.PROJECT / "vssd"), *args], text=True, cwd=cwd,
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
        timeout=timeout_s, env=dict(os.environ, **(env or {})))


def load(path: Path) -> dict[str, Any]:
    """A JSON file."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def refused(guest: Guest) -> dict[str, int]:
    """Entries of the error logs of the guest's drives, by controller."""
    names = guest.run("ls /sys/class/nvme").split()
    return {name: json.loads(guest.run(
        f"nvme smart-log /dev/{name} -o json"))["num_err_log_entries"]
        for name in names}


@pytest.fixture(scope="session")
def env() -> Env:
    """Built when it is not."""
    qemu = emulator.ensure()
    return Env(qemu, image_module.ensure(), kvm.accelerator(qemu))


@pytest.fixture(scope="session")
def guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """The shared guest.

    Drive 0 is its root; drive 1, 512 MiB, is for file systems; drive 2 fills a
    small drive of 7 % over-provisioning, to be overwritten; drive 3 keeps its
    buffer through a power cut.
    """
    folder = tmp_path_factory.mktemp("guest")
    small_bytes = model.drive_info(paths.find_profile("tlc-generic"),
                                   SMALL)["capacity_bytes"]
    drives = [
        drive(env.overlay(folder)),
        drive(blank(folder / "fs.raw", 512 * MIB), "raw", "zero-latency"),
        drive(blank(folder / "small.raw", small_bytes), "raw", "tlc-generic",
              SMALL),
        drive(blank(folder / "plp.raw", 64 * MIB), "raw", "tlc-generic",
              ["buffer.plp=on"]),
    ]
    with Guest(env.spec(drives)) as running:
        running.wait_agent()
        yield running


@pytest.fixture(scope="session")
def featured(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """The shared guest whose drives have more than blocks of data."""
    folder = tmp_path_factory.mktemp("featured")
    spec = env.lean([drive(env.overlay(folder)),
                     *featured_drives.numbered(folder)],
                    extra=featured_drives.named(folder))
    spec.append += featured_drives.APPEND
    with Guest(spec) as running:
        running.wait_agent()
        yield running


@pytest.fixture(scope="session")
def disks(guest: Guest) -> list[str]:
    """The drives' names in the shared guest, as /dev/nvme1; Linux gives the
    numbers in the order in which its probes end."""
    names = []
    for i in range(4):
        found = guest.run(f"grep -lw VSSD{i:04d} /sys/class/nvme/*/serial")
        names.append("/dev/" + found.split("/")[-2])
    assert len(set(names)) == 4
    return names
