# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that are overwritten in place, and trusted to be old or new.

    pages.py write BYTES      prints "PAGE NUMBER" once that version is durable
    pages.py check            each page is whole, and not older than printed

A page is one write with O_DIRECT, at a multiple of its size; there is no journal
and no checksum.  So it relies on a drive that does not tear BYTES (AWUPF).
"""

import mmap
import os
import random
import sys

FILE = "pages"
PAGES = 64


def content(page: int, number: int, size: int) -> bytes:
    """All of a page, of one version."""
    return b"%07d %07d\n" % (page, number) * (size // 16)


def write(size: int) -> None:
    """Overwrite one page after the other, until it is killed."""
    chance = random.Random(1)
    fd = os.open(FILE, os.O_CREAT | os.O_RDWR)
    os.write(fd, b"".join(content(p, 0, size) for p in range(PAGES)))
    os.fsync(fd)
    os.close(fd)
    fd = os.open(FILE, os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, size)  # aligned
    for number in range(1, 1 << 30):
        chosen = chance.sample(range(PAGES), 8)
        for p in chosen:
            page[:] = content(p, number, size)
            os.pwrite(fd, page, p * size)
        os.fdatasync(fd)
        for p in chosen:
            print(p, number, flush=True)


def check() -> str:
    """What is wrong; empty: nothing."""
    with open(os.environ["VSSD_NOTES"], encoding="ascii") as f:
        promised = {int(page): int(number)
                    for page, number in (line.split() for line in f)}
    if not promised:
        return ""
    torn, old = [], []
    size = os.path.getsize(FILE) // PAGES
    with open(FILE, "rb") as f:
        for p in range(PAGES):
            data = f.read(size)
            number = int(data[8:15]) if data[8:15].isdigit() else -1
            if data != content(p, number, size):
                torn.append(p)
            elif number < promised.get(p, 0):
                old.append(p)
    return f"{len(torn)} of {PAGES} pages torn, {len(old)} old" \
        if torn or old else ""


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(int(sys.argv[2]))
    sys.exit(check() or 0)
