# SPDX-License-Identifier: GPL-2.0-or-later
"""--histograms of ./vssd sim: HdrHistogram's own reader finds the latencies of
the results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from vssd.build import model, venv
from vssd.paths import PROJECT

WORK = "rw=randrw bs=4k iodepth=8 number_ios=20000 fsync=50"
TWO_DIGITS = 0.01


def logged(folder: Path, work: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results of a run, and its histograms by tag."""
    venv.extra("timeline")
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    file = folder / "run.hlog"
    done = subprocess.run(
        [model.sim(), "run", "--json", "--profile",
         PROJECT / "profiles/tiny.ini", "--fill", "random", "--workload", work,
         "--histograms", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reader = HistogramLogReader(str(file), HdrHistogram(1, 1 << 55, 2))
    found = {}
    while (h := reader.get_next_interval_histogram()) is not None:
        assert h.get_tag() not in found
        found[h.get_tag()] = h
    reader.close()
    return json.loads(done.stdout), found


def test_same_latencies(tmp_path: Path) -> None:
    """Counts, and percentiles within two digits."""
    result, found = logged(tmp_path, WORK)
    assert set(found) == {"all", "read", "write", "flush", "trim"}
    for tag, h in found.items():
        of = result["latency_ns"][tag]
        assert h.get_total_count() == of["count"]
        if not of["count"]:
            assert tag == "trim"
            continue
        for key, percent in (("p50", 50), ("p99", 99), ("p999", 99.9),
                             ("p9999", 99.99), ("p99999", 99.999),
                             ("p999999", 99.9999), ("max", 100)):
            assert h.get_value_at_percentile(percent) == pytest.approx(
                of[key], rel=TWO_DIGITS), (tag, key)
        assert h.get_mean_value() == pytest.approx(of["mean"], rel=1 / 64)
        assert h.get_min_value() == pytest.approx(of["min"], rel=1 / 64)


def test_log_lines(tmp_path: Path) -> None:
    """Times in seconds, the largest value in milliseconds."""
    result, _ = logged(tmp_path, WORK)
    line, = (x for x in (tmp_path / "run.hlog").read_text().splitlines()
             if x.startswith("Tag=read,"))
    _, begin, length, largest, _ = line.split(",")
    assert float(begin) == 0
    assert float(length) == pytest.approx(result["sim_ns"] / 1e9, abs=1e-3)
    assert float(largest) == pytest.approx(
        result["latency_ns"]["read"]["max"] / 1e6, abs=1e-6)


def test_sums(tmp_path: Path) -> None:
    """The histogram of all is the sum of the others."""
    _, found = logged(tmp_path, WORK)
    total = found.pop("all")
    read = found.pop("read")
    for h in found.values():
        read.add(h)
    assert read.get_total_count() == total.get_total_count()
    for percent in (1, 25, 50, 75, 90, 99, 99.9, 100):
        assert read.get_value_at_percentile(percent) == \
            total.get_value_at_percentile(percent)
