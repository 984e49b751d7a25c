# SPDX-License-Identifier: GPL-2.0-or-later
"""Files beside the image, over vfio-user: the operation log, the durable log,
the timeline and the trace, of a drive whose power is cut once; and faults and
power of several namespaces."""

from __future__ import annotations

import time
from pathlib import Path

import live_file
import pytest
from test_server import host_of, pattern, refused
from timeline_file import read as read_timeline
from vmm import LIMIT_S, PROJECT, Server, Vmm

from nvme_host import OP_FLUSH, OP_WRITE, NvmeHost
from test_namespaces import read, write
from test_oplog import LBAS, UNIT, commands, judge, work
from test_trace import checked
from vssd.campaign.durable import DATA, END, Log

KIB = 1 << 10


def wait_for_power(server: Server) -> None:
    """It returns by itself."""
    end = time.monotonic() + LIMIT_S
    while server.get("powered") is not True:
        assert time.monotonic() < end
        time.sleep(0.01)


def life(tmp_path: Path, image: Path, *more: str) -> tuple[int, str]:
    """Two rounds of work, a power cut, one round more, the end; how many
    commands, and what the server said."""
    with Server(tmp_path, image, "--power_return_ms", "50", *more) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        n = work(host, 2)
        server.put("power-cut", "running")
        wait_for_power(server)
        host = host_of(vmm)
        assert host.read(0, UNIT) == bytes([2]) * UNIT
        return n + 1 + work(host, 1), server.end()


def test_oplog(tmp_path: Path, image: Path) -> None:
    """The independent checker agrees with it."""
    image.write_bytes(b"data" * (2 << 18))
    log = tmp_path / "log"
    n, said = life(tmp_path, image, "--oplog", str(log))
    assert commands(log) == n and said == ""
    assert "1 power cuts" in judge(log).stdout


def test_timeline(tmp_path: Path, image: Path) -> None:
    """Commands, programs, and the cut."""
    file = tmp_path / "timeline"
    n, said = life(tmp_path, image, "--timeline", str(file), "--timeline_size",
                   "1MiB")
    assert said == ""
    t = read_timeline(file)
    assert sum(t.names("host commands").values()) == n
    assert all(s.path[1].endswith("queue 1") for s in t.of("host commands"))
    assert t.names("dies")["host", "program"] >= 10
    assert [i.name for i in t.instants] == ["power cut", "power on"]


def test_live(tmp_path: Path, image: Path) -> None:
    """Pictures while one wants them, over a power cut; their numbers are those of
    the statistics, and the last one is that of the end."""
    file = tmp_path / "drive.live"
    with Server(tmp_path, image, "--power_return_ms", "50", "--live", str(file)) \
            as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        time.sleep(0.6)
        assert live_file.read(file).header.pictures == 1
        work(host, 2)
        p = new_picture(file)
        assert live_file.check_numbers(p, server.get("stats")) >= 65
        server.put("power-cut", "running")
        wait_for_power(server)
        host = host_of(vmm)
        work(host, 1)
        assert new_picture(file).header.sequence > p.header.sequence
        assert server.end() == ""
    p = live_file.read(file)
    assert p.header.state == live_file.ENDED


def new_picture(file: Path) -> live_file.Picture:
    """One that begins after this call, of a drive that rests."""
    time.sleep(0.1)
    end, before = time.monotonic() + LIMIT_S, live_file.read(file).header.pictures
    while True:
        live_file.want(file)
        p = live_file.read(file)
        if p.header.pictures > before:
            return p
        assert time.monotonic() < end
        time.sleep(0.01)


def test_trace(tmp_path: Path, image: Path) -> None:
    """Played again by vssd-sim, each command ends when it did."""
    file = tmp_path / "guest.trace"
    n, said = life(tmp_path, image, "--trace", str(file))
    assert said == ""
    found = checked(file)
    assert found["requests"] == n and found["power_cuts"] == 1


def test_durable_log(tmp_path: Path, image: Path) -> None:
    """What is durable, and the commands."""
    file = tmp_path / "durable"
    n, said = life(tmp_path, image, "--durable_log", str(file))
    assert said == ""
    log = Log(file)
    kinds = [r.kind for r in log.records]
    log.file.close()
    assert kinds.count(END) == n and DATA in kinds


@pytest.mark.parametrize("more, words", [
    (["--oplog", "/none/x"], "/none/x: No such file"),
    (["--timeline", "/none/x"], "timeline /none/x: No such file"),
    (["--trace", "/none/x"], "/none/x: No such file"),
    (["--durable_log", "/none/x"], "/none/x: No such file"),
    (["--timeline_size", "1MiB"], "timeline_size=1MiB: needs timeline="),
    (["--timeline", "t", "--timeline_size", "1"],
     "timeline_size=1: allowed 1MiB..16GiB"),
    (["--timeline", "t", "--oplog", "o"], "not together with an operation log"),
    (["--oplog", "o", "--state", "s"], "--oplog= does not go with state="),
    (["--trace", "o", "--cmb", "1M"], "--trace= does not go with cmb="),
    (["--durable_log", "o", "--metadata", "8"],
     "--durable_log= does not go with metadata="),
])
def test_refused(tmp_path: Path, image: Path, monkeypatch: pytest.MonkeyPatch,
                 more: list[str], words: str) -> None:
    """One line that names the option or the file."""
    monkeypatch.chdir(tmp_path)
    assert words in refused("--profile", str(PROJECT / "profiles/tiny.ini"),
                            "--image", str(image), "--socket", "sock", *more)


def put_two(host: NvmeHost, seed: int) -> None:
    """4 KiB at the beginning of each of two namespaces."""
    for nsid in (1, 2):
        write(host, nsid, 0, pattern(seed + nsid), 512)


def test_faults_and_power_of_namespaces(tmp_path: Path, image: Path) -> None:
    """A rule acts on one of them; a power cut keeps what each had flushed; the
    state goes on with both."""
    more = ("--namespaces", "1M;rest", "--power_return_ms", "0")
    state = ("--state", str(tmp_path / "state"))
    with Server(tmp_path, image, *more, *state) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        put_two(host, 0)
        host.check(host.io.run(OP_FLUSH, nsid=0xFFFFFFFF))
        server.put("fault-add", "cmd=write nsid=2 nth=1 -> status 2/80")
        write(host, 1, LBAS, pattern(9), 512)
        done = host.io.run(OP_WRITE, nsid=2, prp1=0x1100000, cdw=(LBAS, 0, 7))
        assert done.status & 0x7FF == 0x280
        put_two(host, 10)
        server.put("powered", False)
        server.put("powered", True)
        host.enable()
        for nsid in (1, 2):
            assert read(host, nsid, 0, 4 * KIB, 512) in (
                pattern(nsid), pattern(10 + nsid))
        put_two(host, 20)
        host.check(host.io.run(OP_FLUSH, nsid=0xFFFFFFFF))
        assert server.end() == ""
    with Server(tmp_path, image, *more, *state) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for nsid in (1, 2):
            assert read(host, nsid, 0, 4 * KIB, 512) == pattern(20 + nsid)
