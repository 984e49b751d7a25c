# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress: plain lines in a log, bars on a terminal, and a redrawn line on a
terminal before the library for bars is installed."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from vssd import ending, ui
from vssd.errors import UserError, one_line
from vssd.paths import PROJECT

NO_RICH = "import sys; sys.modules['rich'] = None\n"
STAGES = """
import time
from vssd.ui import Stage, say
Stage.REPORT_S = 0
with Stage("outer"):
    with Stage("inner [x]") as stage:
        stage.step(1, 4, "a.c")
        time.sleep(0.5)
        say("a word")
try:
    with Stage("broken") as stage:
        stage.note("here")
        raise OSError
except OSError:
    pass
"""


def program(code: str) -> list[str]:
    """A Python program that may import vssd."""
    return [sys.executable, "-c",
            f"import sys; sys.path.insert(0, {str(PROJECT / 'scripts')!r})\n"
            + code]


def on_a_terminal(code: str) -> str:
    """What it writes to standard error, which is a terminal."""
    parent, child = pty.openpty()
    with subprocess.Popen(
            program(code), stderr=child, stdout=subprocess.PIPE,
            env=dict(os.environ, TERM="xterm", COLUMNS="100")) as proc:
        os.close(child)
        data = b""
        while True:
            try:
                more = os.read(parent, 4096)
            except OSError:  # the other end is closed
                break
            data += more
        assert proc.wait() == 0
        assert proc.stdout and proc.stdout.read() == b""
    os.close(parent)
    return data.decode()


def test_lines_in_a_log() -> None:
    """No control characters: a start, news and an end for each stage."""
    done = subprocess.run(program(STAGES), check=True, capture_output=True,
                          text=True)
    assert done.stdout == ""
    assert re.sub(r"\d+ s\b", "N s", done.stderr) == (
        "vssd: outer ...\n"
        "vssd: inner [x] ...\n"
        "vssd: inner [x]:  25 % [1/4] a.c (N s)\n"
        "vssd: a word\n"
        "vssd: inner [x]: done (N s, N s of CPU time)\n"
        "vssd: outer: done (N s, N s of CPU time)\n"
        "vssd: broken ...\n"
        "vssd: broken: here (N s)\n"
        "vssd: broken: failed (N s, N s of CPU time)\n")


def test_bars_on_a_terminal() -> None:
    """Both stages at once; what is said stays readable; the ends are told."""
    seen = on_a_terminal(STAGES)
    assert "\u2501" in seen and "[1/4] a.c" in seen
    assert "vssd: outer" in seen and "vssd: inner [x]" in seen
    for line in ("a word", "inner [x]: done (", "outer: done (",
                 "broken: failed ("):
        assert f"vssd: {line}" in seen


def test_a_redrawn_line_without_rich() -> None:
    """The first ./vssd setup on a bare machine."""
    seen = on_a_terminal(NO_RICH + STAGES)
    assert "\u2501" not in seen
    assert re.search(r"\r\x1b\[Kvssd: inner \[x\] +0 s   25 % \[1/4\] a\.c",
                     seen)
    assert "vssd: broken: failed (" in seen


def test_no_text_is_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters of files and programs reach no terminal."""
    bad = "a\x1b]0;x\x07\x9b2J \u00e4\x7f"
    shown = "a\\x1b]0;x\\x07\\x9b2J \u00e4\\x7f"
    ui.say(bad + "\n\tb")
    assert capsys.readouterr().err == f"vssd: {shown}\n\tb\n"
    assert one_line("\x1b[31m" + bad + "\n b") == f"{shown} b"

    def fails(error: Exception) -> str:
        def command() -> int:
            raise error
        assert ending.run(command) == ending.FAILED
        return capsys.readouterr().err

    assert fails(UserError(bad)) == f"vssd: {shown}\n"
    assert fails(OSError(2, "No such file", bad)) == \
        f"vssd: No such file ({shown})\n"
