# SPDX-License-Identifier: GPL-2.0-or-later
"""A data layout strategy to enhance the internal SSD parallelism (S. Zertal,
IJAEE 5(1), 2015), Figures 4 to 6.

Allocation by DL_algo against random blocks, at three degrees of parallelism:
the package, its dies, or its planes work one at a time.  Waiting is the mean
response less the access time of a page (section IV.B: response is mainly
waiting and access time).

The text has no numbers but "up to x10", and its figures are not to be had, so
the ranges are those of the words (docs/lab/figure-layout.md).
"""

from __future__ import annotations

import functools
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
GIB = 1 << 30
DIES = 16
RAW_BYTES = DIES * 4092 * 64 * 4096
OLTP = "OLTP"
SCIENTIFIC = tuple(li.SCIENTIFIC)
ALL = (OLTP, *SCIENTIFIC)
SAME = (0.98, 1.02)  # "no change", "the same"
SHORT = 8  # a short run has one in so many requests
SWEEP = 8  # so do the runs of a sweep
# GC comes late in a short run: it needs little room.
TIGHT = ("ftl.gc_low=0%", "ftl.gc_high=0.95%", "ftl.gc_period=1s")


@dataclass(frozen=True)
class Setting:
    """What the paper leaves open.  The defaults are the judged runs': of the
    values swept, those with which most statements hold."""

    op_percent: float = 400  # no GC in the run
    blocks: int = 16  # that a plane's random block is drawn from
    load: float = 0.72  # of the package (degree 0), or the dies (1 and 2)
    power: float = 0.5  # li.sizes()
    region: float = 1  # part of the capacity that is touched
    burst: float = 5  # OLTP: li.Hmm
    sets: tuple[str, ...] = ()
    reads: float | None = None  # instead of Table I
    length: int = 1  # one in so many requests

    def bytes_touched(self) -> int:
        """In whole requests of the largest size."""
        most = RAW_BYTES / (1 + self.op_percent / 100)
        return int(most * self.region * 0.998) // li.ALIGN * li.ALIGN


BASE = Setting()
# By parameter: its values in order, and the setting of each; BASE is among
# them, as the runs' length is not.
SWEEPS: dict[str, dict[str, Setting]] = {
    "over-provisioning": {
        f"{op:g} %": Setting(op_percent=op)
        for op in (3, 7, 28, 400)},
    "open blocks of a plane": {
        str(n): Setting(blocks=n) for n in (1, 4, 16, 64)},
    "load": {f"{x:g}": Setting(load=x) for x in (0.03, 0.25, 0.5, 0.72, 0.8)},
    "shares of sizes fall with the size to the power of": {
        f"{p:g}": Setting(power=p) for p in (0.25, 0.5, 1)},
    "part of the capacity touched": {
        f"{x:g}": Setting(region=x) for x in (0.1, 0.3, 1)},
    "bus, MT/s": {
        "none": BASE, "1600": Setting(sets=("nand.bus_mt_s=1600",)),
        "800": Setting(sets=("nand.bus_mt_s=800",))},
    "reads first": {
        "no": BASE, "yes": Setting(sets=("nand.schedule=read-first",))},
    "period of GC at 3 %": {
        p: Setting(op_percent=3, sets=(
            "ftl.gc_low=0%", "ftl.gc_high=0.9%", f"ftl.gc_period={p}"))
        for p in ("10ms", "100ms", "1s")},
    "free blocks at which GC ends, at 3 %": {
        f"{high} %": Setting(op_percent=3, sets=(
            "ftl.gc_low=0%", f"ftl.gc_high={high}%", "ftl.gc_period=100ms"))
        for high in ("0.3", "0.6", "0.9")},
    "threshold of DL_algo at 3 %": {
        t: Setting(op_percent=3, sets=(f"ftl.dl_threshold={t}",))
        for t in ("70%", "90%", "99%")},
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
    return li.scientific(name, row, n, rate, s.bytes_touched(), s.power, seed)


def _trace(name: str, s: Setting, n: int, seed: int) -> ft.Trace:
    if name == OLTP:
        return li.oltp(li.Hmm(burst=s.burst), n, s.bytes_touched(), seed)
    return _scientific(name, s, n, _per_second(name, s), seed)


def _stem(name: str, s: Setting, seed: int) -> str:
    """Of the input: the same for all degrees, policies, loads and options."""
    return (f"layout-{name}-{s.burst:g}-{s.bytes_touched()}-{s.power:g}"
            f"-{s.reads}-{s.length}-{seed}")


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

    def _point(self, key: Key) -> Point:
        name, degree, s, policy, seed = key
        n = self.ctx.length(REQUESTS // s.length)
        path = self.ctx.inputs / f"{_stem(name, s, seed)}.csv"
        if not path.exists():
            trace = _trace(name, s, n, seed)
            self.inputs.setdefault(name, trace.source)
            ft.write_msr(trace, path)
        sets = ("host.queue_depth=65536", f"nand.lock={LOCKS[degree]}",
                f"ftl.op_percent={s.op_percent:g}%", f"ftl.alloc={policy}",
                f"seed={seed}", *s.sets)
        if policy == RANDOM:
            sets += (f"ftl.random_blocks={s.blocks}",)
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

    def ratio(self, kind: str, name: str, degree: int,
              other: str = RANDOM) -> Value:
        """DL_algo's waiting over that of random allocation."""
        def value(s: Setting, seed: int) -> float:
            return self.wait_us(kind, (name, degree, s, DL, seed)) \
                / self.wait_us(kind, (name, degree, s, other, seed))
        return value

    def fall(self, kind: str, name: str, policy: str) -> Value:
        """Waiting at degree 1 over that at degree 2."""
        def value(s: Setting, seed: int) -> float:
            return self.wait_us(kind, (name, 1, s, policy, seed)) \
                / self.wait_us(kind, (name, 2, s, policy, seed))
        return value

    def growth(self, name: str, other: str = RANDOM) -> Value:
        """DL_algo's gain in waiting of writes at degree 2, less that in a
        short run."""
        ratio = self.ratio("write", name, 2, other)

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


OLTP_TIGHT = Setting(op_percent=2.9, sets=TIGHT)  # GC, and little room for it
ALL_AT_RANDOM = "random"  # the policy that places first versions so, too
MIXED = ("S1", "S4")  # traces with many reads
HALF_READS = Setting(reads=0.5)


def _play(ctx: Context) -> Runs:
    runs = Runs(ctx)
    seeds = runs.seeds
    keys = _keys(ALL, (0, 1, 2), BASE, seeds)
    keys += _keys(SCIENTIFIC, (2,), replace(BASE, length=SHORT), seeds)
    runs.play("layout: judged runs", keys)
    keys = _keys((OLTP,), (1,), OLTP_TIGHT, seeds)
    for length in (1, SHORT):
        keys += _keys(MIXED, (2,), replace(BASE, length=length), seeds,
                      (ALL_AT_RANDOM,))
        keys += _keys(("S5",), (2,), replace(HALF_READS, length=length), seeds)
    runs.play("layout: runs that test hypotheses", keys)
    if ctx.sweeps:
        _play_sweeps(runs)
    return runs


def _swept(s: Setting) -> Setting:
    return replace(s, length=SWEEP)


def _play_sweeps(runs: Runs) -> None:
    keys: list[Key] = []
    for values in SWEEPS.values():
        for s in values.values():
            keys += _keys((OLTP, *SWEPT), (1, 2), _swept(s), [SEED])
    for s in SWEEPS["over-provisioning"].values():
        keys += _keys((OLTP, *SWEPT), (0,), _swept(s), [SEED])
    for s in BURSTS.values():
        keys += _keys((OLTP,), (1, 2), _swept(s), [SEED])
    runs.play("layout: sweeps of open parameters", keys)


# ---- claims ---------------------------------------------------------------------


def _claim(runs: Runs, panel: str, point: str, value: Value,
           low: float | None, high: float | None, source: str,
           labels: list[Key], text: str = "", why: str = "",
           sweeps: dict[str, dict[str, Setting]] | None = None) -> Row:
    row = judge.claim(panel, point, runs.samples(value), low, high,
                      source=source, text=text, why=why, runs=labels)
    for parameter, values in (sweeps or {} if runs.ctx.sweeps else {}).items():
        used = next((v for v, s in values.items() if s == BASE), "")
        judge.swept(row, parameter, {
            v: _defined(value, _swept(s), [SEED])
            for v, s in values.items()}, used)
    return row


def _of(runs: Runs, names: tuple[str, ...], degrees: tuple[int, ...]) \
        -> list[Key]:
    return _keys(names, degrees, BASE, runs.seeds)


def _inputs(runs: Runs, names: tuple[str, ...], degree: int) -> list[str]:
    out = [f"{CHOSEN}, since most statements hold with them: over-provisioning"
           f" {BASE.op_percent:g} %, {BASE.blocks} open blocks of a plane for a"
           f" random block, load {BASE.load:g} of the dies by S1 to S5"]
    for name in names:
        slower = _slower(name, degree, BASE)
        kind = "a page at random" if name == OLTP else "1 KiB to 2 MiB, " + (
            "sequential" if li.SCIENTIFIC[name].sequential else "random")
        rate = f" (times x {slower:g})" if slower != 1 else ""
        out.append(f"{runs.inputs[name]}{rate}, the first quarter not counted, {kind} in"
                   f" {BASE.bytes_touched() / GIB:.2f} GiB")
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
    sweeps = {"over-provisioning": SWEEPS["over-provisioning"]}
    rows = [_claim(runs, name, n, runs.ratio("all", n, 0), *SAME,
                   "section V.A", _of(runs, (n,), (0,)), "no change",
                   sweeps=sweeps if n in (OLTP, *SWEPT) else None)
            for n in ALL]
    return Panel(name, "No parallelism: DL_algo / random, waiting",
                 _inputs(runs, ALL, 0), rows, _chart(runs, "all", ALL, 0))


def _oltp(runs: Runs) -> Panel:
    sweeps = {**SWEEPS, "busy state over quiet state, OLTP": BURSTS}
    busy = 100 * judge.mean(
        [runs.results[OLTP, 1, BASE, RANDOM, s]["nand"]["die_utilization"]
         for s in runs.seeds])
    why = (f"the dies are busy for {busy:.1f} % of the time, and requests of a"
           " page at random places meet on a die as often with either layout")
    rows = [
        _claim(runs, OLTP, "degree 1, reads", runs.ratio("read", OLTP, 1),
               *SAME, "section V.B, Figure 4", _of(runs, (OLTP,), (1,)),
               "the same", why, sweeps),
        _claim(runs, OLTP, "degree 1, writes", runs.ratio("write", OLTP, 1),
               None, 1, "section V.B, Figure 4", _of(runs, (OLTP,), (1,)),
               "below 1", why, sweeps),
        _claim(runs, OLTP, "degree 2, writes", runs.ratio("write", OLTP, 2),
               None, 1, "section V.C, Figure 4", _of(runs, (OLTP,), (2,)),
               "below 1", why, sweeps)]
    tight = runs.samples(runs.ratio("write", OLTP, 1), OLTP_TIGHT)
    for row in rows[1:]:
        if row["verdict"] != judge.HOLDS:
            judge.because(
                row, "only GC makes a difference for these writes: random"
                " blocks have fewer invalid pages each, so more is copied",
                "OLTP at degree 1 with " + " ".join(
                    (f"ftl.op_percent={OLTP_TIGHT.op_percent:g}%", *TIGHT)),
                tight, None, 0.95)
    for kind in ("read", "write"):
        rows.append(judge.shown(
            OLTP, f"degree 1, {kind}s, with GC",
            runs.samples(runs.ratio(kind, OLTP, 1), OLTP_TIGHT),
            f"ftl.op_percent={OLTP_TIGHT.op_percent:g}% " + " ".join(TIGHT)))
    x = [f"degree {d}, {k}s" for d in (1, 2) for k in ("read", "write")]
    series: Curves = {
        what: [judge.mean([runs.wait_us(k, (OLTP, d, BASE, p, s))
                           for s in runs.seeds])
               for d in (1, 2) for k in ("read", "write")]
        for p, what in NAMES.items()}
    return Panel(OLTP, "OLTP: DL_algo / random, waiting (Figure 4)",
                 _inputs(runs, (OLTP,), 1), rows,
                 Chart(x, series, "mean waiting, us"))


def _degree(runs: Runs, degree: int, section: str, figure: int) -> Panel:
    name = f"degree {degree}"
    rows = [_claim(runs, name, n, runs.ratio("write", n, degree), None, 1,
                   f"section {section}, Figure {figure}",
                   _of(runs, (n,), (degree,)), "below 1",
                   sweeps=SWEEPS if n in SWEPT else None)
            for n in SCIENTIFIC]
    return Panel(name, f"Scientific, degree {degree}: DL_algo / random,"
                 f" waiting of writes (Figure {figure})",
                 _inputs(runs, SCIENTIFIC, degree), rows,
                 _chart(runs, "write", SCIENTIFIC, degree))


def _fall(runs: Runs) -> Panel:
    """Degree 1 over degree 2."""
    source = "section V.C, Figures 4 and 6"
    rows = []
    series: Curves = {what: [] for what in NAMES.values()}
    for p, what in NAMES.items():
        for n in ALL:
            fall = runs.fall("write", n, p)
            rows.append(_claim(
                runs, "planes", f"{what}, {n}", fall, 1, None, source,
                _of(runs, (n,), (1, 2)), "above 1"))
            series[what].append(judge.mean(runs.samples(fall)))

    def largest(s: Setting, seed: int) -> float:
        names = SWEPT if s.length == SWEEP else SCIENTIFIC
        return max(runs.fall("write", n, p)(s, seed)
                   for n in names for p in NAMES)

    rows.append(_claim(runs, "planes", "largest of all", largest,
                       *judge.about(10), source,
                       _of(runs, SCIENTIFIC, (1, 2)), "up to x10",
                       sweeps=SWEEPS))
    for p, what in NAMES.items():
        rows.append(judge.shown(
            "planes", f"{what}, largest", [
                max(runs.fall("write", n, p)(BASE, s) for n in SCIENTIFIC)
                for s in runs.seeds],
            "the paper gives one number for both policies"))
    return Panel("planes", "Waiting of writes, degree 1 / degree 2 (Figures 4"
                 " to 6: up to 10)", _inputs(runs, ALL, 2), rows,
                 Chart(list(ALL), series, "degree 1 / degree 2",
                       low=[1.0] * len(ALL), high=[11.0] * len(ALL)))


def _longer(runs: Runs) -> Panel:
    """Is DL_algo's gain larger in a longer run?"""
    short = replace(BASE, length=SHORT)
    rows = []
    gain: dict[str, Curves] = {}
    for n in SCIENTIFIC:
        row = _claim(runs, "longer", f"{n}: gain in the run, less that in an"
                     " eighth of it", runs.growth(n), 0, None,
                     "section V.C, conclusion", _of(runs, (n,), (2,)),
                     "above 0")
        if row["verdict"] != judge.HOLDS:
            _why_no_growth(runs, row)
        rows.append(row)
    rows += [judge.shown(
        "longer", f"{n}, first versions at random too",
        runs.samples(runs.growth(n, ALL_AT_RANDOM)),
        "ftl.alloc=random: there is no good layout that could be lost")
        for n in MIXED]
    for what, s in (("an eighth", short), ("the run", BASE)):
        some = [runs.samples(runs.ratio("write", n, 2), s)
                for n in SCIENTIFIC]
        gain[what] = {
            "ours": [1 - judge.mean(x) for x in some],
            "half": [judge.interval(x)[1] - judge.mean(x) for x in some]}
    return Panel("longer", "Gain of DL_algo in waiting of writes at degree 2,"
                 " in a short and in a longer run",
                 _inputs(runs, SCIENTIFIC, 2), rows,
                 Chart(list(SCIENTIFIC),
                       {w: g["ours"] for w, g in gain.items()},
                       "1 - DL_algo / random",
                       errors={w: g["half"] for w, g in gain.items()}))


def _why_no_growth(runs: Runs, row: Row) -> None:
    row["why"] = ("a write's new version is at random from the first one on;"
                  " what is lost with time is the layout that reads find")
    judge.because(
        row, "the gain grows by reads: they occupy dies unevenly when their"
        " data is at random, and writes wait behind them",
        "S5 with half of its requests reads, gain in the run less that in an"
        " eighth of it", runs.samples(runs.growth("S5"), HALF_READS), 0, None)


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 4 to 6 of the paper, and its statement on degree 0."""
    runs = _play(ctx)
    yield _degree0(runs)
    yield _oltp(runs)
    yield _degree(runs, 1, "V.B", 5)
    yield _degree(runs, 2, "V.C", 6)
    yield _fall(runs)
    yield _longer(runs)
