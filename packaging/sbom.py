# SPDX-License-Identifier: GPL-2.0-or-later
"""sbom.py [--qemu VERSION] [--libvfio-user FOLDER]: the parts that vssd is made of
and needs, with versions and licences, as SPDX 2.3 in JSON on standard output.

VERSION is that of the QEMU whose headers vssd-qemu.so is compiled with, FOLDER the
source of libvfio-user that is linked into vssd-server.  Libraries have the versions
that pkg-config knows on this machine.  `meson install` writes it as
share/vssd/sbom.spdx.json.  Its instant is SOURCE_DATE_EPOCH, if that is set.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
UNKNOWN = "NOASSERTION"
XZ = "LicenseRef-xz"
LICENCES = [{"licenseId": XZ, "name": "XZ Utils", "extractedText":
             "liblzma is in the public domain; from version 5.6 on it is 0BSD."}]
# Linked dynamically, by pkg-config's names.
LIBRARIES = {"glib-2.0": "LGPL-2.1-or-later", "zlib": "Zlib", "liblzma": XZ,
             "libzstd": "BSD-3-Clause OR GPL-2.0-only"}
OF_SERVER = {"json-c": "MIT"}
# Of requirements.txt, which every command needs.  Those of the other files are
# installed at the first use of some commands.
PYTHON = {
    "argparse-manpage": "Apache-2.0", "colorama": "BSD-3-Clause",
    "exceptiongroup": "MIT", "execnet": "MIT", "iniconfig": "MIT",
    "markdown-it-py": "MIT", "mdurl": "MIT", "meson": "Apache-2.0",
    "packaging": "Apache-2.0 OR BSD-2-Clause", "pluggy": "MIT",
    "pygments": "BSD-2-Clause", "pytest": "MIT", "pytest-xdist": "MIT",
    "qemu-qmp": "LGPL-2.0-or-later AND GPL-2.0-only", "rich": "MIT",
    "rich-argparse": "MIT", "shtab": "MPL-2.0", "tomli": "MIT",
    "typing-extensions": "PSF-2.0"}
REQUIREMENT = re.compile(r"^([\w.-]+)==(\S+)")


class Document:
    """Parts, and how vssd is related to each."""

    def __init__(self, version: str) -> None:
        self.packages: list[dict[str, Any]] = []
        self.relations: list[dict[str, str]] = []
        self.vssd = self.add("vssd", version, "GPL-2.0-or-later",
                             primaryPackagePurpose="APPLICATION")
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", self.vssd)

    def add(self, name: str, version: str, licence: str, **more: Any) -> str:
        """A part; its identifier."""
        ref = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}")
        self.packages.append({
            "SPDXID": ref, "name": name, "versionInfo": version or UNKNOWN,
            "licenseDeclared": licence, "licenseConcluded": UNKNOWN,
            "copyrightText": UNKNOWN, "downloadLocation": UNKNOWN,
            "filesAnalyzed": False, **more})
        return ref

    def relate(self, one: str, how: str, other: str) -> None:
        """For example: vssd, "STATIC_LINK", a part."""
        self.relations.append({"spdxElementId": one, "relationshipType": how,
                               "relatedSpdxElement": other})


def output(*command: str) -> str:
    """What a program says; "" if it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def add_libraries(doc: Document, qemu: str, libvfio_user: Path | None) -> None:
    """What the programs are compiled and linked with."""
    for name, licence in (LIBRARIES | (OF_SERVER if libvfio_user else {})).items():
        version = output("pkg-config", "--modversion", name)
        doc.relate(doc.vssd, "DYNAMIC_LINK", doc.add(name, version, licence))
    libc = output("getconf", "GNU_LIBC_VERSION").split()
    doc.relate(doc.vssd, "STATIC_LINK", doc.add(
        "glibc", libc[-1] if libc else "", "LGPL-2.1-or-later",
        comment="linked statically into the programs for guests"))
    if libvfio_user:
        text = (libvfio_user / "meson.build").read_text(encoding="utf-8")
        found = re.search(r"^ *version: '([^']+)'", text, re.M)
        doc.relate(doc.vssd, "STATIC_LINK", doc.add(
            "libvfio-user", found[1] if found else "", "BSD-3-Clause",
            comment="linked into vssd-server; from QEMU's source"))
    if qemu:
        doc.relate(doc.add(
            "qemu", qemu, "GPL-2.0-only",
            comment="vssd-qemu.so is compiled with its headers, and loaded by it"),
            "BUILD_DEPENDENCY_OF", doc.vssd)


def requirements() -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """Of each Python package, by name and version: hashes of its files, and the
    lists that have it."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for path in sorted((ROOT / "scripts").glob("requirements*.txt")):
        text = path.read_text(encoding="ascii").replace(" \\\n", " ")
        for line in text.splitlines():
            if m := REQUIREMENT.match(line):
                hashes = re.findall(r"--hash=sha256:(\w+)", line)
                found.setdefault((m[1], m[2]), (hashes, []))[1].append(path.name)
    return found


def add_python(doc: Document) -> None:
    """What the vssd command gets from PyPI."""
    for (name, version), (hashes, lists) in requirements().items():
        needed = "requirements.txt" in lists
        doc.relate(doc.add(
            name, version, PYTHON[name] if needed else UNKNOWN,
            comment="of scripts/" + ", ".join(lists),
            checksums=[{"algorithm": "SHA256", "checksumValue": h} for h in hashes],
            externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                           "referenceType": "purl",
                           "referenceLocator": f"pkg:pypi/{name}@{version}"}]),
            "RUNTIME_DEPENDENCY_OF" if needed else "OPTIONAL_DEPENDENCY_OF", doc.vssd)


def document(qemu: str = "", libvfio_user: Path | None = None) -> dict[str, Any]:
    """The whole, of these sources."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from vssd import origin

    version, commit = origin.version(), origin.commit()
    name = f"vssd-{version}" + (f"-{commit}" if commit else "")
    doc = Document(version)
    add_libraries(doc, qemu, libvfio_user)
    add_python(doc)
    instant = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://vssd.invalid/spdx/{name}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant)),
            "creators": [f"Tool: vssd-sbom-{version}"]},
        "hasExtractedLicensingInfos": LICENCES,
        "packages": doc.packages, "relationships": doc.relations}


def main() -> None:
    """See the head of this file."""
    p = argparse.ArgumentParser()
    p.add_argument("--qemu", default="")
    p.add_argument("--libvfio-user", type=Path)
    args = p.parse_args()
    json.dump(document(args.qemu, args.libvfio_user), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
