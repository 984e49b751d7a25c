# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux on a drive that loses its power: nothing that was synced is lost.

One guest; its data drive sits in a hot-plug slot.  It is cut while files and two
SQLite databases are written, and comes back as a drive that was put in again.
The notes of what was promised are in the guest's memory, which stays.
"""

from __future__ import annotations

import errno
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from long_form import LONG

from conftest import MIB, Env, blank, drive
from vssd.errors import UserError
from vssd.guest.guest import Guest

LOAD = Path(__file__).with_name("crash_load.py")
KINDS = ("files", "wal", "rollback")
CUTS = 3
FIND = ("for i in $(seq 600); do f=$(grep -lw VSSD0001"
        " /sys/block/nvme*/device/serial 2>/dev/null | tail -1);"
        " b=/dev/$(basename \"$(dirname \"$(dirname \"$f\")\")\");"
        " [ -n \"$f\" ] &&"
        " [ $(blockdev --getsize64 $b 2>/dev/null || echo 0) -gt 0 ] &&"
        " { echo $b; exit 0; }; sleep 0.1; done;"
        " echo 'the drive did not come back:' >&2; dmesg | tail -40 >&2;"
        " lspci -nn >&2; ps -eo stat,wchan:30,args | grep '^D' >&2; exit 1")


@pytest.fixture(scope="module", params=["off", pytest.param("on", marks=LONG)],
                ids=["sound", "ignored-flush"])
def cut_guest(request: pytest.FixtureRequest, env: Env,
              tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A guest whose second drive is in a slot; sound, or ignoring flushes."""
    folder = tmp_path_factory.mktemp("power")
    data = drive(blank(folder / "data.raw", 512 * MIB), "raw",
                 sets=["buffer.policy=lru",  # keeps what it is not told to flush
                       f"buffer.ignore_flush={request.param}",
                       "ftl.recovery=checkpoint",  # forgets the map
                       "ftl.op_percent=20%"])
    data.slot = True
    with Guest(env.lean([drive(env.overlay(folder)), data])) as running:
        running.wait_agent()
        running.run(f"cat > /run/load.py <<'END_OF_LOAD'\n{LOAD.read_text()}"
                    "END_OF_LOAD")
        yield running


def device(guest: Guest) -> str:
    """The data drive's name, which changes each time that it comes back."""
    return guest.run(FIND).strip()


def cut_and_check(guest: Guest, more: int, seconds: float) \
        -> tuple[int, str]:
    """One cut under load, some time after each program has been promised this
    much: status of the check, and what it said."""
    for kind in KINDS:
        guest.run(f"python3 /run/load.py {kind} /mnt /run/{kind}-notes"
                  f" >/run/{kind}.out 2>&1 </dev/null &")
    guest.run("n=0; for i in $(seq 600); do sleep 0.2; n=0; for f in "
              + " ".join(f"/run/{kind}-notes" for kind in KINDS)
              + f"; do [ $(wc -l <$f) -ge {more} ] && n=$((n+1)); done;"
              " [ $n = 3 ] && exit 0; done; exit 1")
    time.sleep(seconds)
    guest.qmp("qom-set", path="/machine/peripheral/ssd1",
              property="power-cut", value="running")
    guest.run("for i in $(seq 900); do pgrep -f '[l]oad.py' >/dev/null || exit"
              " 0; sleep 0.1; done; exit 1")
    guest.run("umount /mnt || umount -f /mnt", check=False)
    mounted = guest.result(f"mount {device(guest)} /mnt")
    if mounted.status != 0:
        return mounted.status, mounted.err.decode()
    result = guest.result("python3 /run/load.py check /mnt /run/*-notes")
    return result.status, result.out.decode() + result.err.decode()


@pytest.mark.parametrize("mkfs, check", [
    ("mkfs.ext4 -q -F", "e2fsck -fn"),
    pytest.param("mkfs.xfs -q -f", "xfs_repair -n", marks=LONG),
    pytest.param("mkfs.f2fs -q -f", "fsck.f2fs --dry-run", marks=LONG),
], ids=["ext4", "xfs", "f2fs"])
def test_file_system(cut_guest: Guest, mkfs: str, check: str,
                     request: pytest.FixtureRequest) -> None:
    """Cut, mount, compare, check; again and again."""
    lies = "ignored-flush" in request.node.name
    if lies and "ext4" not in mkfs:
        pytest.skip("one file system shows that the check can fail")
    chance = random.Random(7)
    cut_guest.run("umount -f /mnt", check=False)
    cut_guest.run(f"{mkfs} {device(cut_guest)} && rm -f /run/*-notes &&"
                  f" mount {device(cut_guest)} /mnt")
    found = []
    for turn in range(CUTS):
        status, said = cut_and_check(cut_guest, 8 * (turn + 1),
                                     2 * chance.random())
        print(f"cut {turn + 1}: {said}")
        if lies and status != 0:
            return  # it was found out
        assert status == 0, said
        found.append(int(said.split()[1]))
        cut_guest.run("umount /mnt")
        checked = cut_guest.result(f"{check} {device(cut_guest)}")
        assert checked.status == 0, checked.out[-2000:]
        cut_guest.run(f"mount {device(cut_guest)} /mnt")
    cut_guest.run("umount /mnt")
    assert found[-1] > 20, "too little was written for a test"
    again = cut_guest.stats(1)["recovery"]
    print(f"ready after {again['max_ready_ns'] / 1e6:.1f} ms at the most")
    assert again["count"] >= CUTS and again["ready_ns"] > 0
    if lies:
        raise UserError("a drive that ignores flushes was not found out")


FIO = ("fio --name=v --filename={dev} --aux-path=/run --ioengine=libaio"
       " --direct=1 --sync=1 --rw=randwrite --bs=4k --size=256m"
       " --verify=crc32c {more}")


def test_fio_verify_state(cut_guest: Guest,
                          request: pytest.FixtureRequest) -> None:
    """What fio has been told is written (O_SYNC: by FUA) is there after a cut.

    fio keeps in its state file what had completed when the drive vanished, and
    reads only that when it is run again.
    """
    lies = "ignored-flush" in request.node.name
    cut_guest.run("umount -f /mnt; rm -f /run/*verify.state", check=False)
    dev = device(cut_guest)
    writes = "awk '{print $5}' /sys/block/" + Path(dev).name + "/stat"
    cut_guest.run(f"first=$({writes}); ("
                  + FIO.format(dev=dev, more="--do_verify=0"
                               " --verify_state_save=1")
                  + ") >/run/fio.out 2>&1 </dev/null &"
                  " for i in $(seq 600); do sleep 0.1;"
                  f" [ $(($({writes}) - first)) -ge 2000 ] && exit 0; done;"
                  " exit 1")
    cut_guest.qmp("qom-set", path="/machine/peripheral/ssd1",
                  property="power-cut", value="running")
    cut_guest.run("for i in $(seq 900); do pgrep -x fio >/dev/null || exit 0;"
                  " sleep 0.1; done; exit 1")
    cut_guest.run("ls /run/*verify.state")
    done = cut_guest.result(FIO.format(
        dev=device(cut_guest), more="--verify_only=1 --verify_state_load=1"
        " --output-format=json"))
    job = json.loads(done.out[done.out.index(b"{"):])["jobs"][0]
    print(f"{job['read']['total_ios']} blocks verified, error {job['error']}")
    if lies:
        assert job["error"] == errno.EILSEQ
    else:
        assert job["error"] == 0
        assert job["read"]["total_ios"] > 1000
