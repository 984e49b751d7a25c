# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive in a process of its own, vssd-server, and the files of one run of it.

Knows that process and its image, which must be raw; machine.py knows the guest
that is attached to it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .. import rundir
from ..errors import UserError, one_line
from ..ui import Stage, say
from . import drives
from .hardware import NO_MIGRATION, socket_of
from .machine import PR_SET_PDEATHSIG

SOCKET = "drive.sock"
SOCKET_MAX = 107  # bytes of the path of a socket
END_S = 60
# An empty image of QEMU's old format qcow: 512 bytes in a cluster of 512, a map
# at 512.
QCOW = struct.pack(">4sIQIIQBBHIQ", b"QFI\xfb", 1, 0, 0, 0, 512, 9, 6, 0, 0, 512)
CREDENTIALS = struct.Struct("iII")  # struct ucred of the kernel


@dataclass
class Options:
    """What the server is told."""

    profile: Path
    image: Path
    sets: list[str] = field(default_factory=list)
    state: Path | None = None
    serial: str = "VSSD0000"
    controllers: int = 1
    # Files and texts of the properties of -device vssd, by name.
    properties: dict[str, str] = field(default_factory=dict)


def copy_image(image: Path, to: Path) -> Path:
    """A copy that a run may write; holes stay holes."""
    with Stage("copying the image"):
        done = subprocess.run(
            ["cp", "--sparse=always", "--reflink=auto", str(image), str(to)],
            capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"cannot copy {image}: {one_line(done.stderr)}")
    return to


def sockets(folder: Path) -> tuple[Path, Path]:
    """Of the first controller, and of the drive's properties: the run's
    monitor."""
    found = folder / SOCKET, folder / rundir.MONITOR
    longest = socket_of(found[0], drives.MOST_FUNCTIONS - 1)
    if max(len(os.fsencode(path)) for path in (longest, found[1])) > SOCKET_MAX:
        raise UserError(f"--server: the path of {found[0]} is too long for a"
                        " socket: set VSSD_CACHE to a shorter one")
    return found


@contextlib.contextmanager
def serving(program: Path, options: Options, folder: Path) \
        -> Iterator[tuple[Path, Path]]:
    """The server, as long as the context lasts; then the drive is saved."""
    device, control = sockets(folder)
    (folder / NO_MIGRATION).write_bytes(QCOW.ljust(1024, b"\0"))
    command = [str(program), "--profile", str(options.profile), "--image",
               str(options.image), "--qmp", str(control), "--serial",
               options.serial]
    for k in range(options.controllers):
        command += ["--socket", str(socket_of(device, k))]
    for name, value in options.properties.items():
        command += [f"--{name}", value]
    for one in options.sets:
        command += ["--set", one]
    if options.state:
        command += ["--state", str(options.state.absolute())]
    proc = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=_die_with_parent)
    try:
        assert proc.stdout
        if not proc.stdout.readline():
            raise UserError(_said(proc))
        yield device, control
    except BaseException:
        if problem := _end(proc):
            say(problem)
        raise
    if problem := _end(proc):
        raise UserError(problem)


def process_of(control: Path) -> int:
    """The process that listens at this socket."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(control))
        said = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED,
                               CREDENTIALS.size)
    pid: int = CREDENTIALS.unpack(said)[0]
    return pid


def _die_with_parent() -> None:
    os.setpgid(0, 0)  # Ctrl-C is ours to handle
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _said(proc: subprocess.Popen[str]) -> str:
    _, text = proc.communicate()
    lines = text.splitlines() or [f"vssd-server ended: {proc.returncode}"]
    return lines[-1].removeprefix("vssd-server: ")


def _end(proc: subprocess.Popen[str]) -> str:
    """What is wrong when its status is not 0: data, or the state, is lost."""
    ended = proc.poll()
    proc.terminate()
    try:
        _, text = proc.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        proc.kill()
        _, text = proc.communicate()
    for line in text.splitlines():
        say(line)
    if ended is None and proc.returncode in (0, -signal.SIGTERM):
        return ""
    when = "before the guest" if ended is not None else "with a failure"
    return f"vssd-server ended {when} (status {proc.returncode})"


def kept_image(path: Path, built_in: Path) -> Path:
    """The built-in guest's image of --keep; made when it is not there."""
    if not path.exists():
        part = path.with_suffix(".part")
        copy_image(built_in, part)
        part.rename(path)
    say(f"keeps the guest's writes in {path}")
    return path


def need_raw(path: Path, fmt: str, option: str) -> None:
    """The server has raw images only."""
    if fmt != "raw":
        raise UserError(f"{option} {path}: --server needs a raw image: qemu-img"
                        f" convert -O raw {path} {path.with_suffix('.raw').name}")


def need_space(folder: Path, image: Path) -> None:
    """Refuse early a copy that has no room."""
    used = image.stat().st_blocks * 512
    if shutil.disk_usage(folder).free < used:
        raise UserError(f"--server copies the image, which needs {used >> 20}"
                        f" MiB in {folder}")
