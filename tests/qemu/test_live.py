# SPDX-License-Identifier: GPL-2.0-or-later
"""live=FILE: pictures of the device's drive (docs/live-format.md), against its
statistics."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import live_file
import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import OP_FLUSH, NvmeHost

UNIT = 4096
LBAS = UNIT // 512
ASYNC_EVENT = 0x0C
PATH = "/machine/peripheral/ssd"
LIMIT_S = 30


def picture(file: Path, good: Callable[[live_file.Picture], bool]) -> live_file.Picture:
    """The first new one of that kind."""
    end, before = time.monotonic() + LIMIT_S, live_file.read(file).header.pictures
    while time.monotonic() < end:
        live_file.want(file)
        p = live_file.read(file)
        if p.header.pictures > before and good(p):
            return p
        time.sleep(0.01)
    raise AssertionError("no such picture")


def any_of(p: live_file.Picture) -> bool:
    return True


def stats(machine: Machine) -> Any:
    return machine.cmd("qom-get", path=PATH, property="stats")


def test_numbers(image: Path, tmp_path: Path) -> None:
    """Each number of a picture is that of the statistics, also while the machine
    is stopped; the last one is that of the end."""
    file = tmp_path / "drive.live"
    with Machine(*drive_args("tiny", image, live=str(file), serial="mine",
                             num_queues="3")) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        for unit in range(41):
            host.write(unit * LBAS, bytes([1]) * UNIT)
        host.flush()
        host.read(7 * LBAS, UNIT)
        host.admin.push(ASYNC_EVENT, nsid=0)  # no command of now
        host.admin.ring()
        machine.qtest.clock_step(1_000_000)
        p = picture(file, any_of)
        assert live_file.check_numbers(p, stats(machine)) >= 65
        assert p.named("counter")["host_bytes_written"] == 41 * UNIT
        assert p.layout["drive"]["name"] == "mine"
        assert p.values["queue.depth"] == (0, 0, 0, 0)
        machine.cmd("stop")
        n = picture(file, any_of).header.pictures
        assert picture(file, any_of).header.pictures > n
        machine.cmd("cont")
        host.write(0, bytes([1]) * UNIT)
        assert machine.quit() == 0
    p = live_file.read(file)
    assert p.header.state == live_file.ENDED
    assert p.named("counter")["host_bytes_written"] == 42 * UNIT


def test_queue(image: Path, tmp_path: Path) -> None:
    """Commands that the drive has not ended are in their queue, and in a die."""
    file = tmp_path / "drive.live"
    with Machine(*drive_args("tiny", image, live=str(file))) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        for unit in range(4):
            host.write(unit * LBAS, bytes([1]) * UNIT)
        host.io.push(OP_FLUSH)
        host.io.ring()  # the clock stands still
        machine.qtest.clock_step(20_000)
        p = picture(file, lambda p: p.values["queue.depth"][1] == 1)
        assert sum(p.values["queue.depth"]) == 1
        assert any(s == "program" for s in p.words("die.state"))
        assert p.named("gauge")["buffer.units_dirty"] > 0
        machine.qtest.clock_step(10_000_000)
        p = picture(file, lambda p: p.values["queue.depth"][1] == 0)
        assert set(p.words("die.state")) == {"idle"}
        assert machine.quit() == 0


def test_nobody_reads(image: Path, tmp_path: Path) -> None:
    """No picture but the first and the last."""
    file = tmp_path / "drive.live"
    with Machine(*drive_args("tiny", image, live=str(file))) as machine:
        assert machine.qtest
        time.sleep(0.6)
        assert live_file.read(file).header.pictures == 1
        assert machine.quit() == 0
    assert live_file.read(file).header.pictures == 2


LARGE = ("nand.channels=16;nand.chips=4;nand.dies=4;nand.planes=4;nand.blocks=200;"
         "host.queue_depth=512")
WINDOW_S = 3.0


def main_loop_ns(machine: Machine) -> int:
    """CPU time of QEMU's main thread, to the nanosecond."""
    assert machine.process
    pid = machine.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0])


def share(machine: Machine, file: Path, read: bool) -> float:
    """Of the main loop's time, while it serves a reader or none, in per cent."""
    time.sleep(2.3)  # the last wish ends
    begin, before = time.monotonic_ns(), main_loop_ns(machine)
    while time.monotonic_ns() - begin < WINDOW_S * 1e9:
        if read:
            live_file.want(file)
        time.sleep(0.25)
    return 100 * (main_loop_ns(machine) - before) / (time.monotonic_ns() - begin)


def test_cost(tmp_path: Path) -> None:
    """Twenty pictures a second of 256 dies take less than 1 % of the main loop's
    time, and a view that nobody reads less than a fifth of that."""
    file = tmp_path / "drive.live"
    node = "driver=null-co,size=268435456,read-zeroes=on"
    with Machine(*drive_args("tiny", node, live=str(file), options=LARGE)) \
            as machine, Machine(*drive_args("tiny", node,
                                            options=LARGE)) as without:
        n = live_file.read(file).header.pictures
        none, idle = share(without, file, False), share(machine, file, False)
        assert live_file.read(file).header.pictures == n
        read = share(machine, file, True)
        n = live_file.read(file).header.pictures - n
        print(f"main loop: {none:.3f} % without a view, {idle:.3f} % with one, "
              f"{read:.3f} % while it is read ({n} pictures)")
        assert n > 10 * WINDOW_S
        assert read - none < 1 and idle - none < .2
        assert machine.quit() == 0


def test_power_cut(image: Path, tmp_path: Path) -> None:
    """The view goes on over a cut, which it shows."""
    file = tmp_path / "drive.live"
    with Machine(*drive_args("tiny", image, live=str(file),
                             power_return_ms="50")) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        host.write(0, b"lost" * 1024)
        machine.cmd("qom-set", path=PATH, property="power-cut", value="running")
        cut = picture(file, lambda p: p.words("drive.state") == ["off"])
        assert cut.values["queue.depth"][1] == 0
        machine.qtest.clock_step(60_000_000)
        on = picture(file, lambda p: p.words("drive.state") == ["ready"])
        assert on.header.sequence > cut.header.sequence
        assert on.values["sim_ns"][0] > cut.values["sim_ns"][0]
        assert machine.quit() == 0


def test_killed(image: Path, tmp_path: Path) -> None:
    """The file of a QEMU that was killed says so by its process, and the next
    one replaces it."""
    file = tmp_path / "drive.live"
    with Machine(*drive_args("tiny", image, live=str(file))) as machine:
        process = live_file.read(file).header.process
        assert machine.process and machine.process.pid == process
        machine.process.kill()
    assert live_file.read(file).header.state == live_file.RUNS
    with Machine(*drive_args("tiny", image, live=str(file))) as machine:
        assert live_file.read(file).header.process != process
        assert machine.quit() == 0


@pytest.mark.parametrize("name, message", [
    ("/nowhere/file", "live /nowhere/file: No such file"),
    ("notes", "live notes: is there, and is no live file"),
    (".", "live .: "),
])
def test_refused(image: Path, tmp_path: Path, name: str, message: str,
                 monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("mine, and long enough to be one")
    text = start_and_fail(*drive_args("tiny", image, live=name))
    assert len(text.splitlines()) == 1 and message in text
    assert Path("notes").read_text().startswith("mine")
