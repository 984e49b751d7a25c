# SPDX-License-Identifier: GPL-2.0-or-later
"""A modelled SSD: requests as NumPy arrays in, latencies and statistics out.

    from libvssd import Drive

    with Drive("pm9a3", ftl_op_percent="28%", seed=7) as drive:
        drive.preload()
        done = drive.play(op="read", lba=[0, 8, 16], nblocks=8, depth=2)
        print(done["complete_ns"] - done["submit_ns"], drive.stats()["waf"])

docs/libvssd.md describes it.  libvssd.policies has policies in Python.
"""

from .arrays import (
    COMPLETION,
    COMPLETION_COSTS,
    OPS,
    REQUEST,
    STATUS,
    ZONE_STATES,
    requests,
)
from .drive import Drive, Info, Zone, abi, options_table, version
from .native import VssdError

__all__ = ["COMPLETION", "COMPLETION_COSTS", "OPS", "REQUEST", "STATUS",
           "ZONE_STATES", "Drive", "Info", "VssdError", "Zone", "abi",
           "options_table", "requests", "version"]
