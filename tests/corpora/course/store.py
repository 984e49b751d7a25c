# SPDX-License-Identifier: GPL-2.0-or-later
"""A solution of exercise 5.

Each line has a checksum, so that a torn one is dropped; the log is synced
before put() returns, the snapshot before it gets its name, and the directory
before the log begins again.
"""

import os
import zlib


class Store:
    """A log of changes, and a snapshot that replaces what the log began with."""

    def __init__(self, folder: str) -> None:
        """Read what is in the folder; drop a torn end of the log."""
        self.folder = folder
        self.values: dict[str, str] = {}
        for name in ("snapshot", "log"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                self._read(path)
        self.log = open(os.path.join(folder, "log"), "ab")  # noqa: SIM115
        self._sync_folder()

    def _read(self, path: str) -> None:
        with open(path, "rb") as f:
            for line in f:
                words = line.split()
                if len(words) != 3 or not line.endswith(b"\n") \
                        or words[2] != self._sum(words[0], words[1]):
                    break
                self.values[words[0].decode()] = words[1].decode()

    @staticmethod
    def _sum(key: bytes, value: bytes) -> bytes:
        return b"%08x" % zlib.crc32(key + b" " + value)

    def _line(self, key: str, value: str) -> bytes:
        k, v = key.encode(), value.encode()
        return b"%s %s %s\n" % (k, v, self._sum(k, v))

    def _sync_folder(self) -> None:
        fd = os.open(self.folder, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return self.values.get(key)

    def put(self, key: str, value: str) -> None:
        """The value is durable when this returns."""
        self.values[key] = value
        self.log.write(self._line(key, value))
        self.log.flush()
        os.fdatasync(self.log.fileno())

    def checkpoint(self) -> None:
        """Write all values to a new snapshot, and begin the log again."""
        path = os.path.join(self.folder, "snapshot")
        with open(path + ".new", "wb") as f:
            for key, value in self.values.items():
                f.write(self._line(key, value))
            f.flush()
            os.fsync(f.fileno())
        os.rename(path + ".new", path)
        self._sync_folder()
        self.log.truncate(0)
