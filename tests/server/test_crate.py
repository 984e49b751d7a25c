# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-server and the client that Cloud Hypervisor has, the crate vfio_user:
tests/server/crate makes Cloud Hypervisor's calls, with a driver in the place of
its guest.  Cloud Hypervisor itself needs KVM."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from vmm import PROJECT, Server

STEPS = ["attach", "pin", "queues", "data", "memory", "accesses", "again"]
CRATE = PROJECT / "tests/server/crate"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program; cargo fetches the crate."""
    if not os.environ.get("VSSD_LONG"):
        pytest.skip("fetches and builds a crate; with --long")
    if not shutil.which("cargo"):
        pytest.skip("no cargo")
    folder = tmp_path_factory.mktemp("made") / "crate"
    shutil.copytree(CRATE, folder)  # cargo writes there
    done = subprocess.run(
        ["cargo", "build", "--quiet", "--target-dir", "target"], cwd=folder,
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "target/debug/vfio-user-check"


@pytest.mark.parametrize("queues", [1, 16, 64])
def test_client_of_cloud_hypervisor(program: Path, tmp_path: Path, image: Path,
                                    queues: int) -> None:
    """All steps, by two clients one after the other; the server refuses none of
    their messages."""
    with Server(tmp_path, image, "--num_queues", str(queues)) as server:
        done = subprocess.run([program, server.socket, str(queues)],
                              capture_output=True, text=True, check=False,
                              timeout=600)
        assert done.stdout.split() == [w for s in STEPS for w in ("ok", s)], \
            done.stderr
        assert done.returncode == 0
        counts = server.counts()
        server.end()
    assert counts["clients"] == 2
    assert counts["messages_refused"] == 0
    assert counts["dma_refused"] > 0  # of the read to memory that is gone
