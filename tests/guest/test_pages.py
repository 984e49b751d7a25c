# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of the pages that need a guest, as they are printed: each
./vssd run, what is typed in its guest, and what reaches it from outside.

tests/page_places.py has them, and those that are run with --long only.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_places import WORKS, Work, make_files

from conftest import Env
from vssd import paths, rundir

BOOT_S = 600
STEP_S = 1500


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Where a reader would be, with the files that the pages name."""
    make_files(tmp_path)
    return tmp_path


@pytest.fixture(name="surroundings")
def _surroundings(env: Env, folder: Path) -> Iterator[dict[str, str]]:
    """Of the commands: a home of their own, and no other guest in sight."""
    with rundir.apart() as runs:
        found = os.environ | {"HOME": str(folder), "VSSD_RUNS": str(runs),
                              "VSSD_CACHE": str(paths.cache_dir())}
        try:
            yield found
        finally:
            subprocess.run(["./vssd", "stop", "--all", "--force"], env=found,
                           cwd=folder, capture_output=True, check=False)


def run(words: list[str], folder: Path, env: dict[str, str]) -> str:
    """A command without input, which has to succeed; what it prints."""
    done = subprocess.run(words, cwd=folder, env=env, text=True, errors="replace",
                          check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=STEP_S)
    assert done.returncode == 0, (words, done.stdout[-2000:],
                                  done.stderr[-2000:])
    return done.stdout


def shell(text: str, folder: Path) -> list[str]:
    """As it is printed, but for the place of files in /tmp."""
    return ["bash", "-ec", text.replace("/tmp/", f"{folder}/")]


def wait_up(guest: subprocess.Popen[bytes], folder: Path,
            env: dict[str, str]) -> None:
    """Until the guest, which may be in the background, runs a command."""
    end = time.monotonic() + BOOT_S
    while time.monotonic() < end and guest.poll() in (None, 0):
        done = subprocess.run(["./vssd", "exec", "true"], cwd=folder, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode == 0:
            return
        time.sleep(1)
    pytest.fail(f"no guest: {(folder / 'said').read_text()[-2000:]}")


def do_steps(work: Work, folder: Path, env: dict[str, str]) -> None:
    """What the page does with the guest, or instead of one."""
    for typed, text in work.steps:
        words = ["./vssd", "exec", "--", "bash", "-ec", text] if typed \
            else shell(text, folder)
        run(words, folder, env)


@pytest.mark.parametrize("work", [
    pytest.param(work, id=str(work), marks=pytest.mark.skipif(
        work.long and "VSSD_LONG" not in os.environ,
        reason="runs with --long only"))
    for work in WORKS])
def test_page(work: Work, folder: Path, surroundings: dict[str, str]) -> None:
    """Each command succeeds, and the guest powers down at the end."""
    if not work.start:
        do_steps(work, folder, surroundings)
        return
    with open(folder / "said", "wb") as said, \
            subprocess.Popen(shell(work.start, folder), cwd=folder,
                             env=surroundings, stdin=subprocess.PIPE,
                             stdout=said, stderr=said) as guest:
        assert guest.stdin
        wait_up(guest, folder, surroundings)
        do_steps(work, folder, surroundings)
        if guest.poll() is None:
            wait_up(guest, folder, surroundings)  # a power cut may have reset it
        guest.stdin.close()  # then the guest is powered down
        assert guest.wait(STEP_S) == 0, (folder / "said").read_text()[-2000:]
