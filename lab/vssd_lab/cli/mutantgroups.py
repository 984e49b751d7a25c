# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests in Python that a mutant has to fail in: what their group needs of the
copy's one build, and how pytest runs one of them there.

The names are those of pytest from tests/, such as
"server/test_server.py::test_identify".
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from vssd.arch import X86_64
from vssd.build import model, packages, qemu_plugin, vfio_server
from vssd.errors import UserError
from vssd.proc import telling_line

GROUPS = ("scripts", "lab", "qemu", "server")
LEAST_S = 30.0  # that a test has, however quick it is
NEEDS = {  # of the build
    "scripts": (),
    "lab": (),
    "qemu": (qemu_plugin.TARGET, qemu_plugin.QTEST, model.OPLOG_CHECK),
    "server": (vfio_server.TARGET, model.OPLOG_CHECK),
}


def group_of(test: str) -> str:
    """The group of a test in Python; "" for one of Meson."""
    return test.split("/")[0] if "/" in test else ""


def targets(test: str) -> list[str]:
    """What ninja has to build for it."""
    return list(NEEDS[group_of(test)])


class Groups:
    """The groups in a copy of the sources, with one build of it."""

    def __init__(self, source: Path, build: Path, env: dict[str, str]) -> None:
        self.source, self.build = source, build
        paths = ":".join(str(source / n) for n in ("scripts", "lab", "tests"))
        self.env = dict(env, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1",
                        PYTEST_ADDOPTS="", COLUMNS="200",
                        VSSD_RUNS=str(build.parent / "runs"))

    def configure(self, groups: set[str]) -> None:
        """Have the options that their programs depend on."""
        if groups & {"qemu", "server"}:  # the server's tests use its qemu-img
            debian = qemu_plugin.package()
            model.set_in(self.build, qemu_plugin.OPTION,
                         str(qemu_plugin.source_of(debian)))
            folder = qemu_plugin.starts_qtest(
                debian, self.build / qemu_plugin.TARGET,
                self.build / qemu_plugin.QTEST)
            self.env |= {"VSSD_QEMU": str(folder / X86_64.emulator),
                         "VSSD_QEMU_IMG": str(folder / "qemu-img"),
                         "VSSD_OPLOG_CHECK": str(self.build / model.OPLOG_CHECK)}
        if "server" in groups:
            packages.ensure(packages.SERVER)
            model.set_in(self.build, vfio_server.OPTION,
                         str(vfio_server.library()))
            self.env["VSSD_SERVER"] = str(self.build / vfio_server.TARGET)

    def run(self, test: str, took_s: float | None, longer: int) \
            -> tuple[bool, float]:
        """Does it pass, and after how long?  A test that took a time has so many
        times as long."""
        limit_s = None if took_s is None else max(LEAST_S, longer * took_s)
        began = time.monotonic()
        proc = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-x", "--tb=line",
             "-p", "no:cacheprovider", str(self.source / "tests" / test)],
            cwd=self.source, env=self.env, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            said, _ = proc.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return False, time.monotonic() - began
        finally:  # and the guests that it has left
            with contextlib.suppress(ProcessLookupError):
                os.killpg(proc.pid, signal.SIGKILL)
            proc.wait()
        took = time.monotonic() - began
        if proc.returncode not in (0, 1):
            # A mutant may break what the tests import.
            if took_s is None:
                raise UserError(f"{test}: " + telling_line(said.splitlines()))
            return False, took
        if proc.returncode == 0 and " passed" not in said:
            raise UserError(f"{test}: pytest has skipped it")
        return proc.returncode == 0, took
