# SPDX-License-Identifier: GPL-2.0-or-later
"""The suites of other projects: their needs in the guest, how one of its
tests is started there, and how to read what it says.

None of their code is part of this project.  The user names a checkout, built
where the suite has programs to build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vssd.errors import UserError

GOOD, BAD, SKIPPED, HUNG = "pass", "fail", "skip", "hang"
HERE = "cd /root/suite && "
REASON_MAX = 160


@dataclass
class Row:
    """The result of one test."""

    name: str
    result: str
    reason: str = ""
    seconds: float = 0.0
    detail: str = ""                # all that the suite said
    complaints: list[str] = field(default_factory=list)
    dead: str = ""                  # why the drive is of no use afterwards


@dataclass(frozen=True)
class Suite:
    """One suite; tests are started one at a time."""

    name: str
    help: str
    part: str                       # of the checkout, that the guest gets
    mark: str                       # a file of it: is this the checkout?
    packages: tuple[str, ...]
    tests: Callable[[Path], list[str]]
    prepare: str                    # once in each guest
    command: Callable[[str, str, int], str]  # test, device, seconds
    rows: Callable[[str, str], list[Row]]    # test, what it said
    limit_s: int                    # for one test
    fdp: bool = False

    def check(self, folder: Path) -> None:
        """UserError unless the folder is a checkout of this suite."""
        if not (folder / self.mark).exists():
            raise UserError(f"--dir {folder}: no checkout of {self.name}: it"
                            f" has no {self.mark}")


def short(text: str) -> str:
    """As one line for a table."""
    line = " ".join(text.split())
    return line if len(line) <= REASON_MAX else line[:REASON_MAX - 3] + "..."


# -- blktests ---------------------------------------------------------------

BLKTESTS = (
    *(f"nvme/{n:03d}" for n in (*range(32, 38), 46, 49, 53, 59, 67)),
    *(f"block/{n:03d}" for n in (3, 4, 5, 7, 8, 11, 12, 19, 42)), "dm/001")
BLKTESTS_STATUS = re.compile(
    r"^(\S+) => \S+(?: \(tr=(\w+)\))?.*\[(passed|failed|not run)\]$", re.M)
# The suite compares versions of the kernel as numbers; Debian's has a "+deb13"
# in its release, which is none.  uname(1) shows it as "-deb13".
BLKTESTS_PREPARE = """
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
BLKTESTS_RESULT = {"passed": GOOD, "failed": BAD, "not run": SKIPPED}


def _blktests_command(test: str, device: str, seconds: int) -> str:
    config = (f"TEST_DEVS=({device})\\nTIMEOUT={seconds}\\n"
              "NORMAL_USER=suite\\nNVMET_TRTYPES=loop\\n")
    return HERE + f"printf '{config}' > config && ./check {test} 2>&1"


def blktests_rows(test: str, text: str) -> list[Row]:
    """One row for each condition of a test: the text in [], and the reason."""
    found = list(BLKTESTS_STATUS.finditer(text))
    rows = []
    for at, m in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        said = text[m.end():end]
        row = Row(test + (f" {m[2]}" if m[2] else ""),
                  BLKTESTS_RESULT[m[3]], detail=said.strip("\n"))
        if row.result == SKIPPED:
            row.reason = short(said)
        elif row.result == BAD:
            news = re.findall(r"^\s+\+(?!\+\+ )(.*)", said, re.M)
            row.reason = short("; ".join(news) or said)
        rows.append(row)
    return rows or [Row(test, BAD, short("no result: " + text[-300:]),
                        detail=text)]


# -- nvme-cli ---------------------------------------------------------------

# The suite asks nvme whether it has "id ctrl" or, before version 3, "id-ctrl",
# and reads the answer from stderr; version 2 gives it on stdout.  It also uses
# two commands that version 2 does not have under this name, or at all: of Host
# Behavior Support (feature 16h) it reads and writes byte 4, which enables the
# formats 2h to 4h of Copy.
NVME_CLI_PREPARE = r"""
cat > /usr/local/bin/nvme-2 <<'END'
#!/bin/sh
host_behavior() {
    data=$(mktemp)
    nvme get-feature "$1" -f 0x16 -l 512 -b > "$data" || return
    case ${2:-} in
    --cdfe=*)
        printf "\\$(printf %o "${2#*=}")" |
            dd of="$data" bs=1 seek=4 conv=notrunc 2>/dev/null
        nvme set-feature "$1" -f 0x16 -l 512 -d "$data" ;;
    *)
        od -An -tu1 -j4 -N1 "$data" | awk '{
            printf "{\"Feature: 0x16\": [{"
            for (i = 2; i <= 4; i++)
                printf("%s\"Copy Descriptor Format %dh Enable (CDF%dE)\":" \
                       " \"%s\"", (i > 2 ? ", " : ""), i, i,
                       (int($1 / 2 ^ i) % 2 ? "True" : "False"))
            print "}]}" }' ;;
    esac
}
case "$1 $2" in
"id "* | "log "*) echo "Invalid sub-command $1" >&2; exit 1 ;;
"ns get-id") shift 2; set -- get-ns-id "$@" ;;
"feat host-behavior-support") shift 2; host_behavior "$@"; exit ;;
esac
exec nvme "$@"
END
chmod +x /usr/local/bin/nvme-2
"""


def _nvme_cli_tests(folder: Path) -> list[str]:
    return sorted(p.stem for p in (folder / "tests/e2e").glob("nvme_*_test.py")
                  if "template" not in p.name)


def _nvme_cli_command(test: str, device: str, _seconds: int) -> str:
    ctrl = re.sub(r"n\d+$", "", device)
    return (HERE + f"rm -f r.json; python3 tests/nvme-cli-e2e --controller"
            f" {ctrl} --ns1 {device} --plugins none --json-report r.json"
            " $(nvme id ctrl 2>&1 | grep -q Invalid && echo --nvme-bin nvme-2)"
            f" --log-dir /root/logs {test} > log 2>&1; cat r.json ||"
            " { tail -c 2000 log; exit 1; }")


def nvme_cli_rows(test: str, text: str) -> list[Row]:
    """One row for each method; the last line of its traceback is the reason."""
    try:
        found = json.loads(text)["tests"]
    except (ValueError, KeyError):
        return [Row(test, BAD, short("no report: " + text[-300:]),
                    detail=text)]
    rows = []
    for one in found:
        said = one.get("message") or ""
        lines = [x for x in said.strip().splitlines() if x.strip()]
        rows.append(Row(
            f"{test}.{one['name']}",
            {"pass": GOOD, "skip": SKIPPED}.get(one["outcome"], BAD),
            short(lines[-1]) if lines else "", one.get("duration_s") or 0,
            said))
    return rows


# -- fio --------------------------------------------------------------------

FIO_LINE = re.compile(r"^Test (\d+) (PASSED|FAILED|SKIPPED)(.*)", re.M)


def _fio_command(_test: str, device: str, _seconds: int) -> str:
    # The script counts in blocks of 4096 bytes; with smaller ones, its own
    # figures hold when each write is one block.
    char = device.replace("/dev/nvme", "/dev/ng")
    return (HERE + "cd t && bytes=$(blockdev --getss " + device + ") &&"
            " sed -i 's/\"bs\": [0-9]*,/\"bs\": '$bytes',/' nvmept_fdp.py &&"
            f" rm -rf out && python3 -u nvmept_fdp.py --dut {char} -f"
            " $(command -v fio) -a out 2>&1")


def fio_rows(test: str, text: str) -> list[Row]:
    """One row for each numbered test; the lines before it name the fault."""
    rows, at = [], 0
    for m in FIO_LINE.finditer(text):
        said = re.sub(r"^(?:Artifact directory|fio path) is .*\n", "",
                      text[at:m.start()].lstrip(), flags=re.M).strip()
        at = m.end()
        result = {"PASSED": GOOD, "FAILED": BAD, "SKIPPED": SKIPPED}[m[2]]
        rows.append(Row(f"{test} {m[1]}", result, "" if result == GOOD
                        else short(said or m[3]), detail=said))
    return rows or [Row(test, BAD, short("no result: " + text[-300:]),
                        detail=text)]


# -- all --------------------------------------------------------------------

SUITES = {s.name: s for s in (
    Suite("blktests", "Linux's block-layer tests", "", "check",
          ("gawk", "pciutils", "dmsetup", "bsdextrautils", "sudo"),
          lambda _folder: list(BLKTESTS),
          BLKTESTS_PREPARE, _blktests_command, blktests_rows,
          1200),
    Suite("nvme-cli", "nvme-cli's end-to-end tests", "tests",
          "tests/nvme-cli-e2e", ("python3",), _nvme_cli_tests, NVME_CLI_PREPARE,
          _nvme_cli_command, nvme_cli_rows, 900),
    Suite("fio-fdp", "fio's test of FDP, t/nvmept_fdp.py", "t",
          "t/nvmept_fdp.py", ("python3", "sudo"), lambda _folder: ["fdp"],
          "true", _fio_command, fio_rows, 3000, fdp=True),
)}
