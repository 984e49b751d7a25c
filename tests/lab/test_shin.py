# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of the figures scatter and buffer: each value of each parameter
that is swept is one that the drive takes, at full size and in a sweep."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from vssd.build import model, venv
from vssd.paths import find_profile
from vssd.sim.run import Point, Runner

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import buffer_input, buffer_runs, scatter_runs  # noqa: E402
from vssd_lab.figures.buffer_input import Input  # noqa: E402
from vssd_lab.figures.figure import Context  # noqa: E402


def refused(profile: str, sets: tuple[str, ...]) -> str:
    """What vssd-sim says of a drive; nothing, if it takes it."""
    args = [a for s in sets for a in ("--set", s)]
    return subprocess.run(
        [model.sim(), "info", "--profile", find_profile(profile), *args],
        capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("part", [1.0, scatter_runs.SWEEP])
def test_drives_of_scatter(part: float) -> None:
    """Of 2560 blocks per plane, and of a tenth."""
    for choice in (scatter_runs.JUDGED, *scatter_runs.choices()):
        sets = scatter_runs.drive(choice, int(scatter_runs.BLOCKS * part))
        assert not refused("shin2018", sets), choice.text()


@pytest.mark.parametrize("part", [1.0, buffer_runs.SWEEP])
def test_drives_of_buffer(part: float) -> None:
    """With the smallest and the largest buffer."""
    one = Input("hm0", "", True, 1000, int(2.5e9 * part), part, Path("none"))
    for choice in (buffer_runs.JUDGED, *buffer_runs.choices()):
        for mib in (32, 1024):
            sets = buffer_runs.sets(one, mib, buffer_runs.SECOND,
                                    buffer_runs.FLUSHED, choice)
            assert not refused("shin2023", sets), choice.text()


def test_a_tenth_is_the_same_run(tmp_path: Path) -> None:
    """A tenth of addresses, requests, buffer and drive: hits within 2 points,
    writes and ratios of means and of writes within 5 %."""
    ctx = Context(Runner(model.sim(), 1), None, tmp_path)
    seen: list[list[float]] = []
    for part, seeds in ((1.0, (1, 2)), (0.1, range(1, 7))):
        results = []
        for seed in seeds:
            one = buffer_input.generate(
                ctx, "hm0", buffer_input.Make(seed, 0.7, part))
            results.append([ctx.runner.one(Point(
                find_profile("shin2023"), trace=one.trace,
                sets=buffer_runs.sets(one, 64, policy, buffer_runs.ONCE,
                                      buffer_runs.JUDGED)))
                            for policy in (buffer_runs.BASE,
                                           buffer_runs.SECOND)])
        hits, means, writes, more = (
            sum(f(*r) for r in results) / len(results) for f in (
                lambda a, b: 100 * a["buffer"]["hits"] / (
                    a["buffer"]["hits"] + a["buffer"]["misses"]),
                lambda a, b: b["latency_ns"]["all"]["mean"]
                / a["latency_ns"]["all"]["mean"],
                lambda a, b: written(b) / written(a),
                lambda a, b: written(a) / a["requests"]))
        seen.append([hits, means, writes, more])
    print(f"# hits, %, means, writes, writes a request: {seen}")
    assert seen[1][0] == pytest.approx(seen[0][0], abs=2)
    assert seen[1][1:] == pytest.approx(seen[0][1:], rel=0.05)


def written(r: dict[str, Any]) -> float:
    """Pages written to NAND, and to be written."""
    return float(r["nand"]["programs"] + r["buffer"]["units_dirty"])


def test_late_flush() -> None:
    """The test of the flush each 30 s changes nothing but the interval."""
    one = Input("mix", "", True, 1000, int(2.5e9), buffer_runs.SWEEP,
                Path("none"))
    of = [buffer_runs.sets(one, 32, buffer_runs.SECOND, buffer_runs.FLUSHED, c)
          for c in (buffer_runs.JUDGED, buffer_runs.LATE_FLUSH)]
    assert set(of[0]) ^ set(of[1]) == {"buffer.flush_interval=3000000us",
                                       "buffer.flush_interval=30000000us"}
    assert not refused("shin2023", of[1])
