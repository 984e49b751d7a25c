# SPDX-License-Identifier: GPL-2.0-or-later
"""A bare Debian system in a folder, to see what a fresh machine lacks.

Made by mmdebstrap from the mirror of this machine's own apt, kept as an
archive in the cache and unpacked for each test.  It has its own mount and
process namespaces; the network is this machine's.  Packages and wheels that
are fetched inside stay in the cache, so that the second test fetches nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import aptsrc, packages
from vssd.proc import run_logged

NEED_BYTES = 4 << 30
# How a program reaches the network, and where pip finds packages.
PASSED_ON = re.compile(r"PIP_\w+|\w+_proxy|SSL_CERT_FILE|\w+_CA_BUNDLE", re.I)
PIP_FILES = ("/etc/pip.conf", "~/.config/pip/pip.conf", "~/.pip/pip.conf")
# The system of a container image or a minimal installation.
VARIANT = "minbase"
# Runs as root of the namespaces: ROOT, then pairs FROM TO, --, a command.
ENTER = """\
set -eu
root=$1; shift
mount --make-rprivate /
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do
    mkdir -p "$root$3"
    mount --bind "$2" "$root$3"
    if [ "$1" = ro ]; then
        flags=$(findmnt -n -o OPTIONS -T "$root$3" |
            tr , '\\n' | grep -xE 'nosuid|nodev|noexec|(no|rel)atime' |
            paste -sd, -)
        mount -o "remount,bind,ro${flags:+,$flags}" "$root$3"
    fi
    shift 3
done
shift
exec chroot "$root" "$@"
"""
# The same for CONTAINER USER COMMAND, which reaches no network.
ENTER_ALONE = """\
set -eu
ip link set lo up
mount --make-rprivate /
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
root=$1 user=$2; shift 2
exec chroot --userspec="$user" "$root" "$@"
"""


def namespace() -> list[str]:
    """The program that makes the namespaces, before its command."""
    args = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        args += ["--user", "--map-root-user", "--map-auto"]
    return args


def why_not() -> str:
    """Why no such system can be run here; empty: it can."""
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run(
            [*namespace(), "mount", "-t", "proc", "proc", name],
            capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return ""
    why = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return ("needs root or user namespaces, with mounts and subordinate user"
            f" identities: {why[-1]}")


class BareRoot:
    """An unpacked system."""

    def __init__(self, root: Path, suite: str, folder: Path) -> None:
        self.root = root
        self.binds: list[tuple[str, Path, str]] = []
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                    "LANG": "C.UTF-8", "PIP_CACHE_DIR": "/var/cache/pip"}
        for name, place in ((f"archives-{suite}", "/var/cache/apt/archives"),
                            ("pip", "/var/cache/pip")):
            (folder / name / "partial").mkdir(parents=True, exist_ok=True)
            self.bind(folder / name, place, "rw")
        self._reach_the_network()

    def bind(self, path: Path, place: str = "", how: str = "ro") -> None:
        """Have a folder of this machine in there, where it is here."""
        self.binds.append((how, path, place or str(path)))

    def link(self, path: Path) -> None:
        """Have a folder of the cache in there, where it is here, with room for
        new files: the files are hard links, so nothing may change one."""
        to = self.root / str(path).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        _inside("cp", "-al", path, to)

    def copy(self, path: Path, place: str = "") -> None:
        """Have a file of this machine in there."""
        to = self.root / (place or str(path)).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)

    def _reach_the_network(self) -> None:
        """As this machine does: names, proxies, certificates, pip's index."""
        for name in ("/etc/resolv.conf", "/etc/hosts"):
            if Path(name).exists():
                self.copy(Path(name))
        for key, value in os.environ.items():
            if PASSED_ON.fullmatch(key) and key not in self.env:
                self.env[key] = self._with_its_files(value)
        for name in PIP_FILES:
            path = Path(name).expanduser()
            if path.is_file():
                to = self.root / name.replace("~", "root").lstrip("/")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(self._with_its_files(path.read_text()))

    def _with_its_files(self, text: str) -> str:
        """A setting for in there: the files that it names are copied to a
        place where no package puts its own, the folders are bound."""
        def moved(m: re.Match[str]) -> str:
            path = Path(m[0])
            if path.is_dir() and len(path.parts) > 2:
                self.bind(path)
            if not path.is_file():
                return m[0]
            place = f"/var/host{path}"
            self.copy(path, place)
            return place

        return re.sub(r"(?<![\w:/])/[^\s:;,'\"=]+", moved, text)

    def run(self, *command: str, timeout_s: float) \
            -> subprocess.CompletedProcess[str]:
        """Run a command in there as root."""
        binds = [x for how, path, place in self.binds
                 for x in (how, str(path), place)]
        env = [f"{k}={v}" for k, v in self.env.items()]
        return subprocess.run(
            [*namespace(), "sh", "-c", ENTER, "sh", str(self.root), *binds,
             "--", "env", "-i", *env, *command], text=True, errors="replace",
            capture_output=True, check=False, stdin=subprocess.DEVNULL,
            timeout=timeout_s)


@contextlib.contextmanager
def bare_root(suite: str, mirror: str = "") -> Iterator[BareRoot]:
    """A fresh one; gone at the end."""
    packages.ensure(packages.IMAGE)
    folder = paths.cache_dir() / "bare"
    folder.mkdir(exist_ok=True)
    paths.need_space(folder, NEED_BYTES, "a bare Debian system")
    with paths.locked(f"bare-{suite}"):
        for old in folder.glob(f"root-{suite}.*"):
            _remove(old)
        tar = _archive(suite, mirror, folder)
        root = Path(tempfile.mkdtemp(prefix=f"root-{suite}.", dir=folder))
        try:
            _inside("chmod", "755", root)
            _inside("tar", "-C", root, "--exclude=./dev/*", "-xpf", tar)
            yield BareRoot(root, suite, folder)
        finally:
            _remove(root)


class Container:
    """A root file system of an image of containers, in a folder."""

    def __init__(self, root: Path, config: dict[str, Any]) -> None:
        self.root = root
        self.config = config

    def run(self, *command: str, user: str = "", timeout_s: float) \
            -> subprocess.CompletedProcess[str]:
        """Run a command as the image says, without network; user: uid:gid."""
        there = 'cd "$1" && shift && exec "$@"'
        return subprocess.run(
            [*namespace(), "--net", "sh", "-c", ENTER_ALONE, "sh", str(self.root),
             user or self.config["User"], "env", "-i", *self.config["Env"], "sh",
             "-c", there, "sh", self.config["WorkingDir"], *command],
            text=True, errors="replace", capture_output=True, check=False,
            stdin=subprocess.DEVNULL, timeout=timeout_s)


@contextlib.contextmanager
def container(layer: Path, config: dict[str, Any]) -> Iterator[Container]:
    """The unpacked layer; gone at the end."""
    folder = paths.cache_dir() / "bare"
    folder.mkdir(exist_ok=True)
    paths.need_space(folder, NEED_BYTES, "an unpacked image")
    root = Path(tempfile.mkdtemp(prefix="container.", dir=folder))
    try:
        _inside("chmod", "755", root)
        _inside("tar", "-C", root, "--exclude=./dev/*", "-xpf", layer)
        yield Container(root, config)
    finally:
        _remove(root)


def _inside(*command: str | Path) -> None:
    """As root of the namespaces, which owns the system's files."""
    run_logged([*namespace(), *command], "bare-root",
               f"{command[0]} for a bare Debian system")


def _remove(root: Path) -> None:
    _inside("rm", "-rf", "--one-file-system", root)


def _archive(suite: str, mirror: str, folder: Path) -> Path:
    sources = aptsrc.require(suite, mirror, f"{suite} of Debian")
    lines = [aptsrc.one_line_format(s) for s in sources]
    options = [*aptsrc.network_options(), 'APT::Sandbox::User "root";']
    tar = folder / f"{suite}-{paths.key_of(VARIANT, lines, options)}.tar"
    if tar.exists():
        return tar
    for old in folder.glob(f"{suite}-*.tar"):
        old.unlink()
    part = tar.with_suffix(".part")
    args = ["mmdebstrap", "--format=tar", f"--variant={VARIANT}",
            "--customize-hook=echo force-unsafe-io"
            ' >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"',
            *(f"--aptopt={o}" for o in options), suite, str(part), *lines]
    try:
        part.touch()
        run_logged(args, "bare-root", f"making a bare {suite} of Debian",
                   env={"LC_ALL": "C"})
        part.rename(tar)
    finally:
        part.unlink(missing_ok=True)
    return tar


def describe(done: subprocess.CompletedProcess[str]) -> str:
    """What a failed command said, for the test's report."""
    return (f"status {done.returncode}: {shlex.join(done.args[-4:])}\n"
            + done.stdout[-2000:] + done.stderr[-4000:])
