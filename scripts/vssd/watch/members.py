# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of statistics: path, unit, kind and meaning of each member of a
drive in QEMU, from docs/schema/device.json, which the code's tables generate.

A place is the path of a value in JSON, as nand.busy_ns.die[3]; a path is that
of its row in docs/results.md, as nand.busy_ns.die[die].
"""

from __future__ import annotations

import fnmatch
import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..paths import PROJECT

SCHEMA = PROJECT / "docs/schema/device.json"
STEP = re.compile(r"<\w+>|\[\w+\]")
INDEX = re.compile(r"\[\d+\]")
# Words of names whose values are levels, although they are integers that a
# reset of the statistics concerns.
LEVEL = re.compile(r"(?:^|_)(?:min|mean|max|most|peak|p\d+)(?:_|$)")
COURSE = "over_time"  # of the members that are samples


@dataclass(frozen=True)
class Member:
    """A row of the table."""

    path: str
    unit: str
    kind: str  # reset, life, now, fixed: docs/results.md
    help: str
    types: tuple[str, ...]  # of JSON

    @property
    def counts(self) -> bool:
        """It only grows, but for a reset of the statistics; so it has a rate."""
        return (self.kind in ("reset", "life")
                and ("integer" in self.types or self.unit == "nJ")
                and self.unit not in ("%", "C")
                and not LEVEL.search(self.path.split(".")[-1])
                and ".erase_counts." not in self.path and not self.course)

    @property
    def course(self) -> bool:
        """It is a list of samples."""
        return COURSE in self.path

    def labels(self, place: str) -> dict[str, str]:
        """What the place has for each `<name>` and `[name]` of the path."""
        text, names = "", []
        last = 0
        for step in STEP.finditer(self.path):
            text += re.escape(self.path[last:step.start()])
            name = step.group()[1:-1]
            last = step.end()
            if name.isdigit():
                text += re.escape(step.group())
                continue
            names.append(name)
            text += r"\[(\d+)\]" if step.group()[0] == "[" else r"(\w+)"
        found = re.fullmatch(text + re.escape(self.path[last:]), place)
        return dict(zip(names, found.groups())) if found else {}


@functools.cache
def table() -> dict[str, Member]:
    """The members by place, with [] for each index."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return dict(_walk(schema, schema["$defs"], "", ""))


def _walk(node: dict[str, Any], defs: dict[str, Any], place: str,
          above: str) -> Iterator[tuple[str, Member]]:
    if "$ref" in node:
        path = node["x-path"] + "." if "x-path" in node else above
        yield from _walk(defs[node["$ref"].split("/")[-1]], defs, place, path)
    for name, one in node.get("properties", {}).items():
        yield from _walk(one, defs, f"{place}.{name}" if place else name,
                         above)
    for one in node.get("allOf", []):
        yield from _walk(one, defs, place, above)
    if "items" in node:
        yield from _walk(node["items"], defs, place + "[]", above)
    elif "x-kind" in node and "$ref" not in node:
        types = node.get("type", [])
        yield place, Member(
            above + node["x-path"], node["x-unit"], node["x-kind"],
            node["description"],
            (types,) if isinstance(types, str) else tuple(types))


def member(place: str) -> Member | None:
    """The row of a value; None of what is no row, as options."""
    return table().get(INDEX.sub("[]", place))


@functools.cache
def _order() -> dict[str, int]:
    """The line of the table at which each object and each value begins."""
    out: dict[str, int] = {}
    for i, place in enumerate(table()):
        for end in re.finditer(r"(?=[.\[])|$", place):
            out.setdefault(place[:end.start()], i)
    return out


def ordered(stats: Any, place: str = "") -> Any:
    """The members in the order of the table, for QEMU's have none; those
    without a row at the end."""
    if isinstance(stats, list):
        return [ordered(one, place + "[]") for one in stats]
    if not isinstance(stats, dict):
        return stats
    paths = {name: f"{place}.{name}" if place else name for name in stats}
    last = len(table())
    return {name: ordered(stats[name], path) for name, path in sorted(
        paths.items(), key=lambda x: (_order().get(x[1], last), x[0]))}


def values(stats: Any, place: str = "") -> dict[str, Any]:
    """All numbers, texts and nulls of a result, by place."""
    if isinstance(stats, dict):
        return {p: v for name, one in stats.items()
                for p, v in values(one, f"{place}.{name}" if place
                                   else name).items()}
    if isinstance(stats, list):
        return {p: v for i, one in enumerate(stats)
                for p, v in values(one, f"{place}[{i}]").items()}
    return {place: stats}


def matches(place: str, pattern: str) -> bool:
    """Does a pattern select the place?  `*` and `?` stand for any text, a name
    also selects all below it."""
    # Brackets of a place are text, not fnmatch's sets.
    quoted = pattern.replace("[", "[[]")
    return any(fnmatch.fnmatchcase(place, quoted + end)
               for end in ("", ".*", "[[]*"))


def rates(before: dict[str, Any], now: dict[str, Any]) -> dict[str, float]:
    """The counters' growth from one reading to the next, for each second of the
    drive's time.  Without those that a reset of the statistics concerned;
    empty if no time passed."""
    span = (now["sim_ns"] - before["sim_ns"]) / 1e9
    if span <= 0:
        return {}
    a, b = values(before), values(now)
    out = {}
    for place, value in b.items():
        row = member(place)
        if row and row.counts and place in a and value >= a[place]:
            out[place] = (value - a[place]) / span
    return out
