# SPDX-License-Identifier: GPL-2.0-or-later
"""A real guest in Debian's own QEMU, with its drive in vssd-server: Linux boots
from it and checks its data; the machine dies and another one takes over; the
power goes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from long_form import DEVICE, LONG, of_part
from qemu.qmp import ExecuteError
from qemu.qmp.legacy import QEMUMonitorProtocol

from conftest import Env, refused, vssd
from vssd import paths
from vssd.build import qemu_package, vfio_server
from vssd.errors import UserError
from vssd.guest import hardware, served
from vssd.guest.guest import Guest

VERIFY = ("fio --name=v --filename=/root/v --size=32m --rw=randwrite --bs=4k"
          " --iodepth=8 --ioengine=libaio --direct=1 --verify=crc32c"
          " --randseed=3 --output=/dev/null")
PATH = "/machine/peripheral/ssd0"


def ask(control: Path, command: str, **arguments: object) -> Any:
    """A command on the server's socket."""
    qmp = QEMUMonitorProtocol(str(control))
    qmp.connect()
    try:
        return qmp.cmd(command, **arguments)
    finally:
        qmp.close()


def wait_boots(guest: Guest, count: int, limit_s: float = 1500) -> None:
    """Until the console has shown so many login prompts: a message of the kernel
    may be in the middle of a prompt, or of the line before it."""
    end = time.monotonic() + limit_s
    while max(guest.console.count(text)
              for text in ("vssd login: ", " vssd ttyS0")) < count:
        assert time.monotonic() < end, guest.console[-500:]
        assert not guest.live.ended.is_set(), guest.live.end_reason
        time.sleep(0.5)


@LONG
def test_real_guest(env: Env, tmp_path: Path) -> None:
    """See above; three boots."""
    program = vfio_server.ensure()
    image = served.copy_image(env.image.disk, tmp_path / "drive.raw")
    options = served.Options(paths.find_profile("tlc-generic"), image)
    with served.serving(program, options, tmp_path) as found:
        drive = hardware.Drive(image, "raw", "vfio-user-pci", server=found)
        spec = replace(env.spec([drive]),
                       emulator=qemu_package.ensure_vfio_user().emulator)
        with contextlib.ExitStack() as ends:
            guest = ends.enter_context(Guest(spec))
            assert "VSSD0000" in guest.run("nvme list")
            assert guest.run("cat /sys/class/nvme/nvme0/device/class") == \
                "0x010802\n"
            guest.run(VERIFY)
            assert refused(guest) == {"nvme0": 0}
            with pytest.raises(ExecuteError, match="drive-in-vssd-server"):
                guest.qmp("migrate", uri=f"file:{tmp_path}/moved")
            assert "drive-in-vssd-server" in guest.qmp(
                "human-monitor-command", **{"command-line": "savevm a"})
            guest.run("echo kept > /root/note; sync")
            assert guest.live.proc
            os.kill(guest.live.proc.pid, signal.SIGKILL)
            with contextlib.suppress(UserError):
                ends.close()
        before = ask(found[1], "qom-get", path=PATH, property="stats")
        assert before["host_bytes_written"] > 32 << 20
        with Guest(spec) as guest:
            assert guest.run("cat /root/note") == "kept\n"
            guest.run(VERIFY + " --verify_only")
            guest.run("echo again > /root/note; sync")
            wait_boots(guest, 1)
            ask(found[1], "qom-set", path=PATH, property="powered", value=False)
            guest.qmp("system_reset")
            wait_boots(guest, 2)
            assert ask(found[1], "qom-get", path=PATH, property="powered")
        counts = ask(found[1], "qom-get", path=PATH, property="server")
        assert counts["clients"] == 2 and counts["dma_refused"] == 0


@of_part(*DEVICE)
def test_run_with_a_server(env: Env, tmp_path: Path) -> None:
    """./vssd run --server: a command, statistics, state, stat of the run."""
    stats, state = tmp_path / "stats.json", tmp_path / "drive.state"
    done = vssd("run", "--server", "--name", "served", "--profile",
                "zero-latency", "--state", str(state), "--stats", str(stats),
                "--exec", "cat /sys/block/nvme0n1/device/model; exit 7")
    assert done.returncode == 7, done.stderr
    assert "vssd virtual SSD" in done.stdout
    found = json.loads(stats.read_text())
    assert found["profile"] == "zero-latency" and found["requests"] > 100
    assert state.stat().st_size > 0
    for option in (["--icount"], ["--drive", "tiny"], ["--sriov-vfs", "2"],
                   ["--device", "nvme"], ["--print-command"],
                   ["--", "-incoming", "defer"]):
        done = vssd("run", "--server", *option)
        assert done.returncode != 0
        assert "not with --server" in done.stderr.splitlines()[-1]


def test_two_paths_and_logs(env: Env, tmp_path: Path) -> None:
    """A server with two controllers: Linux joins them to one disk; the trace and
    the timeline are whole at the end."""
    trace, timeline = tmp_path / "guest.trace", tmp_path / "timeline"
    done = vssd("run", "--server", "--profile", "tlc-generic", "--controllers",
                "2", "--trace", str(trace), "--timeline", str(timeline),
                "--exec", "nvme list-subsys | grep -c 'nvme.*pcie.*live';"
                " dd if=/dev/zero of=/root/x bs=1M count=8 conv=fsync 2>&1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "2", done.stdout
    assert "8 MiB" in done.stdout or "8388608 bytes" in done.stdout
    assert timeline.stat().st_size > 0
    checked = vssd("sim", "replay", str(trace), "--check", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["requests"] > 100
