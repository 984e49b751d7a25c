# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-server, and the library that it is linked with.

libvfio-user has no package, but QEMU's source package has its source: it comes
from the QEMU tree of this project if there is one, else that part of the package
alone is unpacked.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from .. import installed
from ..errors import UserError
from ..paths import PROJECT, cache_dir, find_made, key_of, locked
from ..proc import run_logged
from ..ui import Stage
from . import model, packages, programs, qemu_build, qemu_source, venv

TARGET = "hw-ssd/vfio-user/vssd-server"
LIBRARY = "subprojects/libvfio-user"
DONE = "done"
OPTION = "libvfio_user"


def library() -> Path:
    """The source of libvfio-user."""
    origin = qemu_build.remembered_origin()
    tree = qemu_source.tree_of(origin)
    if (tree / "vssd-prepared").exists() and _is_library(tree / LIBRARY):
        return tree / LIBRARY
    name = library_name()
    if found := find_made(name, DONE):
        return found / LIBRARY
    folder = cache_dir() / name
    with locked(name):
        if not (folder / DONE).exists():
            _make(folder, origin.mirror)
    return folder / LIBRARY


def library_name() -> str:
    """The folder of the cache that has that source alone."""
    return "libvfio-user-" + key_of("1")


def _is_library(path: Path) -> bool:
    return (path / "lib/libvfio-user.c").is_file()


def _make(folder: Path, mirror: str) -> None:
    packages.ensure(packages.SOURCE)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    part.mkdir()
    try:
        qemu_source.fetch_package(mirror, part)
        archive = next(part.glob("*.orig.tar.*"))
        with Stage("unpacking libvfio-user of QEMU's source package"):
            run_logged(["tar", "-xf", archive, "-C", part, "--wildcards",
                        "--strip-components=1", f"*/{LIBRARY}"],
                       "libvfio-user", "unpacking libvfio-user")
        if not _is_library(part / LIBRARY):
            raise UserError(f"{archive.name} has no {LIBRARY}")
        for path in (archive, *part.glob("qemu_*"), part / "apt"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        (part / DONE).touch()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def ensure() -> Path:
    """The program, up to date; a package brings its own."""
    if installed.here():
        return installed.program("vssd-server")
    folder = programs.ensure(
        lambda: programs.key(TARGET, programs.SIM, model.KINDS["release"]),
        lambda: ([build("release")], [PROJECT / "profiles"]))
    return folder / "vssd-server"


def build(kind: str) -> Path:
    """The program in the build `kind` of the model."""
    packages.ensure(packages.SERVER)
    venv.ensure()
    folder = model.build_dir(kind)
    source = str(library())
    with locked(folder.name):
        model.configure(kind)
        if _option(folder) != source:
            run_logged([venv.tool("meson"), "configure", folder,
                        f"-D{OPTION}={source}"], f"model-{kind}-setup",
                       f"configuring the model ({kind})",
                       env=venv.path_env())
    return model.ensure(kind, TARGET) / TARGET


def _option(folder: Path) -> str:
    """The library that a build has been told of; empty: none."""
    done = subprocess.run(
        [str(venv.tool("meson")), "introspect", "--buildoptions", str(folder)],
        capture_output=True, text=True, check=False, cwd=PROJECT)
    try:
        return next(str(o["value"]) for o in json.loads(done.stdout)
                    if o["name"] == OPTION)
    except (ValueError, StopIteration):
        return ""
