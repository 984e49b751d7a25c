# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's scripts that test an NVMe drive."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

from .suite import BAD, GOOD, HERE, SKIPPED, Form, Row, Suite, short, silent

LINE = re.compile(r"^Test (\d+) (PASSED|FAILED|SKIPPED)(.*)", re.M)
FORMAT = re.compile(
    r"^lbaf: .*'lbaf': (\d+).*?, pil: (\d), pitype: (\d), elba: (\d)$", re.M)
# A reclaim unit of 2 MiB: the script writes one to its end, several times.
FDP_SETS = ("nand.channels=2", "nand.dies=1", "fdp.ruhs=8",
            "ftl.op_percent=40%")
FDP_HANDLES = 8
PI_IOS = 128    # of the script's 8192 for each test: an emulated guest is slow
# That either device has, with and without metadata.  vssd's formats 8 and 9 have
# storage tags, which fio refuses.
PI_FORMATS = range(1, 8)
NO_FORMAT = re.compile(r"has metadata size zero|IndexError: list index")


def _script(name: str, edit: str = "") -> Callable[[str, str, int], str]:
    def command(_test: str, device: str, _seconds: int) -> str:
        char = device.replace("/dev/nvme", "/dev/ng")
        change = edit.format(dev=device)
        return (HERE + f"cd t && {change}rm -rf out && python3 -u {name}.py"
                f" --dut {char} -f $(command -v fio) -a out 2>&1")
    return command


def _pi_tests(_folder: Path) -> list[str]:
    """pi-FORMAT-PLACE-TYPE-EXTENDED.  Each seven of them have all formats, in
    seven of the twelve forms, so that a run that is stopped has seen many."""
    kinds = list(itertools.product((0, 1), (1, 2, 3), (0, 1)))
    return [f"pi-{lbaf}-{pil}-{kind}-{elba}" for turn in range(len(kinds))
            for lbaf in PI_FORMATS
            for pil, kind, elba in [kinds[(turn + 5 * lbaf) % len(kinds)]]]


def _pi(test: str, device: str, seconds: int) -> str:
    """One form of one LBA format, so that a slow guest has results soon.  The
    drive gets format 0 again: of blocks with metadata in them Linux shows a
    capacity of 0, unless all of the metadata is protection information."""
    lbaf, pil, kind, elba = test.split("-")[1:]
    edit = (f"sed -i -e 's/^NUMBER_IOS = .*/NUMBER_IOS = {PI_IOS}/' -e"
            f" 's/^    caps = [gd].*/    caps = dict(pil=[{pil}],"
            f" pitype=[{kind}], elba=[{elba}])/' nvmept_pi.py && ")
    return (_script("nvmept_pi", edit)(test, device, seconds)
            + f" --lbaf {lbaf}; nvme format {device} -l 0 --force > /dev/null")


def _pi_rows(test: str, text: str) -> list[Row]:
    """A format without metadata, or none of that number, has nothing to test."""
    if NO_FORMAT.search(text):
        return [Row(test, SKIPPED, "no format with metadata")]
    return rows(test, text)


def rows(test: str, text: str) -> list[Row]:
    """One row for each numbered test; the lines before it name the fault."""
    made, at, form = [], 0, ""
    for m in LINE.finditer(text):
        said = re.sub(r"^(?:Artifact directory|fio path) is .*\n", "",
                      text[at:m.start()].lstrip(), flags=re.M).strip()
        at = m.end()
        if found := FORMAT.search(said):    # of nvmept_pi.py
            form = " lbaf {} pil {} pi {} elba {}".format(*found.groups())
        result = {"PASSED": GOOD, "FAILED": BAD, "SKIPPED": SKIPPED}[m[2]]
        made.append(Row(f"{test}{form} {m[1]}", result, "" if result == GOOD
                        else short(said or m[3]), detail=said))
    return made or silent(test, text)


def _suite(name: str, help_text: str, script: str, form: Form,
           edit: str = "") -> Suite:
    return Suite(f"fio-{name}", f"fio's test of {help_text}, t/{script}.py",
                 "t", f"t/{script}.py", lambda _folder: [name], "true",
                 _script(script, edit), rows, 3000, form, "fio")


SUITES = (
    _suite("modes", "pass-through commands and write modes", "nvmept",
           Form(512)),
    _suite("trim", "Dataset Management with many ranges", "nvmept_trim",
           Form(512)),
    _suite("streams", "the Streams directive", "nvmept_streams",
           Form(512, sets=("streams.max=16", "ftl.op_percent=40%",
                           "nand.channels=2", "nand.dies=1")),
           # The script expects the directive to be enabled.
           "nvme dir-send -D 0 -O 1 -e 1 -T 1 {dev}; "),
    # The script counts in blocks of 4096 bytes; with smaller ones, its own
    # figures hold when each write is one block.
    _suite("fdp", "FDP", "nvmept_fdp", Form(
        512, FDP_SETS,
        subsys="nvme-subsys,id=sub0,fdp=on,fdp.runs=2M,fdp.nrg=1,"
        f"fdp.nruh={FDP_HANDLES}", space={"fdp.ruhs": f"0-{FDP_HANDLES - 1}"}),
        "bytes=$(blockdev --getss {dev}) && sed -i"
        " 's/\"bs\": [0-9]*,/\"bs\": '$bytes',/' nvmept_fdp.py && "),
    Suite("fio-pi", "fio's test of protection information, t/nvmept_pi.py",
          "t", "t/nvmept_pi.py",
          _pi_tests, "true", _pi, _pi_rows, 3000,
          Form(512, ours={"namespaces": "1:512", "metadata": 8}), "fio"),
)
