# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies in Python, and shared objects by their path."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from libvssd import Drive, VssdError
from libvssd.policies import (
    AllocPolicy,
    BufferPolicy,
    GcPolicy,
    GcView,
    ListView,
    MapPolicy,
    PlacementPolicy,
)

EXAMPLES = Path(__file__).parents[2] / "examples/policies"
LARGER = {"ftl.op_percent": "100%", "nand.blocks": 64, "ftl.map_cache": "1KiB"}


def play(drive: Drive, seed: int = 1, n: int = 6000) -> np.ndarray:
    """Reads and writes at random."""
    rng = np.random.default_rng(seed)
    units = drive.info.nblocks // 8
    return drive.play(op=rng.integers(0, 2, n), nblocks=8, depth=8,
                      lba=rng.integers(0, units, n) * 8)


class Lru(BufferPolicy):
    """buffer.policy=lru."""

    def written(self, view: ListView, slot: int) -> None:
        view.move(slot, 0)

    read = written

    def victim(self, view: ListView) -> int | None:
        return view.oldest(0)


class Early(BufferPolicy):
    """buffer.policy=cflru-ef, with a window of all."""

    def insert(self, view: ListView, slot: int) -> None:
        view.move(slot, not view.clean(slot))

    written = read = insert

    def cleaned(self, view: ListView, slot: int) -> None:
        if view.list_of(slot) == 1:
            view.move(slot, 0)

    def victim(self, view: ListView) -> int | None:
        clean = view.oldest(0)
        return view.oldest(1) if clean is None else clean

    def early(self, view: ListView) -> int | None:
        return view.oldest(1)


class Slru(MapPolicy):
    """The order of ftl.map=dftl."""

    def used(self, view: ListView, entry: int) -> None:
        view.move(entry, 1)
        if view.count(1) > max(view.shape.map_entries // 2, 1):
            view.move(view.oldest(1), 0)

    def victim(self, view: ListView) -> int | None:
        oldest = view.oldest(0)
        return view.oldest(1) if oldest is None else oldest


class Stripe(AllocPolicy):
    """ftl.alloc=stripe."""

    by_unit = False

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0

    def pick(self, view, unit):
        position = view.next_accepting(self.cursor)
        if position is None:
            return None
        self.cursor = (position + 1) % view.shape.planes
        return view.stripe_plane(position)


class Anywhere(AllocPolicy):
    """ftl.alloc=random."""

    depth = 64

    def pick(self, view, unit):
        return view.draw()


class Layout(AllocPolicy):
    """ftl.alloc=dl, of dies with one plane."""

    depth = 64
    by_unit = True

    def pick(self, view, unit):
        home = view.home(unit)
        home = view.first_plane(unit) if home is None else home
        if view.gc_indicator(home) >= view.shape.dl_threshold_ppm:
            view.force_gc(home)
        elif view.accepts(home):
            return home
        return view.insist(home)


class Greedy(GcPolicy):
    """ftl.gc=greedy."""

    def pick(self, view: GcView, plane: int) -> int | None:
        for n in range(view.shape.block_units):
            block = view.with_valid(plane, n)
            if block is not None:
                return block
        return None


class Fifo(GcPolicy):
    """ftl.gc=fifo."""

    def pick(self, view: GcView, plane: int) -> int | None:
        for _ in range(view.shape.plane_blocks):
            block = next(view.candidates(plane), None)
            if block is None:
                break
            if view.gains(block):
                return block
            view.renew(block)
        return view.least(plane)


class Drawn(GcPolicy):
    """ftl.gc=random."""

    def pick(self, view: GcView, plane: int) -> int | None:
        block = view.draw(plane)
        return view.least(plane) if block is None else block


@pytest.mark.parametrize("listed, python", [
    ({"gc": "greedy"}, {"gc": Greedy}), ({"gc": "fifo"}, {"gc": Fifo}),
    ({"gc": "random"}, {"gc": Drawn}), ({"alloc": "stripe"}, {"alloc": Stripe}),
    ({"alloc": "random"}, {"alloc": Anywhere}), ({"alloc": "dl"}, {"alloc": Layout}),
    ({"buffer": "lru"}, {"buffer": Lru}),
    ({"buffer": "cflru-ef"}, {"buffer": Early}), ({"map": "dftl"}, {"map": Slru})],
    ids=lambda p: next(iter(p)))
def test_same_as_listed(listed, python) -> None:
    """To the nanosecond."""
    played = []
    for given in (listed, {k: v() for k, v in python.items()}):
        drive = Drive("tiny", options=LARGER, seed=2, **given)
        drive.preload()
        played.append(play(drive))
        drive.check()
    assert (played[0] == played[1]).all()


def test_placement() -> None:
    """All units of the first quarter of the drive in a stream of their own."""
    def stream(view, unit):
        return int(unit < view.shape.units // 4)

    drive = Drive("tiny", options=LARGER, placement=stream)
    play(drive)
    streams = drive.stats()["streams"]
    assert len(streams) == 2
    assert drive.stats()["options"]["ftl.placement"] == "call:python"

    class Wrong(PlacementPolicy):
        def stream(self, view, unit):
            return 2

    with pytest.raises(VssdError, match=r"\(placement\): stream\(\) with the result 2"):
        play(Drive("tiny", options=LARGER, placement=Wrong()))


def test_broken_rules() -> None:
    """One line; the drive goes on."""
    def raises(view, plane):
        raise KeyError("no idea")

    for bad, says in ((lambda v, p: 10**6, "pick.. with the block 1000000"),
                      (lambda v, p: None, "pick.. said none"),
                      (lambda v, p: v.valid(10**6), "valid.. with block 1000000"),
                      (raises, "KeyError: 'no idea'")):
        drive = Drive("tiny", gc=bad)
        drive.preload()
        with pytest.raises(VssdError, match=says) as failed:
            play(drive)
        assert "\n" not in str(failed.value)
        assert isinstance(failed.value.__cause__, KeyError) == (bad is raises)
        assert drive.policy_fault == str(failed.value)
        play(drive, 2, 100)
        drive.check()
    with pytest.raises(ValueError, match="derive from BufferPolicy"):
        Drive("tiny", buffer=lambda v: 0)
    with pytest.raises(ValueError, match="gc: is a policy of the kind buffer"):
        Drive("tiny", gc=Lru())


def test_shared_object(tmp_path: Path) -> None:
    """By its path."""
    so = tmp_path / "greedy.so"
    header = Path(__import__("libvssd").__file__).parent
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-I{header}",
                    EXAMPLES / "greedy.c", "-o", so], check=True)
    a, b = Drive("tiny", gc=so, seed=3), Drive("tiny", seed=3)
    assert (play(a) == play(b)).all()
    assert a.stats()["options"]["ftl.gc"] == f"so:{so}"
    assert a.policy_fault is None
    assert a.clone().option("ftl.gc") == f"so:{so}"
    with pytest.raises(VssdError, match="no-such.so: there is no such file"):
        Drive("tiny", gc=tmp_path / "no-such.so")
