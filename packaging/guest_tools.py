# SPDX-License-Identifier: GPL-2.0-or-later
"""guest_tools.py FOLDER: build the programs for guests there, for packages."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from vssd.build import guest_tools  # noqa: E402
from vssd.errors import UserError  # noqa: E402

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["VSSD_CACHE"] = cache
        try:
            guest_tools.build(Path(sys.argv[1]).absolute())
        except UserError as e:
            log = Path(cache) / "logs/guest-tools.log"
            sys.exit(f"{e}\n{log.read_text()}")
