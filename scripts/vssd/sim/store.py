# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of points, one file each, so that an interrupted command goes on."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import UserError
from ..paths import check_folder, replacing
from .run import Point, Result


class Store:
    """The results that are there.  `version` is the content of vssd-sim."""

    def __init__(self, folder: Path, version: bytes) -> None:
        self.folder = folder
        self.version = version
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise UserError(f"{folder}: {e.strerror}") from e
        check_folder("results", folder, "name another --out")

    def _file(self, point: Point) -> Path:
        return self.folder / f"{point.key(self.version)}.json"

    def get(self, point: Point) -> Result | None:
        """The result of a point, if it has been run."""
        try:
            result: Result = json.loads(self._file(point).read_bytes())
        except (OSError, ValueError):
            return None
        return result

    def put(self, point: Point, result: Result) -> None:
        """Keep it: wholly, or not at all."""
        file = self._file(point)
        try:
            with replacing(file) as f:
                f.write(json.dumps(result).encode() + b"\n")
        except OSError as e:
            raise UserError(f"{file}: {e.strerror}") from e
