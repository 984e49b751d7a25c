# SPDX-License-Identifier: GPL-2.0-or-later
"""A detached run with two further drives, a share, sshd and a forwarded port,
and the commands that reach it by its name.  One boot for all."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Env, load, vssd
from vssd import paths, rundir
from vssd.cli.run import DEFAULT_PROFILE
from vssd.guest import links
from vssd.watch import members
from vssd.watch.live import LiveFile

NAME = "test-machine"


@dataclass
class Detached:
    """The run, and what the host shares with it."""

    folder: Path
    in_memory: Path  # shared, too, on tmpfs
    port: int
    stats: Path

    def exec(self, *words: str, given: bytes | None = None) \
            -> subprocess.CompletedProcess[bytes]:
        """./vssd exec"""
        options = [] if given is None else ["-i"]
        return subprocess.run(
            [str(paths.PROJECT / "vssd"), "exec", "--run", NAME, *options,
             "--", *words], capture_output=True, check=False, timeout=1500,
            input=given)


@pytest.fixture(scope="module")
def run(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Detached]:
    """It is up for all tests of this file; the last one ends it."""
    folder = tmp_path_factory.mktemp("share")
    memory = tempfile.TemporaryDirectory(dir="/dev/shm")
    (folder / "seen").write_text("by the guest")
    found = Detached(folder, Path(memory.name), links.free_port(),
                     folder / "stats.json")
    done = vssd("run", "--detach", "--name", NAME, "--stats", str(found.stats),
                "--drive", "tiny,size=8M,serial=SMALL,aged",
                "--drive", "zero-latency,size=64M",
                "--share", f"{folder}:/mnt/with space",
                "--share", f"{found.in_memory}:/mnt/memory", "--ssh",
                "--forward", f"{found.port}:22")
    assert (done.returncode, done.stdout) == (0, NAME + "\n"), done.stderr
    with memory:
        yield found
        if any(r.name == NAME for r in rundir.running()):
            vssd("stop", NAME, "--force")


def test_drives_and_share(run: Detached) -> None:
    """Of their sizes and serial numbers, behind hot-plug slots."""
    done = run.exec("lsblk -bdno SERIAL,SIZE; ls /sys/bus/pci/slots; cat"
                    " '/mnt/with space/seen'; echo no >&2; exit 3")
    text = done.stdout.decode()
    assert done.returncode == 3 and b"no\n" in done.stderr
    assert re.search(r"^SMALL +8388608$", text, re.M), text
    assert re.search(r"^VSSD0002 +67108864$", text, re.M), text
    assert text.endswith("by the guest")
    assert run.exec("cp", "/etc/hostname", "/mnt/with space/h").returncode == 0
    assert (run.folder / "h").read_text() == "vssd\n"


@pytest.mark.parametrize("at", ["/mnt/with space", "/mnt/memory"])
def test_share_gives_no_rights(run: Detached, at: str) -> None:
    """No set-uid bit, device or owner reaches the host; links of either side
    are links on the other."""
    folder = run.in_memory if at == "/mnt/memory" else run.folder
    (folder / "of-host").symlink_to("text")
    (folder / "text").write_text("by links")
    done = run.exec("sh", "-c", f"""cd '{at}'; cp /bin/true x
        chmod 4755 x; echo $?; chmod 2755 x; echo $?; chmod 700 x; echo $?
        install -m 4755 x y; echo $?; chown 1234:1234 x; echo $?
        mknod c c 1 3; echo $?; mknod b b 7 0; echo $?; mkfifo p; echo $?
        perl -e 'sysopen(F, "z", 0101, 04755) or exit 1'; echo $?
        ln -s text of-guest; readlink of-host; cat of-host""")
    assert done.stdout.decode().split() == [
        *"110111101", "text", "by", "links"]
    assert os.readlink(folder / "of-guest") == "text"
    assert (folder / "x").stat().st_mode & 0o7777 == 0o700
    for path in folder.iterdir():
        found = path.lstat()
        assert not found.st_mode & 0o6000, path
        assert not stat.S_ISCHR(found.st_mode), path
        assert not stat.S_ISBLK(found.st_mode), path
        assert (found.st_uid, found.st_gid) == (os.geteuid(), os.getegid())


def test_input_kill_and_time(run: Detached) -> None:
    """Input that nobody reads; a command that is killed."""
    big = os.urandom(100_000)
    assert run.exec("head -c 9", given=big).stdout == big[:9]
    assert run.exec("sh", "-c", "cat; echo '$x' \"$1\"", "sh", "a b",
                    given=b"in\n").stdout == b"in\n$x a b\n"
    done = vssd("exec", "--run", NAME, "--timeout", "1", "echo on; sleep 54321")
    assert (done.returncode, done.stdout) == (124, "on\n")
    assert run.exec("pgrep -f [5]4321").returncode == 1


def test_agent_that_starts_again(run: Detached) -> None:
    """In the middle of a request, as by a kexec, of which QEMU tells nothing:
    what it finds of that on its port is no command."""
    done = run.exec("systemctl --no-block restart vssd-agent; exec cat >/dev/null",
                    given=b"P\0\0\0\0R\1\0\0\0x" * 100_000)
    assert done.returncode == 1
    assert done.stderr.decode() == \
        f"vssd: {NAME}: the guest restarted before the command ended\n"
    done = vssd("exec", "--run", NAME, "--timeout", "120", "echo next")
    assert (done.returncode, done.stdout) == (0, "next\n")


def test_copies(run: Detached, tmp_path: Path) -> None:
    """A directory there and back, by ssh."""
    tree = tmp_path / "tree"
    (tree / "in").mkdir(parents=True)
    (tree / "in/data").write_bytes(os.urandom(300_000))
    (tree / "link").symlink_to("in/data")
    assert vssd("cp", str(tree), f"{NAME}:/root/there").returncode == 0
    done = vssd("cp", f"{NAME}:there", str(tmp_path / "back"))
    assert done.returncode == 0, done.stderr
    same = subprocess.run(["diff", "-r", tree, tmp_path / "back"], check=False)
    assert same.returncode == 0
    done = vssd("cp", f"{NAME}:/no/such", str(tmp_path))
    assert done.returncode == 1 and "No such file" in done.stderr


def test_ports(run: Detached) -> None:
    """The forwarded one, and ssh with the key."""
    with socket.create_connection(("127.0.0.1", run.port), 60) as sock:
        assert sock.recv(8) == b"SSH-2.0-"
    done = vssd("ssh", "--run", NAME, "id -un; exit 5")
    assert (done.returncode, done.stdout) == (5, "root\n"), done.stderr


def test_other_commands(run: Detached) -> None:
    """They find it by its name."""
    row, = [r for r in json.loads(vssd("ps", "--json").stdout)
            if r["name"] == NAME]
    assert [d["id"] for d in row["drives"]] == ["ssd0", "ssd1", "ssd2"]
    assert row["checkout"] == str(paths.PROJECT) and row["uid"] == os.getuid()
    assert NAME in vssd("ps").stdout
    done = vssd("fault", "list", "--run", NAME, "--drive", "ssd1", "--json")
    assert (done.returncode, done.stdout) == (0, "[]\n")
    done = vssd("run", "--name", NAME, "--exec", "true")
    assert done.stderr == f"vssd: --name {NAME}: a guest that runs has this" \
        " name\n"
    done = subprocess.run(
        [str(paths.PROJECT / "vssd"), "console", "--run", NAME], text=True,
        check=False, input="root\necho $((6*7))\n", capture_output=True, timeout=600)
    assert "vssd login: " in done.stdout
    assert re.search(r"^42\r?$", re.sub(r"\x1b\[[?\d;]*\w", "", done.stdout),
                     re.M), done.stdout


def test_watch(run: Detached) -> None:
    """Each drive has a live file, whose counters are those of ./vssd stat once the
    drive is idle; ./vssd watch serves it."""
    files = rundir.find(NAME).live_files
    assert [*files] == ["ssd0", "ssd1", "ssd2"]
    done = vssd("watch", NAME, "--no-browser")
    assert (done.returncode, done.stderr) == (
        1, f"vssd: the guest {NAME} has several drives, say which: --drive ssd0 or"
        " ssd1 or ssd2\n")
    with LiveFile(files["ssd1"]) as live:
        assert live.next_picture(live.sequence()), "one is made when it is wanted"
        assert live.state() == "running" and live.drive["profile"] == "tiny"
        wrote = run.exec("dd if=/dev/zero of=$(lsblk -dnpo NAME,SERIAL | awk"
                         " '/SMALL/ {print $1}') bs=64k count=16 oflag=direct")
        assert wrote.returncode == 0, wrote.stderr
        stats = members.values(json.loads(
            vssd("stat", "--run", NAME, "--drive", "ssd1", "--json").stdout))
        picture = live.next_picture(live.sequence())
        assert picture
        for path in ("requests", "host_bytes_written", "nand.programs"):
            assert picture.value(path) == stats[path], path
        assert picture.value("host_bytes_written") >= 1 << 20
        assert sum(picture.array("queue.depth")) == 0
    one = ("watch", "--drive", "ssd1", NAME)
    assert vssd(*one, "set", "host.firmware=50us").stdout == "host.firmware=50us\n"
    assert [vssd(*one, word).stdout for word in ("pause", "state", "go")] == [
        "paused\n", "paused\n", "running\n"]
    server = subprocess.Popen(
        [str(paths.PROJECT / "vssd"), "watch", NAME, "--drive", "ssd1",
         "--no-browser"], text=True, stdout=subprocess.PIPE)
    assert server.stdout
    try:
        with urllib.request.urlopen(server.stdout.readline().strip()) as page:
            assert b"<title>vssd watch</title>" in page.read()
    finally:
        server.terminate()
        server.communicate()


def test_stop_shows_every_drive(run: Detached) -> None:
    """And the statistics are in the file."""
    folder = rundir.find(NAME).folder
    done = vssd("stop", NAME)
    assert done.returncode == 0, done.stderr
    for name, profile in (("ssd0", DEFAULT_PROFILE), ("ssd1", "tiny"),
                          ("ssd2", "zero-latency")):
        assert f"drive {name}: profile {profile}" in done.stderr
    assert f"{NAME} has ended" in done.stderr
    assert [d["profile"] for d in load(run.stats)["drives"].values()] == \
        [DEFAULT_PROFILE, "tiny", "zero-latency"]
    used = load(run.stats)["drives"]["ssd1"]
    assert used["nand"]["max_erase_count"] > 2  # by its use before the run
    assert "no such guest" in vssd("exec", "--run", NAME, "true").stderr
    assert not folder.exists()
