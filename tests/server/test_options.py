# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of the drive: those of -device vssd, with their names and ranges."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from test_server import host_of, refused
from vmm import LIMIT_S, PROJECT, Server, Vmm

TABLE = PROJECT / "hw-ssd/nvme/nvme-options.h"
PAGES = [(PROJECT / "docs" / name).read_text()
         for name in ("qemu-device.md", "vfio-user.md")]


def rows() -> list[str]:
    """Names of the table that the device and the server share."""
    text = TABLE.read_text()
    return [name for name in re.findall(
        r"^    X\(\w+, [\w ]+\*?,\s+(?:\\\s+)?([\w.]+),", text, re.M)
            + re.findall(r"NVME_ATOMIC_ROW\(X, (\S+),", text)
            if name != "name"]


def test_one_table() -> None:
    """Each row is an option of the server, and on the page of the device."""
    shown = subprocess.run([os.environ["VSSD_SERVER"], "--help"],
                           capture_output=True, text=True, timeout=LIMIT_S,
                           check=True).stdout
    assert len(rows()) > 30
    for name in rows():
        assert f"--{name}=" in shown, name
        assert f"`{name}=" in PAGES[0], name


@pytest.mark.parametrize("name, value, words", [
    ("num_queues", "65", "--num_queues=65: allowed 1..64"),
    ("num_vectors", "66", "--num_vectors=66: allowed 0..65"),
    ("queue_size", "1", "--queue_size=1: allowed 2..65536"),
    ("mdts", "11", "--mdts=11: allowed 1..10"),
    ("eui64", "0x10000000000000000", "--eui64=0x10000000000000000: allowed"),
    ("serial", "x" * 21, "allowed are 1..20 printable"),
    ("model", "x" * 41, "allowed are 1..40 printable"),
    ("backlog", "1K", "--backlog=1K: allowed 1MiB..1TiB"),
    ("kv_cache", "1K", "--kv_cache=1K: allowed 256KiB..16GiB"),
    ("fw_slots", "8", "--fw_slots=8: allowed 1..7"),
    ("fw_activation_ms", "60001", "allowed 0..60000"),
    ("power_return_ms", "-1", "--power_return_ms=-1: allowed 0..3600000"),
    ("sgl", "maybe", "--sgl=maybe: allowed on, off"),
    ("pi_at", "end", "--pi_at=end: allowed first, last"),
    ("metadata_at", "x", "--metadata_at=x: allowed separate, extended"),
])
def test_ranges(tmp_path: Path, image: Path, name: str, value: str,
                words: str) -> None:
    """A bad value is one line with the name and the range."""
    assert words in refused("--profile", "tiny", "--image", str(image),
                            "--socket", str(tmp_path / "s"),
                            f"--{name}={value}")


def test_identify(tmp_path: Path, image: Path) -> None:
    """What they give is in Identify Controller and Identify Namespace."""
    with Server(tmp_path, image, "--serial", "S1", "--model", "M 1", "--mdts",
                "3", "--fw_slots", "5", "--sgl", "on", "--queue_size", "64",
                "--eui64", "0x1122334455667788", "--num_vectors", "3") as \
            server, Vmm(server.socket, msix=False) as vmm:
        host = host_of(vmm)
        data = host.identify(1)
        assert data[4:24].split() == [b"S1"] and data[24:64].strip() == b"M 1"
        assert data[77] == 3
        assert data[260] >> 1 & 7 == 5
        assert struct.unpack_from("<I", data, 536)[0] & 3
        assert host.identify(0, 1)[120:128].hex() == "1122334455667788"
        assert host.reg_read(0) & 0xFFFF == 63  # CAP.MQES
        assert host.pci.read(host.pci.capability(0x11)) >> 16 & 0x7FF == 2

