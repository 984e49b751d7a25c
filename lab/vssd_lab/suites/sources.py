# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a suite: a checkout that the user names, or those of Debian's
source package, in the cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vssd.build import aptsrc, packages
from vssd.errors import UserError
from vssd.paths import cache_dir, key_of, locked
from vssd.proc import run_logged
from vssd.ui import Stage

# The guest's first; a mirror may list a file that it does not have.
DEBIAN = ("trixie", "sid")
VERSION = "vssd-version"


@dataclass(frozen=True)
class Files:
    """A suite's files that are there."""

    folder: Path
    version: str


def files(folder: Path) -> Files:
    """Those in a folder: a checkout, or what debian() made."""
    version = folder / VERSION
    return Files(folder, version.read_text().strip() if version.exists()
                 else commit(folder))


def debian(package: str, mirror: str = "") -> Files:
    """Those of a source package, without Debian's changes."""
    folder = cache_dir() / f"suite-{package}-" \
        f"{key_of('suite-1', package, DEBIAN, mirror)}"
    if not folder.exists():
        with locked("suite"):
            if not folder.exists():
                _make(package, mirror, folder)
    return files(folder)


def _make(package: str, mirror: str, folder: Path) -> None:
    packages.ensure(packages.SOURCE)
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="suite.") as name, \
            Stage(f"fetching the tests of {package} (once)") as stage:
        work = Path(name)
        version = _fetch(package, mirror, work, stage)
        tree = work / "tree"
        tree.mkdir()
        run_logged(["tar", "-C", tree, "--strip-components=1", "-xf",
                    next(work.glob(f"{package}_*.tar.*"))], "suite",
                   f"unpacking {package}")
        (tree / VERSION).write_text(f"{package} {version}\n")
        shutil.move(tree, folder)


def _fetch(package: str, mirror: str, work: Path, stage: Stage) -> str:
    """The upstream part of the newest version that the mirror really has."""
    problem = UserError(f"this machine's apt names no mirror with the source"
                        f" of {package}; give a checkout")
    for suite in DEBIAN:
        sources = [s for s in aptsrc.debian_sources(suite, mirror)
                   if s.suite == suite]
        if not sources:
            continue
        apt = aptsrc.PrivateApt.updated(work / f"apt-{suite}", sources)
        for version in apt.versions(package):
            stage.note(f"{package} {version}")
            try:
                apt.get("source", "--download-only", "--tar-only",
                        f"{package}={version}", cwd=work,
                        what=f"fetching the source of {package} {version}")
                return version
            except UserError as e:
                problem = e
    raise problem


def commit(folder: Path) -> str:
    """The commit of a checkout; "unknown" where git has none."""
    done = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty",
         "--exclude", "*"], capture_output=True, text=True, check=False)
    inside = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--show-prefix"],
        capture_output=True, text=True, check=False)
    # A checkout without its history may be within another project's.
    if done.returncode != 0 or inside.stdout.strip():
        return "unknown"
    return done.stdout.strip()
