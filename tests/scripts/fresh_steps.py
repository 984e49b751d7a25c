# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a bare Debian system: what ./vssd setup, test and kernel build do
there, up to the first programs that are linked.

python3 fresh_steps.py KERNEL-SOURCE [QEMU-SOURCE]

The packages are those that the commands install by themselves, in their order;
nothing is installed here by name.  Prints a line for each step that is done.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from vssd import paths
from vssd.build import guest_tools, kernel_build, kernel_source, model, packages, qemu_build, venv
from vssd.errors import UserError
from vssd.guest import disk
from vssd.proc import run_logged

TARGETS = ("tests/core/test-eventq", "tests/core/test-hist")
LIBRARY = "nand/libvssd_nand.a"  # calls functions that later GLib deprecates
UUID = "11111111-2222-3333-4444-555555555555"


def linked(kind: str) -> None:
    """One build of the model: configured, small programs linked and run."""
    build = model.ensure(kind, *TARGETS, LIBRARY)
    for name in TARGETS:
        subprocess.run([build / name], check=True, stdout=subprocess.DEVNULL)


def qemu(tree: Path) -> None:
    """QEMU's configure, with the packages that its build asks for."""
    packages.ensure(packages.QEMU, packages.FIRMWARE)
    qemu_build.configure(tree, paths.cache_dir() / "build")
    for folder in qemu_build.FIRMWARE_DIRS:
        if not Path(folder).is_dir():
            raise UserError(f"no firmware in {folder}")


def image() -> None:
    """The parts of the guest image that are made without a mirror."""
    folder = paths.cache_dir() / "image-parts"
    folder.mkdir()
    guest_tools.build(folder)
    disk.make(folder / "disk.raw", UUID, folder)
    for tool in ("mmdebstrap", "fakeroot", "/sbin/mke2fs", "/sbin/depmod"):
        run_logged([tool, "-V"] if "mke2fs" in tool else [tool, "--version"],
                   "tools", tool)


def lint() -> None:
    """The programs of the group lint, those from PyPI among them."""
    venv.extra("lint")
    for tool in ("clang-tidy", "shellcheck", *map(venv.tool, (
            "ruff", "mypy", "codespell", "clang-format"))):
        run_logged([tool, "--version"], "tools", str(tool))


def kernel(tree: Path) -> None:
    """A guest kernel's configuration, and the programs that its build runs."""
    packages.ensure(packages.BUILD, packages.SOURCE, packages.KERNEL)
    build = paths.cache_dir() / "kernel"
    make = kernel_build.configure(tree, build)
    for goal in ("olddefconfig", "prepare"):
        run_logged([*make, goal], "kernel", f"make {goal}",
                   env=kernel_build.environment())
    kernel_source.version_of(tree)


def last_log() -> str:
    """The end of the log that was written last; it goes with this system."""
    logs = sorted((paths.cache_dir() / "logs").glob("*.log"),
                  key=lambda p: p.stat().st_mtime)
    return logs[-1].read_text(errors="replace")[-3000:] if logs else ""


def main(argv: list[str]) -> int:
    """See the head of this file."""
    kernel_tree, *qemu_trees = map(Path, argv)
    steps: dict[str, Callable[[], object]] = {
        "packages of setup": lambda: packages.ensure(*packages.SETUP),
        "Python environment": venv.ensure,
        "vssd-sim's build": lambda: linked("release"),
        "guest image": image,
        "packages of test": lambda: packages.ensure(*packages.TEST),
        "programs of lint": lint,
        "gcc, address sanitizer": lambda: linked("gcc"),
        "clang, undefined-behaviour sanitizer": lambda: linked("clang"),
        "kernel's configuration": lambda: kernel(kernel_tree),
    }
    for tree in qemu_trees:
        steps["QEMU's configure"] = partial(qemu, tree)
    for name, step in steps.items():
        begin = time.monotonic()
        try:
            step()
        except (UserError, OSError, subprocess.CalledProcessError) as e:
            print(f"failed: {name}: {e}\n{last_log()}", flush=True)
            return 1
        print(f"done: {name} ({time.monotonic() - begin:.0f} s)", flush=True)
    print("all done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
