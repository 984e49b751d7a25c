# SPDX-License-Identifier: GPL-2.0-or-later
"""A model of a drive learnt from runs: p = F(characteristics of the workload).

Huang, Li, Szalay, Terzis, Performance Modeling and Analysis of Flash-based
Storage Devices, MSST 2011: F is a regression tree, split by least squares,
with constant leaves; p is latency, bandwidth, or requests per second.

A model knows its error: that of runs told by trees of the other runs
(cross-validation), as a whole and for each leaf.

Knows numbers; knows neither vssd-sim nor figures.  Needs numpy; to learn, also
scikit-learn (scripts/requirements-blackbox.txt).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np

from .blackbox_features import BASIC as BASIC
from .blackbox_features import EXTENDED as EXTENDED

TARGETS = ("latency", "bandwidth", "iops")
UNITS = {"latency": "ms", "bandwidth": "MB/s", "iops": "1/s"}
LEAVES = (1, 2, 3, 5, 8)  # fewest runs of a leaf, one of these
FOLDS = 5


# ---- runs ----------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """Runs of one drive: a row each."""

    x: dict[str, Any]  # by characteristic
    y: dict[str, Any]  # by target
    seconds: Any = field(default=None)  # modelled, of each; or None
    origin: tuple[Any, ...] = ()  # titles of the series that they are of

    def __len__(self) -> int:
        return len(self.x["wr_ratio"])

    def part(self, rows: Any) -> Runs:
        """Some of them."""
        return Runs({k: v[rows] for k, v in self.x.items()},
                    {k: v[rows] for k, v in self.y.items()},
                    None if self.seconds is None else self.seconds[rows],
                    self.origin)

    def table(self, names: tuple[str, ...]) -> Any:
        """These characteristics as columns."""
        return np.column_stack([self.x[n] for n in names])

    def shuffled(self, seed: int) -> Runs:
        """The same with the results of other runs: nothing to learn."""
        order = np.random.default_rng(seed).permutation(len(self))
        return Runs(self.x, {k: v[order] for k, v in self.y.items()})


def join(a: Runs, b: Runs) -> Runs:
    """Both."""
    return Runs({k: np.concatenate([v, b.x[k]]) for k, v in a.x.items()},
                {k: np.concatenate([v, b.y[k]]) for k, v in a.y.items()},
                origin=tuple(dict.fromkeys(a.origin + b.origin)))


def runs_of(rows: list[Any], seconds: list[float] | None = None,
            origin: tuple[Any, ...] = ()) -> Runs:
    """From characteristics and results of each run."""
    xs, ys = zip(*rows)
    return Runs({k: np.array([x[k] for x in xs]) for k in xs[0]},
                {k: np.array([y[k] for y in ys]) for k in ys[0]},
                None if seconds is None else np.array(seconds), origin)


def folds(n: int, seed: int) -> Any:
    """The fifth that each of n runs is in."""
    return np.random.default_rng(seed).permutation(n) % FOLDS


# ---- trees ---------------------------------------------------------------------


@dataclass
class Tree:
    """Nodes as arrays; a leaf has left < 0.  Runs with x[feature] of at most
    the threshold are left."""

    feature: Any
    threshold: Any
    left: Any
    right: Any
    value: Any
    n: Any  # runs of the node
    absolute: Any = None  # of a leaf: mean absolute error, cross-validated,
    relative: Any = None  # and mean relative error

    def leaves(self, x: Any) -> Any:
        """The leaf of each row."""
        at = np.zeros(len(x), "i8")
        x = np.asarray(x, "f4")  # as scikit-learn compares
        while (inner := self.left[at] >= 0).any():
            rows = np.flatnonzero(inner)
            node = at[rows]
            small = x[rows, self.feature[node]] <= self.threshold[node]
            at[rows] = np.where(small, self.left[node], self.right[node])
        return at

    def predict(self, x: Any) -> Any:
        """The value of each row's leaf."""
        return self.value[self.leaves(x)]


def _sklearn(leaf: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(criterion="squared_error",
                                 min_samples_leaf=leaf, random_state=0)


def fit(x: Any, y: Any, leaf: int) -> Tree:
    """By least squares, with that many runs in a leaf at least."""
    t = _sklearn(leaf).fit(x, y).tree_
    return Tree(t.feature, t.threshold, t.children_left, t.children_right,
                t.value[:, 0, 0], t.n_node_samples)


def _told(x: Any, y: Any, leaf: int, mine: Any) -> Any:
    """The runs of a fold as a tree of the others tells them."""
    if not mine.any() or mine.all():
        return float(y.mean())
    return _sklearn(leaf).fit(x[~mine], y[~mine]).predict(x[mine])


def choose(x: Any, y: Any, seed: int, leaves: tuple[int, ...] = LEAVES,
           jobs: int = 1) -> tuple[int, Any]:
    """The fewest runs of a leaf that give the least squared error when each
    fifth of the runs is told by a tree of the rest; and what is told then.
    jobs: trees that grow at a time, in threads (scikit-learn releases the
    interpreter's lock)."""
    fold = folds(len(y), seed)
    told = {leaf: np.empty(len(y)) for leaf in leaves}

    def tell(leaf: int, i: int) -> None:
        told[leaf][fold == i] = _told(x, y, leaf, fold == i)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(tell, *zip(*product(leaves, range(FOLDS)))))
    best = min(leaves, key=lambda leaf: float(((y - told[leaf]) ** 2).sum()))
    return best, told[best]


class Model:
    """Trees of these characteristics, one for each target."""

    def __init__(self, names: tuple[str, ...], trees: dict[str, Tree],
                 scores: dict[str, Score]) -> None:
        self.names = names
        self.trees = trees
        self.scores = scores  # cross-validated

    @classmethod
    def learn(cls, names: tuple[str, ...], runs: Runs, seed: int = 1,
              logs: bool = False, leaves: tuple[int, ...] = LEAVES,
              jobs: int = 1) -> Model:
        """From runs.  logs: least squares of the logarithm, so that runs count
        by their relative error (not the paper's).  leaves: fewest runs of a
        leaf, one of these.  jobs: threads."""
        x = runs.table(names)
        trees, scores = {}, {}
        for target in TARGETS:
            y = np.log(runs.y[target]) if logs else runs.y[target]
            leaf, told = choose(x, y, seed, leaves, jobs)
            tree = fit(x, y, leaf)
            if logs:
                tree.value, told = np.exp(tree.value), np.exp(told)
            _leaf_errors(tree, x, runs.y[target], told)
            trees[target] = tree
            scores[target] = score(runs.y[target], told)
        return cls(names, trees, scores)

    def predict(self, target: str, runs: Runs) -> Any:
        """The prediction of the target."""
        return self.trees[target].predict(runs.table(self.names))

    def expect(self, target: str, row: dict[str, float]) \
            -> dict[str, float]:
        """Of one workload: the prediction, and the mean absolute and relative
        error of the runs in its leaf; n: how many these are."""
        tree = self.trees[target]
        x = np.array([[row[n] for n in self.names]])
        at = int(tree.leaves(x)[0])
        return {"value": float(tree.value[at]),
                "absolute_error": float(tree.absolute[at]),
                "relative_error": float(tree.relative[at]),
                "runs": int(tree.n[at])}

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return {"names": list(self.names),
                "scores": {t: asdict(s) for t, s in self.scores.items()},
                "trees": {name: {k: np.asarray(v).tolist()
                                 for k, v in vars(tree).items()}
                          for name, tree in self.trees.items()}}

    @classmethod
    def from_json(cls, d: dict[str, Any]) -> Model:
        """The same again; KeyError, TypeError, ValueError: it is none."""
        trees = {}
        for target in TARGETS:
            tree = Tree(**{k: np.array(v)
                           for k, v in d["trees"][target].items()})
            _check(tree, len(d["names"]))
            trees[target] = tree
        return cls(tuple(d["names"]), trees,
                   {t: Score(**d["scores"][t]) for t in TARGETS})


def _leaf_errors(tree: Tree, x: Any, y: Any, told: Any) -> None:
    """Errors of the runs told by other trees, gathered in this tree's
    leaves."""
    leaf, n = tree.leaves(x), len(tree.value)
    count = np.maximum(np.bincount(leaf, minlength=n), 1)
    error = np.abs(y - told)
    tree.absolute = np.bincount(leaf, error, n) / count
    tree.relative = np.bincount(leaf, error / y, n) / count


def _check(tree: Tree, n_names: int) -> None:
    """Nodes lead on to later ones, so that each walk ends in a leaf."""
    n = len(tree.value)
    index = np.arange(n)
    inner = tree.left >= 0
    for side in (tree.left, tree.right):
        if len(side) != n or not ((side > index) & (side < n))[inner].all():
            raise ValueError("nodes")
    if n == 0 or any(len(v) != n for v in vars(tree).values()) \
            or not ((tree.feature >= 0) & (tree.feature < n_names))[inner].all():
        raise ValueError("nodes")


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


class Validated:
    """Models of four fifths of the runs, each judged by the fifth that it has
    not seen: five scores."""

    def __init__(self, runs: Runs, extra: Runs | None = None,
                 count: int = FOLDS, seed: int = 2011, jobs: int = 1) -> None:
        self.runs = runs
        self.extra = extra  # learnt by all, told by none
        self.fold = folds(len(runs), seed)
        self.count = count
        self.jobs = jobs  # threads that learn
        self.models: dict[tuple[Any, ...], list[Model]] = {}

    def train(self, i: int) -> Runs:
        """What the i-th models learn."""
        runs = self.runs.part(self.fold != i)
        return join(runs, self.extra) if self.extra else runs

    def held(self, i: int) -> Runs:
        """What they are judged by."""
        return self.runs.part(self.fold == i)

    def learn(self, names: tuple[str, ...], logs: bool = False,
              share: float = 1.0) -> list[Model]:
        """The models; of a share of the runs."""
        key = names, logs, share
        if key not in self.models:
            self.models[key] = []
            for i in range(self.count):
                train = self.train(i)
                rows = slice(0, max(int(share * len(train)), FOLDS))
                self.models[key].append(
                    Model.learn(names, train.part(rows), 1, logs,
                                jobs=self.jobs))
        return self.models[key]

    def scores(self, names: tuple[str, ...], target: str, logs: bool = False,
               share: float = 1.0) -> list[Score]:
        """Of the runs held out, by fold."""
        out = []
        for i, model in enumerate(self.learn(names, logs, share)):
            held = self.held(i)
            out.append(score(held.y[target], model.predict(target, held)))
        return out
