# SPDX-License-Identifier: GPL-2.0-or-later
"""Early dirty buffer flush with second chance for SSDs (I. Shin, Micromachines
14:796, 2023), Figures 4 to 8.

CFLRU, CFLRU-EF and CFLRU-EF-SC in a buffer of 32 MiB to 1 GiB, without and with
a flush of everything each 30 s; LRU is shown beside them.  NAND writes are
pages programmed and, so that a buffer that holds everything is not a drive
that writes nothing, those still dirty in the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..paths import find_profile
from ..sim.run import Point, Result
from .buffer_input import PAGE, Input, inputs
from .figure import Chart, Context, Panel, Row, band, row

TITLE = "Early flush with second chance (Shin 2023)"
MIB = 1 << 20
SIZES = (32, 64, 128, 256, 512, 1024)  # MiB
POLICIES = ("lru", "cflru", "cflru-ef", "cflru-ef-sc")
BASE, EARLY, SECOND = POLICIES[1:]
RAW = 4 * 2 * 2 * 911 * 575 * PAGE  # bytes of the drive's NAND
LEAST_PAGES = 32  # of a buffer
ADAPT = 1000  # host writes between adjustments of the threshold
FLUSH_S = 30.0
ONCE, FLUSHED, SENT = "once", "flushed", "sent"
SENT_SIZE = 128  # MiB; where the other rule of completion is shown
ABOUT = 0.5  # "of about its size": half of it more or less
EQUAL = 1.1  # "almost the same": within 10 %
SLOWER = 0.7  # requests per second of the host's processor, against LRU

# Section 4.2: the least and the most over the sizes.
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
TAIL = {"web": (0.15, 0.59), "mix": (0.26, 0.77)}
HITS = {"web": 68.0, "prn0": 69.0, "proj0": 95.0, "prxy0": 99.0}  # at 1 GiB
FEWER_MISSES = {"proj0": 20.5, "prxy0": 53.5}  # %, at 64 MiB
# With the flush each 30 s, of the mix.
FLUSHED_MEAN, FLUSHED_TAIL = 0.27, 0.17  # at 32 MiB, at 256 MiB
FLUSHED_WRITES = 1.01  # CFLRU-EF, at most

Key = tuple[str, int, str, str]  # input, MiB, policy, variant


class Runs:
    """The inputs and their results."""

    def __init__(self, ins: dict[str, Input], results: dict[Key, Result]) \
            -> None:
        self.ins = ins
        self.results = results

    def mean_us(self, key: Key) -> float:
        """Mean response."""
        return float(self.results[key]["latency_ns"]["all"]["mean"]) / 1000

    def tail_us(self, key: Key) -> float:
        """Mean of the slowest 1 %."""
        lat = self.results[key]["latency_ns"]["all"]
        return float(lat["tail_1pct_mean"]) / 1000

    def writes(self, key: Key) -> float:
        """Pages written to NAND, and to be written."""
        r = self.results[key]
        return float(r["nand"]["programs"] + r["buffer"]["units_dirty"])

    def hit(self, key: Key) -> float:
        """Hit ratio, %."""
        b = self.results[key]["buffer"]
        hits, misses = int(b["hits"]), int(b["misses"])
        return 100 * hits / max(hits + misses, 1)

    def victims(self, key: Key) -> float:
        """Dirty victims per request."""
        r = self.results[key]
        return float(r["buffer"]["dirty_evictions"] / max(r["requests"], 1))


# ---- runs -----------------------------------------------------------------------


def _sets(one: Input, mib: int, policy: str, variant: str) -> tuple[str, ...]:
    """The drive: as large as the paper's; its buffer, and amounts in units of
    the buffer, scaled with the input."""
    pages = max(round(mib * MIB * one.scale / PAGE), LEAST_PAGES)
    room = int(100 * (RAW / one.extent - 1)) - 5
    out = [f"ftl.op_percent={min(room, 1000)}%", f"buffer.policy={policy}",
           f"buffer.size={pages * PAGE}",
           f"buffer.early_adapt={max(round(ADAPT * one.scale), 10)}"]
    if variant == FLUSHED:
        out.append(f"buffer.flush_interval={FLUSH_S * one.scale * 1e6:.0f}us")
    if variant == SENT:
        out.append("buffer.free_at=data-in")
    return tuple(out)


def _point(one: Input, mib: int, policy: str, variant: str) -> Point:
    return Point(find_profile("shin2023"), trace=one.trace,
                 sets=_sets(one, mib, policy, variant))


def _play(ctx: Context) -> Runs:
    ins = inputs(ctx)
    keys = [(n, s, p, ONCE) for n in ins for s in SIZES for p in POLICIES]
    keys += [("mix", s, p, FLUSHED) for s in SIZES for p in POLICIES]
    keys += [(n, SENT_SIZE, p, SENT) for n in ins for p in (BASE, SECOND)]
    # The longest first, so that no core waits for the last one.
    keys.sort(key=lambda k: -ins[k[0]].requests)
    points = {k: _point(ins[k[0]], *k[1:]) for k in keys}
    return Runs(ins, ctx.run("buffer: runs of vssd-sim", points))


# ---- why --------------------------------------------------------------------------


def _at(mib: int) -> str:
    return "1 GiB" if mib == 1024 else f"{mib} MiB"


def _why_mean(runs: Runs, name: str, mib: int, variant: str = ONCE) -> str:
    text = []
    for policy in (BASE, EARLY, SECOND):
        k = (name, mib, policy, variant)
        r = runs.results[k]
        text.append(f"{policy} {runs.mean_us(k):.0f} us"
                    f" (reads {r['latency_ns']['read']['mean'] / 1000:.0f},"
                    f" hits {runs.hit(k):.1f} %,"
                    f" {runs.victims(k):.3f} dirty victims a request)")
    return ", ".join(text)


def _why_tail(runs: Runs, name: str, mib: int, variant: str = ONCE) -> str:
    text = []
    for policy in (BASE, SECOND):
        k = (name, mib, policy, variant)
        lat = runs.results[k]["latency_ns"]
        text.append(f"{policy} {runs.tail_us(k) / 1000:.2f} ms (p99 of reads"
                    f" {lat['read']['p99'] / 1e6:.2f}, of writes"
                    f" {lat['write']['p99'] / 1e6:.2f})")
    return ", ".join(text)


def _why_writes(runs: Runs, name: str, mib: int, variant: str = ONCE) -> str:
    text = []
    for policy in (BASE, EARLY, SECOND):
        k = (name, mib, policy, variant)
        b = runs.results[k]["buffer"]
        text.append(f"{policy} {runs.writes(k):.0f} pages (hits"
                    f" {runs.hit(k):.1f} %, {b['rewrites_after_flush']} of"
                    f" {b['early_flushes']} early flushes in vain)")
    return ", ".join(text)


# ---- panels -----------------------------------------------------------------------


def _ratios(runs: Runs, name: str, of: str, over: str, what: str,
            variant: str = ONCE) -> list[float]:
    """Of one policy to another, by size."""
    get = getattr(runs, what)
    return [get((name, s, of, variant)) / max(get((name, s, over, variant)),
                                              1e-9) for s in SIZES]


def _ends(panel: str, what: str, values: list[float],
          bounds: tuple[float, float], why: list[str]) -> list[Row]:
    """The least and the most over the sizes, each within the paper's."""
    out = []
    for word, pick in (("least", min), ("most", max)):
        i = values.index(pick(values))
        out.append(band(panel, f"{what}, {word} (at {_at(SIZES[i])})",
                        values[i], *bounds, why[i])
                   | {"points": what.endswith("%")})
    return out


def _chart(runs: Runs, name: str, what: str, ylabel: str,
           bounds: tuple[float, float] | None, variant: str = ONCE) -> Chart:
    series: dict[str, list[float | None]] = {
        p: list(_ratios(runs, name, p, BASE, what, variant))
        for p in POLICIES if p != BASE}
    low: list[float | None] = [bounds[0] if bounds else None] * len(SIZES)
    high: list[float | None] = [bounds[1] if bounds else None] * len(SIZES)
    return Chart([_at(s) for s in SIZES], series, ylabel, lines=True,
                 low=low if bounds else [], high=high if bounds else [])


def _judged(runs: Runs, name: str, panel: str, what: str,
            bounds: tuple[float, float], below: tuple[float, float] | None,
            why: list[str]) -> list[Row]:
    rows = _ends(panel, f"{SECOND} / {BASE}",
                 _ratios(runs, name, SECOND, BASE, what), bounds, why)
    if below:
        less = [100 * (1 - r)
                for r in _ratios(runs, name, SECOND, EARLY, what)]
        rows += _ends(panel, f"{SECOND} below {EARLY}, %", less, below, why)
    return rows


def _sent(runs: Runs, name: str, panel: str) -> Row:
    """The same when room is free as soon as the data has left."""
    a, b = (runs.mean_us((name, SENT_SIZE, p, SENT)) for p in (SECOND, BASE))
    return row(panel, f"{SECOND} / {BASE} at {_at(SENT_SIZE)}, room free at"
               " data-in", a / b, "", None, "SSDSim's rule: a victim's room is"
               " free when its data has crossed the bus; shown beside it")


def _means(runs: Runs, name: str) -> Panel:
    panel = f"mean {name}"
    why = [_why_mean(runs, name, s) for s in SIZES]
    rows = _judged(runs, name, panel, "mean_us", MEAN[name],
                   MEAN_BELOW[name], why)
    return Panel(panel, f"{name}: mean response, to that of CFLRU (Figure 4)",
                 [runs.ins[name].source], rows + [_sent(runs, name, panel)],
                 _chart(runs, name, "mean_us", "mean response / CFLRU's",
                        MEAN[name]))


def _tails(runs: Runs, name: str) -> Panel:
    panel = f"tail {name}"
    why = [_why_tail(runs, name, s) for s in SIZES]
    return Panel(panel, f"{name}: mean of the slowest 1 %, to that of CFLRU"
                 " (Figure 5)", [runs.ins[name].source],
                 _judged(runs, name, panel, "tail_us", TAIL[name], None, why),
                 _chart(runs, name, "tail_us", "tail / CFLRU's", TAIL[name]))


def _written(runs: Runs, name: str) -> Panel:
    panel = f"writes {name}"
    why = [_why_writes(runs, name, s) for s in SIZES]
    return Panel(panel, f"{name}: NAND writes, to those of CFLRU (Figure 6)",
                 [runs.ins[name].source],
                 _judged(runs, name, panel, "writes", WRITES[name],
                         WRITES_BELOW[name], why),
                 _chart(runs, name, "writes", "NAND writes / CFLRU's",
                        WRITES[name]))


def _hit_row(runs: Runs, name: str, panel: str) -> Row:
    """Figure 7's right end."""
    return band(panel, f"{BASE} at 1 GiB, %", runs.hit((name, 1024, BASE, ONCE)),
                HITS[name] - 5, HITS[name] + 5, _why_writes(runs, name, 1024))


def _hits(runs: Runs, name: str) -> Panel:
    panel = f"hits {name}"
    rows = [_hit_row(runs, name, panel)]
    least = min(runs.hit((name, s, SECOND, ONCE))
                - runs.hit((name, s, BASE, ONCE)) for s in SIZES)
    rows.append(band(panel, f"{SECOND} - {BASE}, least, points", least, -1,
                     None, "a larger share of its hits is lost to units that"
                     " were flushed early"))
    if name in FEWER_MISSES:
        a, b = (100 - runs.hit((name, 64, p, ONCE)) for p in (SECOND, BASE))
        paper = FEWER_MISSES[name]
        rows.append(band(panel, f"{SECOND}: misses below {BASE} at 64 MiB, %",
                         100 * (1 - a / b), paper * (1 - ABOUT),
                         paper * (1 + ABOUT), _why_writes(runs, name, 64)))
    series: dict[str, list[float | None]] = {
        p: [runs.hit((name, s, p, ONCE)) for s in SIZES] for p in POLICIES}
    return Panel(panel, f"{name}: hit ratio (Figure 7)",
                 [runs.ins[name].source], rows,
                 Chart([_at(s) for s in SIZES], series, "hits, %", lines=True))


def _about(value: float) -> tuple[float, float]:
    return value * (1 - ABOUT), value * (1 + ABOUT)


def _flushed_time(runs: Runs) -> Iterator[Panel]:
    """Figure 8 a and b."""
    mean = _ratios(runs, "mix", SECOND, BASE, "mean_us", FLUSHED)
    panel = "flushed mean"
    yield Panel(panel, "mix, everything flushed each 30 s: mean response, to"
                " that of CFLRU (Figure 8a)", [runs.ins["mix"].source], [
                    band(panel, f"{SECOND} / {BASE} at 32 MiB", mean[0],
                         *_about(FLUSHED_MEAN),
                         _why_mean(runs, "mix", 32, FLUSHED)),
                    band(panel, f"{SECOND} / {BASE} at 1 GiB", mean[-1],
                         1 / EQUAL, EQUAL,
                         _why_mean(runs, "mix", 1024, FLUSHED))],
                _chart(runs, "mix", "mean_us", "mean response / CFLRU's", None,
                       FLUSHED))
    tail = _ratios(runs, "mix", SECOND, BASE, "tail_us", FLUSHED)
    panel = "flushed tail"
    yield Panel(panel, "mix, everything flushed each 30 s: mean of the slowest"
                " 1 %, to that of CFLRU (Figure 8b)",
                [runs.ins["mix"].source],
                [band(panel, f"{SECOND} / {BASE} at 256 MiB",
                      tail[SIZES.index(256)], *_about(FLUSHED_TAIL),
                      _why_tail(runs, "mix", 256, FLUSHED))],
                _chart(runs, "mix", "tail_us", "tail / CFLRU's", None,
                       FLUSHED))


def _flushed_pages(runs: Runs) -> Iterator[Panel]:
    """Figure 8 c and d."""
    why = [_why_writes(runs, "mix", s, FLUSHED) for s in SIZES]
    panel = "flushed writes"
    rows = []
    for policy in (EARLY, SECOND):
        ratio = _ratios(runs, "mix", policy, BASE, "writes", FLUSHED)
        rows.append(band(panel, f"{policy} / {BASE}, most", max(ratio), None,
                         FLUSHED_WRITES, why[ratio.index(max(ratio))]))
    yield Panel(panel, "mix, everything flushed each 30 s: NAND writes, to"
                " those of CFLRU (Figure 8c)", [runs.ins["mix"].source], rows,
                _chart(runs, "mix", "writes", "NAND writes / CFLRU's", None,
                       FLUSHED))
    hits = {p: [runs.hit(("mix", s, p, FLUSHED)) for s in SIZES]
            for p in POLICIES}
    apart = [abs(a - b) for a, b in zip(hits[SECOND], hits[BASE])]
    panel = "flushed hits"
    yield Panel(panel, "mix, everything flushed each 30 s: hit ratio (Figure"
                " 8d)", [runs.ins["mix"].source],
                [band(panel, f"{SECOND} and {BASE}, most apart, points",
                      max(apart), None, 5, why[apart.index(max(apart))])],
                Chart([_at(s) for s in SIZES],
                      {p: list(v) for p, v in hits.items()}, "hits, %",
                      lines=True))


def _fits(ins: dict[str, Input]) -> Panel | None:
    """The generated input beside the table."""
    rows = [band("fit", f"{one.name}: {f.name}", f.made, f.asked * 0.98,
                 f.asked * 1.02, "the generator came no nearer")
            for one in ins.values() for f in one.fit]
    if not rows:
        return None
    made = [one for one in ins.values() if one.fit]
    names = [f.name for f in made[0].fit]
    series: dict[str, list[float | None]] = {
        one.name: [100 * (f.made / f.asked - 1) for f in one.fit]
        for one in made}
    return Panel("fit", "Generated inputs beside Table 1",
                 [one.source for one in made], rows,
                 Chart(names, series, "made - asked, %"))


def _speed(runs: Runs) -> Panel:
    """Requests per second of one core, over all runs of a policy."""
    speed = {}
    for policy in POLICIES:
        mine = [r for k, r in runs.results.items()
                if k[2] == policy and k[3] == ONCE]
        speed[policy] = sum(r["requests"] for r in mine) / max(
            sum(r["cpu_s"] for r in mine), 1e-9)
    rows = [row("speed", f"{p}: requests a second", speed[p], "", None)
            for p in POLICIES]
    rows += [band("speed", f"{p} / lru", speed[p] / speed["lru"], SLOWER, None,
                  "its bookkeeping costs more") for p in POLICIES[1:]]
    return Panel("speed", "Requests per second and core of vssd-sim, by policy",
                 [one.source for one in runs.ins.values()], rows,
                 Chart(list(POLICIES), {"ours": list(speed.values())},
                       "requests / s of one core"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 4 to 8 of the paper."""
    runs = _play(ctx)
    fits = _fits(runs.ins)
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
