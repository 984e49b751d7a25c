# SPDX-License-Identifier: GPL-2.0-or-later
"""lib/examples/vfio-client.c: the client without a virtual machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from vmm import LIMIT_S, PROJECT, Server

SOURCE = PROJECT / "lib/examples/vfio-client.c"


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """It, compiled without a warning."""
    path = tmp_path / "vfio-client"
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c11", "-Wall",
                    "-Wextra", "-Werror", str(SOURCE), "-o", str(path)],
                   check=True)
    return path


def run(client: Path, *args: object) -> subprocess.CompletedProcess[str]:
    """Its end."""
    return subprocess.run([str(client), *map(str, args)], capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)


def test_size() -> None:
    """It stays an example."""
    assert len(SOURCE.read_text().splitlines()) < 300


def test_client(tmp_path: Path, image: Path, client: Path) -> None:
    """Enable, identify, write, power cut, read: with two clients in turn, and
    of one of two controllers."""
    second = tmp_path / "t.sock"
    with Server(tmp_path, image, "--socket", str(second), "--power_return_ms",
                "20", "--model", "Model 1") as server:
        for path in (server.socket, server.socket, second):
            done = run(client, path, server.control)
            assert done.returncode == 0 and done.stderr == "", done.stderr
            assert done.stdout.split("\n")[0].rstrip() == "model Model 1"
            assert "are there after a power cut" in done.stdout
        assert server.counts()["clients"] == 3
        assert server.end() == ""
    assert image.read_bytes()[:4096] == b"a" * 4096


def test_lost_data(tmp_path: Path, image: Path, client: Path) -> None:
    """It finds a drive that loses what was flushed."""
    with Server(tmp_path, image, "--power_return_ms", "20", "--set",
                "buffer.ignore_flush=on", "--set", "buffer.plp=off") as server:
        done = run(client, server.socket, server.control)
        assert done.returncode == 1
        assert done.stderr == "the flushed data is lost\n"


def test_bad_input(tmp_path: Path, client: Path) -> None:
    """One line each."""
    assert "usage: " in run(client).stderr
    done = run(client, tmp_path / "none", tmp_path / "none")
    assert done.returncode == 1 and "No such file" in done.stderr
