# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs into a log: their CPU time, and two jobs side by side."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vssd import ending, proc
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.ui import Stage

LONG_S = 60
BUSY = ["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs go to a cache of the test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path))


def sleep() -> None:
    """A program that nobody waits for to the end."""
    proc.run_logged(["sleep", str(LONG_S)], "sleep", "sleeping")


def test_both_results() -> None:
    """They run at the same time."""
    begin = time.monotonic()

    def wait(name: str) -> str:
        proc.run_logged(["sleep", "1"], name, "sleeping")
        return name

    assert proc.together(lambda: wait("a"), lambda: wait("b")) == ("a", "b")
    assert time.monotonic() - begin < 1.9


@pytest.mark.parametrize("second", [False, True])
def test_an_error_ends_the_other(second: bool) -> None:
    """The error of the one that failed is raised, and none waits."""
    def fail() -> None:
        proc.run_logged(["sh", "-c", "sleep 0.2; echo error: gone; exit 3"],
                        "fails", "a step")

    begin = time.monotonic()
    with pytest.raises(UserError, match="a step failed: error: gone"):
        proc.together(*([sleep, fail] if second else [fail, sleep]))
    assert time.monotonic() - begin < LONG_S / 2
    proc.run_logged(["true"], "again", "a later program")


def test_an_error_after_the_end() -> None:
    """Of the caller, whose program has ended meanwhile: it is raised as it is."""
    def read(line: str) -> None:
        time.sleep(0.3)
        raise ValueError(line)

    with pytest.raises(ValueError, match="word"):
        proc.run_logged(["echo", "word"], "ends", "a step", on_line=read)


def test_sigterm_ends_both() -> None:
    """No program outlives the command."""
    code = ("import sys; from vssd import ending, proc\n"
            "def sleep(): proc.run_logged(['sleep', '61.5'], 'a', 'sleeping')\n"
            "def command(): print('on', flush=True); proc.together(sleep, sleep)\n"
            "sys.exit(ending.run(command))")
    with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE, start_new_session=True,
            env=dict(os.environ, PYTHONPATH=str(PROJECT / "scripts"))) as child:
        assert child.stdout and child.stdout.readline() == "on\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=LONG_S / 2)
        assert child.returncode == ending.TERMINATED, said
    left = subprocess.run(["pgrep", "-s", str(child.pid)], check=False,
                          capture_output=True, text=True).stdout
    assert left == ""


def test_cpu_time_of_a_stage(capfd: pytest.CaptureFixture[str]) -> None:
    """That of its programs, and not that of a stage beside it."""
    def stage(name: str, args: list[str]) -> float:
        with Stage(name):
            before = proc.cpu_s()
            proc.run_logged(args, name, name)
            return proc.cpu_s() - before

    busy, idle = proc.together(lambda: stage("busy", BUSY),
                               lambda: stage("idle", ["sleep", "0.1"]))
    assert busy > 0.1 > 0.05 > idle
    assert re.search(r"busy: done \(\d+ s, \d+ s of CPU time\)",
                     capfd.readouterr().err)
