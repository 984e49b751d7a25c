# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python environment of the vssd command, in the cache.

QEMU's build wants a newer Meson than Debian 12 has; tables, QMP and the tests
use libraries.  scripts/requirements.txt has the versions and the hashes of their
files, and scripts/requirements-NAME.txt those that few commands use, or that are
large.  Nothing else is installed: scripts/update-requirements.sh lists all that
they need.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path

from ..errors import UserError
from ..paths import PROJECT, cache_dir, file_bytes, find_made, key_of, locked
from ..proc import run_logged
from ..ui import Stage
from . import packages

REQUIREMENTS = "scripts/requirements.txt"
BUILD = "scripts/requirements-build.txt"  # of packages that have no wheel
package = "vssd"  # that was started: python -m vssd


def venv_dir() -> Path:
    """Where the environment is, or will be."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = sys.base_prefix
    name = "venv-" + key_of(version, base, file_bytes(BUILD, REQUIREMENTS))
    return find_made(name, "done") or cache_dir() / name


def inside() -> bool:
    """Is this Python that of the environment?"""
    return Path(sys.prefix).resolve() == venv_dir().resolve()


def ensure() -> Path:
    """Make the environment if it is not there; its directory."""
    path = venv_dir()
    if (path / "done").exists():
        return path
    with locked(path.name):
        if (path / "done").exists():
            return path
        packages.ensure(packages.PYTHON)
        shutil.rmtree(path, ignore_errors=True)
        with Stage("installing Python libraries into the cache") as stage:
            stage.note("venv")
            try:
                _make(path)
            except BaseException:
                shutil.rmtree(path, ignore_errors=True)
                raise
    return path


def _make(path: Path) -> None:
    run_logged([sys.executable, "-m", "venv", path], "venv",
               "making a Python environment")
    install(path, BUILD)
    install(path, REQUIREMENTS)
    (path / "done").touch()


def install(path: Path, requirements: str) -> None:
    """Have the packages of a file in the environment `path`, which has those of
    BUILD; a file whose hash is not listed is refused."""
    try:
        run_logged([path / "bin/python", "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", "--no-input",
                    "--retries", "2", "--require-hashes",
                    "--no-build-isolation", "--use-pep517",
                    "-r", PROJECT / requirements], "venv",
                   "installing Python libraries", append=True)
    except UserError as e:
        remedy = f"{requirements} has another hash: is pip's index the right one?" \
            if "HASHES" in str(e) else \
            "is the network there, and pip configured?"
        raise UserError(f"{e}; {remedy}") from e


def extra(name: str) -> None:
    """Have the packages of scripts/requirements-NAME.txt; installed on first use,
    into the environment that enter() has entered."""
    requirements = f"scripts/requirements-{name}.txt"
    path = ensure()
    done = path / f"done-{name}-{key_of(file_bytes(requirements))}"
    if done.exists():
        return
    if not os.access(path, os.W_OK):
        raise UserError(f"{path} has no packages for {name} and cannot be"
                        " written: its owner has to run this once, or unset"
                        " VSSD_SHARED_CACHE")
    with locked(path.name):
        if not done.exists():
            with Stage(f"installing Python libraries for {name}") as stage:
                stage.note("pip")
                install(path, requirements)
            done.touch()
    importlib.invalidate_caches()


def enter(argv: list[str]) -> None:
    """Run this command again in the environment, unless it is there."""
    if inside():
        return
    ensure()
    if not inside():
        _again(argv)


def enter_if_made(argv: list[str]) -> None:
    """The same, but nothing is installed."""
    if not inside() and (venv_dir() / "done").exists():
        _again(argv)


def _again(argv: list[str]) -> None:
    python = str(venv_dir() / "bin/python")
    os.execv(python, [python, "-m", package, *argv])


def tool(name: str) -> Path:
    """A program of the environment."""
    return venv_dir() / "bin" / name


def path_env() -> dict[str, str]:
    """PATH with the environment's programs first."""
    return {"PATH": f"{venv_dir() / 'bin'}:{os.environ.get('PATH', '')}"}
