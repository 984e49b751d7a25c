# SPDX-License-Identifier: GPL-2.0-or-later
"""blktests, the tests of Linux's block layer.  Debian has no package of it."""

from __future__ import annotations

import re
from pathlib import Path

from . import cut
from .suite import BAD, GOOD, HERE, SKIPPED, Form, Row, Suite, short, silent

# The tests that take a device.
PLAIN = (
    *(f"nvme/{n:03d}" for n in (
        *range(32, 38), 39, 46, 49, 50, 53, 59, 66, 67)),
    *(f"block/{n:03d}" for n in (3, 4, 5, 7, 8, 11, 12, 19, 36, 41, 42)),
    "dm/001", "dm/002", "md/003")
METADATA = ("nvme/064", "block/043")
ZONED = tuple(f"zbd/{n:03d}" for n in range(1, 8))
STATUS = re.compile(
    r"^(\S+/\S+)(?: => \S+)?(?: \(tr=(\w+)\))?.*\[(passed|failed|not run)\]$",
    re.M)
# The suite compares versions of the kernel as numbers; Debian's has a "+deb13"
# in its release, which is none.  uname(1) shows it as "-deb13".
PREPARE = """
useradd -m -s /bin/bash suite
release=$(uname -r)
plain=$(uname -r | tr + -)
ln -s config-$release /boot/config-$plain
ln -s $release /lib/modules/$plain
cat > /usr/local/bin/uname <<'END'
#!/bin/sh
/usr/bin/uname "$@" | tr + -
END
chmod +x /usr/local/bin/uname
"""
GROUP = "ssd"
# 512 MiB, with 128 MiB of spare room; a block of each plane is 2 MiB.
SMALL = ("nand.channels=2", "nand.dies=1", "nand.blocks=320",
         "ftl.op_percent=25%")
# So slow that a power cut meets data that is not in NAND yet.
SLOW = ("nand.program=20ms", "nand.read=50us")
# 64 zones of 16 MiB, a superblock each.
ZONES = Form(
    size_mib=1024, sets=(
        "zones.enabled=on", "ftl.alloc=in-order", "buffer.plp=on",
        "ftl.op_percent=0%", "nand.blocks=72", "zones.max_active=14"),
    space={"zoned": True, "zoned.zone_size": 16 << 20,
           "zoned.max_active": 14, "zoned.max_open": 14})
RESULT = {"passed": GOOD, "failed": BAD, "not run": SKIPPED}


def _command(test: str, device: str, seconds: int) -> str:
    config = (f"TEST_DEVS=({device})\\nTIMEOUT={seconds}\\n"
              "NORMAL_USER=suite\\nNVMET_TRTYPES=loop\\n")
    # The program is there if the host can cut the drive's power.
    return HERE + (f"printf '{config}' > config && if [ -x {cut.PROGRAM} ]; then"
                   f" export POWER_CUT_CMD={cut.PROGRAM}; fi;"
                   f" ./check {test} 2>&1")


def _group(folder: Path) -> list[str]:
    """The tests of our group."""
    return sorted(f"{GROUP}/{p.name}" for p in (folder / "tests" / GROUP).iterdir()
                  if p.name.isdecimal())


def _ours(name: str, drive: str, form: Form) -> Suite:
    return Suite(name, f"our tests of the block layer, on a drive with {drive}",
                 "", "check", _group, PREPARE, _command, rows, 1200, form,
                 group="blktests")


def rows(test: str, text: str) -> list[Row]:
    """One row for each condition of a test: the text in [], and the reason."""
    found = list(STATUS.finditer(text))
    made = []
    for at, m in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        said = text[m.end():end]
        row = Row(test + (f" {m[2]}" if m[2] else ""),
                  RESULT[m[3]], detail=said.strip("\n"))
        if row.result == SKIPPED:
            row.reason = short(said)
        elif row.result == BAD:
            news = re.findall(r"^\s+\+(?!\+\+ )(.*)", said, re.M)
            row.reason = short("; ".join(news) or said)
        made.append(row)
    return made or silent(test, text)


SUITES = (
    Suite("blktests", "Linux's block-layer tests", "", "check",
          lambda _folder: list(PLAIN), PREPARE, _command, rows, 1200),
    Suite("blktests-metadata", "the same, of drives with metadata", "",
          "check", lambda _folder: list(METADATA), PREPARE, _command, rows,
          1200, Form(ours={"metadata": 8}, space={"ms": 8})),
    Suite("blktests-zbd", "Linux's tests of zoned devices", "", "check",
          lambda _folder: list(ZONED), PREPARE, _command, rows, 1200,
          ZONES),
    # Each runs all tests of our group, which skip what the drive does not have.
    _ours("blktests-fdp", "FDP", Form(
        size_mib=512, sets=(*SMALL, "fdp.ruhs=4"),
        subsys="nvme-subsys,id=sub0,fdp=on,fdp.nruh=4,fdp.runs=2M,fdp.nrg=1",
        space={"fdp.ruhs": "0-3"})),
    _ours("blktests-streams", "streams and a volatile write cache", Form(
        size_mib=512, sets=(*SMALL, *SLOW, "streams.max=4"))),
    _ours("blktests-plp", "atomic writes of 64 KiB and a protected cache", Form(
        size_mib=512,
        sets=(*SMALL, *SLOW, "buffer.plp=on", "buffer.atomic=64KiB"),
        theirs={"atomic.awun": 127, "atomic.awupf": 127})),
    _ours("blktests-zones", "zones", ZONES),
)
