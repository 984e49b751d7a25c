# SPDX-License-Identifier: GPL-2.0-or-later
"""--timeline of ./vssd sim: a Perfetto trace that tells the same as the
statistics, within its bounds, and changes no result."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from timeline_file import Timeline, read

from vssd.build import model
from vssd.paths import PROJECT

WORK = "rw=randrw bs=4k iodepth=8 number_ios=4000 fsync=50"
HOST = {"read", "write", "flush"}
WALL = {"wall_s", "requests_per_s_wall", "cpu_s", "requests_per_s_cpu",
        "peak_rss_bytes"}
RING = 1 << 20
MIN_RECORD_BYTES = 64  # in memory


def sim(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(model.sim()), *map(str, args)],
                          capture_output=True, text=True, check=False)


def run(*more: object, fill: str = "random", work: str = WORK) -> dict[str, Any]:
    """A run; its results."""
    done = sim("run", "--json", "--profile", PROJECT / "profiles/tiny.ini",
               "--fill", fill, "--workload", work, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def run_timed(folder: Path, *more: object, **kinds: str) \
        -> tuple[dict[str, Any], Timeline]:
    file = folder / "run.pftrace"
    result = run("--timeline", file, *more, **kinds)
    return result, read(file)


def busy(t: Timeline, group: str) -> list[int]:
    """Sum of the slices by track."""
    ns: dict[tuple[str, ...], int] = defaultdict(int)
    for s in t.of(group):
        ns[s.path] += s.end - s.begin
    return [ns[path] for path in sorted(ns)]


def test_tells_the_same(tmp_path: Path) -> None:
    """As the statistics of the same time."""
    result, t = run_timed(tmp_path)
    host = t.names("host commands")
    assert {name: n for (_, name), n in host.items()} == {
        op: result["latency_ns"][op]["count"] for op in HOST}
    cells = t.names("dies")
    for cause, counts in result["nand"]["by_cause"].items():
        for name, key in (("read page", "reads"), ("program", "programs"),
                          ("erase", "erases")):
            # Those that wait or run at either end are in one of the two.
            assert abs(cells[cause, name] - counts[key]) <= 16, (cause, name)
    n = t.names("garbage collection")["gc", "collect block"]
    assert abs(n - result["gc"]["victims"]) <= 16 and n > 80
    assert t.counts["free blocks"][-1][1] == result["gc"]["free_blocks"]
    assert t.units == {"free blocks": "blocks", "write buffer": "units"}
    assert t.counts["write buffer"][-1][1] == result["buffer"]["units_dirty"]
    assert not t.instants


def test_time_adds_up(tmp_path: Path) -> None:
    """Of planes and channels to their busy time; of a command's parts to its
    latency."""
    result, t = run_timed(
        tmp_path, fill="preload",
        work="rw=randread bs=4k iodepth=8 number_ios=4000")
    ns = result["nand"]["busy_ns"]
    for kind, group in (("plane", "dies"), ("channel", "channels")):
        found = busy(t, group)
        assert len(found) == len(ns[kind])
        for one, other in zip(found, ns[kind]):
            assert one == pytest.approx(other, abs=len(t.of(group)))
    for s in t.of("host commands"):
        parts = [v for k, v in s.args.items() if k.endswith("_ns")]
        assert s.end - s.begin == pytest.approx(sum(parts), abs=len(parts) + 1)
        assert len(parts) >= 3
    p99 = sorted(s.end - s.begin for s in t.of("host commands"))[3960]
    assert p99 == pytest.approx(result["latency_ns"]["read"]["p99"], rel=1 / 64)


def test_commands_and_their_reads(tmp_path: Path) -> None:
    """A page is read for a command while that runs."""
    _, t = run_timed(tmp_path)
    command = {s.args["command"]: s for s in t.of("host commands")}
    seen = 0
    for s in t.of("dies"):
        if s.name == "read page" and s.args.get("command") in command:
            of = command[s.args["command"]]
            assert of.name == "read"
            assert of.begin <= s.begin and s.end <= of.end
            seen += 1
    assert seen > 1500


def test_changes_nothing(tmp_path: Path) -> None:
    """Results are the same, and so is the file of the same run."""
    without = run()
    result, _ = run_timed(tmp_path)
    for key in WALL:
        without.pop(key), result.pop(key)
    assert result == without
    first = (tmp_path / "run.pftrace").read_bytes()
    run_timed(tmp_path)
    assert (tmp_path / "run.pftrace").read_bytes() == first


def test_window(tmp_path: Path) -> None:
    """Only what touches it."""
    _, whole = run_timed(tmp_path)
    _, t = run_timed(tmp_path, "--timeline-from", "100ms", "--timeline-for",
                     "50ms")
    begin, end = 100_000_000, 150_000_000
    expected = [s for s in whole.slices if s.end >= begin and s.begin < end]
    assert len(t.slices) == len(expected) > 1000
    assert {(s.name, s.begin, s.end) for s in t.slices} == {
        (s.name, s.begin, s.end) for s in expected}


def test_ring(tmp_path: Path) -> None:
    """The newest events, in the memory that is allowed."""
    _, whole = run_timed(tmp_path, work=WORK.replace("4000", "20000"))
    _, t = run_timed(tmp_path, "--timeline-size", RING,
                     work=WORK.replace("4000", "20000"))
    kept = len(t.slices) + sum(map(len, t.counts.values()))
    of = len(whole.slices) + sum(map(len, whole.counts.values()))
    assert 2000 < kept < RING / MIN_RECORD_BYTES < of
    dropped, = t.instants
    assert dropped.name == "earlier events dropped"
    assert dropped.args["events"] == of - kept
    assert min(s.end for s in t.slices) >= dropped.begin
    assert max(s.end for s in t.slices) == max(s.end for s in whole.slices)
    assert (tmp_path / "run.pftrace").stat().st_size < 3 * RING


@pytest.mark.parametrize("args, message", [
    (["--timeline", "/nowhere/x"], "--timeline /nowhere/x: No such file"),
    (["--timeline-for", "1s"], "--timeline-for needs --timeline"),
    (["--timeline", "t", "--timeline-from", "5"],
     "--timeline-from=5: allowed with a unit"),
    (["--timeline", "t", "--timeline-size", "1"],
     "--timeline-size=1: allowed 1MiB..16GiB"),
    (["--timeline", "t", "--oplog", "o"],
     "not together with an operation log"),
])
def test_refused(tmp_path: Path, args: list[str], message: str,
                 monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    program = model.sim()
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [program, "run", "--profile", PROJECT / "profiles/tiny.ini",
         "--workload", "rw=read number_ios=1", *args],
        capture_output=True, text=True, check=False)
    assert done.returncode != 0 and not done.stdout
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
