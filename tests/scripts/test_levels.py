# SPDX-License-Identifier: GPL-2.0-or-later
"""Levels of detail of a run's commands: against the statistics of the same run,
and against sorted lists."""

from __future__ import annotations

import json
import random
import subprocess
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.watch import levels

venv.extra("watch")
HEAD = ("n,op,offset,bytes,arrival_ns,submit_ns,complete_ns,latency_ns,status,"
        "queue_ns,firmware_ns,map_ns")


def write(path: Path, commands: list[tuple[str, int, int]]) -> Path:
    """A file of --csv: kind, completion, latency of each."""
    rows = (f"{n},{op},{4096 * n},4096,{at - ns},{at},{at},{ns},ok,{ns},0,0"
            for n, (op, at, ns) in enumerate(commands))
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def drawn(count: int, span_ns: int) -> list[tuple[str, int, int]]:
    """Commands in the order of completion, with latencies of six decades."""
    rng = random.Random(1)
    return [(rng.choice(("read", "write")), at,
             int(10 ** rng.uniform(0.5, 6.5)))
            for at in sorted(rng.randrange(span_ns) for _ in range(count))]


def test_bins_are_those_of_sorted_lists(tmp_path: Path) -> None:
    """Each level, each bin: count, least, mean and longest exactly; percentiles
    by nearest rank, less than 1/64 above the true one."""
    commands = drawn(60_000, 10**9)
    found = levels.read(write(tmp_path / "a.csv", commands)).json()
    widths = [level["width_ns"] for level in found["levels"]]
    assert widths == [1 << 16, 1 << 18, 1 << 20, 1 << 22]
    for level in found["levels"]:
        true = defaultdict(list)
        for op, at, ns in commands:
            true[op, at // level["width_ns"]].append(ns)
        for op, have in level["kinds"].items():
            bins = sorted(b for o, b in true if o == op)
            assert have["bin"] == bins
            for i, b in enumerate(bins):
                some = sorted(true[op, b])
                n = len(some)
                assert (have["count"][i], have["min"][i], have["max"][i]) == (
                    n, some[0], some[-1])
                assert have["mean"][i] == pytest.approx(sum(some) / n, abs=0.06)
                for name, percent in (("p50", 50), ("p99", 99)):
                    exact = some[(n * percent + 99) // 100 - 1]
                    assert exact <= have[name][i] <= exact * (1 + 1 / 64)


def test_the_slowest_are_exact(tmp_path: Path) -> None:
    """The slowest first, the earlier first of equal ones, with their parts."""
    commands = [("read", 1000 * i, 500 + i % 100) for i in range(1, 1001)]
    found = levels.read(write(tmp_path / "a.csv", commands)).json()["slowest"]
    wanted = sorted(range(1000), key=lambda i: (-commands[i][2], i))[:64]
    assert [one["number"] for one in found] == wanted
    first = found[0]
    assert (first["latency"], first["offset"]) == (599, 4096 * wanted[0])
    assert first["costs"] == [["queue", 599], ["firmware", 0], ["map", 0]]


def test_a_run_has_the_same_numbers(tmp_path: Path) -> None:
    """Count, extremes and percentiles of the levels' distribution are those of
    latency_ns, which vssd-sim counts itself."""
    done = subprocess.run(
        [str(PROJECT / "vssd"), "sim", "run", "--profile", "tiny", "--workload",
         "rw=randrw bs=4k iodepth=8 number_ios=12000", "--csv",
         str(tmp_path / "a.csv"), "--json"], capture_output=True, text=True,
        check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    found = levels.read(tmp_path / "a.csv").json()
    for op in ("read", "write"):
        true = result["latency_ns"][op]
        have = found["distribution"][op]
        assert sum(have["count"]) == true["count"]
        for name, percent in (("p50", 50), ("p99", 99), ("max", 100)):
            left = (true["count"] * percent + 99) // 100
            for ns, count in zip(have["ns"], have["count"]):
                left -= count
                if left <= 0:
                    assert ns == true[name]
                    break
    assert found["slowest"][0]["latency"] == result["latency_ns"]["all"]["max"]
    assert sum(c for _, c in found["slowest"][0]["costs"]) \
        == found["slowest"][0]["latency"]


def test_memory_is_bounded(tmp_path: Path,
                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many commands over four times the time take no more."""
    for name, size in (("BINS", 256), ("CHUNK", 1 << 10), ("PENDING", 1 << 11)):
        monkeypatch.setattr(levels, name, size)

    def peak(count: int) -> int:
        path = write(tmp_path / "a.csv", [
            ("write", 20_000 * i, 4671) for i in range(count)])
        tracemalloc.start()
        levels.read(path).json()
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(24_000) < 1.2 * peak(6_000)


@pytest.mark.parametrize("text, says", [
    ("", "or cut short"), ("a,b\n1,2\n", "or cut short"),
    (HEAD + "\n", "no command in it"),
    (HEAD + "\n0,read,0,4096,0,0,10", "or cut short"),
    (HEAD + "\n0,read,0,4096,0,0,x,10,ok,1,2,3\n", "or cut short"),
    (HEAD + "\n0,read,0,4096,0,0,-1,10,ok,1,2,3\n", "or cut short"),
    (HEAD + "\n0,read,0,4096,0,0,1,10,ok,1,2\n", "or cut short"),
    (HEAD + f"\n0,read,0,4096,0,0,{1 << 80},10,ok,1,2,3\n", "or cut short")],
    ids=("nothing", "others", "head", "cut", "word", "past", "part", "large"))
def test_damaged(tmp_path: Path, text: str, says: str) -> None:
    """One line that names the file."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(UserError) as e:
        levels.read(path)
    assert str(e.value).startswith(f"{path}: ") and says in str(e.value)
    assert "\n" not in str(e.value)
