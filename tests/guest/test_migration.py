# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest in the middle of fio is saved and resumed, and moved to another QEMU.

fio writes at random, then reads everything back and compares.  It is saved while
it writes; it ends well in the machine that was saved, and once more in the same
machine resumed; then again it is moved while it writes, and ends well there.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from long_form import DEVICE, of_part

from conftest import Env, drive
from vssd.errors import UserError
from vssd.guest.guest import Guest
from vssd.guest.machine import Result, Spec

pytestmark = of_part(*DEVICE, "ftl/state/")
SIZE = 48 << 20
STOPS = 500
SOON_S = 120   # likewise, for what takes a second
LIMIT_S = 900  # a guard against what hangs, on a machine that is busy
FIO = ("fio --output-format=json --name=v --filename={dev} --size=48m"
       " --rw=randwrite --bssplit=512/10:4k/60:64k/30 --iodepth=16"
       " --ioengine=libaio --direct=1 --fsync=200 --verify=crc32c"
       " --verify_fatal=1 --randseed={seed}")
FIND = ("basename $(dirname $(dirname"
        " $(grep -lw VSSD0001 /sys/block/nvme*/device/serial)))")


def spec_of(env: Env, folder: Path) -> Spec:
    """A guest with a drive of its own for the data, whose buffer is a cache;
    both images can hold snapshots."""
    data = folder / "data.qcow2"
    subprocess.run([env.qemu.img, "create", "-q", "-f", "qcow2", data, "512M"],
                   check=True)
    return env.lean([drive(env.overlay(folder)),
                     drive(data, sets=["buffer.policy=lru"])], mem_mib=512)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the images are."""
    return tmp_path_factory.mktemp("migration")


@pytest.fixture(scope="module")
def source(env: Env, folder: Path) -> Iterator[Guest]:
    """The guest that is saved, and later moved away."""
    with Guest(spec_of(env, folder)) as running:
        running.wait_agent()
        yield running


def written(guest: Guest) -> int:
    """Bytes that the guest has written to its data drive, as the drive says."""
    return int(guest.stats(1)["host_bytes_written"])


def begin(guest: Guest, seed: int) -> None:
    """Start fio, and wait until a third of its writes has been done."""
    dev = "/dev/" + guest.run(FIND).strip()
    before = written(guest)
    guest.run("rm -f /run/done; (" + FIO.format(dev=dev, seed=seed)
              + " >/run/fio.json; echo $? >/run/done) 2>/run/fio.err"
              " </dev/null >/dev/null &")
    end = time.monotonic() + LIMIT_S
    while written(guest) - before < SIZE / 3:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert written(guest) - before < SIZE, "fio has written all: too fast"


def end_well(guest: Guest) -> None:
    """fio ends, has read back what it wrote, and the kernel saw no error."""
    guest.run("for i in $(seq 9000); do [ -s /run/done ] && exit 0; sleep 0.1;"
              " done; exit 1")
    text = guest.run("cat /run/fio.json")
    job = json.loads(text[text.index("{"):])["jobs"][0]
    assert guest.run("cat /run/done").strip() == "0"
    assert job["error"] == 0
    assert job["write"]["io_bytes"] == SIZE
    assert job["read"]["io_bytes"] >= SIZE
    assert not guest.run("dmesg | grep -E 'I/O error|nvme.*(timeout|reset)' ||"
                         " :")


def monitor(guest: Guest, line: str) -> None:
    """A command for people; no answer is a good answer."""
    begun = time.monotonic()
    said = guest.qmp("human-monitor-command", **{"command-line": line})
    print(f"{line}: {time.monotonic() - begun:.1f} s")
    if said:
        raise UserError(said)


def test_snapshot_in_the_middle_of_fio(source: Guest) -> None:
    """What was saved goes on twice, and once more from a second snapshot."""
    begin(source, 1)
    monitor(source, "savevm middle")
    saved = source.stats(1)
    end_well(source)
    assert written(source) > saved["host_bytes_written"]
    monitor(source, "loadvm middle")
    again = source.stats(1)
    assert again["host_bytes_written"] < saved["host_bytes_written"] + SIZE / 2
    assert source.run("ls /run/done 2>/dev/null || echo running") == "running\n"
    end_well(source)
    assert source.stats(1)["nand"]["programs"] > saved["nand"]["programs"]
    for name in ("middle",):
        monitor(source, f"delvm {name}")


def test_commands_and_snapshots(source: Guest) -> None:
    """A command that a snapshot does not have ends with an error; one that the
    snapshot alone has is killed; a saved guest goes on with its own."""
    def begun() -> Future[Result]:
        found = asyncio.run_coroutine_threadsafe(
            source.live.request("sleep 321"), source.loop)
        time.sleep(0.5)
        return found

    monitor(source, "savevm idle")
    for name in ("busy", "idle", "busy"):
        running = begun()
        if name not in source.qmp("human-monitor-command",
                                  **{"command-line": "info snapshots"}):
            monitor(source, f"savevm {name}")
            source.wait_agent()  # it has the next mark
            assert not running.done()
        monitor(source, f"loadvm {name}")
        with pytest.raises(UserError, match="the guest restarted"):
            running.result(SOON_S)
        assert source.run("pgrep -xf 'sleep 321' || echo none") == "none\n"
    for name in ("busy", "idle"):
        monitor(source, f"delvm {name}")


def test_stops_in_the_middle_of_fio(source: Guest) -> None:
    """The machine stops at any instant, also when a timer of the drive has
    just fired: the clock stands, and the drive does not wait for it."""
    begin(source, 3)
    for _ in range(STOPS):
        source.qmp("stop")
        source.qmp("cont")
    end_well(source)


def move(source: Guest, target: Guest, folder: Path) -> None:
    """Live, through a socket; the target is the guest from then on."""
    target.qmp("migrate-incoming", uri=f"unix:{folder}/wire")
    source.qmp("migrate", uri=f"unix:{folder}/wire")
    end = time.monotonic() + LIMIT_S
    while True:
        info = source.qmp("query-migrate")
        assert info["status"] not in ("failed", "cancelled"), info
        if info["status"] == "completed":
            break
        assert time.monotonic() < end, info
        time.sleep(0.1)
    print(f"moved in {info['total-time']} ms, stopped for {info['downtime']}"
          " ms")


def test_live_migration_in_the_middle_of_fio(env: Env, source: Guest,
                                             folder: Path) -> None:
    """Another QEMU takes over; it has the drive as it was."""
    spec = source.spec
    begin(source, 2)
    with Guest(Spec(**{**vars(spec), "extra": ["-incoming", "defer"]})) \
            as target:
        move(source, target, folder)
        assert target.stats(1)["host_bytes_written"] >= written(source)
        end_well(target)
        assert target.stats(1)["profile"] == source.stats(1)["profile"]
        target.power_off()
