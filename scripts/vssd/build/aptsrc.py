# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian mirrors, as this machine's own apt configuration names them.

Reads both formats of apt's sources, and runs apt with private directories, so
that the system's configuration is never touched and no root is needed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from ..proc import run_logged

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
DEBIAN_SUITE = re.compile(
    r"^(?:(?:old)*stable|testing|unstable|sid|buster|bullseye|bookworm|trixie"
    r"|forky|duke)(?P<pocket>-security|/updates|-updates|-backports)?$")


@dataclass(frozen=True)
class Source:
    """One place of packages."""

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""
    trusted: bool = False

    @property
    def pocket(self) -> str:
        """"", "-security", ...; None when the suite is not Debian's."""
        m = DEBIAN_SUITE.match(self.suite)
        if not m:
            return "foreign"
        pocket = m["pocket"] or ""
        return "-security" if pocket == "/updates" else pocket


def parse_one_line(text: str) -> list[Source]:
    """The entries of a .list file."""
    found = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        m = re.match(r"deb\s+(?:\[(?P<opts>[^]]*)\]\s+)?(?P<rest>.*)", line)
        if not m:
            continue
        opts = dict(o.split("=", 1) for o in (m["opts"] or "").split()
                    if "=" in o)
        rest = m["rest"].split()
        if len(rest) < 2:
            continue
        found.append(Source(rest[0], rest[1], tuple(rest[2:]),
                            opts.get("signed-by", ""),
                            opts.get("trusted") == "yes"))
    return found


def parse_deb822(text: str) -> list[Source]:
    """The entries of a .sources file."""
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in " \t" and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" not in fields.get("types", "").split():
            continue
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                found.append(Source(
                    uri, suite, tuple(fields.get("components", "").split()),
                    fields.get("signed-by", ""),
                    fields.get("trusted", "").lower() == "yes"))
    return found


def machine_sources(etc: Path = Path("/etc/apt")) -> list[Source]:
    """Every entry of this machine's apt."""
    found = []
    parts = etc / "sources.list.d"
    files = [etc / "sources.list"]
    if parts.is_dir():
        files += sorted(parts.iterdir())
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if path.suffix == ".list":
            found += parse_one_line(text)
        elif path.suffix == ".sources":
            found += parse_deb822(text)
    return found


def debian_sources(suite: str, mirror: str = "",
                   etc: Path = Path("/etc/apt")) -> list[Source]:
    """Where `suite` of Debian should be: mirrors like the configured ones.

    `mirror` overrides the configuration.  Empty: this machine names none.
    """
    if mirror:
        return [Source(mirror, suite, ("main",), KEYRING)]
    found: dict[tuple[str, str], Source] = {}
    for source in machine_sources(etc):
        if source.uri.startswith(("cdrom:", "file:")):
            continue
        if source.pocket not in ("", "-security"):
            continue
        if "main" not in source.components:
            continue
        wanted = replace(source, suite=suite + source.pocket,
                         components=("main",),
                         signed_by=_keyring(source.signed_by))
        found.setdefault((wanted.uri, wanted.suite), wanted)
    ordered = sorted(found.values(), key=lambda s: s.suite != suite)
    if not any(s.suite == suite for s in ordered):
        return []
    return ordered


def _keyring(signed_by: str) -> str:
    """Keys that know every suite: Debian's keyring where it is."""
    if Path(KEYRING).is_file():
        return KEYRING
    return signed_by


def one_line_format(source: Source, kind: str = "deb") -> str:
    """The entry as a line of a .list file."""
    opts = []
    if source.signed_by.startswith("/"):
        opts.append(f"signed-by={source.signed_by}")
    if source.trusted:
        opts.append("trusted=yes")
    bracket = f" [{' '.join(opts)}]" if opts else ""
    return (f"{kind}{bracket} {source.uri} {source.suite} "
            + " ".join(source.components))


def network_options() -> list[str]:
    """This machine's apt settings that say how to reach a mirror."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    keep = re.compile(
        r'^Acquire::(?:(?:https?|ftp)(?:::[^ ]*)?::(?:Proxy|CaInfo|Timeout)[^ ]*'
        r'|Retries|Check-Valid-Until|Check-Date|ForceIPv4) ".+";$', re.I)
    return [line for line in dump.splitlines() if keep.match(line)]


class PrivateApt:
    """apt-get with directories of its own below `root`."""

    def __init__(self, root: Path, sources: list[Source],
                 kind: str = "deb-src") -> None:
        self.root = root
        for name in ("parts", "lists/partial", "archives/partial"):
            (root / name).mkdir(parents=True, exist_ok=True)
        lines = [one_line_format(s, kind) for s in sources]
        (root / "parts/vssd.list").write_text("\n".join(lines) + "\n",
                                              encoding="utf-8")
        self.options = [
            "-o", "Dir::Etc::SourceList=/dev/null",
            "-o", f"Dir::Etc::SourceParts={root / 'parts'}",
            "-o", f"Dir::State::Lists={root / 'lists'}",
            "-o", f"Dir::Cache={root}",
            "-o", "Acquire::Retries=2",
        ]
        if os.geteuid() == 0:
            self.options += ["-o", "APT::Sandbox::User=root"]

    def get(self, *args: str, cwd: Path | None = None, what: str) -> None:
        """Run apt-get with these arguments."""
        run_logged(["apt-get", *self.options, *args], "apt", what, cwd=cwd,
                   env={"LC_ALL": "C"})

    def names(self, pattern: str) -> list[str]:
        """The binary packages whose whole name matches."""
        out = subprocess.run(
            ["apt-cache", *self.options, "pkgnames"], capture_output=True,
            text=True, check=False, env=dict(os.environ, LC_ALL="C")).stdout
        return [x for x in out.splitlines() if re.fullmatch(pattern, x)]

    def download(self, package: str, versions: list[str], cwd: Path,
                 note: Callable[[str], None]) -> str:
        """The source of the first version that the mirror really has: an index
        may list one that is not there.  Nothing of the others stays in cwd."""
        problem = UserError(f"no version of the source package {package}")
        for version in versions:
            note(f"{package} {version}")
            try:
                self.get("source", "--download-only", f"{package}={version}",
                         cwd=cwd, what=f"fetching the source of {package}"
                         f" {version}")
                return version
            except UserError as e:
                problem = e
                for path in cwd.glob(f"{package}_*"):
                    path.unlink()
        raise problem

    def versions(self, package: str) -> list[str]:
        """The versions of a source package, newest first."""
        out = subprocess.run(
            ["apt-cache", *self.options, "showsrc", package],
            capture_output=True, text=True, check=False,
            env=dict(os.environ, LC_ALL="C")).stdout
        found = []
        name = ""
        for line in out.splitlines():
            if line.startswith("Package: "):
                name = line.split()[1]
            elif line.startswith("Version: ") and name == package:
                found.append(line.split()[1])
        return sort_versions(list(dict.fromkeys(found)))


def sort_versions(versions: list[str]) -> list[str]:
    """Newest first, in dpkg's order."""
    import functools

    def compare(a: str, b: str) -> int:
        if a == b:
            return 0
        newer = subprocess.run(["dpkg", "--compare-versions", a, "gt", b],
                               check=False).returncode == 0
        return -1 if newer else 1

    return sorted(versions, key=functools.cmp_to_key(compare))


def require(suite: str, mirror: str, what: str) -> list[Source]:
    """debian_sources(), or an error that says what to give."""
    sources = debian_sources(suite, mirror)
    if not sources:
        raise UserError(
            f"cannot find {what}: this machine's apt names no Debian mirror;"
            " give one with ./vssd setup --mirror URI"
            + (" or QEMU's source with --qemu-source (a directory, a tarball,"
               " or an address and --sha256)" if "QEMU" in what else ""))
    return sources


def describe(source: Source) -> str:
    """For the user."""
    return shlex.quote(f"{source.uri} {source.suite}")
