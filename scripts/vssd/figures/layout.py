# SPDX-License-Identifier: GPL-2.0-or-later
"""A data layout strategy to enhance the internal SSD parallelism (S. Zertal,
IJAEE 5(1), 2015), Figures 4 to 6.

Allocation by DL_algo against random allocation, at three degrees of
parallelism: the package, its dies, or its planes work one at a time.  Waiting
is the mean response less the access time of a page (section V: response is
mainly waiting and access time).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..paths import find_profile
from ..sim.run import Point, Result
from . import judge
from . import traces as ft
from .figure import Chart, Context, Panel, Row, band

TITLE = "Data layout for internal parallelism (Zertal 2015)"
REQUESTS = 250_000
SEED = 2015
LOCKS = ("chip", "die", "plane")  # degree 0, 1, 2
POLICIES = ("dl", "random")
ACCESS_US = {"read": 130.0, "write": 305.0}
MIB = 1 << 20
GIB = 1 << 30

# Table I.  Open in the paper: which part of the drive is used.
MIXES = {
    "OLTP": ft.Mix(0.67, False, True, 5000 * MIB),
    "S1": ft.Mix(0.51, True, False, GIB),
    "S2": ft.Mix(0.50, True, False, GIB),
    "S3": ft.Mix(0.14, False, False, GIB),
    "S4": ft.Mix(0.67, False, False, GIB),
    "S5": ft.Mix(0.00, False, False, GIB),
}
SCIENTIFIC = ("S1", "S2", "S3", "S4", "S5")
OLTP_PER_S = 1600.0
# Open in the paper: how fast the scientific requests come.  Here: so that the
# package at degree 0, and the dies at degree 1 and 2, would be busy for half of
# the time without GC.
LOAD = 0.5
DIES = 16
SAME = (0.98, 1.02)  # limit of "equal"
CLEARLY = 0.95  # limit of "significantly less"
ROOM = "ftl.op_percent=200%"  # no GC in the run
EVERY, SHORT, ROOMY = "every", "short", "roomy"
# OLTP leaves the dies idle for 98 % of the time: its waits are so short that
# one run is not enough, and its ratios are those of the mean over these seeds.
OLTP_SEEDS = tuple(range(SEED, SEED + 8))

# workload, degree, policy, variant
Key = tuple[str, int, str, str]


@dataclass(frozen=True)
class Runs:
    """The inputs and their results."""

    traces: dict[tuple[str, int], ft.Trace]
    results: dict[Key, Result]

    def wait_us(self, kind: str, key: Key) -> float:
        """Mean waiting of reads, writes, or all; over the seeds, where there
        are several."""
        name, degree, policy, variant = key
        keys = [k for s in OLTP_SEEDS[1:] if
                (k := (name, degree, policy, f"{variant} {s}"))
                in self.results]
        waits = [_wait_us(kind, self.results[k]) for k in [key, *keys]]
        return sum(waits) / len(waits)

    def ratio(self, kind: str, name: str, degree: int,
              variant: str = EVERY) -> float:
        """DL_algo's waiting over that of random allocation."""
        dl, random = (self.wait_us(kind, (name, degree, p, variant))
                      for p in POLICIES)
        return dl / random


def _wait_us(kind: str, result: Result) -> float:
    lat = result["latency_ns"]
    if kind == "all":
        n = {k: lat[k]["count"] for k in ACCESS_US}
        total = sum(n[k] * _wait_us(k, result) for k in n if n[k])
        return float(total / sum(n.values()))
    return float(lat[kind]["mean"]) / 1000 - ACCESS_US[kind]


# ---- runs -----------------------------------------------------------------------


def _rate(mix: ft.Mix, degree: int) -> float:
    """Requests per second."""
    if mix.one_page:
        return OLTP_PER_S
    probe = ft.mix("", mix, 20_000, 1.0, SEED)
    writes = float(probe.write.mean())
    service_us = (1 - writes) * ft.pages_of(probe, False) * ACCESS_US["read"] \
        + writes * ft.pages_of(probe, True) * ACCESS_US["write"]
    return LOAD * (DIES if degree else 1) * 1e6 / service_us


def _point(trace: ft.Trace, ctx: Context, stem: str, warm_up: int,
           sets: tuple[str, ...]) -> Point:
    path = ctx.scratch / f"layout-{stem}.csv"
    if not path.exists():
        ft.write_msr(trace, path)
    return Point(find_profile("zertal2015"), trace=path,
                 sets=("host.queue_depth=65536", *sets),
                 args=("--warm-up", str(warm_up)))


def _play(ctx: Context) -> Runs:
    n = ctx.length(REQUESTS)
    traces: dict[tuple[str, int], ft.Trace] = {}
    points: dict[Key, Point] = {}
    for name, mix in MIXES.items():
        for degree, lock in enumerate(LOCKS):
            trace = ft.mix(name, mix, n, _rate(mix, degree), SEED)
            traces[name, degree] = trace
            for policy in POLICIES:
                sets = (f"nand.lock={lock}", f"ftl.alloc={policy}")
                points[name, degree, policy, EVERY] = _point(
                    trace, ctx, f"{name}-{degree}", n // 4, sets)
                points[name, degree, policy, ROOMY] = _point(
                    trace, ctx, f"{name}-{degree}", n // 4, (*sets, ROOM))
                if mix.one_page:
                    points |= _seeds(ctx, name, degree, policy, sets)
                if degree == 2 and not mix.one_page:
                    points[name, degree, policy, SHORT] = _point(
                        ft.head(trace, n // 2), ctx, f"{name}-{degree}-short",
                        n // 4, sets)
    return Runs(traces, ctx.run("layout: runs of vssd-sim", points))


def _seeds(ctx: Context, name: str, degree: int, policy: str,
           sets: tuple[str, ...]) -> dict[Key, Point]:
    """The same with other seeds."""
    n = ctx.length(REQUESTS)
    out: dict[Key, Point] = {}
    for seed in OLTP_SEEDS[1:]:
        trace = ft.mix(name, MIXES[name], n, OLTP_PER_S, seed)
        out[name, degree, policy, f"{EVERY} {seed}"] = _point(
            trace, ctx, f"{name}-seed{seed}", n // 4,
            (*sets, f"seed={seed}"))
    return out


def _inputs(runs: Runs, names: tuple[str, ...], degree: int) -> list[str]:
    out = []
    for name in names:
        trace, mix = runs.traces[name, degree], MIXES[name]
        out.append(f"{trace.source}, the first quarter not counted,"
                   f" {'one page' if mix.one_page else '1 KiB to 2 MiB'},"
                   f" {'sequential' if mix.sequential else 'random'} in"
                   f" {mix.region // MIB} MiB")
    return out


# ---- why --------------------------------------------------------------------------


def _untouched(runs: Runs, name: str, degree: int) -> bool:
    """Was there no GC in the runs with room?"""
    return not any(runs.results[name, degree, p, ROOMY]["nand"]["erases"]
                   for p in POLICIES)


def _why(runs: Runs, kind: str, name: str, degree: int) -> str:
    """Other measurements: GC, and the same without it."""
    r = {p: runs.results[name, degree, p, EVERY] for p in POLICIES}
    dl, random = (r[p]["nand"]["erases"] for p in POLICIES)
    if not dl and not random:
        wait = runs.wait_us(kind, (name, degree, "random", EVERY))
        busy = 100 * r["random"]["nand"]["die_utilization"]
        return (f"the dies are busy for {busy:.1f} % of the time, so that a"
                f" request waits for {wait:.2f} us only, whatever the layout;"
                f" mean of {len(OLTP_SEEDS)} runs of different seeds")
    text = f"GC ({dl} and {random} erases) slows both"
    if _untouched(runs, name, degree):
        text += ("; with room so that nothing is cleaned, the ratio is"
                 f" {runs.ratio(kind, name, degree, ROOMY):.3g}")
    return text


def _why_fall(runs: Runs, name: str, policy: str) -> str:
    one, two = (runs.wait_us("write", (name, d, policy, EVERY))
                for d in (1, 2))
    return f"{one:.0f} us become {two:.0f} us at twice as many units"


# ---- panels -----------------------------------------------------------------------


def _beside(runs: Runs, panel: str, kind: str, names: tuple[str, ...],
            degree: int) -> list[Row]:
    return [judge.shown(panel, f"{n}, nothing cleaned",
                        runs.ratio(kind, n, degree, ROOMY), ROOM)
            for n in names if _untouched(runs, n, degree)]


def _chart(runs: Runs, kind: str, names: tuple[str, ...], degree: int) \
        -> Chart:
    series: dict[str, list[float | None]] = {
        {"dl": "DL_algo", "random": "random"}[p]:
        [runs.wait_us(kind, (n, degree, p, EVERY)) for n in names]
        for p in POLICIES}
    for p, what in (("dl", "DL_algo"), ("random", "random")):
        series[f"{what}, nothing cleaned"] = [
            runs.wait_us(kind, (n, degree, p, ROOMY))
            if _untouched(runs, n, degree) else None for n in names]
    return Chart(list(names), series, f"mean waiting, us ({kind})")


def _degree0(runs: Runs) -> Panel:
    names = tuple(MIXES)
    rows = [band("degree 0", n, runs.ratio("all", n, 0), *SAME,
                 _why(runs, "all", n, 0)) for n in names]
    rows += _beside(runs, "degree 0", "all", names, 0)
    return Panel("degree 0", "No parallelism: DL_algo / random, waiting",
                 _inputs(runs, names, 0), rows, _chart(runs, "all", names, 0))


def _oltp(runs: Runs) -> Panel:
    rows = [
        band("OLTP", "degree 1, reads", runs.ratio("read", "OLTP", 1), *SAME,
             _why(runs, "read", "OLTP", 1)),
        band("OLTP", "degree 1, writes", runs.ratio("write", "OLTP", 1), None,
             CLEARLY, _why(runs, "write", "OLTP", 1)),
        band("OLTP", "degree 2, writes", runs.ratio("write", "OLTP", 2), None,
             1, _why(runs, "write", "OLTP", 2)),
    ]
    x = [f"degree {d}, {k}s" for d in (1, 2) for k in ("read", "write")]
    series: dict[str, list[float | None]] = {
        what: [runs.wait_us(k, ("OLTP", d, p, EVERY)) for d in (1, 2)
               for k in ("read", "write")]
        for p, what in (("dl", "DL_algo"), ("random", "random"))}
    return Panel("OLTP", "OLTP: DL_algo / random, waiting (Figure 4)",
                 _inputs(runs, ("OLTP",), 1), rows,
                 Chart(x, series, "mean waiting, us"))


def _scientific(runs: Runs, degree: int, most: float, figure: int) -> Panel:
    name = f"degree {degree}"
    rows = [band(name, n, runs.ratio("write", n, degree), None, most,
                 _why(runs, "write", n, degree)) for n in SCIENTIFIC]
    rows += _beside(runs, name, "write", SCIENTIFIC, degree)
    return Panel(name, f"Scientific, degree {degree}: DL_algo / random,"
                 f" waiting of writes (Figure {figure})",
                 _inputs(runs, SCIENTIFIC, degree), rows,
                 _chart(runs, "write", SCIENTIFIC, degree))


def _fall(runs: Runs) -> Panel:
    """Degree 1 over degree 2."""
    rows = []
    series: dict[str, list[float | None]] = {}
    for policy, what in (("dl", "DL_algo"), ("random", "random")):
        fall = {n: runs.wait_us("write", (n, 1, policy, EVERY))
                / runs.wait_us("write", (n, 2, policy, EVERY))
                for n in SCIENTIFIC}
        series[what] = list(fall.values())
        most = max(fall, key=lambda n: fall[n])
        # "Up to 10 x" is read as: the largest is between 5 and 15.
        rows += [band("planes", f"{what}, {n}", fall[n], 1, None,
                      _why_fall(runs, n, policy)) for n in SCIENTIFIC]
        rows.append(band("planes", f"{what}, largest", fall[most], 5, 15,
                         _why_fall(runs, most, policy)))
    return Panel("planes", "Waiting of writes, degree 1 / degree 2 (Figures 5"
                 " and 6: up to 10)", _inputs(runs, SCIENTIFIC, 2), rows,
                 Chart(list(SCIENTIFIC), series, "degree 1 / degree 2",
                       low=[1.0] * 5, high=[10.0] * 5))


def _longer(runs: Runs) -> Panel:
    """Is DL_algo's gain larger later in the run?"""
    rows = []
    gain = {v: [1 - runs.ratio("write", n, 2, v) for n in SCIENTIFIC]
            for v in (SHORT, EVERY)}
    for i, n in enumerate(SCIENTIFIC):
        rows.append(band(
            "longer", f"{n}: gain later - gain early",
            gain[EVERY][i] - gain[SHORT][i], 0, None,
            f"the gain is {gain[SHORT][i]:.2f} in the second quarter of the"
            f" run and {gain[EVERY][i]:.2f} in the last three"))
    return Panel("longer", "Gain of DL_algo in waiting of writes, early and"
                 " over the run, degree 2", _inputs(runs, SCIENTIFIC, 2), rows,
                 Chart(list(SCIENTIFIC),
                       {"second quarter": list(gain[SHORT]),
                        "last three quarters": list(gain[EVERY])},
                       "1 - DL_algo / random"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 4 to 6 of the paper, and its statement on degree 0."""
    runs = _play(ctx)
    yield _degree0(runs)
    yield _oltp(runs)
    yield _scientific(runs, 1, CLEARLY, 5)
    yield _scientific(runs, 2, 1, 6)
    yield _fall(runs)
    yield _longer(runs)
