# SPDX-License-Identifier: GPL-2.0-or-later
"""FDP SSDs (Song et al., "Characterizing and Emulating FDP SSDs with WARP",
FAST 2026): what its emulator WARP shows, on this model.

Numbers of the paper are in Table 2 and the text of sections 5.2 and 5.3.  Which
volume they belong to, the share of each writer and points of the curves come
from the scripts and logs of its public artifact (docs/lab/figure-warp.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from . import judge
from .figure import Chart, Context, Curves, Panel, Row
from .judge import about
from .warp_input import Cache, Streams
from .warp_runs import DIES, RUS, Case, Curve, Drive, block_pages, play

TITLE = "FDP SSDs (WARP, FAST 2026)"
SEED = 2026

NONE, MIXED, FDP = WAYS = ("no FDP", "mixed", "FDP")
THREE = {NONE: (0, 0, 0), MIXED: (0, 1, 0), FDP: (0, 1, 2)}  # handle of a role
PAIR = {NONE: (0, 0), FDP: (0, 1)}
WARP_A = Drive(op=10, persistent=True)
WARP_A2 = Drive(op=14, persistent=False)
MARKS = (1, 1.5, 2, 3, 4)  # volumes: points of curves

# Figure 13.  Share of the SOC of the bytes, with FDP, until volume 4: counted in
# the artifact's logs.  Without FDP they do not count it.
SOC_BYTES = {4: 0.84, 20: 0.86, 40: 0.86}
TABLE_CACHE = {(4, NONE): 1.16, (4, FDP): 1.0, (20, NONE): 1.37,
               (20, FDP): 1.04, (40, NONE): 2.0, (40, FDP): 1.37}
CACHE_END = 4.0
LOG_ENDS = {(40, NONE): 3.56}  # the log of this line ends there
CACHE_LOG = {
    (4, NONE): (1.0, 1.058, 1.1, 1.142, 1.164),
    (4, FDP): (1.0, 1.0, 1.0, 1.0, 1.0),
    (20, NONE): (1.0, 1.072, 1.121, 1.19, 1.365),
    (20, FDP): (1.001, 1.011, 1.019, 1.029, 1.045),
    (40, NONE): (1.0, 1.129, 1.226, 1.6, None),
    (40, FDP): (1.0, 1.044, 1.088, 1.199, 1.367)}

# Three streams: shares after the fill.  Of A2 counted in the logs until volume
# 4, of A until volume 5, in the middle of section 5.2's ranges.
LAWS = ("zipf 2.2", "zipf 1.2", "80/20")
A2_BYTES = {"zipf 2.2": (0.60, 0.20, 0.20), "zipf 1.2": (0.57, 0.22, 0.21),
            "80/20": (0.577, 0.21, 0.213), "uniform": (0.57, 0.215, 0.215)}
A_VOLUMES = (0.29, 0.31)  # at random with the fill, and overwritten
A_OTHERS = {"0.26, 0.40": (0.26, 0.40), "0.32, 0.22": (0.32, 0.22),
            "0.42, 0.31 (log)": (0.42, 0.31),
            "0.20, 0.80 (more than it says)": (0.20, 0.80)}
A_BY_LOG = "0.42, 0.31 (log)"
A_MORE = "0.20, 0.80 (more than it says)"
A_USED = "0.29, 0.31"
A_PARAMETER = "volumes at random, of overwrites"
A_END, A2_END = 5.0, 4.0
TABLE_A = {("zipf 2.2", FDP): 1.04, ("zipf 1.2", FDP): 1.06,
           ("80/20", FDP): 1.24, ("zipf 2.2", MIXED): 1.70,
           ("zipf 1.2", MIXED): 2.04, ("80/20", MIXED): 1.82,
           ("zipf 2.2", NONE): 2.13, ("zipf 1.2", NONE): 2.17,
           ("80/20", NONE): 2.07}
TABLE_A2 = {("zipf 2.2", FDP): 1.05, ("zipf 1.2", FDP): 1.10,
            ("80/20", FDP): 1.68, ("zipf 2.2", MIXED): 2.19,
            ("zipf 1.2", MIXED): 2.38, ("80/20", MIXED): 2.35,
            ("zipf 2.2", NONE): 2.48, ("zipf 1.2", NONE): 2.60,
            ("80/20", NONE): 2.64}
A2_LOG = {  # 80/20, of Figure 15
    FDP: (1.0, 1.028, 1.169, 1.489, 1.681),
    MIXED: (1.0, 1.035, 1.218, 1.947, 2.348),
    NONE: (1.0, 1.081, 1.402, 2.208, 2.637)}
A_LOG = {  # 80/20 until volume 5, of the greedy runs of Figure 14
    FDP: (1.0, 1.013, 1.05, 1.185, 1.315, 1.443),
    MIXED: (1.0, 1.019, 1.126, 1.48, 1.558, 1.588),
    NONE: (1.0, 1.015, 1.125, 1.572, 1.886, 2.057)}
UNIFORM_LOG = {FDP: 2.790, MIXED: 2.823, NONE: 3.045}

# Section 5.3: WAF by RU size, OP and isolation (II, PI), 80/20 at volume 5.
II_PI = {(256, 3): ((2.92, 2.92), (3.8, 3.8)),
         (256, 5): ((2.178, 2.187), (2.365, 2.365)),
         (256, 10): ((1.338, 1.338), (1.181, 1.181)),
         (128, 3): ((2.521, 2.521), (2.781, 2.781)),
         (128, 5): ((1.74, 1.74), (1.908, 1.908)),
         (128, 10): ((1.129, 1.129), (1.091, 1.091))}
OPS = (3, 5, 7, 10, 14)

Key = tuple[Any, ...]
Curves_ = dict[Any, list[Curve]]


def _at(curves: list[Curve], volumes: float) -> list[float]:
    return [c.waf(volumes) for c in curves]


def _mean(curves: list[Curve], volumes: float) -> float:
    return judge.mean(_at(curves, volumes))


def _runs(*curves: list[Curve]) -> list[Any]:
    """Labels of their runs."""
    return [c.run for some in curves for c in some]


def _drive_text(ctx: Context, *drives: str) -> str:
    pages = block_pages(ctx) * DIES
    return (f"drive: profile warp2026, {RUS} reclaim units of {pages} pages;"
            f" {'; '.join(drives)}; it begins empty")


def _open(row: Row) -> bool:
    """Whether a claim needs a hypothesis."""
    return row["verdict"] in (judge.DEVIATES, judge.UNSTABLE)


# ---- the cache ------------------------------------------------------------------


def _cache(ctx: Context, soc: int, way: str, soc_bytes: float = 0,
           theta: float = 0) -> Case:
    pages = block_pages(ctx)
    cfg = Cache(soc / 100, soc_bytes or SOC_BYTES[soc],
                region=max(pages * DIES // 16, 1), theta=theta)
    return Case(WARP_A, cfg, CACHE_END, PAIR[way], pages)


def _cache_sweeps(ctx: Context, rows: dict[Key, Row], used: Curves_) -> None:
    """What the paper and its artifact do not give."""
    shares = (0.80, 0.83, 0.89)
    thetas = (0.6, 0.9)
    cases: dict[Key, Case] = {}
    for soc, way in TABLE_CACHE:
        for share in shares:
            cases[soc, way, "share", share] = _cache(ctx, soc, way, share)
        for theta in thetas:
            cases[soc, way, "theta", theta] = _cache(ctx, soc, way,
                                                     theta=theta)
    swept = play(ctx, "warp: the cache, open parameters", cases, [SEED])
    for key, row in rows.items():
        end = LOG_ENDS.get(key, CACHE_END)
        mine = _at(used[key], end)
        used_share = f"{SOC_BYTES[key[0]]:.2f}"
        by = {f"{s:.2f}": _at(swept[key + ("share", s)], end) for s in shares}
        judge.swept(row, "share of the SOC of the bytes",
                    dict(sorted((by | {used_share: mine}).items())),
                    used_share)
        judge.swept(row, "popularity of keys (Zipf)",
                    {"uniform": mine, **{
                        f"{t:g}": _at(swept[key + ("theta", t)], end)
                        for t in thetas}}, "uniform")
        if _open(row) and key[1] == NONE:
            judge.because(
                row, "without FDP the LOC has a larger share of the bytes; the"
                " log does not count it", "the share of the SOC is 0.83",
                by["0.83"], row["low"], row["high"])


def cache(ctx: Context) -> Panel:
    """Figure 13 and Table 2."""
    cases = {key: _cache(ctx, *key) for key in TABLE_CACHE}
    got = play(ctx, "warp: the cache", cases, ctx.seeds(SEED))
    name = "cache"
    rows = {}
    for key, value in TABLE_CACHE.items():
        end = LOG_ENDS.get(key, CACHE_END)
        rows[key] = judge.claim(
            name, f"SOC {key[0]} %, {key[1]}", _at(got[key], end),
            *about(value), source="Table 2, WARP_A", text=f"{value:g}",
            why=f"at {end:g} volumes", runs=_runs(got[key]))
    orders = [judge.order(
        name, f"SOC {soc} %: FDP below no FDP", _at(got[soc, FDP], CACHE_END),
        _at(got[soc, NONE], CACHE_END), source="section 5.1",
        runs=_runs(got[soc, FDP], got[soc, NONE]))
        for soc in SOC_BYTES]
    if ctx.sweeps:
        _cache_sweeps(ctx, rows, got)
    curves: Curves = {f"SOC {s} %, {w}": [_mean(got[s, w], m) for m in MARKS]
                      for s, w in TABLE_CACHE if s != 4}
    points: Curves = {f"SOC {s} %, {w}": list(CACHE_LOG[s, w])
                      for s, w in TABLE_CACHE if s != 4}
    loc = [c.handle_waf(0) for c in got[40, FDP]]
    beside = [judge.shown(name, "SOC 40 %, FDP: the LOC's own", loc,
                          "the artifact's log has 1.00", "1.00"),
              judge.shown(name, "SOC 40 %, FDP: the SOC's own",
                          [c.handle_waf(1) for c in got[40, FDP]],
                          "the artifact's log has 1.43", "1.43")]
    return Panel(
        name, "Write amplification of a flash cache", [
            "generated: small objects in random buckets of 4 KiB, large objects"
            " in sequence by regions of 1/16 of a reclaim unit; the SOC writes "
            + ", ".join(f"{100 * b:.0f} % of the bytes (SOC {s} %)"
                        for s, b in SOC_BYTES.items()),
            _drive_text(ctx, "OP 10 %, persistent isolation"),
            "points of the paper: the artifact's logs"],
        [*rows.values(), *orders, *beside],
        Chart([f"{m:g}" for m in MARKS], curves,
              "WAF, over volumes of the drive written", lines=True,
              paper=points, reading=0.005))


# ---- three streams --------------------------------------------------------------


def _streams_a(ctx: Context, law: str,
               volumes: tuple[float, float] = A_VOLUMES) -> Streams:
    """Of WARP_A: shares of what follows the fill."""
    random = (volumes[0] - 0.1) / (A_END - 1)
    over = volumes[1] / (A_END - 1)
    return Streams(law, (1 - random - over, random, over), **_sizes(ctx, 224))


def _streams_a2(ctx: Context, law: str) -> Streams:
    return Streams(law, A2_BYTES[law], **_sizes(ctx, 448))


def _sizes(ctx: Context, gib: int) -> dict[str, int]:
    ru = block_pages(ctx) * DIES
    return {"chunk": max(ru // 64, 1), "scale": gib * (1 << 18) // (RUS * ru)}


def _three(name: str, got: Curves_, table: dict[tuple[str, str], float],
           end: float, source: str) -> dict[Key, Row]:
    rows: dict[Key, Row] = {}
    for key, value in table.items():
        rows[key] = judge.claim(
            name, f"{key[0]}, {key[1]}", _at(got[key], end), *about(value),
            source=source, text=f"{value:g}", why=f"at {end:g} volumes",
            runs=_runs(got[key]))
    return rows


def _orders(name: str, got: Curves_, end: float) -> list[Row]:
    return [judge.order(name, f"{law}: {low} below {high}",
                        _at(got[law, low], end), _at(got[law, high], end),
                        source="section 5.1: the hierarchy",
                        runs=_runs(got[law, low], got[law, high]))
            for law in LAWS for low, high in ((FDP, MIXED), (MIXED, NONE))]


def _chart(got: Curves_, marks: tuple[float, ...],
           points: Mapping[str, tuple[float, ...]]) -> Chart:
    return Chart([f"{m:g}" for m in marks],
                 {w: [_mean(got["80/20", w], m) for m in marks] for w in WAYS},
                 "WAF with 80/20, over volumes written", lines=True,
                 paper={w: list(points[w]) for w in WAYS}, reading=0.005)


def streams_a2(ctx: Context) -> Panel:
    """Figure 15."""
    name = "three streams, II"
    pages = block_pages(ctx)
    cases: dict[Key, Case] = {
        (law, way): Case(WARP_A2, _streams_a2(ctx, law), A2_END, THREE[way],
                         pages) for law in LAWS for way in WAYS}
    got = play(ctx, "warp: three streams, initially isolated", cases,
               ctx.seeds(SEED))
    rows = _three(name, got, TABLE_A2, A2_END, "Table 2, WARP_A2")
    beside = []
    if ctx.sweeps:
        uniform = play(ctx, "warp: uniform overwrites", {
            way: Case(WARP_A2, _streams_a2(ctx, "uniform"), A2_END, THREE[way],
                      pages) for way in WAYS}, [SEED])
        beside = [judge.shown(
            name, f"uniform, {way}", _at(uniform[way], A2_END),
            "not in the paper for WARP; the artifact's log", f"{value:g}")
            for way, value in UNIFORM_LOG.items()]
        bad = {key: row for key, row in rows.items() if _open(row)}
        larger = play(ctx, "warp: larger reclaim units", {
            key: replace(cases[key], block_pages=4 * pages,
                         input=_larger(cases[key].input, 4))
            for key in bad}, [SEED]) if bad else {}
        for key, row in bad.items():
            judge.because(
                row, "an RU with fewer pages than the paper's 32,768 varies more"
                " in what is valid, which greedy GC uses", "four times as many"
                " pages in each RU", _at(larger[key], A2_END), row["low"],
                row["high"])
    return Panel(
        name, "Three streams, initially isolated, OP 14 %", [
            "generated: 90 % of the drive written in sequence, 10 % at random,"
            " overwrites of the first part; shares of the bytes by the"
            " artifact's logs",
            _drive_text(ctx, "OP 14 %, initial isolation"),
            "points of the paper: the artifact's logs"],
        [*rows.values(), *_orders(name, got, A2_END), *beside],
        _chart(got, MARKS, A2_LOG))


def _larger(cfg: Any, factor: int) -> Streams:
    """The streams of a drive so many times larger."""
    larger: Streams = replace(cfg, chunk=cfg.chunk * factor,
                              scale=cfg.scale // factor)
    return larger


def _sweep_a(ctx: Context, cases: dict[Key, Case]) -> dict[str, Curves_]:
    """The volumes that section 5.2 gives as ranges, by their names."""
    got = play(ctx, "warp: volumes of the streams", {
        (*key, name): replace(case, input=_streams_a(ctx, key[0], volumes))
        for key, case in cases.items() for name, volumes in A_OTHERS.items()},
        [SEED])
    return {name: {key: got[key + (name,)] for key in cases} for name in A_OTHERS}


def _swept_a(row: Row, used: list[float],
             others: dict[str, list[float]]) -> None:
    """Over the volumes; and whether those of the log explain a deviation."""
    if not others:
        return
    values = others | {A_USED: used}
    judge.swept(row, A_PARAMETER, {n: values[n] for n in sorted(values)},
                A_USED)
    if _open(row):
        judge.because(
            row, "the paper's run wrote more at random, as the one of the"
            " artifact's log", f"{A_PARAMETER}: {A_BY_LOG}", others[A_BY_LOG],
            row["low"], row["high"])


def _overwrote_more(row: Row) -> None:
    """Whether more overwrites explain why the handle of the sequential stream
    copies less than others."""
    if "sweeps" in row and _open(row):
        more = next(v for v in row["sweeps"][A_PARAMETER]
                    if v["value"] == A_MORE)
        judge.because(
            row, "overwrites make holes in the reclaim units of the sequential"
            " stream before it writes them again; the paper's run overwrote"
            " more than section 5.2 says", f"{A_PARAMETER}: {A_MORE}",
            [more["ours"]], row["low"], row["high"])


def streams_a(ctx: Context) -> tuple[Panel, Curves_, dict[str, Curves_]]:
    """Figure 14, WARP_A; its curves, and those of the sweep."""
    name = "three streams, PI"
    cases: dict[Key, Case] = {
        (law, way): Case(WARP_A, _streams_a(ctx, law), A_END, THREE[way],
                         block_pages(ctx)) for law in LAWS for way in WAYS}
    got = play(ctx, "warp: three streams, persistently isolated", cases,
               ctx.seeds(SEED))
    rows = _three(name, got, TABLE_A, A_END, "Table 2, WARP_A")
    swept = _sweep_a(ctx, cases) if ctx.sweeps else {}
    for key, row in rows.items():
        _swept_a(row, _at(got[key], A_END),
                 {n: _at(c[key], A_END) for n, c in swept.items()})
    panel = Panel(
        name, "Three streams, persistently isolated, OP 10 %", [
            "generated: as with initial isolation; overwrites and random writes"
            " in the middle of section 5.2's ranges",
            _drive_text(ctx, "OP 10 %, persistent isolation"),
            "points of the paper: the artifact's logs of greedy GC, which are"
            " not those of Table 2 for the Zipf laws and for FDP"],
        [*rows.values(), *_orders(name, got, A_END)],
        _chart(got, (*MARKS, 5), A_LOG))
    return panel, got, swept


def noisy(got: Curves_, swept: dict[str, Curves_]) -> Panel:
    """Figures 16 and 17: amplification by handle.  Handle 0 writes in sequence,
    1 at random, 2 overwrites the data of 0."""
    name = "by handle"
    key = "80/20", FDP
    run = {law: got[law, FDP] for law in LAWS}
    own = {(law, h): [c.handle_waf(h) for c in run[law]]
           for law in LAWS for h in range(3)}
    rows = [judge.order(
        name, f"noisy handle: WAF of handle {h}, {law} below 80/20",
        own[law, h], own["80/20", h], source="section 5.2: Noisy RUH",
        runs=_runs(run[law], got[key]))
        for h in (1, 2) for law in LAWS[:2]]
    for h, part in ((1, 0.26), (2, 0.14)):
        rows.append(judge.claim(
            name, f"80/20: handle {h}'s share of the copies",
            [c.share(h) for c in got[key]], *about(part),
            source="section 5.2: Noisy RUH", text=f"{part:g}",
            runs=_runs(got[key])))
        _swept_a(rows[-1], rows[-1]["samples"],
                 {n: [x.share(h) for x in c[key]] for n, c in swept.items()})
    for law in LAWS:
        rows.append(judge.extreme(
            name, f"save sequential, {law}: the handle with the most copies",
            {f"handle {h}": [c.gc[h] for c in run[law]] for h in range(3)},
            "handle 0", source="section 5.2: Save Sequential",
            runs=_runs(run[law])))
        _swept_a(rows[-1], rows[-1]["samples"],
                 {n: [float(x.gc[0] == max(x.gc)) for x in c[law, FDP]]
                  for n, c in swept.items()})
        _overwrote_more(rows[-1])
    for h, log in ((1, 2.68), (2, 3.1)):
        rows.append(judge.claim(
            name, f"80/20: WAF of handle {h}", own["80/20", h], *about(3.8),
            source="Figure 17, caption", text="3.8",
            why=f"the artifact's log has {log:.2f}", runs=_runs(got[key])))
        _swept_a(rows[-1], rows[-1]["samples"],
                 {n: [x.handle_waf(h) for x in c[key]]
                  for n, c in swept.items()})
    curves: Curves = {f"handle {h}": [judge.mean(own[law, h]) for law in LAWS]
                      for h in range(3)}
    return Panel(name, "Write amplification of each handle", [
        "the runs of three streams with persistent isolation"], rows,
        Chart(list(LAWS), curves, "WAF of the handle"))


# ---- isolation, spare room, sizes -------------------------------------------------


def _ii_pi_cases(ctx: Context,
                 volumes: tuple[float, float] = A_VOLUMES) -> dict[Key, Case]:
    cfg = _streams_a(ctx, "80/20", volumes)
    return {(ru, op, pi): Case(Drive(op, pi, ru), cfg, A_END, THREE[FDP],
                               block_pages(ctx))
            for ru, op in II_PI for pi in (False, True)}


def isolation(ctx: Context) -> Panel:
    """Figures 18 and 19."""
    name = "isolation"
    cases = _ii_pi_cases(ctx)
    got = play(ctx, "warp: isolation and spare room", cases, ctx.seeds(SEED))
    by_log = play(
        ctx, "warp: isolation, volumes of the log",
        _ii_pi_cases(ctx, A_OTHERS[A_BY_LOG]), [SEED]) if ctx.sweeps else {}
    rows = []
    for key in cases:
        ru, op, pi = key
        low, high = II_PI[ru, op][pi]
        rows.append(judge.claim(
            name, f"RU {ru} MiB, OP {op} %, {'PI' if pi else 'II'}",
            _at(got[key], A_END), about(low)[0], about(high)[1],
            source="section 5.3", text=f"{low:g}" if low == high
            else f"{low:g} or {high:g}", runs=_runs(got[key])))
        _swept_a(rows[-1], rows[-1]["samples"],
                 {A_BY_LOG: _at(by_log[key], A_END)} if by_log else {})
    for ru, op in II_PI:
        first = op < 10  # II is below
        rows.append(judge.order(
            name, f"RU {ru} MiB, OP {op} %: {'II below PI' if first else 'PI below II'}",
            _at(got[ru, op, not first], A_END), _at(got[ru, op, first], A_END),
            source="section 5.3, observation 8",
            runs=_runs(got[ru, op, False], got[ru, op, True])))
        if by_log:
            high, low = (_at(by_log[ru, op, pi], A_END)[0]
                         for pi in (first, not first))
            _swept_a(rows[-1], rows[-1]["samples"], {A_BY_LOG: [high - low]})
    shown: Curves_ = {}
    if ctx.sweeps:
        base = cases[256, 3, False]
        shown = play(ctx, "warp: more spare room", {
            (256, op, pi): replace(base, drive=Drive(op, pi))
            for op in OPS if (256, op) not in II_PI for pi in (False, True)},
            [SEED])
        rows += [judge.shown(
            name, f"RU 256 MiB, OP {op} %, {'PI' if pi else 'II'}",
            _at(c, A_END), "the paper has the crossover at 7 to 9 %")
            for (_, op, pi), c in shown.items()]
    all_of = got | shown
    ops = [op for op in OPS if (256, op, True) in all_of]
    return Panel(
        name, "Initial and persistent isolation over spare room, 80/20",
        [_drive_text(ctx, "three handles, each its stream"),
         "three streams of 80/20 at 5 volumes; an RU of 128 MiB is half as"
         " large, so there are twice as many"], rows,
        Chart([f"{op} %" for op in ops],
              {k: [_mean(all_of[256, op, pi], A_END) for op in ops]
               for k, pi in (("II", False), ("PI", True))},
              "WAF, RU of 256 MiB, over OP", lines=True,
              paper={k: [_published(op, pi) for op in ops]
                     for k, pi in (("II", False), ("PI", True))}))


def _published(op: int, pi: bool) -> float | None:
    values = II_PI.get((256, op))
    return sum(values[pi]) / 2 if values else None


RU_SIZES = (64, 128, 256, 512, 1024)  # MiB
HANDLES = (1, 2, 4, 7)  # for the SOC, beside one for the LOC


def sizes(ctx: Context) -> Iterator[Panel]:
    """Shown: size of reclaim units, and number of handles."""
    base = _cache(ctx, 40, FDP)
    cfg: Any = base.input
    kinds = (("II", False), ("PI", True))
    cases: dict[Key, Case] = {
        ("RU", ru, kind): replace(base, drive=Drive(10, pi, ru))
        for ru in RU_SIZES for kind, pi in kinds}
    cases |= {("handles", n, kind): replace(
        base, drive=Drive(10, pi), handles=tuple(range(n + 1)),
        input=replace(cfg, parts=n))
        for n in HANDLES for kind, pi in kinds}
    got = play(ctx, "warp: sizes and handles", cases, [SEED])
    for name, what, values, title, unit in (
            ("RU size", "RU", RU_SIZES, "Size of reclaim units",
             "MiB of a reclaim unit"),
            ("handles", "handles", HANDLES, "Handles that share the SOC",
             "handles of the SOC, by address")):
        rows = [judge.shown(name, f"{v} {'MiB' if what == 'RU' else what}, {k}",
                            _at(got[what, v, k], CACHE_END),
                            "not the paper's; one seed")
                for v in values for k, _ in kinds]
        yield Panel(
            name, f"{title}: cache with an SOC of 40 %, FDP",
            [_drive_text(ctx, "OP 10 %")], rows,
            Chart([str(v) for v in values],
                  {k: [_mean(got[what, v, k], CACHE_END) for v in values]
                   for k, _ in kinds}, f"WAF, over {unit}", lines=True))


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of WARP."""
    yield cache(ctx)
    yield streams_a2(ctx)
    panel, got, swept = streams_a(ctx)
    yield panel
    yield noisy(got, swept)
    yield isolation(ctx)
    if ctx.sweeps:
        yield from sizes(ctx)
