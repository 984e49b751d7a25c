# SPDX-License-Identifier: GPL-2.0-or-later
"""What `meson dist` adds to the sources: the file `commit`, since an archive has no
git."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Its time is that of the commit, as that of all files."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from vssd import origin

    path = Path(os.environ["MESON_PROJECT_DIST_ROOT"]) / "commit"
    path.write_text(origin.commit() + "\n", encoding="ascii")
    instant = int(subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%ct"], check=True,
        capture_output=True, text=True).stdout)
    os.utime(path, (instant, instant))


if __name__ == "__main__":
    main()
