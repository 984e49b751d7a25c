# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m vssd"""

import sys

from .cli.main import main

sys.exit(main(sys.argv[1:]))
