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
from long_form import LONG, START, of_part

from conftest import MIB, Env, blank, vssd
from vssd import paths

NAME = "test-powercut"
WRITE = "while :; do echo more >>/root/f; sync; done"
# On the drive in the slot: note something, write until it is gone, and look for
# the note when the drive is back.
FIND = ("find() { f=$(grep -lw DATA1 /sys/block/nvme*/device/serial 2>/dev/null)"
        " && d=/dev/$(basename $(dirname $(dirname $f))) &&"
        " [ $(blockdev --getsize64 $d 2>/dev/null || echo 0) -gt 0 ]; }; ")
# nocreat: where the device was, a file of that name would take what comes.
RETURN = (FIND + "find && echo note | dd of=$d bs=4k conv=sync,fsync"
          " 2>/dev/null && echo ready;"
          " while dd if=/dev/zero of=$d bs=4k seek=1 count=1 oflag=direct"
          " conv=nocreat 2>/dev/null; do :; done; echo gone;"
          " for i in $(seq 600); do find && { head -c 4 $d; exit 7; };"
          " sleep 0.1; done; exit 1")


class Run:
    """A ./vssd run in the background; what it says is in files."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.out, self.err = folder / "out", folder / "err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [str(paths.PROJECT / "vssd"), "run", "--name", NAME, *args],
                stdout=out,
                stderr=err, stdin=subprocess.DEVNULL, env=dict(os.environ))

    def wait_for(self, text: str, seconds: float = 1500) -> None:
        """Until the guest has said this."""
        end = time.monotonic() + seconds
        while text not in self.out.read_text():
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < end, self.err.read_text()
            time.sleep(0.2)

    def end(self, seconds: float = 1500) -> int:
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


def powercut(mode: str, drive: str = "") -> None:
    """Cut, and be told so."""
    done = vssd("powercut", "--run", NAME, "--mode", mode,
                *(["--drive", drive] if drive else []))
    assert done.returncode == 0, done.stderr
    assert f"cut the power of {drive or 'ssd0'}: {mode}" in done.stderr


@of_part(*START, "scripts/vssd/cli/powercut.py", "ftl/power/", "hw-ssd/nvme/")
@pytest.mark.parametrize("mode", ["reset", pytest.param("stop", marks=LONG)])
def test_machine_ends(env: Env, tmp_path: Path, mode: str) -> None:
    """The command is gone with the machine; what was synced before is there in
    the next run."""
    disk = env.overlay(tmp_path)
    with run(tmp_path, "--profile", "tlc-generic", "--disk", str(disk), "--keep",
             "--exec",
             f"echo kept >/root/kept; sync; echo ready; {WRITE}") as running:
        running.wait_for("ready")
        powercut(mode)
        assert running.end() != 0
        said = running.err.read_text()
        assert "the guest ended" in said and "Traceback" not in said
    done = vssd("run", "--profile", "tlc-generic", "--disk", str(disk), "--exec",
                "cat /root/kept; sort -u /root/f")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "kept"
    assert set(done.stdout.splitlines()[1:]) <= {"more"}


def test_drive_returns(env: Env, tmp_path: Path) -> None:
    """One drive of two goes, and comes back with what was synced; the guest
    goes on."""
    image = blank(tmp_path / "data.raw", 64 * MIB)
    slot = ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            "-device", "pcie-root-port,id=slot1,slot=1",
            "-blockdev", f"driver=file,filename={image},node-name=data0",
            "-device", "vssd,id=data,bus=slot1,drive=data0,serial=DATA1,profile="
            + str(paths.find_profile("tlc-generic"))]
    with run(tmp_path, "--exec", RETURN, "--", *slot) as running:
        running.wait_for("ready")
        powercut("running", "data")
        assert running.end() == 7, running.err.read_text()
    assert running.out.read_text() == "ready\ngone\nnote"


def test_nothing_to_cut(tmp_path: Path) -> None:
    """One line, and no trace."""
    done = vssd("powercut", env={"VSSD_RUNS": str(tmp_path)})
    assert done.returncode != 0
    assert "no guest runs" in done.stderr and "Traceback" not in done.stderr
