# SPDX-License-Identifier: GPL-2.0-or-later
"""nvme-cli's tests of a drive."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .suite import BAD, GOOD, HERE, SKIPPED, Form, Row, Suite, short, silent

# The suite asks nvme whether it has "id ctrl" or, before version 3, "id-ctrl",
# and reads the answer from stderr; version 2 gives it on stdout.  It also uses
# commands that version 2 does not have under this name, or at all: those of
# "ns", and of Host Behavior Support (feature 16h) it reads and writes byte 4,
# which enables the formats 2h to 4h of Copy.
PREPARE = r"""
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
# Version 2 names the new namespace in a sentence.
create() {
    said=$(nvme create-ns "$@") || { status=$?; echo "$said"; return $status; }
    echo "$said" | sed -n 's/.*nsid: *\([0-9]*\).*/{"nsid": \1}/p'
}
case "$1 $2" in
"id "* | "log "*) echo "Invalid sub-command $1" >&2; exit 1 ;;
"ns get-id") shift 2; set -- get-ns-id "$@" ;;
"ns create") shift 2; create "$@"; exit ;;
"ns attach" | "ns detach" | "ns delete") word=$2-ns; shift 2; set -- $word "$@" ;;
"feat host-behavior-support") shift 2; host_behavior "$@"; exit ;;
esac
exec nvme "$@"
END
chmod +x /usr/local/bin/nvme-2
"""

# Version 2 has no runner of its own but unittest's; this one reports as that of
# version 3 does.
UNITTEST = r"""
import json, sys, unittest

class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.said = {}

    def note(self, test, outcome, message=""):
        self.said[test.id()] = {"name": test.id().split(".")[-1],
                                "outcome": outcome, "message": message}

    def addSuccess(self, test):
        self.note(test, "pass")

    def addSkip(self, test, reason):
        self.note(test, "skip", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "fail", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error", self.errors[-1][1])

sys.path.insert(0, "tests")
result = Result()
unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]).run(result)
json.dump({"tests": list(result.said.values())}, open("r.json", "w"))
"""


def _has_e2e(folder: Path) -> bool:
    return (folder / "tests/nvme-cli-e2e").exists()


def _tests(folder: Path) -> list[str]:
    place = folder / ("tests/e2e" if _has_e2e(folder) else "tests")
    return sorted(p.stem for p in place.glob("nvme_*_test.py")
                  if "template" not in p.name)


def _command(test: str, device: str, seconds: int) -> str:
    return (f"test -e /root/suite/tests/nvme-cli-e2e && {{"
            f" {_e2e_command(test, device, seconds)}; }} ||"
            f" {{ {_unittest_command(test, device)}; }}")


def _unittest_command(test: str, device: str) -> str:
    ctrl = re.sub(r"n\d+$", "", device)
    config = json.dumps({"controller": ctrl, "ns1": device,
                         "log_dir": "/root/logs/"})
    return (HERE + f"echo '{config}' > tests/config.json; rm -f r.json;"
            f" python3 /root/report.py {test} > log 2>&1; cat r.json ||"
            " { tail -c 2000 log; exit 1; }")


def _e2e_command(test: str, device: str, _seconds: int) -> str:
    ctrl = re.sub(r"n\d+$", "", device)
    return (HERE + f"rm -f r.json; python3 tests/nvme-cli-e2e --controller"
            f" {ctrl} --ns1 {device} --plugins none --json-report r.json"
            " $(nvme id ctrl 2>&1 | grep -q Invalid && echo --nvme-bin nvme-2)"
            f" --log-dir /root/logs {test} > log 2>&1; cat r.json ||"
            " { tail -c 2000 log; exit 1; }")


def rows(test: str, text: str) -> list[Row]:
    """One row for each method; the last line of its traceback is the reason."""
    try:
        found = json.loads(text)["tests"]
    except (ValueError, KeyError):
        return silent(test, text)
    made = []
    for one in found:
        said = one.get("message") or ""
        lines = [x for x in said.strip().splitlines() if x.strip()]
        made.append(Row(
            f"{test}.{one['name']}",
            {"pass": GOOD, "skip": SKIPPED}.get(one["outcome"], BAD),
            short(lines[-1]) if lines else "", one.get("duration_s") or 0,
            said))
    return made


SUITES = (
    # A drive whose formats have metadata and guards of 16 and 64 bits, and
    # whose namespaces the host manages.
    Suite("nvme-cli", "nvme-cli's tests of a drive", "tests",
          "tests/nvme_test.py", _tests,
          PREPARE + "cat > /root/report.py <<'END'" + UNITTEST + "END\n",
          _command, rows, 3600,
          Form(1024, ours={"namespaces": "1:512", "metadata": 8},
               subsys="nvme-subsys,id=sub0"), "nvme-cli"),
)
