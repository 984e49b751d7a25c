# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys in LevelDB (package python3-plyvel).

    leveldb_rows.py write [nosync]    prints each key once its write has returned
    leveldb_rows.py check             every printed key has its value

With nosync the writes do not wait for the drive.
"""

import hashlib
import os
import random
import sys

import plyvel

FOLDER = "rows.ldb"


def value_of(key: int) -> bytes:
    """The value of a key."""
    return hashlib.sha256(b"%d" % key).digest() * random.Random(key).randrange(
        1, 120)


def write(sync: bool) -> None:
    """Put key after key, until it is killed."""
    db = plyvel.DB(FOLDER, create_if_missing=True, write_buffer_size=256 << 10)
    for key in range(1, 1 << 30):
        db.put(b"%08d" % key, value_of(key), sync=sync)
        print(key, flush=True)


def check() -> str:
    """What is wrong; empty: nothing."""
    with open(os.environ["VSSD_NOTES"], encoding="ascii") as f:
        promised = [int(line) for line in f]
    if not promised and not os.path.exists(FOLDER):
        return ""
    try:
        db = plyvel.DB(FOLDER, paranoid_checks=True, create_if_missing=True)
        lost = [key for key in promised
                if db.get(b"%08d" % key, verify_checksums=True)
                != value_of(key)]
        db.close()
    except plyvel.Error as e:
        return f"LevelDB: {e}"
    return f"{len(lost)} of {len(promised)} keys lost: {lost[:5]}" if lost \
        else ""


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write("nosync" not in sys.argv)
    sys.exit(check() or 0)
