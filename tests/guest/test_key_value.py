# SPDX-License-Identifier: GPL-2.0-or-later
"""A key-value namespace in Linux: its character device, by nvme-cli."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import number_of
from vssd.guest.guest import Guest
from vssd.guest.machine import Result

MIB = 1 << 20
STORE, RETRIEVE, LIST, DELETE, EXIST = 1, 2, 6, 16, 20


@pytest.fixture(name="guest")
def guest_with_pairs(featured: Guest) -> Guest:
    """A guest with a drive of two namespaces."""
    return featured


def name_of(guest: Guest) -> str:
    """nvme1, for /dev/ng1n1."""
    found = guest.run("grep -lw KV /sys/class/nvme/*/serial")
    return found.split("/")[-2]


def device(guest: Guest, kind: str, nsid: int) -> str:
    """The device of a namespace: kind "nvme" or, of characters, "ng"."""
    number = name_of(guest).removeprefix("nvme")
    return f"/dev/{kind}{number}n{number_of(guest, number, nsid)}"


def command(guest: Guest, opcode: int, key: str, more: str = "") -> str:
    """One command for namespace 1, as text."""
    raw = key.encode().ljust(16, b"\0")
    dwords = [int.from_bytes(raw[i:i + 4], "little") for i in (0, 4, 8, 12)]
    fields = " ".join(f"--cdw{n}={v:#x}"
                      for n, v in zip((2, 3, 14, 15), dwords))
    return (f"nvme io-passthru {device(guest, 'ng', 1)} --namespace-id=1 --opcode={opcode}"
            f" --cdw11={len(key)} {fields} {more}")


def text_of(result: Result) -> str:
    """What a command has printed."""
    return (result.out + result.err).decode()


def store(guest: Guest, key: str, nbytes: int) -> None:
    """A value of random bytes, which is /root/v-KEY, too."""
    guest.run(f"head -c {nbytes} /dev/urandom > /root/v-{key}")
    guest.run(command(guest, STORE, key,
                      f"--cdw10={nbytes} --data-len={nbytes} --write"
                      f" --input-file=/root/v-{key}"))


def test_devices(guest: Guest) -> None:
    """Namespace 1 has a character device and no block device, 2 has both."""
    name = name_of(guest)
    both = [device(guest, "ng", 1), device(guest, "ng", 2)]
    there = guest.run("ls /dev/ng*n* /dev/nvme*n* 2>/dev/null; true").split()
    assert set(both) < set(there)
    assert device(guest, "nvme", 2) in there
    blocks = guest.run("cat /sys/block/"
                       + Path(device(guest, "nvme", 1)).name
                       + "/size 2>/dev/null || echo 0")
    assert int(blocks) == 0
    found = json.loads(guest.run(f"nvme list-ns /dev/{name} --csi=1 -o json"))
    assert json.dumps(found).count('"nsid"') in (0, 1)


def test_commands(guest: Guest) -> None:
    """Each of the five."""
    for key, nbytes in (("a", 5), ("middle-key", 4096),
                        ("0123456789abcdef", 100000)):
        store(guest, key, nbytes)
        guest.run(command(guest, RETRIEVE, key,
                          "--cdw10=131072 --data-len=131072 --read"
                          " --raw-binary > /root/back;"
                          f" cmp -n {nbytes} /root/back /root/v-{key}"))
        guest.run(command(guest, EXIST, key))
    listed = guest.run(command(guest, LIST, "",
                               "--cdw10=4096 --data-len=4096 --read"
                               " --raw-binary | od -An -tu1 -v -w64"
                               " | head -1")).split()
    assert listed[:4] == ["3", "0", "0", "0"]
    assert bytes(int(x) for x in listed[4:6 + 16]) \
        == b"\x10\x00" + b"0123456789abcdef"
    guest.run(command(guest, DELETE, "a"))
    for opcode in (EXIST, DELETE):
        gone = guest.result(command(guest, opcode, "a"))
        assert gone.status != 0
        assert "0x87" in text_of(gone).lower() \
            or "does not exist" in text_of(gone).lower(), text_of(gone)


def test_other_namespace(guest: Guest) -> None:
    """Namespace 2 is a disk as any other."""
    dev = device(guest, "nvme", 2)
    guest.run(f"mkfs.ext4 -q {dev} && mount {dev} /mnt && cp /root/v-a /mnt/"
              " && sync && umount /mnt")
