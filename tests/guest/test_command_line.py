# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd run from outside: command lines that are copied, signals, and files that
only one run may use."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from long_form import START, of_part

from conftest import Env, load, vssd
from vssd import paths, rundir

README = (paths.PROJECT / "README.md").read_text()
BOOT_S = 1500
QUIT = b"\x01x"  # to QEMU's multiplexer of standard input


def read_until(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    """What a program says, up to this."""
    assert process.stdout
    said = b""
    end = time.monotonic() + BOOT_S
    while wanted not in said and time.monotonic() < end:
        ready, _, _ = select.select([process.stdout], [], [], 5)
        data = os.read(process.stdout.fileno(), 65536) if ready else b""
        if ready and not data:
            break
        said += data
    return said


def in_shell(script: str, folder: Path) -> subprocess.Popen[bytes]:
    """As a user pastes it, where the project is."""
    for name in ("vssd", "profiles"):
        (folder / name).symlink_to(paths.PROJECT / name)
    return subprocess.Popen(["sh", "-e", "-c", script], cwd=folder,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def test_readme_lines(env: Env, tmp_path: Path) -> None:
    """Copied verbatim they start QEMU with the drive in it."""
    block, = re.findall(r"```sh\n(qemu=.*?)```", README, re.S)
    with in_shell(block, tmp_path) as shell:
        assert shell.stdin
        shell.stdin.write(b"\x01cinfo pci\nquit\n")  # to the monitor
        shell.stdin.flush()
        out, err = shell.communicate(timeout=BOOT_S)
    assert shell.returncode == 0, err
    assert b"Class 0264" in out, out  # PCI: NVM Express
    assert (tmp_path / "disk.qcow2").exists()


@of_part(*START)
def test_a_printed_command_boots(env: Env, tmp_path: Path) -> None:
    """The same guest; what it writes is forgotten."""
    before = env.image.disk.stat().st_mtime_ns
    line = vssd("run", "--print-command", "--profile", "zero-latency",
                "--set", "nand.read=1us")
    assert line.returncode == 0, line.stderr
    assert line.stdout.count("\n") == 1
    with in_shell("exec " + line.stdout, tmp_path) as shell:
        said = read_until(shell, b"login: ")
        assert shell.stdin
        shell.stdin.write(QUIT)
        shell.stdin.flush()
        _, err = shell.communicate(timeout=60)
    assert b"vssd login: " in said, said[-2000:] + err
    assert env.image.disk.stat().st_mtime_ns == before


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_signal_ends_a_run(env: Env, tmp_path: Path,
                             number: signal.Signals) -> None:
    """The console's file grows while the guest runs; its state is nobody
    else's; at the end all that was asked for is there."""
    names = {n: tmp_path / n for n in ("stats", "console", "qemu-log", "state")}
    options = [x for n, p in names.items() for x in (f"--{n}", str(p))]
    with subprocess.Popen(
            [str(paths.PROJECT / "vssd"), "run", "--profile", "zero-latency",
             "--exec", "echo up; sleep 100000", *options, "--", "-trace",
             "vssd_*"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as run:
        assert b"up\n" in read_until(run, b"up\n")
        assert b"Linux version" in names["console"].read_bytes()
        state = str(names["state"])
        for args in (["run", "--state", state, "--exec", "true"],
                     ["age", "tiny", "-o", state],
                     ["sim", "run", "--profile", "tiny", "--save-state", state]):
            done = vssd(*args)
            assert done.returncode == 1
            assert done.stderr.splitlines()[-1].endswith(
                f"in use by another vssd (process {run.pid})"), done.stderr
        run.send_signal(number)
        _, err = run.communicate(timeout=300)
    assert run.returncode == 128 + number, err
    assert b"drive: profile zero-latency" in err
    assert b"vssd_" not in err.replace(b"vssd_agent", b"")
    assert load(names["stats"])["requests"] > 0
    assert names["state"].stat().st_size > 1000
    assert re.search(rb"^vssd_\w+ ", names["qemu-log"].read_bytes(), re.M)
    assert list(rundir.runs_dir().iterdir()) == []
