# SPDX-License-Identifier: GPL-2.0-or-later
"""Which long tests belong to which part of the project: ./vssd test --changed runs
those of the parts that have changed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from vssd.errors import UserError, one_line
from vssd.paths import PROJECT


@dataclass(frozen=True)
class Part:
    """Files by how their names begin; parts of the names of tests, by group."""

    files: tuple[str, ...]
    tests: dict[str, tuple[str, ...]]


PARTS = (
    Part(("core/", "nand/", "ftl/", "tests/ftl/", "tests/nand/"),
         {"gcc": ("swarm", "power", "wide"), "clang": ("swarm",),
          "server": ("test_upgrade",)}),
    Part(("profiles/",), {"gcc": ("classes",), "scripts": ("test_fit",)}),
    Part(("sim/", "tests/sim/"), {"gcc": ("vssd-sim", "recorded", "parsers")}),
    Part(("hw-ssd/nvme/", "hw-ssd/rules/", "tests/nvme/", "tests/fuzz/"),
         {"gcc": ("nvme-", "fuzz-"), "clang": ("fuzz-",),
          "guest": ("test_cmd_faults",)}),
    Part(("hw-ssd/qemu/", "tests/qemu/"),
         {"qemu": ("test_storm", "test_tsan"),
          "guest": ("test_boot", "test_iommu", "test_arch")}),
    Part(("hw-ssd/vfio-user/", "tests/server/"),
         {"server": ("test_hostile", "test_crate", "test_upgrade"),
          "guest": ("test_vfio_user",)}),
    Part(("guest-tools/powercut/", "scripts/vssd/campaign/"),
         {"guest": ("test_campaign", "test_powercut")}),
    Part(("guest-tools/", "scripts/vssd/build/kernel"),
         {"guest": ("test_kernels", "test_fdp_cache", "test_power.py")}),
    Part(("scripts/vssd/guest/", "scripts/vssd/arch.py"),
         {"guest": ("test_boot", "test_libvirt", "test_apparmor", "test_arch",
                    "test_trace", "test_vng")}),
    Part(("scripts/vssd/build/", "packaging/"),
         {"scripts": ("test_fresh", "test_packaging")}),
    Part(("lab/vssd_lab/figures/",),
         {"lab": ("test_figures", "test_blackbox_claims", "test_warp"),
          "guest": ("test_rocksdb", "test_cassandra")}),
    Part(("docs/", "README.md"), {"guest": ("test_pages",)}),
)


def long_tests(files: Iterable[str]) -> dict[str, list[str]]:
    """Of the parts that these files are of: names of long tests, by group."""
    files = list(files)
    found: dict[str, list[str]] = {}
    for part in PARTS:
        if any(name.startswith(part.files) for name in files):
            for group, names in part.tests.items():
                found.setdefault(group, []).extend(names)
    return {group: list(dict.fromkeys(names)) for group, names in found.items()}


def changed_since(base: str) -> list[str]:
    """Files that differ from a commit, those that git does not know yet included."""
    git = ["git", "-C", str(PROJECT)]
    out = []
    for args in (["diff", "--name-only", "--end-of-options", base, "--"],
                 ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run([*git, *args], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise UserError(f"--changed {base}: name a tag or a commit: "
                            + one_line(done.stderr))
        out += done.stdout.splitlines()
    return out
