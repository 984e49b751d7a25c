# SPDX-License-Identifier: GPL-2.0-or-later
"""Stand-ins for traces that are not at hand: a paper's table gives counts,
means and footprint; the fitted shape of a volume gives bursts, sizes, runs and
reuse (shapes.py).

Four steps: arrivals of reads and of writes, each by a b-model; places of runs
by an LRU stack, and beyond its depth by popularity; sizes, whose shares are
tilted to the table's means; addresses.  Knows tables and shapes;
knows no files.  Needs numpy.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from vssd.errors import UserError

from .shapes import Arrivals, Kind, Pairs, Shape, Sizes, load, sources
from .traces import NS, SECTOR, Trace

LARGEST = 1 << 20  # bytes of a request
# Bytes that Financial1 or Financial2 touches: in no paper.  50,000 requests of
# an excerpt touch 128 MB, and five times as many requests 4.3 times as much.
FINANCIAL = 1_050_000_000
# Zones end at these shares of the places, hottest first.
CUTS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
CANDIDATES = 16  # places of a range of distances that one is drawn from
DRAWS, CLOSE = 40, 0.01  # of sizes, until their mean is so close
ALIKE = 0.03  # means of hot and of other places, apart
TRIES = 32  # draws of a place that is not in the stack


@dataclass(frozen=True)
class Table:
    """The attributes of a trace that a paper gives."""

    read_volume: float  # share of the bytes
    read_sectors: float  # mean size
    write_sectors: float
    iat_s: float  # mean time between requests
    grain: int  # bytes that sizes and addresses are multiples of
    footprint: int  # bytes that are touched, at most
    # Of a trace that is this large: 0.1 has a tenth of the addresses, and so of
    # the stack distances and of the places of each zone.
    scale: float = 1.0

    def read_count(self) -> float:
        """Share of the requests that read."""
        reads = self.read_volume / self.read_sectors
        return reads / (reads + (1 - self.read_volume) / self.write_sectors)


# ---- arrivals --------------------------------------------------------------------


def _cascade(rng: Any, n: int, span_ns: int, a: Arrivals) -> Any:
    """n times by a b-model: each request of a part of the time is in its busier
    half, which is either one, with probability b, which may be another one for
    long parts.  Parts of one request and parts of the finest width are not
    split."""
    begin = np.zeros(1, "f8")
    count = np.array([n], "i8")
    width = float(span_ns)
    done = []
    while width / 2 >= a.finest_ns and len(count):
        whole = count == 1
        done.append(begin[whole] + rng.random(int(whole.sum())) * width)
        begin, count = begin[~whole], count[~whole]
        bias = a.long_bias if 0 < a.long_ns < width else a.bias
        width /= 2
        left = rng.binomial(count, np.where(rng.random(len(count)) < 0.5,
                                            bias, 1 - bias))
        begin = np.concatenate([begin, begin + width])
        count = np.concatenate([left, count - left])
        begin, count = begin[count > 0], count[count > 0]
    done.append(np.repeat(begin, count) + rng.random(int(count.sum())) * width)
    return np.sort(np.concatenate(done))


def limited(at: Any, peaks: Pairs, span_ns: int) -> Any:
    """The same times, some later, so that no k requests come in less time than
    the peaks say; at most half of the mean time of k, so that all fit."""
    n = len(at)
    for k, ns in reversed(peaks):
        step = int(k)
        least = min(ns, 0.5 * step * span_ns / n)
        rows = -(-n // step)
        padded = np.full(rows * step, np.inf)
        padded[:n] = at
        shift = np.arange(rows)[:, None] * least
        moved = np.maximum.accumulate(padded.reshape(rows, step) - shift)
        at = (moved + shift).ravel()[:n]
    return at


def arrivals(rng: Any, n: int, span_ns: int, a: Arrivals) -> Any:
    """n times in ns, in order: a b-model, limited to the peaks that were seen.
    The model alone has no largest rate: over a week it would put ten thousand
    requests into a millisecond."""
    if not n:
        return np.zeros(0, "i8")
    at = limited(_cascade(rng, n, span_ns, a), a.peaks, span_ns)
    if at[-1] >= span_ns:  # those moved beyond the end: limited from there
        back = limited(np.maximum(span_ns - 1 - at[::-1], 0), a.peaks, span_ns)
        at = np.maximum(span_ns - 1 - back[::-1], 0)
    return at.astype("i8")


# ---- places ------------------------------------------------------------------------


def zones(count: Any, unseen: float) -> Pairs:
    """Places by how often they were used, in zones; unseen is the share of the
    requests that places with no count have."""
    count = np.sort(count)[::-1]
    ends = sorted({max(int(c * len(count)), 1) for c in CUTS})
    total = float(count.sum())
    out: list[tuple[float, float]] = []
    begin = 0
    for end in ends:
        share = float(count[begin:end].sum()) / total * (1 - unseen)
        out.append((float(end - begin), round(share, 5)))
        begin = end
    return tuple(out)


def fitting(given: Pairs, universe: int) -> Pairs:
    """The zones in a universe of so many places, the last zone the rest.  A
    place of the rest is used at most as often as one of the coldest zone; in
    a universe that is too small for that, all zones shrink alike."""
    left = max(1 - sum(share for _, share in given), 0.0)
    known = sum(count for count, _ in given)
    least = left * given[-1][0] / max(given[-1][1], 1e-6) if given else 0.0
    by = min(1.0, universe / max(known + least, 1.0))
    out = [(count * by, share) for count, share in given]
    return (*out, (universe - known * by, left))


def _popular(rng: Any, n: int, given: Pairs) -> Any:
    """n places: a zone by its share, then any of its places."""
    share = np.cumsum([z[1] for z in given])
    end = np.cumsum([z[0] for z in given])
    zone = np.minimum(np.searchsorted(share, rng.random(n) * share[-1],
                                      "right"), len(given) - 1)
    begin = np.concatenate([[0], end[:-1]])[zone]
    return (begin + rng.random(n) * (end[zone] - begin)).astype("i8")


class _Popularity:
    """The places of reads or of writes by how often they are used.  Reads
    count places from the other end, so that their hot places are not the
    writes'."""

    def __init__(self, rng: Any, given: Pairs, universe: int,
                 reverse: bool) -> None:
        self._rng = rng
        self._zones = fitting(given, universe)
        self._last = universe - 1 if reverse else None
        self._drawn: list[int] = []
        # Zones may be less than a place in a small trace: a place has the sum
        # of its parts.
        count, share = np.cumsum(np.array(self._zones).T, axis=1)
        weight = np.diff(np.interp(np.arange(universe + 1), [0, *count],
                                   [0, *share])) + 1e-12
        self.weight: list[float] = (weight[::-1] if reverse
                                    else weight).tolist()

    def outside(self, held: set[int]) -> int:
        """A place that the stack does not hold."""
        place = 0
        for _ in range(TRIES):
            if not self._drawn:
                drawn = _popular(self._rng, 1 << 14, self._zones)
                self._drawn = (drawn if self._last is None
                               else self._last - drawn).tolist()
            place = self._drawn.pop()
            if place not in held:
                break
        return place


class _Stack:
    """The places last used, the last at the end.

    A request first draws a range of stack distances, by the fitted shares, and
    then one of the places in that range, or of those beyond the stack, by
    popularity.  With independent references this is exactly the distribution
    of places given the distance; an LRU stack alone would lose the few places
    that are hot all the time."""

    def __init__(self, rng: Any, depth: int) -> None:
        self._depth = depth
        self._random = random.Random(int(rng.integers(1 << 62))).random
        self._list: list[int] = []
        self._held: set[int] = set()

    def _index(self, low: int, high: int, weight: list[float]) -> int:
        """Of a place at distance low..high, or of some of them."""
        begin, n = len(self._list) - high, high - low + 1
        if n == 1:
            return begin
        some = range(begin, begin + n) if n <= CANDIDATES else [
            begin + int(self._random() * n) for _ in range(CANDIDATES)]
        bound = list(accumulate([weight[self._list[i]] for i in some]))
        return some[min(bisect_right(bound, self._random() * bound[-1]),
                        len(some) - 1)]

    def use(self, distance: Range, popularity: _Popularity) -> int:
        """A place at that distance, or beyond; it is now the last."""
        if 0 < distance[1] <= len(self._list):
            place = self._list.pop(self._index(*distance, popularity.weight))
        else:
            place = popularity.outside(self._held)
            if place in self._held:
                self._list.remove(place)
            self._held.add(place)
            if len(self._list) >= self._depth:
                self._held.remove(self._list.pop(0))
        self._list.append(place)
        return place


# Stack distances from and to; to 0: beyond the stack.
Range = tuple[int, int]


def ranges(count: int, scale: float) -> list[Range]:
    """So many ranges of stack distances, 1, 2, to 4, to 8, ..., and what is
    beyond.  Of the d - 1 places in between a smaller trace has a share, which
    is binomial: a range ends two standard deviations further out, so that its
    most popular places are in it."""
    def end(distance: int, sign: int) -> float:
        n = distance - 1
        return 1 + n * scale + sign * 2 * sqrt(n * scale * max(1 - scale, 0))

    return [*((max(floor(end((1 << k) // 2 + 1, -1)), 1),
               ceil(end(1 << k, 1))) for k in range(count)), (0, 0)]


def _distances(rng: Any, n: int, near: tuple[float, ...], scale: float) \
        -> Iterator[Range]:
    """n ranges of stack distances."""
    k = np.searchsorted(np.cumsum(near), rng.random(n), "right")
    return map(ranges(len(near), scale).__getitem__, k.tolist())


class _Runs:
    """The runs of reads or of writes that are under way."""

    def __init__(self, rng: Any, n: int, kind: Kind, universe: int,
                 scale: float, reverse: bool) -> None:
        self.length = lengths(rng, universe, kind)
        self._distance = _distances(rng, n, kind.reuse.near, scale)
        self._chance = iter(rng.random(n).tolist())
        given = tuple((count * scale, share)
                      for count, share in kind.reuse.zones)
        self._popularity = _Popularity(rng, given, universe, reverse)
        self._runs = kind.runs
        self._last: tuple[int, int] | None = None  # place, requests so far
        self._open: list[tuple[int, int]] = []

    def next(self, stack: _Stack) -> tuple[int, int]:
        """The place of the next request, and the requests of the run before
        it."""
        chance = next(self._chance)
        if self._last and chance < self._runs.at_once:
            place, step = self._last
        else:
            waiting = len(self._open)  # without the last one
            if self._last:
                self._open.append(self._last)
                chance = (chance - self._runs.at_once) / (
                    1 - self._runs.at_once)
            if chance * self._runs.lag < waiting:
                place, step = self._open.pop(0)
            else:
                place = stack.use(next(self._distance), self._popularity)
                step = 0
        more = step + 1 < self.length[place]
        self._last = (place, step + 1) if more else None
        return place, step


def places(rng: Any, write: Any, shape: Shape, universe: int,
           scale: float = 1.0) -> tuple[Any, Any, Any]:
    """Of each request the place of its run, 0..universe-1, and how many
    requests of the run came before it; and the requests of the runs of each
    place.  Reads and writes share the stack, each with distances of its own."""
    n = len(write)
    runs = [_Runs(rng, n, shape.read, universe, scale, True),
            _Runs(rng, n, shape.write, universe, scale, False)]
    depth = max(high for kind in (shape.read, shape.write)
                for _, high in ranges(len(kind.reuse.near), scale))
    stack = _Stack(rng, max(min(depth, universe // 2), 1))
    place, step = np.empty(n, "i8"), np.empty(n, "i8")
    for i, kind_of in enumerate(write.astype("i8").tolist()):
        place[i], step[i] = runs[kind_of].next(stack)
    return place, step, np.maximum(runs[0].length, runs[1].length)


# ---- sizes and addresses --------------------------------------------------------------


def lengths(rng: Any, n: int, kind: Kind) -> Any:
    """Requests of each of n runs."""
    more = rng.geometric(max(1 - kind.runs.go_on, 1e-3), n)
    return 1 + np.where(rng.random(n) < kind.runs.start, more, 0)


def mean_length(kind: Kind) -> float:
    """The mean of lengths()."""
    return 1 + kind.runs.start / max(1 - kind.runs.go_on, 1e-3)


def _ranks(rng: Any, n: int, stay: float) -> Any:
    """n uniform numbers; each is the one before it with that probability."""
    index = np.arange(n)
    fresh = rng.random(n) >= stay
    fresh[:1] = True
    return rng.random(n)[np.maximum.accumulate(np.where(fresh, index, 0))]


class _Tilt:
    """Shares of sizes, multiplied by exp(t * size)."""

    def __init__(self, sizes: Sizes, grain: int) -> None:
        value = np.array([s for s, _ in sizes.sectors]) * SECTOR
        value = np.clip(-(-value // grain) * grain, grain, LARGEST)
        order = np.argsort(value, kind="stable")
        self.value = value[order]
        self._share = np.array([s for _, s in sizes.sectors])[order]

    def shares(self, t: float) -> Any:
        """Of the values, in order."""
        tilt = self._share * np.exp(t * self.value / self.value.max()
                                    - max(t, 0))
        return tilt / tilt.sum()

    def sizes(self, t: float, rank: Any) -> Any:
        """The size of each rank."""
        bound = np.cumsum(self.shares(t))
        return self.value[np.minimum(np.searchsorted(bound, rank, "right"),
                                     len(self.value) - 1)].astype("i8")

    def mean(self, t: float) -> float:
        """Of the shares."""
        return float((self.shares(t) * self.value).sum())


def _found(mean_at: Callable[[float], float], mean: float) -> float:
    """The t with that mean, by bisection."""
    low, high = -400.0, 400.0
    for _ in range(40):
        t = (low + high) / 2
        low, high = (t, high) if mean_at(t) < mean else (low, t)
    return high


def _halves(weight: Any) -> list[Any]:
    """The weights of the hottest, which have half of the sum, and of the
    others."""
    order = np.argsort(-weight, kind="stable")
    hot = np.zeros(len(weight), bool)
    hot[order[:np.searchsorted(np.cumsum(weight[order]),
                               weight.sum() / 2) + 1]] = True
    return [np.where(hot, weight, 0), np.where(hot, 0, weight)]


def _sized(rng: Any, sizes: Sizes, weight: Any, mean: float, grain: int) \
        -> Any:
    """Sizes with that weighted mean.  Few hot places have a large part of the
    weight, and size does not depend on popularity: of some draws, that one is
    taken in which the mean is nearest among the hottest and among the others.
    The rest is done by tilting the shares."""
    tilt = _Tilt(sizes, grain)
    total = float(weight.sum())
    if total and not tilt.value[0] <= mean <= tilt.value[-1]:
        raise UserError(f"a mean size of {mean / SECTOR:g} sectors: the fitted"
                        f" sizes are {tilt.value[0] // SECTOR} to"
                        f" {tilt.value[-1] // SECTOR}")
    plain = _found(tilt.mean, mean)
    halves = [h for h in _halves(weight) if h.any()]
    drawn = []
    for _ in range(DRAWS):
        rank = _ranks(rng, len(weight), sizes.stay)
        nbytes = tilt.sizes(plain, rank)
        off = max((abs(float((nbytes * h).sum() / h.sum()) / mean - 1)
                   for h in halves), default=0.0)
        drawn.append((off, rank))
        if off < ALIKE:
            break

    def mean_of(rank: Any) -> Callable[[float], float]:
        return lambda t: float((tilt.sizes(t, rank) * weight).sum()) / total

    best, least = tilt.sizes(plain, drawn[0][1]), np.inf
    for _, rank in sorted(drawn, key=lambda d: d[0]) if total else ():
        t = _found(mean_of(rank), mean)
        off = abs(mean_of(rank)(t) / mean - 1)
        if off < least:
            best, least = tilt.sizes(t, rank), off
        if least < CLOSE:
            break
    return best


def _begins(rng: Any, used: Any, run_bytes: Any, universe: int,
            table: Table) -> Any:
    """Where the run of each used place begins: places in any order, one behind
    the other; those without requests take the mean."""
    room = np.full(universe, run_bytes.mean())
    room[used] = run_bytes
    room *= table.footprint / room.sum()
    order = rng.permutation(universe)
    begin = np.empty(universe)
    begin[order] = np.cumsum(room[order]) - room[order]
    at = (begin[used] / table.grain).astype("i8") * table.grain
    return np.maximum(np.minimum(at, table.footprint - run_bytes), 0)


def place_bytes(shape: Shape, table: Table) -> float:
    """Mean bytes of a place: of its run's requests."""
    share = table.read_count()
    return sum(p * max(s * SECTOR, table.grain) * mean_length(k)
               for p, s, k in ((share, table.read_sectors, shape.read),
                               (1 - share, table.write_sectors, shape.write)))


def _requests(rng: Any, write: Any, shape: Shape, table: Table) \
        -> tuple[Any, Any]:
    """Offsets and sizes."""
    kinds = (shape.read, shape.write)
    means = [max(s * SECTOR, table.grain)
             for s in (table.read_sectors, table.write_sectors)]
    universe = max(int(table.footprint / place_bytes(shape, table)), 2)
    place, step, length = places(rng, write, shape, universe, table.scale)
    used, first, index = np.unique(place, return_index=True,
                                   return_inverse=True)
    # A slot is a request of a place's run; slots are in the order of the
    # first runs, so that successive sizes are alike.
    by_age = np.argsort(first)
    length = length[used]
    end = np.empty(len(used), "i8")
    end[by_age] = np.cumsum(length[by_age])
    slot = end[index] - length[index] + step
    slots = int(length.sum())
    size, ahead, room = [], [], np.zeros(len(used), "i8")
    for kind, mean, k in zip((False, True), means, kinds):
        weight = np.bincount(slot[write == kind], minlength=slots)
        nbytes = _sized(rng, k.sizes, weight, mean, table.grain)
        size.append(np.minimum(nbytes, table.footprint))
        ahead.append(np.concatenate([[0], np.cumsum(size[-1])]))
        room = np.maximum(room, ahead[-1][end] - ahead[-1][end - length])
    at = _begins(rng, used, np.minimum(room, table.footprint), universe, table)
    begin = (end - length)[index]
    nbytes = np.where(write, size[1][slot], size[0][slot])
    offset = at[index] + np.where(write, ahead[1][slot] - ahead[1][begin],
                                  ahead[0][slot] - ahead[0][begin])
    return np.minimum(offset, table.footprint - nbytes), nbytes


# ---- all ---------------------------------------------------------------------------------


def counted(shape: Shape, counts: Any, source: str) -> Shape:
    """The popularity of the written places from a histogram of addresses."""
    unseen = float((counts == 1).sum() / counts.sum())
    reuse = replace(shape.write.reuse, zones=zones(counts, unseen),
                    zones_source=source)
    return replace(shape, write=replace(shape.write, reuse=reuse))


def bounded(shape: Shape, sectors: int) -> Shape:
    """Without sizes above that."""
    def cut(kind: Kind) -> Kind:
        return replace(kind, sizes=replace(kind.sizes, sectors=tuple(
            s for s in kind.sizes.sectors if s[0] <= sectors)))

    return Shape(cut(shape.read), cut(shape.write))


def made(name: str, shape: Shape, table: Table, n: int, seed: int) -> Trace:
    """n requests with the table's attributes and the shape."""
    rng = np.random.default_rng(seed)
    span = max(int(n * table.iat_s * NS), 1)
    reads = round(n * table.read_count())
    at = np.concatenate([
        arrivals(rng, reads, span, shape.read.arrivals),
        arrivals(rng, n - reads, span, shape.write.arrivals)])
    order = np.argsort(at, kind="stable")
    write = order >= reads
    offset, nbytes = _requests(rng, write, shape, table)
    return Trace(at[order], write, offset, nbytes,
                 f"{name}, generated: {n} requests with the means of the"
                 f" paper's table; {sources(shape)}")


def generate(volume: str, table: Table, n: int, seed: int,
             counts: Any = None) -> Trace:
    """A stand-in for a volume of shapes.json; counts: a histogram of its
    written addresses, to be used instead of the fitted one."""
    shape = load()[volume]
    if counts is not None:
        shape = counted(shape, counts, "the folder's lba_freq")
    return made(volume, shape, table, n, seed)
