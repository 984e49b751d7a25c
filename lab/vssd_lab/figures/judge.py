# SPDX-License-Identifier: GPL-2.0-or-later
"""How a figure's statements are judged: one rule for all figures.

A claim is a statement of the paper, with the range that the paper gives.  Its
samples are our results, one for each seed.  The verdict follows from the 95 %
confidence interval of their mean (Student's t):

    holds     the interval is in the range
    deviates  the interval is outside the range
    unstable  an end of the range is inside the interval

One sample has no interval; it holds or deviates.  A claim without samples is
not judged (its input is too short).  What is not the paper's statement, or
true by construction of the model, is a row of shown(); it is never counted.

The bands are the same for all figures: a value, and each end of a range that
the paper gives "from ... to", is met within 10 % (end(), ends()); a difference
or a share in per cent within 3 points; a cell of a table of errors within a
factor of 1.5, one of R2 within 0.03, and what is better than the cell meets it,
too (cell()).  "In most cases" is more than half of the cases in which something
happens (most()).

A figure may be judged in a second setting beside the first, for example with
what looks like a misprint put right.  Its rows carry in_setting(); they are
totalled apart, so that no statement counts twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Samples = Sequence[float]
Range = tuple[float | None, float | None]  # None: open

HOLDS, DEVIATES, UNSTABLE = "holds", "deviates", "unstable"
VERDICTS = (HOLDS, DEVIATES, UNSTABLE)
CONFIDENCE = 0.95
ABOUT = 0.1  # of a value
POINTS = 3.0  # of a difference or share in per cent
R2_BAND, ERROR_FACTOR = 0.03, 1.5  # of a table's cell
MORE_THAN_HALF = math.nextafter(0.5, 1)


def about(value: float, part: float = ABOUT) -> tuple[float, float]:
    """The range of "about" a value: the paper's wording plus 10 %."""
    ends = value * (1 - part), value * (1 + part)
    return min(ends), max(ends)


def near(value: float, points: bool = False) -> tuple[float, float]:
    """The band of a value: 10 %, or 3 points if it is in per cent."""
    return (value - POINTS, value + POINTS) if points else about(value)


def mean(samples: Samples) -> float:
    """Of one sample or more."""
    return math.fsum(samples) / len(samples)


def interval(samples: Samples) -> tuple[float, float]:
    """The 95 % confidence interval of the mean; of one sample, itself."""
    n = len(samples)
    middle = mean(samples)
    if n == 1 or min(samples) == max(samples):
        return middle, middle
    from scipy.stats import t

    spread = math.sqrt(math.fsum((x - middle) ** 2 for x in samples)
                       / (n - 1))
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * spread / math.sqrt(n)
    return middle - half, middle + half


def _verdict(between: tuple[float, float], low: float | None,
             high: float | None) -> str:
    bottom = -math.inf if low is None else low
    top = math.inf if high is None else high
    if bottom <= between[0] and between[1] <= top:
        return HOLDS
    return DEVIATES if between[1] < bottom or between[0] > top else UNSTABLE


def _range_text(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        raise ValueError("a claim needs a range with an end")
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"


def claim(panel: str, point: str, samples: Samples, low: float | None,
          high: float | None, *, source: str, reading: float = 0,
          text: str = "", why: str = "",
          runs: Iterable[Any] = ()) -> Row:
    """A statement of the paper: our mean is between low and high.

    source names the place in the paper.  reading is the error of a value that
    was read off a picture; it widens the range on both sides.  text is the
    paper's value in words (default: the range).  why is what a deviation is
    due to, left out where the claim holds; because() adds the run that tests
    it.  runs are labels of Context.run()."""
    low = None if low is None else low - reading
    high = None if high is None else high + reading
    out: Row = {"kind": "claim", "panel": panel, "point": point,
                "ours": None, "interval": None, "samples": list(samples),
                "paper": text or _range_text(low, high), "low": low,
                "high": high, "source": source, "verdict": None, "why": why,
                "runs": list(runs)}
    if samples:
        out["ours"] = mean(samples)
        out["interval"] = interval(samples)
        out["verdict"] = _verdict(out["interval"], low, high)
    if out["verdict"] == HOLDS:
        out["why"] = ""
    return out


def end(panel: str, point: str, samples: Samples, value: float, *,
        points: bool = False, source: str, reading: float = 0,
        text: str = "", why: str = "", runs: Iterable[Any] = ()) -> Row:
    """A value that the paper states, or an end of its range: ours is in the
    band of near()."""
    out = claim(panel, point, samples, *near(value, points), source=source,
                reading=reading, text=text or f"{value:g}", why=why, runs=runs)
    out["points"] = points
    return out


def ends(panel: str, what: str, cases: Mapping[str, Samples], low: float,
         high: float, *, points: bool = False, source: str,
         runs: Iterable[Any] = ()) -> list[Row]:
    """A range over cases, "from low to high": the least of ours is near low,
    and the most near high.  cases: samples by seed."""
    runs = list(runs)
    out = []
    for word, pick, value in (("least", min, low), ("most", max, high)):
        by_seed = [pick(v) for v in zip(*cases.values(), strict=True)]
        out.append(end(panel, f"{what}, {word}", by_seed, value,
                       points=points, source=source, runs=runs))
    return out


def cell(panel: str, point: str, samples: Samples, value: float, *,
         kind: str, source: str, reading: float = 0, why: str = "",
         runs: Iterable[Any] = ()) -> Row:
    """A cell of a table, met by what is as good or better.  kind: "R2" (more
    is better), or "error" (less is better).  row["near"]: ours is within the
    band on the better side, too."""
    if kind not in ("R2", "error"):
        raise ValueError(f"cell: no kind {kind!r}")
    band = (value - R2_BAND, value + R2_BAND) if kind == "R2" \
        else (value / ERROR_FACTOR, value * ERROR_FACTOR)
    bounds = (band[0], None) if kind == "R2" else (None, band[1])
    out = claim(panel, point, samples, *bounds, source=source,
                reading=reading, text=f"{value:g}", why=why, runs=runs)
    if out["verdict"] == HOLDS:
        out["near"] = band[0] - reading <= out["ours"] <= band[1] + reading
    return out


def most(panel: str, point: str, votes: Sequence[Sequence[float | None]], *,
         source: str, why: str = "", runs: Iterable[Any] = ()) -> Row:
    """A statement on most cases: more than half of those that vote agree.
    votes: by seed, a difference for each case; above 0 agrees, below 0 does
    not; 0 and None do not vote.  Ours is the share that agrees; a seed without
    voters has none."""
    shares = []
    for cases in votes:
        voters = [v for v in cases if v]
        if voters:
            shares.append(sum(v > 0 for v in voters) / len(voters))
    return claim(panel, point, shares, MORE_THAN_HALF, None, source=source,
                 text="more than half of the cases in which something happens",
                 why=why, runs=runs)


def in_setting(rows: Iterable[Row], setting: str) -> list[Row]:
    """Mark rows as judged in a setting beside the first; returns them."""
    return [r | {"setting": setting} for r in rows]


def order(panel: str, point: str, lower: Samples, higher: Samples, *,
          source: str, text: str = "", why: str = "",
          runs: Iterable[Any] = ()) -> Row:
    """A statement that one value is below another: their differences, paired
    by seed, are above 0."""
    return claim(panel, point,
                 [b - a for a, b in zip(lower, higher, strict=True)], 0, None,
                 source=source, text=text or "difference above 0", why=why,
                 runs=runs)


def extreme(panel: str, point: str, values: Mapping[str, Samples],
            expected: str, *, pick: Callable[..., str] = max, source: str,
            why: str = "", runs: Iterable[Any] = ()) -> Row:
    """A statement that `expected` has the largest (pick=min: the smallest)
    value.  Ours is the share of seeds in which it has: all hold, none
    deviates, else unstable."""
    count = len(next(iter(values.values())))
    picked = [pick(values, key=lambda name, i=i: values[name][i])
              for i in range(count)]
    others = sorted(set(picked) - {expected})
    seen = f"it is {' or '.join(others)} here" if others else ""
    out = claim(panel, point, [float(p == expected) for p in picked], 1, None,
                source=source, text=expected,
                why="; ".join(x for x in (seen, why) if x), runs=runs)
    if picked:
        out["seen"] = " or ".join(sorted(set(picked)))
        if 0 < out["ours"] < 1:
            out["verdict"] = UNSTABLE
    return out


def shown(panel: str, point: str, ours: float | Samples | None,
          note: str, paper: str = "") -> Row:
    """A row beside the claims, never counted: a fit, a side run, speed.  note
    says what it is."""
    samples = [] if ours is None else \
        [float(ours)] if isinstance(ours, (int, float)) else list(ours)
    return {"kind": "shown", "panel": panel, "point": point,
            "ours": mean(samples) if samples else None,
            "interval": interval(samples) if samples else None,
            "samples": samples, "paper": paper, "low": None, "high": None,
            "source": "", "verdict": None, "why": note, "runs": []}


def swept(row: Row, parameter: str, samples: Mapping[str, Samples],
          used: str) -> Row:
    """Add to a claim what it gives over the range of a parameter that the
    paper leaves open.  samples: by the parameter's values, in order; `used` is
    the value of the judged runs.  Returns the row."""
    values = []
    for value, some in samples.items():
        one: Row = {"value": value, "used": value == used, "ours": None,
                    "verdict": None}
        if some:
            one["ours"] = mean(some)
            one["verdict"] = _verdict(interval(some), row["low"], row["high"])
        values.append(one)
    row.setdefault("sweeps", {})[parameter] = values
    return row


def because(row: Row, hypothesis: str, run: str, samples: Samples,
            low: float | None, high: float | None) -> Row:
    """Add to a claim that deviates what we suppose, the run that tests it, and
    its result.  The hypothesis is confirmed when the mean of that run is
    between low and high.  Returns the row."""
    result = mean(samples)
    row["hypothesis"] = {
        "text": hypothesis, "run": run, "ours": result,
        "expected": _range_text(low, high),
        "confirmed": _verdict((result, result), low, high) == HOLDS}
    return row


def where_holds(row: Row, parameter: str) -> str:
    """For which part of the range of a parameter a claim holds, in words."""
    values = row["sweeps"][parameter]
    good = [v["value"] for v in values if v["verdict"] == HOLDS]
    whole = f"{values[0]['value']} to {values[-1]['value']}"
    if len(good) == len(values):
        return f"{parameter}: holds for {whole}"
    if not good:
        return f"{parameter}: holds nowhere in {whole}"
    return f"{parameter}: holds for {', '.join(good)} of {whole}"


def settings(rows: Iterable[Row]) -> list[str]:
    """The settings in which claims are judged: the first, "", and others."""
    return list(dict.fromkeys(
        ["", *(r.get("setting", "") for r in rows if r["kind"] == "claim")]))


def totals(rows: Iterable[Row], setting: str = "") -> dict[str, int]:
    """The claims of a setting by verdict, those not judged, and the rows
    beside them; "better": those that hold by more than the cell's band."""
    out = {"claims": 0, **dict.fromkeys(VERDICTS, 0), "not judged": 0,
           "better": 0, "shown": 0}
    for r in rows:
        if r.get("setting", "") != setting:
            continue
        if r["kind"] == "shown":
            out["shown"] += 1
            continue
        out["claims"] += 1
        out[r["verdict"] or "not judged"] += 1
        out["better"] += r.get("near") is False
    return out


def _total(rows: list[Row], setting: str, noun: str) -> str:
    t = totals(rows, setting)
    parts = [f"{t[v]} {v.removesuffix('s') if v == DEVIATES else v}"
             for v in (DEVIATES, UNSTABLE, "not judged") if t[v]]
    better = f", {t['better']} of them better than the paper's cell" \
        if t["better"] else ""
    hold = f"{t[HOLDS]} of {t['claims']} {noun} hold{better}"
    return "; ".join([hold, *parts])


def total_text(rows: Iterable[Row], noun: str = "statements") -> str:
    """The totals in a line: those of the first setting, then the others."""
    rows = list(rows)
    return "; ".join(
        (f"{setting}: " if setting else "") + _total(rows, setting, noun)
        for setting in settings(rows))
