# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench nand and scaling: rows out of what vssd-bench-nand prints."""

from __future__ import annotations

from typing import Any

import pytest

from vssd.errors import UserError
from vssd_lab.bench import nand as bench_nand
from vssd_lab.cli import bench, main


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


@pytest.mark.parametrize("rows", [[], [
    {"name": "x", "ours": None, "peer": 1, "ratio": None, "unit": "s",
     "note": "not here"}]])
def test_nothing_measured(monkeypatch: pytest.MonkeyPatch,
                          rows: list[dict[str, Any]]) -> None:
    """A benchmark without a figure of ours fails."""
    for name in ("sim", "maps"):
        monkeypatch.setitem(bench.BENCHES, name, lambda _args: rows)
    monkeypatch.setattr(bench, "_profile", lambda _args: rows)
    for words in (["sim"], ["sim", "maps"], ["sim", "--json"],
                  ["profile", "read"]):
        with pytest.raises(UserError, match="nothing was measured") as e:
            bench.main(main.parser().parse_args(["bench", *words]))
        assert "\n" not in str(e.value)


def test_rows_are_counted(monkeypatch: pytest.MonkeyPatch,
                          capsys: pytest.CaptureFixture[str]) -> None:
    """Those with a figure of ours, and all."""
    none = {"name": "x", "ours": None, "peer": 1, "ratio": None, "unit": "s",
            "note": ""}
    monkeypatch.setitem(bench.BENCHES, "sim",
                        lambda _args: [none, {**none, "ours": 2.0}])
    assert bench.main(main.parser().parse_args(["bench", "sim"])) == 0
    assert "measured: 1 of 2 rows" in capsys.readouterr().out
