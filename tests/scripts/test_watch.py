# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of statistics that ./vssd stat, top and metrics use, and what they
make of results of vssd-sim."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import Any

import pytest

from vssd.paths import PROJECT
from vssd.watch import members, metrics, stat, top

DASHBOARD = PROJECT / "docs/grafana/vssd.json"


def expressions(node: Any) -> list[str]:
    """The queries of a dashboard."""
    if isinstance(node, dict):
        return [v for k, v in node.items()
                if k in ("expr", "query", "definition") and isinstance(v, str)
                ] + [x for v in node.values() for x in expressions(v)]
    return [x for v in node for x in expressions(v)] \
        if isinstance(node, list) else []


def test_dashboard_uses_metrics_that_exist() -> None:
    """Every name of docs/grafana is a sample of the exporter."""
    queries = expressions(json.loads(DASHBOARD.read_text()))
    used = {n for q in queries for n in re.findall(r"\bvssd_\w+", q)}
    assert len(used) > 25
    assert used - metrics.names() == set()


def test_labels_of_the_dashboard() -> None:
    """Each label that it shows or selects is one of the metrics beside it."""
    rows = {metrics.metric(r).sample: r for r in members.table().values()}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            name = re.findall(r"\bvssd_\w+", target["expr"])[0]
            have = {"run", "drive"}
            if name in rows:
                have |= set(re.findall(r"[<\[](\w+)[>\]]", rows[name].path))
                have |= {"value"} if "string" in rows[name].types else set()
            text = target["legendFormat"] + target["expr"].replace("$", "")
            used = set(re.findall(r"\{\{(\w+)\}\}|(\w+)=~?\"", text))
            assert {a or b for a, b in used} <= have, panel["title"]


def test_names_of_metrics() -> None:
    """Of Prometheus' alphabet, in its base units, one for each row."""
    rows = {r.path: r for r in members.table().values() if not r.course}
    found = [metrics.metric(r) for r in rows.values()]
    assert len({m.sample for m in found}) == len(found)
    assert all(re.fullmatch(r"vssd_[a-z0-9_]+", m.sample) for m in found)
    by_path = {p: metrics.metric(r) for p, r in rows.items()}
    one = by_path["nand.busy_ns.die[die]"]
    assert one.sample == "vssd_nand_busy_die_seconds_total"
    assert one.factor == 1e-9
    assert by_path["media.spare_percent"].sample == "vssd_media_spare_ratio"
    assert by_path["latency_ns.<op>.p99"].sample == "vssd_latency_p99_seconds"


@pytest.mark.parametrize("place, pattern, selects", [
    ("gc.victims", "gc", True), ("gc.victims", "gc.victims", True),
    ("gc.victims", "gc.v", False), ("gc.victims", "g*s", True),
    ("gc.full_blocks_by_valid[3]", "gc.full_blocks_by_valid", True),
    ("nand.busy_ns.die[3]", "nand.busy_ns.die[3]", True),
    ("nand.busy_ns.die[13]", "nand.busy_ns.die[3]", False),
    ("streams[0].waf", "streams[*].waf", True),
    ("streams_merged.erases", "streams", False)])
def test_patterns(place: str, pattern: str, selects: bool) -> None:
    """A path, a part of the tree, any text; brackets are themselves."""
    assert members.matches(place, pattern) is selects


def test_the_main_statistics_exist() -> None:
    """Each pattern of the default table selects a row."""
    for pattern in stat.MAIN:
        assert any(members.matches(p, pattern) for p in members.table()), \
            pattern


def test_parts_of_a_frame() -> None:
    """Numbers, times, bars."""
    assert [top.si(x) for x in (None, 0.0, 999.0, 15110.0, 3.2e9)] == [
        "-", "0", "999", "15.11k", "3.2G"]
    assert top.si(30.61e6, "B/s") == "30.61 MB/s"
    assert [top.ns(x) for x in (None, 5, 4671, 2e6, 3e9)] == [
        "-", "5 ns", "4.67 us", "2 ms", "3 s"]
    assert top.bar(0.5, 4) == "██░░" and top.bar(7, 2) == "██"
    assert top.cells([0.0, 1.0], 2) == " █"
    assert top.cells([0.0, 1.0, 1.0, 1.0], 2) == "▄█", "means of two"
    assert len(top.cells([1.0] * 4096)) <= top.CELLS
    assert top.cells([1.0, 0.5]) == "█████ ▄▄▄▄▄"


def test_counters_grow() -> None:
    """Of two runs, one the beginning of the other, no counter is smaller in the
    longer one, and each integer that grows with the run is a counter."""
    def run(requests: int) -> dict[str, Any]:
        done = subprocess.run(
            [str(PROJECT / "vssd"), "sim", "run", "--profile", "tiny", "--fill",
             "random", "--workload", "rw=randrw bs=4k iodepth=16"
             f" number_ios={requests}", "--json"],
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = members.values(json.loads(done.stdout))
        return {p: v for p, v in found.items()
                if type(v) is int and members.member(p)
                and not members.member(p).course}

    short, long = run(4000), run(8000)
    counts = {p for p in long if members.member(p).counts}
    assert [p for p in counts if long[p] < short[p]] == []
    grown = {p for p in long if long[p] > 1.7 * short[p] > 0}
    assert len(grown) > 30 and grown - counts == set()


class Slow:
    """A drive whose statistics take longer than the interval."""

    name = "ssd0"

    def read(self) -> dict[str, Any]:
        """Nothing, late."""
        time.sleep(0.002)
        return {}


def test_readings_that_take_too_long() -> None:
    """They follow each other at once."""
    found = list(stat.readings(Slow(), [], 0.001, 20))  # type: ignore[arg-type]
    assert len(found) == 20
    assert all(a.time_s <= b.time_s for a, b in zip(found, found[1:]))
