# SPDX-License-Identifier: GPL-2.0-or-later
"""oci.py --out FILE.tar [--suite SUITE] DEB...: an OCI image of a minimal
Debian with packages of vssd.

mmdebstrap makes the root file system with this machine's apt sources; the image
is an OCI layout (OCI Image Format Specification 1.0) in a tar archive, which
`podman load` and `skopeo copy oci-archive:FILE.tar` read.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HOOKS = "/usr/share/mmdebstrap/hooks/file-mirror-automount"
MEDIA = "application/vnd.oci.image."
USER = 1000      # of the container, and its group
FOLDERS = ("cache", "work")  # that it may write
CONFIG = {
    "User": f"{USER}:{USER}",
    "Entrypoint": ["vssd"],
    "Cmd": ["--help"],
    # All packages are there, or the image was made without guests.
    "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "VSSD_CACHE=/cache",
            "VSSD_NO_PACKAGES=1"],
    "Volumes": {"/cache": {}},
    "WorkingDir": "/work",
}


HOOKS_OF_USER = (
    f'echo "vssd:x:{USER}:{USER}::/work:/bin/sh" >> "$1/etc/passwd"',
    f'echo "vssd:x:{USER}:" >> "$1/etc/group"',
    *(f'install -d -o {USER} -g {USER} "$1/{folder}"' for folder in FOLDERS))


def root_of(suite: str, debs: list[Path], to: Path) -> None:
    """The root file system as a tar archive."""
    subprocess.run(
        ["mmdebstrap", "--variant=minbase", f"--hook-dir={HOOKS}",
         "--include=ca-certificates",
         *(f"--customize-hook={hook}" for hook in HOOKS_OF_USER),
         *(f"--include={deb.resolve()}" for deb in debs), suite, to],
        check=True)


class Layout:
    """An OCI layout that is written into a tar archive."""

    def __init__(self, out: tarfile.TarFile) -> None:
        self.out = out
        self.add("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')

    def add(self, name: str, data: bytes) -> None:
        """A file of the archive."""
        info = tarfile.TarInfo(name)
        info.size = len(data)
        self.out.addfile(info, io.BytesIO(data))

    def blob(self, kind: str, data: bytes) -> dict[str, Any]:
        """A blob; its descriptor."""
        digest = hashlib.sha256(data).hexdigest()
        self.add(f"blobs/sha256/{digest}", data)
        return {"mediaType": MEDIA + kind, "digest": f"sha256:{digest}",
                "size": len(data)}

    def json(self, kind: str, value: object) -> dict[str, Any]:
        """A blob of JSON."""
        return self.blob(kind, json.dumps(value).encode())


def pack(root: Path, out: Path) -> None:
    """The image of a root file system."""
    layer = root.read_bytes()
    with tarfile.open(out, "w") as tar:
        layout = Layout(tar)
        packed = layout.blob("layer.v1.tar+gzip",
                             gzip.compress(layer, mtime=0))
        config = layout.json("config.v1+json", {
            "architecture": "amd64", "os": "linux", "config": CONFIG,
            "rootfs": {"type": "layers", "diff_ids": [
                "sha256:" + hashlib.sha256(layer).hexdigest()]}})
        manifest = layout.json("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
            "config": config, "layers": [packed]})
        manifest["annotations"] = {"org.opencontainers.image.ref.name": "vssd"}
        layout.add("index.json", json.dumps(
            {"schemaVersion": 2, "manifests": [manifest]}).encode())


def main() -> None:
    """Make the image."""
    p = argparse.ArgumentParser()
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--suite", default="bookworm")
    p.add_argument("debs", nargs="+", type=Path)
    args = p.parse_args()
    for deb in args.debs:
        if not deb.is_file():
            sys.exit(f"{deb}: no such file")
    if not shutil.which("mmdebstrap"):
        sys.exit("mmdebstrap is not installed")
    with tempfile.TemporaryDirectory(prefix="vssd-oci-") as folder:
        root = Path(folder) / "root.tar"
        root_of(args.suite, args.debs, root)
        pack(root, args.out)


if __name__ == "__main__":
    main()
