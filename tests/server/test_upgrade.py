# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives of the last release go on in this version: states of vssd-sim, and the image
with its state (docs/releasing.md)."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_server import BLOCK, host_of, pattern
from vmm import PROJECT, Server, Vmm

from vssd.build import model, venv, vfio_server

RUN = ("--workload", "rw=randrw bs=4k iodepth=16 number_ios=20000", "--json")
PROGRAMS = (model.SIM, vfio_server.TARGET)


@dataclass(frozen=True)
class Release:
    """Programs and profiles of one version."""

    sim: Path
    server: Path
    profiles: Path


def last_tag() -> str:
    """Of the newest release before the present commit, from 1.0 on; "" without one."""
    return subprocess.run(
        ["git", "-C", PROJECT, "describe", "--tags", "--abbrev=0", "--match=v[1-9]*"],
        capture_output=True, text=True, check=False).stdout.strip()


def built(tag: str, folder: Path) -> Release:
    """The programs of a tag."""
    build = folder / "build"
    for command in (
            ["git", "-C", PROJECT, "archive", "-o", folder / "sources.tar", tag],
            ["tar", "-xf", "sources.tar"],
            [venv.tool("meson"), "setup", "-Dbuildtype=release", "-Dtests=false",
             "-Dcommand=false", f"-Dlibvfio_user={vfio_server.library()}", build],
            ["ninja", "-C", build, *PROGRAMS]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | venv.path_env())
    return Release(*(build / name for name in PROGRAMS), folder / "profiles")


@pytest.fixture(scope="module", name="ours")
def _ours() -> Release:
    """This version."""
    return Release(model.sim(), Path(os.environ["VSSD_SERVER"]), PROJECT / "profiles")


@pytest.fixture(scope="module", name="release")
def _release(ours: Release, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The last one; before the tag v1.0, this version."""
    tag = last_tag()
    if not tag:
        return ours
    if "VSSD_LONG" not in os.environ:
        pytest.skip("builds the last release; with --long")
    return built(tag, tmp_path_factory.mktemp("release"))


def played(sim: Path, *args: object) -> Any:
    """Results of a run of `sim`."""
    done = subprocess.run([sim, "run", *map(str, args), *RUN], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("profile, option", [
    ("tiny", "ftl.map=page"), ("tlc-generic", "ftl.map=page"), ("c4", "ftl.map=dftl"),
    ("huang2011-s", "ftl.gc=greedy")])
def test_state_of_the_last_release(release: Release, ours: Release, tmp_path: Path,
                                   profile: str, option: str) -> None:
    """It is loaded, with its profile, and the drive goes on."""
    state = tmp_path / "drive.state"
    drive = ("--profile", release.profiles / f"{profile}.ini", "--set", option)
    played(release.sim, *drive, "--save-state", state)
    assert played(ours.sim, *drive, "--state", state)["requests"] == 20000


def test_image_of_the_last_release(release: Release, ours: Release, tmp_path: Path,
                                   image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its data are there, and the statistics go on."""
    state = tmp_path / "drive.state"
    programs = 0
    for turn, version in enumerate((release, ours)):
        monkeypatch.setenv("VSSD_SERVER", str(version.server))
        with Server(tmp_path, image, "--state", str(state),
                    profiles=release.profiles) as server:
            with Vmm(server.socket) as vmm:
                host = host_of(vmm)
                if turn:
                    assert host.read(0, BLOCK) == pattern(0)
                host.write(64 * turn, pattern(turn))
                host.flush()
            stats: Any = server.get("stats")
            assert server.end() == ""
        assert stats["nand"]["programs"] > programs
        programs = stats["nand"]["programs"]
