# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the folder of libvfio-user's source, for packages of vssd-server.

The source comes from the cache (VSSD_CACHE), else from QEMU's source package by
apt.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from vssd import ending  # noqa: E402
from vssd.build import vfio_server  # noqa: E402


def main() -> int:
    """Fetch it if it is not there."""
    print(vfio_server.library())
    return 0


if __name__ == "__main__":
    sys.exit(ending.run(main))
