# SPDX-License-Identifier: GPL-2.0-or-later
"""In what two results differ: what made them, and their numbers."""

from __future__ import annotations

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
    return any(name == o or o[-1] == "." and name.startswith(o)
               for o in ORIGIN)


def origins(a: dict[str, Any], b: dict[str, Any]) -> list[dict[str, Any]]:
    """What made the two results, where it differs: version, machine, options,
    input.  None: the result does not have it; for an option that is its
    default."""
    fa, fb = flat(a), flat(b)
    names = [n for n in dict.fromkeys([*fa, *fb])
             if (_of_origin(n) or n in OF_THE_RUN) and fa.get(n) != fb.get(n)]
    return [{"name": n, "a": fa.get(n), "b": fb.get(n)} for n in names]


def rows(a: dict[str, Any], b: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each number that either has; ratio is None where A has none,
    or zero."""
    fa, fb = flat(a), flat(b)
    out = []
    for name in [*fa, *(n for n in fb if n not in fa)]:
        x, y = fa.get(name), fb.get(name)
        if name in ("schema_version", *OF_THE_RUN) or _of_origin(name) or \
                not (_number(x) or _number(y)):
            continue
        x, y = (x if _number(x) else None), (y if _number(y) else None)
        ratio = y / x if x and y is not None else None
        out.append({"name": name, "a": x, "b": y, "ratio": ratio})
    return out
