# SPDX-License-Identifier: GPL-2.0-or-later
"""A model of a drive learnt from runs: p = F(characteristics of the workload).

Huang, Li, Szalay, Terzis, Performance Modeling and Analysis of Flash-based
Storage Devices, MSST 2011: F is a regression tree, split by least squares,
with constant leaves; p is latency, bandwidth, or requests per second.

Knows requests and numbers; knows neither vssd-sim nor figures.  Needs numpy
and scikit-learn (scripts/requirements-blackbox.txt).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .traces import SECTOR, Trace

BASIC = ("wr_ratio", "q_dep", "req_size", "rand")
EXTENDED = ("wr_ratio", "q_dep", "wr_size", "rd_size", "wr_rand", "rd_rand",
            "wr_stride", "rd_stride")
TARGETS = ("latency", "bandwidth", "iops")  # ms, MB/s, 1/s
MOST_STRIDE = 1 << 20
LEAVES = (1, 2, 3, 5, 8)  # fewest runs of a leaf, one of these
FOLDS = 5


# ---- characteristics ---------------------------------------------------------


def stride(offset: Any) -> int:
    """Of requests of one kind: the largest power of two that three quarters of
    them begin at a multiple of; their alignment, and when they go on one behind
    the other the grid on which they do.  (Of random multiples of a grid half are
    multiples of twice the grid, too.)"""
    low = np.where(offset == 0, MOST_STRIDE, offset & -offset)
    low = np.sort(np.minimum(low, MOST_STRIDE))
    return int(low[(len(low) - 1) // 4]) if len(low) else 0


def is_random(offset: Any, nbytes: Any, grid: int) -> Any:
    """For each request of one kind but the first: does it not go on where the
    one before ended, or at the next place of the grid?"""
    gap = offset[1:] - (offset[:-1] + nbytes[:-1])
    return (gap < 0) | (gap >= max(grid, SECTOR))


def features(trace: Trace, depth: int) -> dict[str, float]:
    """The characteristics of a stream of requests, basic and extended.  A kind
    that does not occur has zeros."""
    out = {"wr_ratio": float(trace.write.mean()), "q_dep": float(depth),
           "req_size": float(trace.nbytes.mean())}
    n_random = n_judged = 0
    for kind, name in ((True, "wr"), (False, "rd")):
        mine = trace.write == kind
        offset, nbytes = trace.offset[mine], trace.nbytes[mine]
        grid = stride(offset)
        random = is_random(offset, nbytes, grid)
        out[f"{name}_size"] = float(nbytes.mean()) if len(nbytes) else 0.0
        out[f"{name}_rand"] = float(random.mean()) if len(random) else 0.0
        out[f"{name}_stride"] = float(grid)
        n_random += int(random.sum())
        n_judged += len(random)
    out["rand"] = n_random / n_judged if n_judged else 0.0
    return out


# ---- the model -----------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """Runs of one drive: a row each."""

    x: dict[str, Any]  # by characteristic
    y: dict[str, Any]  # by target

    def __len__(self) -> int:
        return len(self.x["wr_ratio"])

    def part(self, rows: Any) -> Runs:
        """Some of them."""
        return Runs({k: v[rows] for k, v in self.x.items()},
                    {k: v[rows] for k, v in self.y.items()})

    def table(self, names: tuple[str, ...]) -> Any:
        """These characteristics as columns."""
        return np.column_stack([self.x[n] for n in names])


def join(a: Runs, b: Runs) -> Runs:
    """Both."""
    return Runs({k: np.concatenate([v, b.x[k]]) for k, v in a.x.items()},
                {k: np.concatenate([v, b.y[k]]) for k, v in a.y.items()})


def runs_of(rows: list[tuple[dict[str, float], dict[str, float]]]) -> Runs:
    """From characteristics and results of each run."""
    xs, ys = zip(*rows)
    return Runs({k: np.array([x[k] for x in xs]) for k in xs[0]},
                {k: np.array([y[k] for y in ys]) for k in ys[0]})


def _tree(leaf: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(criterion="squared_error",
                                 min_samples_leaf=leaf, random_state=0)


def _folds(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).permutation(n) % FOLDS


def choose_leaf(x: Any, y: Any, seed: int) -> int:
    """The least squared error when each fifth of the runs is told by a tree of
    the rest."""
    fold = _folds(len(y), seed)
    best = []
    for leaf in LEAVES:
        sse = 0.0
        for i in range(FOLDS):
            rest, mine = fold != i, fold == i
            if mine.any() and rest.any():
                told = _tree(leaf).fit(x[rest], y[rest]).predict(x[mine])
                sse += float(((y[mine] - told) ** 2).sum())
        best.append(sse)
    return LEAVES[int(np.argmin(best))]


class Model:
    """Trees of these characteristics, one for each target."""

    def __init__(self, names: tuple[str, ...], runs: Runs, seed: int = 1) \
            -> None:
        self.names = names
        x = runs.table(names)
        self.trees = {}
        for target in TARGETS:
            y = runs.y[target]
            self.trees[target] = _tree(choose_leaf(x, y, seed)).fit(x, y)

    def predict(self, target: str, runs: Runs) -> Any:
        """The prediction of the target."""
        return self.trees[target].predict(runs.table(self.names))


# ---- how good it is --------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """As the paper has them: R2 = 1 - SSE / SST; mean absolute error; mean of
    the absolute error by the observed value."""

    r2: float
    mae: float
    mre: float
    mean: float  # of the observed values


def score(observed: Any, told: Any) -> Score:
    """Compare."""
    error = np.abs(observed - told)
    sst = float(((observed - observed.mean()) ** 2).sum())
    r2 = 1 - float((error ** 2).sum()) / sst if sst else float("nan")
    return Score(r2, float(error.mean()), float((error / observed).mean()),
                 float(observed.mean()))


def split(n: int, share: float, seed: int) -> tuple[Any, Any]:
    """Which runs train, and which are held out."""
    order = np.random.default_rng(seed).permutation(n)
    held = max(int(n * share), 1)
    return np.sort(order[held:]), np.sort(order[:held])
