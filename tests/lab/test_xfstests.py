# SPDX-License-Identifier: GPL-2.0-or-later
"""Our files for xfstests (guest-tools/suites/xfstests), without a checkout."""

from __future__ import annotations

import configparser
import os
import subprocess
from pathlib import Path

import pytest

from vssd_lab.suites import runner, xfstests

FOLDER = runner.OURS / "xfstests"
# Programs that write what they were called with; "dead" is there while the
# drive has no power.
STUBS = {
    "findmnt": 'echo "${SOURCE:-/dev/mapper/powercut}"',
    "blockdev": "echo 1000",
    "dmsetup": 'echo "dmsetup $*" >> log; [ "$1" != table ] ||'
               ' echo "0 1000 linear 259:0 0"',
    "cut": 'echo "cut $*" >> log',
    "src/godown.shutdown": 'echo "shutdown $*" >> log',
}


def test_sections() -> None:
    """Each has all that xfstests needs: a section that is not run gives the
    others nothing."""
    config = configparser.ConfigParser(interpolation=None)
    config.optionxform = str  # type: ignore[assignment,method-assign]
    config.read(FOLDER / "local.config")
    assert config.sections() == ["xfs", "xfs_powercut", "ext4",
                                 "ext4_powercut", "f2fs"]
    for name in config.sections():
        section = config[name]
        assert section["FSTYP"] == name.split("_")[0]
        assert set(section) == {"FSTYP", "TEST_DEV", "TEST_DIR", "SCRATCH_DEV",
                                "SCRATCH_MNT", "RECREATE_TEST_DEV"}
        assert section["SCRATCH_DEV"] == (
            "/dev/mapper/powercut" if "_" in name else "$DRIVE")


def godown(work: Path, *args: str, **env: str) -> tuple[int, list[str], str]:
    """Status, what the stubs were called with, and the error of src/godown."""
    (work / "src").mkdir(exist_ok=True)
    for name, text in STUBS.items():
        (work / name).write_text(f"#!/bin/sh\n{text}\n")
        (work / name).chmod(0o755)
    program = work / "src/godown"
    program.write_text((FOLDER / "power-cut/godown").read_text())
    program.chmod(0o755)
    (work / "log").unlink(missing_ok=True)
    done = subprocess.run(
        [program, *args], cwd=work, capture_output=True, text=True,
        check=False, env={"PATH": f"{work}:{os.environ['PATH']}", **env})
    log = work / "log"
    return (done.returncode, log.read_text().splitlines() if log.exists()
            else [], done.stderr)


def test_other_file_systems_are_shut_down(tmp_path: Path) -> None:
    """Without POWER_CUT_CMD, and on another device, as ever."""
    assert godown(tmp_path, "-f", "/mnt") == (0, ["shutdown -f /mnt"], "")
    assert godown(tmp_path, "-f", "/mnt", POWER_CUT_CMD="cut",
                  SOURCE="/dev/sda") == (0, ["shutdown -f /mnt"], "")


def test_a_cut_that_fails_is_said(tmp_path: Path) -> None:
    """The file system is not shut down, and the test fails."""
    status, log, said = godown(tmp_path, "/mnt", POWER_CUT_CMD="false")
    assert status == 1 and "shutdown /mnt" not in log
    assert said.splitlines()[-1] == "godown: POWER_CUT_CMD failed"


@pytest.mark.parametrize(("said", "cuts", "result", "reason"), [
    ("generic/388 60s ...  42s\nRan: generic/388\nPassed all 1 tests\n", 4,
     "pass", "4 power cuts"),
    ("generic/388 60s ...  42s\nRan: generic/388\nPassed all 1 tests\n", 0,
     "fail", "0 power cuts"),
    ("generic/388       [not run] xfs does not support shutdown\n"
     "Ran: generic/388\nNot run: generic/388\nPassed all 1 tests\n", 1,
     "skip", "xfs does not support shutdown"),
    ("generic/388 60s ... [failed, exit status 1]- output mismatch\n"
     "    +cycle mount failed\nRan: generic/388\nFailures: generic/388\n", 2,
     "fail", "2 power cuts; generic/388 60s ... [failed, exit status 1]- output"
     " mismatch +cycle mount failed"),
    ("generic/388 - unknown test, ignored\nPassed all 0 tests\n", 0, "fail",
     "no result: power cuts: 7 SECTION -- xfs_powercut generic/388 - unknown"
     " test, ignored Passed all 0 tests power cuts: 7"),
])
def test_results(said: str, cuts: int, result: str, reason: str) -> None:
    """Those of `check` of xfstests, between the drive's counts of losses."""
    text = (f"power cuts: 7\nSECTION -- xfs_powercut\n{said}"
            f"power cuts: {7 + cuts}\n")
    rows = xfstests.rows("xfs:generic/388", text)
    assert [(r.result, r.reason) for r in rows] == [(result, reason)]


def test_setup_refuses(tmp_path: Path) -> None:
    """A drive or a checkout that is none, in one line."""
    done = subprocess.run([FOLDER / "power-cut/setup", "/dev/null", tmp_path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "whose src/godown is built" in done.stderr
