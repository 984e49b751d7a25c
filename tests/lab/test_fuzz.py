# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fuzz, with a program in place of libFuzzer: what is counted, what is
a failure, when it ends."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd_lab.cli import fuzz as cmd_fuzz
from vssd_lab.cli import main as cli


def campaign(folder: Path, script: str) -> cmd_fuzz.Campaign:
    """One whose program is a shell script."""
    program = folder / "program"
    program.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    program.chmod(0o755)
    for part in ("corpus", "failed"):
        (folder / part).mkdir()
    return cmd_fuzz.Campaign(program, folder, folder / "seeds", 104)


def options(*args: str) -> argparse.Namespace:
    """./vssd fuzz's arguments, checked."""
    found = cli.parser().parse_args(["fuzz", *args])
    cmd_fuzz.check(found)
    return found


@pytest.mark.parametrize("args, says", [
    (["--executions", "0"], "--executions 0: allowed 1 or more, it is below 1"),
    (["--minutes", "-1"], "--minutes -1: allowed 0 or more, it is below 0"),
    (["--jobs", "0"], "--jobs 0: allowed 1..256, it is below 1"),
    (["--length", "7"], "--length 7: allowed 8..1M, it is below 8"),
])
def test_refused(args: list[str], says: str) -> None:
    """In one line that names the option."""
    with pytest.raises(UserError) as e:
        options(*args)
    assert str(e.value) == says


def test_counts_every_process_of_every_round(tmp_path: Path) -> None:
    """By what libFuzzer prints at its end, and no more than was asked for."""
    c = campaign(tmp_path, "for a; do case $a in -runs=*) n=${a#-runs=};; esac;"
                 " done\n[ $n -gt 400 ] && n=400\n"
                 "printf '#%s\\tDONE   cov: 77 ft: 80\\n' $n\n"
                 "echo stat::number_of_executed_units: $n\n")
    cmd_fuzz.run(c, options("--executions", "1000", "--jobs", "2"))
    assert (c.executions, c.edges, c.failed) == (1000, 77, [])


def test_a_failure_ends_it(tmp_path: Path) -> None:
    """With the line that says what it was; what ran before it counts."""
    c = campaign(tmp_path, "printf '#12\\tpulse  cov: 7 ft: 8\\n'\n"
                 "echo 'x.c:3:5: runtime error: shift exponent 64'\n"
                 "echo '==1==ERROR: AddressSanitizer: ABRT'\n"
                 "echo stat::number_of_executed_units: 13\nexit 77\n")
    cmd_fuzz.run(c, options("--executions", "1000"))
    assert c.executions == 13
    assert c.failed == ["x.c:3:5: runtime error: shift exponent 64"]


def test_ends_in_time(tmp_path: Path) -> None:
    """--minutes, handed on to libFuzzer; an interrupted process has not failed,
    and what it had done by then counts."""
    c = campaign(tmp_path, "printf '#12\\tpulse  cov: 7 ft: 8\\n'; sleep 1;"
                 " exit 72\n")
    begin = time.monotonic()
    cmd_fuzz.run(c, options("--minutes", "0.05"))
    assert time.monotonic() - begin < 30
    assert c.executions >= 12 and c.executions % 12 == 0 and not c.failed


def test_processes_end_with_it(tmp_path: Path) -> None:
    """SIGTERM to the command: none of its processes stays."""
    campaign(tmp_path, "echo $$ > \"$(dirname \"$0\")/pid\"; exec sleep 300\n")
    code = ("import signal, sys; sys.path[:0] = sys.argv[1].split(':');"
            "from pathlib import Path;"
            "from vssd_lab.cli import fuzz as cmd_fuzz, main as cli;"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143));"
            "f = Path(sys.argv[2]);"
            "c = cmd_fuzz.Campaign(f / 'program', f, f / 'seeds', 104);"
            "cmd_fuzz.run(c, cli.parser().parse_args(['fuzz']))")
    with subprocess.Popen([sys.executable, "-c", code,
                           f"{PROJECT}/scripts:{PROJECT}/lab", str(tmp_path)]) as proc:
        pid = tmp_path / "pid"
        deadline = time.monotonic() + 60
        while not (pid.exists() and pid.read_text().strip()):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        child = int(pid.read_text())
        proc.send_signal(signal.SIGTERM)
        assert proc.wait(60) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
