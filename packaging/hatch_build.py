# SPDX-License-Identifier: GPL-2.0-or-later
"""A hook of hatchling: the file `commit` of a wheel, which has no git."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Adds one file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """The commit as core/about-commit.sh finds it."""
        if self.target_name != "wheel":
            return
        text = subprocess.run(
            ["sh", f"{self.root}/core/about-commit.sh", self.root],
            capture_output=True, text=True, check=True).stdout
        found = re.search('"(.*)"', text)
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "commit"
        path.write_text((found[1] if found else "") + "\n")
        build_data["force_include"][str(path)] = "vssd_sources/commit"
