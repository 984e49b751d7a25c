# SPDX-License-Identifier: GPL-2.0-or-later
"""One drive, by turns in vssd-server and in the device of QEMU: image and state
file are the same, and so are the names of the statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from test_server import BLOCK, host_of, pattern, refused
from vmm import Server, Vmm

from machine import PROFILES, Machine, drive_args, pid, start_and_fail
from nvme_host import NvmeHost

PATH = "/machine/peripheral/ssd"


def names(stats: Any, place: str = "") -> set[str]:
    """Of all members, without the text of values."""
    if not isinstance(stats, dict):
        return {place}
    return {name for key, one in stats.items()
            for name in names(one, f"{place}.{key}")}


def write_and_read(host: NvmeHost, turn: int) -> None:
    """What the turns before wrote is there; write more."""
    for i in range(turn):
        assert host.read(64 * i, BLOCK) == pattern(i)
    host.write(64 * turn, pattern(turn))
    host.flush()


def test_by_turns(tmp_path: Path, image: Path) -> None:
    """Server, QEMU, server, QEMU; the sum of the programs grows."""
    state = tmp_path / "drive.state"
    programs = 0
    seen: list[set[str]] = []
    for turn in range(4):
        if turn % 2 == 0:
            with Server(tmp_path, image, "--state", str(state)) as server:
                with Vmm(server.socket) as vmm:
                    write_and_read(host_of(vmm), turn)
                stats: Any = server.get("stats")
                assert server.end() == ""
        else:
            with Machine(*drive_args("tiny", image, state=str(state))) as machine:
                assert machine.qtest
                host = NvmeHost(machine.qtest)
                host.enable()
                write_and_read(host, turn)
                stats = machine.cmd("qom-get", path=PATH, property="stats")
                assert machine.quit() == 0
        assert stats["nand"]["programs"] > programs
        programs = stats["nand"]["programs"]
        seen.append(names(stats))
    assert seen[2] == seen[3]


def test_not_both(tmp_path: Path, image: Path) -> None:
    """Neither takes the state that the other has, and each names it."""
    state = tmp_path / "drive.state"
    copy = tmp_path / "copy.img"
    copy.write_bytes(image.read_bytes())
    qemu = drive_args("tiny", copy, state=str(state))
    in_use = f"{state}: in use by another drive (process "
    with Server(tmp_path, image, "--state", str(state)) as server:
        said = start_and_fail(*qemu)
        assert said.endswith(f"vssd: state={in_use}{server.proc.pid})"), said
        assert server.end() == ""
    with Machine(*qemu) as machine:
        said = refused("--profile", str(PROFILES / "tiny.ini"), "--image",
                       str(image), "--socket", str(tmp_path / "other.sock"),
                       "--state", str(state))
        assert said == f"vssd-server: --state {in_use}{pid(machine)})"
        assert machine.quit() == 0
