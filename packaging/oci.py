# SPDX-License-Identifier: GPL-2.0-or-later
"""oci.py --out FILE.tar [--cache FOLDER] vssd.deb vssd-qemu.deb: an OCI image that
boots guests at once: nothing is built, fetched or installed when it runs.

mmdebstrap makes Debian's trixie from this machine's apt sources, with the packages,
Debian's QEMU, pytest, the command's Python environment and the guest image.  The
image is an OCI layout (OCI Image Format Specification 1.0) in a tar archive, which
`podman load` and `skopeo copy oci-archive:FILE.tar` read.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from vssd import ending  # noqa: E402
from vssd.build import aptsrc, packages, qemu_package, venv  # noqa: E402
from vssd.errors import UserError  # noqa: E402

HOOKS = "/usr/share/mmdebstrap/hooks/file-mirror-automount"
MEDIA = "application/vnd.oci.image."
SUITE = qemu_package.BASE
PYTHON = "3.13"  # of that suite
PACKAGES = ("vssd", "vssd-qemu")
DEBIAN = (qemu_package.PACKAGES[qemu_package.X86_64], qemu_package.TOOLS,
          "ca-certificates", "python3-pytest")
USER = 1000      # of the container, and its group
READY = "usr/share/vssd/cache"  # what the command would make at first use
KEPT = ("venv-*", "image-*")    # of it
WHEELS = "tmp/wheels"
LEVEL = 6  # of gzip
PLUGINS = "guest-tools/powercut"  # of pytest, below usr/share/vssd
CONFIG: dict[str, Any] = {
    "User": f"{USER}:{USER}",
    "Entrypoint": ["vssd"],
    "Cmd": ["--help"],
    # All users may write the folder of the cache: jobs run as any of them.
    "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "VSSD_CACHE=/var/tmp/vssd",
            f"VSSD_SHARED_CACHE=/{READY}", "VSSD_NO_PACKAGES=1"],
    "WorkingDir": "/work",
}
# Prints the folder of the guest image that a tree of vssd uses; made if need be.
IMAGE = "from vssd.guest import image; print(image.ensure().folder)"


def command(*args: str | Path, **env: str) -> str:
    """A program's output; UserError if it fails."""
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, text=True,
                          check=False, env=dict(os.environ, **env))
    if done.returncode != 0:
        raise UserError(f"{Path(args[0]).name}: status {done.returncode}, see above")
    return done.stdout


def check(debs: list[Path]) -> None:
    """Refuse what is no full set of packages."""
    for deb in debs:
        if not deb.is_file():
            raise UserError(f"{deb}: no such file")
    have = {command("dpkg-deb", "-f", deb, "Package").strip() for deb in debs}
    if lost := [name for name in PACKAGES if name not in have]:
        raise UserError(f"the package {lost[0]} is missing: give the files of "
                        + " and ".join(PACKAGES))


def guest_image(debs: list[Path], folder: Path, cache: str) -> Path:
    """The guest image of these packages as an archive, which keeps the holes of its
    disk; from the cache, or made there."""
    tree = folder / "tree"
    for deb in debs:
        command("dpkg-deb", "-x", deb, tree)
    made = Path(command(
        venv.tool("python"), "-c", IMAGE, PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH=str(tree / "usr/share/vssd/scripts"),
        **({"VSSD_CACHE": cache} if cache else {})).split("\n")[-2])
    packed = folder / f"{made.name}.tar"
    command("tar", "--sparse", "--sort=name", "--owner=0", "--group=0",
            "--numeric-owner", "-C", made.parent, "-cf", packed, made.name)
    return packed


def wheels(folder: Path) -> Path:
    """The command's Python libraries; their hashes are checked."""
    to = folder / Path(WHEELS).name
    for name in (venv.BUILD, venv.REQUIREMENTS):
        command(venv.tool("python"), "-m", "pip", "download", "--quiet",
                "--disable-pip-version-check", "--no-deps", "--require-hashes",
                "--no-build-isolation", "--python-version", PYTHON, "-d", to, "-r",
                venv.PROJECT / name)
    return to


def hooks(image: Path, libraries: Path) -> list[str]:
    """What mmdebstrap does when the packages are installed."""
    setup = shlex.join(
        ["env", "-i", CONFIG["Env"][0], f"VSSD_CACHE=/{READY}",
         "VSSD_NO_PACKAGES=1", "PIP_NO_INDEX=1", f"PIP_FIND_LINKS=/{WHEELS}",
         "vssd", "setup", "--no-image"])
    others = " ".join(f"! -name {shlex.quote(name)}" for name in KEPT)
    return [
        f'echo "vssd:x:{USER}:{USER}::/work:/bin/sh" >> "$1/etc/passwd"',
        f'echo "vssd:x:{USER}:" >> "$1/etc/group"',
        f'install -d -o {USER} -g {USER} "$1/work"',
        f'echo /usr/share/vssd/{PLUGINS} > '
        '"$1/usr/lib/python3/dist-packages/vssd.pth"',
        f'mkdir -p "$1/{READY}"',
        shlex.join(["copy-in", str(image), f"/{READY}"]),
        shlex.join(["copy-in", str(libraries), "/tmp"]),
        f'chroot "$1" {setup}',
        f'find "$1/{READY}" -mindepth 1 -maxdepth 1 {others} -exec rm -rf {{}} +',
        f'rm -rf "$1/{WHEELS}"']


def root_of(debs: list[Path], steps: list[str], to: Path) -> None:
    """The root file system as a tar archive."""
    sources = aptsrc.require(SUITE, "", "the OCI image")
    command(
        "mmdebstrap", "--variant=minbase", f"--hook-dir={HOOKS}",
        "--include=" + ",".join(DEBIAN),
        *(f"--include={deb.resolve()}" for deb in debs),
        *(f"--aptopt={option}" for option in aptsrc.network_options()),
        *(f"--customize-hook={step}" for step in steps), SUITE, to,
        *map(aptsrc.one_line_format, sources))


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

    def file(self, kind: str, path: Path) -> dict[str, Any]:
        """A blob of a large file; its descriptor."""
        digest = sha256_of(path)
        info = tarfile.TarInfo(f"blobs/sha256/{digest}")
        info.size = path.stat().st_size
        with path.open("rb") as data:
            self.out.addfile(info, data)
        return descriptor(kind, digest, info.size)

    def json(self, kind: str, value: object) -> dict[str, Any]:
        """A blob of JSON."""
        data = json.dumps(value).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.add(f"blobs/sha256/{digest}", data)
        return descriptor(kind, digest, len(data))


def descriptor(kind: str, digest: str, size: int) -> dict[str, Any]:
    """What names a blob."""
    return {"mediaType": MEDIA + kind, "digest": f"sha256:{digest}", "size": size}


def sha256_of(path: Path) -> str:
    """A file's digest."""
    digest = hashlib.sha256()
    with path.open("rb") as data:
        while part := data.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def compress(path: Path, to: Path) -> None:
    """By gzip; the same bytes each time."""
    with path.open("rb") as data, to.open("wb") as raw, \
            gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as out:
        shutil.copyfileobj(data, out, 1 << 20)


def pack(root: Path, out: Path) -> None:
    """The image of a root file system; root is compressed beside itself."""
    layer = root.with_name(root.name + ".gz")
    compress(root, layer)
    with tarfile.open(out, "w") as tar:
        layout = Layout(tar)
        packed = layout.file("layer.v1.tar+gzip", layer)
        config = layout.json("config.v1+json", {
            "architecture": "amd64", "os": "linux", "config": CONFIG,
            "rootfs": {"type": "layers",
                       "diff_ids": ["sha256:" + sha256_of(root)]}})
        manifest = layout.json("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
            "config": config, "layers": [packed]})
        manifest["annotations"] = {"org.opencontainers.image.ref.name": "vssd"}
        layout.add("index.json", json.dumps(
            {"schemaVersion": 2, "manifests": [manifest]}).encode())


def main() -> int:
    """Make the image."""
    p = argparse.ArgumentParser()
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--cache", default="", metavar="FOLDER",
                   help="cache of vssd that has the guest image, or gets it (default:"
                   " VSSD_CACHE, as for every command)")
    p.add_argument("debs", nargs="+", type=Path)
    args = p.parse_args()
    check(args.debs)
    packages.ensure(packages.IMAGE)
    venv.ensure()
    with tempfile.TemporaryDirectory(prefix="vssd-oci-") as name:
        folder = Path(name)
        steps = hooks(guest_image(args.debs, folder, args.cache), wheels(folder))
        root_of(args.debs, steps, folder / "root.tar")
        pack(folder / "root.tar", args.out)
    return 0


if __name__ == "__main__":
    sys.exit(ending.run(main))
