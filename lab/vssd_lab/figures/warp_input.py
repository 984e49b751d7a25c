# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes of a flash cache, and of WARP's three streams, to an FDP drive.

The cache is CacheLib's as Allison et al. (EuroSys 2025, sections 2 and 4.1)
describe it.  Its large objects (LOC) fill regions in sequence, and the oldest
region is written again.  A small object (SOC) goes to the bucket of 4 KiB that a
hash of its key gives, and the whole bucket is written.  The three streams are
the fio jobs of WARP's artifact (Song et al., FAST 2026, section 3.2).

A trace's time is the volume written so far: VOLUMES_S drives a second.  Its
streams are roles (LOC, SOC; SEQ, RANDOM, OVER); a run maps them to handles.
Knows bytes; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PAGE = 4096
VOLUMES_S = 0.25  # drives written in a second of the trace
LOC, SOC = range(2)  # roles of the cache
SEQ, RANDOM, OVER = range(3)  # of the three streams
ZIPF_TERMS = 10_000_000  # of fio's sum


class Writes(NamedTuple):
    """In order: page, number of pages, role."""

    page: Any
    pages: Any
    role: Any


@dataclass(frozen=True)
class Cache:
    """A flash cache that fills the drive."""

    soc: float  # share of the drive
    soc_bytes: float  # share of the bytes written
    region: int  # pages of a region of the LOC
    theta: float = 0  # Zipf law of the keys; 0: uniform
    keys: int = 20  # of a bucket, on the mean
    parts: int = 1  # of the SOC, by address: roles SOC, SOC + 1, ...


@dataclass(frozen=True)
class Streams:
    """Three streams: in sequence over 90 % of the drive, at random over the
    rest, and overwrites of the first part."""

    over: str  # law of the overwrites: "zipf 1.2", "80/20" or "uniform"
    bytes: tuple[float, float, float]  # share of each after the fill
    chunk: int  # pages that SEQ writes at a time
    scale: int  # pages of the paper's drive for each of this
    part: float = 0.9  # of the drive, for SEQ and OVER


def zipf(rng: Any, n: int, theta: float, count: int) -> Any:
    """Ranks 0 to n - 1 by the approximation of Gray et al., "Quickly generating
    billion-record synthetic databases", SIGMOD 1994, section 3, which fio has
    too."""
    ranks = np.arange(1, min(n, ZIPF_TERMS) + 1, dtype=float)
    total = float(np.sum(ranks ** -theta))
    two = 1 + 0.5 ** theta
    eta = (1 - (2 / n) ** (1 - theta)) / (1 - two / total)
    u = rng.random(count)
    rank = 1 + np.floor(n * (eta * u - eta + 1) ** (1 / (1 - theta)))
    rank = np.where(u * total < 1, 1, np.where(u * total < two, 2, rank))
    return np.minimum(rank.astype(np.int64), n) - 1


def eighty_twenty(rng: Any, n: int, count: int) -> Any:
    """The artifact's zoned:80/20:10/20:10/60: share of writes / of places."""
    zone = np.searchsorted([0.8, 0.9], rng.random(count), "right")
    begin = np.array([0, 0.2, 0.4])[zone]
    width = np.array([0.2, 0.2, 0.6])[zone]
    return ((begin + width * rng.random(count)) * n).astype(np.int64)


def _spread(parts: list[Any], pages: list[int]) -> Writes:
    """Streams side by side, each at an even rate to the end; parts are their
    first pages, pages the size of each write."""
    at = np.concatenate([(np.arange(len(p)) + 0.5) / max(len(p), 1)
                         for p in parts])
    order = np.argsort(at, kind="stable")
    role = np.repeat(np.arange(len(parts)), [len(p) for p in parts])[order]
    return Writes(np.concatenate(parts)[order], np.array(pages)[role], role)


def cache(cfg: Cache, drive: int, volumes: float, seed: int) -> Writes:
    """Writes of so many times the drive's pages, from an empty cache on."""
    rng = np.random.default_rng(seed)
    buckets = int(drive * cfg.soc)
    regions = (drive - buckets) // cfg.region
    soc = int(volumes * drive * cfg.soc_bytes)
    loc = int(volumes * drive * (1 - cfg.soc_bytes)) // cfg.region
    if cfg.theta:
        keys = buckets * cfg.keys
        bucket = rng.integers(0, buckets, keys)[zipf(rng, keys, cfg.theta,
                                                     soc)]
    else:
        bucket = rng.integers(0, buckets, soc)
    out = _spread([np.arange(loc) % regions * cfg.region,
                   drive - buckets + bucket], [cfg.region, 1])
    part = (out.page - (drive - buckets)) * cfg.parts // buckets
    return out._replace(role=np.where(out.role == SOC, SOC + part, LOC))


def _overwrites(cfg: Streams, rng: Any, n: int, count: int) -> Any:
    """Places 0 to n - 1.  A place stands for `scale` of the paper's with ranks
    that follow each other, so each is overwritten as often as there."""
    if cfg.over == "80/20":
        return eighty_twenty(rng, n, count)
    if cfg.over == "uniform":
        return rng.integers(0, n, count)
    theta = float(cfg.over.removeprefix("zipf "))
    place = rng.permutation(n)
    return place[zipf(rng, n * cfg.scale, theta, count) // cfg.scale]


def streams(cfg: Streams, drive: int, volumes: float, seed: int) -> Writes:
    """The fill of one volume, then the three side by side."""
    rng = np.random.default_rng(seed)
    chunks = int(drive * cfg.part) // cfg.chunk
    first = chunks * cfg.chunk  # page of RANDOM
    fill = _spread([np.arange(chunks) * cfg.chunk,
                    rng.integers(first, drive, drive - first)],
                   [cfg.chunk, 1])
    seq, random, over = (int((volumes - 1) * drive * b) for b in cfg.bytes)
    work = _spread([np.arange(seq // cfg.chunk) % chunks * cfg.chunk,
                    rng.integers(first, drive, random),
                    _overwrites(cfg, rng, first, over)], [cfg.chunk, 1, 1])
    return Writes(*(np.concatenate(x) for x in zip(fill, work)))


def make(cfg: Cache | Streams, drive: int, volumes: float,
         seed: int) -> Writes:
    """The writes of either."""
    if isinstance(cfg, Cache):
        return cache(cfg, drive, volumes, seed)
    return streams(cfg, drive, volumes, seed)


def save(writes: Writes, drive: int, path: Path) -> None:
    """A trace of vssd-sim (csv)."""
    us = np.cumsum(writes.pages) * int(1e6 / VOLUMES_S) // drive
    with path.open("w") as f:
        f.write("time_us,is_write,page,pages,stream\n")
        f.writelines(f"{t},1,{p},{n},{r}\n" for t, p, n, r in zip(
            us.tolist(), writes.page.tolist(), writes.pages.tolist(),
            writes.role.tolist()))
