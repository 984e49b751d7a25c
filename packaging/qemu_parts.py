# SPDX-License-Identifier: GPL-2.0-or-later
"""qemu_parts.py: print the folder of the parts of QEMU's source that packages need:
for vssd-qemu.so (-Dqemu_source=FOLDER) and, in LIBRARY of it, for vssd-server
(-Dlibvfio_user=).

The source comes from the cache (VSSD_CACHE), else from Debian's source package by
apt.  With --substvars, print what the Debian package vssd-qemu needs of QEMU.
"""

import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from vssd import arch, ending  # noqa: E402
from vssd.build import qemu_build, qemu_package, qemu_source  # noqa: E402


def substvars(version: str, suite: str) -> str:
    """Each revision of Debian's of that version will do.  A suite with another
    version has none that fits: the command fetches the emulator then."""
    if suite != qemu_source.SUITE:
        return "qemu:Depends=\nqemu:Suggests=\n"
    *most, last = version.split(".")
    end = ".".join([*most, str(int(last) + 1)])

    def of_version(names: list[str]) -> str:
        return ", ".join(f"{name} (>= 1:{version}), {name} (<< 1:{end}~)"
                         for name in names)

    own, *foreign = [qemu_package.PACKAGES[x] for x in arch.ALL.values()]
    return (f"qemu:Depends={of_version([own, qemu_package.TOOLS])}\n"
            f"qemu:Suggests={of_version(foreign)}\n")


def main() -> int:
    """Fetch the source if it is not there."""
    folder = qemu_source.parts(qemu_build.remembered_origin().mirror)
    if sys.argv[1:] == ["--substvars"]:
        suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
        print(substvars(qemu_source.full_version(folder), suite), end="")
    else:
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(ending.run(main))
