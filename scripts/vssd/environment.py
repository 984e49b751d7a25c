# SPDX-License-Identifier: GPL-2.0-or-later
"""Every variable of the environment that vssd and its tests read.

tests/scripts/test_command_line.py compares the table with the sources, and
docs/command-line.md with the table.
"""

from __future__ import annotations

# Of users.
VARIABLES = {
    "VSSD_CACHE": "directory of all that vssd makes; default:"
                  " XDG_CACHE_HOME/vssd, else ~/.cache/vssd",
    "VSSD_SHARED_CACHE": "cache of another user, which is only read",
    "VSSD_NO_PACKAGES": "if set, no Debian package is installed",
    "VSSD_DEBUG": "if set, an error of the system shows its Python traceback",
}

# Of the commands of ./vssd powercut campaign (docs/powercut-campaign.md), which
# get them.
CAMPAIGN_VARIABLES = ("VSSD_DEVICE", "VSSD_FILES", "VSSD_NOTES")

# Of people who run single tests; ./vssd test sets most of them.
TEST_VARIABLES = {
    "VSSD_BENCH_NAND": "path of vssd-bench-nand",
    "VSSD_BLKTESTS": "checkout of blktests, for the tests of our group",
    "VSSD_BUILD": "build directory of meson",
    "VSSD_CASE": "seed of the one broken client of a test",
    "VSSD_CUTS": "number of power cuts of a test",
    "VSSD_FUZZ_INPUTS": "number of damaged inputs of a test",
    "VSSD_KEEP": "where tests of saved states write new ones",
    "VSSD_LIB": "path of libvssd",
    "VSSD_LIB_LAYOUT": "path of the program that prints layouts",
    "VSSD_LINES": "file descriptor for the results of single tests",
    "VSSD_LONG": "if set, long forms of tests",
    "VSSD_OPS": "number of operations of each seed of a test",
    "VSSD_OPLOG_CHECK": "path of vssd-oplog-check",
    "VSSD_PASSES": "directory of the passes of tests that are long",
    "VSSD_POLICIES": "directory of policies that are shared objects",
    "VSSD_PROFILES": "directory of the shipped profiles",
    "VSSD_QEMU": "path of QEMU's emulator with the device",
    "VSSD_QEMU_IMG": "path of qemu-img",
    "VSSD_QEMU_TSAN": "path of the emulator with the thread sanitizer",
    "VSSD_RESULTS_ROWS": "path of the program that lists all results",
    "VSSD_ROOT": "directory of the sources",
    "VSSD_RUNS": "directory of the guests of ./vssd run that tests start",
    "VSSD_SANITIZE": "sanitizers of the build",
    "VSSD_SERVER": "path of vssd-server",
    "VSSD_SEED": "seed of the damaged inputs of a test",
    "VSSD_SEEDS": "number of seeds of a test",
    "VSSD_SIM": "path of vssd-sim",
    "VSSD_SWARM": "path of the program that drives many configurations",
    "VSSD_TEST_DATA": "directory of the traces of tests",
    "VSSD_TRACES": "directory with volumes of MSR Cambridge to play",
    "VSSD_WRITE_DOCS": "if set, tests write the pages that they would compare",
}
