# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of ./vssd report: finished runs side by side, on the page of
./vssd watch, in one file.

This module gathers what the page shows; page/report.js shows it.  What a result
does not contain is named there, with the option that records it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UserError
from . import bundle, differences, glossary, levels, members, oplog
from .result import Result
from .stat import MAIN
from .why import why

if TYPE_CHECKING:
    import numpy as np
    Array = np.ndarray[Any, np.dtype[Any]]

MOST_CELLS = 1 << 15  # of a map of blocks
NEEDED = ("waf", "waf_by_cause", "nand", "explain", "gc", "buffer")
INPUT = ("workload", "trace", "fill", "seed")


def check(results: list[Result]) -> None:
    """Refuse what is no whole result, as the output of vssd-sim info."""
    for one in results:
        for name, data in one.drives():
            missing = [m for m in NEEDED if m not in data]
            if missing:
                raise UserError(f"{name}: no result of a run: {missing[0]} is"
                                " missing; give the output of vssd-sim run"
                                " --json, ./vssd run --stats or ./vssd stat"
                                " --json without patterns")


def _log(one: Result) -> dict[str, Any] | None:
    """Of the operation log: the busy share of each die over time, and erases of
    blocks, the most of `joined` adjacent ones in a cell."""
    if not one.oplog:
        return None
    import numpy as np

    log = oplog.read(one.oplog)
    planes, blocks = log.erases.shape
    joined = -(-planes * blocks // MOST_CELLS)
    begins = np.arange(0, blocks, joined)
    return {"end_s": log.end_s, "busy": np.round(log.busy, 3).tolist(),
            "joined": joined, "blocks": blocks,
            "erases": np.maximum.reduceat(log.erases, begins, axis=1).tolist()}


def _commands(one: Result) -> dict[str, Any] | None:
    """Of X.csv; UserError: it is of another run."""
    if not one.csv:
        return None
    found = levels.read(one.csv).json()
    count = sum(sum(kind["count"]) for kind in found["distribution"].values())
    if count != one.data.get("requests"):
        raise UserError(f"{one.csv}: {count} commands, but the result beside it"
                        f" has {one.data.get('requests')}: cut short, or of"
                        " another run")
    return found


def _why(one: Result) -> dict[str, Any] | None:
    """The answer of ./vssd explain; None: it has none."""
    try:
        return why(one).json()
    except UserError:
        return None


def runs(results: list[Result]) -> list[dict[str, Any]]:
    """What the page shows of each; of an array also of each of its drives, which
    have their own statistics."""
    out = []
    for one in results:
        data = {k: v for k, v in one.data.items() if k != "drives"}
        out.append({"name": one.name, "data": data,
                    "commands": _commands(one), "log": _log(one),
                    "why": _why(one)})
        if one.data.get("drives"):
            out += [{"name": name, "data": stats, "commands": None, "log": None,
                     "why": None} for name, stats in one.drives()]
    return out


def summary(shown: list[dict[str, Any]]) -> dict[str, Any]:
    """What made the runs, where it differs, or the options of one; and the main
    statistics, those that differ most first."""
    every = [one["data"] for one in shown]
    numbers = differences.numbers(every, lambda place: place in INPUT or any(
        members.matches(place, m) for m in MAIN))
    for row in numbers:
        known = members.member(row["name"])
        row["unit"] = known.unit if known else ""
    origins = differences.origins_of(every) if len(every) > 1 else [
        {"name": f"options.{name}", "values": [value]}
        for name, value in every[0].get("options", {}).items()]
    return {"origins": origins, "numbers": numbers}


def page(results: list[Result], how: str) -> str:
    """The whole page; `how` is the command that makes it again."""
    check(results)
    shown = runs(results)
    title = "vssd: " + ", ".join(r.name for r in results)
    return bundle.page("report", title, {
        "how": how, "runs": shown, "summary": summary(shown),
        "words": glossary.terms()})
