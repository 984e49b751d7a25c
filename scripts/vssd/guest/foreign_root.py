# SPDX-License-Identifier: GPL-2.0-or-later
"""Fill the root of a guest of another architecture (guest/foreign.py).

Runs as a program of its own, under fakeroot when the user is not root:
python -m vssd.guest.foreign_root TAR TOOLS MODULES DISK OUT START BYTES
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..build import guest_tools
from ..paths import PROJECT
from .image_root import make_file_system

PLACE = "usr/local/lib/vssd"
# Links that scripts of packages would have made.
LINKS = {
    "usr/bin/sh": "dash",
    "usr/bin/awk": "mawk",
    "usr/bin/vi": "vim.tiny",
    "usr/sbin/init": f"/{PLACE}/init",
    **{f"usr/sbin/{name}": f"/{PLACE}/poweroff"
       for name in ("poweroff", "reboot", "halt")},
}
USERS = {
    "passwd": "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n",
    "group": "",
}
NETWORK = {
    "hostname": "vssd\n",
    "hosts": "127.0.0.1 localhost vssd\n",
    "resolv.conf": "nameserver 10.0.2.3\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def fill(root: Path, tools: Path, modules: Path) -> None:
    """Put our files, and what scripts of packages would have made, into an
    unpacked root."""
    shutil.copytree(PROJECT / "guest-tools/foreign" / "usr", root / "usr",
                    dirs_exist_ok=True)
    for name in guest_tools.TOOLS:
        place = root / (PLACE if name == guest_tools.AGENT else "usr/local/bin")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(tools / name, place / name)
        os.chmod(place / name, 0o755)
    for name, target in LINKS.items():
        path = root / name
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    etc = root / "etc"
    for name, more in USERS.items():
        text = (root / f"usr/share/base-passwd/{name}.master").read_text()
        (etc / name).write_text(text.replace("root:*:", "root::") + more)
    for name, text in NETWORK.items():
        (etc / name).unlink(missing_ok=True)
        (etc / name).write_text(text)
    motd = PROJECT / "guest-tools/rootfs/etc/motd"
    (etc / "motd").write_bytes(motd.read_bytes())
    for folder in ("dev", "proc", "sys", "run", "tmp", "mnt", "root"):
        (root / folder).mkdir(exist_ok=True)
    shutil.copytree(modules, root / "usr/lib/modules" / modules.name,
                    symlinks=True)


def main(argv: list[str]) -> None:
    """See the head of this file."""
    tar, tools, modules, disk, out, start, nbytes = argv
    with tempfile.TemporaryDirectory(dir=out, prefix="root.") as name:
        root = Path(name)
        os.chmod(root, 0o755)
        subprocess.run(["tar", "-C", name, "--exclude=./dev/*", "-xpf", tar],
                       check=True)
        fill(root, Path(tools), Path(modules))
        make_file_system(root, disk, int(start), int(nbytes))


if __name__ == "__main__":
    main(sys.argv[1:])
