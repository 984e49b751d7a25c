# SPDX-License-Identifier: GPL-2.0-or-later
"""A fresh machine: on a bare Debian, the packages that the vssd command
installs by itself are all that its builds need."""

from __future__ import annotations

import pytest

from bare_root import bare_root, describe, why_not
from vssd.build import aptsrc, kernel_source, qemu_build, qemu_source
from vssd.errors import UserError
from vssd.paths import PROJECT

LIMIT_S = 3600


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
    qemu = qemu_source.obtain(origin)
    linux = kernel_source.debian_tree(origin.mirror)
    with bare_root(suite, origin.mirror) as root:
        root.bind(PROJECT)
        root.bind(linux)
        root.link(qemu)  # its configure makes folders in the source tree
        # As a user starts: nothing is there, not even Python.
        done = root.run(str(PROJECT / "vssd"), "setup", "--dry-run",
                        timeout_s=LIMIT_S)
        assert done.returncode == 0, describe(done)
        assert "clang" not in done.stdout
        done = root.run(
            "env", f"PYTHONPATH={PROJECT}/scripts", "VSSD_CACHE=/var/vssd",
            "PYTHONDONTWRITEBYTECODE=1",
            "python3", f"{PROJECT}/tests/scripts/fresh_steps.py", str(qemu),
            str(linux), timeout_s=LIMIT_S)
        print(done.stdout)
        assert done.stdout.endswith("all done\n"), describe(done)
        assert done.returncode == 0
