# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench maps: which schemes, ratios to the flat map, memory per TiB."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from vssd.build import model
from vssd.errors import UserError
from vssd_lab.bench import maps as bench_maps
from vssd_lab.bench import sim as bench_sim

OPTIONS = """| option | default | allowed | meaning |
|---|---|---|---|
| `ftl.map` | page | dftl, page | how |
"""


def test_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "sim", lambda: "vssd-sim")
    monkeypatch.setattr(
        subprocess, "run", lambda *_args, **_more:
        subprocess.CompletedProcess([], 0, stdout=OPTIONS))
    assert model.choices("ftl.map") == ["dftl", "page"]
    assert bench_maps.schemes() == ["page", "dftl"]
    with pytest.raises(UserError, match="no ftl.nothing"):
        model.choices("ftl.nothing")


def test_rows() -> None:
    runs = {"page": [{"requests_per_s_cpu": r, "waf": 1} for r in (9, 2, 4)],
            "dftl": [{"requests_per_s_cpu": 1, "waf": 1.5}]}
    page, dftl = bench_maps.rows_of("read", runs)
    assert (page["name"], page["ours"], page["ratio"]) == (
        "map_read_page", 4, 1)
    assert (dftl["ours"], dftl["ratio"]) == (1, .25)
    assert "WAF 1.5" in dftl["note"]


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte for each 512 of capacity, beside what every process has."""
    def blocks(sets: list[str]) -> int:
        assert sets[1] in ("ftl.map=page", "ftl.map=dftl")
        return int(sets[0].split("=")[1])

    def run(*_args: Any, sets: list[str]) -> bench_sim.Run:
        twice = 2 if "dftl" in sets[1] else 1
        return bench_sim.Run({}, 10 ** 7 + twice * 64 * blocks(sets), 0)

    monkeypatch.setattr(model, "choices", lambda _key: ["page", "dftl"])
    monkeypatch.setattr(
        model, "drive_info",
        lambda _path, sets: {"capacity_bytes": 64 * 512 * blocks(sets)})
    monkeypatch.setattr(bench_sim, "run", run)
    page, dftl = bench_maps._memory()  # pylint: disable=protected-access
    assert page["ours"] == pytest.approx(2) and page["unit"] == "GiB/TiB"
    assert dftl["ratio"] == pytest.approx(2)
