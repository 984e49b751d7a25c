# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's source: from the user, or Debian's source package; the few edits that
put our device into it, and patches that older versions need
(docs/qemu-device.md lists both)."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..paths import PROJECT, cache_dir, find_made, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage, say
from . import aptsrc, packages, patching

SUITE = "trixie"
# Where newer versions than that suite's may be, for --qemu-suite newest.
NEWER = ("trixie-backports", "forky", "sid", "experimental")
NEWEST = "newest"
OLDEST = (10, 0)
SOURCE_BYTES = 900 << 20
PATCHES = PROJECT / "hw-ssd/qemu/patches"
# The first version that needs none of them.
WITHOUT_PATCHES = (11, 0)
DEVICES = "hw-ssd/qemu/devices.mak"  # for --with-devices-x86_64=vssd


@dataclass(frozen=True)
class Origin:
    """Where the user says that QEMU's source is; all empty: Debian."""

    source: str = ""
    sha256: str = ""
    mirror: str = ""
    suite: str = ""  # of Debian; NEWEST: the newest version of NEWER


# Of a source package: what the plug-in of QEMU is compiled with, the accelerator of
# its tests, and the library of vssd-server.
PARTS = ("VERSION", "accel/qtest", "debian/control", "host", "include", "linux-headers",
         "migration", "qapi", "scripts", "subprojects/libvfio-user", "trace")
PARTS_DONE = "done"


def version_of(tree: Path) -> tuple[int, ...]:
    """The first two numbers of the version of a QEMU source tree."""
    try:
        text = (tree / "VERSION").read_text(encoding="ascii").strip()
    except OSError as e:
        raise UserError(f"{tree} is no QEMU source: it has no file VERSION") \
            from e
    try:
        return tuple(int(x) for x in text.split(".")[:2])
    except ValueError as e:
        raise UserError(f"{tree}: cannot read version {text!r}") from e


def check_version(tree: Path) -> None:
    """Refuse versions that the device does not support."""
    number = version_of(tree)
    if number < OLDEST:
        text = ".".join(map(str, number))
        raise UserError(f"{tree} is QEMU {text}: 10.0 or later is needed")


def tree_of(origin: Origin) -> Path:
    """Where obtain() puts the tree."""
    return cache_dir() / ("qemu-" + key_of(
        PROJECT, origin.source, origin.sha256, "source-2",
        *(p.read_bytes() for p in patch_files()),
        *([origin.suite] if origin.suite else [])))


def obtain(origin: Origin) -> Path:
    """A prepared source tree in the cache."""
    tree = tree_of(origin)
    if (tree / "vssd-prepared").exists():
        return tree
    with locked(tree.name):
        if (tree / "vssd-prepared").exists():
            return tree
        packages.ensure(packages.SOURCE)
        need_space(cache_dir(), SOURCE_BYTES, "QEMU's source")
        work = tree.with_name(tree.name + ".part")
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(tree, ignore_errors=True)
        work.mkdir()
        try:
            found = _unpack(origin, work)
            check_version(found)
            prepare(found, PROJECT)
            (found / "vssd-prepared").touch()
            found.rename(tree)
        except OSError as e:
            raise UserError(f"cannot prepare QEMU's source: {e}") from e
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return tree


def _unpack(origin: Origin, work: Path) -> Path:
    if not origin.source:
        return _from_debian(origin.mirror, origin.suite, work)
    if origin.source.startswith(("http://", "https://")):
        return _untar(_download(origin, work), work)
    path = Path(origin.source).expanduser()
    if path.is_dir():
        check_version(path)
        say(f"copies QEMU's source from {path}")
        return _copy_tree(path, work / "tree")
    if path.is_file():
        if origin.sha256:
            _check_sum(path, origin.sha256)
        return _untar(path, work)
    raise UserError(f"--qemu-source {origin.source}: no such file or directory")


def parts_name() -> str:
    """The folder of the cache that has PARTS."""
    return "qemu-parts-" + key_of(SUITE, PARTS)


def parts(mirror: str = "", version: str = "") -> Path:
    """PARTS of Debian's source package; if a version is given, of that one."""
    name = parts_name()
    found = find_made(name, PARTS_DONE)
    if found and version in ("", full_version(found)):
        return found
    folder = cache_dir() / name
    with locked(name):
        if not (folder / PARTS_DONE).exists() \
                or version not in ("", full_version(folder)):
            packages.ensure(packages.SOURCE)
            need_space(cache_dir(), SOURCE_BYTES, "QEMU's source")
            _make_parts(folder, mirror)
    if version not in ("", full_version(folder)):
        raise UserError(f"the mirror has the source of QEMU {full_version(folder)}"
                        f" and the package of {version}: ./vssd setup"
                        f" --qemu-suite {SUITE} builds QEMU")
    return folder


def parts_made() -> Path | None:
    """The same, if they are there."""
    return find_made(parts_name(), PARTS_DONE)


def full_version(tree: Path) -> str:
    """As 10.0.13."""
    return (tree / "VERSION").read_text(encoding="ascii").strip()


def _make_parts(folder: Path, mirror: str) -> None:
    work = folder.with_name(folder.name + ".part")
    for path in (work, folder):
        shutil.rmtree(path, ignore_errors=True)
    work.mkdir()
    made = work / "parts"
    try:
        tree = _from_debian(mirror, SUITE, work)
        for name in PARTS:
            to = made / name
            to.parent.mkdir(parents=True, exist_ok=True)
            (tree / name).rename(to)
        (made / PARTS_DONE).touch()
        made.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _copy_tree(path: Path, to: Path) -> Path:
    def skip(_dir: str, names: list[str]) -> list[str]:
        return [n for n in names if n == ".git" or n.startswith("build")
                and os.path.exists(os.path.join(_dir, n, "build.ninja"))]

    shutil.copytree(path, to, symlinks=True, ignore=skip)
    return to


def _download(origin: Origin, work: Path) -> Path:
    if not origin.sha256:
        raise UserError("--qemu-source with an address needs --sha256, the"
                        " checksum that you trust")
    import urllib.error  # with all of TLS: a fifth of the time of a start
    import urllib.request

    to = work / "qemu.tar"
    with Stage(f"downloading {origin.source}") as stage:
        try:
            with urllib.request.urlopen(origin.source, timeout=60) as answer, \
                    open(to, "wb") as f:
                total = int(answer.headers.get("Content-Length") or 0)
                done = 0
                while chunk := answer.read(1 << 20):
                    f.write(chunk)
                    done += len(chunk)
                    stage.step(done >> 20, max(total, done) >> 20, "MiB")
        except (urllib.error.URLError, OSError) as e:
            reason = getattr(e, "reason", e)
            raise UserError(f"cannot download {origin.source}: {reason}") from e
    _check_sum(to, origin.sha256)
    return to


def _check_sum(path: Path, wanted: str) -> None:
    with open(path, "rb") as f:
        found = hashlib.file_digest(f, "sha256").hexdigest() \
            if hasattr(hashlib, "file_digest") \
            else hashlib.sha256(f.read()).hexdigest()
    if found != wanted.lower():
        raise UserError(f"{path.name}: sha256 is {found}, not {wanted.lower()}")


def _untar(path: Path, work: Path) -> Path:
    into = work / "untar"
    into.mkdir()
    with Stage("unpacking QEMU's source"):
        try:
            with tarfile.open(path) as tar:
                if hasattr(tarfile, "tar_filter"):
                    tar.extractall(into, filter="tar")
                else:
                    tar.extractall(into)
        except (tarfile.TarError, EOFError) as e:
            why = str(e).splitlines()[0].rstrip(":")
            raise UserError(f"{path.name} is no tar archive that can be read:"
                            f" {why}") from e
    found = [p for p in into.iterdir() if (p / "VERSION").is_file()]
    if len(found) != 1:
        raise UserError(f"{path.name} holds no QEMU source tree")
    return found[0]


def _sources(mirror: str, suite: str) -> list[aptsrc.Source]:
    if not suite or suite == SUITE:
        return aptsrc.require(SUITE, mirror, "QEMU's source")
    # Suites of development have no pocket for security.
    return [source for name in (NEWER if suite == NEWEST else (suite,))
            for source in aptsrc.require(name, mirror, "QEMU's source")
            if source.suite == name]


def fetch_package(mirror: str, work: Path, suite: str = "") -> str:
    """Debian's source package, in the folder work; its version."""
    sources = _sources(mirror, suite)
    with Stage("fetching QEMU's source package by apt") as stage:
        stage.note("index of " + ", ".join(s.suite for s in sources))
        apt = aptsrc.PrivateApt.updated(work / "apt", sources)
        return _fetch_newest(apt, work, stage)


def _from_debian(mirror: str, suite: str, work: Path) -> Path:
    version = fetch_package(mirror, work, suite)
    with Stage(f"unpacking QEMU's source package, {version}"):
        dsc = next(work.glob("*.dsc"))
        run_logged(["dpkg-source", "--no-check", "-x", dsc, work / "tree"],
                   "qemu-unpack", "unpacking QEMU's source package")
    return work / "tree"


def _fetch_newest(apt: aptsrc.PrivateApt, work: Path, stage: Stage) -> str:
    """The newest version that the mirror really has."""
    versions = [v for v in apt.versions("qemu") if _upstream(v) >= OLDEST]
    if not versions:
        raise UserError("the mirror has no source package of QEMU 10.0 or"
                        " later: give QEMU's source with --qemu-source")
    return apt.download("qemu", versions, work, stage.note)


def _upstream(version: str) -> tuple[int, ...]:
    text = version.split(":", 1)[-1]
    number = []
    for part in text.split("+")[0].split("-")[0].split("~")[0].split("."):
        if not part.isdigit():
            break
        number.append(int(part))
    return tuple(number)


def patch_files() -> list[Path]:
    """The patches for versions before WITHOUT_PATCHES, in their order."""
    return sorted(PATCHES.glob("*.patch"))


def prepare(tree: Path, project: Path) -> None:
    """Put our device into a QEMU tree, and the patches; may be repeated."""
    if version_of(tree) < WITHOUT_PATCHES:
        for patch in patch_files():
            if not patching.applied(tree, patch):
                patching.apply(tree, patch, "qemu-patch", "this QEMU")
    _link(tree / "subprojects/vssd", project)
    _link(tree / "hw/ssd", project / "hw-ssd/qemu")
    _link(tree / "configs/devices/x86_64-softmmu/vssd.mak", project / DEVICES)
    _append(tree / "hw/meson.build", "subdir('ssd')")
    _append(tree / "hw/Kconfig", "source ssd/Kconfig")
    _insert(tree / "meson.build", "subdir('trace')",
            "trace_events_subdirs += [ 'hw/ssd' ]")


def _link(path: Path, target: Path) -> None:
    if path.is_symlink() or path.exists():
        path.unlink()
    path.symlink_to(target)


def _append(path: Path, line: str) -> None:
    text = path.read_text(encoding="utf-8")
    if line not in text.splitlines():
        if not text.endswith("\n"):
            text += "\n"
        path.write_text(text + line + "\n", encoding="utf-8")


def _insert(path: Path, before: str, line: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    if line in lines:
        return
    if before not in lines:
        raise UserError(f"{path}: this QEMU has no line {before!r}; it is too"
                        " different from the versions that are known")
    lines.insert(lines.index(before), line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
