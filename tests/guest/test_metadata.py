# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces with metadata and protection information, as Linux and nvme-cli
use them."""

from __future__ import annotations

import json

import pytest

from vssd.guest.guest import Guest
from vssd.guest.machine import Result


@pytest.fixture(name="protected")
def protected_guest(featured: Guest) -> Guest:
    """A guest with drives of three forms of metadata."""
    return featured


def text_of(result: Result) -> str:
    """What a command has printed."""
    return (result.out + result.err).decode()


def name_of(guest: Guest, serial: str) -> str:
    """nvme1, for /dev/nvme1n1 and /dev/ng1n1."""
    found = guest.run(f"grep -lw {serial} /sys/class/nvme/*/serial")
    return found.split("/")[-2]


@pytest.mark.parametrize(("serial", "form"), [
    ("T1", "T10-DIF-TYPE1-CRC"), ("G64", "EXT-DIF-TYPE1-CRC64")])
def test_integrity(protected: Guest, serial: str, form: str) -> None:
    """Linux knows the form, makes the tuples of its writes and checks those of
    its reads; files are what they should be."""
    name = name_of(protected, serial)
    at = f"/sys/block/{name}n1/integrity"
    assert protected.run(f"cat {at}/format").strip() == form
    assert protected.run(f"cat {at}/read_verify").strip() == "1"
    protected.run(f"mkfs.ext4 -q /dev/{name}n1; mkdir -p /mnt/m;"
                  f" mount /dev/{name}n1 /mnt/m;"
                  " head -c 20000000 /dev/urandom > /root/x; cp /root/x /mnt/m;"
                  " umount /mnt/m; echo 3 > /proc/sys/vm/drop_caches;"
                  f" mount /dev/{name}n1 /mnt/m; cmp /root/x /mnt/m/x;"
                  " fstrim /mnt/m; umount /mnt/m")
    smart = json.loads(protected.run(f"nvme smart-log /dev/{name} -o json"))
    assert smart["media_errors"] == 0
    assert "integrity" not in protected.run("dmesg | grep -i 'error' || true")


def test_formats(protected: Guest) -> None:
    """nvme-cli shows formats and protection."""
    ns = json.loads(protected.run(
        f"nvme id-ns /dev/{name_of(protected, 'T1')}n1 -o json"))
    assert [f["ms"] for f in ns["lbafs"]] == [0, 8]
    assert ns["flbas"] == 1
    assert ns["dps"] == 1
    assert ns["mc"] == 3
    assert ns["dpc"] == 0x1F
    text = protected.run(
        f"nvme nvm-id-ns /dev/{name_of(protected, 'G64')}n1 -o json")
    found = json.loads(text[text.index("{"):])
    assert any(f["pif"] == 2 for f in found["elbafs"]), found


def test_separate(protected: Guest) -> None:
    """nvme-cli writes data with metadata, made by the drive or by the host."""
    dev = f"/dev/{name_of(protected, 'T1')}n1"
    io = f"{dev} -s 100 -c 0 -z 512 -y 8"
    protected.run("head -c 512 /dev/urandom > /root/d")
    protected.run(f"nvme write {dev} -s 100 -c 0 -z 512 -d /root/d --prinfo=8"
                  " --ref-tag=100 --app-tag=0x1234 --app-tag-mask=0xffff")
    tags = "--prinfo=7 --ref-tag=100 --app-tag=0x1234 --app-tag-mask=0xffff"
    protected.run(f"nvme read {io} -d /root/e -M /root/m {tags};"
                  " cmp /root/d /root/e")
    tuple_text = protected.run("od -An -tx1 -v /root/m").split()
    assert tuple_text[2:] == ["12", "34", "00", "00", "00", "64"]
    protected.run(f"nvme write {io} -d /root/d -M /root/m {tags}")
    bad = protected.result(f"nvme read {io} -d /root/e -M /root/m --prinfo=7"
                           " --ref-tag=100 --app-tag=0x1235"
                           " --app-tag-mask=0xffff")
    assert bad.status != 0
    assert "Application Tag Check" in text_of(bad), text_of(bad)
    protected.run("printf '\\377\\377' | dd of=/root/m conv=notrunc status=none")
    bad = protected.result(f"nvme write {io} -d /root/d -M /root/m {tags}")
    assert "Guard Check" in text_of(bad), text_of(bad)


def test_extended(protected: Guest) -> None:
    """Linux has no block device of blocks of 520 bytes; nvme-cli has."""
    name = name_of(protected, "EXT")
    char = "/dev/ng" + name.removeprefix("nvme") + "n1"
    ns = json.loads(protected.run(f"nvme id-ns {char} -o json"))
    assert ns["flbas"] == 0x11
    protected.run("head -c 512 /dev/urandom > /root/d")
    passthru = f"nvme io-passthru {char} --namespace-id=1 --cdw10=8"
    protected.run(f"{passthru} --opcode=1 --write --data-len=512"
                  " --input-file=/root/d --cdw12=0x20000000 --cdw14=77")
    protected.run(f"{passthru} --opcode=2 --read --data-len=520 --raw-binary"
                  " --cdw12=0x14000000 --cdw14=77 > /root/e;"
                  " cmp -n 512 /root/d /root/e")
    tail = protected.run("tail -c 4 /root/e | od -An -tx1").split()
    assert tail == ["00", "00", "00", "4d"]
    bad = protected.result(f"{passthru} --opcode=2 --read --data-len=520"
                           " --cdw12=0x14000000 --cdw14=78")
    assert "Reference Tag Check" in text_of(bad), text_of(bad)
