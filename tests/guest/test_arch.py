# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of other architectures: their root is a modelled drive, they read and
write another one, and ./vssd run and its sisters reach them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from long_form import LONG

from conftest import MIB, blank, drive, vssd
from vssd import arch
from vssd.build import emulator
from vssd.guest import foreign, hardware, image
from vssd.guest.guest import Guest


@pytest.fixture(scope="module", params=[
    pytest.param(name, marks=LONG) for name in arch.FOREIGN])
def foreign_guest(request: pytest.FixtureRequest,
                  tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A guest whose root is drive 0; drive 1 is in a hot-plug slot."""
    one = arch.ALL[request.param]
    folder = tmp_path_factory.mktemp("arch")
    qemu = emulator.ensure(one)
    made = foreign.ensure(one)
    root = folder / "root.qcow2"
    image.overlay(qemu.img, made.disk, root)
    data = drive(blank(folder / "data.raw", 256 * MIB), "raw")
    data.slot = True
    spec = hardware.Spec(
        qemu.emulator, "tcg", [drive(root), data], arch=one,
        kernel=made.kernel, initrd=made.initrd, serve=True,
        append=f"root={made.root} rw {one.kernel_command_line}")
    with Guest(spec) as running:
        running.wait_agent()
        yield running


def test_drives(foreign_guest: Guest) -> None:
    """Both are there; the root is the first one's."""
    one = foreign_guest.live.spec.arch
    assert foreign_guest.run("uname -m").strip() == one.name
    found = json.loads(foreign_guest.run("nvme list -o json"))["Devices"]
    text = json.dumps(found)
    assert "VSSD0000" in text and "VSSD0001" in text
    root = foreign_guest.run("findmnt -no SOURCE /").strip()
    assert root.startswith("/dev/nvme")
    serial = foreign_guest.run(
        f"cat /sys/class/block/{Path(root).name}/../device/serial").strip()
    assert serial == "VSSD0000"


def test_data(foreign_guest: Guest) -> None:
    """What a file system and fio wrote and flushed is read back, and no command
    has waited for a timeout: with pins, an interrupt could be lost."""
    disk = foreign_guest.run(
        "d=$(grep -lw VSSD0001 /sys/class/nvme/*/serial);"
        " echo /dev/$(basename ${d%/serial})n1").strip()
    before: dict[str, Any] = foreign_guest.stats(1)
    foreign_guest.run(
        f"mkfs.ext4 -q {disk} && mount {disk} /mnt &&"
        " fio --name=x --directory=/mnt --size=16m --bs=16k --rw=randwrite"
        " --verify=crc32c --fsync=64 --output=/dev/null &&"
        " umount /mnt && echo 3 >/proc/sys/vm/drop_caches &&"
        f" e2fsck -fn {disk}")
    after: dict[str, Any] = foreign_guest.stats(1)
    assert after["host_bytes_written"] - before["host_bytes_written"] \
        >= 16 * MIB
    said = foreign_guest.run("dmesg")
    assert "nvme" in said
    assert not re.search("nvme.*(timeout, |polled)", said), said[-4000:]


def test_hot_plug(foreign_guest: Guest) -> None:
    """The drive in the slot goes and comes back."""
    if foreign_guest.live.spec.arch is arch.RISCV64:
        assert foreign_guest.run("ls /sys/bus/pci/slots") == ""
        pytest.skip("Debian's kernel of riscv64 has no pciehp")
    foreign_guest.qmp("qom-set", path="/machine/peripheral/ssd1",
                      property="powered", value=False)
    foreign_guest.run("for i in $(seq 300); do grep -qw VSSD0001"
                      " /sys/class/nvme/*/serial || exit 0; sleep 0.2; done;"
                      " exit 1")
    foreign_guest.qmp("qom-set", path="/machine/peripheral/ssd1",
                      property="powered", value=True)
    foreign_guest.run("for i in $(seq 300); do grep -qw VSSD0001"
                      " /sys/class/nvme/*/serial && exit 0; sleep 0.2; done;"
                      " exit 1")


@LONG
@pytest.mark.parametrize("name", arch.FOREIGN)
def test_run_keeps_writes(name: str, tmp_path: Path) -> None:
    """--keep, the exit status, both streams, --share and the network."""
    cache = {"VSSD_CACHE": str(tmp_path / "cache"),
             "VSSD_SHARED_CACHE": os.environ.get(
                 "VSSD_CACHE", os.path.expanduser("~/.cache/vssd"))}
    (tmp_path / "share").mkdir()
    (tmp_path / "share/in").write_text("of the host")
    first = vssd("run", "--arch", name, "--keep", "--share",
                 f"{tmp_path / 'share'}:/s", "--exec",
                 "cat /s/in; echo kept >/root/f; echo err >&2; ip route |"
                 " grep -c default; exit 7", env=cache)
    assert first.returncode == 7, first.stderr
    assert first.stdout == "of the host1\n"
    assert "err\n" in first.stderr
    again = vssd("run", "--arch", name, "--keep", "--exec",
                 "cat /root/f", env=cache)
    assert (again.returncode, again.stdout) == (0, "kept\n"), again.stderr


@LONG
@pytest.mark.parametrize("name", arch.FOREIGN)
def test_detached(name: str) -> None:
    """ssh, exec, stop."""
    run = f"{name}-test"
    vssd("stop", run, "--force")
    started = vssd("run", "--arch", name, "--detach", "--name", run, "--ssh")
    assert started.returncode == 0, started.stderr
    try:
        said = vssd("exec", "--run", run, "--", "uname -m")
        assert said.stdout == f"{name}\n", said.stderr
        said = vssd("ssh", "--run", run, "--", "hostname")
        assert said.stdout == "vssd\n", said.stderr
    finally:
        ended = vssd("stop", run)
    assert ended.returncode == 0, ended.stderr
