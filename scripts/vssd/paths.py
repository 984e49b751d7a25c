# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the project and of its builds in the cache.

The cache is VSSD_CACHE, else XDG_CACHE_HOME/vssd, else ~/.cache/vssd.  All in
it can be made again; nothing else on the machine is written, except by the
system's package manager, and by Python beside its sources (__pycache__).

VSSD_SHARED_CACHE may name the cache of another user: what is in it need not be
made, and nothing in it is written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .errors import UserError
from .nearest import hint

PROJECT = Path(__file__).resolve().parents[2]


def cache_dir() -> Path:
    """The cache directory; made when it is not there."""
    env = os.environ.get("VSSD_CACHE")
    if env:
        path = Path(env).expanduser().absolute()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        path = Path(base).expanduser().absolute() / "vssd"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UserError(f"cannot make the cache directory {path}: {e.strerror};"
                        " set VSSD_CACHE to a directory you can write") from e
    check_folder("cache directory", path,
                 "set VSSD_CACHE to a directory of yours")
    return path


def _trusted(st: os.stat_result, parent: Path) -> bool:
    """Made by the user, by root, or by the owner of the directory that it is
    in: the kernel's rule for links in shared directories."""
    return st.st_uid in (os.geteuid(), 0) \
        or st.st_uid == parent.stat().st_uid


def check_folder(what: str, path: Path, remedy: str) -> None:
    """Refuse a directory of programs or results that another user made in a
    shared one, or can write."""
    real = path.resolve()
    found = real.stat()
    if not _trusted(path.lstat(), path.parent) \
            or not _trusted(found, real.parent):
        raise UserError(f"{what} {path}: another user made it; {remedy}")
    if found.st_mode & stat.S_IWOTH:
        raise UserError(f"{what} {path}: every user can write it; {remedy},"
                        " or: chmod o-w")


def _behind_links(path: Path) -> Path:
    for _ in range(40):
        try:
            st = path.lstat()
        except FileNotFoundError:
            return path
        if not stat.S_ISLNK(st.st_mode):
            return path
        if not _trusted(st, path.parent):
            raise PermissionError(errno.EACCES, "another user made this link")
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `path` at the end: wholly, or not at
    all.

    As core/replace.h: the name beside it cannot be guessed, a link stays, and
    so does the mode of the old file.
    """
    target = _behind_links(path)
    mode = None
    with contextlib.suppress(FileNotFoundError):
        old = target.stat()
        if _trusted(old, target.parent):
            mode = stat.S_IMODE(old.st_mode) & 0o777
    beside = target.with_name(f"{target.name[:100]}.{secrets.token_hex(8)}.new")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW,
                 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(fd, "wb") as f:
            yield f
            if mode is not None:
                os.fchmod(f.fileno(), mode)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def shared_cache_dir() -> Path | None:
    """The cache that is only read, if there is one."""
    env = os.environ.get("VSSD_SHARED_CACHE")
    if not env:
        return None
    path = Path(env).expanduser().absolute()
    if not path.is_dir():
        raise UserError(f"VSSD_SHARED_CACHE={env}: no such directory")
    return path


def find_made(name: str, mark: str) -> Path | None:
    """A directory of our cache or the shared one that is complete: it has the
    file `mark`."""
    shared = shared_cache_dir()
    for base in (cache_dir(), shared):
        if base and (base / name / mark).exists():
            return base / name
    packed = shared / f"{name}.tar" if shared else None
    return _unpacked(packed, name, mark) if packed and packed.is_file() else None


def _unpacked(packed: Path, name: str, mark: str) -> Path:
    """A directory of our cache from its archive in the shared one.  An archive
    keeps the holes of files where containers are copied, which fills them."""
    folder = cache_dir() / name
    part = folder.with_name(name + ".part")
    with locked(name):
        if (folder / mark).exists():
            return folder
        need_space(cache_dir(), packed.stat().st_size, f"unpacking {packed}")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            done = subprocess.run(
                ["tar", "--no-same-owner", "-C", part, "-xf", packed],
                capture_output=True, text=True, check=False)
            if done.returncode != 0 or not (part / name / mark).exists():
                why = done.stderr.strip().splitlines() or [f"it has no {name}/{mark}"]
                raise UserError(f"cannot unpack {packed}: {why[-1]}; make it again,"
                                " or unset VSSD_SHARED_CACHE")
            shutil.rmtree(folder, ignore_errors=True)
            (part / name).rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder


def key_of(*parts: object) -> str:
    """A short name for a set of inputs."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:16]


def file_bytes(*names: str) -> bytes:
    """The contents of files of the project, for key_of()."""
    return b"\0".join((PROJECT / name).read_bytes() for name in names)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock `name` of the cache: one maker at a time."""
    path = cache_dir() / f"{name}.lock"
    with open(path, "w", encoding="ascii") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"vssd: waiting for another vssd that makes: {name}",
                  file=sys.stderr)
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def check_output(option: str, name: str | Path | None) -> None:
    """Refuse early a file that cannot be written; "-" is standard output.  The
    file itself is left as it is."""
    if name is None or str(name) in ("", "-"):
        return
    path = Path(name)
    folder = path.parent
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        folder.stat()
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as e:
        raise UserError(f"{option} {name}: {e.strerror}") from e


def check_input(option: str, name: str | Path) -> None:
    """Refuse early a file that cannot be read.  It is not opened: a pipe can be
    read only once."""
    path = Path(name)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        path.stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as e:
        what = f"{option} {name}" if option else name
        raise UserError(f"{what}: {e.strerror}") from e


def claim(option: str, path: Path, shared: bool = False) -> int:
    """Hold a file that one run may use at a time, or several that only read
    it; until the file descriptor that this returns is closed.

    The lock is on a file of the cache: files are replaced when they are saved,
    and a lock on the old one would be worth nothing.
    """
    folder = cache_dir() / "locks"
    folder.mkdir(exist_ok=True)
    fd = os.open(folder / key_of(path.resolve()), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
                    | fcntl.LOCK_NB)
    except BlockingIOError as e:
        who = os.pread(fd, 100, 0).decode(errors="replace").strip()
        os.close(fd)
        raise UserError(f"{option} {path}: in use by another vssd"
                        + (f" (process {who})" if who else "")) from e
    os.ftruncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd


def find_profile(name: str) -> Path:
    """The file of --profile NAME: a path, or the name of a shipped profile."""
    if "/" in name or name.endswith(".ini"):
        path = Path(name)
        if not path.is_file() and "/" not in name:
            path = PROJECT / "profiles" / name
    else:
        path = PROJECT / "profiles" / f"{name}.ini"
    if not path.is_file() and "," in name:
        raise UserError(f"no profile {name!r}: aged, size= and other keys go"
                        " with --drive; the first drive starts used with --state"
                        " FILE of ./vssd age")
    if not path.is_file():
        have = sorted(p.stem for p in (PROJECT / "profiles").glob("*.ini"))
        raise UserError(f"no profile {name!r}{hint(name, have)}: give a file, or"
                        " one of " + ", ".join(have))
    return path.resolve()


def need_space(path: Path, nbytes: int, what: str) -> None:
    """Refuse early if the disk would fill up."""
    st = os.statvfs(path)
    free = st.f_bavail * st.f_frsize
    if free < nbytes:
        raise UserError(
            f"{what} needs {nbytes >> 20} MiB in {path}, {free >> 20} MiB are"
            " free: make room, or set VSSD_CACHE to a directory elsewhere")
