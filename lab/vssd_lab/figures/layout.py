# SPDX-License-Identifier: GPL-2.0-or-later
"""A data layout strategy to enhance the internal SSD parallelism (S. Zertal,
IJAEE 5(1), 2015), Figures 4 to 6.

Allocation by DL_algo against random blocks, at three degrees of parallelism:
the package, its dies, or its planes work one at a time.  Waiting is the mean
response less the access time of a page (section IV.B: response is mainly
waiting and access time).

The text has no numbers but "up to x10", and its figures are not to be had, so
the ranges are those of the words (docs/lab/figure-layout.md).  A random block is
any block with a free page that GC does not need.  GC runs at regular times and
keeps a part of the spare blocks free.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from vssd.paths import find_profile
from vssd.sim.run import Point, Result

from . import judge
from . import layout_input as li
from . import traces as ft
from .figure import CHOSEN, Chart, Context, Curves, Panel, Row

TITLE = "Data layout for internal parallelism (Zertal 2015)"
REQUESTS = 250_000
SEED = 2015
LOCKS = ("chip", "die", "plane")  # degree 0, 1, 2
DL, RANDOM = "dl", "random-block"
NAMES = {DL: "DL_algo", RANDOM: "random"}
ACCESS_US = {"read": 130.0, "write": 305.0}
LOAD = 0.62  # so that the largest fall of the judged runs is about 10
GIB = 1 << 30
DIES = 16
PLANES = 2 * DIES
BLOCKS, PAGES, PAGE = 2046, 64, 4096  # of a plane, a block
RAW_BYTES = PLANES * BLOCKS * PAGES * PAGE
OLTP = "OLTP"
SCIENTIFIC = tuple(li.SCIENTIFIC)
ALL = (OLTP, *SCIENTIFIC)
SHORT = 8  # a short run has one in so many requests
SWEEP = 2  # so do the runs of a sweep: GC still has work in them
OLTP_SEEDS = 4  # times as many: its requests rarely meet
GC_LOW = "0.3%"
BELOW_1, ABOVE_1 = math.nextafter(1, 0), math.nextafter(1, 2)
ABOVE_0 = math.ulp(0.0)
HOST_FIRST = ("nand.schedule=host-first", "ftl.gc_preempt=on")
PREEMPTED = ("nand.schedule=read-first", "ftl.gc_preempt=on",
             "nand.suspend=both", "nand.suspend_time=0ns",
             "nand.suspend_min_run=0ns", "nand.suspend_limit=1000")


@dataclass(frozen=True)
class Setting:
    """What the paper leaves open.  The defaults are the judged runs': of the
    values swept, those with which most statements hold."""

    op_percent: float = 28
    kept: float = 0.45  # part of the spare blocks that GC keeps free
    period: str = "100ms"  # of GC
    blocks: int | None = None  # open ones of a plane; None: any_block()
    load: float = LOAD  # of the package (degree 0), or the dies (1 and 2)
    sizes: float | str = 0.5  # li.sizes()
    region: float = 0.1  # part of the capacity that is touched
    burst: float = 5  # OLTP: li.Hmm
    sets: tuple[str, ...] = ()
    reads: float | None = None  # instead of Table I
    length: int = 1  # one in so many requests

    def bytes_touched(self) -> int:
        """In whole requests of the largest size."""
        most = RAW_BYTES / (1 + self.op_percent / 100)
        return int(most * self.region * 0.998) // li.ALIGN * li.ALIGN

    def spare_blocks(self) -> int:
        """Of a plane (ssd_layout())."""
        user = int(PLANES * BLOCKS * PAGES / (1 + self.op_percent / 100))
        return BLOCKS - math.ceil(math.ceil(user / PLANES) / PAGES)

    def kept_blocks(self) -> int:
        """Free blocks of a plane at which GC ends."""
        return int(self.kept * self.spare_blocks())

    def any_block(self) -> int:
        """The largest ftl.random_blocks: GC needs the free blocks that it
        keeps, and as many as slack between planes."""
        return max(self.spare_blocks() - 2 * self.kept_blocks(), 1)

    def options(self, policy: str) -> tuple[str, ...]:
        """Of the drive."""
        # In the middle between two numbers of blocks.
        high = (self.kept_blocks() + 0.5) / BLOCKS
        out = (f"ftl.op_percent={self.op_percent:g}%", f"ftl.gc_low={GC_LOW}",
               f"ftl.gc_high={100 * high:.4f}%", f"ftl.gc_period={self.period}",
               f"ftl.alloc={policy}", *self.sets)
        if policy == RANDOM:
            out += (f"ftl.random_blocks={self.blocks or self.any_block()}",)
        return out


BASE = Setting()
# By parameter: its values in order, and the setting of each; BASE is among
# them, as the runs' length is not.
SWEEPS: dict[str, dict[str, Setting]] = {
    "over-provisioning": {
        f"{op:g} %": Setting(op_percent=op) for op in (7, 28, 100, 400)},
    "spare blocks that GC keeps free": {
        f"{100 * x:g} %": Setting(kept=x) for x in (0.1, 0.25, 0.4, 0.45)},
    "period of GC": {p: Setting(period=p) for p in ("10ms", "100ms", "1s")},
    "open blocks of a plane": {
        "1": Setting(blocks=1), "16": Setting(blocks=16), "any": BASE},
    "load": {f"{x:g}": Setting(load=x) for x in (0.03, 0.25, 0.5, LOAD)},
    "sizes: shares fall with the size to the power of": {
        **{f"{p:g}": Setting(sizes=p) for p in (0.25, 0.5, 1)},
        "two typical ones": Setting(sizes=li.TYPICAL)},
    "part of the capacity touched": {
        f"{x:g}": Setting(region=x) for x in (0.1, 0.3, 1)},
    "bus, MT/s": {
        "none": BASE, "1600": Setting(sets=("nand.bus_mt_s=1600",)),
        "800": Setting(sets=("nand.bus_mt_s=800",))},
    "order of operations at a die": {
        "as they come": BASE,
        "reads first": Setting(sets=("nand.schedule=read-first",)),
        "the host's first": Setting(sets=HOST_FIRST),
        "reads suspend others": Setting(sets=PREEMPTED)},
    "threshold of DL_algo": {
        "50%": Setting(sets=("ftl.dl_threshold=50%",)), "90%": BASE},
}
SWEPT = ("S1", "S3")  # traces of the sweeps: sequential, and at random
BURSTS = {f"{b:g}": Setting(burst=b) for b in (1, 2, 5, 10)}  # of OLTP only

# workload, degree, setting, policy, seed
Key = tuple[str, int, Setting, str, int]
Value = Callable[[Setting, int], float]  # of a seed


# ---- runs -----------------------------------------------------------------------


@functools.cache
def _per_second(name: str, s: Setting) -> float:
    """Requests per second that keep the dies busy by BASE.load."""
    probe = _scientific(name, s, 20_000, 1.0, SEED)
    writes = float(probe.write.mean())
    service_us = (1 - writes) * li.pages_of(probe, False) * ACCESS_US["read"] \
        + writes * li.pages_of(probe, True) * ACCESS_US["write"]
    return BASE.load * DIES * 1e6 / service_us


def _scientific(name: str, s: Setting, n: int, rate: float, seed: int) \
        -> ft.Trace:
    row = li.SCIENTIFIC[name]
    if s.reads is not None:
        row = replace(row, read_share=s.reads)
    return li.scientific(name, row, n, rate, s.bytes_touched(), s.sizes, seed)


def _trace(name: str, s: Setting, n: int, seed: int) -> ft.Trace:
    if name == OLTP:
        return li.oltp(li.Hmm(burst=s.burst), n, s.bytes_touched(), seed)
    return _scientific(name, s, n, _per_second(name, s), seed)


def _stem(name: str, s: Setting, seed: int) -> str:
    """Of the input: the same for all degrees, policies, loads and options."""
    kind = f"burst-{s.burst:g}" if name == OLTP else f"sizes-{s.sizes}"
    reads = "" if s.reads is None else f"-reads-{s.reads:g}"
    return (f"{name}-{kind}-touches-{s.bytes_touched()}{reads}"
            f"-part-{s.length}-seed-{seed}")


def _slower(name: str, degree: int, s: Setting) -> float:
    """By how much the times of the input are to be multiplied.  Degree 0 has
    the same load of its one resource: at one rate for all degrees it would
    take up 1 of 11 requests.  OLTP has the paper's rate at all of them."""
    if name == OLTP:
        return 1
    return BASE.load / s.load * (1 if degree else DIES)


class Runs:
    """Runs and their results; the inputs, in words."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.inputs: dict[str, str] = {}
        self.results: dict[Key, Result] = {}
        self.seeds = ctx.seeds(SEED)
        self.more_seeds = [SEED + i
                           for i in range(OLTP_SEEDS * len(self.seeds))]
        self.some_seeds = ctx.sweep_seeds(SEED)

    def _point(self, key: Key) -> Point:
        name, degree, s, policy, seed = key
        n = self.ctx.length(REQUESTS // s.length)
        path = self.ctx.inputs / f"{_stem(name, s, seed)}.csv"
        if not path.exists():
            trace = _trace(name, s, n, seed)
            self.inputs.setdefault(name, trace.source)
            ft.write_msr(trace, path)
        sets = ("host.queue_depth=65536", f"nand.lock={LOCKS[degree]}",
                f"seed={seed}", *s.options(policy))
        return Point(find_profile("zertal2015"), trace=path, sets=sets,
                     args=("--warm-up", str(n // 4), "--time-scale",
                           f"{_slower(name, degree, s):g}"))

    def play(self, title: str, keys: Iterable[Key]) -> None:
        """Those that have not been run."""
        missing = {k: self._point(k) for k in dict.fromkeys(keys)
                if k not in self.results}
        if missing:
            self.results |= self.ctx.run(title, missing)

    def wait_us(self, kind: str, key: Key) -> float:
        """Mean waiting of reads, of writes, or of all."""
        lat = self.results[key]["latency_ns"]
        kinds = [k for k in ACCESS_US if kind in (k, "all")]
        count = sum(lat[k]["count"] for k in kinds)
        total = sum(lat[k]["count"] * (lat[k]["mean"] / 1000 - ACCESS_US[k])
                    for k in kinds if lat[k]["count"])
        return float(total / count)

    def ratio(self, kind: str, name: str, degree: int) -> Value:
        """DL_algo's waiting over that of random blocks."""
        def value(s: Setting, seed: int) -> float:
            return self.wait_us(kind, (name, degree, s, DL, seed)) \
                / self.wait_us(kind, (name, degree, s, RANDOM, seed))
        return value

    def change(self, kind: str, name: str, degree: int) -> Value:
        """The same as a difference, per cent."""
        ratio = self.ratio(kind, name, degree)
        return lambda s, seed: 100 * (ratio(s, seed) - 1)

    def fall(self, kind: str, name: str, policy: str) -> Value:
        """Waiting at degree 1 over that at degree 2."""
        def value(s: Setting, seed: int) -> float:
            return self.wait_us(kind, (name, 1, s, policy, seed)) \
                / self.wait_us(kind, (name, 2, s, policy, seed))
        return value

    def growth(self, name: str) -> Value:
        """DL_algo's gain in waiting of writes at degree 2, less that in a
        short run."""
        ratio = self.ratio("write", name, 2)

        def value(s: Setting, seed: int) -> float:
            return ratio(replace(s, length=SHORT), seed) - ratio(s, seed)
        return value

    def samples(self, value: Value, s: Setting = BASE) -> list[float]:
        """One for each seed; none, if the input is too short for waits."""
        return _defined(value, s, self.seeds)


def _defined(value: Value, s: Setting, seeds: list[int]) -> list[float]:
    try:
        return [value(s, seed) for seed in seeds]
    except ZeroDivisionError:
        return []


def _keys(names: Iterable[str], degrees: Iterable[int], s: Setting,
          seeds: Iterable[int], policies: tuple[str, ...] = (DL, RANDOM)) \
        -> list[Key]:
    seeds, degrees = list(seeds), list(degrees)
    return [(n, d, s, p, seed) for n in names for d in degrees
            for p in policies for seed in seeds]


# Hardly any room: GC runs, and copies much.
OLTP_TIGHT = Setting(op_percent=3, region=1)
OLTP_PREEMPTED = replace(OLTP_TIGHT, sets=PREEMPTED)
NO_GC = Setting(op_percent=400, kept=0.01)
HALF_READS = Setting(reads=0.5)


def _play(ctx: Context) -> Runs:
    runs = Runs(ctx)
    keys = _keys((OLTP,), (0, 1, 2), BASE, runs.more_seeds)
    keys += _keys(SCIENTIFIC, (0, 1, 2), BASE, runs.seeds)
    keys += _keys(SCIENTIFIC, (2,), replace(BASE, length=SHORT), runs.seeds)
    runs.play("layout: judged runs", keys)
    if ctx.sweeps:
        some = runs.some_seeds
        keys = _keys((OLTP,), (1, 2), OLTP_TIGHT, some)
        keys += _keys((OLTP,), (1, 2), OLTP_PREEMPTED, some)
        for length in (1, SHORT):
            for s in (NO_GC, replace(BASE, sets=HOST_FIRST)):
                keys += _keys(SCIENTIFIC, (2,), replace(s, length=length),
                              some)
            keys += _keys(("S5",), (2,), replace(HALF_READS, length=length),
                          some)
        runs.play("layout: runs that test hypotheses", keys)
        _play_sweeps(runs)
    return runs


def _swept(s: Setting) -> Setting:
    return replace(s, length=SWEEP)


def _play_sweeps(runs: Runs) -> None:
    keys: list[Key] = []
    for values in SWEEPS.values():
        for s in values.values():
            keys += _keys((OLTP, *SWEPT), (0, 1, 2), _swept(s),
                          runs.some_seeds)
    for s in BURSTS.values():
        keys += _keys((OLTP,), (1, 2), _swept(s), runs.some_seeds)
    runs.play("layout: sweeps of open parameters", keys)


# ---- claims ---------------------------------------------------------------------


def _sweep(runs: Runs, row: Row, value: Value,
           sweeps: dict[str, dict[str, Setting]]) -> Row:
    """Add the sweeps of a value to a claim."""
    if not runs.ctx.sweeps:
        return row
    for parameter, values in sweeps.items():
        used = next((v for v, s in values.items() if s == BASE), "")
        judge.swept(row, parameter, {
            v: _defined(value, _swept(s), runs.some_seeds)
            for v, s in values.items()}, used)
    return row


def _below(runs: Runs, panel: str, point: str, value: Value, seeds: list[int],
           source: str, labels: list[Key], why: str = "",
           sweeps: dict[str, dict[str, Setting]] | None = None) -> Row:
    """A ratio is below 1."""
    row = judge.claim(panel, point, _defined(value, BASE, seeds), None,
                      BELOW_1, source=source, text="below 1", why=why, runs=labels)
    return _sweep(runs, row, value, sweeps or {})


def _same(runs: Runs, panel: str, point: str, value: Value, seeds: list[int],
          source: str, text: str, labels: list[Key], why: str = "",
          sweeps: dict[str, dict[str, Setting]] | None = None) -> Row:
    """A difference in per cent is none."""
    row = judge.end(panel, point, _defined(value, BASE, seeds), 0, points=True,
                    source=source, text=text, why=why, runs=labels)
    return _sweep(runs, row, value, sweeps or {})


def _of(runs: Runs, names: tuple[str, ...], degrees: tuple[int, ...]) \
        -> list[Key]:
    return [key for n in names for key in _keys(
        (n,), degrees, BASE,
        runs.more_seeds if n == OLTP else runs.seeds)]


def _inputs(runs: Runs, names: tuple[str, ...], degree: int) -> list[str]:
    out = [f"{CHOSEN}, since most statements hold with them: over-provisioning"
           f" {BASE.op_percent:g} %; GC each {BASE.period}, which keeps"
           f" {100 * BASE.kept:g} % of the spare blocks free; requests touch"
           f" {100 * BASE.region:g} % of the capacity; load {BASE.load:g} of"
           " the dies by S1 to S5",
           "a random block is any with a free page that GC does not need: up"
           f" to {BASE.any_block()} open ones of a plane, or a free one"]
    for name in names:
        slower = _slower(name, degree, BASE)
        kind = "a page at random" if name == OLTP else "1 KiB to 2 MiB, " + (
            "sequential" if li.SCIENTIFIC[name].sequential else "random")
        rate = f" (times x {slower:g})" if slower != 1 else ""
        out.append(f"{runs.inputs[name]}{rate}, the first quarter not counted,"
                   f" {kind} in {BASE.bytes_touched() / GIB:.2f} GiB")
    return out


def _chart(runs: Runs, kind: str, names: tuple[str, ...], degree: int) \
        -> Chart:
    series: Curves = {}
    errors: Curves = {}
    for p, what in NAMES.items():
        some = [[runs.wait_us(kind, (n, degree, BASE, p, seed))
                 for seed in runs.seeds] for n in names]
        series[what] = [judge.mean(x) for x in some]
        errors[what] = [judge.interval(x)[1] - judge.mean(x) for x in some]
    return Chart(list(names), series, f"mean waiting, us ({kind})",
                 errors=errors)


def _degree0(runs: Runs) -> Panel:
    name = "degree 0"
    change = {n: runs.change("all", n, 0) for n in ALL}

    def farthest(s: Setting, seed: int) -> float:
        names = (OLTP, *SWEPT) if s.length == SWEEP else ALL
        return max((change[n](s, seed) for n in names), key=abs)

    rows = [_same(runs, name, "the workload that changes most, per cent",
                  farthest, runs.seeds, "section V.A", "no change",
                  _of(runs, ALL, (0,)), sweeps=SWEEPS)]
    rows += [judge.shown(name, f"{n}, per cent", runs.samples(change[n]),
                         "of the row above") for n in ALL]
    return Panel(name, "No parallelism: DL_algo / random, waiting",
                 _inputs(runs, ALL, 0), rows, _chart(runs, "all", ALL, 0))


def _oltp(runs: Runs) -> Panel:
    sweeps = {**SWEEPS, "busy state over quiet state, OLTP": BURSTS}
    busy = 100 * judge.mean(
        [runs.results[OLTP, 1, BASE, RANDOM, s]["nand"]["die_utilization"]
         for s in runs.more_seeds])
    why = (f"the dies are busy for {busy:.1f} % of the time, and requests of a"
           " page at random places meet on a die as often with either layout")
    seeds = runs.more_seeds
    rows = [
        _same(runs, OLTP, "degree 1, reads, per cent",
              runs.change("read", OLTP, 1), seeds, "section V.B, Figure 4",
              "the same", _of(runs, (OLTP,), (1,)), why, sweeps),
        _below(runs, OLTP, "degree 1, writes", runs.ratio("write", OLTP, 1),
               seeds, "section V.B, Figure 4", _of(runs, (OLTP,), (1,)), why,
               sweeps),
        _below(runs, OLTP, "degree 2, writes", runs.ratio("write", OLTP, 2),
               seeds, "section V.C, Figure 4", _of(runs, (OLTP,), (2,)), why,
               sweeps)]
    if runs.ctx.sweeps:
        rows += _only_gc(runs, rows)
    x = [f"degree {d}, {k}s" for d in (1, 2) for k in ("read", "write")]
    series: Curves = {
        what: [judge.mean([runs.wait_us(k, (OLTP, d, BASE, p, s))
                           for s in seeds])
               for d in (1, 2) for k in ("read", "write")]
        for p, what in NAMES.items()}
    return Panel(OLTP, "OLTP: DL_algo / random, waiting (Figure 4)",
                 _inputs(runs, (OLTP,), 1), rows,
                 Chart(x, series, "mean waiting, us"))


def _only_gc(runs: Runs, rows: list[Row]) -> list[Row]:
    """Test what OLTP's writes differ by; rows beside the claims."""
    for degree, row in ((1, rows[1]), (2, rows[2])):
        if row["verdict"] != judge.HOLDS:
            judge.because(
                row, "only GC makes a difference for these writes: random"
                " blocks have fewer invalid pages each, so more is copied",
                f"OLTP at degree {degree} with "
                + " ".join(OLTP_TIGHT.options(RANDOM)),
                _defined(runs.ratio("write", OLTP, degree), OLTP_TIGHT,
                         runs.some_seeds), None, 0.95)
    return [judge.shown(
        OLTP, f"degree 1, {kind}s, with GC{what}",
        _defined(runs.ratio(kind, OLTP, 1), s, runs.some_seeds),
        " ".join(s.options(RANDOM)))
        for s, what in ((OLTP_TIGHT, ""),
                        (OLTP_PREEMPTED, " that reads suspend"))
        for kind in ACCESS_US]


def _degree(runs: Runs, degree: int, section: str, figure: int) -> Panel:
    name = f"degree {degree}"
    rows = [_below(runs, name, n, runs.ratio("write", n, degree), runs.seeds,
                   f"section {section}, Figure {figure}",
                   _of(runs, (n,), (degree,)),
                   sweeps=SWEEPS if n in SWEPT else None)
            for n in SCIENTIFIC]
    return Panel(name, f"Scientific, degree {degree}: DL_algo / random,"
                 f" waiting of writes (Figure {figure})",
                 _inputs(runs, SCIENTIFIC, degree), rows,
                 _chart(runs, "write", SCIENTIFIC, degree))


def _fall(runs: Runs) -> Panel:
    """Degree 1 over degree 2."""
    source = "section V.C, Figures 4 and 6"
    cases = [(n, p) for p in NAMES for n in ALL]
    falls = {case: runs.fall("write", *case) for case in cases}

    def extreme(pick: Callable[..., float]) -> Value:
        def value(s: Setting, seed: int) -> float:
            names = SWEPT if s.length == SWEEP else ALL
            return pick(falls[c](s, seed) for c in cases if c[0] in names)
        return value

    labels = _of(runs, ALL, (1, 2))
    least, most = extreme(min), extreme(max)
    rows = [
        _sweep(runs, judge.claim(
            "planes", "least of both policies and all workloads",
            runs.samples(least), ABOVE_1, None, source=source, text="above 1",
            runs=labels), least, SWEEPS),
        _sweep(runs, judge.end(
            "planes", "largest of them", runs.samples(most), 10, source=source,
            text="up to x10", runs=labels), most, SWEEPS)]
    series: Curves = {
        what: [judge.mean(some) if (some := runs.samples(falls[n, p])) else None
               for n in ALL] for p, what in NAMES.items()}
    rows += [judge.shown("planes", f"{NAMES[p]}, {n}",
                         runs.samples(falls[n, p]), "degree 1 / degree 2")
             for n, p in cases]
    return Panel("planes", "Waiting of writes, degree 1 / degree 2 (Figures 4"
                 " to 6: up to 10)", _inputs(runs, ALL, 2), rows,
                 Chart(list(ALL), series, "degree 1 / degree 2",
                       low=[1.0] * len(ALL), high=[11.0] * len(ALL)))


def _longer(runs: Runs) -> Panel:
    """Is DL_algo's gain larger in a longer run?"""
    name = "longer"
    growth = {n: runs.growth(n) for n in SCIENTIFIC}

    def average(s: Setting, seed: int) -> float:
        return judge.mean([growth[n](s, seed) for n in SCIENTIFIC])

    rows = [judge.claim(
        name, "gain in the run, less that in an eighth of it, mean of S1 to"
        " S5", runs.samples(average), ABOVE_0, None,
        source="section V.C, conclusion", text="above 0",
        runs=_of(runs, SCIENTIFIC, (2,)))]
    rows += [judge.shown(name, n, runs.samples(growth[n]), "of the row above")
             for n in SCIENTIFIC]
    if runs.ctx.sweeps:
        rows += _what_grows(runs)
    gain: dict[str, Curves] = {}
    for what, s in (("an eighth", replace(BASE, length=SHORT)),
                    ("the run", BASE)):
        some = [runs.samples(runs.ratio("write", n, 2), s)
                for n in SCIENTIFIC]
        gain[what] = {
            "ours": [1 - judge.mean(x) for x in some],
            "half": [judge.interval(x)[1] - judge.mean(x) for x in some]}
    return Panel(name, "Gain of DL_algo in waiting of writes at degree 2,"
                 " in a short and in a longer run",
                 _inputs(runs, SCIENTIFIC, 2), rows,
                 Chart(list(SCIENTIFIC),
                       {w: g["ours"] for w, g in gain.items()},
                       "1 - DL_algo / random",
                       errors={w: g["half"] for w, g in gain.items()}))


def _what_grows(runs: Runs) -> list[Row]:
    """Rows beside the claim: where the growth comes from."""
    cases = [(n, s, what) for s, what in (
        (NO_GC, "without GC"),
        (replace(BASE, sets=HOST_FIRST), "the host before GC at a die"))
        for n in SCIENTIFIC] + [("S5", HALF_READS, "half of it reads")]
    return [judge.shown("longer", f"{n}, {what}",
                        _defined(runs.growth(n), s, runs.some_seeds),
                        " ".join(s.options(RANDOM)))
            for n, s, what in cases]


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 4 to 6 of the paper, and its statement on degree 0."""
    runs = _play(ctx)
    yield _degree0(runs)
    yield _oltp(runs)
    yield _degree(runs, 1, "V.B", 5)
    yield _degree(runs, 2, "V.C", 6)
    yield _fall(runs)
    yield _longer(runs)
