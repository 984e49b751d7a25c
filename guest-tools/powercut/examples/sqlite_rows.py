# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows in SQLite, one in each transaction.

    sqlite_rows.py write JOURNAL SYNCHRONOUS    prints each row's number once it
                                                is committed
    sqlite_rows.py check                        every printed row is there

JOURNAL: delete, truncate, persist, wal.  SYNCHRONOUS: extra for the rollback
journals and full for wal make a commit durable; off does not.
"""

import os
import random
import sqlite3
import sys

FILE = "rows.db"


def write(journal: str, synchronous: str) -> None:
    """Insert row after row, until it is killed."""
    chance = random.Random(1)
    db = sqlite3.connect(FILE, isolation_level=None)
    db.execute(f"PRAGMA journal_mode={journal}")
    db.execute(f"PRAGMA synchronous={synchronous}")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)")
    for i in range(1, 1 << 30):
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t VALUES (?, ?)",
                   (i, chance.randbytes(chance.randrange(100, 6000))))
        if i > 20:
            db.execute("UPDATE t SET b = ? WHERE id = ?",
                       (chance.randbytes(300), chance.randrange(1, i)))
        db.execute("COMMIT")
        print(i, flush=True)


def check() -> str:
    """What is wrong; empty: nothing."""
    with open(os.environ["VSSD_NOTES"], encoding="ascii") as f:
        promised = [int(line) for line in f]
    if not promised and not os.path.exists(FILE):
        return ""
    try:
        db = sqlite3.connect(FILE)
        damage = [row[0] for row in db.execute("PRAGMA integrity_check")]
        have = {row[0] for row in db.execute("SELECT id FROM t")} \
            if promised else set()
    except sqlite3.Error as e:
        return f"SQLite: {e}"
    lost = [i for i in promised if i not in have]
    if lost:
        return f"{len(lost)} of {len(promised)} committed rows lost: {lost[:5]}"
    return "" if damage == ["ok"] else f"damage: {damage[:3]}"


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(*sys.argv[2:4])
    sys.exit(check() or 0)
