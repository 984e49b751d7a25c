# SPDX-License-Identifier: GPL-2.0-or-later
"""Seconds from ./vssd run to the login prompt, and their CPU time."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vssd.errors import UserError, one_line
from vssd.paths import PROJECT
from vssd.proc import wait_used
from vssd.ui import Stage

from .rows import row

LOGIN_S = 1800
STAGE_DONE = re.compile(
    r"^vssd: (.*): done \((\d+) s, (\d+) s of CPU time\)$", re.M)


def _seconds_to_login(command: Path, env: dict[str, str],
                      more: Sequence[str] = (),
                      said: int = subprocess.DEVNULL) -> tuple[float, float]:
    """With the CPU time, to the end of the command; said: where the stages of the
    command go."""
    begin = time.monotonic()
    proc = subprocess.Popen(
        [str(command), "run", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=said, env=env)
    assert proc.stdin and proc.stdout
    try:
        seen = b""
        while b"login: " not in seen:
            data = os.read(proc.stdout.fileno(), 65536)
            if not data or time.monotonic() - begin > LOGIN_S:
                raise UserError("./vssd run showed no login prompt")
            seen = seen[-64:] + data
        took = time.monotonic() - begin
    finally:
        proc.terminate()
        proc.stdout.close()
        proc.stdin.close()
        cpu_s = wait_used(proc)
    return took, cpu_s


def _name(kind: str, more: Sequence[str]) -> str:
    return "_".join(["login", kind, *(x.lstrip("-") for x in more)])


def warm(rounds: int, more: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Seconds from ./vssd run, with these options, to the login prompt; all of
    it is built."""
    env = dict(os.environ)
    _seconds_to_login(PROJECT / "vssd", env, more)
    with Stage("./vssd run to the login prompt"):
        runs = [_seconds_to_login(PROJECT / "vssd", env, more)[0]
                for _ in range(rounds)]
    return [row(_name("warm", more), statistics.median(runs), None,
                "s", "median of " + ", ".join(f"{r:.1f}" for r in runs))]


def cold(more: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The same in a fresh clone with an empty cache, and the CPU time of all of
    it and of each stage.  Stages run side by side."""
    env = {k: v for k, v in os.environ.items() if k != "VSSD_SHARED_CACHE"}
    with tempfile.TemporaryDirectory(prefix="vssd-cold-") as name:
        clone, cache = Path(name) / "clone", Path(name) / "cache"
        done = subprocess.run(
            ["git", "clone", "-q", str(PROJECT), str(clone)],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError("git clone: " + one_line(done.stderr))
        with Stage("./vssd run in a fresh clone, empty cache"), \
                tempfile.TemporaryFile("w+") as said:
            took, cpu_s = _seconds_to_login(
                clone / "vssd", dict(env, VSSD_CACHE=str(cache)), more,
                said.fileno())
            said.seek(0)
            stages = STAGE_DONE.findall(said.read())
    name = _name("cold", more)
    return [row(name, took, None, "s",
                "Debian packages that were there already are not counted"),
            row(name + "_cpu", cpu_s, None, "s", "CPU time, guest included"),
            *(row(f"{name}_cpu: {title}", float(cpu), None, "s",
                  f"CPU time, in {length} s") for title, length, cpu in stages)]
