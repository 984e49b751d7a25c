# SPDX-License-Identifier: GPL-2.0-or-later
"""MQSim's speed on the inputs of bench sim, from the same text as vssd-sim.

It is set up from the facts of the same profile, with its data cache off and all
of its map in memory.  Its start-up counts, as it is one program.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from vssd import paths
from vssd.build.inputs import Input
from vssd.errors import UserError

from ..board import mqsim
from ..board.peer import facts_of_file
from . import child

NAME = mqsim.NAME


def check(path: Path) -> None:
    """Refuse what is no program."""
    if not path.is_file() or not os.access(path, os.X_OK):
        raise UserError(f"--peer {NAME}={path}: no such program")


def rate(program: Path, one: Input, text: Path, n: int) -> float:
    """Requests for each second of CPU time."""
    facts = facts_of_file(paths.find_profile(one.profile))
    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as folder:
        args, done = mqsim.files(Path(folder), mqsim.device(facts, False),
                                 mqsim.trace(facts, text))
        try:
            status, usage = child.run([program, *args])
        except OSError as e:
            raise UserError(f"--peer {NAME}={program}: {e.strerror}") from e
        if status != 0 or not done.is_file():
            raise UserError(f"--peer {NAME}={program}: could not play {one.name}:"
                            f" status {status}")
        played = mqsim.requests(done.read_text(encoding="utf-8"))
        if played != n:
            raise UserError(f"--peer {NAME}={program}: played {played} of {n}"
                            f" requests of {one.name}")
    return n / child.cpu_s(usage)
