# SPDX-License-Identifier: GPL-2.0-or-later
"""timeline=FILE: the device's work over time, by queue (docs/timeline.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from timeline_file import read

from machine import Machine, drive_args, start_and_fail
from nvme_host import NvmeHost
from vssd.build import venv

UNIT = 4096
LBAS = UNIT // 512
PATH = "/machine/peripheral/ssd"


def test_commands(image: Path, tmp_path: Path) -> None:
    """Of the host's queue, with their page programs."""
    file = tmp_path / "timeline"
    with Machine(*drive_args("tiny", image, timeline=str(file),
                             timeline_size="1MiB")) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        for unit in range(41):  # four fill a page: the last waits for the flush
            host.write(unit * LBAS, bytes([1]) * UNIT)
        host.flush()
        assert host.read(7 * LBAS, UNIT) == bytes([1]) * UNIT
        assert file.read_bytes() == b""
        assert machine.quit() == 0
    t = read(file)
    host_names = t.names("host commands")
    assert host_names == {("host", "write"): 41, ("host", "flush"): 1,
                          ("host", "read"): 1}
    queue, = {s.path[1] for s in t.of("host commands")}
    assert queue.endswith("queue 1")
    assert t.names("dies")["host", "program"] >= 10
    flush, = (s for s in t.of("host commands") if s.name == "flush")
    assert flush.args["flush_ns"] > 0


def test_power_cut(image: Path, tmp_path: Path) -> None:
    """It goes on after a cut, which it shows."""
    file = tmp_path / "timeline"
    with Machine(*drive_args("tiny", image, timeline=str(file),
                             power_return_ms="50")) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        host.write(0, b"lost" * 1024)
        machine.cmd("qom-set", path=PATH, property="power-cut",
                    value="running")
        machine.qtest.clock_step(60_000_000)
        host = NvmeHost(machine.qtest)
        host.enable()
        host.read(0, UNIT)
        assert machine.quit() == 0
    t = read(file)
    cut, on = t.instants
    assert (cut.name, on.name) == ("power cut", "power on")
    assert on.begin - cut.begin == pytest.approx(50_000_000, rel=0.01)
    read_one = t.of("host commands")[-1]
    assert read_one.name == "read" and read_one.begin > on.end


@pytest.mark.parametrize("props, message", [
    ({"timeline": "/nowhere/file"}, "timeline /nowhere/file: No such file"),
    ({"timeline_for": "1s"}, "timeline_for=1s: needs timeline="),
    ({"timeline": "t", "timeline_size": "1"},
     "timeline_size=1: allowed 1MiB..16GiB"),
])
def test_refused(image: Path, tmp_path: Path, props: dict[str, str],
                 message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    monkeypatch.chdir(tmp_path)
    text = start_and_fail(*drive_args("tiny", image, **props))
    assert len(text.splitlines()) == 1 and message in text


def test_histograms(image: Path) -> None:
    """The property gives the latencies to HdrHistogram's reader."""
    venv.extra("timeline")
    from hdrh.histogram import HdrHistogram

    with Machine(*drive_args("tiny", image)) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        for unit in range(30):
            host.write(unit * LBAS, bytes([1]) * UNIT)
        text = str(machine.cmd("qom-get", path=PATH, property="histograms"))
        latency = machine.cmd("qom-get", path=PATH,
                              property="stats")["latency_ns"]["write"]
        assert machine.quit() == 0
    line, = (x for x in text.splitlines() if x.startswith("Tag=write,"))
    h = HdrHistogram.decode(line.split(",")[4])
    assert h.get_total_count() == latency["count"] == 30
    assert h.get_value_at_percentile(50) == pytest.approx(latency["p50"],
                                                          rel=0.01)
