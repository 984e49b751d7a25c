# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives as an operator handles them (docs/machines.md): a drive is pulled out and put
back, a namespace gets another image, and RAID rebuilds on what returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from long_form import DEVICE, LONG, of_part

from conftest import MIB, vssd
from vssd import rundir

NAME = "test-operator"
WAIT_S = 300
PARTS = of_part(*DEVICE, "scripts/vssd/cli/drive.py", "scripts/vssd/cli/parsing.py")


def call(*words: str) -> str:
    """A command of ./vssd for the guest, which has to succeed."""
    done = vssd(words[0], "--run", NAME, *words[1:])
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def guest(text: str) -> str:
    """What a command line prints in the guest."""
    return call("exec", text).strip()


def wait(text: str, fits: Callable[[str], bool]) -> str:
    """Until a command of the guest prints what is wanted."""
    end = time.monotonic() + WAIT_S
    while True:
        said = guest(f"{text}; true")
        if fits(said):
            return said
        assert time.monotonic() < end, (said, guest("dmesg | tail -20"))
        time.sleep(1)


def disk(serial: str, nsid: int = 1) -> str:
    """Its name in Linux now; empty: it is not there."""
    return guest(f"""for d in /sys/class/nvme/*/nvme*n*/nsid; do
        case $(cat $d):$(cat ${{d%/*/*}}/serial) in
        {nsid}:{serial}*) n=${{d%/nsid}}; echo /dev/${{n##*/}};; esac; done 2>/dev/null""")


def pull(drive: str, serial: str) -> None:
    """Out of its slot, until Linux has let go of it."""
    call("drive", "remove", drive)
    wait("grep -l . /sys/class/nvme/*/serial | xargs cat", lambda said: serial not in said)


def put_back(drive: str, serial: str) -> str:
    """The same one; its name, which may be another."""
    call("drive", "return", drive)
    wait("cat /sys/class/nvme/*/nvme*n*/../serial; udevadm settle",
         lambda said: serial in said)
    name = disk(serial)
    assert name
    return name


def image(path: Path, text: bytes) -> Path:
    """An image of 64 MiB that begins with the text."""
    with path.open("wb") as f:
        f.truncate(64 * MIB)
        f.write(text)
    return path


@pytest.fixture
def detach() -> Iterator[Callable[..., None]]:
    """To start a guest in the background, which ends with the test."""
    def start(*words: str) -> None:
        done = vssd("run", "--detach", "--name", NAME, *words)
        assert done.returncode == 0, done.stderr

    yield start
    if any(r.name == NAME for r in rundir.running()):
        vssd("stop", NAME, "--force")


@PARTS
def test_drive_and_namespace(detach: Callable[..., None], tmp_path: Path) -> None:
    """A drive keeps what was durable.  A namespace has the data of its new image under
    the old names, by-id links, too; what the guest writes is dropped without --keep."""
    one, two, new = (image(tmp_path / name, name.encode()) for name in ("one", "two", "new"))
    detach("--drive", f"tiny,nand.blocks=200,image={one},image2={two},serial=PAIR",
           "--drive", "zero-latency,size=8M,serial=MOVED")
    before = disk("PAIR", 2)
    links = f"udevadm settle; find -L /dev/disk/by-id -samefile {before} | sort"
    named = wait(links, lambda said: "nvme-uuid." in said)
    assert guest(f"head -c 3 {before}") == "two"
    call("drive", "remove", "ssd1", "--namespace", "2")
    wait(f"test -e {before} || echo gone", lambda said: said == "gone")
    done = vssd("drive", "remove", "ssd1", "--namespace", "2", "--run", NAME)
    assert done.stderr == "vssd: namespace 2 has no image\n"
    call("drive", "return", "ssd1", "--namespace", "2", "--image", str(new))
    wait(f"head -c 3 {before}", lambda said: said == "new")
    assert wait(links, lambda said: "nvme-uuid." in said) == named
    guest(f"printf mine | dd of={before} conv=sync,notrunc oflag=direct bs=4k status=none")
    done = vssd("drive", "return", "ssd1", "--namespace", "2", "--image", str(two),
                "--run", NAME)
    assert done.stderr == "vssd: namespace 2 has an image\n"

    dev = disk("MOVED")
    guest(f"printf kept | dd of={dev} conv=sync,notrunc,fsync oflag=direct bs=4k status=none")
    pull("ssd2", "MOVED")
    assert guest(f"head -c 4 {put_back('ssd2', 'MOVED')}") == "kept"
    call("stop")
    assert new.read_bytes()[:4] == b"new\0"


@LONG
def test_md_rebuilds(detach: Callable[..., None]) -> None:
    """A RAID 1 goes on without the drive that is pulled out.  When that returns, only
    what was written meanwhile is copied: by the bitmap, since it is the same drive."""
    detach("--packages", "mdadm", "--drive", "zero-latency,size=256M,serial=LEFT",
           "--drive", "zero-latency,size=256M,serial=RIGHT")
    guest(f"mdadm --create /dev/md7 --run --level=1 --raid-devices=2 --bitmap=internal"
          " --bitmap-chunk=4M"
          f" --assume-clean --metadata=1.2 {disk('LEFT')} {disk('RIGHT')} 2>&1")
    guest("mkfs.ext4 -q /dev/md7 && mkdir -p /mnt/md && mount /dev/md7 /mnt/md &&"
          " dd if=/dev/urandom of=/mnt/md/a bs=1M count=20 status=none && sync")
    pull("ssd2", "RIGHT")
    guest("dd if=/dev/urandom of=/mnt/md/b bs=1M count=20 status=none && sync &&"
          " md5sum /mnt/md/[ab] > /root/sums")
    wait("cat /sys/block/md7/md/degraded", lambda said: said == "1")
    guest("mdadm /dev/md7 --remove detached 2>&1 || true")
    right = put_back("ssd2", "RIGHT")
    guest(f"dmesg -C; mdadm /dev/md7 --re-add {right} 2>&1")
    wait("cat /sys/block/md7/md/degraded /sys/block/md7/md/sync_action",
         lambda said: said.split() == ["0", "idle"])
    print(guest("dmesg | grep md7; mdadm --detail /dev/md7"))
    sectors = int(guest(f"cat /sys/block/{Path(right).name}/stat").split()[6])
    assert 20 * MIB <= 512 * sectors < 128 * MIB
    pull("ssd1", "LEFT")
    guest("echo 3 > /proc/sys/vm/drop_caches; md5sum -c /root/sums")


@LONG
def test_zfs_rebuilds(detach: Callable[..., None]) -> None:
    """A mirror of OpenZFS goes on without the drive that is pulled out.  When that
    returns, the pool takes it by its name, and copies what it lacks."""
    detach("--packages", "zfs-dkms,zfsutils-linux,linux-headers-amd64", "--mem", "1536M",
           "--drive", "zero-latency,size=256M,serial=LEFT",
           "--drive", "zero-latency,size=256M,serial=RIGHT")
    names = [disk("LEFT"), disk("RIGHT")]
    guest("modprobe zfs && udevadm settle && zpool create -f -o cachefile=none pool mirror"
          f" {names[0]} {names[1]} && dd if=/dev/urandom of=/pool/a bs=1M count=20"
          " status=none && zpool sync")
    pull("ssd2", "RIGHT")
    guest("dd if=/dev/urandom of=/pool/b bs=1M count=20 status=none && zpool sync &&"
          " md5sum /pool/* > /root/sums")
    wait("zpool status pool", lambda said: "state: DEGRADED" in said)
    assert put_back("ssd2", "RIGHT") == names[1]
    guest("zpool online pool $(zpool status -P pool | awk '$2 ~ /REMOVED|FAULTED|UNAVAIL/"
          " {print $1}') 2>&1 || zpool clear pool")
    print(wait("zpool status pool", lambda said: "state: ONLINE" in said
               and "resilvered" in said and "in progress" not in said))
    guest("zpool scrub -w pool")
    assert "with 0 errors" in guest("zpool status pool")
    pull("ssd1", "LEFT")
    guest("echo 3 > /proc/sys/vm/drop_caches; md5sum -c /root/sums")
