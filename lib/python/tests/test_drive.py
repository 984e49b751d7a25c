# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the Python package; tests/scripts/test_libvssd.py runs them with the
installed wheel."""

from __future__ import annotations

import errno
import sys
import time
from pathlib import Path

import libvssd
import numpy as np
import pandas as pd
import pytest
from libvssd import Drive, VssdError, requests

sys.path.append(str(Path(__file__).parents[3] / "tests"))
import live_file  # noqa: E402

MANY = 200_000


def mixed(drive: Drive, n: int, seed: int) -> np.ndarray:
    """Reads and writes of 4 KiB at random."""
    rng = np.random.default_rng(seed)
    return requests(op=rng.integers(0, 2, n),
                    lba=rng.integers(0, drive.info.nblocks // 8, n) * 8,
                    nblocks=8)


def test_versions() -> None:
    assert libvssd.abi() >= 1
    assert libvssd.version()[0].isdigit()
    assert "`ftl.gc`" in libvssd.options_table()


def test_options() -> None:
    with Drive("tiny", ftl_op_percent="60%", buffer_plp=True,
               options={"ftl.gc": "fifo"}, seed=3) as drive:
        assert drive.option("ftl.op_percent") == "60%"
        assert drive.option("buffer.plp") == "on"
        assert drive.stats()["options"]["ftl.gc"] == "fifo"
        assert drive.option("seed") == "3"
        with pytest.raises(KeyError):
            drive.option("ftl.none")
    for more, says in (({"ftl_gc": "best"}, "ftl.gc=best: allowed greedy"),
                       ({"nothing": 1}, "nothing: no such option"),
                       ({"block_bytes": 100}, "block size 100")):
        with pytest.raises(VssdError, match=says) as failed:
            Drive("tiny", **more)
        assert "\n" not in str(failed.value)
    with pytest.raises(ValueError, match="semicolon"):
        Drive("tiny", ftl_gc="greedy;seed=2")
    with pytest.raises(VssdError) as failed:
        Drive("no-such-profile")
    assert failed.value.errno == errno.EIO


def test_zones() -> None:
    """Append, finish and reset; the rules; a saved drive."""
    options = {"zones.enabled": True, "ftl.alloc": "in-order", "nand.blocks": 24,
               "buffer.plp": True, "ftl.op_percent": "0%", "zones.max_active": 2}
    drive = Drive("tiny", options=options, block_bytes=4096)
    size = drive.info.zone_blocks
    done = drive.play(op="append", lba=size, nblocks=[2, 3, 4], depth=3)
    assert list(done["bad_lba"]) == [size, size + 2, size + 5]
    assert drive.zone(size) == libvssd.Zone(size, 9, "implicitly-open")
    with pytest.raises(VssdError, match="write pointer is at") as failed:
        drive.submit("write", size, 1)
    assert failed.value.errno == errno.EPERM
    drive.submit("zone-finish", size)
    with pytest.raises(VssdError, match="the zone is busy"):
        drive.submit("zone-reset", size)
    (finish,) = drive.advance()
    drive.rest()
    again = Drive.load(drive.save(), "tiny", options=options, block_bytes=4096)
    assert again.zone(size).state == "full"
    reset = again.play(op="zone-reset", lba=size)[0]
    assert again.zone(size) == libvssd.Zone(size, 0, "empty")
    # A zone of pages without data takes longer than its erase.
    assert finish["complete_ns"] - finish["submit_ns"] > \
        reset["complete_ns"] - reset["submit_ns"]


def test_commands_one_by_one() -> None:
    drive = Drive("tiny")
    tag = drive.submit("write", 0, 8)
    assert drive.submit("flush", tag=5) == 5
    done = drive.advance(costs=True)
    assert {tag, 5} == set(done["tag"].tolist())
    latency = done["complete_ns"] - done["submit_ns"]
    assert (sum(done[f"{c}_ns"] for c in libvssd.arrays.COSTS) == latency).all()
    assert drive.mapped(0) and not drive.mapped(8)
    later = drive.now_ns + 10**6
    assert len(drive.advance(later)) == 0 and drive.now_ns == later
    with pytest.raises(VssdError, match="already"):
        drive.advance(later - 1)
    with pytest.raises(ValueError, match="op=erase: allowed read"):
        drive.submit("erase")
    full = Drive("tiny", host_queue_depth=1)
    full.submit("read")
    with pytest.raises(VssdError) as failed:
        full.submit("read")
    assert failed.value.errno == errno.EAGAIN


def test_arrays() -> None:
    drive = Drive("tiny")
    drive.preload()
    done = drive.play(op=["read", "write"], lba=[0, 8], nblocks=8,
                      time_ns=[10**6, 2 * 10**6])
    assert done["submit_ns"].tolist() == [10**6, 2 * 10**6]
    assert done["tag"].tolist() == [0, 1]
    assert len(drive.play(requests(op="read", lba=[]))) == 0
    for bad in ({"lba": -1}, {"lba": 0.5}, {"nblocks": 2**33},
                {"stream": 70000}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            drive.play(op="read", **bad)
    with pytest.raises(VssdError, match="request 1: lba="):
        drive.play(op="read", lba=[0, drive.info.nblocks])


def test_play_is_submit_and_advance() -> None:
    a, b = Drive("tiny", seed=2), Drive("tiny", seed=2)
    load = mixed(a, 500, 1)
    played = a.play(load, depth=1)
    for i, one in enumerate(load):
        b.submit(int(one["op"]), int(one["lba"]), int(one["nblocks"]), tag=i)
        (done,) = b.advance()
        assert done == played[i]
    assert a.stats() == b.stats()


def test_states(tmp_path: Path) -> None:
    drive = Drive("tiny", seed=4)
    drive.play(mixed(drive, 2000, 2), depth=8)
    with pytest.raises(VssdError):
        drive.submit("write", 0, 8)
        drive.save()
    drive.advance()
    drive.rest()
    state = drive.save()
    drive.save(tmp_path / "state")
    again = Drive.load(state, "tiny", seed=4)
    from_file = Drive.load(tmp_path / "state", "tiny", seed=4)
    copy = drive.clone()
    load = mixed(drive, 2000, 3)
    played = drive.play(load)
    for other in (again, from_file, copy):
        assert (other.play(load) == played).all()
        assert other.stats() == drive.stats()
        other.check()
    with pytest.raises(VssdError, match="must be the same"):
        Drive.load(state, "tiny", seed=4, ftl_op_percent="90%")
    with pytest.raises(VssdError):
        Drive.load(b"nothing", "tiny")


def test_power() -> None:
    drive = Drive("tiny", keep_versions=True)
    drive.play(op=["write", "flush", "write"], lba=0, nblocks=8, depth=1)
    assert drive.version_of(0) == 2
    drive.power_cut()
    assert not drive.ready
    drive.power_on()
    assert drive.ready and drive.version_of(0) == 1
    assert drive.version_of(800) is None
    with pytest.raises(VssdError, match="VSSD_KEEP_VERSIONS"):
        Drive("tiny").power_cut()


def test_frames() -> None:
    drive = Drive("tiny")
    done = drive.play(mixed(drive, 100, 5))
    frame = pd.DataFrame(done)
    assert frame["complete_ns"].max() <= drive.now_ns
    stats = drive.stats_frame().set_index("member")["value"]
    assert stats["waf"] == drive.stats()["waf"]
    drive.reset_stats()
    assert drive.stats()["host_bytes_read"] == 0


def test_set() -> None:
    """The next command takes longer; an option that shapes the drive is refused."""
    drive = Drive("tiny", options={"host.firmware": "3us"})
    one = requests(op=0, lba=[0], nblocks=8)

    def latency() -> int:
        done = drive.play(one)
        return int(done["complete_ns"][0] - done["submit_ns"][0])

    before = latency()
    drive.set("host.firmware", "50us")
    assert drive.option("host.firmware") == "50us"
    assert drive.stats()["options"]["host.firmware"] == "50us"
    assert latency() == before + 47000
    with pytest.raises(VssdError, match="nand.dies: does not change while"):
        drive.set("nand.dies", 4)


def test_live(tmp_path: Path) -> None:
    """Pictures while the drive plays, with the numbers of the statistics."""
    file = tmp_path / "drive.live"
    drive = Drive("tiny")
    drive.preload()
    drive.live(file)
    with pytest.raises(VssdError, match="there is a view already"):
        drive.live(file)
    live_file.want(file, 9)
    drive.play(mixed(drive, 200_000, 7))
    assert live_file.read(file).header.pictures > 1
    drive.live(None)
    picture = live_file.read(file)
    assert picture.header.state == live_file.ENDED
    assert live_file.check_numbers(picture, drive.stats()) > 60
    drive.live(file)
    drive.close()
    assert live_file.read(file).header.state == live_file.ENDED


def test_a_million_requests_a_second() -> None:
    """CPU time, on a drive without latencies; a machine with a quarter of the
    usual speed passes."""
    drive = Drive("zero-latency")
    drive.preload()
    load = mixed(drive, MANY, 6)
    load["op"] = 0
    begin = time.process_time()
    drive.play(load, depth=8)
    rate = MANY / (time.process_time() - begin)
    print(f"{rate / 1e6:.2f} million requests per second of CPU time")
    assert rate > 500_000
