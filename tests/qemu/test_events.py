# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of QMP, and trace-events of commands and their memory."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from machine import LIMIT_S, Machine, drive_args
from nvme_host import BUFFER, OP_READ, NvmeHost
from test_power import PATH, host_of, put

KIB = 1 << 10
NOWHERE = 1 << 44  # guest memory that is not there


class Events:
    """What the machine has sent."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.all: list[dict[str, Any]] = []

    def of(self, name: str, count: int) -> list[dict[str, Any]]:
        """So many of a kind, once they have come; their own members."""
        end = time.monotonic() + LIMIT_S
        while True:
            found = [e["data"] for e in self.all if e["event"] == name]
            if len(found) >= count or time.monotonic() > end:
                break
            assert self.machine.qmp
            self.all += self.machine.qmp.get_events()
            time.sleep(0.01)
        for data in found:
            assert data.pop("device") == "ssd"
            assert data.pop("path") == PATH
        self.all = [e for e in self.all if e["event"] != name]
        return found


def test_rules_and_fatal_status(image: Path) -> None:
    """A rule tells of its 1st, 2nd and 4th time; CSTS.CFS once."""
    with Machine(*drive_args("tiny", image)) as machine:
        events, host = Events(machine), host_of(machine)
        put(machine, "fault-add", "cmd=read -> status 2/81 dnr")
        for _ in range(5):
            host.io.run(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        assert events.of("VSSD_FAULT", 3) == [
            {"rule": 1, "fired": n} for n in (1, 2, 4)]
        put(machine, "fault-add", "ctrl -> cfs")
        assert len(events.of("VSSD_FATAL", 1)) == 1
        assert events.of("VSSD_FAULT", 1) == [{"rule": 2, "fired": 1}]


def test_power(image: Path) -> None:
    """Off and on."""
    with Machine(*drive_args("tiny", image, power_return_ms="50")) as machine:
        assert machine.qtest
        events = Events(machine)
        host_of(machine)
        put(machine, "power-cut", "running")
        assert events.of("VSSD_POWER", 1) == [{"on": False}]
        machine.qtest.clock_step(60_000_000)
        assert events.of("VSSD_POWER", 1) == [{"on": True}]


def test_namespace(image: Path) -> None:
    """Detached, and deleted."""
    with Machine(*drive_args("tiny", image, namespaces="2M;2M")) as machine:
        events, host = Events(machine), host_of(machine)
        host.check(host.admin.run(0x0d, nsid=2, cdw=(1,)))
        assert events.of("VSSD_NAMESPACE", 1) == [{"nsid": 2}]


def test_read_only(image: Path, tmp_path: Path) -> None:
    """All programs fail: the drive runs out of blocks."""
    rules = tmp_path / "rules"
    rules.write_text("on=program -> fail always\n")
    with Machine(*drive_args("tiny", image, options=f"faults={rules}")) as m:
        events, host = Events(m), host_of(m)
        for unit in range(2000):
            done = host.io.run(1, prp1=BUFFER, cdw=(unit % 512 * 8, 0, 7))
            if done.status:
                break
        assert m.qtest
        m.qtest.clock_step(100_000_000)
        assert events.of("VSSD_READ_ONLY", 1) == [{}]


def test_trace(image: Path) -> None:
    """PRPs, the parts of the latency, which sum to it, and DMA faults."""
    with Machine(*drive_args("tiny", image), "-trace", "vssd_command_data",
                 "-trace", "vssd_command_parts", "-trace",
                 "vssd_dma_fault") as machine:
        host: NvmeHost = host_of(machine)
        host.write(0, b"here" * KIB)
        host.flush()
        assert host.io.run(OP_READ, prp1=NOWHERE, cdw=(0, 0, 7)).status
        assert host.read(0, 4 * KIB) == b"here" * KIB
        machine.cmd("quit")
        said = machine.wait()[1]
    assert re.search(f"vssd_command_data .*prp1 {BUFFER:#x} prp2 0x0", said)
    assert re.search(f"vssd_dma_fault .*addr {NOWHERE:#x} bytes 4096", said)
    parts = re.findall(r"vssd_command_parts .*latency_ns (\d+) of which ns:(.*)",
                       said)
    assert len(parts) >= 3
    for latency, text in parts:
        assert int(latency) == sum(map(int, re.findall(r" (\d+)", text)))
    assert any("cell" in text for _, text in parts)
