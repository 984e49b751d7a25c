# SPDX-License-Identifier: GPL-2.0-or-later
"""sriov_vfs= in a guest: Linux enables virtual functions, nvme-cli brings their
controllers Online, the driver binds, and data is the drive's."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from vssd.guest.guest import Guest

SERIAL = "SRIOVDRIVE"
VQ, VI = 0, 1
OFFLINE, ASSIGN, ONLINE = 7, 8, 9


@dataclass
class Drive:
    """The drive's physical function, as the guest sees it."""

    guest: Guest
    name: str  # of its controller: nvme1
    pci: str   # its folder in sysfs

    def enable(self, n: int) -> None:
        """NumVFs; no driver looks at them by itself."""
        auto = f"{self.pci}/sriov_drivers_autoprobe"
        self.guest.run(f"echo 0 > {auto} && echo {n} > {self.pci}/sriov_numvfs"
                       f" && echo 1 > {auto}")

    def secondaries(self) -> list[tuple[int, int, int, int]]:
        """Of each: identifier, state, VQ and VI resources."""
        text = self.guest.run(f"nvme list-secondary /dev/{self.name}")
        found = re.findall(r"(?:SCID|SCS|NVQ|NVI) .*: (\w+)", text)
        assert len(found) == 4 * 3, text
        values = [int(value, 16) for value in found]
        fields = [values[i:i + 4] for i in range(0, len(values), 4)]
        return [(scid, scs, nvq, nvi) for scid, scs, nvq, nvi in fields]

    def manage(self, cntlid: int, action: int, kind: int = 0, n: int = 0,
               check: bool = True) -> str:
        """nvme virt-mgmt."""
        return self.guest.run(
            f"nvme virt-mgmt /dev/{self.name} -c {cntlid} -r {kind}"
            f" -a {action} -n {n} 2>&1", check=check)

    def online(self, cntlid: int, vq: int, vi: int) -> None:
        """With so many resources."""
        self.manage(cntlid, ASSIGN, VQ, vq)
        self.manage(cntlid, ASSIGN, VI, vi)
        self.manage(cntlid, ONLINE)

    def function(self, vf: int) -> str:
        """Address of a virtual function."""
        return self.guest.run(
            f"basename $(readlink {self.pci}/virtfn{vf})").strip()

    def bind(self, vf: int) -> str:
        """The driver's name of its controller."""
        address = self.function(vf)
        self.guest.run(f"echo {address} > /sys/bus/pci/drivers/nvme/bind")
        folder = f"/sys/bus/pci/devices/{address}/nvme"
        self.guest.run(
            f"for i in $(seq 300); do"
            f" grep -qs live {folder}/nvme*/state && exit 0; sleep 0.1; done;"
            " dmesg | tail; exit 1")
        return self.guest.run(f"ls {folder}").strip()

    def unbind(self, vf: int) -> None:
        """The driver shuts its controller down."""
        self.guest.run(f"echo {self.function(vf)}"
                       " > /sys/bus/pci/drivers/nvme/unbind")


@pytest.fixture(name="pf")
def sriov_drive(featured: Guest) -> Drive:
    """A drive with three virtual functions."""
    name = featured.run(f"grep -lw {SERIAL} /sys/class/nvme/*/serial")
    name = name.split("/")[-2]
    pci = featured.run(f"readlink -f /sys/class/nvme/{name}/device").strip()
    return Drive(featured, name, pci)


def copy(guest: Guest, to: str, where: int, source: str) -> None:
    """4 MiB of new data by one controller, found by another one."""
    guest.run(f"head -c 4M /dev/urandom > /tmp/data && dd if=/tmp/data of={to}"
              f" bs=1M seek={where} oflag=direct status=none &&"
              f" dd if={source} bs=1M skip={where} count=4 iflag=direct"
              " status=none | cmp - /tmp/data")


def test_capability(pf: Drive) -> None:
    """What Linux and nvme-cli read of it."""
    assert pf.guest.run(f"cat {pf.pci}/sriov_totalvfs").strip() == "3"
    assert pf.guest.run(f"cat {pf.pci}/sriov_numvfs").strip() == "0"
    text = pf.guest.run(f"nvme primary-ctrl-caps /dev/{pf.name}")
    caps = dict(re.findall(r"(\w+) +: (\w+)", text))
    assert caps["crt"] == "0x3", text
    assert caps["vqfrt"] == caps["vifrt"] == "9", text
    assert caps["vqprt"] == caps["viprt"] == "5", text
    assert caps["vqfrsm"] == caps["vifrsm"] == "5", text
    assert [x[1:] for x in pf.secondaries()] == [(0, 0, 0)] * 3


def test_life(pf: Drive) -> None:
    """Enable, assign, Online, bind, I/O, reset, Offline, disable, again."""
    guest = pf.guest
    for _ in range(2):
        ids = [x[0] for x in pf.secondaries()]
        assert "SECONDARY" in pf.manage(
            ids[0], ONLINE, check=False).upper()  # not there, no resources
        pf.enable(2)
        assert guest.run(f"ls -d {pf.pci}/virtfn* | wc -l").strip() == "2"
        pf.online(ids[0], 3, 3)
        pf.online(ids[1], 2, 1)
        pf.manage(ids[2], ASSIGN, VQ, 2)
        pf.manage(ids[2], ASSIGN, VI, 1)
        assert "SECONDARY" in pf.manage(
            ids[2], ONLINE, check=False).upper()  # the third is not there
        pf.manage(ids[2], OFFLINE)
        assert [x[1:] for x in pf.secondaries()] == \
            [(1, 3, 3), (1, 2, 1), (0, 0, 0)]
        first, second = pf.bind(0), pf.bind(1)
        counts = [int(guest.run(f"cat /sys/class/nvme/{name}/queue_count"))
                  for name in (first, second)]
        assert counts == [3, 2]
        copy(guest, f"/dev/{first}n1", 4, f"/dev/{pf.name}n1")
        copy(guest, f"/dev/{pf.name}n1", 8, f"/dev/{second}n1")
        copy(guest, f"/dev/{second}n1", 4, f"/dev/{first}n1")
        # Function level reset of one: the others do not see it.
        guest.run(f"echo 1 > /sys/bus/pci/devices/{pf.function(0)}/reset")
        copy(guest, f"/dev/{first}n1", 12, f"/dev/{second}n1")
        pf.unbind(0)
        pf.manage(ids[0], OFFLINE)
        copy(guest, f"/dev/{second}n1", 16, f"/dev/{pf.name}n1")
        pf.unbind(1)
        pf.enable(0)
        assert [x[1:] for x in pf.secondaries()] == [(0, 0, 0)] * 3


def test_reset_of_the_primary(pf: Drive) -> None:
    """It puts them Offline; the drive's data stays."""
    guest = pf.guest
    ids = [x[0] for x in pf.secondaries()]
    pf.enable(1)
    pf.online(ids[0], 3, 2)
    name = pf.bind(0)
    copy(guest, f"/dev/{name}n1", 20, f"/dev/{pf.name}n1")
    pf.unbind(0)
    guest.run(f"nvme reset /dev/{pf.name}")
    assert pf.secondaries()[0][1:] == (0, 0, 0)
    pf.online(ids[0], 2, 1)
    name = pf.bind(0)
    copy(guest, f"/dev/{pf.name}n1", 24, f"/dev/{name}n1")
    pf.unbind(0)
    pf.enable(0)
