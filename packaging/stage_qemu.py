# SPDX-License-Identifier: GPL-2.0-or-later
"""stage_qemu.py FOLDER: put QEMU with the device there, for packages.

The QEMU is the one that ./vssd setup builds in the cache (VSSD_CACHE); it is
built if it is not there.
"""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from vssd import ending  # noqa: E402
from vssd.build import qemu_build  # noqa: E402


def main() -> int:
    """Build and copy."""
    folder = Path(sys.argv[1])
    qemu = qemu_build.ensure()
    folder.mkdir(parents=True, exist_ok=True)
    for program in (qemu.emulator, qemu.img):
        shutil.copy(program, folder)
    return 0


if __name__ == "__main__":
    sys.exit(ending.run(main))
