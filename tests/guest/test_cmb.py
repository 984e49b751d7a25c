# SPDX-License-Identifier: GPL-2.0-or-later
"""The controller memory buffer in a guest: Linux enables it by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conftest import MIB, Env, blank, drive
from vssd import paths
from vssd.guest.guest import Guest


@pytest.fixture(scope="module", name="guest")
def cmb_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Beside the root, a drive with 16 MiB of the buffer."""
    folder = tmp_path_factory.mktemp("cmb")
    path = blank(folder / "disk.raw", 64 * MIB)
    profile = paths.find_profile("tlc-generic")
    extra = ["-blockdev", f"driver=raw,file.driver=file,file.filename={path},"
             "node-name=cmbdisk", "-device",
             f"vssd,id=cmbssd,drive=cmbdisk,profile={profile},serial=CMBDRIVE,"
             "cmb=16M"]
    with Guest(env.spec([drive(env.overlay(folder))], extra=extra)) as running:
        running.wait_agent()
        yield running


def test_linux_uses_it(guest: Guest) -> None:
    """A kernel with PCI_P2PDMA puts its submission queues into the buffer; one
    without (Debian's) enables it and finds that it cannot use it.  Data is
    right either way, also after a reset of the controller."""
    name = guest.run("grep -lw CMBDRIVE /sys/class/nvme/*/serial").split("/")[-2]
    folder = f"/sys/class/nvme/{name}"
    sizes = guest.run(f"cat {folder}/device/resource").splitlines()[2].split()
    assert int(sizes[1], 16) - int(sizes[0], 16) + 1 == 16 * MIB
    if "=y" in guest.run("grep -w CONFIG_PCI_P2PDMA /boot/config-$(uname -r)",
                         check=False):
        text = guest.run(f"cat {folder}/cmb")
        assert "cmbloc : 0x00000042" in text, text
        assert "cmbsz  : 0x0100001f" in text, text
        free = int(guest.run(f"cat {folder}/device/p2pmem/available"))
        assert free < 16 * MIB
    else:
        assert f"{name}: failed to register the CMB" in guest.run("dmesg")
    for _ in range(2):
        guest.run("head -c 8M /dev/urandom > /tmp/data && dd if=/tmp/data"
                  f" of=/dev/{name}n1 bs=1M oflag=direct status=none &&"
                  f" dd if=/dev/{name}n1 bs=1M count=8 iflag=direct"
                  " status=none | cmp - /tmp/data")
        guest.run(f"nvme reset /dev/{name}")
