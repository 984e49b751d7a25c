# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured part of a scoreboard: plays the points of the entries."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .loads import Load
from .play import Played, Player
from .points import Entry
from .score import Scored, ours_of


def score(found: list[Entry], player: Player,
          told: Callable[[int], None]) -> list[Scored]:
    """Every entry with our number; told(points in all) after each point."""
    points = list(dict.fromkeys(
        (e.drive, e.load) for e in found if e.load.kind != "none"))
    results: dict[tuple[str, Load], Played] = {}
    lock = threading.Lock()

    def one(i: int) -> Played:
        return player.play(*points[i])

    def done(i: int, result: Played) -> None:
        with lock:
            results[points[i][0].name, points[i][1]] = result
        told(len(points))

    player.states.runner.each(one, range(len(points)), done)
    return [Scored(e, None, "not modelled: " + e.load.why)
            if e.load.kind == "none"
            else ours_of(e, results[e.point],
                         player.states.capacity(e.drive)) for e in found]
