# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents for the environments of libvssd.gym, in NumPy alone.

Both learn by the cross-entropy method: R. Rubinstein, "The cross-entropy method for
combinatorial and continuous optimization", Methodology and Computing in Applied
Probability 1(2), 1999.  The parameters of each generation are drawn around a mean;
the best quarter, by write amplification, gives the next mean and spread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .gym import (
    VICTIM_FEATURES,
    Episode,
    StreamEnv,
    StreamTracker,
    VictimEnv,
    victim_features,
)
from .policies import GcPolicy, GcView, PlacementPolicy, PlacementView

Vector = npt.NDArray[np.float64]
BUCKETS = 12  # of the age of a unit


class LinearVictim:
    """The candidate with the highest weighted sum of its features."""

    def __init__(self, weights: Vector) -> None:
        self.weights = np.asarray(weights, float)

    def act(self, seen: npt.NDArray[Any], n: int) -> int:
        """An action of VictimEnv."""
        return int(np.argmax(seen[:n] @ self.weights)) if n else 0

    def policy(self) -> GcPolicy:
        """The same as a policy of a Drive, without the environment."""
        agent = self

        class Learned(GcPolicy):
            name = "learned-victim"

            def pick(self, view: GcView, plane: int) -> int | None:
                blocks, seen = victim_features(view, plane,
                                               view.shape.plane_blocks)
                return blocks[agent.act(seen, len(blocks))] if blocks else None

        return Learned()


class TableStreams:
    """A unit goes to stream 1 if the entry of its age is above 0."""

    def __init__(self, table: Vector) -> None:
        self.table = np.asarray(table, float)

    def act(self, seen: npt.NDArray[Any]) -> int:
        """An action of StreamEnv."""
        return int(self.table[min(int(seen[0] * BUCKETS), BUCKETS - 1)] > 0)

    def policy(self) -> PlacementPolicy:
        """The same as a policy of a Drive."""
        agent = self
        tracker = StreamTracker()

        class Learned(PlacementPolicy):
            name = "learned-streams"

            def stream(self, view: PlacementView, unit: int) -> int:
                return agent.act(tracker.features(view, unit))

            def wrote(self, view: PlacementView, unit: int, stream: int) -> None:
                tracker.wrote(unit)

        return Learned()


def victim_waf(env: VictimEnv, agent: LinearVictim, seed: int) -> float:
    """Write amplification of an episode."""
    seen, info = env.reset(seed=seed)
    ended = False
    while not ended:
        seen, _, ended, _, info = env.step(np.int64(agent.act(seen, info["n"])))
    return float(info["waf"])


def stream_waf(env: StreamEnv, agent: TableStreams, seed: int) -> float:
    """Write amplification of an episode."""
    seen, info = env.reset(seed=seed)
    ended = False
    while not ended:
        seen, _, ended, _, info = env.step(np.int64(agent.act(seen)))
    return float(info["waf"])


def cross_entropy(cost: Callable[[Vector, int], float], size: int, *,
                  generations: int, population: int, seed: int,
                  told: Callable[[str], None] = lambda _: None) -> Vector:
    """Parameters with a low cost.  cost(parameters, seed of the episode): one seed
    for each generation, so that all of it are compared on the same load."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(size), np.ones(size)
    for g in range(generations):
        drawn = mean + spread * rng.standard_normal((population, size))
        drawn[0] = mean
        episode = int(rng.integers(1, 2**31))
        costs = np.array([cost(p, episode) for p in drawn])
        best = drawn[np.argsort(costs)[:max(population // 4, 2)]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        told(f"generation {g + 1}: {costs.min():.3f} to {costs.max():.3f}")
    return mean


def learn_victim(episode: Episode, *, generations: int = 8, population: int = 16,
                 seed: int = 1, told: Callable[[str], None] = lambda _: None) \
        -> LinearVictim:
    """By playing episodes of VictimEnv."""
    env = VictimEnv(episode, episode.options["nand.blocks"])
    weights = cross_entropy(
        lambda p, s: victim_waf(env, LinearVictim(p), s), len(VICTIM_FEATURES),
        generations=generations, population=population, seed=seed, told=told)
    return LinearVictim(weights)


def learn_streams(episode: Episode, *, generations: int = 6, population: int = 12,
                  seed: int = 1, told: Callable[[str], None] = lambda _: None) \
        -> TableStreams:
    """By playing episodes of StreamEnv."""
    env = StreamEnv(episode)
    table = cross_entropy(
        lambda p, s: stream_waf(env, TableStreams(p), s), BUCKETS,
        generations=generations, population=population, seed=seed, told=told)
    return TableStreams(table)


def compare(episode: Episode, seeds: list[int], **policies: Callable[[], Any]) \
        -> dict[str, list[float]]:
    """Write amplification on these seeds with ftl.gc=greedy, cost-benefit, and each of
    the policies ("gc_..." or "placement_...")."""
    found = {gc: [episode.run(s, gc=gc)["waf"] for s in seeds]
             for gc in ("greedy", "cost-benefit")}
    for name, make in policies.items():
        kind = name.split("_", 1)[0]
        found[name] = [episode.run(s, **{kind: make()})["waf"] for s in seeds]
    return found


def main() -> None:
    """python -m libvssd.baselines: learn, and compare on seeds that were not seen."""
    p = argparse.ArgumentParser(prog="python -m libvssd.baselines",
                                description="learn to choose victims and streams")
    p.add_argument("--generations", type=int, default=8)
    p.add_argument("--population", type=int, default=16)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--held-out", type=int, default=5, metavar="N",
                   help="seeds to compare on")
    args = p.parse_args()
    episode = Episode()
    how = {"generations": args.generations, "population": args.population,
           "seed": args.seed, "told": print}
    victim = learn_victim(episode, **how)
    streams = learn_streams(episode, **how)
    print("weights:", dict(zip(VICTIM_FEATURES, victim.weights.round(2).tolist())))
    print("streams by age:", (streams.table > 0).astype(int).tolist())
    seeds = [2**31 + i for i in range(args.held_out)]  # above those of training
    found = compare(episode, seeds, gc_learned=victim.policy,
                    placement_learned=streams.policy)
    print(json.dumps({k: {"mean": float(np.mean(v)), "waf": v}
                      for k, v in found.items()}))


if __name__ == "__main__":
    main()
