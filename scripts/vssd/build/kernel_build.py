# SPDX-License-Identifier: GPL-2.0-or-later
"""Building guest kernels, and finding them by name.

A kernel NAME is the folder kernel-NAME of the cache: its source, its build
directory, bzImage, and kernel.json, which names its inputs. With the same
inputs nothing is done; when they changed, make(1) compiles only the files that
depend on the change.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..paths import (
    PROJECT,
    cache_dir,
    key_of,
    locked,
    need_space,
    shared_cache_dir,
)
from ..proc import run_logged
from ..ui import Stage, say
from . import kernel_source, packages
from .kernel_source import Wanted

CONFIG = PROJECT / "guest-tools/kernel/config"
# Options without which the guest does not boot: it has no initial RAM disk.
NEEDED = ("64BIT", "PCI", "BLK_DEV_NVME", "EXT4_FS", "DEVTMPFS",
          "SERIAL_8250_CONSOLE", "BINFMT_ELF", "X86_IOPL_IOPERM")
BUILD_BYTES = 1200 << 20
OBJECTS = 1700  # number of files that our configuration compiles, about: for progress
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


@dataclass(frozen=True)
class Kernel:
    """A kernel that has been built."""

    folder: Path

    @property
    def name(self) -> str:
        """A kernel for ./vssd run --kernel."""
        return self.folder.name.removeprefix("kernel-")

    @property
    def image(self) -> Path:
        """The file that QEMU loads."""
        return self.folder / "bzImage"

    def facts(self) -> dict[str, Any]:
        """Its inputs; empty: never finished."""
        try:
            found: dict[str, Any] = json.loads(
                (self.folder / "kernel.json").read_text())
            return found
        except (OSError, ValueError):
            return {}


def built() -> list[Kernel]:
    """Every kernel of the cache that is ready, then those of the shared one."""
    found: dict[str, Kernel] = {}
    for base in (cache_dir(), shared_cache_dir()):
        for path in sorted(base.glob("kernel-*")) if base else []:
            kernel = Kernel(path)
            if path.is_dir() and kernel.image.is_file() and kernel.facts():
                found.setdefault(kernel.name, kernel)
    return list(found.values())


def find(text: str) -> Path:
    """The file of --kernel: a path, or the name of a built kernel."""
    path = Path(text).expanduser()
    if path.is_file():
        return path
    if NAME.fullmatch(text):
        for kernel in built():
            if kernel.name == text:
                return kernel.image
    have = ", ".join(k.name for k in built()) or "none is built"
    raise UserError(f"--kernel {text}: no such file, and no kernel that"
                    f" ./vssd kernel build made has that name ({have})")


def default_name(wanted: Wanted) -> str:
    """How a kernel is called that was given no name."""
    if wanted.patches:
        text = Path(wanted.patches).expanduser().resolve().name
    elif wanted.source:
        text = Path(wanted.source).expanduser().resolve().name
        text = re.sub(r"\.tar(\.\w+)?$", "", text)
    else:
        text = "debian" if wanted.unpatched else "streams"
    text = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.")
    return text[:64] or "mine"


def ensure(wanted: Wanted, name: str = "", config: Path | None = None,
           jobs: int = 0) -> Kernel:
    """The kernel, ours or the shared cache's; built when there is none of these
    inputs."""
    name = name or default_name(wanted)
    check(wanted, name, config)
    kernel = Kernel(cache_dir() / f"kernel-{name}")
    key = _key(wanted, config)
    if not kernel_source.in_place(wanted):
        for base in (cache_dir(), shared_cache_dir()):
            if base and _ready(Kernel(base / kernel.folder.name), key):
                return Kernel(base / kernel.folder.name)
    with locked(f"kernel-{name}"):
        if not kernel_source.in_place(wanted) and _ready(kernel, key):
            return kernel
        packages.ensure(packages.BUILD, packages.SOURCE, packages.KERNEL)
        kernel.folder.mkdir(exist_ok=True)
        _build(kernel, wanted, key, config, jobs or _cpus())
    return kernel


def check(wanted: Wanted, name: str, config: Path | None) -> None:
    """Errors that can be found before the build."""
    if not NAME.fullmatch(name):
        raise UserError(f"--name {name}: letters, digits and ._+- after a"
                        " letter or digit, at most 64")
    if config and not config.is_file():
        raise UserError(f"--config {config}: no such file")
    kernel_source.check(wanted)


def remove(name: str) -> None:
    """Remove a kernel and its build."""
    folder = cache_dir() / f"kernel-{name}"
    if not NAME.fullmatch(name) or not folder.is_dir():
        raise UserError(f"no kernel {name!r}: ./vssd kernel list shows them")
    with locked(f"kernel-{name}"):
        shutil.rmtree(folder)
    folder.with_name(folder.name + ".lock").unlink(missing_ok=True)


def _cpus() -> int:
    return len(os.sched_getaffinity(0))


def _key(wanted: Wanted, config: Path | None) -> str:
    extra = config.read_bytes() if config else b""
    return key_of("kernel-1", kernel_source.identity(wanted),
                  CONFIG.read_bytes(), extra)


def _ready(kernel: Kernel, key: str) -> bool:
    return kernel.image.is_file() and kernel.facts().get("key") == key


def _build(kernel: Kernel, wanted: Wanted, key: str, config: Path | None,
           jobs: int) -> None:
    begin = time.monotonic()
    last = kernel.facts()
    tree = _tree(kernel, wanted)
    build = kernel.folder / "build"
    if last and last.get("tree") != str(tree):
        shutil.rmtree(build, ignore_errors=True)
    need_space(cache_dir(), BUILD_BYTES if not build.exists() else 50 << 20,
               "building a kernel")
    make = configure(tree, build, config)
    used = _cpu_s()
    _make(make, kernel.name, jobs, int(last.get("objects", 0) or OBJECTS),
          fresh=not last)
    part = kernel.image.with_suffix(".part")
    shutil.copy(build / "arch/x86/boot/bzImage", part)
    part.rename(kernel.image)
    folder = wanted.patch_folder
    (kernel.folder / "kernel.json").write_text(json.dumps({
        "key": key, "tree": str(tree), "release": _release(build),
        "source": wanted.source or "Debian's linux "
        + kernel_source.version_of(tree),
        "patches": [p.name for p in kernel_source.patch_files(folder)]
        if folder else [],
        "patch_folder": "vssd" if folder == kernel_source.OUR_PATCHES
        else str(folder or ""),
        "config": str(config) if config else "",
        "objects": _count(build), "built": int(time.time()),
        "seconds": round(time.monotonic() - begin),
        "cpu_seconds": round(_cpu_s() - used)}, indent=1))
    say(f"built {kernel.name} in {took(kernel)}")


def _cpu_s() -> float:
    """CPU time of the programs that have been run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def took(kernel: Kernel) -> str:
    """How long its build took, for people."""
    facts = kernel.facts()
    text = minutes(facts["seconds"])
    if "cpu_seconds" in facts:
        text += f", with {minutes(facts['cpu_seconds'])} of CPU time"
    return text


def minutes(seconds: int) -> str:
    """As 12 min 3 s."""
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 \
        else f"{seconds} s"


def _tree(kernel: Kernel, wanted: Wanted) -> Path:
    """The tree, made again when it is not of these inputs."""
    mark = kernel.folder / "source.key"
    now = kernel_source.identity(wanted)
    tree = kernel.folder / "source"
    if not kernel_source.in_place(wanted):
        try:
            if mark.read_text() == now and tree.is_dir():
                return tree
        except OSError:
            pass
        mark.unlink(missing_ok=True)
    tree = kernel_source.prepare(wanted, kernel.folder)
    mark.write_text(now)
    return tree


def configure(tree: Path, build: Path, config: Path | None = None) \
        -> list[str]:
    """Make the kernel's configuration; how make(1) is called there."""
    make = ["make", "-C", str(tree), f"O={build}", "ARCH=x86_64"]
    build.mkdir(exist_ok=True)
    mine = config.read_text() if config else ""
    (build / "vssd.config").write_text(CONFIG.read_text() + "\n" + mine)
    with Stage("configuring the kernel"):
        run_logged([*make, "allnoconfig"], "kernel-config",
                   "configuring the kernel", env={
                       **environment(),
                       "KCONFIG_ALLCONFIG": str(build / "vssd.config")})
    have = _settings((build / ".config").read_text())
    for name in NEEDED:
        if have.get(name) != "y":
            raise UserError(f"the kernel would not boot: CONFIG_{name} is not"
                            " y" + (f"; see {config}" if config else ""))
    lost = [n for n, v in _settings(mine).items() if have.get(n, "n") != v]
    for name in lost[:8]:
        say(f"{config}: CONFIG_{name} does not come out as asked; something"
            " that it depends on is off, or this kernel has no such option")
    return make


def _settings(text: str) -> dict[str, str]:
    """NAME: value of a configuration; n where it says "is not set"."""
    found = {}
    for line in text.splitlines():
        if m := re.match(r"CONFIG_(\w+)=(.*)", line):
            found[m[1]] = m[2].strip()
        elif m := re.match(r"# CONFIG_(\w+) is not set", line):
            found[m[1]] = "n"
    return found


def _make(make: list[str], name: str, jobs: int, total: int, fresh: bool) \
        -> None:
    title = f"building the kernel {name}"
    if fresh:
        title += " (ten minutes or more)"
    done = 0
    with Stage(title) as stage:
        def on_line(line: str) -> None:
            nonlocal done
            m = re.match(r"\s+(?:CC|AS|LD|AR)\s+(\S+)", line)
            if m:
                done += 1
                stage.step(done, max(done, total), m[1])

        run_logged([*make, f"-j{jobs}", "bzImage"], "kernel-build",
                   f"building the kernel {name}", on_line=on_line,
                   env=environment())


def environment() -> dict[str, str]:
    """Environment for the kernel's make(1)."""
    return {"LC_ALL": "C", "MAKEFLAGS": "", "KBUILD_BUILD_USER": "vssd",
            "KBUILD_BUILD_HOST": "vssd"}


def _release(build: Path) -> str:
    return (build / "include/config/kernel.release").read_text().strip()


def _count(build: Path) -> int:
    """How many lines of progress a build of all of it shows, about."""
    out = subprocess.run(["find", build, "-name", "*.o"], capture_output=True,
                         text=True, check=False).stdout
    return len(out.splitlines())
