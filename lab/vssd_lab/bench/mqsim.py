# SPDX-License-Identifier: GPL-2.0-or-later
"""MQSim's speed on the inputs of bench sim, from the same text as vssd-sim.

It is set up from the facts of the same profile, with its data cache off and all
of its map in memory.  Its start-up counts, as it is one program.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from vssd import paths
from vssd.build.inputs import Input
from vssd.errors import UserError

from ..board import mqsim
from ..board.peer import facts_of_file

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
            proc = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        except OSError as e:
            raise UserError(f"--peer {NAME}={program}: {e.strerror}") from e
        _, status, usage = os.wait4(proc.pid, 0)
        proc.returncode = os.waitstatus_to_exitcode(status)
        if proc.returncode != 0 or not done.is_file():
            raise UserError(f"--peer {NAME}={program}: could not play {one.name}:"
                            f" status {proc.returncode}")
        played = mqsim.requests(done.read_text(encoding="utf-8"))
        if played != n:
            raise UserError(f"--peer {NAME}={program}: played {played} of {n}"
                            f" requests of {one.name}")
    return n / (usage.ru_utime + usage.ru_stime)
