# SPDX-License-Identifier: GPL-2.0-or-later
"""Choosing parameters of a profile so that runs give measured figures.

Knows free parameters with their bounds, the error of a candidate, the search
(SciPy's) and what the figures say about each parameter; does not know where
the figures come from (fiojson.py, validation.py).
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import sizes
from ..errors import UserError
from ..nearest import hint
from .run import Point, Result, Runner
from .validation import measured

# Multiples of the unit in which a parameter is searched: ps, bytes, percent.
TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12,
         "min": 60 * 10**12, "h": 3600 * 10**12}
# Keys that a profile gives after another one, which would reset them.
RESET_BY = {
    "nand.read": ("nand.read_2", "nand.read_3", "nand.read_4"),
    "nand.program": ("nand.program_2", "nand.program_3", "nand.program_4"),
}
WEIGHTS = {"p99_us": 0.5, "p999_us": 0.25}  # tails depend on much else
REFUSED = 3.0  # the error of each figure of a drive that cannot be
FEW = 64  # whole numbers up to this many are tried one by one
STEP = 0.02  # of the range, for derivatives
ENOUGH = 0.002  # an error so small ends the search for another minimum
DEAD = 1e-3  # no figure changes by more over the whole range
NOISE = 0.01  # the least error that a measured figure is taken to have
DETERMINED = 0.10  # uncertainty, as a share of the range, up to which it is
PART = 0.3  # of a direction, from which a parameter takes part in it
ALIKE = 0.98  # correlation from which two parameters act alike


@dataclass(frozen=True)
class Free:
    """A parameter and its bounds, in ps, bytes, percent, or as it stands."""

    key: str
    low: float
    high: float
    unit: str  # time, size, percent, number, integer, count

    def at(self, x: float) -> float:
        """The value at a place of the range, 0 to 1; ratios count, where
        there are any."""
        value = self.low + (self.high - self.low) * x
        if self.low > 0:
            value = self.low * math.exp(x * math.log(self.high / self.low))
        return min(max(value, self.low), self.high)

    def place(self, value: float) -> float:
        """The inverse of at(), within 0 to 1."""
        if self.low > 0:
            x = math.log(max(value, self.low) / self.low) \
                / math.log(self.high / self.low)
        else:
            x = (value - self.low) / (self.high - self.low)
        return min(max(x, 0.0), 1.0)

    def text(self, value: float) -> str:
        """As an option takes it."""
        if self.unit == "time":
            ps = round(value)
            digits = 6 if ps < 10**6 else 3
            return f"{ps / 1e6:.{digits}f}".rstrip("0").rstrip(".") + "us"
        if self.unit == "percent":
            return f"{value:.3f}".rstrip("0").rstrip(".") + "%"
        if self.unit == "number":
            return f"{value:.9g}"
        return f"{round(value)}" + ("B" if self.unit == "size" else "")


@dataclass(frozen=True)
class Goal:
    """A figure that a run should give."""

    name: str  # for people: the job, or the quantity
    measure: str
    value: float
    point: Point  # on the base profile


@dataclass
class Parameter:
    """What was found about a free parameter."""

    free: Free
    base: float | None  # of the base profile; None: its default
    value: float = 0.0
    uncertainty: float = 0.0  # share of the range; inf: no figure depends
    notes: list[str] = field(default_factory=list)

    @property
    def determined(self) -> bool:
        """Do the figures determine it?"""
        return self.uncertainty <= DETERMINED


@dataclass
class Outcome:
    """The best candidate."""

    parameters: list[Parameter]
    ours: list[float]  # a figure for each goal
    runs: int
    # Parameters that the figures show only together, and the uncertainty of
    # that combination, as a share of the ranges.
    together: list[tuple[list[str], float]] = field(default_factory=list)

    def values(self) -> dict[str, str]:
        """As options."""
        return {p.free.key: p.free.text(p.value) for p in self.parameters}


# ---- free parameters --------------------------------------------------------


def number_of(text: str) -> tuple[float, str]:
    """A value of an option and its kind: time, size, percent, number."""
    m = re.fullmatch(r"([0-9.]+(?:[eE][-+]?\d+)?) *([A-Za-z%]*)", text.strip())
    try:
        value = float(m[1]) if m else math.nan
    except ValueError:
        value = math.nan
    unit = m[2] if m else ""
    if math.isnan(value):
        raise UserError(f"{text!r} is no number")
    if unit in ("", "%"):
        return value, "percent" if unit else "number"
    if unit in TIMES:
        return value * TIMES[unit], "time"
    if scale := sizes.scale(unit):
        return value * scale, "size"
    raise UserError(f"{text!r}: no unit {unit!r}")


def option_kinds(table: str) -> dict[str, str]:
    """From the output of vssd-sim options: the kind of each option; "" if it
    is not a number, or one that cannot be searched."""
    kinds = {}
    for line in table.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        m = re.fullmatch(r"`([\w.]+)`", cells[0])
        if not m or len(cells) < 4:
            continue
        low, dots, high = cells[2].partition("..")
        kind = ""
        if dots and m[1] != "seed" and "power of two" not in cells[3]:
            try:
                kind = number_of(high)[1]
                number_of(low)
            except UserError:
                kind = ""
        kinds[m[1]] = kind
    return kinds


def parse_free(text: str, kinds: dict[str, str]) -> list[Free]:
    """--free KEY=LOW..HIGH,..."""
    found: list[Free] = []
    for part in text.split(","):
        key, _, bounds = part.strip().partition("=")
        low_text, dots, high_text = bounds.partition("..")
        if not dots or not low_text or not high_text:
            raise UserError(f"--free {part}: give KEY=LOW..HIGH, as"
                            " nand.read=40us..80us")
        if key not in kinds:
            raise UserError(f"--free {key}: no such option{hint(key, kinds)}"
                            " (./vssd sim options)")
        if not kinds[key]:
            raise UserError(f"--free {key}: only options with a range of"
                            " numbers can be free")
        if any(f.key == key for f in found):
            raise UserError(f"--free {key}: given twice")
        found.append(_free(key, low_text, high_text, kinds[key]))
    return found


def _free(key: str, low_text: str, high_text: str, kind: str) -> Free:
    ends = []
    for text in (low_text, high_text):
        try:
            value, got = number_of(text)
        except UserError as e:
            raise UserError(f"--free {key}: {e}") from e
        bare = got == "number" and (value == 0 or kind == "percent")
        if got != kind and not bare:
            raise UserError(f"--free {key}={low_text}..{high_text}: allowed a"
                            f" range of {NOUNS[kind]}")
        ends.append(value)
    low, high = ends
    if low >= high:
        raise UserError(f"--free {key}={low_text}..{high_text}: the lower"
                        " bound comes first")
    return Free(key, low, high, kind)


NOUNS = {"time": "times, as 40us..80us", "size": "sizes, as 1MiB..64MiB",
         "percent": "percentages, as 7%..28%", "number": "numbers"}


def whole(free: Free, accepts: Callable[[str, str], str]) -> Free:
    """The same with unit "integer" if the option takes no fractions, or "count"
    if there are so many of them that steps do not matter; UserError in the
    option's own words if it refuses a bound."""
    for value in (free.low, free.high):
        if refused := accepts(free.key, free.text(value)):
            raise UserError(f"--free {free.key}: {refused}")
    if free.unit != "number":
        return free
    middle = math.floor(free.low) + 0.5
    if not accepts(free.key, free.text(middle)):
        return free
    for value in (free.low, free.high):
        if value != round(value):
            raise UserError(f"--free {free.key}: allowed whole numbers")
    few = free.high - free.low <= FEW
    return dataclasses.replace(free, unit="integer" if few else "count")


# ---- profiles ---------------------------------------------------------------


LINE = re.compile(r"\s*([\w]+)\s*=\s*(.*?)\s*")


def settings(text: str) -> dict[str, str]:
    """The options that a profile gives."""
    out, section = {}, ""
    for line in text.splitlines():
        if m := re.fullmatch(r"\s*\[(\w+)\]\s*", line):
            section = "" if m[1] == "drive" else m[1] + "."
        elif m := LINE.fullmatch(line):
            out[section + m[1]] = m[2]
    return out


def sets_of(values: dict[str, str], base: dict[str, str]) -> tuple[str, ...]:
    """--set for a candidate: the values, and what they would reset."""
    sets = [f"{k}={v}" for k, v in values.items() if k in RESET_BY]
    for key in values:
        sets += [f"{k}={base[k]}" for k in RESET_BY.get(key, ())
                 if k in base and k not in values]
    return (*sets, *(f"{k}={v}" for k, v in values.items()
                     if k not in RESET_BY))


def rewritten(text: str, values: dict[str, str]) -> str:
    """A profile with other values: at their place, else at the head of their
    section."""
    left, out, section = dict(values), [], ""
    for line in text.splitlines():
        m = LINE.fullmatch(line)
        key = section + m[1] if m else ""
        if key in left:
            line = f"{key.rpartition('.')[2]} = {left.pop(key)}"
        out.append(line)
        if m := re.fullmatch(r"\s*\[(\w+)\]\s*", line):
            section = m[1] + "."
            own = [k for k in values if k.startswith(section)
                   and k not in settings(text)]
            out += [f"{k.removeprefix(section)} = {left.pop(k)}" for k in own
                    if k in left]
    for key in list(left):
        group, _, name = key.rpartition(".")
        out += ["", f"[{group or 'drive'}]"] if f"[{group}]" not in out else []
        out.append(f"{name} = {left.pop(key)}")
    return "\n".join(out) + "\n"


# ---- the search ---------------------------------------------------------------


class Search:
    """Runs candidates; each once."""

    def __init__(self, runner: Runner, goals: Sequence[Goal],
                 frees: Sequence[Free], base: Path,
                 note: Callable[[str], None]) -> None:
        self.runner = runner
        self.goals = goals
        self.frees = frees
        self.base = settings(base.read_text(encoding="utf-8"))
        self.note = note
        self.known: dict[tuple[str, ...], list[float] | UserError] = {}
        self.runs = 0

    def texts(self, x: Sequence[float]) -> tuple[str, ...]:
        """The candidate at a place."""
        return tuple(f.text(f.at(a)) for f, a in zip(self.frees, x))

    def ours(self, x: Sequence[float]) -> list[float] | UserError:
        """Its figures, or why there is no such drive."""
        texts = self.texts(x)
        if texts not in self.known:
            self.known[texts] = self._run(dict(zip(
                (f.key for f in self.frees), texts)))
            self.note(f"{self.runs} runs, best error"
                      f" {100 * self.best():.2f} %")
        return self.known[texts]

    def _run(self, values: dict[str, str]) -> list[float] | UserError:
        sets = sets_of(values, self.base)
        points = [dataclasses.replace(g.point, sets=g.point.sets + sets)
                  for g in self.goals]
        results: dict[Point, Result | UserError] = {}

        def one(point: Point) -> Result | UserError:
            try:
                return self.runner.one(point)
            except UserError as e:
                return e

        unique = list(dict.fromkeys(points))
        self.runner.each(one, unique, results.__setitem__)
        self.runs += len(unique)
        for result in results.values():
            if isinstance(result, UserError):
                return result
        return [measured(g.measure, results[p])  # type: ignore[arg-type]
                for g, p in zip(self.goals, points)]

    def errors(self, x: Sequence[float]) -> list[float]:
        """Of each figure: the weighted logarithm of ours / measured."""
        return self.errors_of(self.ours(x))

    def errors_of(self, ours: list[float] | UserError) -> list[float]:
        """The same, of figures."""
        if isinstance(ours, UserError):
            return [REFUSED] * len(self.goals)
        return [weight(g) * math.log(max(v, 1e-9) / g.value)
                for g, v in zip(self.goals, ours)]

    def best(self) -> float:
        """The least error so far: the root of the mean square."""
        return min(rms(self.errors_of(v)) for v in self.known.values())


def weight(goal: Goal) -> float:
    """What an error of a figure counts."""
    return WEIGHTS.get(goal.measure.rpartition(".")[2], 1.0)


def rms(errors: Sequence[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def find(search: Search, seed: int = 1) -> Outcome:
    """The parameters with the least error.

    Places all over the ranges come first; from the best of them the method of
    least squares goes on (SciPy's trust region within bounds).  Whole numbers
    are found by differential evolution, and stay as they are from then on.
    """
    frees = search.frees
    given = [number_of(search.base[f.key])[0] if f.key in search.base else None
             for f in frees]
    start = [f.place(v) if v is not None else 0.5
             for f, v in zip(frees, given)]
    best = _local(search, _global(search, start, seed))
    ours = search.ours(best)
    if isinstance(ours, UserError):
        raise UserError(f"no drive within the bounds of --free: {ours}")
    parameters = [Parameter(f, g, f.at(x))
                  for f, g, x in zip(frees, given, best)]
    columns = _sensitivity(search, best, parameters)
    noise = max(rms(search.errors(best)), NOISE)
    return Outcome(parameters, ours, search.runs,
                   together([f.key for f in frees], columns, noise))


def _global(search: Search, start: list[float], seed: int) \
        -> list[list[float]]:
    """Where to go on from."""
    from scipy import optimize
    from scipy.stats import qmc

    n = len(search.frees)
    if any(f.unit == "integer" for f in search.frees):
        found = optimize.differential_evolution(
            lambda x: rms(search.errors(x)), [(0.0, 1.0)] * n, popsize=8,
            maxiter=12, tol=0.01, polish=False, seed=seed, x0=start)
        return [list(found.x)]
    places = [start, *qmc.LatinHypercube(n, seed=seed).random(4 * n).tolist()]
    places.sort(key=lambda x: rms(search.errors(x)))
    return [list(map(float, x)) for x in places[:2]]


def _local(search: Search, starts: list[list[float]]) -> list[float]:
    """From each start downhill with medium steps; from the best with steps of
    other lengths, since percentiles of the model come in steps of their own.
    Whole numbers, and parameters on which no figure depends, are held."""
    def error(x: list[float]) -> float:
        return rms(search.errors(x))

    moving = [i for i, f in enumerate(search.frees) if f.unit != "integer"
              and any(rms(_derivatives(search, x, i)) > DEAD for x in starts)]
    if not moving:
        return starts[0]
    best = _downhill(search, starts[0], moving, STEP)
    for x in starts[1:]:
        if error(best) > ENOUGH:
            best = min(best, _downhill(search, x, moving, STEP), key=error)
    for step in (STEP / 4, STEP * 3, STEP, STEP / 4):
        if error(best) > ENOUGH / 10:
            best = _downhill(search, best, moving, step)
    return best


def _downhill(search: Search, start: list[float], moving: list[int],
              step: float) -> list[float]:
    """From there, some parameters held.  The place runs from 1 to 2, since
    SciPy's steps are relative."""
    from scipy import optimize

    def full(part: Sequence[float]) -> list[float]:
        x = list(start)
        for i, a in zip(moving, part):
            x[i] = float(a) - 1
        return x

    at = [min(max(start[i] + 1, 1.001), 1.999) for i in moving]
    found = optimize.least_squares(
        lambda part: search.errors(full(part)), at, bounds=(1, 2),
        diff_step=step, x_scale="jac", max_nfev=8, xtol=1e-3, ftol=1e-3)
    return min(start, full(found.x),
               key=lambda x: rms(search.errors(x)))


# ---- what the figures say about the parameters ------------------------------------


def _derivatives(search: Search, x: list[float], i: int) -> list[float]:
    """Of the errors by a parameter, over its range."""
    free = search.frees[i]
    step = STEP
    if free.unit == "integer":
        step = max(abs(free.place(round(free.at(x[i])) + s) - x[i])
                   for s in (-1, 1))
    low, high = list(x), list(x)
    low[i], high[i] = max(x[i] - step, 0.0), min(x[i] + step, 1.0)
    ends = [search.ours(low), search.ours(high)]
    if any(isinstance(e, UserError) for e in ends) or low[i] == high[i]:
        return [0.0] * len(search.goals)
    a, b = map(search.errors_of, ends)
    return [(q - p) / (high[i] - low[i]) for p, q in zip(a, b)]


def together(keys: Sequence[str], columns: Sequence[Sequence[float]],
             noise: float) -> list[tuple[list[str], float]]:
    """Directions in which the parameters can move and the figures stay as they
    are: right singular vectors of the derivatives whose singular value is too
    small for the noise.  Of each, the parameters that take part, the most
    first; not those that no figure depends on at all."""
    import numpy as np

    seen = [i for i, c in enumerate(columns) if rms(c) > DEAD]
    if len(seen) < 2:
        return []
    matrix = np.array([columns[i] for i in seen]).T
    _, values, vectors = np.linalg.svd(matrix, full_matrices=True)
    sizes_of = [*values, *[0.0] * (len(seen) - len(values))]
    found = []
    for size, vector in zip(sizes_of, vectors, strict=True):
        spread = noise / size if size > 0 else math.inf
        parts = [i for i in np.argsort(-np.abs(vector))
                 if abs(vector[i]) >= PART]
        if spread > DETERMINED and len(parts) > 1:
            found.append(([keys[seen[i]] for i in parts], float(spread)))
    return found


def _sensitivity(search: Search, x: list[float],
                 parameters: list[Parameter]) -> list[list[float]]:
    """The uncertainty of each parameter, from the derivatives of all figures
    at the best place and the error that is left.  The derivatives."""
    from scipy import linalg

    columns = [_derivatives(search, x, i) for i in range(len(x))]
    noise = max(rms(search.errors(x)), NOISE)
    seen = [i for i, c in enumerate(columns) if rms(c) > DEAD]
    square = [[sum(a * b for a, b in zip(columns[i], columns[j]))
               for j in seen] for i in seen]
    inverse = linalg.pinvh(square) if seen else []
    for i, p in enumerate(parameters):
        if i not in seen:
            p.uncertainty = math.inf
            p.notes.append("no figure depends on it")
            continue
        k = seen.index(i)
        p.uncertainty = noise * math.sqrt(max(float(inverse[k][k]), 0.0))
        for j in seen:
            one, other = columns[i], columns[j]
            alike = sum(a * b for a, b in zip(one, other)) \
                / (len(one) * rms(one) * rms(other))
            if j != i and abs(alike) > ALIKE:
                p.notes.append(f"acts like {parameters[j].free.key}")
                p.uncertainty = max(p.uncertainty, 1.0)
        if x[i] < 0.005 or x[i] > 0.995:
            p.notes.append("at its " + ("lower" if x[i] < 0.5 else "upper")
                           + " bound")
    return columns
