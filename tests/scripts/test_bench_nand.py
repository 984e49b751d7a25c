# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench nand and scaling: rows out of what vssd-bench-nand prints."""

from __future__ import annotations

from typing import Any

import pytest

from vssd.bench import nand as bench_nand


def point(channels: int, dies: int, iops: float, limit: str) -> dict[str, Any]:
    return {"channels": channels, "dies": dies, "iops": iops,
            "bottleneck": limit, "die_utilization": 1, "bus_utilization": .5}


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {
        "--speed": {"nand_ops_per_s": {"read": 1e7},
                    "features": [{"feature": "read first, or so",
                                  "ns_with": 150, "ns_without": 100}]},
        "--scaling": {"scaling": {"write": [
            point(1, 1, 100, "dies"), point(1, 4, 300, "bus")]}},
    }
    monkeypatch.setattr(bench_nand, "_measure", printed.__getitem__)
    rate, cost = bench_nand.speed()
    assert rate["name"] == "nand_read" and rate["ratio"] == 2
    assert cost["name"] == "with_read_first_or_so"
    assert cost["ratio"] == 1.5
    one, four = bench_nand.scaling()
    assert one["ratio"] == 1
    assert four["name"] == "scaling_write_1x4" and four["ratio"] == .75
    assert "limit: bus" in four["note"] and "bus 50%" in four["note"]
