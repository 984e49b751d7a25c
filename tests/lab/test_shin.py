# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of the figures scatter and buffer: each value of each parameter
that is swept is one that the drive takes, at full size and in a sweep."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vssd.build import model, venv
from vssd.paths import find_profile
from vssd.sim.run import Point, Runner

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import (  # noqa: E402
    buffer_input,
    buffer_runs,
    judge,
    scatter,
    scatter_runs,
    standin,
)
from vssd_lab.figures.buffer_input import Input  # noqa: E402
from vssd_lab.figures.figure import Context  # noqa: E402
from vssd_lab.figures.scatter_runs import JUDGED, SECOND, Choice  # noqa: E402
from vssd_lab.figures.shapes import load  # noqa: E402


def refused(profile: str, sets: tuple[str, ...]) -> str:
    """What vssd-sim says of a drive; nothing, if it takes it."""
    args = [a for s in sets for a in ("--set", s)]
    return subprocess.run(
        [model.sim(), "info", "--profile", find_profile(profile), *args],
        capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("part", [1.0, scatter_runs.SWEEP])
def test_drives_of_scatter(part: float) -> None:
    """Of the judged blocks per plane, and of a sweep's."""
    n = scatter_runs.blocks(SimpleNamespace(scale=1.0), part)
    assert scatter_runs.blocks(SimpleNamespace(scale=1.0), 1.0) == \
        scatter_runs.BLOCKS
    for choice in (JUDGED, SECOND, *scatter_runs.choices()):
        sets = scatter_runs.drive(choice, n)
        assert not refused("shin2018", sets), choice.text()


def test_second_setting_of_scatter() -> None:
    """It differs in tR alone, and so does each hypothesis in it."""
    changed = {"nand.read=500us", "nand.read=50us"}
    for choice in (JUDGED, *scatter_runs.choices()):
        if choice.parameter == "tR":
            continue
        other = Choice(choice.parameter, choice.value, True)
        first, second = (set(scatter_runs.drive(c, 768))
                         for c in (choice, other))
        assert first ^ second == changed
    assert Choice("chip", "dies apart", True).text() == \
        "tR 50 us, chip dies apart"


def test_second_setting_is_totalled_apart() -> None:
    """Its rows are not among those of the first."""
    row = judge.claim("mean", "x", [1.0], 0, None, source="")
    runs = SimpleNamespace(inputs=lambda setting: [])
    panels = [scatter._panel("mean", "", runs, s, [row], None)
              for s in (JUDGED, SECOND)]
    rows = [r for p in panels for r in p.rows]
    assert [r["panel"] for r in rows] == ["mean", "mean (tR 50 us)"]
    assert [judge.totals(rows, s)["claims"] for s in judge.settings(rows)] \
        == [1, 1]


def test_bounded_sizes() -> None:
    """No larger request, and still the table's mean."""
    table = scatter_runs.TABLE["prn0"]
    trace = standin.made("prn0", standin.bounded(load()["prn0"], 128), table,
                         4000, 1)
    for write, sectors in ((False, table.read_sectors),
                           (True, table.write_sectors)):
        mine = trace.nbytes[trace.write == write] / 512
        assert mine.max() <= 128
        assert abs(mine.mean() / sectors - 1) < 0.05


@pytest.mark.parametrize("part", [1.0, 0.1, buffer_input.WEEK, 0.003])
def test_drives_of_buffer(part: float) -> None:
    """With the smallest and the largest buffer."""
    one = Input("hm0", "", True, 1000,
                int(2.5e9 * part) // buffer_input.PAGE * buffer_input.PAGE,
                part, Path("none"))
    for choice in (buffer_runs.JUDGED, *buffer_runs.choices()):
        for mib in (32, 1024):
            sets = buffer_runs.sets(one, mib, buffer_runs.SECOND,
                                    buffer_runs.FLUSHED, choice)
            assert not refused("shin2023", sets), choice.text()


def played(tmp: Path, name: str, scale: float, seed: int, mib: int,
           part: float = 1.0) -> list[dict[str, Any]]:
    """A week of a volume, or its first part, with CFLRU and EF-SC."""
    ctx = Context(Runner(model.sim(), 1), None, tmp)
    make = replace(buffer_runs.make(seed, buffer_runs.JUDGED), part=scale)
    one = buffer_input.kept(ctx, name, buffer_input.volume(
        ctx, name, scale, make, part), scale, make)
    return [ctx.runner.one(Point(
        find_profile("shin2023"), trace=one.trace, sets=buffer_runs.sets(
            one, mib, p, buffer_runs.ONCE, buffer_runs.JUDGED)))
            for p in (buffer_runs.BASE, buffer_runs.SECOND)]


def hits(r: dict[str, Any]) -> float:
    """Hit ratio, %."""
    b = r["buffer"]
    return float(100 * b["hits"] / (b["hits"] + b["misses"]))


def mean_us(r: dict[str, Any]) -> float:
    """Mean response."""
    return float(r["latency_ns"]["all"]["mean"] / 1000)


def test_a_tenth_is_the_same_run(tmp_path: Path) -> None:
    """A tenth of addresses, requests, buffer and drive: hits within 2 points,
    ratios of means and of writes within 5 %, and, since two seeds at full
    scale are few, writes a request within 10 %."""
    seen: list[list[float]] = []
    for scale, seeds in ((1.0, (1, 2)), (0.1, range(1, 7))):
        runs = [played(tmp_path, "hm0", scale, seed, 64, 0.125)
                for seed in seeds]
        seen.append([sum(f(*r) for r in runs) / len(runs) for f in (
            lambda a, b: hits(a), lambda a, b: mean_us(b) / mean_us(a),
            lambda a, b: written(b) / written(a),
            lambda a, b: written(a) / a["requests"])])
    print(f"# hits, %, means, writes, writes a request: {seen}")
    assert seen[1][0] == pytest.approx(seen[0][0], abs=2)
    assert seen[1][1:3] == pytest.approx(seen[0][1:3], rel=0.05)
    assert seen[1][3] == pytest.approx(seen[0][3], rel=0.1)


@pytest.mark.parametrize("name", buffer_input.PINS)
def test_pins(name: str, tmp_path: Path) -> None:
    """CFLRU has the hits that the paper gives, within 3 points; EF-SC has
    more of them, and writes less, where the paper says so: at 64 MiB."""
    for mib, value in buffer_input.PINS[name].items():
        base, second = played(tmp_path, name, buffer_input.WEEK, 2023, mib)
        print(f"# {name}, {mib} MiB: {hits(base):.1f} %, EF-SC"
              f" {hits(second):.1f} %")
        assert hits(base) == pytest.approx(value, abs=3)
        if mib == 64:
            assert hits(second) > hits(base) + 5
            assert written(second) < 0.9 * written(base)


def written(r: dict[str, Any]) -> float:
    """Pages written to NAND, and to be written."""
    return float(r["nand"]["programs"] + r["buffer"]["units_dirty"])


def test_late_flush() -> None:
    """The test of the flush each 30 s changes nothing but the interval."""
    one = Input("mix", "", True, 1000, 305_176 * buffer_input.PAGE, 0.1,
                Path("none"))
    of = [buffer_runs.sets(one, 32, buffer_runs.SECOND, buffer_runs.FLUSHED, c)
          for c in (buffer_runs.JUDGED, buffer_runs.LATE_FLUSH)]
    assert set(of[0]) ^ set(of[1]) == {"buffer.flush_interval=3000000us",
                                       "buffer.flush_interval=30000000us"}
    assert not refused("shin2023", of[1])
