# SPDX-License-Identifier: GPL-2.0-or-later
"""In what results differ: what made them, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..sim.run import flat

OF_THE_RUN = ("profile", "workload", "trace", "fill", "seed",
              "capacity_bytes")
# What made the result; shown where it differs.
ORIGIN = ("vssd.", "host.", "options.", "remap", "retime", "stream_map",
          "time_scale", "warm_up", "block_bytes")


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _of_origin(name: str) -> bool:
    return name in OF_THE_RUN or any(
        name == o or o[-1] == "." and name.startswith(o) for o in ORIGIN)


def origins_of(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What made the results, where it differs: version, machine, options,
    input.  None: the result does not have it; for an option that is its
    default."""
    flats = [flat(one) for one in results]
    out = []
    for name in dict.fromkeys(n for f in flats for n in f):
        values = [f.get(name) for f in flats]
        if _of_origin(name) and any(v != values[0] for v in values):
            out.append({"name": name, "values": values})
    return out


def origins(a: dict[str, Any], b: dict[str, Any]) -> list[dict[str, Any]]:
    """The same of two."""
    return [{"name": row["name"], "a": row["values"][0], "b": row["values"][1]}
            for row in origins_of([a, b])]


def rows(a: dict[str, Any], b: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each number that either has; ratio is None where A has none,
    or zero."""
    fa, fb = flat(a), flat(b)
    out = []
    for name in [*fa, *(n for n in fb if n not in fa)]:
        x, y = fa.get(name), fb.get(name)
        if name == "schema_version" or _of_origin(name) or \
                not (_number(x) or _number(y)):
            continue
        x, y = (x if _number(x) else None), (y if _number(y) else None)
        ratio = y / x if x and y is not None else None
        out.append({"name": name, "a": x, "b": y, "ratio": ratio})
    return out


def _distance(values: list[Any]) -> float:
    """How far the values are apart: the logarithm of a ratio."""
    some = [v for v in values if _number(v)]
    if not some or min(some) == max(some):
        return 0.0
    return math.log(max(some) / min(some)) if min(some) > 0 else math.inf


def numbers(results: list[dict[str, Any]],
            chosen: Callable[[str], bool]) -> list[dict[str, Any]]:
    """The chosen values of all results, those that differ most first, else in
    the order of the first result; without those that are 0 in each."""
    flats = [flat(one) for one in results]
    names = [n for n in dict.fromkeys(n for f in flats for n in f)
             if chosen(n) and any(f.get(n) for f in flats)]
    out = [{"name": n, "values": [f.get(n) for f in flats]} for n in names]
    return sorted(out, key=lambda row: -_distance(row["values"]))
