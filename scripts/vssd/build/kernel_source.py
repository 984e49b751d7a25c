# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's source: Debian's source package, a tree or an archive of the
user's; and patches on top of a copy.

Debian's source is unpacked once.  A copy of it by hard links is patched:
patch(1) writes new files and leaves the others alone.  Does not know how a
kernel is configured or built.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..paths import PROJECT, cache_dir, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage
from . import aptsrc, packages, patching

SUITE = "trixie"
SERIES = "6.12."
OUR_PATCHES = PROJECT / "guest-tools/kernel"
SOURCE_BYTES = 2500 << 20
COPY_BYTES = 300 << 20


@dataclass(frozen=True)
class Wanted:
    """The user's options about the source; all empty: Debian's, with ours."""

    source: str = ""
    patches: str = ""
    unpatched: bool = False
    mirror: str = ""

    @property
    def debian(self) -> bool:
        """From Debian's source package."""
        return not self.source

    @property
    def patch_folder(self) -> Path | None:
        """Where the patches are; None: there are none."""
        if self.unpatched:
            return None
        if self.patches:
            return Path(self.patches).expanduser()
        return OUR_PATCHES if self.debian else None


def version_of(tree: Path) -> str:
    """The version that a kernel tree's Makefile states."""
    try:
        text = (tree / "Makefile").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if not (tree / "Kbuild").is_file() or "PATCHLEVEL" not in text:
        raise UserError(f"{tree} is no kernel source: it has no Makefile that"
                        " states a version")
    found = {m[1]: m[2] for m in re.finditer(
        r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *=[ \t]*(.*)$", text,
        re.M)}
    return (".".join(found.get(x, "0") for x in ("VERSION", "PATCHLEVEL",
                                                 "SUBLEVEL"))
            + found.get("EXTRAVERSION", ""))


def patch_files(folder: Path) -> list[Path]:
    """The patches of a folder: those that its file `series` lists, else
    *.patch and *.diff by name."""
    if not folder.is_dir():
        raise UserError(f"--patches {folder}: no such directory")
    series = folder / "series"
    if series.is_file():
        names = [line.split("#")[0].split()
                 for line in series.read_text().splitlines()]
        found = [folder / n[0] for n in names if n]
    else:
        found = sorted(p for p in folder.iterdir()
                       if p.suffix in (".patch", ".diff"))
    for path in found:
        if not path.is_file():
            raise UserError(f"--patches {folder}: its file series lists"
                            f" {path.name}, which is not there")
    if not found:
        raise UserError(f"--patches {folder}: there is no *.patch in it")
    return found


def identity(wanted: Wanted) -> str:
    """Names a source and its patches; changes when either does.  A tree of the
    user's is named by its place alone: make(1) finds the changes there."""
    folder = wanted.patch_folder
    patches = [p.read_bytes() for p in patch_files(folder)] if folder else []
    source = "debian"
    if not wanted.debian:
        path = Path(wanted.source).expanduser()
        source = str(path.resolve())
        if path.is_file():
            st = path.stat()
            source += f" {st.st_size} {st.st_mtime_ns}"
    return key_of("kernel-source-1", source, *patches)


def check(wanted: Wanted) -> None:
    """Errors that can be found before the build."""
    if wanted.patches and wanted.unpatched:
        raise UserError("--patches and --no-patches exclude each other")
    if wanted.source:
        path = Path(wanted.source).expanduser()
        if path.is_dir():
            version_of(path)
        elif not path.is_file():
            raise UserError(f"--source {wanted.source}: no such file or"
                            " directory")
    if wanted.patch_folder:
        patch_files(wanted.patch_folder)


def in_place(wanted: Wanted) -> bool:
    """Is the user's tree built where it is?"""
    return bool(wanted.source) and wanted.patch_folder is None \
        and Path(wanted.source).expanduser().is_dir()


def prepare(wanted: Wanted, folder: Path) -> Path:
    """The tree to build: folder/source, made afresh, or the user's own.

    Files that the last tree there had with the same contents keep their time,
    so that only changed files are compiled again.
    """
    if in_place(wanted):
        return Path(wanted.source).expanduser().resolve()
    tree, last = folder / "source", folder / "source.last"
    if not last.exists() and tree.exists():
        tree.rename(last)
    shutil.rmtree(tree, ignore_errors=True)
    base = debian_tree(wanted.mirror) if wanted.debian \
        else Path(wanted.source).expanduser().resolve()
    touched = _read_list(folder / "patched")
    try:
        _copy(base, tree)
        if wanted.patch_folder:
            touched |= _apply_all(tree, patch_files(wanted.patch_folder))
    except BaseException:
        shutil.rmtree(tree, ignore_errors=True)
        raise
    (folder / "patched").write_text("\n".join(sorted(touched)))
    for name in touched:
        _settle_time(tree / name, last / name)
    shutil.rmtree(last, ignore_errors=True)
    return tree


def _read_list(path: Path) -> set[str]:
    try:
        return {x for x in path.read_text().splitlines() if x}
    except OSError:
        return set()


def _settle_time(path: Path, before: Path) -> None:
    """A patched file: as old as the same contents were, else new."""
    if not path.is_file():
        return
    if before.is_file() and filecmp.cmp(path, before, shallow=False):
        st = before.stat()
        times: tuple[int, int] | None = (st.st_atime_ns, st.st_mtime_ns)
    else:
        times = None
    if path.stat().st_nlink > 1:
        copy = path.with_name(path.name + ".copy")
        shutil.copy2(path, copy)
        copy.rename(path)
    if times:
        os.utime(path, ns=times)
    else:
        os.utime(path)


def _copy(base: Path, tree: Path) -> None:
    need_space(cache_dir(), COPY_BYTES, "a copy of the kernel's source")
    if base.is_file():
        _untar(base, tree)
    elif base.is_relative_to(cache_dir()):
        with Stage("copying the kernel's source"):
            run_logged(["cp", "-al", base, tree], "kernel-copy",
                       "copying the kernel's source")
    else:
        need_space(cache_dir(), SOURCE_BYTES, "a copy of the kernel's source")
        with Stage(f"copying {base}"):
            shutil.copytree(base, tree, symlinks=True,
                            ignore=shutil.ignore_patterns(".git", "*.o"))


def _untar(path: Path, to: Path) -> None:
    need_space(cache_dir(), SOURCE_BYTES, "the kernel's source")
    into = to.with_name("untar")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    with Stage(f"unpacking {path.name}"):
        try:
            with tarfile.open(path) as tar:
                if hasattr(tarfile, "tar_filter"):
                    tar.extractall(into, filter="tar")
                else:
                    tar.extractall(into)
            found = [p for p in into.iterdir() if (p / "Kbuild").is_file()]
            if len(found) != 1:
                raise UserError(f"{path.name} holds no kernel source tree")
            found[0].rename(to)
        except (tarfile.TarError, EOFError) as e:
            why = str(e).splitlines()[0].rstrip(":")
            raise UserError(f"{path.name} is no tar archive that can be read:"
                            f" {why}") from e
        finally:
            shutil.rmtree(into, ignore_errors=True)


def _apply_all(tree: Path, patches: list[Path]) -> set[str]:
    touched: set[str] = set()
    with Stage(f"applying {len(patches)} patches") as stage:
        for i, path in enumerate(patches):
            stage.step(i, len(patches), path.name)
            touched |= patching.apply(tree, path, "kernel-patch",
                                      version_of(tree))
    return touched


# ---- Debian's source package ----------------------------------------------

def debian_tree(mirror: str = "") -> Path:
    """Debian's source, unpacked and with Debian's patches."""
    have = _unpacked()
    if have:
        return have
    with locked("linux-source"):
        have = _unpacked()
        if have:
            return have
        packages.ensure(packages.SOURCE)
        need_space(cache_dir(), SOURCE_BYTES, "the kernel's source")
        work = cache_dir() / "linux-source.part"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            version = _fetch(mirror, work)
            with Stage(f"unpacking the source package linux {version}"):
                run_logged(["dpkg-source", "--no-check", "-x",
                            next(work.glob("*.dsc")), work / "tree"],
                           "kernel-unpack", "unpacking the kernel's source")
            tree = cache_dir() / f"linux-source-{version}"
            (work / "tree").rename(tree)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return tree


def _unpacked() -> Path | None:
    names = [p.name for p in cache_dir().glob(f"linux-source-{SERIES}*")]
    versions = aptsrc.sort_versions([n.removeprefix("linux-source-")
                                     for n in names])
    return cache_dir() / f"linux-source-{versions[0]}" if versions else None


def _fetch(mirror: str, work: Path) -> str:
    """The newest version that the mirror really has."""
    sources = aptsrc.require(SUITE, mirror, "the kernel's source")
    with Stage("fetching the kernel's source package by apt") as stage:
        stage.note("index of " + sources[0].suite)
        apt = aptsrc.PrivateApt.updated(work / "apt", sources)
        versions = [v for v in apt.versions("linux") if v.startswith(SERIES)]
        if not versions:
            raise UserError(f"the mirror has no source package linux {SERIES}*")
        return apt.download("linux", versions, work, stage.note)
