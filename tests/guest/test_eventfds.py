# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose doorbells and messages are events of the host, which QEMU
signals itself without KVM (docs: docs/qemu-device.md, "With KVM")."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from long_form import DEVICE, of_part

from conftest import MIB, SMALL, Env, blank, drive, refused
from vssd import paths
from vssd.build import model
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE)
THREADS = 2
EVENTS = {"ioeventfd": "on", "irqfd": "on", "doorbell_threads": str(THREADS)}
# One queue for each vCPU, so each thread has one.
SMP = THREADS
SIZE_MIB = 8  # of each job


@pytest.fixture(scope="module", name="traced")
def traced_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[tuple[Guest, Path]]:
    """A guest and the trace of its events.  Drive 0 is its root, drive 1 takes
    no modelled time, drive 2 is small and has GC."""
    folder = tmp_path_factory.mktemp("eventfds")
    log = folder / "trace"
    small_bytes = model.drive_info(paths.find_profile("tlc-generic"),
                                   SMALL)["capacity_bytes"]
    drives = [
        drive(env.overlay(folder)),
        drive(blank(folder / "fast.raw", 128 * MIB), "raw", "zero-latency"),
        drive(blank(folder / "small.raw", small_bytes), "raw", "tlc-generic",
              SMALL),
    ]
    extra = [word for key, value in EVENTS.items()
             for word in ("-global", f"vssd.{key}={value}")]
    extra += ["-trace", "vssd_kick*", "-trace", "vssd_irqfd", "-D", str(log)]
    with Guest(env.lean(drives, smp=SMP, extra=extra)) as running:
        running.wait_agent()
        yield running, log


def name_of(guest: Guest, i: int) -> str:
    """The 1 of /dev/nvme1 of drive i."""
    found = guest.run(f"grep -lw VSSD{i:04d} /sys/class/nvme/*/serial")
    return found.split("/")[-2].removeprefix("nvme")


def events(log: Path) -> tuple[Counter[str], int]:
    """Doorbells by drive and queue, and messages, that were events so far."""
    text = log.read_text()
    return (Counter(re.findall(r"vssd_kick (dev \S+ sqid \d+)", text)),
            text.count("vssd_irqfd "))


def verified(guest: Guest, device: str, size_mib: int, seed: int) -> None:
    """Random writes of two jobs, one on each vCPU, read back and compared."""
    text = guest.run(
        f"fio --output-format=json --name=v --filename={device} --direct=1"
        f" --size={size_mib}m --offset_increment={size_mib}m --numjobs={SMP}"
        " --cpus_allowed=0-1 --cpus_allowed_policy=split --rw=randwrite"
        " --bssplit=512/10:4k/60:64k/30 --iodepth=16 --ioengine=libaio"
        f" --verify=crc32c --verify_fatal=1 --randseed={seed}")
    jobs = json.loads(text[text.index("{"):])["jobs"]
    assert len(jobs) == SMP
    for job in jobs:
        assert job["error"] == 0
        assert job["write"]["io_bytes"] == size_mib * MIB
        assert job["read"]["io_bytes"] >= size_mib * MIB


@pytest.mark.parametrize("i", [1, 2], ids=["no-time", "modelled-time"])
def test_verify(traced: tuple[Guest, Path], i: int) -> None:
    """Both queues of a drive are served by events, before and after a reset of
    the controller."""
    guest, log = traced
    name = name_of(guest, i)
    for seed in range(2):
        before, messages = events(log)
        verified(guest, f"/dev/nvme{name}n1", SIZE_MIB, seed)
        after, more = events(log)
        grown = after - before
        assert sum(n > 50 for n in grown.values()) >= SMP, grown
        assert more - messages > 100
        guest.run(f"nvme reset /dev/nvme{name}")


def test_root_and_file_system(traced: tuple[Guest, Path]) -> None:
    """Files written, read without the page cache, and checked."""
    guest, _ = traced
    device = f"/dev/nvme{name_of(guest, 1)}n1"
    guest.run(f"mkfs.ext4 -q -F {device} && mount {device} /mnt &&"
              " cp -a /usr/lib/systemd /mnt/ && cd /mnt &&"
              " find . -type f | sort | xargs -d '\\n' sha256sum > /root/sums;"
              " cd /; fstrim /mnt; umount /mnt")
    guest.run(f"e2fsck -fn {device}; sync; echo 3 > /proc/sys/vm/drop_caches")
    guest.run(f"mount {device} /mnt; cd /mnt && sha256sum -c --quiet"
              " /root/sums; cd /; umount /mnt")
    assert not any(refused(guest).values())
    assert not guest.run("dmesg | grep -E 'I/O error|nvme.*(timeout|polled)'"
                         " || :")
