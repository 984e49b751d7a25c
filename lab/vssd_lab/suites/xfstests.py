# SPDX-License-Identifier: GPL-2.0-or-later
"""xfstests, the tests of Linux's file systems; Debian has no package of it.

The tests shut the file system down and mount it again.  With our files
(guest-tools/suites/xfstests) each shutdown is a power cut of the drive.
"""

from __future__ import annotations

import re

from . import cut
from .blktests import SLOW, SMALL
from .suite import BAD, GOOD, HERE, SKIPPED, Form, Row, Suite, short, silent

# Of the group recoveryloop, those that shut a file system down by src/godown;
# and one that compares what was synchronized before the cut.
TESTS = ("generic/646", "generic/388", "generic/392")
FILE_SYSTEMS = ("xfs", "ext4")
PACKAGES = ("acl", "attr", "bc", "perl", "psmisc")
# Of the drive's SMART log, so that a shutdown without a power cut is seen.
CUTS = r"^power cuts: (\d+)"
PREPARE = """
cat > /usr/local/bin/power-cuts <<'END'
#!/bin/sh
nvme smart-log /dev/nvme[0-9]* | sed -n 's/^unsafe_shutdowns[^0-9]*/power cuts: /p'
END
chmod +x /usr/local/bin/power-cuts
mkdir -p /mnt/test /mnt/scratch
truncate -s 700M /root/test.img
losetup /dev/loop0 /root/test.img
"""


def _command(test: str, device: str, seconds: int) -> str:
    # `check` mounts TEST_DEV as the first section has it, before it formats it.
    fs, name = test.split(":")
    return "umount -q /mnt/test /mnt/scratch; " + HERE + (
        "{ [ -e /dev/mapper/powercut ] || power-cut/setup "
        f"{device} .; }} && mkfs.xfs -qf /dev/loop0"
        f" && export TEST_DEVICE=/dev/loop0 DRIVE={device}"
        f" SOAK_DURATION={seconds} POWER_CUT_CMD={cut.PROGRAM}"
        f" && power-cuts && ./check -s {fs}_powercut {name} 2>&1; power-cuts")


def rows(test: str, text: str) -> list[Row]:
    """The result is in the list at the end: Passed, Not run or Failures.  A
    test that passes without a power cut has tested something else: it fails."""
    name = test.split(":")[1]
    row = Row(test, "", detail=text)
    counts = [int(n) for n in re.findall(CUTS, text, re.M)]
    cuts = f"{counts[-1] - counts[0] if counts else 0} power cuts"
    if re.search(rf"^Failures: .*\b{name}\b", text, re.M):
        row.result = BAD
        said = re.search(rf"^{name}\s.*(?:\n\s.*)*", text, re.M)
        row.reason = short(f"{cuts}; {said[0] if said else text[-300:]}")
    elif m := re.search(rf"^{name}\s.*\[not run\]\s*(.*)", text, re.M):
        row.result, row.reason = SKIPPED, short(m[1])
    elif re.search(r"^Passed all 1 tests", text, re.M):
        row.result, row.reason = BAD if cuts[0] == "0" else GOOD, cuts
    return [row] if row.result else silent(test, text)


SUITES = (
    Suite("xfstests-powercut", "log recovery after power cuts", "", "common/rc",
          lambda _folder: [f"{fs}:{t}" for fs in FILE_SYSTEMS for t in TESTS],
          PREPARE, _command, rows, 3600,
          Form(size_mib=512, sets=(*SMALL, *SLOW)), group="xfstests",
          packages=PACKAGES),
)
