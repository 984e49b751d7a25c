# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive in a process of its own, as the vssd command starts it: its files, its
messages, QEMU's arguments."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from vssd import paths
from vssd.build import qemu_package
from vssd.errors import UserError
from vssd.guest import hardware, machine, served


def server(folder: Path, text: str) -> Path:
    """A program in the server's place."""
    path = folder / "server"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def options(folder: Path) -> served.Options:
    """Of a drive that no program reads."""
    return served.Options(paths.find_profile("tiny"), folder / "drive.raw")


@pytest.mark.parametrize("formats", ["qcow raw", "qcow2 raw"])
def test_what_refuses_to_migrate(tmp_path: Path, formats: str) -> None:
    """QEMU gets a node of a format that it does not migrate, if it knows it."""
    program = server(tmp_path, "echo ready; exec sleep 60")
    with served.serving(program, options(tmp_path), tmp_path) as found:
        emulator = server(tmp_path, f"echo Supported formats: {formats}")
        spec = hardware.Spec(emulator, "tcg",
                            [hardware.Drive(tmp_path, server=found)])
        args = hardware.no_migration(spec)
        image = (tmp_path / hardware.NO_MIGRATION).read_bytes()
    assert image[:8] == b"QFI\xfb\0\0\0\1" and len(image) % 512 == 0
    if "qcow" not in formats.split():
        assert args == []
        return
    node = json.loads(args[args.index("-blockdev") + 1])
    assert node["driver"] == "qcow" and "vssd-server" in node["node-name"]
    assert node["file"]["filename"] == str(tmp_path / hardware.NO_MIGRATION)


def test_controllers_and_files(tmp_path: Path) -> None:
    """Each controller has a socket, which a device of the guest names; files
    are options of the server."""
    said = tmp_path / "said"
    program = server(tmp_path, f'echo "$@" > {said}; echo ready; exec sleep 60')
    given = replace(options(tmp_path), controllers=3,
                    properties={"oplog": "/o", "timeline_size": "1MiB"})
    with served.serving(program, given, tmp_path) as found:
        words = said.read_text()
        drive = hardware.Drive(tmp_path, controllers=3, server=found)
        args = hardware.drive_args(0, drive, boot=True)
    names = [json.loads(one) for one in args if one != "-device"]
    assert [n["id"] for n in names] == ["ssd0", "ssd0c1", "ssd0c2"]
    assert [n.get("bootindex") for n in names] == [0, None, None]
    for name in names:
        assert f"--socket {name['socket']['path']}" in words
    assert len({n["socket"]["path"] for n in names}) == 3
    assert "--oplog /o --timeline_size 1MiB" in words


@pytest.mark.parametrize("said,has", [
    ("echo 'vfio-user-pci options:'; echo '  addr=<str>'", True),
    ("echo \"Device 'vfio-user-pci' not found\" >&2", False),  # QEMU 10.0
    ("echo 'vfio-user-pci options:'; exit 1", False)])
def test_emulator_with_the_device(tmp_path: Path, said: str, has: bool) -> None:
    """QEMU's answer counts: its status is 0 for a device that it lacks, too."""
    assert qemu_package.has_vfio_user(server(tmp_path, said)) == has


def test_server_that_refuses(tmp_path: Path) -> None:
    """Its last line is the error."""
    program = server(tmp_path, "echo 'vssd-server: --block 5: no' >&2; exit 1")
    with pytest.raises(UserError, match="^--block 5: no$"), \
            served.serving(program, options(tmp_path), tmp_path):
        pass


@pytest.mark.parametrize("end,said", [("exit 0", ""), ("exit 3", "status 3"),
                                      ("kill -9 $$", "SIGKILL")])
def test_emulator_that_ends_with_a_failure(tmp_path: Path, end: str,
                                           said: str) -> None:
    """What a run then says: its drives may not have been saved."""
    found = machine.Machine(hardware.Spec(tmp_path, "tcg", []))
    assert found.failure() == ""
    found.proc = subprocess.Popen([server(tmp_path, end)])
    found.proc.wait()
    assert found.failure() == (said and f"QEMU ended with a failure ({said})")


def test_process_of_a_socket(tmp_path: Path) -> None:
    """The one that listens, not the one that asks."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))
        sock.listen()
        assert served.process_of(path) == os.getpid()


def test_server_that_ends_with_a_failure(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its message is shown, without what a terminal would obey, and the run
    has failed; what failed before goes on."""
    program = server(tmp_path, "trap 'printf \"state \\033]0;x\\007: no\\n\" >&2;"
                     " exit 1' TERM; echo ready; while :; do sleep 0.01; done")
    with pytest.raises(UserError, match="ended with a failure .status 1.$"), \
            served.serving(program, options(tmp_path), tmp_path):
        pass
    assert "state \\x1b]0;x\\x07: no\n" in capsys.readouterr().err
    with pytest.raises(KeyError), \
            served.serving(program, options(tmp_path), tmp_path):
        raise KeyError
