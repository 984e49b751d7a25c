# SPDX-License-Identifier: GPL-2.0-or-later
"""Python packages from PyPI: fixed versions, of files whose hashes are known."""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest

from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import PROJECT

SOURCES = sorted((PROJECT / "scripts").glob("requirements*.in"))
UPDATE = "run scripts/update-requirements.sh"
PACKAGE = re.compile(r"^([\w.-]+)==(\S+)(?: ; (.*?))?((?: --hash=sha256:[0-9a-f]{64})+)$")


def packages(path: Path) -> list[tuple[str, str, str]]:
    """Name, version and condition of all packages of a file; each has hashes."""
    text = path.read_text(encoding="ascii").replace(" \\\n    ", " ")
    found = [PACKAGE.match(line) for line in text.splitlines()
             if not line.startswith("#")]
    assert found and None not in found, path.name
    return [(m[1], m[2], m[3] or "") for m in found if m]


def test_every_file_has_a_source() -> None:
    """And each source its file."""
    assert [p.with_suffix(".txt") for p in SOURCES] \
        == sorted((PROJECT / "scripts").glob("requirements*.txt"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_files_agree_with_their_sources(source: Path) -> None:
    """In names and versions."""
    have = {(name, version) for name, version, _
            in packages(source.with_suffix(".txt"))}
    for line in source.read_text(encoding="ascii").splitlines():
        name, _, version = line.partition(";")[0].strip().partition("==")
        name = re.sub(r"[-_.]+", "-", name).lower()
        if name and not line.startswith("#"):
            assert any(n == name and version in ("", v) for n, v in have), (
                f"{line}: {UPDATE}")


def test_a_package_has_one_version() -> None:
    """Most files share an environment."""
    seen: dict[tuple[str, str], str] = {}
    for source in SOURCES:
        for name, version, condition in packages(source.with_suffix(".txt")):
            key = name, condition if "python" in condition else ""
            assert seen.setdefault(key, version) == version, (name, UPDATE)


def a_wheel(folder: Path) -> Path:
    """The smallest one."""
    path = folder / "vssd_probe-1.0-py3-none-any.whl"
    info = "vssd_probe-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as f:
        f.writestr("vssd_probe.py", "")
        f.writestr(f"{info}/METADATA",
                   "Metadata-Version: 2.1\nName: vssd-probe\nVersion: 1.0\n")
        f.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: none\n"
                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
        f.writestr(f"{info}/RECORD", "")
    return path


def test_only_files_with_a_known_hash(tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file, or a package without a hash, is refused."""
    wheel = a_wheel(tmp_path)
    to = tmp_path / "to"
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", tmp_path),
                        ("TARGET", to)):
        monkeypatch.setenv(f"PIP_{name}", str(value))
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    wanted = tmp_path / "requirements-probe.txt"

    def install(hashes: str) -> None:
        wanted.write_text(f"vssd-probe==1.0{hashes}\n", encoding="ascii")
        venv.install(Path(sys.prefix), str(wanted))

    for hashes, says in (("", "Hashes are required"),
                         (" --hash=sha256:" + 64 * "0",
                          "requirements-probe.txt has another hash")):
        with pytest.raises(UserError, match=says) as e:
            install(hashes)
        assert "\n" not in str(e.value) and not to.exists()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    install(f" --hash=sha256:{digest}")
    assert (to / "vssd_probe.py").exists()
