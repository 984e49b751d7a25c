# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache's contents: their sizes, and which of them no clone needs.

Old is what cannot be of use any more: half-made files; builds of a clone that
has gone; images of another recipe; programs that are not the last used.  Never
old are kernels, keys, and files that keep a guest's writes, with the images
behind them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from ..arch import ALL, FOREIGN, X86_64
from ..build import programs
from ..paths import cache_dir
from . import used

PROGRAMS_KEPT = 2
KINDS = {
    "programs-": "built programs, by contents",
    "build-": "QEMU's build directory of a clone",
    "qemu-": "QEMU's source of a clone",
    "model-": "the model's build directory of a clone",
    "image-": "guest image",
    "root-": "packages of a guest image",
    "kernel-": "guest kernel",
    "linux-source-": "Linux's source",
    "venv-": "Python environment",
    "suite-": "test suite",
    "used-": "a used drive (--drive NAME,aged)",
    "kept-": "a guest's writes (--keep)",
    "libvirt-": "a libvirt guest's writes",
    "runs": "guests that run, also of ./vssd test",
    "logs": "logs",
    "passes": "long tests that have passed",
    "figures": "results of runs of figures",
    "blackbox": "results of runs of black-box models",
    "board": "results of measured drives' experiments",
    "ssh": "key of --ssh",
}
WRITES = re.compile(r"(?:kept|libvirt-.*?)-((?:(?:"
                    + "|".join(FOREIGN) + r")-)?[0-9a-f]{16})\.qcow2")


@dataclass(frozen=True)
class Entry:
    """A file or directory of the cache."""

    path: Path
    old: bool = False

    @property
    def kind(self) -> str:
        """What it is, for people."""
        for head, text in KINDS.items():
            if self.path.name.startswith(head):
                return text
        return "other"

    def allocated(self) -> int:
        """Bytes on the disk: holes do not count."""
        total = _allocated(self.path)
        for folder, _, names in os.walk(self.path):
            total += sum(_allocated(os.path.join(folder, n)) for n in names)
        return total

    def remove(self) -> None:
        """It is gone afterwards; a file of a directory may have gone before."""
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)


def _allocated(path: str | Path) -> int:
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return 0
    return st.st_blocks * 512 if not stat.S_ISLNK(st.st_mode) else 0


def entries() -> list[Entry]:
    """All of the cache but locks and other files without content."""
    base = cache_dir()
    old = _old(base)
    return [Entry(p, p.name in old) for p in sorted(base.iterdir())
            if p.suffix != ".lock" and p.name != "locks"
            and (p.is_dir() or p.stat().st_size > 4096 or p.name in old)]


def _old(base: Path) -> set[str]:
    names = {p.name for p in base.iterdir()}
    return {n for n in names if n.endswith((".part", ".sparse"))} \
        | _programs() | _clones(base) | _images(base, names) | _used(names)


def _used(names: set[str]) -> set[str]:
    """States of drives of another model."""
    return {n for n in names if n.startswith(used.PREFIX) and n.count("-") > 1
            and used.is_of_another_model(n)}


def _programs() -> set[str]:
    return {p.name for p in programs.unused(PROGRAMS_KEPT)}


def _clones(base: Path) -> set[str]:
    """Sources and builds whose clone is not there any more."""
    found = set()
    trees = {p.resolve(): _clone_of(p) for p in base.glob("qemu-*")
             if p.is_dir()}
    for tree, clone in trees.items():
        if clone and not clone.exists():
            found.add(tree.name)
    for build in base.glob("build-*"):
        source = _source_of(build)
        clone = trees.get(source.resolve()) if source else None
        if source and (not source.exists() or (clone and not clone.exists())):
            found.add(build.name)
    for build in base.glob("model-*"):
        source = _source_of(build)
        if source and not source.exists():
            found.add(build.name)
    return found


def _clone_of(tree: Path) -> Path | None:
    """The clone whose device is in a tree of QEMU's source."""
    try:
        return Path(os.readlink(tree / "subprojects/vssd"))
    except OSError:
        return None


def _source_of(build: Path) -> Path | None:
    """The source of one of Meson's build directories."""
    try:
        said = json.loads((build / "meson-info/meson-info.json").read_text())
        return Path(said["directories"]["source"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _images(base: Path, names: set[str]) -> set[str]:
    """Images and their packages of another recipe, without kept writes."""
    from . import foreign, image

    behind = {f"image-{m[1]}" for m in map(WRITES.fullmatch, names) if m}
    old, roots = set(), {image.root_name(suite) for suite in image.SUITES}
    for path in base.glob("image-*"):
        try:
            said = json.loads((path / "image.json").read_text())
            suite, more = said["suite"], tuple(said.get("packages", ()))
            arch = ALL[said.get("arch", X86_64.name)]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if arch is not X86_64:
            name = foreign.image_name(arch, more)
            root = foreign.root_name(arch, more)
        else:
            name = image.image_name(suite, more)
            root = image.root_name(suite, more)
        if path.name == name:
            roots.add(root)
        elif path.name not in behind:
            old.add(path.name)
    return old | {p.name for p in base.glob("root-*.tar")
                  if p.name not in roots}
