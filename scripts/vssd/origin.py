# SPDX-License-Identifier: GPL-2.0-or-later
"""Which vssd made a result, and on which machine: the members that results of
vssd-sim have, too (core/about.c)."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .paths import PROJECT

SCHEMA_VERSION = 1  # of the objects that carry origin()
COMMIT_FILE = PROJECT / "commit"  # in a package, which has no git


def version() -> str:
    """The version of vssd, which meson.build names."""
    text = (PROJECT / "meson.build").read_text(encoding="utf-8")
    found = re.search(r"^ *version: '([^']+)'", text, re.M)
    assert found, "meson.build names no version"
    return found[1]


def commit() -> str:
    """The last commit that changed the sources of the model and the device;
    "" where neither a package nor git names it."""
    if COMMIT_FILE.is_file():
        return COMMIT_FILE.read_text(encoding="ascii").strip()
    try:
        text = subprocess.run(
            ["sh", str(PROJECT / "core/about-commit.sh"), str(PROJECT)],
            capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    found = re.search(r'"(.*)"', text)
    return found[1] if found else ""


def version_text() -> str:
    """For --version: "vssd 1.2.3 (commit abc)"."""
    made_of = commit()
    return f"vssd {version()}" + (f" (commit {made_of})" if made_of else "")


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    return found[1].strip() if found else ""


def origin() -> dict[str, Any]:
    """The members `schema_version`, `vssd` and `host`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "vssd": {"version": version(), "commit": commit()},
        "host": {"kernel": f"{platform.system()} {platform.release()}"
                           f" {platform.machine()}",
                 "processor": _processor(),
                 "cores": len(os.sched_getaffinity(0))},
    }


def write(members: dict[str, Any]) -> None:
    """An object with its origin as JSON on standard output."""
    json.dump({**origin(), **members}, sys.stdout, indent=2)
    print()
