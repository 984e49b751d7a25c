# SPDX-License-Identifier: GPL-2.0-or-later
"""Early dirty buffer flush with second chance for SSDs (I. Shin, Micromachines
14:796, 2023), Figures 4 to 8.

CFLRU, CFLRU-EF and CFLRU-EF-SC in a buffer of 32 MiB to 1 GiB, without and with
a flush of everything each 30 s; LRU is shown beside them.  NAND writes are
pages programmed and, so that a buffer that holds everything is not a drive
that writes nothing, those still dirty in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from . import judge, ssdsim
from .buffer_input import SEED, TABLE, Input
from .buffer_runs import (
    BASE,
    EARLY,
    FIRST,
    FLUSHED,
    JUDGED,
    LATE_FLUSH,
    LENGTH,
    ONCE,
    PARAMETERS,
    POLICIES,
    SECOND,
    SIZES,
    SWEEP,
    SWEPT_SIZES,
    USED,
    WEEK,
    Choice,
    Key,
    Runs,
)
from .figure import Chart, Context, Panel
from .judge import Row

TITLE = "Early flush with second chance (Shin 2023)"

# Sections 4.2.1 and 4.2.2: the least and the most over the sizes.
MEAN = {"web": (0.70, 0.94), "hm0": (0.24, 0.38), "prn0": (0.08, 0.29),
        "proj0": (0.14, 0.79), "prxy0": (0.03, 1.00), "mix": (0.15, 0.22)}
MEAN_BELOW = {"web": (-1.6, 8.4), "hm0": (-6.2, 23.7), "prn0": (-4.9, 10.4),
              "proj0": (-9.6, 20.2), "prxy0": (-4.5, 28.5),
              "mix": (6.1, 13.3)}
WRITES = {"web": (0.93, 0.99), "hm0": (0.85, 0.99), "prn0": (0.95, 1.02),
          "proj0": (0.80, 0.93), "prxy0": (0.46, 1.02), "mix": (0.83, 0.96)}
WRITES_BELOW = {"web": (0.0, 4.3), "hm0": (-2.0, 12.1), "prn0": (1.7, 4.8),
                "proj0": (2.3, 21.6), "prxy0": (-1.6, 54.3),
                "mix": (4.2, 18.0)}
BEST_AT = {"proj0": "64 MiB", "prxy0": "64 MiB"}  # fewest writes
EARLY_MORE = 1.022  # CFLRU-EF's writes in the mix, at most
TAIL = {"web": (0.15, 0.59), "mix": (0.26, 0.77)}
TAIL_BELOW = {"web": 20.1, "mix": 32.0}  # EF-SC below EF, %, at most
HITS = {"web": 68.0, "prn0": 69.0, "proj0": 95.0, "prxy0": 99.0}  # at 1 GiB
FEWER_MISSES = {"proj0": 20.5, "prxy0": 53.5}  # %, at 64 MiB
# With the flush each 30 s, of the mix.
FLUSHED_MEAN, FLUSHED_TAIL = 0.27, 0.17  # at 32 MiB, at 256 MiB
FLUSHED_WRITES = 1.01  # CFLRU-EF, at most
MOST_CASES = 0.5  # a share of the sizes above this

By = dict[int, list[float]]  # by size, by seed


def _at(mib: int) -> str:
    return "1 GiB" if mib == 1024 else f"{mib} MiB"


# ---- why --------------------------------------------------------------------------


def _why(runs: Runs, name: str, mib: int, variant: str = ONCE) -> str:
    """What each policy did at a size, in the first seed."""
    text = []
    for policy in (BASE, EARLY, SECOND):
        k = (name, mib, policy, variant, SEED, JUDGED, False)
        b = runs.results[k]["buffer"]
        text.append(f"{policy} {runs.mean_us(k):.0f} us, hits"
                    f" {runs.hit(k):.1f} %, {runs.victims(k):.3f} dirty"
                    f" victims a request, {b['rewrites_after_flush']} of"
                    f" {b['early_flushes']} early flushes in vain")
    return f"at {_at(mib)}: " + "; ".join(text)


def _tested(runs: Runs, row: Row, get: Callable[[Choice], float],
            full: bool = True) -> Row:
    """The hypothesis for the side on which a ratio of times deviates, and the
    run of the sweep that tests it.  full: the buffer has victims there."""
    low, high = row["low"], row["high"]
    if not runs.swept or row["verdict"] in (None, judge.HOLDS):
        return row
    bounds = (None, high) if high is not None and row["ours"] > high \
        else (low, None)
    if not full:
        choice = Choice(LENGTH, WEEK)
        text = (f"{FIRST} requests do not fill the buffer, so that no policy"
                " makes a difference; those of the week do")
    elif bounds[0] is None:
        choice = Choice("b of the arrivals", "0.5")
        text = ("bursts leave no idle time for early flush when it is needed;"
                " with arrivals like Poisson's the ratio is small enough")
    else:
        other = "program" if USED["completion"] == "data-in" else "data-in"
        choice = Choice("completion", other)
        text = ("it depends on when a victim's room is free; with the other"
                " rule the ratio is large enough")
    return judge.because(row, text, f"the sweep's run with {choice.text()}",
                         [get(choice)], *bounds)


def _flushed_late(runs: Runs, row: Row, what: str, mib: int) -> None:
    """Test why the flush each 30 s leaves nothing to gain."""
    if runs.swept and row["verdict"] in (judge.DEVIATES, judge.UNSTABLE):
        judge.because(
            row, "the host writes 13 MB in 30 s here, so that most of each"
            " buffer stays clean and CFLRU has few dirty victims; with fewer"
            " flushes early flush gains as much as in the paper",
            f"the sweep's run with {LATE_FLUSH.text()}",
            [runs.swept_ratio(what, "mix", mib, SECOND, BASE, LATE_FLUSH,
                              FLUSHED)], None, row["high"])


# ---- claims over the sizes -----------------------------------------------------------


class Measured:
    """A ratio of two policies over the sizes: judged, and in the sweep."""

    def __init__(self, runs: Runs, what: str, name: str, of: str, over: str,
                 percent: bool = False, variant: str = ONCE) -> None:
        self.runs, self.name, self.variant = runs, name, variant
        self._key = (what, name)
        self._policies = (of, over)
        self._percent = percent
        self.by: By = {s: [self._form(r) for r in runs.ratio(
            what, name, s, of, over, variant)] for s in SIZES}

    def _form(self, ratio: float) -> float:
        return 100 * (1 - ratio) if self._percent else ratio

    def labels(self, sizes: Iterable[int] = SIZES) -> list[Key]:
        """Of its judged runs."""
        return self.runs.labels(self.name, sizes, self._policies, self.variant)

    def full(self, mib: int) -> bool:
        """Has the base's buffer dirty victims at this size?"""
        return self.runs.victims((self.name, mib, BASE, self.variant, SEED,
                                  JUDGED, False)) > 0

    def over_sizes(self, pick: Callable[[tuple[float, ...]], float]) \
            -> list[float]:
        """A statistic of the sizes, by seed."""
        return [pick(v) for v in zip(*self.by.values())]

    def swept(self, pick: Callable[[tuple[float, ...]], float],
              choice: Choice) -> float:
        """The same in the sweep, over fewer sizes."""
        what, name = self._key
        return pick(tuple(self._form(self.runs.swept_ratio(
            what, name, s, *self._policies, choice, self.variant))
            for s in SWEPT_SIZES))

    def sweep(self, row: Row,
              pick: Callable[[tuple[float, ...]], float]) -> Row:
        """Add each parameter's sweep to a claim."""
        if self.runs.swept:
            for parameter, values in PARAMETERS.items():
                judge.swept(row, parameter, {
                    v: [self.swept(pick, JUDGED if v == USED[parameter]
                                   else Choice(parameter, v))]
                    for v in values}, USED[parameter])
        return row

    def where(self, pick: Callable[..., int]) -> str:
        """The size with the least or the most, in words."""
        return _at(pick(self.by, key=lambda s: judge.mean(self.by[s])))


def _ends(m: Measured, panel: str, what: str, bounds: tuple[float, float],
          source: str) -> list[Row]:
    """The least and the most over the sizes, each within the paper's."""
    out = []
    for word, pick in (("least", min), ("most", max)):
        size = m.where(pick)
        row = judge.claim(panel, f"{what}, {word}", m.over_sizes(pick),
                          *bounds, source=source,
                          why=_why(m.runs, m.name, _size(size), m.variant),
                          runs=m.labels())
        row |= {"points": what.endswith("%")}
        _tested(m.runs, row, partial(m.swept, pick), m.full(_size(size)))
        out.append(m.sweep(row, pick))
    return out


def _size(text: str) -> int:
    return next(s for s in SIZES if _at(s) == text)


def _share(m: Measured, good: Callable[[float], bool]) -> list[float]:
    """For how many of the sizes it is so, by seed."""
    return [sum(good(x) for x in v) / len(v) for v in zip(*m.by.values())]


def _chart(runs: Runs, name: str, what: str, ylabel: str,
           bounds: tuple[float, float] | None, variant: str = ONCE) -> Chart:
    series: dict[str, list[float | None]] = {}
    errors: dict[str, list[float | None]] = {}
    for policy in (EARLY, SECOND):
        by = Measured(runs, what, name, policy, BASE, variant=variant).by
        series[policy] = [judge.mean(v) for v in by.values()]
        errors[policy] = [judge.interval(v)[1] - judge.mean(v)
                          for v in by.values()]
    of = getattr(runs, what)
    series["lru"] = [
        of((name, s, "lru", variant, SEED, JUDGED, False))
        / max(of((name, s, BASE, variant, SEED, JUDGED, False)), 1e-9)
        for s in SIZES]
    low: list[float | None] = [bounds[0] if bounds else None] * len(SIZES)
    high: list[float | None] = [bounds[1] if bounds else None] * len(SIZES)
    return Chart([_at(s) for s in SIZES], series, ylabel, lines=True,
                 low=low if bounds else [], high=high if bounds else [],
                 errors=errors)


# ---- panels -----------------------------------------------------------------------


def _inputs(runs: Runs, name: str) -> list[str]:
    return [runs.source(name),
            "open in the paper: " + ", ".join(
                f"{p} {v}" for p, v in USED.items()),
            ssdsim.CHOSEN,
            *([f"sweeps: one seed, {SWEEP:g} of requests, addresses and"
               f" buffers, at {', '.join(_at(s) for s in SWEPT_SIZES)}"]
              if runs.swept else [])]


def _means(runs: Runs, name: str) -> Panel:
    panel = f"mean {name}"
    to_base = Measured(runs, "mean_us", name, SECOND, BASE)
    early = Measured(runs, "mean_us", name, EARLY, BASE)
    below = Measured(runs, "mean_us", name, SECOND, EARLY, percent=True)
    text = "section 4.2.1, Figure 4"
    rows = _ends(to_base, panel, f"{SECOND} / {BASE}", MEAN[name], text)
    rows += _ends(below, panel, f"{SECOND} below {EARLY}, %",
                  MEAN_BELOW[name], text)
    rows.append(early.sweep(judge.claim(
        panel, f"{EARLY} / {BASE}, most", early.over_sizes(max), None, 1,
        source="section 4.2.1: lower in all traces, regardless of cache"
        " capacity", why=_why(runs, name, _size(early.where(max))),
        runs=early.labels()), max))
    other = "program" if USED["completion"] == "data-in" else "data-in"
    if runs.swept:
        rows.append(judge.shown(
            panel, f"{SECOND} / {BASE} at {_at(SWEPT_SIZES[1])}, room free at"
            f" {other}", runs.swept_ratio(
                "mean_us", name, SWEPT_SIZES[1], SECOND, BASE,
                Choice("completion", other)), "a run of the sweep"))
    return Panel(panel, f"{name}: mean response, to that of CFLRU (Figure 4)",
                 _inputs(runs, name), rows,
                 _chart(runs, name, "mean_us", "mean response / CFLRU's",
                        MEAN[name]))


def _tails(runs: Runs, name: str) -> Panel:
    panel = f"tail {name}"
    text = "section 4.2.1, Figure 5"
    to_base = Measured(runs, "tail_us", name, SECOND, BASE)
    below = Measured(runs, "tail_us", name, SECOND, EARLY, percent=True)
    early = Measured(runs, "tail_us", name, EARLY, BASE)
    rows = _ends(to_base, panel, f"{SECOND} / {BASE}", TAIL[name], text)
    rows.append(early.sweep(judge.claim(
        panel, f"{EARLY} / {BASE}, most", early.over_sizes(max), None, 1,
        source=text + ": lower regardless of cache capacity",
        runs=early.labels()), max))
    rows.append(below.sweep(judge.claim(
        panel, f"{SECOND} below {EARLY}, %, most", below.over_sizes(max),
        *judge.about(TAIL_BELOW[name]), source=text,
        text=f"up to {TAIL_BELOW[name]:g}",
        why=_why(runs, name, _size(below.where(max))),
        runs=below.labels()), max))
    rows.append(judge.claim(
        panel, f"{SECOND} shorter than {EARLY}, share of sizes",
        _share(below, lambda x: x >= 0), MOST_CASES, None,
        source=text + ": generally slightly shorter", runs=below.labels()))
    return Panel(panel, f"{name}: mean of the slowest 1 %, to that of CFLRU"
                 " (Figure 5)", _inputs(runs, name), rows,
                 _chart(runs, name, "tail_us", "tail / CFLRU's", TAIL[name]))


def _written(runs: Runs, name: str) -> Panel:
    panel = f"writes {name}"
    text = "section 4.2.2, Figure 6"
    to_base = Measured(runs, "writes", name, SECOND, BASE)
    early = Measured(runs, "writes", name, EARLY, BASE)
    below = Measured(runs, "writes", name, SECOND, EARLY, percent=True)
    rows = _ends(to_base, panel, f"{SECOND} / {BASE}", WRITES[name], text)
    rows += _ends(below, panel, f"{SECOND} below {EARLY}, %",
                  WRITES_BELOW[name], text)
    rows.append(judge.claim(
        panel, f"{EARLY} not below {BASE}, share of sizes",
        _share(early, lambda x: x >= 1), MOST_CASES, None,
        source=text + ": CFLRU-EF generally writes more",
        why=_why(runs, name, _size(early.where(min))), runs=early.labels()))
    if name == "mix":
        rows.append(early.sweep(judge.claim(
            panel, f"{EARLY} / {BASE}, most", early.over_sizes(max), 1,
            EARLY_MORE, source=text + ": increases by up to 2.2 %",
            why=_why(runs, name, _size(early.where(max))),
            runs=early.labels()), max))
    if name in BEST_AT:
        rows.append(judge.extreme(
            panel, f"least {SECOND} / {BASE}",
            {_at(s): v for s, v in to_base.by.items()}, BEST_AT[name],
            pick=min, source=text + ": particularly good at 64 MB",
            runs=to_base.labels()))
    if name == "prxy0":
        rows.append(judge.claim(
            panel, f"{SECOND} / {BASE} from 256 MiB on, most",
            [max(v) for v in zip(*(to_base.by[s] for s in SIZES
                                   if s >= 256))], 1, 1.018,
            source=text + ": no benefit from 256 MB on, up to 1.8 % more",
            why=_why(runs, name, 256),
            runs=to_base.labels(s for s in SIZES if s >= 256)))
    return Panel(panel, f"{name}: NAND writes, to those of CFLRU (Figure 6)",
                 _inputs(runs, name), rows,
                 _chart(runs, name, "writes", "NAND writes / CFLRU's",
                        WRITES[name]))


def _hit_chart(runs: Runs, name: str, variant: str = ONCE) -> Chart:
    series: dict[str, list[float | None]] = {
        p: [judge.mean(runs.get("hit", name, s, p, variant)) for s in SIZES]
        for p in POLICIES[1:]}
    return Chart([_at(s) for s in SIZES], series, "hits, %", lines=True)


def _hits(runs: Runs, name: str) -> Panel:
    panel = f"hits {name}"
    text = "section 4.2.3, Figure 7"
    ratio = Measured(runs, "hit", name, SECOND, BASE)
    low, high = judge.about(HITS[name])
    rows = [
        judge.claim(panel, f"{BASE} at 1 GiB, %",
                    runs.get("hit", name, 1024, BASE), low, min(high, 100),
                    source=text, text=f"about {HITS[name]:g}",
                    why=_why(runs, name, 1024),
                    runs=runs.labels(name, (1024,), (BASE,))),
        judge.claim(panel, f"{SECOND} not below {BASE}, share of sizes",
                    _share(ratio, lambda x: x >= 1), MOST_CASES, None,
                    source=text + ": higher in most cases",
                    why=_why(runs, name, _size(ratio.where(min))),
                    runs=ratio.labels())]
    if name in FEWER_MISSES:
        a, b = (runs.get("hit", name, 64, p) for p in (SECOND, BASE))
        rows.append(judge.claim(
            panel, f"{SECOND}: misses below {BASE} at 64 MiB, %",
            [100 * (1 - (100 - x) / max(100 - y, 1e-9))
             for x, y in zip(a, b)], *judge.about(FEWER_MISSES[name]),
            source=text, text=f"{FEWER_MISSES[name]:g}",
            why=_why(runs, name, 64), runs=ratio.labels((64,))))
    return Panel(panel, f"{name}: hit ratio (Figure 7)", _inputs(runs, name),
                 rows, _hit_chart(runs, name))


def _flushed_time(runs: Runs) -> Iterator[Panel]:
    """Figure 8 a and b."""
    for panel, what, mib, value, figure in (
            ("flushed mean", "mean_us", 32, FLUSHED_MEAN, "8a"),
            ("flushed tail", "tail_us", 256, FLUSHED_TAIL, "8b")):
        m = Measured(runs, what, "mix", SECOND, BASE, variant=FLUSHED)
        below = Measured(runs, what, "mix", SECOND, EARLY, percent=True,
                         variant=FLUSHED)
        text = f"section 4.3, Figure {figure}"
        rows = [judge.claim(panel, f"{SECOND} / {BASE} at {_at(mib)}",
                            m.by[mib], *judge.about(value), source=text,
                            text=f"{value:g}",
                            why=_why(runs, "mix", mib, FLUSHED),
                            runs=m.labels((mib,)))]
        _flushed_late(runs, rows[0], what, mib)
        if what == "mean_us":
            rows.append(judge.claim(
                panel, f"{SECOND} / {BASE} at 1 GiB", m.by[1024],
                *judge.about(1), source=text, text="almost the same",
                why=_why(runs, "mix", 1024, FLUSHED),
                runs=m.labels((1024,))))
        rows.append(judge.claim(
            panel, f"{SECOND} not above {EARLY}, share of sizes",
            _share(below, lambda x: x >= 0), MOST_CASES, None,
            source=text + ": shorter in most cases", runs=below.labels()))
        yield Panel(panel, f"mix, everything flushed each 30 s: {what[:4]}, to"
                    f" that of CFLRU (Figure {figure})", _inputs(runs, "mix"),
                    rows, _chart(runs, "mix", what, f"{what[:4]} / CFLRU's",
                                 None, FLUSHED))


def _flushed_pages(runs: Runs) -> Iterator[Panel]:
    """Figure 8 c and d."""
    panel = "flushed writes"
    early = Measured(runs, "writes", "mix", EARLY, BASE, variant=FLUSHED)
    m = Measured(runs, "writes", "mix", SECOND, BASE, variant=FLUSHED)
    below = Measured(runs, "writes", "mix", SECOND, EARLY, percent=True,
                     variant=FLUSHED)
    text = "section 4.3, Figure 8c"
    rows = [
        judge.claim(panel, f"{EARLY} / {BASE}, most", early.over_sizes(max),
                    None, FLUSHED_WRITES, source=text + ": less than 1 %"
                    " more, even in CFLRU-EF",
                    why=_why(runs, "mix", _size(early.where(max)), FLUSHED),
                    runs=early.labels()),
        judge.claim(panel, f"{SECOND} not above {EARLY}, share of sizes",
                    _share(below, lambda x: x >= 0), MOST_CASES, None,
                    source=text + ": fewer writes", runs=below.labels()),
        judge.claim(panel, f"{SECOND} not above {BASE}, share of sizes",
                    _share(m, lambda x: x <= 1), MOST_CASES, None,
                    source=text + ": lower in most cases", runs=m.labels())]
    yield Panel(panel, "mix, everything flushed each 30 s: NAND writes, to"
                " those of CFLRU (Figure 8c)", _inputs(runs, "mix"), rows,
                _chart(runs, "mix", "writes", "NAND writes / CFLRU's", None,
                       FLUSHED))
    panel = "flushed hits"
    hits = Measured(runs, "hit", "mix", SECOND, BASE, variant=FLUSHED)
    yield Panel(panel, "mix, everything flushed each 30 s: hit ratio (Figure"
                " 8d)", _inputs(runs, "mix"),
                [judge.claim(panel, f"{SECOND} / {BASE}, {word}",
                             hits.over_sizes(pick), *judge.about(1),
                             source="section 4.3, Figure 8d: the difference"
                             " is not significant",
                             why=_why(runs, "mix", _size(hits.where(pick)),
                                      FLUSHED), runs=hits.labels())
                 for word, pick in (("least", min), ("most", max))],
                _hit_chart(runs, "mix", FLUSHED))


def _fits(ins: list[Input]) -> Panel | None:
    """The generated inputs of the first seed beside the table."""
    rows = [judge.shown("fit", f"{one.name}: {f.name}", f.made,
                        "of the generated input", f"{f.asked:.3g}")
            for one in ins for f in one.fit]
    if not rows:
        return None
    made = [one for one in ins if one.fit]
    names = [f.name for f in made[0].fit]
    series: dict[str, list[float | None]] = {
        one.name: [100 * (f.made / f.asked - 1) for f in one.fit]
        for one in made}
    return Panel("fit", "Generated inputs beside Table 1",
                 [one.source for one in made], rows,
                 Chart(names, series, "made - asked, %"))


def _speed(runs: Runs) -> Panel:
    """Requests per second of one core, over all judged runs of a policy."""
    speed = {}
    for policy in POLICIES:
        mine = [r for k, r in runs.results.items()
                if k[2] == policy and k[3] == ONCE and not k[6]]
        speed[policy] = sum(r["requests"] for r in mine) / max(
            sum(r["cpu_s"] for r in mine), 1e-9)
    return Panel("speed", "Requests per second and core of vssd-sim, by policy",
                 [], [judge.shown("speed", f"{p}: requests a second", speed[p],
                                  "of the model") for p in POLICIES],
                 Chart(list(POLICIES), {"ours": list(speed.values())},
                       "requests / s of one core"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 4 to 8 of the paper."""
    runs = Runs(ctx)
    fits = _fits([runs.input((n, SIZES[0], BASE, ONCE, SEED, JUDGED, False))
                  for n in TABLE])
    if fits:
        yield fits
    for name in MEAN:
        yield _means(runs, name)
    for name in TAIL:
        yield _tails(runs, name)
    for name in WRITES:
        yield _written(runs, name)
    for name in HITS:
        yield _hits(runs, name)
    yield from _flushed_time(runs)
    yield from _flushed_pages(runs)
    yield _speed(runs)
