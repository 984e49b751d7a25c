# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running guest does with its vssd drives: one guest for all tests."""

from __future__ import annotations

import json

import pytest

from conftest import refused
from vssd.guest.guest import Guest


def fio(guest: Guest, options: str) -> dict[str, object]:
    """Run fio; its only job's result."""
    text = guest.run("fio --output-format=json " + options)
    job: dict[str, object] = json.loads(text[text.index("{"):])["jobs"][0]
    assert job["error"] == 0
    return job


def test_nvme_list(guest: Guest) -> None:
    """All four drives, by name and serial number."""
    text = guest.run("nvme list")
    for i in range(4):
        assert f"/dev/nvme{i}n1" in text
        assert f"VSSD000{i}" in text


def test_nvme_id_ctrl_and_ns(guest: Guest, disks: list[str]) -> None:
    """Identify says what the drive is."""
    ctrl = json.loads(guest.run(f"nvme id-ctrl {disks[2]} -o json"))
    assert ctrl["sn"].strip() == "VSSD0002"
    assert ctrl["ver"] >= 0x10400
    assert ctrl["nn"] == 1
    ns = json.loads(guest.run(f"nvme id-ns {disks[2]}n1 -o json"))
    assert 60 << 20 < ns["nsze"] * 512 < 70 << 20


def test_probe_leaves_no_error(guest: Guest, disks: list[str]) -> None:
    """The drives refused nothing that firmware and kernel asked of them; the
    second one is for commands that are wrong."""
    counts = refused(guest)
    del counts[disks[1].split("/")[-1]]
    assert len(counts) == 3
    assert not any(counts.values()), counts


def test_nvme_smart_log_counts(guest: Guest, disks: list[str]) -> None:
    """SMART's numbers are those of the drive."""
    def log() -> dict[str, int]:
        found: dict[str, int] = json.loads(
            guest.run(f"nvme smart-log {disks[1]} -o json"))
        return found

    before = log()
    guest.run(f"dd if=/dev/zero of={disks[1]}n1 bs=1M count=8 oflag=direct"
              f" 2>/dev/null; dd if={disks[1]}n1 of=/dev/null bs=1M count=4"
              " iflag=direct 2>/dev/null")
    after = log()
    assert after["critical_warning"] == 0
    written = after["data_units_written"] - before["data_units_written"]
    assert written in (16, 17)  # units of 512,000 bytes, rounded up
    read = after["data_units_read"] - before["data_units_read"]
    assert read >= 8
    commands = after["host_write_commands"] - before["host_write_commands"]
    assert commands >= 8


def test_nvme_error_log(guest: Guest, disks: list[str]) -> None:
    """A refused command is in the error log."""
    bad = guest.result(f"nvme read {disks[1]}n1 -s 99999999 -z 512 -c 0"
                       " -d /dev/null")
    assert bad.status != 0
    text = guest.run(f"nvme error-log {disks[1]} -o json")
    entries = json.loads(text)["errors"]
    assert any(e["error_count"] for e in entries)


def test_volatile_write_cache(guest: Guest, disks: list[str]) -> None:
    """On, it keeps what is not flushed; off, every write is in NAND when it is
    done.  Linux goes by Identify, which says that there is a cache."""
    def dirty_after_a_write() -> int:
        guest.run(f"dd if=/dev/urandom of={disks[2]}n1 bs=4k count=5"
                  " oflag=direct 2>/dev/null")
        return int(guest.stats(2)["buffer"]["units_dirty"])

    def cache(on: int) -> None:
        guest.run(f"nvme set-feature {disks[2]} -f 6 --value={on}")
        assert f"{on:#x}"[2:] == guest.run(
            f"nvme get-feature {disks[2]} -f 6 | grep -o '[01]$'").strip()

    name = disks[2].split("/")[-1]
    kernel = f"cat /sys/block/{name}n1/queue/write_cache"
    assert guest.run(kernel) == "write back\n"
    assert dirty_after_a_write() > 0
    cache(0)
    assert guest.stats(2)["buffer"]["units_dirty"] == 0
    for _ in range(3):
        assert dirty_after_a_write() == 0
    cache(1)
    assert dirty_after_a_write() > 0
    guest.run(f"nvme flush {disks[2]} -n 1")
    assert guest.stats(2)["buffer"]["units_dirty"] == 0


def test_commands_inside_the_drive(guest: Guest, disks: list[str]) -> None:
    """nvme-cli: Copy, Verify and Write Uncorrectable, seen by reads."""
    ns = f"{disks[1]}n1"
    guest.run(f"dd if=/dev/urandom of={ns} bs=4k count=2 oflag=direct"
              " 2>/dev/null")
    guest.run(f"nvme copy {ns} --sdlba=64 --slbs=8,0 --blocks=7,7")
    sums = [guest.run(f"dd if={ns} bs=4k skip={skip} count=1 iflag=direct"
                      " 2>/dev/null | sha256sum") for skip in (0, 1, 8, 9)]
    assert sums[2:] == [sums[1], sums[0]]
    guest.run(f"nvme verify {ns} -s 64 -c 15")
    guest.run(f"nvme write-uncor {ns} -s 70 -c 0")
    assert guest.result(f"nvme verify {ns} -s 64 -c 15").status != 0
    assert guest.result(f"dd if={ns} of=/dev/null bs=4k skip=8 count=1"
                        " iflag=direct").status != 0
    guest.run(f"dd if=/dev/zero of={ns} bs=4k seek=8 count=1 oflag=direct"
              " 2>/dev/null")
    guest.run(f"nvme verify {ns} -s 64 -c 15")


def test_protected_write_cache(guest: Guest, disks: list[str]) -> None:
    """A buffer that survives a power cut is no volatile cache."""
    name = disks[3].split("/")[-1]
    assert guest.run(f"cat /sys/block/{name}n1/queue/write_cache") \
        == "write through\n"
    ctrl = json.loads(guest.run(f"nvme id-ctrl {disks[3]} -o json"))
    assert ctrl["vwc"] & 1 == 0
    assert guest.result(f"nvme set-feature {disks[3]} -f 6 --value=0").status != 0


@pytest.mark.parametrize("mkfs, kind, check", [
    ("mkfs.ext4 -q -F", "ext4", "e2fsck -fn"),
    ("mkfs.xfs -q -f", "xfs", "xfs_repair -n"),
    ("mkfs.f2fs -q -f", "f2fs", "fsck.f2fs --dry-run"),
])
def test_file_systems(guest: Guest, disks: list[str], mkfs: str, kind: str,
                      check: str) -> None:
    """Make it, fill it, look at the files after a remount, check it."""
    guest.run(f"{mkfs} {disks[1]}n1 && mount -t {kind} {disks[1]}n1 /mnt")
    guest.run("cp -a /usr/lib/systemd /etc /mnt/; rm -rf /mnt/etc;"
              " dd if=/dev/urandom of=/mnt/r bs=1M count=20 2>/dev/null;"
              " cd /mnt && find . -type f | sort | xargs -d '\\n' sha256sum"
              " > /root/sums; cd /; fstrim -v /mnt; umount /mnt")
    assert guest.result(f"{check} {disks[1]}n1").status == 0
    guest.run(f"echo 3 > /proc/sys/vm/drop_caches;"
              f" mount -t {kind} {disks[1]}n1 /mnt")
    lines = guest.run("cd /mnt && sha256sum -c --quiet /root/sums && wc -l"
                      " < /root/sums; cd /; umount /mnt")
    assert int(lines) > 200


def test_fio_verify(guest: Guest, disks: list[str]) -> None:
    """Random writes of mixed sizes, read back and compared."""
    job = fio(guest, f"--name=v --filename={disks[1]}n1 --size=64m"
              " --rw=randwrite --bssplit=512/10:4k/60:64k/30 --iodepth=16"
              " --ioengine=libaio --direct=1 --verify=crc32c"
              " --verify_fatal=1 --randseed=7")
    assert job["write"]["io_bytes"] == 64 << 20  # type: ignore[index]
    assert job["read"]["io_bytes"] >= 64 << 20  # type: ignore[index]


def test_overwrite_three_times_the_capacity(guest: Guest,
                                            disks: list[str]) -> None:
    """At 7 % over-provisioning the drive must clean, and lose nothing."""
    before = guest.stats(2)
    size = int(guest.run(f"blockdev --getsize64 {disks[2]}n1"))
    capacity = size // 16384 * 16384
    for turn in range(3):
        job = fio(guest, f"--name=o --filename={disks[2]}n1 --rw=randwrite"
                  f" --bs=16k --size={capacity} --iodepth=8 --ioengine=libaio"
                  " --direct=1 --verify=crc32c --verify_fatal=1"
                  f" --randseed={turn}")
        assert job["write"]["io_bytes"] == capacity  # type: ignore[index]
        assert job["read"]["io_bytes"] >= capacity  # type: ignore[index]
    after = guest.stats(2)
    assert after["nand"]["erases"] > before["nand"]["erases"]
    assert after["nand"]["by_cause"]["gc"]["programs"] > 0
    assert after["waf"] > 1
    assert not guest.run("dmesg | grep -E 'I/O error|nvme.*timeout' || :")


def test_trim_is_seen_by_the_drive(guest: Guest, disks: list[str]) -> None:
    """blkdiscard: the blocks read as zeroes afterwards."""
    guest.run(f"dd if=/dev/urandom of={disks[1]}n1 bs=1M count=4 oflag=direct"
              f" 2>/dev/null; blkdiscard -o 0 -l 4194304 {disks[1]}n1")
    same = guest.result(f"cmp -n 4194304 {disks[1]}n1 /dev/zero")
    assert same.status == 0
    assert guest.stats(1)["latency_ns"]["trim"]["max"] >= 0


def test_network(guest: Guest) -> None:
    """User-mode NAT: an address and a way out."""
    assert "10.0.2.2" in guest.run("ip route show default")
