# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives that a guest gets used: states that vssd-sim makes once.

The cache keeps a state by all that it depends on: the profile, its options, how
the drive is used, and the model.  A run continues with a copy.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .. import installed, ui
from ..errors import UserError, one_line
from ..paths import PROJECT, cache_dir, find_made, key_of, locked, need_space
from ..proc import run_logged

AGED = "aged"
FILLS = ("preload", "seq", "random")
PREFIX = "used-"
STATE = "drive.state"
# Folders of the model, and what plays it.
SOURCES = ("core", "nand", "ftl", "sim")
STATE_BYTES = 1 << 30


def model_key() -> str:
    """Names the code that a state is of."""
    if installed.here():
        return key_of(installed.program("vssd-sim").read_bytes())
    files = sorted(p for folder in SOURCES
                   for p in (PROJECT / folder).rglob("*.[ch]"))
    return key_of(*(part for p in files
                    for part in (p.relative_to(PROJECT), p.read_bytes())))


def name_of(profile: Path, sets: list[str], how: str) -> str:
    """The entry of the cache that has the state of such a drive."""
    files = [Path(one.partition("=")[2]) for one in sets]
    return f"{PREFIX}{model_key()}-" + key_of(
        profile.read_bytes(), how, *sets,
        *(p.read_bytes() for p in files if p.is_file()))


def is_of_another_model(name: str) -> bool:
    """Can no run use this entry?"""
    return not name.startswith(f"{PREFIX}{model_key()}-")


def command(sim: str, profile: Path, sets: list[str], how: str,
            to: Path) -> list[str]:
    """vssd-sim's command line."""
    cmd = [sim, "run", "--profile", str(profile), "--save-state", str(to),
           "--seed", "1"]
    for one in sets:
        cmd += ["--set", one]
    if how == AGED:
        return [*cmd, "--precondition"]
    return [*cmd, "--fill", how, "--workload", "rw=read number_ios=1"]


def ensure(profile: Path, sets: list[str], how: str) -> Path:
    """The state of a drive, used in this way; made when it is not there."""
    from ..build import model

    name = name_of(profile, sets, how)
    if found := find_made(name, STATE):
        return found / STATE
    folder = cache_dir() / name
    with locked(PREFIX.rstrip("-")):
        if not (folder / STATE).exists():
            sim = str(model.sim())
            need_space(cache_dir(), STATE_BYTES, "keeping a used drive")
            part = folder.with_name(name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            try:
                _make(command(sim, profile, sets, how, part / STATE),
                      profile.stem, how)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return folder / STATE


def _make(cmd: list[str], profile: str, how: str) -> None:
    what = f"using a drive of {profile} ({how}, kept for later runs)"
    shows = sys.stderr.isatty() and not ui.quiet
    said = [""]  # the last line of text

    def note(line: str) -> None:
        said[0] = one_line(line.strip()) or said[0]

    with ui.Stage(what):
        try:
            run_logged(cmd, "used", f"using a drive of {profile}", on_line=note)
        except UserError as e:
            if not said[0]:
                raise
            raise UserError(f"--drive {profile},...: "
                            + said[0].removeprefix("vssd-sim: ")) from e
    if shows and said[0]:
        ui.say(said[0])


def copy(profile: Path, sets: list[str], how: str, to: Path) -> Path:
    """A state that one run may change."""
    need_space(to.parent, STATE_BYTES, "a copy of a used drive")
    shutil.copyfile(ensure(profile, sets, how), to)
    return to
