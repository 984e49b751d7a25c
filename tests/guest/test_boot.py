# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests boot from a vssd drive: through firmware, directly, and again."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from long_form import DEVICE, LONG, START, of_part

from conftest import Env, drive
from vssd.guest import hardware
from vssd.guest.guest import Guest


def firmware_spec(env: Env, path: Path, firmware: str, fmt: str = "qcow2") \
        -> hardware.Spec:
    """A machine that finds its system on the drive by itself."""
    spec = env.spec([drive(path, fmt)], kernel=None, initrd=None, append="",
                    firmware=firmware)
    if firmware == "ovmf":
        spec.ovmf_vars = path.parent / "vars.fd"
        spec.ovmf_vars.write_bytes(Path(hardware.find_ovmf_vars()).read_bytes())
    return spec


@of_part(*START)
@pytest.mark.parametrize("firmware", [
    pytest.param("seabios", marks=LONG), "ovmf"])
def test_firmware_boots_grub_from_the_drive(env: Env, tmp_path: Path,
                                            firmware: str) -> None:
    """GRUB's menu, its kernel, a login prompt; and the root is our drive."""
    with Guest(firmware_spec(env, env.overlay(tmp_path), firmware)) as guest:
        guest.wait_prompt()
        assert "GNU GRUB" in guest.console
        assert "BOOT_IMAGE=/boot/vmlinuz" in guest.run("cat /proc/cmdline")
        efi = guest.result("test -d /sys/firmware/efi").status == 0
        assert efi == (firmware == "ovmf")
        assert guest.run("findmnt -no SOURCE /").startswith("/dev/nvme0n1p")
        assert "vssd" in guest.run("cat /sys/class/nvme/nvme0/model").lower()
        stats = guest.stats()
        assert stats["requests"] > 100
        assert stats["latency_ns"]["read"]["mean"] > 0


@of_part(*START)
def test_raw_image_and_second_boot_of_qcow2(env: Env, tmp_path: Path) -> None:
    """What was written before the shutdown is there after it, and in an image
    of the other format; firmware boots the first one."""
    raw = tmp_path / "disk.raw"
    subprocess.run([env.qemu.img, "convert", "-O", "raw", "-f", "qcow2",
                    env.overlay(tmp_path), raw], check=True)
    with Guest(firmware_spec(env, raw, "seabios", "raw")) as guest:
        guest.wait_prompt()
        guest.run("dd if=/dev/urandom of=/root/big bs=1M count=16 2>/dev/null;"
                  " cp -a /usr/bin /root/bin; sync")
        sums = guest.run("cd /root && find big bin -type f | sort"
                         " | xargs sha256sum")
        guest.power_off()
        assert guest.live.end_reason == "guest-shutdown"
    root = tmp_path / "disk.qcow2"
    subprocess.run([env.qemu.img, "convert", "-O", "qcow2", "-f", "raw", raw,
                    root], check=True)
    with Guest(env.lean([drive(root)])) as guest:
        again = guest.run("cd /root && find big bin -type f | sort"
                          " | xargs sha256sum")
        assert again == sums
        assert len(sums.splitlines()) > 100
        assert "error" not in guest.run(
            "dmesg --level=err,crit,alert,emerg | grep -iE 'nvme|ext4' || :")


# Switches the memory of a PCI device that no driver uses off and on.
MOVE = r"""
echo 0000:00:10.0 > /sys/bus/pci/drivers/ahci/unbind 2> /dev/null
for cpu in 0 1 2; do
    taskset -c $cpu timeout 60 sh -c 'while :; do sleep 0.001; done' &
done
taskset -c 3 perl -e 'open F, "+<", "/sys/bus/pci/devices/0000:00:10.0/config" or die;
    for (1 .. 600) { for $on ("\0", "\2") { sysseek F, 4, 0; syswrite F, $on; } }' || exit
counts() { grep LOC: /proc/interrupts; }
counts; sleep 3; counts
"""


@pytest.fixture(scope="module")
def four_cpus(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """A guest with four vCPUs, and a device that no driver needs."""
    root = env.overlay(tmp_path_factory.mktemp("cpus"))
    with Guest(env.lean([drive(root)], smp=4, extra=[
            "-device", "ich9-ahci,addr=0x10"])) as guest:
        yield guest


@of_part(*DEVICE)
def test_smp_uses_a_queue_per_cpu(four_cpus: Guest) -> None:
    """Linux gets an I/O queue for each of its CPUs."""
    text = four_cpus.run("dmesg | grep 'default/read/poll queues'")
    assert re.search(r"\b4/0/0 default", text)


@of_part("hw-ssd/qemu/", "scripts/vssd/build/", "scripts/vssd/guest/hardware.py")
def test_no_interrupt_is_lost(four_cpus: Guest) -> None:
    """Each vCPU keeps its timer while a device's memory goes and comes
    (hw-ssd/qemu/patches)."""
    text = four_cpus.run(MOVE, timeout_s=300)
    first, last = ([int(x) for x in re.findall(r"\b\d+\b", line)]
                   for line in text.splitlines())
    assert len(first) == 4
    assert all(a < b for a, b in zip(first, last, strict=True)), text


@of_part(*DEVICE)
def test_guest_reboot_keeps_the_drive(four_cpus: Guest) -> None:
    """A reset of the machine, without a shutdown of the system."""
    four_cpus.run("echo kept > /root/file; sync")
    four_cpus.live.greeted.clear()
    four_cpus.live.frames.greeted = False
    four_cpus.qmp("system_reset")
    four_cpus.wait_agent()
    assert four_cpus.run("cat /root/file") == "kept\n"
