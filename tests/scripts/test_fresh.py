# SPDX-License-Identifier: GPL-2.0-or-later
"""A fresh machine: on a bare Debian, the first command of README.md boots a guest,
and the packages that the vssd command installs by itself are all that its builds
need.  Without --long a bare Debian 12 takes the first command alone: what the
others install, .ci/run has to install itself.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from long_form import IS_LONG, LONG, MESON, START, of_part

from bare_root import BareRoot, bare_root, describe, why_not
from vssd.build import aptsrc, kernel_source, qemu_build, qemu_source
from vssd.errors import UserError
from vssd.paths import PROJECT

LIMIT_S = 3600
# Of the first command, the guest's boot without KVM and the installation of
# packages included.  160 s were measured beside much other work.
CPU_LIMIT_S = 240
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


def configures_all(root: BareRoot, linux: Path, qemu: Path) -> None:
    """See fresh_steps.py."""
    done = root.run(
        "env", f"PYTHONPATH={PROJECT}/scripts", f"VSSD_CACHE={CACHE}",
        "PYTHONDONTWRITEBYTECODE=1", "python3",
        f"{PROJECT}/tests/scripts/fresh_steps.py", str(linux), str(qemu),
        timeout_s=LIMIT_S)
    print(done.stdout)
    assert done.stdout.endswith("all done\n"), describe(done)
    assert done.returncode == 0


@of_part(*START, *MESON, "README.md", "packaging/", "scripts/vssd/cli/main.py",
         "scripts/vssd/cli/setup.py")
@pytest.mark.parametrize("suite", [
    "bookworm", pytest.param("trixie", marks=LONG)])
def test_builds_on_a_bare_machine(suite: str) -> None:
    """A guest boots; every build is configured, and programs of each are linked
    and run."""
    if why := why_not():
        pytest.skip(why)
    origin = qemu_build.remembered_origin()
    try:
        aptsrc.require(suite, origin.mirror, "Debian")
    except UserError as e:
        pytest.skip(str(e))
    with bare_root(suite, origin.mirror) as root:
        root.bind(PROJECT)
        # As a user starts: nothing is there, not even Python.
        done = root.run(str(PROJECT / "vssd"), "setup", "--dry-run",
                        timeout_s=LIMIT_S)
        assert done.returncode == 0, describe(done)
        assert "clang" not in done.stdout
        boots_a_guest(root)
        if IS_LONG:
            linux = kernel_source.debian_tree(origin.mirror)
            qemu = qemu_source.obtain(origin)
            root.bind(linux)
            root.link(qemu)  # its configure makes folders in the source tree
            configures_all(root, linux, qemu)
