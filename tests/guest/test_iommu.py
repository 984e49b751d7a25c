# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that translate the drive's DMA, with two vCPUs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from long_form import LONG

from conftest import MIB, Env, blank, drive, refused
from vssd.guest.guest import Guest

FIO = ("fio --name=x --filename=/dev/nvme1n1 --direct=1 --rw=randrw --bs=4k-128k"
       " --iodepth=16 --ioengine=libaio --size=8m --numjobs=1 --verify=crc32c"
       " --verify_fatal=1 --randseed=7 --output-format=json")


# Each unmapping is seen by the IOMMU at once: an address used too long faults.
STRICT = " iommu.passthrough=0 iommu.strict=1"


@pytest.mark.parametrize("device,append", [
    ("intel-iommu,intremap=off", " intel_iommu=on"),
    pytest.param("virtio-iommu-pci", "", marks=LONG)], ids=["intel", "virtio"])
def test_fio_behind_an_iommu(env: Env, tmp_path: Path, device: str,
                             append: str) -> None:
    """Root and data drive behind one: data verified, no fault, no error."""
    spec = env.lean([drive(env.overlay(tmp_path)),
                     drive(blank(tmp_path / "data.raw", 64 * MIB), "raw")],
                    extra=["-device", device])
    spec.append += append + STRICT
    with Guest(spec) as guest:
        guest.wait_agent()
        group = "/sys/class/nvme/nvme1/device/iommu_group/type"
        assert guest.run(f"cat {group}").strip() == "DMA"
        text = guest.run(FIO)
        job = json.loads(text[text.index("{"):])["jobs"][0]
        assert job["error"] == 0 and job["write"]["total_ios"] > 0
        assert not any(refused(guest).values())
        found = guest.run("dmesg | grep -ciE 'DMAR.*fault|I/O error"
                          "|fault from EP|nvme.*(timeout|reset)' || true")
        assert found.strip() == "0"
