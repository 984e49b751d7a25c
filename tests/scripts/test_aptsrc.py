# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian mirrors out of apt's configuration, in both of its formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd.build import aptsrc
from vssd.errors import UserError

ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main contrib
deb-src http://m.example/debian bookworm main
deb http://m.example/debian-security bookworm-security main # comment
deb http://m.example/debian bookworm-updates main
deb http://other.example/tool stable-tool main
"""
DEB822 = """\
Types: deb deb-src
URIs: http://m.example/debian
Suites: trixie trixie-updates
Components: main non-free-firmware
Signed-By: /k.gpg

# a comment
Types: deb
URIs: http://m.example/debian-security
Suites: trixie-security
Components: main

Types: deb
URIs: http://off.example/debian
Suites: trixie
Components: main
Enabled: no

Types: deb-src
URIs: http://src.example/debian
Suites: trixie
Components: main
"""


def etc(tmp_path: Path, name: str, text: str) -> Path:
    """An /etc/apt with one file."""
    (tmp_path / "sources.list.d").mkdir(parents=True)
    (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name, text", [
    ("sources.list", ONE_LINE),
    ("sources.list.d/debian.list", ONE_LINE),
    ("sources.list.d/debian.sources", DEB822),
])
def test_both_formats(tmp_path: Path, name: str, text: str) -> None:
    """The main archive first, then security; nothing foreign or disabled."""
    found = aptsrc.debian_sources("trixie", etc=etc(tmp_path, name, text))
    assert [(s.uri, s.suite) for s in found] == [
        ("http://m.example/debian", "trixie"),
        ("http://m.example/debian-security", "trixie-security")]
    assert all(s.components == ("main",) for s in found)


def test_no_debian_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) \
        -> None:
    """Ubuntu: no guess, but a word on what to give."""
    folder = etc(tmp_path, "sources.list",
                 "deb http://u.example/ubuntu noble main universe\n")
    assert aptsrc.debian_sources("trixie", etc=folder) == []
    monkeypatch.setattr(aptsrc, "machine_sources", lambda etc: [])
    with pytest.raises(UserError, match="--mirror.*--qemu-source"):
        aptsrc.require("trixie", "", "QEMU's source")
    assert aptsrc.require("trixie", "http://x.example/d", "it")[0].uri == \
        "http://x.example/d"


def test_lines_for_apt() -> None:
    """What goes into a private .list file."""
    source = aptsrc.Source("http://m.example/debian", "trixie", ("main",),
                           "/k.gpg")
    assert aptsrc.one_line_format(source, "deb-src") == \
        "deb-src [signed-by=/k.gpg] http://m.example/debian trixie main"
    bare = aptsrc.Source("http://m.example/debian", "trixie", ("main",))
    assert aptsrc.one_line_format(bare) == \
        "deb http://m.example/debian trixie main"


def test_newest_version_first() -> None:
    """dpkg's order, not that of text."""
    assert aptsrc.sort_versions(
        ["1:10.0.2+ds-2", "1:10.0.13+ds-0+deb13u1", "1:10.0.13~rc1"]) == [
            "1:10.0.13+ds-0+deb13u1", "1:10.0.13~rc1", "1:10.0.2+ds-2"]
