# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd streams in guests: the same load on two drives, and what a kernel lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from long_form import DEVICE, LONG, of_part

from conftest import load, vssd
from vssd.build import kernel_build
from vssd.build.kernel_source import Wanted

pytestmark = of_part(*DEVICE, "scripts/vssd/streams/", "scripts/vssd/cli/streams.py")
FEW = ("--writes", "0.5")


def check(path: Path, apart: str) -> None:
    """Each file is where its stream is, and the sums are the drives'."""
    said = load(path)
    for side in ("without", "with"):
        rows = {row["handle"]: row for row in said[side]["rows"]}
        total = rows.pop("all")
        for key in ("host_bytes", "nand_bytes"):
            assert sum(row[key] for row in rows.values()) == total[key]
        assert total["nand_bytes"] > total["host_bytes"] / 2
    names = [row["handle"] for row in said["with"]["rows"]]
    assert set(apart) < set(names)
    files = said["with"]["files"]
    assert len(files) == said["with"]["files_apart"] > 500
    for life, stream in zip(("hot", "warm", "cold"), apart):
        assert {p["handle"] for path, parts in files.items() for p in parts
                if path.startswith(f"/mnt/{life}.")} == {stream}


@pytest.fixture(scope="module", name="kernel")
def patched_kernel() -> str:
    """Linux 6.12 with guest-tools/kernel."""
    return str(kernel_build.ensure(Wanted()).image)


def test_xfs_by_ioctl(kernel: str, tmp_path: Path) -> None:
    """Files of XFS, and the sums of NAND bytes."""
    done = vssd("streams", "--kernel", kernel, "--fs", "xfs", "--by", "ioctl",
                *FEW, "--json", str(tmp_path / "said.json"))
    assert done.returncode == 0, done.stderr
    assert "xfs, by ioctl: without streams, then with them" in done.stdout
    check(tmp_path / "said.json", "123")


def test_a_kernel_without_the_interface() -> None:
    """Debian's 6.12 as it is: one line, status 1."""
    done = vssd("streams", "--fs", "xfs", "--by", "ioctl", *FEW)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "vssd: --by ioctl: /mnt: this kernel has no ioctl for streams there; use"
        " ./vssd kernel build, then --kernel streams")


@LONG
def test_f2fs(tmp_path: Path) -> None:
    """F2FS of the newest kernel places data by itself."""
    done = vssd("streams", "--suite", "trixie-backports", "--fs", "f2fs", *FEW,
                "--json", str(tmp_path / "said.json"))
    assert done.returncode == 0, done.stderr
    check(tmp_path / "said.json", "012")


@LONG
def test_fio_and_command(kernel: str, tmp_path: Path) -> None:
    """Each job of fio has a stream; a command's files have those of rules."""
    job = tmp_path / "two.fio"
    job.write_text("[global]\nrw=write\nsize=16m\nend_fsync=1\n[log]\n[data]\n")
    out = tmp_path / "said.json"
    for more in (("--fio", str(job)),
                 ("--rule", "log.*=1", "--rule", "data.*=2", "--",
                  "for i in log data; do head -c 16M /dev/urandom"
                  " > $TARGET/$i.0.0; done")):
        done = vssd("streams", "--kernel", kernel, "--fs", "ext4",
                    "--json", str(out), *more)
        assert done.returncode == 0, done.stderr
        files = load(out)["with"]["files"]
        assert {path: {p["handle"] for p in parts}
                for path, parts in files.items()} == {
            "/mnt/log.0.0": {"1"}, "/mnt/data.0.0": {"2"}}
