# SPDX-License-Identifier: GPL-2.0-or-later
"""A flash cache in a guest: the writes of the figure warp by io_uring's write
streams (Linux 6.16 and later), and what the drive's FDP statistics say of
them."""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from long_form import LONG

from conftest import Env, blank, drive
from vssd.build import guest_tools, model, venv
from vssd.guest import hardware, image, suite_kernel
from vssd.guest.guest import Guest
from vssd.paths import PROJECT, find_profile
from vssd.sim.run import Point, Runner

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import warp_input  # noqa: E402

RUS = 224
PAGES = 8 * 8  # of a reclaim unit
DRIVE = RUS * PAGES
VOLUMES = 4
SOC = 0.4
SETS = [f"nand.blocks={int(RUS * 1.1)}", "nand.pages=8",
        f"ftl.capacity={DRIVE * 4096}", "buffer.size=256KiB", "fdp.ruhs=2"]
PLAYER = ("tests/guest/streamplay.c", "guest-tools/uring.c")


@pytest.fixture(scope="module", name="trace")
def trace_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four volumes of a cache of which 40 % are for small objects."""
    path = tmp_path_factory.mktemp("trace") / "cache.csv"
    cfg = warp_input.Cache(SOC, 0.86, region=PAGES // 16)
    warp_input.save(warp_input.cache(cfg, DRIVE, VOLUMES, 1), DRIVE, path)
    return path


def player(folder: Path) -> Path:
    """The program that plays it."""
    path = folder / "streamplay"
    subprocess.run(["gcc", *guest_tools.FLAGS, f"-I{PROJECT / 'guest-tools'}",
                    *(PROJECT / f for f in PLAYER), "-o", path], check=True)
    return path


def archive(folder: Path, *files: Path) -> Path:
    """A raw image that tar reads."""
    path = folder / "files.raw"
    with tarfile.open(path, "w") as tar:
        for file in files:
            tar.add(file, file.name)
    size = -(-path.stat().st_size >> 20) << 20
    with path.open("r+b") as f:
        f.truncate(max(size, 1 << 20) + (1 << 20))
    return path


@pytest.fixture(scope="module", name="cached")
def guest_with_cache(env: Env, trace: Path,
                     tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Debian's newest kernel, a drive with two handles, and the trace."""
    folder = tmp_path_factory.mktemp("cache")
    root = folder / "root.qcow2"
    image.overlay(env.qemu.img, env.image.disk, root)
    found = suite_kernel.ensure("trixie-backports")
    size = model.drive_info(find_profile("warp2026"), SETS)["capacity_bytes"]
    drives = [drive(root), drive(blank(folder / "cache.raw", size), "raw",
                                 "warp2026", SETS),
              drive(archive(folder, trace, player(folder)), "raw",
                    "zero-latency")]
    spec = env.lean(drives, kernel=found.kernel,
                    initrd=found.initrd(env.image.initrd,
                                        folder / "initrd.img"),
                    append=f"root={env.image.root} rw {hardware.KERNEL_ARGS}")
    with Guest(spec) as running:
        running.wait_agent()
        running.run(f"tar xf {disk(running, 2)} -C /tmp")
        yield running


def disk(guest: Guest, drive_number: int) -> str:
    """/dev/nvme1n1 and the like."""
    found = guest.run(
        f"grep -lw VSSD{drive_number:04d} /sys/class/nvme/*/serial")
    return f"/dev/{found.split('/')[-2]}n1"


def statistics(guest: Guest) -> tuple[int, int]:
    """Host and media bytes of the FDP statistics log."""
    said = guest.run(f"nvme fdp stats {disk(guest, 1).removesuffix('n1')}"
                     " -e 1")
    found = dict(re.findall(r"\((HBMW|MBMW)\): *([\d,]+)", said))
    host, media = (int(found[x].replace(",", "")) for x in ("HBMW", "MBMW"))
    return host, media


def played(guest: Guest, option: str) -> float:
    """Write amplification of the trace on the emptied drive."""
    guest.run(f"blkdiscard {disk(guest, 1)}")
    before = statistics(guest)
    said = guest.run(f"/tmp/streamplay {option} {disk(guest, 1)}"
                     " < /tmp/cache.csv", timeout_s=900)
    after = statistics(guest)
    host, media = (b - a for a, b in zip(before, after))
    assert f", {host} bytes" in said
    return media / host


def modelled(trace: Path, handles: str) -> float:
    """The same writes in the simulator, at times of their own: as from a guest,
    GC ends before the next.  (If they come as fast as they can, GC falls
    behind, chooses later, and copies less.)"""
    sets = tuple(SETS)
    result = Runner(model.sim()).one(Point(
        find_profile("warp2026"), trace=trace, sets=sets,
        args=("--fill", "none", "--stream-map", handles)))
    waf: float = result["waf"]
    return waf


@LONG
def test_cache_by_write_streams(cached: Guest, trace: Path) -> None:
    """Handles for small and for large objects lower the write amplification,
    to what the simulator has for the same writes."""
    apart = played(cached, "")
    together = played(cached, "-n")
    assert apart == pytest.approx(modelled(trace, "0,1"), rel=0.03)
    assert together == pytest.approx(modelled(trace, "0,0"), rel=0.05)
    assert apart < 0.9 * together
