# SPDX-License-Identifier: GPL-2.0-or-later
"""Files to and from a guest that runs: a tar stream, by ssh where the run has
it, which is faster, else through its agent.

Nothing in a stream from a guest is trusted: names that leave the destination
are refused, symbolic links are made last, devices are left out.
"""

from __future__ import annotations

import os
import posixpath
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from .. import rundir
from ..errors import UserError
from ..ui import say
from . import attach, links

PIECE = 1 << 16


def _note(run: rundir.Run) -> Callable[[str], None]:
    return lambda text: say(f"{run.name}: {text}; waiting")


def _command(run: rundir.Run, command: str, out: Callable[[bytes], object],
             err: Callable[[bytes], object], stdin: int | None = None) -> int:
    """Run a command in the guest, by the fastest way; its status."""
    port = run.facts.get("ssh_port")
    if not port or not _ssh_answers(run, int(port)):
        return attach.execute(run, command,
                              attach.Streams(out, err, _note(run), stdin))
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(
                links.ssh_command(int(port), command), stderr=said,
                stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
                if stdin is None else stdin) as ssh:
            assert ssh.stdout
            while data := os.read(ssh.stdout.fileno(), PIECE):
                out(data)
        said.seek(0)
        err(said.read(PIECE))
    return ssh.returncode


def _ssh_answers(run: rundir.Run, port: int) -> bool:
    """Once the guest is set up, which its agent then says."""
    def drop(_: bytes) -> None:
        pass

    attach.execute(run, "true", attach.Streams(drop, drop, _note(run)))
    return shutil.which("ssh") is not None and subprocess.run(
        links.ssh_command(port, "true"), check=False, capture_output=True,
        stdin=subprocess.DEVNULL).returncode == 0


def is_directory(run: rundir.Run, path: str) -> bool:
    """In the guest."""
    def drop(_: bytes) -> None:
        pass

    return attach.execute(run, f"test -d {shlex.quote(path)}",
                          attach.Streams(drop, drop, _note(run))) == 0


def to_guest(run: rundir.Run, sources: list[Path], to: str) -> None:
    """As cp -r: into the directory `to`, or to that name."""
    into = is_directory(run, to or ".")
    if len(sources) > 1 and not into:
        raise UserError(f"cp: :{to} is no directory in the guest, so it takes"
                        " one file only")
    base = (to or ".") if into else posixpath.dirname(to.rstrip("/")) or "."
    reading, writing = os.pipe()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            with open(writing, "wb") as pipe, \
                    tarfile.open(fileobj=pipe, mode="w|") as tar:
                for source in sources:
                    tar.add(source, source.resolve().name if into
                            else posixpath.basename(to.rstrip("/")))
        except (OSError, tarfile.TarError) as e:
            failed.append(e)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    said = bytearray()
    try:
        status = _command(
            run, f"exec tar -xf - --no-same-owner -C {shlex.quote(base)}",
            said.extend, said.extend, reading)
    finally:
        os.close(reading)  # which also ends the writer
    writer.join(10)
    real = [e for e in failed if not isinstance(e, BrokenPipeError)]
    if real:
        raise UserError(f"cp: {real[0]}")
    if status:
        raise UserError("cp: in the guest: "
                        + " ".join(said.decode("utf-8", "replace").split()))


def from_guest(run: rundir.Run, sources: list[str], to: Path) -> None:
    """As cp -r: into the directory `to`, or to that name."""
    names = [posixpath.basename(posixpath.normpath(s)) for s in sources]
    if to.is_dir():
        tops = {name: to / name for name in names}
    elif len(sources) > 1:
        raise UserError(f"cp: {to} is no directory, so it takes one file only")
    elif not to.parent.is_dir():
        raise UserError(f"cp: {to.parent} is no directory")
    else:
        tops = {names[0]: to}
    command = "exec tar -cf - --hard-dereference" + "".join(
        f" -C {shlex.quote(posixpath.dirname(posixpath.normpath(s)) or '.')}"
        f" {shlex.quote('./' + name)}" for s, name in zip(sources, names))
    reading, writing = os.pipe()
    failed: list[BaseException] = []

    def read() -> None:
        with open(reading, "rb") as pipe:
            try:
                extract(pipe, tops)
            except (OSError, tarfile.TarError, UserError) as e:
                failed.append(e)
            while pipe.read(PIECE):  # so that the sender ends
                pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    said = bytearray()
    with open(writing, "wb", buffering=0) as pipe:
        def out(data: bytes) -> None:
            while data:
                data = data[pipe.write(data) or 0:]

        status = _command(run, command, out, said.extend)
    reader.join()
    if status:
        raise UserError("cp: in the guest: "
                        + " ".join(said.decode("utf-8", "replace").split()))
    if failed:
        raise UserError(f"cp: {failed[0]}")


def extract(stream: IO[bytes], tops: dict[str, Path]) -> None:
    """The members of a tar stream, by the first part of their names."""
    links: list[tuple[Path, str]] = []
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            path = _place(member.name, tops)
            if member.isdir():
                path.mkdir(exist_ok=True)
            elif member.issym():
                links.append((path, member.linkname))
            elif member.isreg():
                data = tar.extractfile(member)
                assert data
                _write(data, path, member)
            else:
                say(f"cp: {member.name} is neither a file nor a directory; it"
                    " is left out")
    for path, target in links:
        if path.is_symlink() or path.is_file():
            path.unlink()
        path.symlink_to(target)


def _place(name: str, tops: dict[str, Path]) -> Path:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts \
            or parts[0] not in tops:
        raise UserError(f"the guest sent the name {name!r}, which was not asked"
                        " for")
    return tops[parts[0]].joinpath(*parts[1:])


def _write(data: IO[bytes], path: Path, member: tarfile.TarInfo) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW,
                 0o600)
    with open(fd, "wb") as f:
        while piece := data.read(PIECE):
            f.write(piece)
        os.fchmod(fd, member.mode & 0o755)
    os.utime(path, (member.mtime, member.mtime))
