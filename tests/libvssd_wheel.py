# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel of lib/python, for tests: built once for the contents of its sources,
and the environments that it is installed into."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from vssd.build import packages, programs, venv
from vssd.paths import PROJECT, cache_dir, file_bytes, key_of, locked

REQUIREMENTS = "scripts/requirements-libvssd.txt"
SOURCES = ("core", "nand", "ftl", "lib", "profiles")


def run(*args: object, **more: str) -> str:
    """A program's output; the environment is without PYTHONPATH."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([str(a) for a in args], capture_output=True,
                          text=True, check=False, env=dict(env, **more))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def environment() -> Path:
    """A virtual environment with the libraries, and without the wheel; kept in
    the cache."""
    key = key_of(sys.version, file_bytes(REQUIREMENTS))
    folder = cache_dir() / f"libvssd-venv-{key}"
    with locked("libvssd-venv"):
        if not (folder / "done").exists():
            run(sys.executable, "-m", "venv", "--clear", folder)
            run(folder / "bin/python", "-m", "pip", "install", "-q",
                "--require-hashes", "-r", PROJECT / REQUIREMENTS)
            (folder / "done").touch()
    return folder


def _build(to: Path) -> list[Path]:
    """With little optimisation: less CPU."""
    packages.ensure(packages.BUILD)
    venv.ensure()
    run(environment() / "bin/python", "-m", "pip", "wheel", "--no-deps",
        "--no-build-isolation", "-w", to, PROJECT / "lib/python",
        CFLAGS="-O1 -fno-lto",
        PATH=f"{venv.tool('meson').parent}:{os.environ['PATH']}")
    return list(to.glob("*.whl"))


def wheel() -> Path:
    """Of the sources as they are."""
    with tempfile.TemporaryDirectory() as tmp, locked("libvssd-wheel"):
        folder = programs.ensure(
            lambda: programs.key("libvssd-wheel-O1", SOURCES),
            lambda: (_build(Path(tmp)), []))
    (found,) = folder.glob("*.whl")
    return found


def installed(to: Path) -> Path:
    """The Python of a fresh environment in the folder, which has the wheel; its other
    libraries are those of environment()."""
    run(sys.executable, "-m", "venv", to)
    (site,) = to.glob("lib/python*/site-packages")
    (libraries,) = environment().glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{libraries}\n")
    run(to / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-index",
        wheel())
    return to / "bin/python"
