# SPDX-License-Identifier: GPL-2.0-or-later
"""The controller memory buffer in a guest: Linux enables it by itself."""

from __future__ import annotations

from conftest import MIB
from vssd.guest.guest import Guest


def test_linux_uses_it(featured: Guest) -> None:
    """A kernel with PCI_P2PDMA puts its submission queues into the buffer; one
    without (Debian's) enables it and finds that it cannot use it.  Data is
    right either way, also after a reset of the controller."""
    guest = featured
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
