# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd run as a user types it: output, status, virtual time, bad input."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from long_form import START, of_part

from conftest import Env, blank, load, vssd
from vssd import paths, rundir

LEFT_S = 120
WORK = ("fio --name=i --filename=/root/f --size=8m --rw=randrw --bs=4k"
        " --iodepth=4 --ioengine=libaio --direct=1 --randseed=3"
        " --output=/dev/null; sync")


def refused(*args: str, env: dict[str, str] | None = None) -> str:
    """The one line with which vssd refuses this."""
    done = vssd(*args, env=env)
    assert done.returncode != 0
    lines = [x for x in done.stderr.splitlines() if " ..." not in x
             and ": done (" not in x and ": failed (" not in x
             and ": waiting" not in x]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("vssd: ")
    return lines[0]


def left_behind() -> list[Path]:
    """Directories of the tests' runs, and half-made files.  Those that the other
    worker of pytest is making now are soon gone."""
    end = time.monotonic() + LEFT_S
    while True:
        found = [*rundir.runs_dir().iterdir(), *paths.cache_dir().glob("*.part")]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.5)


def test_exec_gives_output_and_status(env: Env, tmp_path: Path) -> None:
    """stdout, stderr, status and statistics of one command, which starts before
    the network is up: file systems and devices are there.  What QEMU says
    (-trace of docs/guest.md) is not mixed with its output."""
    stats = tmp_path / "stats.json"
    done = vssd("run", "--profile", "zero-latency", "--exec",
                "test -d /run/vssd-agent && test -e /run/udev/control"
                " && mountpoint -q /tmp && echo early;"
                "echo err >&2; printf 'no newline'; exit 42",
                "--stats", str(stats), "--", "-trace", "vssd_*")
    assert done.stdout == "early\nno newline"
    assert "err\n" in done.stderr
    assert len(re.findall(r"^vssd_\w+ ", done.stderr, re.M)) > 100
    assert done.returncode == 42
    assert env.image.kernel.name == "vmlinux"  # which boots a second sooner
    found = load(stats)
    assert found["requests"] > 0
    assert found["schema_version"] >= 1


@of_part(*START)
def test_exec_waits_for_the_network_if_told_so(env: Env) -> None:
    """Else it starts before, as above."""
    waits = vssd("run", "--profile", "zero-latency", "--wait-network", "--exec",
                 "test ! -e /run/vssd-agent && systemctl is-active"
                 " systemd-networkd && ip route | grep -o '^default via'")
    assert waits.stdout == "active\ndefault via\n", waits.stderr


@of_part(*START, "core/", "nand/", "ftl/", "hw-ssd/", "profiles/")
def test_icount_twice_is_the_same(env: Env, tmp_path: Path) -> None:
    """Two runs in virtual time: every number of the drive is equal."""
    found: list[dict[str, Any]] = []
    for name in ("a", "b"):
        path = tmp_path / name
        done = vssd("run", "--icount", "--seed", "7", "--exec", WORK,
                    "--stats", str(path), timeout_s=1800)
        assert done.returncode == 0, done.stderr
        found.append(load(path))
    assert found[0]["requests"] > 1000
    assert found[0]["lateness_ns"]["max"] == 0
    assert found[0] == found[1]


@of_part(*START, "scripts/vssd/cli/console.py")
def test_piped_console(env: Env) -> None:
    """Lines from a pipe are typed; at their end the guest is powered down."""
    done = subprocess.run(
        [str(paths.PROJECT / "vssd"), "run"], text=True, timeout=1500,
        input="root\necho $((6*7)) > /root/x; cat /root/x\n",
        capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    # The kernel may speak between the prompt and what is typed there; what the
    # shell echoes and answers stands together.
    text = re.sub(r"\x1b\[[?\d;]*\w", "", done.stdout)
    assert "vssd login: " in text
    assert re.search(r"root@vssd:~# echo .*; cat /root/x\n+42\n", text)
    assert "reboot: Power down" in done.stdout
    assert "drive: profile" in done.stderr


def test_no_profile(env: Env) -> None:
    """The names that exist are told."""
    line = refused("run", "--profile", "nope", "--exec", "true")
    assert "nope" in line and "tlc-generic" in line


@pytest.mark.parametrize("text, word", [
    ("[nand\nchannels = 4\n", "bad.ini"),
    ("[nand]\nchanels = 4\n", "chanels"),
    ("[nand]\nchannels = 0\n", "nand.channels"),
    ("[nand]\nchannels = 65000\n", "nand.channels"),
    ("[nand]\nread = soon\n", "nand.read"),
    ("[nand]\nblocks = 2\npages = 2\n", "nand."),
])
def test_bad_profiles(env: Env, tmp_path: Path, text: str, word: str) -> None:
    """Malformed, an unknown key, out of range, an impossible geometry."""
    bad = tmp_path / "bad.ini"
    bad.write_text(text)
    assert word in refused("run", "--profile", str(bad), "--exec", "true")


def test_bad_set(env: Env) -> None:
    """--set is checked like a profile."""
    assert "nand.channels" in refused("run", "--set", "nand.channels=9999",
                                      "--exec", "true")
    assert "KEY=VALUE" in refused("run", "--set", "nand.channels", "--exec",
                                  "true")


def test_image_larger_than_the_drive(env: Env, tmp_path: Path) -> None:
    """Refused with both sizes or a hint, not truncated."""
    image = blank(tmp_path / "big.raw", 64 << 20)
    line = refused("run", "--profile", "tiny", "--disk", str(image))
    assert "larger" in line or "capacity" in line


def test_missing_files(env: Env, tmp_path: Path) -> None:
    """Each file that is named must be there."""
    for option in ("--disk", "--kernel"):
        line = refused("run", option, str(tmp_path / "none"))
        assert "none" in line and option in line


def test_disk_that_does_not_boot(env: Env, tmp_path: Path) -> None:
    """A guest that never comes up: the time limit ends it, with a reason."""
    image = blank(tmp_path / "blank.raw", 16 << 20)
    line = refused("run", "--disk", str(image), "--exec", "true", "--timeout",
                   "8")
    assert "did not come up" in line
    kept = re.search(r"all of it: (\S+)\)", line)
    assert kept and "EIP=" in Path(kept[1]).read_text()
    Path(kept[1]).unlink()
    assert left_behind() == []


def test_missing_qemu(env: Env, tmp_path: Path) -> None:
    """No source where the user says there is one."""
    line = refused("setup", "--qemu-source", str(tmp_path / "none"))
    assert "none" in line
    wrong = tmp_path / "qemu.tar"
    wrong.write_bytes(b"not a tarball")
    assert "qemu.tar" in refused("setup", "--qemu-source", str(wrong))
    assert "sha256" in refused("setup", "--qemu-source", str(wrong),
                               "--sha256", "0" * 64)
    assert left_behind() == []


def test_no_disk_space(env: Env) -> None:
    """A full file system: said at once, nothing left."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    script = ("mount -t tmpfs -o size=40m,mode=700 tmpfs /mnt && export VSSD_CACHE=/mnt"
              f" && '{paths.PROJECT}/vssd' run --exec true; s=$?;"
              " ls /mnt >&2; exit $s")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], text=True,
                          capture_output=True, check=False, timeout=1500,
                          stdin=subprocess.DEVNULL)
    if "unshare failed" in done.stderr:
        pytest.skip("no mount namespaces here")
    assert done.returncode == 1
    assert "free" in done.stderr or "No space left" in done.stderr
    assert ".part" not in done.stderr


def test_no_network(env: Env, tmp_path: Path) -> None:
    """An empty cache and no way to a mirror: one line, nothing half made."""
    cache = tmp_path / "cache"
    done = subprocess.run(
        ["unshare", "-n", str(paths.PROJECT / "vssd"), "run", "--exec",
         "true"], text=True, capture_output=True, check=False, timeout=1500,
        stdin=subprocess.DEVNULL, env=dict(os.environ, VSSD_CACHE=str(cache)))
    if "unshare failed" in done.stderr:
        pytest.skip("no network namespaces here")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("vssd: ") and "failed" in last
    assert "Traceback" not in done.stderr
    assert [p for p in cache.iterdir() if p.name.startswith(
        ("venv-", "qemu-", "build-", "image-")) and p.is_dir()] == []
