# SPDX-License-Identifier: GPL-2.0-or-later
"""A store of keys and values for exercise 5 of the course.

put() promises that the value is durable when it returns.  This version does
not keep the promise in a power cut.
"""

import os


class Store:
    """A log of changes, and a snapshot that replaces what the log began with.

    Keys and values are text without spaces and line ends.
    """

    def __init__(self, folder: str) -> None:
        """Read what is in the folder; it may be as a power cut left it."""
        self.folder = folder
        self.values: dict[str, str] = {}
        for name in ("snapshot", "log"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                self._read(path)
        self.log = open(os.path.join(folder, "log"), "a", encoding="ascii")  # noqa: SIM115

    def _read(self, path: str) -> None:
        with open(path, encoding="ascii") as f:
            for line in f:
                key, value = line.split()
                self.values[key] = value

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return self.values.get(key)

    def put(self, key: str, value: str) -> None:
        """The value is durable when this returns."""
        self.values[key] = value
        self.log.write(f"{key} {value}\n")
        self.log.flush()

    def checkpoint(self) -> None:
        """Write all values to a new snapshot, and begin the log again."""
        path = os.path.join(self.folder, "snapshot")
        with open(path + ".new", "w", encoding="ascii") as f:
            for key, value in self.values.items():
                f.write(f"{key} {value}\n")
        os.rename(path + ".new", path)
        self.log.truncate(0)
