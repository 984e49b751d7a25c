# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds libvssd.so of the sources around this folder into the package, with
the headers and profiles."""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "libvssd.so.1"
TARGET = f"lib/{LIBRARY}.0.0"
HEADERS = ("lib/vssd.h", "ftl/vssd-policy.h")


def run(*args: object) -> None:
    """A program; its output is pip's, with -v."""
    subprocess.run([str(a) for a in args], check=True)


def meson() -> list[str]:
    """The program, or the module of the Python that builds."""
    found = shutil.which("meson")
    return [found] if found else [sys.executable, "-m", "mesonbuild.mesonmain"]


class Build(build_py):
    """The Python files, and what they need beside them."""

    def run(self) -> None:
        """Build and copy."""
        super().run()
        to = Path(self.build_lib) / "libvssd"
        build = Path(SCRATCH) / "meson"
        run(*meson(), "setup", "--buildtype=release", "-Db_lto=true",
            "-Dtests=false", "-Dcommand=false", build, ROOT)
        run("ninja", "-C", build, TARGET)
        shutil.copy(build / TARGET, to / LIBRARY)
        for name in HEADERS:
            shutil.copy(ROOT / name, to)
        shutil.copytree(ROOT / "profiles", to / "profiles", dirs_exist_ok=True,
                        ignore=lambda _, names: [
                            n for n in names if not n.endswith(".ini")])


class Wheel(bdist_wheel):
    """One wheel for all versions of Python: it has no extension module."""

    def get_tag(self) -> tuple[str, str, str]:
        """Of the machine alone."""
        return ("py3", "none", super().get_tag()[2])


class Binary(Distribution):
    """So that the wheel is of this machine."""

    def has_ext_modules(self) -> bool:
        """A shared library comes with it."""
        return True


# The sources stay as they are.
SCRATCH = tempfile.mkdtemp(prefix="libvssd-")
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
VERSION = re.search(r"version: '([^']+)'",
                    (ROOT / "meson.build").read_text(encoding="utf-8"))
assert VERSION
setup(version=VERSION[1], distclass=Binary,
      options={"build": {"build_base": SCRATCH}, "egg_info": {"egg_base": SCRATCH}},
      cmdclass={"build_py": Build, "bdist_wheel": Wheel})
