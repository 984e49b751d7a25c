# SPDX-License-Identifier: GPL-2.0-or-later
"""A fresh machine: on a bare Debian, the first command of README.md boots a guest,
and the packages that the vssd command installs by itself are all that its builds
need."""

from __future__ import annotations

import os
import resource

import pytest

from bare_root import BareRoot, bare_root, describe, why_not
from vssd.build import aptsrc, kernel_source, qemu_build, qemu_source
from vssd.errors import UserError
from vssd.paths import PROJECT

LIMIT_S = 3600
# Of the first command, the guest's boot without KVM and the installation of
# packages included.  160 s were measured beside much other work.
CPU_LIMIT_S = 240
LONG = os.environ.get("VSSD_LONG") == "1"
CACHE = "/var/vssd"


def used_cpu_s() -> float:
    """CPU time of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def boots_a_guest(root: BareRoot) -> None:
    """The first command, from an empty cache, in no more CPU time than that."""
    before = used_cpu_s()
    done = root.run("env", f"VSSD_CACHE={CACHE}", "PYTHONDONTWRITEBYTECODE=1",
                    str(PROJECT / "vssd"), "run", "--exec", "uname -r",
                    timeout_s=LIMIT_S)
    cpu_s = used_cpu_s() - before
    print(done.stderr, f"{cpu_s:.0f} s of CPU time")
    assert done.returncode == 0, describe(done)
    assert done.stdout.endswith("-amd64\n"), describe(done)
    assert "building QEMU" not in done.stderr
    assert cpu_s < CPU_LIMIT_S


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_builds_on_a_bare_machine(suite: str) -> None:
    """Every build is configured, and programs of each are linked and run."""
    if why := why_not():
        pytest.skip(why)
    origin = qemu_build.remembered_origin()
    try:
        aptsrc.require(suite, origin.mirror, "Debian")
    except UserError as e:
        pytest.skip(str(e))
    linux = kernel_source.debian_tree(origin.mirror)
    with bare_root(suite, origin.mirror) as root:
        root.bind(PROJECT)
        root.bind(linux)
        # As a user starts: nothing is there, not even Python.
        done = root.run(str(PROJECT / "vssd"), "setup", "--dry-run",
                        timeout_s=LIMIT_S)
        assert done.returncode == 0, describe(done)
        assert "clang" not in done.stdout
        if suite == "bookworm" or LONG:
            boots_a_guest(root)
        steps = [f"{PROJECT}/tests/scripts/fresh_steps.py", str(linux)]
        if LONG:
            qemu = qemu_source.obtain(origin)
            root.link(qemu)  # its configure makes folders in the source tree
            steps.append(str(qemu))
        done = root.run(
            "env", f"PYTHONPATH={PROJECT}/scripts", f"VSSD_CACHE={CACHE}",
            "PYTHONDONTWRITEBYTECODE=1", "python3", *steps, timeout_s=LIMIT_S)
        print(done.stdout)
        assert done.stdout.endswith("all done\n"), describe(done)
        assert done.returncode == 0
