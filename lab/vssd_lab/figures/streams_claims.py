# SPDX-License-Identifier: GPL-2.0-or-later
"""What Kang et al. (HotStorage 2014, slides) state of a multi-streamed SSD, and
its panels.

The slides' curves have no numbers in their text, so the ranges are those of
their words: "about" a value is the value plus or minus 10 %.  The abstract of
the paper has one more number, 56 %.

An effect, that one series is faster than another, is judged by the mean of all
minutes after the load: a store pauses, and a minute of it differs from the next
by 8 to 41 % in guests.  What the paper says of the course, "decreases" and
"sustain", is judged by the last quarter.

Knows neither how a series was played nor on what drive: streams.py plays them
in the model, streams_guest.py in guests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import judge
from .figure import Chart, Curves, Panel, Row

PAGE = 4096
MINUTES = 40
LATE = 0.25  # the last part of the run, of which levels are told
PERCENT = [99 + i / 10 for i in range(11)]

OFF, ON, APP, LOG, DATA = SERIES = (
    "TRIM off", "TRIM on", "Multi-App", "Multi-Log", "Multi-Data")
FRESH = 1.0
ABOVE_0 = math.ulp(0.0)  # no difference is no effect
ABOUT = judge.about(FRESH)
NEARLY_NONE = 0.05  # our reading of slide 31
TAIL_LESS = 54.0  # per cent
WORST_ABOVE = 56.0  # per cent: "nearly"


@dataclass(frozen=True)
class Series:
    """The result of one."""

    waf: float
    rate: Any  # in each minute after the load
    fresh: float  # the same of a fresh drive
    written: Any  # pages of 4 KiB by the host, so far, at the end of each
    copied: Any  # and by GC
    tail_ms: list[float]  # latency that PERCENT of the writes do not exceed
    run: Any = None  # label of the run of vssd-sim that it is of

    def level(self, minutes: int) -> float:
        """Throughput at the end, of the fresh drive's."""
        return float(np.mean(self.rate[late(minutes)])) / self.fresh

    def mean(self, minutes: int) -> float:
        """Throughput of all minutes, of the fresh drive's."""
        return float(np.mean(self.rate[:minutes])) / self.fresh

    def worst(self, minutes: int) -> float:
        """Throughput of the slowest minute, of the fresh drive's."""
        return float(np.min(self.rate[:minutes])) / self.fresh

    def copies(self, minutes: int) -> float:
        """Pages that were copied for each that the host wrote, at the end."""
        part = late(minutes)
        return float(np.sum(np.diff(self.copied, prepend=0)[part])
                     / np.sum(np.diff(self.written, prepend=0)[part]))

    def tail(self, percent: float) -> float:
        """One of tail_ms."""
        return self.tail_ms[PERCENT.index(percent)]


Played = dict[str, Series]  # all series of one seed


class _Seen(dict[str, Series]):
    """The series of a seed; tells which were asked for."""

    def __init__(self, played: Played) -> None:
        super().__init__(played)
        self._names: set[str] = set()

    def __getitem__(self, name: str) -> Series:
        self._names.add(name)
        return super().__getitem__(name)

    def runs(self) -> list[Any]:
        """Labels of those; without a name, of all."""
        return [s.run for n, s in self.items()
                if s.run and (n in self._names or not self._names)]


def late(minutes: int) -> slice:
    """The minutes of which levels are told."""
    return slice(minutes - max(int(minutes * LATE), 1), minutes)


# ---- statements ---------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """One of the paper's, and how it comes from the series of a seed.  A value
    of None: these runs cannot tell."""

    panel: str
    point: str
    value: Callable[[Played, int], float | None]
    low: float | None
    high: float | None
    source: str
    text: str = ""
    points: bool = False  # low and high are of a value in per cent
    why: Callable[[Played, int], str] = lambda p, m: ""

    def samples(self, played: Sequence[Played], minutes: int) -> list[float]:
        """A value for each seed; nothing, if one cannot tell."""
        found = [self.value(p, minutes) for p in played]
        return [x for x in found if x is not None] \
            if None not in found else []

    def row(self, played: list[Played], minutes: int) -> Row:
        """Judged."""
        seen = [_Seen(p) for p in played]
        samples = self.samples(seen, minutes)
        out = judge.claim(self.panel, self.point, samples, self.low,
                          self.high, source=self.source, text=self.text,
                          runs=[run for p in seen for run in p.runs()])
        out["points"] = self.points
        if out["verdict"] != judge.HOLDS:
            out["why"] = self.why(played[0], minutes) if samples else \
                "GC copies nothing in either"
        return out


def _copying(name: str) -> Callable[[Played, int], str]:
    return lambda p, m: (f"with {name} GC copies {p[name].copies(m):.3f} pages"
                         " for each that is written in the last quarter")


def _ratio(name: str, than: str) -> Callable[[Played, int], float | None]:
    return lambda p, m: p[name].mean(m) / p[than].mean(m)


def _above(name: str, than: str) -> Callable[[Played, int], float | None]:
    """By how much the throughput of `name` is above; without GC there is
    nothing that could make a difference."""
    def value(p: Played, m: int) -> float | None:
        if not p[name].copied[-1] and not p[than].copied[-1]:
            return None
        return p[name].mean(m) - p[than].mean(m)
    return value


def _worst(name: str, than: str) -> Callable[[Played, int], float | None]:
    """By how many per cent the slowest minute of `name` is above; without GC,
    see _above."""
    def value(p: Played, m: int) -> float | None:
        if not p[name].copied[-1] and not p[than].copied[-1]:
            return None
        return 100 * (p[name].worst(m) / p[than].worst(m) - 1)
    return value


def _fewer(name: str, than: str) -> Callable[[Played, int], float | None]:
    """By how many of its copies `than` has more."""
    def value(p: Played, m: int) -> float | None:
        if not p[than].copied[-1]:
            return None
        return 1 - float(p[name].copied[-1] / p[than].copied[-1])
    return value


def _tail(name: str, than: str) -> Callable[[Played, int], float | None]:
    """By how many per cent the tail of `name` is below; without GC, see
    _above."""
    def value(p: Played, m: int) -> float | None:
        if not p[name].copied[-1] and not p[than].copied[-1]:
            return None
        return 100 * (1 - p[name].tail(99.9) / p[than].tail(99.9))
    return value


def _correlation(p: Played, minutes: int) -> float | None:
    """Of throughput and copied pages, over the minutes of all series."""
    rate = np.concatenate([s.rate[:minutes] / s.fresh for s in p.values()])
    copied = np.concatenate([np.diff(s.copied, prepend=0)[:minutes]
                             for s in p.values()])
    if not copied.any():
        return None
    return float(np.corrcoef(rate, copied)[0, 1])


def _statements() -> Iterator[Statement]:
    name = "throughput"
    yield Statement(name, f"{OFF}, of the fresh level",
                    lambda p, m: p[OFF].level(m), None, ABOUT[0],
                    "slide 6: gradually decreases", why=_copying(OFF))
    yield Statement(name, f"{ON} / {OFF}", _ratio(ON, OFF), ABOUT[1], None,
                    "slide 23: non-trivial improvement", why=_copying(ON))
    yield Statement(name, f"{ON}, of the fresh level",
                    lambda p, m: p[ON].level(m), None, ABOUT[0],
                    "slide 23: still far from ideal", why=_copying(ON))
    for slide, (n, than) in enumerate(zip(SERIES[2:], SERIES[1:]), 24):
        yield Statement(name, f"{n} above {than}", _above(n, than), ABOVE_0,
                        None,
                        f"slide {slide}", "difference above 0")
    yield Statement(name, f"{DATA}, of the fresh level",
                    lambda p, m: p[DATA].level(m), *ABOUT,
                    "slide 9: can sustain throughput", why=_copying(DATA))
    yield Statement(name, f"{DATA}, slowest minute above that of {ON} by",
                    _worst(DATA, ON), *judge.near(WORST_ABOVE, True),
                    "abstract: worst-case update throughput improved by nearly"
                    " 56 %", f"{WORST_ABOVE:g} %", points=True)
    yield Statement(name, "correlation with copied pages", _correlation, None,
                    -ABOUT[0], "slide 31: very well correlated")
    name = "copies"
    for slide, (n, than) in enumerate(zip(SERIES[1:], SERIES), 28):
        yield Statement(name, f"{n}, less than {than} by", _fewer(n, than),
                        ABOVE_0, None, f"slide {slide}", "above 0")
    yield Statement(name, f"{DATA}, less than {OFF} by", _fewer(DATA, OFF),
                    1 - NEARLY_NONE, None, "slide 31: nearly none",
                    why=_copying(DATA))
    name = "latency"
    yield Statement(name, f"{DATA} at 99.9 %, less than {ON} by",
                    _tail(DATA, ON), *judge.near(TAIL_LESS, True),
                    "slide 32: 54 %", f"{TAIL_LESS:g} %", points=True,
                    why=lambda p, m: f"{p[DATA].tail(99.9):.2f} and"
                    f" {p[ON].tail(99.9):.2f} ms")
    for n in SERIES[2:]:
        yield Statement(name, f"{n} at 99.9 %, below {ON} by", _tail(n, ON),
                        ABOVE_0, None, "slide 32: improves write latency",
                        "above 0")


STATEMENTS = tuple(_statements())


def rows(panel: str, played: list[Played], minutes: int) -> list[Row]:
    """The statements of a panel."""
    return [s.row(played, minutes) for s in STATEMENTS if s.panel == panel]


# ---- panels -------------------------------------------------------------------


def _x(minutes: int) -> list[str]:
    return [str(i + 1) for i in range(minutes)]


def _mean(played: list[Played], curve: Callable[[Series], Any]) -> Curves:
    """Each series' curve, the mean over the seeds."""
    return {n: [float(v) for v in np.mean([curve(p[n]) for p in played],
                                          axis=0)] for n in SERIES}


def throughput(played: list[Played], minutes: int, inputs: list[str]) -> Panel:
    """Of each minute, and its data that is left at the end."""
    name = "throughput"
    some = rows(name, played, minutes)
    some += [judge.shown(name, f"{n}: WAF of the run",
                         [p[n].waf for p in played], "") for n in SERIES]
    some += [judge.shown(name, f"{n}: {what}",
                         [f(p[n], minutes) for p in played],
                         "of the fresh drive's")
             for n in SERIES for f, what in (
                 (Series.mean, "mean of all minutes"),
                 (Series.worst, "slowest minute"))]
    worst = _worst(DATA, OFF)
    some.append(judge.shown(
        name, f"{DATA}, slowest minute above that of {OFF} by",
        [x for p in played if (x := worst(p, minutes)) is not None],
        "per cent; the abstract does not say which conventional drive"))
    return Panel(name, "Throughput of writes, of the fresh drive's, over"
                 " minutes", inputs, some,
                 Chart(_x(minutes),
                       _mean(played, lambda s: s.rate[:minutes] / s.fresh),
                       "of the fresh drive", lines=True,
                       low=[ABOUT[0]] * minutes, high=[ABOUT[1]] * minutes))


def copies(played: list[Played], minutes: int, inputs: list[str]) -> Panel:
    """At the end of the runs: after the same work."""
    name = "copies"
    some = rows(name, played, minutes)
    some += [judge.shown(name, f"{n}: pages of 4 KiB",
                         [float(p[n].copied[-1]) for p in played], "")
             for n in SERIES]
    return Panel(name, "Pages that GC has copied, over minutes",
                 inputs, some,
                 Chart(_x(minutes),
                       _mean(played, lambda s: s.copied[:minutes]),
                       "pages of 4 KiB", lines=True))


def tails(played: list[Played], minutes: int, inputs: list[str], what: str,
          log: bool = False) -> Panel:
    """Latencies; `what` names their source."""
    name = "latency"
    some = rows(name, played, minutes)
    some += [judge.shown(name, f"{n}: 99.9 % in ms",
                         [p[n].tail(99.9) for p in played], what)
             for n in SERIES]
    curves = _mean(played, lambda s: s.tail_ms)
    on = curves[ON][PERCENT.index(99.9)]
    assert on is not None
    band = [[(1 - x / 100) * on if p == 99.9 else None for p in PERCENT]
            for x in judge.near(TAIL_LESS, True)]
    return Panel(name, "Latency of writes that so many percent do not exceed",
                 inputs, some,
                 Chart([f"{p:g}" for p in PERCENT], curves, "ms", lines=True,
                       log=log, low=band[1], high=band[0]))
