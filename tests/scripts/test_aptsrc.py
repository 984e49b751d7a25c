# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian mirrors as apt tells of them, from both formats of its sources."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from vssd.build import aptsrc
from vssd.errors import UserError

ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main contrib
deb-src [signed-by=/k.gpg] http://m.example/debian bookworm main
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


SIGNED = """\
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

{release}-----BEGIN PGP SIGNATURE-----

aaaa
-----END PGP SIGNATURE-----
"""
RELEASE = """\
Codename: {suite}
SHA256:
 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 \
main/binary-{arch}/Packages
"""


def options(tmp_path: Path, name: str, text: str,
            lists: dict[str, bool]) -> list[str]:
    """apt's, for one file of sources and for the lists that apt has: each
    archive as in the names of its files, and whether its release is signed."""
    arch = subprocess.run(["dpkg", "--print-architecture"], check=True,
                          capture_output=True, text=True).stdout.strip()
    have = tmp_path / "lists"
    (have / "partial").mkdir(parents=True)
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    for archive, signed in lists.items():
        suite = archive.rsplit("_", 1)[1]
        release = RELEASE.format(suite=suite, arch=arch)
        (have / f"{archive}_main_binary-{arch}_Packages").touch()
        (have / f"{archive}_{'In' if signed else ''}Release").write_text(
            SIGNED.format(release=release) if signed else release)
    return ["-o", f"Dir::Etc::SourceList={tmp_path / 'sources.list'}",
            "-o", f"Dir::Etc::SourceParts={tmp_path / 'sources.list.d'}",
            "-o", f"Dir::State::Lists={have}"]


@pytest.mark.parametrize("name, text, suite", [
    ("sources.list", ONE_LINE, "bookworm"),
    ("sources.list.d/debian.list", ONE_LINE, "bookworm"),
    ("sources.list.d/debian.sources", DEB822, "trixie"),
])
def test_both_formats(tmp_path: Path, name: str, text: str, suite: str) \
        -> None:
    """The main archive first, then security; nothing foreign or disabled."""
    given = options(tmp_path, name, text, {
        f"m.example_debian-security_dists_{suite}-security": True,
        f"m.example_debian_dists_{suite}": True,
        f"m.example_debian_dists_{suite}-updates": True,
        "other.example_tool_dists_stable-tool": True,
        f"off.example_debian_dists_{suite}": True})
    found = aptsrc.debian_sources("trixie", options=given)
    assert [(s.uri, s.suite) for s in found] == [
        ("http://m.example/debian", "trixie"),
        ("http://m.example/debian-security", "trixie-security")]
    assert all(s.components == ("main",) for s in found)
    assert not any(s.trusted for s in found)


def test_trusted_without_a_signature(tmp_path: Path) -> None:
    """A mirror that is not signed is used as the sources say: trusted."""
    given = options(
        tmp_path, "sources.list",
        "deb [trusted=yes] http://m.example/debian bookworm main\n"
        "deb http://n.example/debian bookworm main\n",
        {"m.example_debian_dists_bookworm": False,
         "n.example_debian_dists_bookworm": False})
    found = aptsrc.debian_sources("trixie", options=given)
    assert [(s.uri, s.trusted) for s in found] == [
        ("http://m.example/debian", True), ("http://n.example/debian", False)]
    assert "trusted=yes" in aptsrc.one_line_format(found[0])


def test_lists_that_apt_lacks_are_fetched(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh machine has sources, but no lists: into a folder of our own."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    mirror = tmp_path / "mirror"
    arch = subprocess.run(["dpkg", "--print-architecture"], check=True,
                          capture_output=True, text=True).stdout.strip()
    folder = mirror / f"dists/bookworm/main/binary-{arch}"
    folder.mkdir(parents=True)
    package = b"Package: x\nVersion: 1\nArchitecture: all\n"
    (folder / "Packages").write_bytes(package)
    (mirror / "dists/bookworm/Release").write_text(
        "Codename: bookworm\nSHA256:\n"
        f" {hashlib.sha256(package).hexdigest()} {len(package)}"
        f" main/binary-{arch}/Packages\n")
    given = options(tmp_path, "sources.list",
                    f"deb [trusted=yes] copy:{mirror} bookworm main\n", {})
    assert [(s.uri, s.suite, s.components) for s in
            aptsrc.machine_sources(given)] == [
                (f"copy:{mirror}", "bookworm", ("main",))]
    assert not list((tmp_path / "lists").glob("*Packages*"))
    assert not list((tmp_path / "cache").glob("apt.*"))


def test_no_debian_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) \
        -> None:
    """Ubuntu: no guess, but a word on what to give."""
    given = options(tmp_path, "sources.list",
                    "deb http://u.example/ubuntu noble main universe\n",
                    {"u.example_ubuntu_dists_noble": True})
    assert len(aptsrc.machine_sources(given)) == 1
    assert aptsrc.debian_sources("trixie", options=given) == []
    monkeypatch.setattr(aptsrc, "machine_sources", lambda _options: [])
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
