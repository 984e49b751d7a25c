# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd powercut, while ./vssd run has a guest that writes.

The guest of `run --exec` says when it is ready, into a file that the test reads;
nothing waits for a console.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Env, vssd

from vssd import paths

WRITE = "while :; do echo more >>/root/f; sync; done"
# The drive is away for a second; Linux finds out by a command that has no answer.
RETURN = ("for i in $(seq 300); do echo $i >/root/f; sync;"
          " nvme smart-log /dev/nvme0 | grep -q 'unsafe_shutdowns.*: [1-9]' &&"
          " { sync; echo back; exit 7; }; sleep 0.2; done; exit 1")


class Run:
    """A ./vssd run in the background; what it says is in files."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.out, self.err = folder / "out", folder / "err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [str(paths.PROJECT / "vssd"), "run", *args], stdout=out,
                stderr=err, stdin=subprocess.DEVNULL, env=dict(os.environ))

    def wait_for(self, text: str, seconds: float = 300) -> None:
        """Until the guest has said this."""
        end = time.monotonic() + seconds
        while text not in self.out.read_text():
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < end, self.err.read_text()
            time.sleep(0.2)

    def end(self, seconds: float = 300) -> int:
        """Until it has ended; its status."""
        return self.process.wait(seconds)


@contextlib.contextmanager
def run(folder: Path, *args: str) -> Iterator[Run]:
    """One that is ended in any case."""
    started = Run(folder, *args)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.terminate()
            started.process.wait(60)


def powercut(mode: str) -> None:
    """Cut, and be told so."""
    done = vssd("powercut", "--mode", mode)
    assert done.returncode == 0, done.stderr
    assert f"cut the power of ssd0: {mode}" in done.stderr


@pytest.mark.parametrize("mode", ["reset", "stop"])
def test_machine_ends(env: Env, tmp_path: Path, mode: str) -> None:
    """The command is gone with the machine; what was synced before is there in
    the next run."""
    disk = env.overlay(tmp_path)
    with run(tmp_path, "--disk", str(disk), "--keep", "--exec",
             f"echo kept >/root/kept; sync; echo ready; {WRITE}") as running:
        running.wait_for("ready")
        powercut(mode)
        assert running.end() != 0
        said = running.err.read_text()
        assert "the guest ended" in said and "Traceback" not in said
    done = vssd("run", "--disk", str(disk), "--exec",
                "cat /root/kept; sort -u /root/f")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "kept"
    assert set(done.stdout.splitlines()[1:]) <= {"more"}


def test_drive_returns(env: Env, tmp_path: Path) -> None:
    """The guest goes on when its root is back."""
    with run(tmp_path, "--param", "nvme_core.io_timeout=4", "--param",
             "nvme_core.admin_timeout=4", "--exec",
             f"nvme smart-log /dev/nvme0 >/dev/null; echo ready; {RETURN}") \
            as running:
        running.wait_for("ready")
        powercut("running")
        running.wait_for("back")
        assert running.end() == 7


def test_nothing_to_cut(env: Env) -> None:
    """One line, and no trace."""
    done = vssd("powercut")
    assert done.returncode != 0
    assert "no guest runs" in done.stderr and "Traceback" not in done.stderr
