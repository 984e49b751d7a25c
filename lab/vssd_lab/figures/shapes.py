# SPDX-License-Identifier: GPL-2.0-or-later
"""Fitted shapes of volumes: bursts, sizes, runs and reuse of stand-ins.

shapes.json has the parameters of each volume, and the excerpt that each part
was fitted to (fit_inputs.py).  Knows the file; knows nothing of requests.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("shapes.json")

Pairs = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Arrivals:
    """A b-model (Wang et al., ICDE 2002)."""

    bias: float  # share of the busier half, 0.5 (Poisson) to 1
    finest_ns: int  # parts of the time are not split below this
    measured: float  # b of the excerpt's entropy plot
    # Requests and the least ns in which so many come; none: no limit.
    peaks: Pairs
    source: str
    # The share of longer parts, and how long these are; 0: the same share.
    long_bias: float = 0.0
    long_ns: int = 0


@dataclass(frozen=True)
class Sizes:
    """Sizes of requests, each the last one again or drawn."""

    sectors: Pairs  # size and share
    stay: float  # share that repeats the last size
    source: str


@dataclass(frozen=True)
class Runs:
    """Sequential runs: requests that begin where an earlier one ended."""

    start: float  # share of first requests that a second one continues
    go_on: float  # share of later requests that another one continues
    at_once: float  # share of those that come with no other in between
    lag: float  # of the others: the mean number of requests until they come
    source: str


@dataclass(frozen=True)
class Reuse:
    """LRU stack distances of runs, as far as the excerpt shows them, and the
    popularity of the places beyond."""

    near: tuple[float, ...]  # share of distance 1, 2, to 4, to 8, ...
    zones: Pairs  # number of places and share, hottest first; the
    # share that is left belongs to all other places of the footprint
    source: str
    zones_source: str

    def depth(self) -> int:
        """The largest distance."""
        return 1 << (len(self.near) - 1)


@dataclass(frozen=True)
class Kind:
    """Reads or writes of a volume."""

    arrivals: Arrivals
    sizes: Sizes
    runs: Runs
    reuse: Reuse


@dataclass(frozen=True)
class Shape:
    """A volume."""

    read: Kind
    write: Kind


def _pairs(raw: list[list[float]]) -> Pairs:
    return tuple((a, b) for a, b in raw)


def _kind(raw: dict[str, Any]) -> Kind:
    arrivals, sizes, reuse = raw["arrivals"], raw["sizes"], raw["reuse"]
    return Kind(
        Arrivals(**arrivals | {"peaks": _pairs(arrivals["peaks"])}),
        Sizes(**sizes | {"sectors": _pairs(sizes["sectors"])}),
        Runs(**raw["runs"]),
        Reuse(**reuse | {"near": tuple(reuse["near"]),
                         "zones": _pairs(reuse["zones"])}))


@cache
def load() -> dict[str, Shape]:
    """All volumes of shapes.json."""
    raw = json.loads(FILE.read_text(encoding="ascii"))
    return {name: Shape(_kind(one["read"]), _kind(one["write"]))
            for name, one in raw.items()}


def save(shapes: dict[str, Shape], path: Path = FILE) -> None:
    """Write shapes.json; the same shapes give the same file."""
    text = json.dumps({name: asdict(one) for name, one in shapes.items()},
                      indent=1)
    path.write_text(text + "\n", encoding="ascii")


def sources(shape: Shape) -> str:
    """The excerpts behind a shape, for the reader of a figure."""
    kinds = (shape.read, shape.write)
    parts = {
        "bursts": [k.arrivals.source for k in kinds],
        "sizes and runs": [k.sizes.source for k in kinds],
        "reuse": [k.reuse.source for k in kinds],
        "popularity": [k.reuse.zones_source for k in kinds]}
    by_text: dict[str, list[str]] = {}
    for part, texts in parts.items():
        text = texts[0] if texts[0] == texts[1] else \
            f"{texts[0]} (reads), {texts[1]} (writes)"
        by_text.setdefault(text, []).append(part)
    return "; ".join(f"{', '.join(p)} of {t}" for t, p in by_text.items())
