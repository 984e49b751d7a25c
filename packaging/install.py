# SPDX-License-Identifier: GPL-2.0-or-later
"""Install the vssd command: its Python sources, profiles and guest files, the
marker that names its programs, the list of its parts (sbom.py), man pages and
completions.

`meson install` runs it; folders are relative to the prefix.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import sbom

# Of the sources; all of a folder, or one file.
PARTS = ("vssd", "meson.build", "LICENSE", "profiles", "scripts/vssd", "lab/vssd_lab",
         "guest-tools", "hw-ssd/nvme/vendor-log.h", "lib/examples/policies",
         "docs/glossary.md", "docs/options.md", "docs/schema")
COMPLETIONS = {"bash": "bash-completion/completions/vssd",
               "zsh": "zsh/site-functions/_vssd",
               "fish": "fish/vendor_completions.d/vssd.fish"}
LIBRARIES = {"argparse-manpage": 4, "shtab": 1}  # and their least versions


def copy(root: Path, to: Path) -> None:
    """The parts, without what Python left among them."""
    for name in [*PARTS, *(str(p.relative_to(root)) for p in
                           (root / "scripts").glob("requirements*.txt"))]:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir():
            shutil.copytree(root / name, target, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(root / name, target)


def mark(root: Path, to: Path, places: dict[str, Path], qemu: str) -> None:
    """The marker, and the commit of the sources.  qemu: the version of QEMU that
    the device is for."""
    said = {kind: os.path.relpath(path, to) for kind, path in places.items()}
    (to / "installed.json").write_text(json.dumps({**said, "qemu": qemu}) + "\n",
                                       encoding="ascii")
    sys.path.insert(0, str(root / "scripts"))
    from vssd import origin

    (to / "commit").write_text(origin.commit() + "\n", encoding="ascii")


def link(command: Path, name: Path) -> None:
    """The command's name in the folder of programs."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.unlink(missing_ok=True)
    name.symlink_to(os.path.relpath(command, name.parent))


def vssd(to: Path, *args: object) -> str:
    """The installed command, by this Python, which has the libraries."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "vssd_lab", *map(str, args)], check=True,
        text=True, stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=f"{to}/scripts:{to}/lab")).stdout


def missing() -> list[str]:
    """Libraries that man pages and completions need."""
    from importlib.metadata import PackageNotFoundError, version

    lost = []
    for name, least in LIBRARIES.items():
        try:
            if int(version(name).split(".")[0]) < least:
                lost.append(f"{name} {least}")
        except PackageNotFoundError:
            lost.append(name)
    return lost


def pages(to: Path, program: Path, man: Path, share: Path) -> None:
    """Man pages, and the completions of the shells that shtab knows."""
    man.mkdir(parents=True, exist_ok=True)
    sim = ["--sim-program", program] if program.exists() else []
    vssd(to, "man", "--out", man, *sim)
    import shtab

    for shell, name in COMPLETIONS.items():
        if shell in shtab.SUPPORTED_SHELLS:
            (share / name).parent.mkdir(parents=True, exist_ok=True)
            (share / name).write_text(vssd(to, "completion", shell),
                                      encoding="utf-8")


def main() -> None:
    """By the arguments of packaging/meson.build."""
    p = argparse.ArgumentParser()
    p.add_argument("root", type=Path)
    for name in ("bin", "libexec", "plugin", "data", "man", "share"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--qemu", default="")
    p.add_argument("--libvfio-user", default="")
    p.add_argument("--pages", choices=("yes", "no", "auto"))
    args = p.parse_args()
    prefix = Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"])
    to = prefix / args.data
    copy(args.root, to)
    mark(args.root, to, {kind: prefix / getattr(args, kind)
                         for kind in ("bin", "libexec", "plugin")}, args.qemu)
    link(to / "vssd", prefix / args.bin / "vssd")
    library = Path(args.libvfio_user) if args.libvfio_user else None
    (to / "sbom.spdx.json").write_text(
        json.dumps(sbom.document(args.qemu, library), indent=1) + "\n",
        encoding="ascii")
    lost = missing()
    if args.pages == "yes" and lost:
        sys.exit(f"-Dman=enabled: Python has no {lost[0]}")
    if args.pages == "no" or lost:
        print("vssd: no man pages and completions"
              + (f": Python has no {lost[0]}" if lost else ""))
        return
    pages(to, prefix / args.bin / "vssd-sim", prefix / args.man,
          prefix / args.share)


if __name__ == "__main__":
    main()
