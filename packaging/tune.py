# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the vssd-sim of a build directory the fast one: build it to be watched, run
the loads of ./vssd setup, and set the directory up to use what was seen.

    meson setup BUILD ... && python3 packaging/tune.py BUILD && ninja -C BUILD

Packages of vssd are built so.  It leaves the other options of BUILD alone, so
that the program runs on each processor that they allow.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIM = "sim/vssd-sim"


def main(args: list[str]) -> int:
    """The build directory is the one argument."""
    if len(args) != 1 or not Path(args[0], "build.ninja").is_file():
        print("tune.py: give one build directory, set up by meson", file=sys.stderr)
        return 2
    sys.path.insert(0, str(ROOT / "scripts"))
    from vssd.build import tuned
    from vssd.errors import UserError

    build = Path(args[0])
    try:
        subprocess.run(["meson", "configure", build, "-Db_pgo=generate"], check=True)
        subprocess.run(["ninja", "-C", build, SIM], check=True)
        tuned.watch(build.resolve() / SIM)
        # Files that vssd-sim does not link have no profile, which gcc warns of.
        subprocess.run(["meson", "configure", build, "-Db_pgo=use",
                        "-Dwerror=false"], check=True)
    except (OSError, UserError, subprocess.CalledProcessError) as e:
        print(f"tune.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
