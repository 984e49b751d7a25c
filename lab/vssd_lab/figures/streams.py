# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), in the model.

A size-tiered store writes to a drive that is 1/16 of the paper's, for 1/16 of
its 40 minutes: a minute here is 3.75 s.  Five series play the same writes:
without and with TRIM, and with three ways to give kinds of writes to streams.
What the paper leaves open is swept: OPEN.  streams_claims.py has its
statements.
"""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vssd.build import model
from vssd.errors import UserError
from vssd.paths import find_profile
from vssd.sim.run import Point, Result
from vssd.ui import Stage

from . import judge, lsm
from . import streams_claims as claims
from .figure import CHOSEN, Context, Panel, Row
from .streams_claims import APP, DATA, LOG, MINUTES, OFF, ON, PERCENT, SERIES, Played, Series

TITLE = "The multi-streamed SSD (Kang 2014)"
PROFILE = "kang2014"
SEED = 2014
SCALE = 16  # of capacity and time
MINUTE_S = 60 / SCALE
FRESH_BYTES_S = 182e6  # about the rate of the fresh drive: length of inputs
IN_FLIGHT = 4  # log, flush, and two compactions
GC = "merge"  # streams.gc, here and in the guests
RECORDS = 1_000_000 // SCALE


@dataclass(frozen=True)
class Mapping:
    """A series."""

    streams: tuple[int, ...]  # of lsm.KINDS
    trim: bool = True


MAPPINGS = {
    OFF: Mapping((0, 0, 0, 0, 0), trim=False),
    ON: Mapping((0, 0, 0, 0, 0)),
    APP: Mapping((0, 1, 1, 1, 1)),
    LOG: Mapping((0, 1, 2, 2, 2)),
    DATA: Mapping((0, 1, 2, 3, 4)),
}


@dataclass(frozen=True)
class Setting:
    """A store, a drive, and a length."""

    store: lsm.Store = field(default_factory=lsm.Store)
    gc: str = GC
    unit: str = "die"  # superblock.width, of the profile
    in_flight: int = IN_FLIGHT
    seed: int = SEED
    minutes: int = MINUTES


# What the paper leaves open, and the values that are played.  FILL of the
# judged runs was chosen by the outcome (docs/lab/figures.md).  More records take the
# place of files of the system, so that the drive is as full.
FILL = "files of the system, of the capacity"
SHARE = "writes to them, of the store's bytes"
COUNT = "records"
MERGE = "streams.gc"
UNIT = "superblock.width"
FLUSH = "erase unit, of a flush"  # the paper names neither
UNIT_MIB = 1  # of superblock.width=die
FLIGHT = "requests in flight"
OPEN: dict[str, dict[str, Setting]] = {
    FILL: {f"{100 * x:g} %": Setting(lsm.Store(other=x))
           for x in (0.3, 0.6, 0.85)},
    SHARE: {f"{100 * x:g} %": Setting(lsm.Store(other_share=x))
            for x in (0.02, 0.05)},
    COUNT: {str(n * RECORDS): Setting(lsm.Store(records=n * RECORDS, other=x))
            for n, x in ((1, 0.85), (2, 0.77), (4, 0.6), (8, 0.3))},
    MERGE: {x: Setting(gc=x) for x in ("separate", "merge")},
    UNIT: {x: Setting(unit=x) for x in ("plane", "die")},
    FLUSH: {f"1/{n}": Setting(lsm.Store(memtable=n * UNIT_MIB * lsm.MIB))
            for n in (32, 8, 4, 2)},
    FLIGHT: {str(n): Setting(in_flight=n) for n in (1, 2, 4, 8)},
}
FRESH = "fresh drive"
BLOCKS = 512  # of a plane, in the profile
ROOM = 8  # times as many: GC never runs


# ---- runs -----------------------------------------------------------------------


@dataclass(frozen=True)
class Input:
    """What a store wrote: traces with TRIM and without, and numbers."""

    setting: Setting
    traces: dict[bool, Path]
    requests: int
    loaded: int  # requests of the load
    loaded_bytes: int
    written: tuple[int, ...]  # by lsm.KINDS
    least_free: int


def _generate(setting: Setting, capacity: int, stem: Path) -> Input | None:
    """Play a store; None: its file system got full.  Runs in a process of its
    own."""
    writer = lsm.Writer(setting.store, capacity, setting.seed)
    try:
        writer.load()
        writer.run(int(setting.minutes * MINUTE_S * FRESH_BYTES_S))
    except lsm.Full:
        return None
    traces = {}
    for trim in (True, False):
        traces[trim] = stem.with_name(  # it may have a point of a number
            f"{stem.name}.{'trim' if trim else 'no-trim'}.csv")
        lsm.save(writer, traces[trim], trim)
    return Input(setting, traces, len(writer.op), writer.loaded,
                 writer.loaded_bytes, tuple(writer.written),
                 writer.least_free)


def _stem(setting: Setting) -> str:
    """Of an input's files: what makes it differ from the judged ones."""
    usual = lsm.Store()
    changes = [f"-{f.name}-{getattr(setting.store, f.name)}"
               for f in fields(usual)
               if getattr(setting.store, f.name) != getattr(usual, f.name)]
    return f"seed-{setting.seed}-minutes-{setting.minutes}" + "".join(changes)


def _inputs_of(ctx: Context, settings: list[Setting]) -> list[Input | None]:
    """The writes of the settings' stores; each store is played once."""
    capacity = model.drive_info(find_profile(PROFILE), [])["capacity_bytes"]
    with Stage("streams: what the store writes"), \
            concurrent.futures.ProcessPoolExecutor(ctx.runner.jobs) as pool:
        waiting = {stem: pool.submit(_generate, s, capacity,
                                     ctx.inputs / stem)
                   for stem, s in {_stem(s): s for s in settings}.items()}
        return [made and replace(made, setting=s) for s in settings
                for made in [waiting[_stem(s)].result()]]


def _commands(made: Input, name: str) -> Path:
    """Where a run's latencies go."""
    s = made.setting
    trace = made.traces[name != OFF]
    return trace.with_suffix(f".{name.replace(' ', '-')}-{s.gc}-{s.unit}"
                             f"-{s.in_flight}.commands.csv")


def _point(made: Input, name: str, sets: tuple[str, ...] = ()) -> Point:
    mapping = MAPPINGS.get(name, MAPPINGS[ON])
    trace = made.traces[mapping.trim]
    return Point(
        find_profile(PROFILE), trace=trace,
        sets=(f"streams.max={max(mapping.streams)}",
              f"streams.gc={made.setting.gc}",
              f"superblock.width={made.setting.unit}",
              f"seed={made.setting.seed}", *sets),
        args=("--fill", "none", "--iodepth", str(made.setting.in_flight),
              "--stream-map", ",".join(map(str, mapping.streams)),
              "--series", str(MINUTE_S), "--csv",
              str(_commands(made, name))))


def _latency(path: Path, skip: int) -> list[float]:
    """Of writes, without the first `skip` commands: the latency that PERCENT
    of them do not exceed, in ms."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1 + skip, usecols=(1, 7),
                      dtype=[("op", "U5"), ("ns", "i8")])
    ns = np.sort(rows["ns"][rows["op"] == "write"])
    return [float(ns[int(np.ceil(len(ns) * p / 100)) - 1]) / 1e6
            for p in PERCENT]


def _tail(ctx: Context, point: Point, made: Input, name: str) -> list[float]:
    """The same of a run.  Only these values are kept of its file; a result
    that came from the cache has made no file, so without them it is run."""
    commands = _commands(made, name)
    kept = commands.with_suffix(".json")
    if not commands.exists() and not kept.exists():
        ctx.runner.one(point)
    if commands.exists():
        kept.write_text(json.dumps(_latency(commands, made.loaded)))
        commands.unlink()
    found: list[float] = json.loads(kept.read_text())
    return found


def _series(made: Input, name: str, result: Result, label: Any,
            tail_ms: list[float]) -> Series:
    """Minutes are counted from the first that begins after the load; the last
    one is not whole."""
    s = result["series"]
    written = np.array(s["bytes_written"], dtype=float)
    first = int(np.searchsorted(np.cumsum(written), made.loaded_bytes)) + 1
    copied = np.cumsum(s["copied_units"])
    return Series(result["waf"], written[first:-1] / MINUTE_S,
                  float(np.mean(written[:first - 1])) / MINUTE_S,
                  np.cumsum(written[first:-1]) / claims.PAGE,
                  copied[first:-1] - copied[first - 1], tail_ms, label)


def play(ctx: Context, title: str, settings: list[Setting]) \
        -> list[tuple[Input, Played] | None]:
    """All series of each setting; None: its store does not fit."""
    inputs = _inputs_of(ctx, settings)
    points = {(title, i, n): _point(m, n) for i, m in enumerate(inputs) if m
              for n in SERIES}
    results = ctx.run(title, points)
    return [(m, {n: _series(
        m, n, results[title, i, n], (title, i, n),
        _tail(ctx, points[title, i, n], m, n)) for n in SERIES}) if m else None
        for i, m in enumerate(inputs)]


def _fresh_sets() -> tuple[str, ...]:
    """Options of a drive that never collects, of the same capacity."""
    info = model.drive_info(find_profile(PROFILE), [])
    return (f"nand.blocks={ROOM * BLOCKS}",
            f"ftl.capacity={info['capacity_bytes']}")


def _fresh_tails(ctx: Context, made: list[Input]) -> list[float]:
    """Of that drive, with TRIM: 99.9 % in ms, by seed."""
    sets = _fresh_sets()
    points = {(FRESH, i): _point(m, FRESH, sets) for i, m in enumerate(made)}
    ctx.run("streams: the fresh drive", points)
    return [_tail(ctx, points[FRESH, i], m, FRESH)[PERCENT.index(99.9)]
            for i, m in enumerate(made)]


def whole_minutes(wanted: int, played: list[Played]) -> int:
    """That all series have."""
    return min([wanted, *(len(s.rate) for p in played for s in p.values())])


# ---- sweep ----------------------------------------------------------------------


def used(parameter: str) -> str:
    """The value of the judged runs."""
    return next(name for name, s in OPEN[parameter].items()
                if s == Setting())


def _sweep(ctx: Context, rows: dict[str, Row], base: list[Played],
           minutes: int) -> None:
    """Add to each statement what it gives for the values of OPEN; base are the
    series of the judged setting, by seed.  A value with which the store gets
    full in one of the seeds is not judged."""
    seeds = ctx.sweep_seeds(SEED)
    settings = list(dict.fromkeys(s for values in OPEN.values()
                                  for s in values.values() if s != Setting()))
    done = iter(play(ctx, "streams: sweep of what the paper leaves open",
                     [replace(s, minutes=minutes, seed=seed)
                      for s in settings for seed in seeds]))
    found: dict[Setting, list[Played]] = {Setting(): base[:len(seeds)]}
    for s in settings:
        played = [one for one in (next(done) for _ in seeds) if one]
        found[s] = [p for _, p in played] if len(played) == len(seeds) else []
    for statement in claims.STATEMENTS:
        row = rows[statement.panel + statement.point]
        for parameter, values in OPEN.items():
            judge.swept(row, parameter, {
                value: statement.samples(
                    found[setting], whole_minutes(minutes, found[setting]))
                for value, setting in values.items()}, used(parameter))
        if row["verdict"] in (judge.DEVIATES, judge.UNSTABLE):
            _because(row, statement, found, minutes)


# Why a statement does not hold: by the begin of its point, the value of OPEN
# that tests it.
_SMALL = "an erase unit is small beside a flush, so that with TRIM GC copies little"
REASONS = {f"{DATA} at 99.9 %": (FLUSH, "1/4", _SMALL),
           f"{DATA}, slowest minute": (FLUSH, "1/4", _SMALL)}


def _because(row: Row, s: claims.Statement,
             found: dict[Setting, list[Played]], minutes: int) -> None:
    """Add the run that tests why a statement does not hold."""
    for begin, (parameter, value, text) in REASONS.items():
        if not s.point.startswith(begin):
            continue
        played = found[OPEN[parameter][value]]
        samples = s.samples(played, whole_minutes(minutes, played))
        if samples:
            judge.because(row, text, f"{parameter} {value}", samples, s.low,
                          s.high)


# ---- panels ---------------------------------------------------------------------


def _described(made: list[Input]) -> list[str]:
    first, c = made[0], made[0].setting.store
    total = sum(first.written)
    shares = ", ".join(f"{k} {100 * w / total:.0f} %"
                       for k, w in zip(lsm.KINDS, first.written))
    return [
        f"{CHOSEN}, since most statements hold with them: files of the system"
        f" fill {100 * c.other:.0f} % of the drive, and GC copies by die",
        f"generated, {len(made)} seeds from {SEED}; the first:"
        f" {first.requests} requests, {total / 1e9:.1f} GB written ({shares}),"
        f" of which {first.loaded_bytes / 1e9:.1f} GB are the load;"
        f" {c.records} records of {c.record_bytes} bytes, updates by Zipf"
        f" {c.theta}; memtable {c.memtable >> 20} MiB, merges of {c.tables}"
        f" tables; files of the system {100 * c.other:.0f} % of the drive,"
        f" written again with {100 * c.other_share:.0f} % of the store's bytes;"
        f" the file system has {first.least_free / 1e6:.0f} MB free at the"
        " least",
        f"drive: profile {PROFILE}, 1/{SCALE} of 60 GB, streams.gc={GC};"
        f" {IN_FLIGHT} requests in flight; a minute is {MINUTE_S} s"]


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of its results, in the model."""
    wanted = max(int(MINUTES * ctx.scale), 4)
    seeds = ctx.seeds(SEED)
    done = [one for one in play(
        ctx, "streams: runs of vssd-sim",
        [Setting(seed=s, minutes=wanted) for s in seeds]) if one]
    if len(done) < len(seeds):
        raise UserError("streams: the file system of the store got full: "
                        "fewer --seeds")
    inputs = _described([m for m, _ in done])
    played = [p for _, p in done]
    minutes = whole_minutes(wanted, played)
    some = [claims.throughput(played, minutes, inputs),
            claims.copies(played, minutes, inputs),
            claims.tails(played, minutes, inputs,
                         "with all the requests in flight at the drive; the"
                         " paper's are the store's own, 25 to 175 us")]
    some[-1].rows.append(judge.shown(
        "latency", f"{FRESH}: 99.9 % in ms",
        _fresh_tails(ctx, [m for m, _ in done]),
        f"{ROOM} times as many blocks: no placement can be faster"))
    if ctx.sweeps:
        rows = {p.name + r["point"]: r for p in some for r in p.rows
                if r["kind"] == "claim"}
        _sweep(ctx, rows, played, wanted)
    yield from some
