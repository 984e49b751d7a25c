# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd vng with a tree of Linux that is configured and built here, by the
commands of docs/kernels.md: with --long only, 20 minutes of CPU time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import MIB, vssd
from vssd import paths
from vssd.build import kernel_build, kernel_source

NAME = "vng-test"
WRITES = ("mkfs.ext4 -q /dev/nvme0n1 && mount /dev/nvme0n1 /mnt &&"
          " dd if=/dev/urandom of=/mnt/f bs=1M count=16 conv=fsync status=none"
          " && umount /mnt && uname -r && echo all-written && sleep 60")


@pytest.fixture(scope="module", name="tree")
def _tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Debian's source with a built kernel; its files are links."""
    if "VSSD_LONG" not in os.environ:
        pytest.skip("with --long only: builds a kernel")
    tree = tmp_path_factory.mktemp("vng") / "linux"
    subprocess.run(["cp", "-al", kernel_source.debian_tree(), tree], check=True)
    made = vssd("vng", "--", "--kconfig", "--configitem", "CONFIG_EXT4_FS=y",
                cwd=tree)
    assert made.returncode == 0, made.stdout + made.stderr
    config = (tree / ".config").read_text()
    assert "\nCONFIG_BLK_DEV_NVME=y\n" in config
    assert "\nCONFIG_EXT4_FS=y\n" in config
    built = subprocess.run(
        ["make", f"-j{os.cpu_count()}", "bzImage"], cwd=tree, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
        env=os.environ | kernel_build.environment())
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return tree


def test_built_tree(tree: Path) -> None:
    """Its kernel boots, and writes a file system on the drive; stat reaches it,
    and the command's status is the guest's."""
    with subprocess.Popen(
            [str(paths.PROJECT / "vssd"), "vng", "--name", NAME, "--", "--exec",
             WRITES], cwd=tree, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as proc:
        assert proc.stdout
        said = []
        for line in proc.stdout:
            said.append(line)
            if "all-written" in line:
                break
        text = "".join(said)
        assert "all-written" in text, text
        release = (tree / "include/config/kernel.release").read_text().strip()
        assert f"\n{release}" in text.replace("\r", "")
        stats = vssd("stat", "--run", NAME, "--json")
        assert stats.returncode == 0, stats.stderr
        assert json.loads(stats.stdout)["host_bytes_written"] >= 16 * MIB
        text += proc.stdout.read()
    assert proc.returncode == 0, text


def test_exit_status(tree: Path) -> None:
    """That of the guest's command, not 0."""
    done = vssd("vng", "--", "--exec", "exit 7", cwd=tree)
    assert done.returncode == 7, done.stdout + done.stderr
