# SPDX-License-Identifier: GPL-2.0-or-later
"""Files to and from a guest that runs: a tar stream, by ssh where the run has
it, which is faster, else through its agent.

The user names the sources and the destination; below these no symbolic link is
followed, on either side.  Nothing in a stream from a guest is trusted: names
that leave the destination and hard links are refused, devices are left out.
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import shlex
import shutil
import stat
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from .. import rundir
from ..errors import UserError
from ..ui import say
from . import attach, links

PIECE = 1 << 16
# A guest that has restarted answers these, and so ends the connection.
ALIVE = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=60")
SSH_FAILED = 255
HEADER_MAX = 1 << 20  # of a long name or of attributes, which are read at once
DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not block

# GNU tar replaces a link by the directory that comes, others walk through it.
UNPACK = """\
tar --version 2>/dev/null | grep -q GNU || [ -z "$(find {found} -type l \
-exec test -d {{}} \\; -print 2>/dev/null | head -n 1)" ] || {{
echo "links to directories are in the way, which this tar follows: remove them"
exit 1; }} >&2
exec tar -xf - --no-same-owner -C {base}"""


def printable(text: str) -> str:
    """What the guest named or said, so that it does nothing to a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _why(e: BaseException) -> str:
    if isinstance(e, OSError) and e.filename is not None:
        return printable(f"{os.fsdecode(e.filename)}: {e.strerror}")
    return printable(str(e) or type(e).__name__)


class Said(bytearray):
    """The beginning of what the guest said."""

    def add(self, data: bytes) -> None:
        """More of it."""
        self.extend(data[:max(PIECE - len(self), 0)])

    def error(self) -> UserError:
        """In one line."""
        words = self.decode("utf-8", "replace").split()
        return UserError("cp: in the guest: " + printable(" ".join(words)))


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
                links.ssh_command(int(port), *ALIVE, command), stderr=said,
                stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
                if stdin is None else stdin) as ssh:
            assert ssh.stdout
            while data := os.read(ssh.stdout.fileno(), PIECE):
                out(data)
        said.seek(0)
        err(said.read(PIECE))
    if ssh.returncode == SSH_FAILED:
        err(b" (ssh: the guest restarted, or its network failed)")
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
    places = [_split(source) for source in sources]
    names = [name for _, name in places] if into \
        else [posixpath.basename(to.rstrip("/"))]
    _differ(names)
    reading, writing = os.pipe()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            with open(writing, "wb") as pipe, \
                    tarfile.open(fileobj=pipe, mode="w|") as tar:
                pack(tar, places, names)
        except Exception as e:  # whatever it is, the copy is not whole
            failed.append(e)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    said = Said()
    found = " ".join(shlex.quote(posixpath.join(
        base if base.startswith("/") else f"./{base}", name)) for name in names)
    try:
        status = _command(
            run, UNPACK.format(found=found, base=shlex.quote(base)),
            said.add, said.add, reading)
    finally:
        os.close(reading)  # which also ends the writer
    writer.join(10)
    real = [e for e in failed if not isinstance(e, BrokenPipeError)]
    if real:
        raise UserError(f"cp: {_why(real[0])}")
    if status:
        raise said.error()


def _split(source: Path) -> tuple[Path, str]:
    """Folder and name of what the user named; a link is not followed."""
    if source.name in ("", ".."):
        source = source.resolve()
    return source.parent, source.name


def _differ(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"cp: two sources have the name {name!r}; copy them"
                            " one by one")


def pack(tar: tarfile.TarFile, places: list[tuple[Path, str]],
         names: list[str]) -> None:
    """Sources, by folder and name, as members of these names."""
    seen: dict[tuple[int, int], str] = {}
    for (folder, name), to in zip(places, names):
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _pack(tar, fd, folder / name, to, seen)
        finally:
            os.close(fd)


def _pack(tar: tarfile.TarFile, at: int, path: Path, to: str,
          seen: dict[tuple[int, int], str]) -> None:
    """One name in the open directory `at`, with all that is in it."""
    info = tarfile.TarInfo(to)
    try:
        mode = os.stat(path.name, dir_fd=at, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            info.type = tarfile.SYMTYPE
            info.linkname = os.readlink(path.name, dir_fd=at)
            info.mode = 0o777
            tar.addfile(info)
        elif stat.S_ISFIFO(mode):
            info.type, info.mode = tarfile.FIFOTYPE, mode & 0o777
            tar.addfile(info)
        elif stat.S_ISDIR(mode):
            with _opened(path.name, os.O_RDONLY | DIRECTORY, at) as fd:
                status = os.fstat(fd)
                info.type, info.mode = tarfile.DIRTYPE, status.st_mode & 0o1777
                info.mtime = status.st_mtime
                tar.addfile(info)
                for name in sorted(os.listdir(fd)):
                    _pack(tar, fd, path / name, f"{to}/{name}", seen)
        elif stat.S_ISREG(mode):
            with open(os.open(path.name, os.O_RDONLY | FILE, dir_fd=at),
                      "rb") as f:
                _pack_file(tar, f, info, seen)
        else:
            _left_out(str(path))
    except OSError as e:
        raise _named(e, path) from e


def _pack_file(tar: tarfile.TarFile, f: IO[bytes], info: tarfile.TarInfo,
               seen: dict[tuple[int, int], str]) -> None:
    status = os.fstat(f.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "was replaced meanwhile")
    # Without set-uid bits: the file becomes root's in the guest.
    info.mode, info.mtime = status.st_mode & 0o777, status.st_mtime
    first = seen.setdefault((status.st_dev, status.st_ino), info.name)
    if first != info.name:
        info.type, info.linkname = tarfile.LNKTYPE, first
        tar.addfile(info)
    else:
        info.size = status.st_size
        tar.addfile(info, f)


@contextlib.contextmanager
def _opened(name: str, flags: int, at: int) -> Iterator[int]:
    fd = os.open(name, flags, dir_fd=at)
    try:
        yield fd
    finally:
        os.close(fd)


def _named(e: OSError, path: Path) -> OSError:
    """The error with the whole path, unless a deeper one is in it."""
    if isinstance(e, BrokenPipeError) or isinstance(e.filename, _Name):
        return e
    return type(e)(e.errno, e.strerror or str(e), _Name(path))


class _Name(str):
    """A whole path in an error."""


def _left_out(name: str) -> None:
    say(f"cp: {printable(name)} is neither a file nor a directory; it is left"
        " out")


def from_guest(run: rundir.Run, sources: list[str], to: Path) -> None:
    """As cp -r: into the directory `to`, or to that name."""
    names = [posixpath.basename(posixpath.normpath(s)) for s in sources]
    _differ(names)
    if to.is_dir():
        tops = {name: to / name for name in names}
    elif len(sources) > 1:
        raise UserError(f"cp: {to} is no directory, so it takes one file only")
    elif not to.parent.is_dir():
        raise UserError(f"cp: {to.parent} is no directory")
    else:
        tops = {names[0]: to}
    command = "exec tar -cf - --hard-dereference" + "".join(
        f" -C {_absolute(posixpath.dirname(posixpath.normpath(s)))}"
        f" {shlex.quote('./' + name)}" for s, name in zip(sources, names))
    reading, writing = os.pipe()
    failed: list[BaseException] = []

    def read() -> None:
        with open(reading, "rb") as pipe:
            try:
                extract(pipe, tops)
            except Exception as e:  # whatever it is, the copy is not whole
                failed.append(e)
            while pipe.read(PIECE):  # so that the sender ends
                pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    said = Said()
    with open(writing, "wb", buffering=0) as pipe:
        def out(data: bytes) -> None:
            while data:
                data = data[pipe.write(data) or 0:]

        status = _command(run, command, out, said.add)
    reader.join()
    if status:
        raise said.error()
    if failed:
        raise UserError(f"cp: {_why(failed[0])}")


def _absolute(folder: str) -> str:
    """For a shell of the guest; tar's -C begins where the last one ended."""
    return shlex.quote(folder) if folder.startswith("/") \
        else f'"$PWD"/{shlex.quote(folder or ".")}'


class _Member(tarfile.TarInfo):
    """A header, of which a faulty one is not taken for the end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str,
                errors: str) -> _Member:
        """As the base; also bounds what is read into memory at once."""
        try:
            info = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as e:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise  # the end
            raise tarfile.ReadError(
                f"the guest sent a faulty archive: {e}") from e
        if info.type in HEADERS and info.size > HEADER_MAX:
            raise tarfile.ReadError(
                f"the guest sent a header of {info.size} bytes")
        return info


HEADERS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE,
           tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)


def extract(stream: IO[bytes], tops: dict[str, Path]) -> None:
    """The members of a tar stream, by the first part of their names."""
    with contextlib.ExitStack() as stack:
        bases = {}
        for name, top in tops.items():
            bases[name] = os.open(
                top.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, bases[name])
        tar = stack.enter_context(tarfile.open(
            fileobj=stream, mode="r|", tarinfo=_Member))
        for member in tar:
            parts = _parts(member.name, tops)
            try:
                with _parent(bases[parts[0]],
                             [tops[parts[0]].name, *parts[1:-1]]
                             if parts[1:] else []) as at:
                    _make(tar, member, at,
                          parts[-1] if parts[1:] else tops[parts[0]].name)
            except OSError as e:
                raise _named(e, tops[parts[0]].joinpath(*parts[1:])) from e


def _parts(name: str, tops: dict[str, Path]) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts \
            or parts[0] not in tops or "\0" in name:
        raise UserError(f"the guest sent the name {name!r}, which was not asked"
                        " for")
    return parts


@contextlib.contextmanager
def _parent(base: int, parts: list[str]) -> Iterator[int]:
    """A directory below an open one, through no symbolic link."""
    fd = os.dup(base)
    try:
        for part in parts:
            try:
                deeper = os.open(part, os.O_PATH | DIRECTORY, dir_fd=fd)
            except NotADirectoryError as e:
                raise _in_the_way(fd, part) from e
            os.close(fd)
            fd = deeper
        yield fd
    finally:
        os.close(fd)


def _in_the_way(at: int, name: str) -> OSError:
    mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a directory" \
        if stat.S_ISDIR(mode) else "a file" if stat.S_ISREG(mode) \
        else "a device or a FIFO"
    return OSError(errno.EEXIST, f"{kind} of the name {name!r} is in the way;"
                   " remove it, or copy to another place")


def _kind(at: int, name: str) -> int:
    """What has this name in an open directory; 0: nothing."""
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=at,
                                   follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return 0


def _make(tar: tarfile.TarFile, member: tarfile.TarInfo, at: int,
          name: str) -> None:
    """The member, as this name in an open directory."""
    there = _kind(at, name)
    if member.isdir():
        if there not in (0, stat.S_IFDIR):
            raise _in_the_way(at, name)
        if not there:
            os.mkdir(name, dir_fd=at)
    elif member.issym():
        if there not in (0, stat.S_IFREG, stat.S_IFLNK):
            raise _in_the_way(at, name)
        if there:
            os.unlink(name, dir_fd=at)
        os.symlink(member.linkname, name, dir_fd=at)
    elif member.isreg():
        if there not in (0, stat.S_IFREG):
            raise _in_the_way(at, name)
        data = tar.extractfile(member)
        assert data
        _write(data, at, name, member)
    elif member.islnk():
        raise UserError(f"the guest sent {member.name!r} as a hard link, which"
                        " was not asked for")
    else:
        _left_out(member.name)


def _write(data: IO[bytes], at: int, name: str,
           member: tarfile.TarInfo) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | FILE, 0o600, dir_fd=at)
    with open(fd, "wb") as f:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _in_the_way(at, name)
        os.ftruncate(fd, 0)
        while piece := data.read(PIECE):
            f.write(piece)
        f.flush()
        os.fchmod(fd, member.mode & 0o755)
        os.utime(fd, (member.mtime, member.mtime))
