# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian mirrors, as this machine's own apt names them.

Asks apt for its sources, and runs apt with private directories, so that the
system's configuration is never touched and no root is needed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from ..paths import cache_dir
from ..proc import run_logged

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Fields to read of each list of packages that apt has.
TARGET = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(TRUSTED)|$(FILENAME)"
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


def machine_sources(options: Sequence[str] = ()) -> list[Source]:
    """Every archive of this machine's apt, as apt reports it; apt reports only
    archives whose lists it has, so without any it gets them first."""
    found = _index_targets(options)
    if found:
        return found
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="apt.") as name:
        (Path(name) / "partial").mkdir()
        private = [*options, "-o", f"Dir::State::Lists={name}",
                   *_without_sandbox()]
        run_logged(["apt-get", *private, "update"], "apt-lists",
                   "reading the mirror's index", env={"LC_ALL": "C"})
        return _index_targets(private)


def _index_targets(options: Sequence[str]) -> list[Source]:
    try:
        out = subprocess.run(
            ["apt-get", *options, "indextargets", "--format", TARGET,
             "Created-By: Packages"], capture_output=True, text=True,
            check=False, env=dict(os.environ, LC_ALL="C")).stdout
    except FileNotFoundError:
        return []
    found: dict[tuple[str, str], Source] = {}
    for line in out.splitlines():
        uri, suite, component, trusted, file = line.split("|")
        source = found.setdefault((uri, suite), Source(
            uri.rstrip("/"), suite, (),
            trusted=trusted == "yes" and not _signed(file, component)))
        if component not in source.components:
            found[uri, suite] = replace(
                source, components=(*source.components, component))
    return list(found.values())


def _signed(file: str, component: str) -> bool:
    """Is the release signed that this list is of?  If it is not and apt trusts
    it, the sources say [trusted=yes]."""
    release = file.split(f"_{component.replace('/', '_')}_binary-")[0]
    return any(Path(f"{release}_{name}").exists()
               for name in ("InRelease", "Release.gpg"))


def debian_sources(suite: str, mirror: str = "",
                   options: Sequence[str] = ()) -> list[Source]:
    """Where `suite` of Debian should be: mirrors like the configured ones.

    `mirror` overrides the configuration.  Empty: this machine names none.
    """
    if mirror:
        return [Source(mirror, suite, ("main",), KEYRING)]
    # Keys that know every suite: Debian's keyring, where it is.
    keyring = KEYRING if Path(KEYRING).is_file() else ""
    found: dict[tuple[str, str], Source] = {}
    for source in machine_sources(options):
        if source.uri.startswith(("cdrom:", "file:")):
            continue
        if source.pocket not in ("", "-security"):
            continue
        if "main" not in source.components:
            continue
        wanted = replace(source, suite=suite + source.pocket,
                         components=("main",), signed_by=keyring)
        found.setdefault((wanted.uri, wanted.suite), wanted)
    ordered = sorted(found.values(), key=lambda s: s.suite != suite)
    if not any(s.suite == suite for s in ordered):
        return []
    return ordered


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


def _without_sandbox() -> list[str]:
    """root's apt drops its privileges, and then cannot write in our folders."""
    return ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []


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
        self.options += _without_sandbox()

    def only(self, architecture: str) -> None:
        """Packages of this architecture, whatever the machine's is; none of
        them counts as installed."""
        nothing = self.root / "status"
        nothing.touch()
        self.options += ["-o", f"Dir::State::status={nothing}",
                         "-o", f"APT::Architecture={architecture}",
                         "-o", f"APT::Architectures::={architecture}"]

    @classmethod
    def updated(cls, root: Path, sources: list[Source],
                kind: str = "deb-src") -> PrivateApt:
        """One that has read the mirror's index."""
        apt = cls(root, sources, kind)
        apt.get("update", what="reading the mirror's index")
        return apt

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

    def depends(self, package: str) -> list[str]:
        """The packages that a binary package depends on."""
        out = subprocess.run(
            ["apt-cache", *self.options, "depends", "--important", package],
            capture_output=True, text=True, check=False,
            env=dict(os.environ, LC_ALL="C")).stdout
        return re.findall(r"^ +Depends: (\S+)", out, re.M)

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
    """debian_sources(), or an error that names the missing argument."""
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
