# SPDX-License-Identifier: GPL-2.0-or-later
"""A vCPU that sleeps is woken before a completion is due, and waits the rest."""

from __future__ import annotations

import time
from pathlib import Path

from machine import Machine, drive_args
from nvme_host import BUFFER, OP_READ, NvmeHost
from test_iommu import idle_firmware

NULL_NODE = "driver=null-co,read-zeroes=on,size=8388608"
READS = 200


def run(tmp_path: Path, **device: str) -> list[str]:
    """Reads of a drive that takes 2 ms for each, of a machine that sleeps: the
    lines of the trace."""
    log = tmp_path / "trace"
    drive = drive_args("read-40us", NULL_NODE, options="nand.read=2ms", **device)
    with Machine(*drive, "-bios", str(idle_firmware(tmp_path)), "-smp", "2",
                 "-trace", "vssd_wake", "-D", str(log), accel="tcg,thread=multi") as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        host.write(0, bytes(4096))
        host.flush()
        for _ in range(READS):
            begin = time.monotonic()
            NvmeHost.check(host.io.run(OP_READ, step_ns=0, prp1=BUFFER,
                                       cdw=(0, 0, 7)))
            assert time.monotonic() - begin >= 2e-3, "before its instant"
        assert machine.quit() == 0
    return log.read_text().splitlines()


def test_vcpu_waits(tmp_path: Path) -> None:
    woken = [x for x in run(tmp_path) if "vssd_wake" in x]
    assert len(woken) >= 5  # a busy host may be late for most
    assert all(0 <= int(x.split(" takes ")[1].split()[0]) <= 50_000
               for x in woken)


def test_bound_on_cpu(tmp_path: Path) -> None:
    """What may not be spun is slept: later, but complete."""
    begin = time.monotonic()
    lines = run(tmp_path, spin_cpu="1")
    most_ns = (time.monotonic() - begin) * 1e9 / 100
    woken = [x for x in lines if "vssd_wake" in x]
    if woken:
        assert int(woken[-1].split(" spun ")[1].split()[0]) <= most_ns


def test_no_spinning(tmp_path: Path) -> None:
    lines = run(tmp_path, spin_cpu="0")
    assert not [x for x in lines if "vssd_wake" in x]
