# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomic writes as Linux takes them from the drive: limits of the queue, and
writes with RWF_ATOMIC to the block device and to files (docs/power.md)."""

from __future__ import annotations

import pytest

from test_metadata import name_of
from vssd.guest.guest import Guest

# One write of SIZE bytes at OFFSET with RWF_ATOMIC; prints the error.
WRITE = """python3 - <<'END'
import mmap, os
fd = os.open("{path}", os.O_RDWR | os.O_DIRECT | os.O_CREAT)
page = mmap.mmap(-1, {size})
page[:] = b"a" * {size}
try:
    assert os.pwritev(fd, [page], {offset}, 0x40) == {size}
    print("written")
except OSError as e:
    print(e.strerror)
END
"""


def write(guest: Guest, path: str, size: int, offset: int = 0) -> str:
    """What Linux says to it."""
    return guest.run(WRITE.format(path=path, size=size, offset=offset)).strip()


@pytest.mark.parametrize(("serial", "most", "boundary"), [
    ("WHOLE", 65536, 0), ("CMBDRIVE", 4096, 4096), ("TORN", 512, 0)])
def test_limits(featured: Guest, serial: str, most: int, boundary: int) -> None:
    """Linux has NAWUPF and NABSPF; a block device takes an atomic write up to
    them, at a multiple of its size, and no other."""
    name = name_of(featured, serial)
    queue = f"/sys/block/{name}n1/queue/atomic_write_"
    found = {key: int(featured.run(f"cat {queue}{key}_bytes"))
             for key in ("max", "unit_min", "unit_max", "boundary")}
    assert found == {"max": most, "unit_min": 512, "unit_max": most,
                     "boundary": boundary}
    disk = f"/dev/{name}n1"
    assert write(featured, disk, most, most) == "written"
    assert write(featured, disk, 2 * most) == "Invalid argument"
    assert write(featured, disk, most, most + 256) == "Invalid argument"
    if most > 512:
        assert write(featured, disk, most, 512) == "Invalid argument"


def test_file_systems_of_6_12(featured: Guest) -> None:
    """Linux 6.12 has atomic writes to block devices only."""
    name = name_of(featured, "WHOLE")
    assert featured.run("uname -r").startswith("6.12.")
    featured.run(f"mkfs.ext4 -q -F /dev/{name}n1 && mkdir -p /mnt/whole &&"
                 f" mount /dev/{name}n1 /mnt/whole")
    try:
        assert write(featured, "/mnt/whole/f", 4096) \
            == "Operation not supported"
    finally:
        featured.run("umount /mnt/whole")
