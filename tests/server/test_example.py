# SPDX-License-Identifier: GPL-2.0-or-later
"""lib/examples/vfio-client.c and .rs: clients without a virtual machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from vmm import LIMIT_S, PROJECT, Server

SOURCE = PROJECT / "lib/examples/vfio-client"
COMPILERS = {
    "c": [*os.environ.get("CC", "cc").split(), "-std=c11", "-Wall", "-Wextra", "-Werror"],
    "rs": ["rustc", "-O", "--edition", "2021", "-D", "warnings"]}


@pytest.fixture(scope="module", name="client", params=list(COMPILERS))
def _client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It, compiled without a warning."""
    words = COMPILERS[request.param]
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]}")
    path = tmp_path_factory.mktemp("made") / "vfio-client"
    subprocess.run([*words, str(SOURCE.with_suffix(f".{request.param}")), "-o", str(path)],
                   check=True)
    return path


def run(client: Path, *args: object) -> subprocess.CompletedProcess[str]:
    """Its end."""
    return subprocess.run([str(client), *map(str, args)], capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)


@pytest.mark.parametrize("suffix", COMPILERS)
def test_size(suffix: str) -> None:
    """It stays an example."""
    assert len(SOURCE.with_suffix(f".{suffix}").read_text().splitlines()) < 300


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
