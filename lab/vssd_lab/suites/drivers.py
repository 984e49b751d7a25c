# SPDX-License-Identifier: GPL-2.0-or-later
"""Drivers in user space, whose programs drive the device instead of Linux:
libvfn over vfio, behind an IOMMU, and vroom, which maps the registers itself.

A checkout is built already.  Each test takes the device from Linux's driver
and gives it back, so that the runner finds it again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from .suite import BAD, GOOD, HERE, SKIPPED, Form, Row, Suite, short, silent

LIBVFN = ("open", "identify", "aer", "flush", "io", "timeout")
VROOM = ("hello_world", "io_test")
IO_SECONDS = 5      # of each queue depth of io_test
READS = re.compile(r"^n: ([1-9]\d*), total read iops: ", re.M)
END = re.compile(r"^exit status (\d+)$", re.M)
TAP = re.compile(r"^(not )?ok (\d+)(.*)", re.M)
# $bdf is the device, $pci its folder; give_back ends the use.
TAKE = r"""
bdf=$(basename "$(readlink -f /sys/class/nvme/{ctrl}/device)")
pci=/sys/bus/pci/devices/$bdf
give_back() {{
    [ ! -e $pci/driver ] || echo $bdf > $pci/driver/unbind
    echo > $pci/driver_override
    echo $bdf > /sys/bus/pci/drivers_probe
    for i in $(seq 100); do
        ls $pci/nvme/nvme*/nvme*n1 > /dev/null 2>&1 && break
        sleep 0.2
    done
}}
echo {driver} > $pci/driver_override
echo $bdf > $pci/driver/unbind
"""


def _command(driver: str, program: str) -> Callable[[str, str, int], str]:
    def command(test: str, device: str, _seconds: int) -> str:
        ctrl = re.sub(r"n\d+$", "", device).rpartition("/")[2]
        run = program.format(test=shlex.quote(test))
        return (HERE + TAKE.format(ctrl=ctrl, driver=driver or '""')
                + ("echo $bdf > /sys/bus/pci/drivers_probe\n" if driver else "")
                + f"{run} 2>&1; echo \"exit status $?\"; give_back")
    return command


def tap_rows(test: str, text: str) -> list[Row]:
    """One row for a program; each of its points must be ok, and all of them
    there."""
    points, plan = TAP.findall(text), re.search(r"^1\.\.(\d+)", text, re.M)
    end = END.search(text)
    if not plan or not end:
        return silent(test, text)
    bad = [f"{n}{rest}" for no, n, rest in points if no]
    if plan[1] == "0":
        return [Row(test, SKIPPED, short(text), detail=text)]
    if bad or len(points) != int(plan[1]) or end[1] != "0":
        return [Row(test, BAD, short("; ".join(bad) or text[-300:]),
                    detail=text)]
    return [Row(test, GOOD, detail=text)]


def vroom_rows(test: str, text: str) -> list[Row]:
    """hello_world reads what it wrote; io_test reads at random, with 128 and
    with 256 commands in flight."""
    end = END.search(text)
    if not end:
        return silent(test, text)
    good = len(READS.findall(text)) == 2 if test == "io_test" \
        else re.search(r"^hello world", text, re.M)
    if end[1] != "0" or not good:
        return [Row(test, BAD, short(text[-300:]), detail=text)]
    return [Row(test, GOOD, detail=text)]


SUITES = (
    Suite("libvfn", "libvfn's tests of a device, over vfio", "build",
          "build/tests/device/io", lambda _folder: list(LIBVFN),
          # The virtual IOMMU does not remap interrupts.
          "modprobe vfio_iommu_type1 allow_unsafe_interrupts=1"
          " && modprobe vfio-pci",
          _command("vfio-pci", "build/tests/device/{test} -d $bdf -N 1"),
          tap_rows, 300, Form(512, iommu=True)),
    Suite("vroom", "vroom's examples, a driver in Rust",
          "target/release/examples",
          "target/release/examples/hello_world", lambda _folder: list(VROOM),
          "echo 64 > /proc/sys/vm/nr_hugepages && mkdir -p /mnt/huge"
          " && mount -t hugetlbfs hugetlbfs /mnt/huge",
          _command("", "target/release/examples/{test} $bdf"
                   f" {IO_SECONDS}"), vroom_rows, 300,
          Form(512)),
)
