# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest plugin: guests that boot from modelled drives (README.md).

    def test_my_tool(vssd_guest):
        guest = vssd_guest(drive="tlc-generic,size=1G")
        guest.put("build/tool")
        assert guest.run("./tool /dev/nvme1n1") == "ok\\n"
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import vssd_command


class Guest:
    """One that runs; its commands run as root, in /root."""

    def __init__(self, vssd: list[str], name: str) -> None:
        self.vssd = vssd
        self.name = name

    def call(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """A command of vssd; its end, whatever it is."""
        return subprocess.run([*self.vssd, *map(str, words)], capture_output=True,
                              text=True, errors="replace", check=False,
                              stdin=subprocess.DEVNULL)

    def must(self, *words: str | Path) -> str:
        """The output of a command of vssd; if it fails, so does the test."""
        done = self.call(*words)
        if done.returncode != 0:
            said = (done.stdout[-2000:] + done.stderr[-2000:]).strip()
            pytest.fail(f"vssd {words[0]}: status {done.returncode}: {said}",
                        pytrace=False)
        return done.stdout

    def run(self, command: str) -> str:
        """The output of a shell's command line in the guest, which has to
        succeed."""
        return self.must("exec", "--run", self.name, "--", command)

    def status(self, command: str) -> int:
        """The exit status of a shell's command line in the guest."""
        return self.call("exec", "--run", self.name, "--", command).returncode

    def put(self, *paths: str | Path) -> None:
        """Copy files and folders into /root of the guest."""
        self.must("cp", *paths, f"{self.name}:")

    def get(self, path: str, to: str | Path) -> None:
        """Copy a file or folder of the guest."""
        self.must("cp", f"{self.name}:{path}", to)


@pytest.fixture
def vssd_guest() -> Iterator[Callable[..., Guest]]:
    """Starts guests: the keyword arguments are the options of vssd run.  They end
    with the test."""
    vssd = vssd_command.find()
    guests: list[Guest] = []

    def start(**options: Any) -> Guest:
        guest = Guest(vssd, f"pytest-{os.getpid()}-{len(guests) + 1}")
        guest.must("run", "--quiet", "--detach", "--name", guest.name,
                   *vssd_command.options(options))
        guests.append(guest)
        return guest

    yield start
    for guest in guests:
        guest.call("stop", "--force", guest.name)
