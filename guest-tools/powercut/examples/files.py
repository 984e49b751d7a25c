# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in folders, made and replaced by a rename.

    files.py write [SKIP]    prints "NAME NUMBER" once that version is durable
    files.py check           each file has its printed version or a newer one

A version is written to another name and synced, renamed, and the folder is
synced.  SKIP: file, folder or both are not synced.
"""

import hashlib
import os
import random
import sys

FOLDERS = 4
NAMES = 30


def sync(path: str) -> None:
    """fsync() of a file or a folder."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def write(skip: str) -> None:
    """Go on until it is killed."""
    chance = random.Random(1)
    for i in range(1 << 30):
        folder = f"d{chance.randrange(FOLDERS)}"
        name = f"{folder}/f{chance.randrange(NAMES)}"
        if not os.path.exists(folder):
            os.mkdir(folder)
            sync(".")
        data = chance.randbytes(chance.randrange(1, 40000))
        head = f"{i} {hashlib.sha256(data).hexdigest()}\n"
        with open(f"{folder}/new", "wb") as f:
            f.write(head.encode() + data)
        if skip not in ("file", "both"):
            sync(f"{folder}/new")
        os.rename(f"{folder}/new", name)
        if skip not in ("folder", "both"):
            sync(folder)
        print(name, i, flush=True)


def version(name: str) -> int:
    """The number of a file's version; an error has a reason."""
    with open(name, "rb") as f:
        head, _, data = f.read().partition(b"\n")
    number, digest = head.decode("ascii").split()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError("its content is not what was written")
    return int(number)


def check() -> str:
    """What is wrong; empty: nothing."""
    with open(os.environ["VSSD_NOTES"], encoding="ascii") as f:
        promised = dict(line.split() for line in f)
    wrong = []
    for name, number in promised.items():
        try:
            if version(name) < int(number):
                wrong.append(f"{name} is an older version")
        except (OSError, ValueError) as e:
            wrong.append(f"{name}: {e}")
    return f"{len(wrong)} of {len(promised)} files wrong: {wrong[:3]}" \
        if wrong else ""


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2] if len(sys.argv) > 2 else "")
    sys.exit(check() or 0)
