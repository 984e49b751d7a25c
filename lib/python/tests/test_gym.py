# SPDX-License-Identifier: GPL-2.0-or-later
"""The environments, and a short run of the baseline."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from libvssd.baselines import (
    LinearVictim,
    TableStreams,
    compare,
    learn_victim,
    stream_waf,
    victim_waf,
)
from libvssd.gym import Episode, HotCold, StreamEnv, VictimEnv

SHORT = Episode(load=HotCold(capacities=1.5))
HELD_OUT = [2**31 + i for i in range(3)]


@pytest.mark.parametrize("env", [VictimEnv, StreamEnv])
@pytest.mark.filterwarnings("ignore")
def test_form(env) -> None:
    """What gymnasium asks of an environment."""
    check_env(env(SHORT), skip_render_check=True)


def test_actions_are_the_policy() -> None:
    """An episode is that of a drive with the same policy."""
    env = VictimEnv(SHORT)
    greedy = victim_waf(env, LinearVictim([-1, 0, 0, 0]), 5)
    again = victim_waf(env, LinearVictim([-1, 0, 0, 0]), 5)
    weights = LinearVictim([0, 1, 1, 0])
    assert greedy == again
    assert victim_waf(env, weights, 5) == \
        SHORT.run(5, gc=weights.policy())["waf"]
    table = TableStreams(np.arange(12) - 6)
    assert stream_waf(StreamEnv(SHORT), table, 5) == \
        SHORT.run(5, placement=table.policy())["waf"]
    assert stream_waf(StreamEnv(SHORT), table, 6) != \
        stream_waf(StreamEnv(SHORT), table, 5)


def test_an_episode_that_is_left() -> None:
    """reset() and close() in the middle."""
    env = VictimEnv(SHORT)
    first, info = env.reset(seed=1)
    assert info["n"] > 1 and (first[:info["n"], 0] < 1).all()
    env.step(np.int64(0))
    again, _ = env.reset(seed=1)
    assert (first == again).all()
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))


def test_rewards() -> None:
    """Copies: the sum of the rewards follows from the statistics."""
    env = StreamEnv(SHORT)
    env.reset(seed=2)
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, _, info = env.step(np.int64(0))
        total += reward
    assert total < 0
    assert -total >= info["stats"]["streams"][0]["copied_units"] - 64


def test_it_learns() -> None:
    """On loads that it has not seen: below greedy on each seed."""
    episode = Episode()
    agent = learn_victim(episode, generations=4, population=8)
    found = compare(episode, HELD_OUT, gc_learned=agent.policy)
    print({k: np.round(v, 3).tolist() for k, v in found.items()})
    for learned, greedy in zip(found["gc_learned"], found["greedy"]):
        assert learned < 0.9 * greedy
