# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive with two controllers: Linux joins them to one disk of two paths
(docs/subsystem.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from long_form import DEVICE, of_part

from conftest import MIB, Env, blank, drive
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE)
SUBSYSTEM = ("d=$(dirname $(grep -lw VSSD0001"
             " /sys/class/nvme-subsystem/*/serial)); ")
FIO = ("fio --name=v --filename={dev} --aux-path=/run --ioengine=libaio"
       " --direct=1 --rw=randwrite --bs=4k --size=24m --iodepth=4"
       " --verify=crc32c --verify_fatal=1 --time_based=0 --rate_iops=600"
       " --output=/run/fio.out")
UNPLUG_S = 120


@pytest.fixture(scope="module")
def two_paths(env: Env, tmp_path_factory: pytest.TempPathFactory
              ) -> Iterator[Guest]:
    """A guest whose second drive has a controller in each of two slots."""
    folder = tmp_path_factory.mktemp("paths")
    data = drive(blank(folder / "data.raw", 256 * MIB), "raw", "zero-latency")
    data.slot = True
    data.controllers = 2
    with Guest(env.lean([drive(env.overlay(folder)), data])) as running:
        running.wait_agent()
        yield running


def controllers(guest: Guest) -> list[str]:
    """Of the data drive, as nvme1."""
    return guest.run(SUBSYSTEM + "cd $d && ls -d nvme[0-9] nvme[0-9][0-9]"
                     " 2>/dev/null; true").split()


def disk(guest: Guest) -> str:
    """The one block device of both paths."""
    return "/dev/" + guest.run(SUBSYSTEM + "basename $d/nvme*n1").strip()


def data_of(guest: Guest, command: str) -> Any:
    """What an nvme command says as JSON."""
    return json.loads(guest.run(command + " -o json"))


def wait_paths(guest: Guest, count: int) -> None:
    """Until the drive has so many controllers."""
    end = time.monotonic() + UNPLUG_S
    while len(controllers(guest)) != count:
        assert time.monotonic() < end, guest.run("dmesg | tail -30")
        time.sleep(1)


def test_one_disk_with_two_paths(two_paths: Guest) -> None:
    guest = two_paths
    assert guest.run("cat /sys/module/nvme_core/parameters/multipath").strip() \
        == "Y"
    wait_paths(guest, 2)
    names = controllers(guest)
    said = guest.run(f"nvme list-subsys {disk(guest)}")
    assert said.count(" live") == 2, said
    ids = {data_of(guest, f"nvme id-ctrl /dev/{n}")["cntlid"] for n in names}
    listed = data_of(guest, f"nvme list-ctrl /dev/{names[0]}")
    assert len(ids) == 2
    assert {c["ctrl_id"] for c in listed["ctrl_list"]} == ids
    assert len(guest.run(SUBSYSTEM + "ls -d $d/nvme*n1").split()) == 1


def test_reservation_of_the_host(two_paths: Guest) -> None:
    """One host holds it by both of its controllers: writes go on by each.  Its
    identifier has 128 bits, since nvme-cli asks for the report of those."""
    guest = two_paths
    wait_paths(guest, 2)
    dev = disk(guest)
    guest.run("printf '\\1\\2\\3\\4\\5\\6\\7\\10%08d' 0 >/run/host")
    for name in controllers(guest):
        guest.run(f"nvme set-feature /dev/{name} -f 0x81 --value=1 -l 16"
                  " -d /run/host")
    guest.run(f"nvme resv-register {dev} --nrkey=0xabc --rrega=0 &&"
              f" nvme resv-acquire {dev} --crkey=0xabc --rtype=1 --racqa=0")
    held = data_of(guest, f"nvme resv-report {dev}")
    assert held["rtype"] == 1 and held["regctl"] >= 1
    for policy in ("numa", "round-robin"):
        guest.run(SUBSYSTEM + f"echo {policy} >$d/iopolicy;"
                  f" dd if=/dev/zero of={dev} bs=4k count=64 oflag=direct")
    guest.run(f"nvme resv-release {dev} --crkey=0xabc --rtype=1 --rrela=0 &&"
              f" nvme resv-register {dev} --crkey=0xabc --rrega=1")
    assert data_of(guest, f"nvme resv-report {dev}")["regctl"] == 0


def test_a_path_error_goes_to_the_other_path(two_paths: Guest) -> None:
    """A rule ends half of the reads of one controller with Internal Path Error:
    Linux sends them again, and no read fails.  If all of them failed, Linux
    could choose the same path without end: it forgets the path that it took
    last, and begins with the first one that it found."""
    guest = two_paths
    path = "/machine/peripheral/ssd1"
    wait_paths(guest, 2)
    dev = disk(guest)
    guest.run(SUBSYSTEM + "echo round-robin >$d/iopolicy; dmesg -C")
    guest.qmp("qom-set", path=path, property="fault-add",
              value="cmd=read ctrl=0 prob=0.5 -> status 3/0")
    try:
        guest.run(f"dd if={dev} of=/dev/null bs=4k count=64 iflag=direct")
        rules = guest.qmp("qom-get", path=path, property="faults")
    finally:
        guest.qmp("qom-set", path=path, property="fault-remove",
                  value=guest.qmp("qom-get", path=path,
                                  property="faults")[0]["id"])
    said = guest.run("dmesg")
    print(rules, said)
    assert rules[0]["fired"] > 0
    assert "I/O error" not in said
    assert guest.run(f"nvme list-subsys {dev}").count(" live") == 2


def test_a_path_goes_and_comes_back_under_fio(two_paths: Guest) -> None:
    """No request fails, and what was written is there."""
    guest = two_paths
    wait_paths(guest, 2)
    dev = disk(guest)
    guest.run(SUBSYSTEM + "echo round-robin >$d/iopolicy")
    guest.run("rm -f /run/fio.*; (" + FIO.format(dev=dev)
              + "; echo $? >/run/fio.status) >/dev/null 2>&1 </dev/null &")
    guest.run("sleep 2")
    guest.qmp("device_del", id="ssd1c1")
    wait_paths(guest, 1)
    assert guest.run("cat /run/fio.status 2>/dev/null; true") == ""
    guest.run("for i in $(seq 600); do [ -s /run/fio.status ] && exit 0;"
              " sleep 0.5; done; cat /run/fio.out; exit 1")
    assert guest.run("cat /run/fio.status").strip() == "0", \
        guest.run("cat /run/fio.out; dmesg | tail -30")
    guest.qmp("device_add", driver="vssd-ctrl", id="again", subsys="ssd1",
              bus="slot1c1")
    wait_paths(guest, 2)
    said = guest.run(f"nvme list-subsys {dev}")
    assert said.count(" live") == 2, said
