# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m vssd_lab"""

import sys

from vssd import ending


def _main() -> int:
    # Importing takes a while, and a signal may come meanwhile.
    from .cli.main import main

    return main(sys.argv[1:])


sys.exit(ending.run(_main))
