# SPDX-License-Identifier: GPL-2.0-or-later
"""Early dirty buffer flush with second chance for SSDs (I. Shin, Micromachines
14:796, 2023), Figures 4 to 8.

CFLRU, CFLRU-EF and CFLRU-EF-SC in a buffer of 32 MiB to 1 GiB, without and with
a flush of everything each 30 s; LRU, PRLRU and PRLRU-EF are shown beside them.
NAND writes are pages programmed and, so that a buffer that holds everything is
not a drive that writes nothing, those still dirty in the end.

Statements are judged with both windows that the paper names, half and a third of
the buffer; 90 % is shown beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from . import judge
from .buffer_input import PINS, SEED, TABLE, Input
from .buffer_runs import (
    BASE,
    BESIDE,
    CHOSEN,
    EARLY,
    FLUSHED,
    JUDGED,
    LATE_FLUSH,
    LATE_SIZES,
    ONCE,
    PARAMETERS,
    POLICIES,
    PRLRU,
    SECOND,
    SETTINGS,
    SIZES,
    SWEPT_SIZES,
    USED,
    Choice,
    Key,
    Runs,
    key_of,
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
EARLY_MORE = 2.2  # %, CFLRU-EF's writes in the mix above CFLRU's, at most
TAIL = {"web": (0.15, 0.59), "mix": (0.26, 0.77)}
TAIL_BELOW = {"web": 20.1, "mix": 32.0}  # EF-SC below EF, %, at most
HITS = {"web": 68.0, "prn0": 69.0, "proj0": 95.0, "prxy0": 99.0}  # at 1 GiB
MORE_HITS = {"proj0": 58.7, "prxy0": 17.6}  # %, at 64 MiB
FEWER_MISSES = {"proj0": 20.5, "prxy0": 53.5}  # %, at 64 MiB
# With the flush each 30 s, of the mix.
FLUSHED_MEAN, FLUSHED_TAIL = 0.27, 0.17  # at 32 MiB, at 256 MiB
FLUSHED_WRITES = 1.01  # CFLRU-EF, less than
# I. Shin, IEEE Access 8:143124, 2020, abstract; it names no traces or sizes.
ABSTRACT = {  # mean below, %; writes above, %
    (EARLY, BASE): ((68.4, 92.0), (-0.4, 6.6)),
    (PRLRU[1], PRLRU[0]): ((62.5, 92.0), (1.1, 6.9))}

By = dict[int, list[float]]  # by size, by seed
Pick = Callable[[Iterable[float]], float]


def _at(mib: int) -> str:
    return "1 GiB" if mib == 1024 else f"{mib} MiB"


# ---- why --------------------------------------------------------------------------


def _why(runs: Runs, name: str, mib: int, variant: str = ONCE,
         choice: Choice = JUDGED) -> str:
    """What each policy did at a size, in the first seed."""
    text = []
    for policy in (BASE, EARLY, SECOND):
        k = key_of(name, mib, policy, variant, SEED, choice, False)
        b = runs.results[k]["buffer"]
        text.append(f"{policy} {runs.mean_us(k):.0f} us, hits"
                    f" {runs.hit(k):.1f} %, {runs.victims(k):.3f} dirty"
                    f" victims a request, {b['rewrites_after_flush']} of"
                    f" {b['early_flushes']} early flushes in vain")
    return f"at {_at(mib)}: " + "; ".join(text)


Statistic = Callable[[Choice, bool], list[float]]  # of judged or swept runs


def _explained(runs: Runs, row: Row, get: Statistic) -> Row:
    """Sweep a claim; of one that does not hold, the cause is an open parameter
    by whose other value it does, or else the one that comes nearest.  If it
    holds with the judged values in the sweep, which has fewer sizes and seeds,
    no parameter is the cause."""
    if not runs.swept:
        return row
    found: list[tuple[float, str, str, list[float]]] = []
    for parameter, values in PARAMETERS.items():
        swept = {v: get(JUDGED if v == USED[parameter]
                        else Choice(parameter, v), True) for v in values}
        judge.swept(row, parameter, swept, USED[parameter])
        found += [(_beyond(row, judge.mean(some)), parameter, v, some)
                  for v, some in swept.items() if v != USED[parameter] and some]
    if row["verdict"] in (None, judge.HOLDS) or not found \
            or not _beyond(row, judge.mean(get(JUDGED, True))):
        return row
    _, parameter, value, some = min(found, key=lambda f: f[0])
    return judge.because(
        row, f"it depends on {parameter}, which the paper leaves open"
        f" (judged: {USED[parameter]})",
        f"the sweep's runs with {parameter} {value}", some, row["low"],
        row["high"])


def _beyond(row: Row, value: float) -> float:
    """How far a value is outside of a claim's range."""
    low, high = row["low"], row["high"]
    return max(low - value if low is not None else 0,
               value - high if high is not None else 0, 0)


# ---- claims over the sizes -----------------------------------------------------------


class Measured:
    """A ratio of two policies over the sizes, in one setting."""

    def __init__(self, runs: Runs, what: str, name: str, of: str, over: str,
                 choice: Choice, percent: bool = False,
                 variant: str = ONCE) -> None:
        self.runs, self.name, self.variant = runs, name, variant
        self.choice = choice
        self._what, self._policies = what, (of, over)
        self._percent = percent
        self.by = self.values(choice, False)

    def _form(self, ratio: float) -> float:
        return 100 * (1 - ratio) if self._percent else ratio

    def values(self, choice: Choice, swept: bool) -> By:
        """By size and seed; a sweep has fewer sizes."""
        return {s: [self._form(r) for r in self.runs.ratio(
            self._what, self.name, s, *self._policies, self.variant, choice,
            swept)] for s in (SWEPT_SIZES if swept else SIZES)}

    def cases(self) -> dict[str, list[float]]:
        """By the sizes' names."""
        return {_at(s): v for s, v in self.by.items()}

    def labels(self, sizes: Iterable[int] = SIZES) -> list[Key]:
        """Of its judged runs."""
        return self.runs.labels(self.name, sizes, self._policies, self.variant,
                                self.choice)

    def of(self, pick: Pick) -> Statistic:
        """A statistic over the sizes."""
        return lambda choice, swept: [
            pick(v) for v in zip(*self.values(choice, swept).values())]

    def votes(self, sign: int, than: float = 0.0) -> list[list[float]]:
        """By seed, for each size how far above `than` it is; sign -1: below."""
        return [[sign * (x - than) for x in v] for v in zip(*self.by.values())]

    def why(self, pick: Callable[..., int]) -> str:
        """At the size with the least or the most."""
        mib = pick(self.by, key=lambda s: judge.mean(self.by[s]))
        return _why(self.runs, self.name, mib, self.variant, self.choice)


def _ends(m: Measured, panel: str, what: str, bounds: tuple[float, float],
          source: str, points: bool = False) -> list[Row]:
    """The least and the most over the sizes, each near the paper's."""
    rows = judge.ends(panel, what, m.cases(), *bounds, points=points,
                      source=source, runs=m.labels())
    for row, pick in zip(rows, (min, max)):
        if row["verdict"] != judge.HOLDS:
            row["why"] = m.why(pick)
        _explained(m.runs, row, m.of(pick))
    return rows


def _most(m: Measured, panel: str, what: str, value: float, source: str,
          points: bool = False) -> Row:
    """The most over the sizes, "up to" a value."""
    row = judge.end(panel, f"{what}, most", m.of(max)(m.choice, False), value,
                    points=points, source=source, why=m.why(max),
                    text=f"up to {value:g}", runs=m.labels())
    return _explained(m.runs, row, m.of(max))


def _lower(m: Measured, panel: str, what: str, source: str) -> Row:
    """Below CFLRU at each size."""
    row = judge.claim(panel, f"{what}, most", m.of(max)(m.choice, False), None,
                      1, source=source, why=m.why(max), runs=m.labels())
    return _explained(m.runs, row, m.of(max))


def _beside(runs: Runs, panel: str, what: str, name: str, text: str) -> Row:
    """EF-SC below EF with the window that is chosen by outcome."""
    values = [100 * (1 - runs.first(what, name, s, SECOND, EARLY, BESIDE))
              for s in SIZES]
    return judge.shown(
        panel, f"{SECOND} below {EARLY} with {BESIDE.text()}, %: {text}",
        max(values), f"the most over the sizes; the least is {min(values):.1f}."
        " This window is chosen by outcome; one seed")


def _chart(runs: Runs, name: str, what: str, ylabel: str,
           bounds: tuple[float, float] | None, variant: str = ONCE) -> Chart:
    series: dict[str, list[float | None]] = {}
    errors: dict[str, list[float | None]] = {}
    for setting, choice in SETTINGS.items():
        for policy in (EARLY, SECOND):
            by = Measured(runs, what, name, policy, BASE, choice,
                          variant=variant).by
            label = f"{policy}, {setting}" if setting else policy
            series[label] = [judge.mean(v) for v in by.values()]
            errors[label] = [judge.interval(v)[1] - judge.mean(v)
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
            CHOSEN,
            *(["sweeps: three seeds, at "
               + ", ".join(_at(s) for s in SWEPT_SIZES)]
              if runs.swept else [])]


def _settings(make: Callable[[Choice], list[Row]]) -> list[Row]:
    """The rows of each setting."""
    return [row for setting, choice in SETTINGS.items()
            for row in (judge.in_setting(make(choice), setting) if setting
                        else make(choice))]


def _means(runs: Runs, name: str) -> Panel:
    panel = f"mean {name}"
    text = "section 4.2.1, Figure 4"

    def rows(choice: Choice) -> list[Row]:
        m = [Measured(runs, "mean_us", name, a, b, choice, percent)
             for a, b, percent in ((SECOND, BASE, False), (SECOND, EARLY, True),
                                   (EARLY, BASE, False))]
        return [*_ends(m[0], panel, f"{SECOND} / {BASE}", MEAN[name], text),
                *_ends(m[1], panel, f"{SECOND} below {EARLY}, %",
                       MEAN_BELOW[name], text, points=True),
                _lower(m[2], panel, f"{EARLY} / {BASE}",
                       "section 4.2.1: lower in all traces, regardless of"
                       " cache capacity")]

    return Panel(panel, f"{name}: mean response, to that of CFLRU (Figure 4)",
                 _inputs(runs, name),
                 [*_settings(rows), _beside(runs, panel, "mean_us", name,
                                            "mean")],
                 _chart(runs, name, "mean_us", "mean response / CFLRU's",
                        MEAN[name]))


def _all_votes(runs: Runs, what: str, of: str, over: str, choice: Choice) \
        -> list[list[float]]:
    """By seed, for each trace and size how far `of` is below `over`, %."""
    by_name = [Measured(runs, what, n, of, over, choice, True).votes(1)
               for n in TABLE]
    return [[x for cases in seed for x in cases] for seed in zip(*by_name)]


def _read_share(name: str) -> float:
    row = TABLE[name]
    return row.read_gb / (row.read_gb + row.written_gb)


def _fall(runs: Runs, choice: Choice) -> list[float]:
    """By seed, the rank correlation of the share of reads and the least mean
    over the sizes, of all traces."""
    from scipy.stats import spearmanr

    least = zip(*(Measured(runs, "mean_us", n, SECOND, BASE, choice)
                  .of(min)(choice, False) for n in TABLE))
    share = [_read_share(n) for n in TABLE]
    return [float(spearmanr(share, seed).statistic) for seed in least]


def _all(runs: Runs) -> Panel:
    """What the paper says of all traces and sizes together."""
    panel = "all traces"
    below = f"{SECOND} below {EARLY}"

    def rows(choice: Choice) -> list[Row]:
        labels = [k for n in TABLE for k in runs.labels(
            n, SIZES, POLICIES[1:], choice=choice)]
        return [
            judge.most(panel, f"mean: {below}",
                       _all_votes(runs, "mean_us", SECOND, EARLY, choice),
                       source="section 4.2.1: better in most cases",
                       runs=labels),
            judge.most(panel, f"writes: {below}",
                       _all_votes(runs, "writes", SECOND, EARLY, choice),
                       source="section 4.2.2: lower in the most"
                       " configurations", runs=labels),
            judge.most(panel, f"writes: {SECOND} below {BASE}",
                       _all_votes(runs, "writes", SECOND, BASE, choice),
                       source="section 4.2.2: outperformed in most"
                       " configurations", runs=labels),
            judge.claim(panel, "rank correlation of the share of reads and the"
                        f" least {SECOND} / {BASE}", _fall(runs, choice), 0,
                        None, text="the improvement falls with the share of"
                        " reads", source="section 4.2.1", runs=labels)]

    shown = []
    for (of, over), (mean, writes) in ABSTRACT.items():
        for what, name, (low, high) in (("mean_us", "mean below", mean),
                                        ("writes", "writes above", writes)):
            sign = 1 if what == "mean_us" else -1
            ours = [sign * 100 * (1 - runs.first(what, n, s, of, over))
                    for n in TABLE for s in SIZES]
            shown += [judge.shown(
                panel, f"{of}: {name} {over}, %, {word}", value,
                "I. Shin, IEEE Access 8, 2020, abstract: no traces, no sizes;"
                " one seed", f"{end:g}")
                for word, value, end in (("least", min(ours), low),
                                         ("most", max(ours), high))]
    series: dict[str, list[float | None]] = {
        _at(s): [100 * (1 - judge.mean(runs.ratio(
            "mean_us", n, s, SECOND, EARLY))) for n in TABLE] for s in SIZES}
    return Panel(panel, "All traces: EF-SC's mean below EF's (Figure 4)",
                 [CHOSEN], [*_settings(rows), *shown],
                 Chart(list(TABLE), series, "mean below EF's, %"))


def _tails(runs: Runs, name: str) -> Panel:
    panel = f"tail {name}"
    text = "section 4.2.1, Figure 5"

    def rows(choice: Choice) -> list[Row]:
        to_base = Measured(runs, "tail_us", name, SECOND, BASE, choice)
        below = Measured(runs, "tail_us", name, SECOND, EARLY, choice, True)
        early = Measured(runs, "tail_us", name, EARLY, BASE, choice)
        return [
            *_ends(to_base, panel, f"{SECOND} / {BASE}", TAIL[name], text),
            _lower(early, panel, f"{EARLY} / {BASE}",
                   text + ": lower regardless of cache capacity"),
            _most(below, panel, f"{SECOND} below {EARLY}, %", TAIL_BELOW[name],
                  text, points=True),
            judge.most(panel, f"{SECOND} shorter than {EARLY}", below.votes(1),
                       source=text + ": generally slightly shorter",
                       why=below.why(min), runs=below.labels())]

    return Panel(panel, f"{name}: mean of the slowest 1 %, to that of CFLRU"
                 " (Figure 5)", _inputs(runs, name),
                 [*_settings(rows), _beside(runs, panel, "tail_us", name,
                                            "tail")],
                 _chart(runs, name, "tail_us", "tail / CFLRU's", TAIL[name]))


def _best(m: Measured, panel: str, expected: str, source: str) -> Row:
    """The size with the fewest writes."""
    return judge.extreme(panel, f"least {SECOND} / {BASE}", m.cases(),
                         expected, pick=min, why=m.why(min),
                         source=source + ": particularly good at 64 MB",
                         runs=m.labels())


def _above(m: Measured, panel: str, what: str, value: float, source: str,
           least: int = 0) -> Row:
    """By how much a ratio is above 1 at the most, from a size on."""
    sizes = [s for s in SIZES if s >= least]

    def more(choice: Choice, swept: bool) -> list[float]:
        by = m.values(choice, swept)
        return [100 * (max(v) - 1) for v in zip(
            *(x for s, x in by.items() if s in sizes))]

    row = judge.end(panel, what, more(m.choice, False), value, points=True,
                    text=f"up to {value:g}", source=source, why=m.why(max),
                    runs=m.labels(sizes))
    return _explained(m.runs, row, more)


def _written(runs: Runs, name: str) -> Panel:
    panel = f"writes {name}"
    text = "section 4.2.2, Figure 6"

    def rows(choice: Choice) -> list[Row]:
        to_base = Measured(runs, "writes", name, SECOND, BASE, choice)
        early = Measured(runs, "writes", name, EARLY, BASE, choice)
        below = Measured(runs, "writes", name, SECOND, EARLY, choice, True)
        out = [*_ends(to_base, panel, f"{SECOND} / {BASE}", WRITES[name],
                      text),
               *_ends(below, panel, f"{SECOND} below {EARLY}, %",
                      WRITES_BELOW[name], text, points=True),
               judge.most(panel, f"{EARLY} above {BASE}", early.votes(1, 1.0),
                          source=text + ": CFLRU-EF generally writes more",
                          why=early.why(min), runs=early.labels())]
        if name == "mix":
            out.append(_above(early, panel, f"{EARLY} above {BASE}, %, most",
                              EARLY_MORE, text))
        if name in BEST_AT:
            out.append(_best(to_base, panel, BEST_AT[name], text))
        if name == "prxy0":
            out.append(_above(to_base, panel, f"{SECOND} above {BASE} from"
                              " 256 MiB on, %, most", 1.8,
                              text + ": no benefit from 256 MB on", 256))
        return out

    return Panel(panel, f"{name}: NAND writes, to those of CFLRU (Figure 6)",
                 _inputs(runs, name),
                 [*_settings(rows), _beside(runs, panel, "writes", name,
                                            "writes")],
                 _chart(runs, name, "writes", "NAND writes / CFLRU's",
                        WRITES[name]))


def _hit_chart(runs: Runs, name: str, variant: str = ONCE) -> Chart:
    series: dict[str, list[float | None]] = {
        p: [judge.mean(runs.get("hit", name, s, p, variant)) for s in SIZES]
        for p in POLICIES[1:]}
    return Chart([_at(s) for s in SIZES], series, "hits, %", lines=True)


def _at_64(runs: Runs, panel: str, name: str, choice: Choice) -> list[Row]:
    """EF-SC's hits and misses at 64 MB beside CFLRU's."""
    def hits(choice: Choice, swept: bool) -> list[tuple[float, float]]:
        # A sweep has no 64 MiB.
        a, b = (runs.get("hit", name, 32 if swept else 64, p, ONCE, choice,
                         swept) for p in (SECOND, BASE))
        return list(zip(a, b))

    def more(choice: Choice, swept: bool) -> list[float]:
        return [100 * (x / max(y, 1e-9) - 1) for x, y in hits(choice, swept)]

    def fewer(choice: Choice, swept: bool) -> list[float]:
        return [100 * (1 - (100 - x) / max(100 - y, 1e-9))
                for x, y in hits(choice, swept)]

    return [judge.end(panel, f"{SECOND}: {what} {BASE} at 64 MiB, %",
                      get(choice, False), value[name], points=True,
                      source="section 4.2.3, Figure 7",
                      why=_why(runs, name, 64, choice=choice),
                      runs=runs.labels(name, (64,), (SECOND, BASE),
                                       choice=choice))
            for what, get, value in (("hits above", more, MORE_HITS),
                                     ("misses below", fewer, FEWER_MISSES))]


def _hits(runs: Runs, name: str) -> Panel:
    panel = f"hits {name}"
    text = "section 4.2.3, Figure 7"
    pins = PINS.get(name, {})

    def rows(choice: Choice) -> list[Row]:
        ratio = Measured(runs, "hit", name, SECOND, BASE, choice)
        out = []
        if 1024 not in pins:
            def last(choice: Choice, swept: bool) -> list[float]:
                return runs.get("hit", name, 1024, BASE, ONCE, choice, swept)

            out.append(_explained(runs, judge.end(
                panel, f"{BASE} at 1 GiB, %", last(choice, False), HITS[name],
                points=True, source=text, text=f"about {HITS[name]:g}",
                why=_why(runs, name, 1024, choice=choice),
                runs=runs.labels(name, (1024,), (BASE,), choice=choice)),
                last))
        out.append(judge.most(
            panel, f"{SECOND} above {BASE}", ratio.votes(1, 1.0),
            source=text + ": higher in most cases", why=ratio.why(min),
            runs=ratio.labels()))
        if name in FEWER_MISSES:
            out += _at_64(runs, panel, name, choice)
        return out

    shown = [judge.shown(panel, f"{BASE} at {_at(s)}, %",
                         runs.get("hit", name, s, BASE),
                         "a pin: the input is made so", f"{value:g}")
             for s, value in pins.items()]
    return Panel(panel, f"{name}: hit ratio (Figure 7)", _inputs(runs, name),
                 [*_settings(rows), *shown], _hit_chart(runs, name))


def _late(runs: Runs, row: Row, what: str, mib: int, choice: Choice) -> Row:
    """The flush each 30 s: first an open parameter, else fewer flushes."""
    m = Measured(runs, what, "mix", SECOND, BASE, choice, variant=FLUSHED)
    nearest = min(SWEPT_SIZES, key=lambda s: abs(s - mib))
    _explained(runs, row, lambda c, swept: m.values(c, swept)[
        nearest if swept else mib])
    if not runs.swept or row["verdict"] == judge.HOLDS \
            or row.get("hypothesis", {}).get("confirmed") \
            or mib not in LATE_SIZES:
        return row
    return judge.because(
        row, "the host writes 13 MB in 30 s, so that most of each buffer stays"
        " clean and CFLRU has few dirty victims; with fewer flushes early flush"
        " gains as much as in the paper",
        f"the sweep's runs with {LATE_FLUSH.text()}",
        runs.ratio(what, "mix", mib, SECOND, BASE, FLUSHED, LATE_FLUSH, True),
        None, row["high"])


def _flushed_time(runs: Runs) -> Iterator[Panel]:
    """Figure 8 a and b."""
    for panel, what, mib, value, figure in (
            ("flushed mean", "mean_us", 32, FLUSHED_MEAN, "8a"),
            ("flushed tail", "tail_us", 256, FLUSHED_TAIL, "8b")):
        text = f"section 4.3, Figure {figure}"

        def rows(choice: Choice, panel: str = panel, what: str = what,
                 mib: int = mib, value: float = value, text: str = text) \
                -> list[Row]:
            m = Measured(runs, what, "mix", SECOND, BASE, choice,
                         variant=FLUSHED)
            below = Measured(runs, what, "mix", SECOND, EARLY, choice, True,
                             FLUSHED)
            out = [_late(runs, judge.end(
                panel, f"{SECOND} / {BASE} at {_at(mib)}", m.by[mib], value,
                source=text, why=_why(runs, "mix", mib, FLUSHED, choice),
                runs=m.labels((mib,))), what, mib, choice)]
            if what == "mean_us":
                out.append(judge.end(
                    panel, f"{SECOND} / {BASE} at 1 GiB", m.by[1024], 1,
                    source=text, text="almost the same",
                    why=_why(runs, "mix", 1024, FLUSHED, choice),
                    runs=m.labels((1024,))))
            out.append(judge.most(
                panel, f"{SECOND} shorter than {EARLY}", below.votes(1),
                source=text + ": shorter in most cases", why=below.why(min),
                runs=below.labels()))
            return out

        yield Panel(panel, f"mix, everything flushed each 30 s: {what[:4]}, to"
                    f" that of CFLRU (Figure {figure})", _inputs(runs, "mix"),
                    _settings(rows),
                    _chart(runs, "mix", what, f"{what[:4]} / CFLRU's", None,
                           FLUSHED))


def _flushed_pages(runs: Runs) -> Iterator[Panel]:
    """Figure 8 c and d."""
    text = "section 4.3, Figure 8c"

    def writes(choice: Choice) -> list[Row]:
        panel = "flushed writes"
        early, m, below = (
            Measured(runs, "writes", "mix", a, b, choice, percent, FLUSHED)
            for a, b, percent in ((EARLY, BASE, False), (SECOND, BASE, True),
                                  (SECOND, EARLY, True)))
        return [
            judge.claim(panel, f"{EARLY} / {BASE}, most",
                        early.of(max)(choice, False), None, FLUSHED_WRITES,
                        source=text + ": less than 1 % more, even in CFLRU-EF",
                        why=early.why(max), runs=early.labels()),
            judge.most(panel, f"{SECOND} below {EARLY}", below.votes(1),
                       source=text + ": fewer writes", why=below.why(min),
                       runs=below.labels()),
            judge.most(panel, f"{SECOND} below {BASE}", m.votes(1),
                       source=text + ": lower in most cases", why=m.why(min),
                       runs=m.labels())]

    yield Panel("flushed writes", "mix, everything flushed each 30 s: NAND"
                " writes, to those of CFLRU (Figure 8c)", _inputs(runs, "mix"),
                _settings(writes),
                _chart(runs, "mix", "writes", "NAND writes / CFLRU's", None,
                       FLUSHED))

    def hits(choice: Choice) -> list[Row]:
        panel = "flushed hits"
        m = Measured(runs, "hit", "mix", SECOND, BASE, choice, variant=FLUSHED)
        rows = judge.ends(panel, f"{SECOND} / {BASE}", m.cases(), 1, 1,
                          source="section 4.3, Figure 8d: the difference is"
                          " not significant", runs=m.labels())
        return [*rows, judge.most(
            panel, f"{SECOND} above {BASE}", m.votes(1, 1.0),
            source="section 4.3, Figure 8d: slightly higher", why=m.why(min),
            runs=m.labels())]

    yield Panel("flushed hits", "mix, everything flushed each 30 s: hit ratio"
                " (Figure 8d)", _inputs(runs, "mix"), _settings(hits),
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
                if k[2] == policy and k[3] == ONCE and k[5] == JUDGED
                and not k[6]]
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
    yield _all(runs)
    for name in TAIL:
        yield _tails(runs, name)
    for name in WRITES:
        yield _written(runs, name)
    for name in HITS:
        yield _hits(runs, name)
    yield from _flushed_time(runs)
    yield from _flushed_pages(runs)
    yield _speed(runs)
