# SPDX-License-Identifier: GPL-2.0-or-later
"""The storm, and tests of threads, with the thread sanitizer: data races in our
files.

Only with --long: all of QEMU is built once more for it.  Races in QEMU's own
files are QEMU's; those where the guest's memory is one side are the guest's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import storm as storm_module
from storm import storm

EMULATOR = "VSSD_QEMU_TSAN"  # set by ./vssd test --long
OURS = re.compile(r"(hw[-/]ssd|vssd/(ftl|nand|core))/")
ACCESS = re.compile(r"^  (?:Previous )?(?:atomic )?(?:[Rr]ead|[Ww]rite) of size",
                    re.MULTILINE)
FRAME = re.compile(r"^    #\d+ (\S+) (\S+)", re.MULTILINE)
STEPS = 300
GIB = 1 << 30


def races(text: str) -> list[str]:
    """The reports in which one of the two accesses is in a file of ours."""
    found = []
    for report in text.split("==================\n"):
        if "data race" not in report:
            continue
        parts = ACCESS.split(report)[1:]
        for part in parts:
            stack = part.split("\n\n")[0]
            frames = [f for f in FRAME.findall(stack)
                      if "/" in f[1] and "tsan" not in f[1]]
            if frames and OURS.search(frames[0][1]):
                found.append(report)
                break
    return found


REPORT = """==================
WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 8 at 0x7b by thread T2 (mutexes: write M1):
    #0 memcpy <null> (qemu-system-x86_64+0x1)
    #1 {0} {1}:1:2 (qemu-system-x86_64+0x2)

  Previous read of size 8 at 0x7b by main thread:
    #0 aio_poll ../util/aio-posix.c:1:2 (qemu-system-x86_64+0x3)

==================
"""


def test_which_races_are_ours() -> None:
    """The reader of reports, by two of them."""
    ours = REPORT.format("vssd_run", "/src/hw/ssd/serve.c")
    theirs = REPORT.format("thread_pool", "../util/thread-pool.c")
    assert len(races(ours + theirs)) == 1
    assert not races(theirs)


def sanitized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VSSD_QEMU is the program with the sanitizer, which reports to tmp_path."""
    if EMULATOR not in os.environ:
        pytest.skip("QEMU with the thread sanitizer: ./vssd test --long")
    # The sanitizer wants its shadow where Linux may have put something else.
    program = tmp_path / "qemu"
    program.write_text(f"#!/bin/sh\nexec setarch -R {os.environ[EMULATOR]} "
                       '"$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VSSD_QEMU", str(program))
    monkeypatch.setenv("TSAN_OPTIONS", f"log_path={tmp_path}/report exitcode=0 "
                       "report_signal_unsafe=0 history_size=4")


def check_reports(tmp_path: Path) -> None:
    """QEMU has races of its own, so a run without any report has not been looked
    at."""
    reports = list(tmp_path.glob("report.*"))
    assert reports, "the sanitizer has written nothing"
    found = races("".join(p.read_text() for p in reports))
    assert not found, found[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_storm_without_races(seed: int, tmp_path: Path,
                             monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread reads what another writes without a lock or an atomic."""
    sanitized(tmp_path, monkeypatch)
    # To name a place in a report takes seconds, for which a thread stands still.
    monkeypatch.setattr(storm_module, "LIMIT_S", 600)
    storm(seed, STEPS, 8 * GIB)
    check_reports(tmp_path)


@pytest.mark.parametrize("name", ["hold", "serve", "self_unplug"])
def test_threads_without_races(name: str, tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in tests of threads that need neither TCG nor trace-events."""
    sanitized(tmp_path, monkeypatch)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         Path(__file__).with_name(f"test_{name}.py")],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    check_reports(tmp_path)
