# SPDX-License-Identifier: GPL-2.0-or-later
"""An image is swapped under a namespace whose name in Linux stays (docs/namespaces.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from long_form import DEVICE, of_part

from conftest import MIB, Env, drive
from vssd import paths
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE)
PATH = "/machine/peripheral/pair"
EVENT_S = 120
UDEV = ("/usr/lib/systemd/systemd-udevd --daemon; udevadm trigger --action=add"
        " --subsystem-match=block")


def image(path: Path, text: bytes) -> Path:
    """An image of 64 MiB that begins with the text."""
    with path.open("wb") as f:
        f.truncate(64 * MIB)
        f.write(text)
    return path


def node(path: Path, name: str) -> dict[str, object]:
    """A block node of an image, as in -blockdev."""
    return {"driver": "raw", "node-name": name,
            "file": {"driver": "file", "filename": str(path)}}


def wait_names(guest: Guest, fits: Callable[[set[str]], bool]) -> set[str]:
    """The disk of the drive's namespace 2 and its links in /dev/disk/by-id, once they
    are as wanted."""
    end = time.monotonic() + EVENT_S
    while True:
        found = set(guest.run(
            "udevadm settle; for d in /sys/class/nvme/*/nvme*n*/nsid; do"
            " case $(cat $d):$(cat ${d%/*/*}/serial) in 2:PAIR*) n=${d%/nsid}; n=/dev/${n##*/};"
            " echo $n; find -L /dev/disk/by-id -samefile $n;; esac; done 2>/dev/null;"
            " true").split())
        if fits(found):
            return found
        assert time.monotonic() < end, (found, guest.run("dmesg | tail -5"))
        time.sleep(1)


def with_links(names: set[str]) -> bool:
    """Has udev seen it?"""
    return any("nvme-uuid." in name for name in names)


@pytest.mark.parametrize("identity", ["keep", "new"])
def test_an_image_is_swapped(env: Env, tmp_path: Path, identity: str) -> None:
    """The names go and come back, with the data of the other image; those that have
    the UUID are others with a new identity.  The first image has what was written."""
    parts = [image(tmp_path / name, name.encode()) for name in ("one", "two", "new")]
    extra = [word for i in (0, 1)
             for word in ("-blockdev", json.dumps(node(parts[i], f"n{i}")))]
    extra += ["-device", json.dumps({
        "driver": "vssd", "id": "pair", "drive": "n0", "drive2": "n1", "serial": "PAIR",
        "profile": str(paths.find_profile("zero-latency"))})]
    with Guest(env.lean([drive(env.overlay(tmp_path))], extra=extra)) as guest:
        guest.wait_agent()
        guest.run(UDEV)
        before = wait_names(guest, with_links)
        (disk,) = (name for name in before if "by-id" not in name)
        assert guest.run(f"head -c 3 {disk}") == "two"
        guest.run(f"printf mine | dd of={disk} bs=4k seek=1 conv=sync oflag=direct status=none")
        guest.qmp("qom-set", path=PATH, property="namespace-remove", value=2)
        wait_names(guest, lambda names: not names)
        assert guest.result(f"test -e {disk}").status != 0
        guest.qmp("blockdev-add", **node(parts[2], "n2"))
        guest.qmp("qom-set", path=PATH, property="namespace-insert",
                  value=f"2=n2;identity={identity}")
        after = wait_names(guest, with_links)
        assert disk in after
        assert all("uuid" in name for name in before ^ after)
        assert (before != after) == (identity == "new")
        assert guest.run(f"head -c 3 {disk}") == "new"
    assert parts[1].read_bytes()[4096:4100] == b"mine"
