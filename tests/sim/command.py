# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the vssd-sim command share: how it is run."""

import json
import os
import pathlib
import subprocess

SIM = os.environ["VSSD_SIM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
TRACE = ROOT / "tests/sim/small-msr.csv"
TINY = ROOT / "profiles/tiny.ini"

# Members that depend on the machine and not on the model.
OF_THE_MACHINE = ("wall_s", "requests_per_s_wall", "cpu_s",
                  "requests_per_s_cpu", "peak_rss_bytes")


def run(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SIM, *map(str, args)], capture_output=True,
                          text=True, errors="replace", timeout=600, check=False,
                          stdin=subprocess.DEVNULL)  # output may be binary


def no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return dict(pairs)


def result(command: str, *args: object) -> dict:
    done = run(command, "--json", *args)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout, object_pairs_hook=no_repeats)
