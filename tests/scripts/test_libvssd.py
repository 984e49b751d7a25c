# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel of libvssd, built and installed into an environment of its own, and
its tests (lib/python/tests)."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest
from libvssd_wheel import installed, run, wheel

from vssd import origin
from vssd.build import model
from vssd.paths import PROJECT

SAME_AS_SIM = """
import json, sys
from libvssd import Drive, requests

play = json.load(open(sys.argv[1]))
drive = Drive("tiny", block_bytes=512, seed=1)
drive.preload()
drive.reset_stats()
start = drive.now_ns
done = drive.play(requests(**play))
found = drive.stats()
found["mean"] = float((done["complete_ns"] - play["time_ns"]).mean())
print(json.dumps(found))
"""


@pytest.fixture(scope="session", name="python")
def _python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a fresh environment that has the wheel."""
    return installed(tmp_path_factory.mktemp("fresh") / "venv")


def test_wheel() -> None:
    """One for all versions of Python, with library, headers and profiles."""
    path = wheel()
    assert re.fullmatch(rf"libvssd-{re.escape(origin.version())}-py3-none-"
                        r"linux_\w+\.whl", path.name)
    names = set(zipfile.ZipFile(path).namelist())
    assert {"libvssd/libvssd.so.1", "libvssd/vssd.h", "libvssd/drive.py",
            "libvssd/vssd-policy.h",
            "libvssd/profiles/tlc-generic.ini"} <= names
    assert not [n for n in names if n.startswith("vssd")]


def test_in_a_fresh_environment(python: Path) -> None:
    """The package's own tests."""
    said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
               PROJECT / "lib/python/tests")
    assert re.search(r"^\d+ passed", said, re.M), said
    assert "skipped" not in said


def test_same_as_vssd_sim(python: Path, tmp_path: Path) -> None:
    """The same requests, as an array and as a trace."""
    n = 5000
    requests = {"op": [], "lba": [], "nblocks": [], "time_ns": []}
    x = 1
    for i in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        requests["op"].append("write" if x >> 62 else "read")
        requests["lba"].append((x >> 20) % 5000 * 8)
        requests["nblocks"].append(8)
        requests["time_ns"].append(i * 100_000)
    trace = tmp_path / "trace.csv"
    with open(trace, "w", newline="", encoding="ascii") as f:
        rows = csv.writer(f)
        rows.writerow(("time_ns", "op", "sector", "sectors"))
        rows.writerows(zip(requests["time_ns"], requests["op"],
                           requests["lba"], requests["nblocks"]))
    sim = json.loads(run(model.sim(), "replay", trace, "--profile",
                         PROJECT / "profiles/tiny.ini", "--seed", "1",
                         "--json"))
    (tmp_path / "load.json").write_text(json.dumps(requests))
    ours = json.loads(run(python, "-c", SAME_AS_SIM, tmp_path / "load.json"))
    assert sim["requests"] == n
    assert ours["mean"] == pytest.approx(sim["latency_ns"]["all"]["mean"],
                                         rel=1e-12)
    for name in ("waf", "nand", "buffer", "gc", "host_bytes_read",
                 "host_bytes_written"):
        assert ours[name] == sim[name], name
