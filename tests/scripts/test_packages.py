# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of Debian packages that differ from suite to suite."""

from __future__ import annotations

import pytest

from vssd.build import packages
from vssd.errors import UserError

Known = dict[str, str]  # package: what it depends on


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch) -> Known:
    """What apt knows; nothing is installed but what "installed" names."""
    known: Known = {}

    def output(command: list[str]) -> str:
        if command[0] == "dpkg-query":
            return known[command[-1]]
        if command[1] == "depends":
            return f"{command[-1]}\n  Depends: {known.get(command[-1], '')}\n"
        return f"Package: {command[-1]}\n" if command[-1] in known else ""

    def missing(names: tuple[str, ...]) -> list[str]:
        return [n for n in names if n not in known.get("installed", "").split()]

    monkeypatch.delenv("VSSD_NO_PACKAGES", raising=False)
    monkeypatch.setattr(packages, "_output", output)
    monkeypatch.setattr(packages, "missing", missing)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return known


@pytest.mark.parametrize("clang, has, wanted", [
    ("clang-11", "libclang-common-11-dev", "libclang-common-11-dev"),
    ("clang-14", "libclang-rt-14-dev", "libclang-rt-14-dev"),
    ("clang-19", "libclang-rt-19-dev", "libclang-rt-19-dev"),
    ("clang-14 (>= 14~), libc6", "libclang-rt-14-dev", "libclang-rt-14-dev"),
], ids=["bullseye", "bookworm", "trixie", "versioned"])
def test_clang_brings_its_runtime(apt: Known, clang: str, has: str,
                                  wanted: str) -> None:
    """The one of the suite's clang, whether that is installed or not."""
    apt.update({"clang": clang, has: ""})
    assert packages.plan(packages.CLANG)[0][1] == ["clang", "llvm", wanted]
    apt["installed"] = "clang llvm"
    assert packages.plan(packages.CLANG)[0][1] == [wanted]
    apt["installed"] += " " + wanted
    assert packages.plan(packages.CLANG) == []


def test_lists_that_apt_does_not_have(apt: Known,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """They are updated first, as on a machine that never did."""
    ran: list[list[str]] = []

    def run(attempts: list[list[str]]) -> None:
        ran.append(attempts[0])
        apt.update({"clang": "clang-14", "libclang-rt-14-dev": ""})

    monkeypatch.setattr(packages, "_run", run)
    packages.ensure(packages.CLANG)
    assert ran[0] == ["apt-get", "-o", "DPkg::Lock::Timeout=600", "update"]
    assert ran[1][-3:] == ["clang", "libclang-rt-14-dev", "llvm"]


def test_no_clang_anywhere(apt: Known, monkeypatch: pytest.MonkeyPatch) \
        -> None:
    """One line, after an update."""
    monkeypatch.setattr(packages, "_run", lambda _: None)
    with pytest.raises(UserError, match="no package clang"):
        packages.ensure(packages.CLANG)
