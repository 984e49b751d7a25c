# SPDX-License-Identifier: GPL-2.0-or-later
"""The load of exercise 4, in the guest: files of three lifetimes, in turns.

    files_load.py FOLDER [STEPS]

FOLDER/journal is written round and round, FOLDER/tables/* live for a few steps,
FOLDER/photos/* for many.
"""

import os
import sys
from random import Random

KIB, MIB = 1 << 10, 1 << 20
JOURNAL = 4 * MIB
TABLES = 60   # at a time, of 128 KiB
PHOTOS = 740  # the same


def put(path: str, data: bytes, at: int = 0) -> None:
    """Write a part of a file, durable."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.pwrite(fd, data, at)
    os.fdatasync(fd)
    os.close(fd)


def main(folder: str, steps: int) -> None:
    """All of it."""
    chance = Random(1)
    for name in ("tables", "photos"):
        os.mkdir(f"{folder}/{name}")
    written = 0
    for step in range(steps):
        put(f"{folder}/journal", chance.randbytes(128 * KIB), written)
        written = (written + 128 * KIB) % JOURNAL
        put(f"{folder}/tables/{step}", chance.randbytes(128 * KIB))
        if step >= TABLES:
            os.unlink(f"{folder}/tables/{step - TABLES}")
        photo = step if step < PHOTOS else chance.randrange(PHOTOS)
        put(f"{folder}/photos/{photo}", chance.randbytes(128 * KIB))
    os.sync()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
