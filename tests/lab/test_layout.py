# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures layout: its settings and its judging, without a long run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vssd.build import model, venv
from vssd.errors import UserError
from vssd.paths import find_profile
from vssd.sim.run import Point, Runner

venv.extra("figures")
np = pytest.importorskip("numpy")
from vssd_lab.figures import layout, layout_input  # noqa: E402
from vssd_lab.figures.figure import Context, Row  # noqa: E402

PROFILE = "zertal2015"


def info(setting: layout.Setting) -> dict[str, Any]:
    """Of the drive with random blocks."""
    return model.drive_info(find_profile(PROFILE),
                            list(setting.options(layout.RANDOM)))


@pytest.mark.parametrize("setting", dict.fromkeys(
    [*(s for v in layout.SWEEPS.values() for s in v.values()),
     layout.OLTP_TIGHT, layout.OLTP_PREEMPTED, layout.NO_GC]), ids=str)
def test_settings(setting: layout.Setting) -> None:
    """The drive takes each; its capacity is what the requests touch a part
    of."""
    capacity = info(setting)["capacity_bytes"]
    assert setting.bytes_touched() <= setting.region * capacity
    assert setting.bytes_touched() > 0.9 * setting.region * capacity \
        - layout_input.ALIGN


def test_any_block_is_the_largest_choice() -> None:
    """One more open block, and GC has no room for what it is to keep free."""
    most = layout.BASE.any_block()
    info(replace(layout.BASE, blocks=most))
    with pytest.raises(UserError, match="at most"):
        info(replace(layout.BASE, blocks=most + 2))


def test_sweeps_have_the_judged_setting() -> None:
    """So the verdict can be compared with the rest of a parameter's range."""
    for values in (*layout.SWEEPS.values(), layout.BURSTS):
        assert layout.BASE in values.values()
        assert len(set(values.values())) == len(values) > 1


def test_sizes() -> None:
    """All powers of two from 1 KiB to 2 MiB; typical ones are small, and large
    ones carry the data."""
    for kind in (0.5, layout_input.TYPICAL):
        size, share = layout_input.sizes(kind)
        assert list(size) == [1024 << i for i in range(12)]
        assert share.sum() == pytest.approx(1) and share.min() > 0
    small = size <= 4096
    assert share[small].sum() > 0.9
    assert (size * share)[~small].sum() > 0.95 * (size * share).sum()


def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
           wait_us: Any) -> dict[str, Row]:
    """The claims, with waits of wait_us(workload, degree, policy, length)."""
    def run(_ctx: Context, _title: str, points: dict[Any, Point]) \
            -> dict[Any, Any]:
        out = {}
        for key in points:
            name, degree, setting, policy, _ = key
            wait = wait_us(name, degree, policy, setting.length)
            out[key] = {"nand": {"die_utilization": 0.5}, "latency_ns": {
                kind: {"count": 10, "mean": 1000 * (wait + access)}
                for kind, access in layout.ACCESS_US.items()}}
        return out

    monkeypatch.setattr(Context, "run", run)
    ctx = Context(Runner(Path("vssd-sim"), 1), None, tmp_path, 0.001, 3)
    return {f"{r['panel']}: {r['point']}": r for p in layout.panels(ctx)
            for r in p.rows if r["kind"] == "claim"}


def test_judging(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the paper says, holds: one row for each statement."""
    def wait_us(name: str, degree: int, policy: str, length: int) -> float:
        better = policy == layout.DL and degree > 0 and name != "OLTP"
        gain = (0.3 if length == 1 else 0.2) if better else 0
        return (1 - gain) * [100.0, 20.0, 2.0][degree]

    rows = judged(monkeypatch, tmp_path, wait_us)
    assert len(rows) == 1 + 3 + 5 + 5 + 2 + 1
    bad = {k for k, r in rows.items() if r["verdict"] != "holds"}
    assert bad == {"OLTP: degree 1, writes", "OLTP: degree 2, writes"}


def test_judging_of_the_opposite(monkeypatch: pytest.MonkeyPatch,
                                 tmp_path: Path) -> None:
    """A change at degree 0 in one workload, a gain that is lost, planes that
    do not help, and a fall that is too small: none holds."""
    def wait_us(name: str, degree: int, policy: str, length: int) -> float:
        worse = policy == layout.DL
        change = 0.04 if name == "S4" and degree == 0 and worse else 0
        late = 0.1 if length == 1 and worse else 0
        return (1 + change + late * (degree == 2)) * [100.0, 20.0, 21.0][degree]

    rows = judged(monkeypatch, tmp_path, wait_us)
    first, = [r for k, r in rows.items() if k.startswith("degree 0")]
    assert first["ours"] == pytest.approx(4)
    good = {k for k, r in rows.items() if r["verdict"] == "holds"}
    assert good == {"OLTP: degree 1, reads, per cent"}
