# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches for a source tree, by patch(1), without fuzz."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from ..errors import UserError
from ..proc import log_file, run_logged

HUNK = re.compile(r"^Hunk #\d+ FAILED at \d+")
FILE = re.compile(r"^(?:patching|checking) file '?(?P<name>[^'\n]+)'?")


def _command(tree: Path, patch: Path) -> list[str | Path]:
    return ["patch", "-p1", "-f", "-F0", "--no-backup-if-mismatch", "-d", tree,
            "-i", patch.resolve()]


def apply(tree: Path, patch: Path, log: str, of: str) -> set[str]:
    """Apply one patch; the files that it changed.  log: the name of the log, of:
    what the tree is, for messages."""
    said: list[str] = []
    try:
        run_logged([*_command(tree, patch), "-N"], log,
                   "applying " + patch.name, on_line=said.append,
                   env={"LC_ALL": "C"})
    except UserError as e:
        raise UserError(f"{patch.name} does not apply to {of}:"
                        f" {_complaint(said)} (log: {log_file(log)})") from e
    return {m["name"] for m in map(FILE.match, said) if m}


def applied(tree: Path, patch: Path) -> bool:
    """Does the tree have it already?"""
    return subprocess.run([*_command(tree, patch), "-R", "--dry-run"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False
                          ).returncode == 0


def _complaint(said: list[str]) -> str:
    name = ""
    for line in said:
        m = FILE.match(line)
        if m:
            name = m["name"]
        if HUNK.match(line):
            return f"{name}: {line}"
        if "Reversed (or previously applied)" in line:
            return f"{name}: it is there already"
        if "can't find file" in line or "malformed patch" in line \
                or "Only garbage" in line:
            return line.removeprefix("patch: **** ")
    return said[-1] if said else "no output"
