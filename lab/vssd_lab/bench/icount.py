# SPDX-License-Identifier: GPL-2.0-or-later
"""Lateness in virtual time, which must be none."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from vssd.errors import UserError, one_line
from vssd.paths import PROJECT
from vssd.ui import Stage

from .rows import row


def measure() -> list[dict[str, Any]]:
    """The row of one run."""
    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as name:
        stats = Path(name) / "stats.json"
        with Stage("a guest in virtual time"):
            done = subprocess.run(
                [str(PROJECT / "vssd"), "run", "--icount", "--profile",
                 "read-40us", "--exec", "fio --name=i --filename=/dev/nvme0n1"
                 " --readonly --rw=randread --bs=4k --number_ios=5000"
                 " --ioengine=libaio --direct=1 --output=/dev/null",
                 "--stats", str(stats)], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(one_line(done.stderr.splitlines()[-1]))
        late = json.loads(stats.read_text())["lateness_ns"]
    return [row("icount_lateness_max", late["max"] / 1000, None, "us",
                "aim: 0")]
