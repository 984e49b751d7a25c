# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in the guest: writers that note what they have been promised, and the
check of those promises after a power cut.

    crash_load.py files|wal|rollback FOLDER NOTES    until an error ends it
    crash_load.py check FOLDER NOTES...              one line; status 1: losses

NOTES is a path that the cut does not reach.  files: each file written, fsync()ed, and
its folder too.  wal, rollback: SQLite, one row in each transaction, durable when
it is committed: in WAL mode that is synchronous=FULL; with a rollback journal
EXTRA, which also syncs the folder after the journal is deleted.

A promise is noted after one more fsync() of the folder.  When an error of another
thread has stopped F2FS's checkpoint, an fsync() that runs already may return 0; one
that begins later fails (Linux 6.12, f2fs_sync_fs() and f2fs_sync_file()).
"""

import hashlib
import os
import random
import sqlite3
import sys
from collections.abc import Callable


def files(folder: str, note: Callable[[str], None]) -> None:
    """Write file after file."""
    chance = random.Random(os.getpid())
    directory = os.open(folder, os.O_RDONLY)
    for i in range(1 << 30):
        name = f"f{os.getpid()}-{i}"
        data = chance.randbytes(chance.randrange(1, 60000))
        fd = os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY, 0o600)
        assert os.write(fd, data) == len(data)
        os.fsync(fd)
        os.close(fd)
        os.fsync(directory)
        os.fsync(directory)
        note(f"{name} {hashlib.sha256(data).hexdigest()}")
        if i % 40 == 39:
            for k in range(i - 39, i - 19):
                note(f"f{os.getpid()}-{k} gone")
                os.unlink(f"{folder}/f{os.getpid()}-{k}")


def database(folder: str, mode: str, note: Callable[[str], None]) -> None:
    """Insert row after row."""
    db = sqlite3.connect(f"{folder}/{mode}.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=" + ("WAL" if mode == "wal" else "DELETE"))
    db.execute("PRAGMA synchronous=" + ("FULL" if mode == "wal" else "EXTRA"))
    db.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, b BLOB)")
    directory = os.open(folder, os.O_RDONLY)
    last = db.execute("SELECT coalesce(max(id), 0) FROM t").fetchone()[0]
    for i in range(last + 1, 1 << 30):
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t VALUES (?, randomblob(?))",
                   (i, 100 + i % 5000))
        db.execute("COMMIT")
        os.fsync(directory)
        note(str(i))


def lost_files(folder: str, notes: list[str]) -> list[str]:
    """Files that are not as they were when they were noted last."""
    newest = dict(line.split(" ", 1) for line in notes)
    lost = []
    for name, digest in newest.items():
        try:
            with open(f"{folder}/{name}", "rb") as f:
                found = hashlib.sha256(f.read()).hexdigest()
        except OSError as e:
            found = str(e)
        if digest not in ("gone", found):
            lost.append(f"{name}: {found}")
    return lost


def lost_rows(folder: str, mode: str, notes: list[str]) -> list[str]:
    """Rows that were noted and are not there; damage to the database."""
    if not notes:
        return []  # perhaps there is no table yet
    try:
        db = sqlite3.connect(f"{folder}/{mode}.db")
        damage = [row[0] for row in db.execute("PRAGMA integrity_check")]
        have = {row[0] for row in db.execute("SELECT id FROM t")}
        db.close()
    except sqlite3.Error as e:
        return [f"{mode}: {e}"]
    lost = [f"{mode} row {i}" for i in notes if int(i) not in have]
    return lost + [f"{mode}: {d}" for d in damage if d != "ok"]


def check(folder: str, paths: list[str]) -> int:
    """Compare what is there with the notes."""
    lost = []
    total = 0
    for path in paths:
        with open(path, encoding="ascii") as f:
            notes = [line for line in f.read().split("\n")[:-1] if line]
        kind = os.path.basename(path).split("-")[0]
        total += len(notes)
        lost += lost_files(folder, notes) if kind == "files" else \
            lost_rows(folder, kind, notes)
    print(f"promised {total} lost {len(lost)}", "; ".join(lost[:5]))
    return 1 if lost else 0


def main(args: list[str]) -> int:
    """See the head of this file."""
    kind, folder = args[:2]
    if kind == "check":
        return check(folder, args[2:])
    with open(args[2], "a", encoding="ascii", buffering=1) as out:
        def note(text: str) -> None:
            out.write(text + "\n")

        try:
            if kind == "files":
                files(folder, note)
            else:
                database(folder, kind, note)
        except (OSError, sqlite3.Error) as e:
            print(f"{kind} ended: {e}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
