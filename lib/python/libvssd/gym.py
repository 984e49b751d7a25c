# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments of gymnasium over decisions of the drive (docs/gym.md).

VictimEnv asks which block garbage collection empties, StreamEnv which stream each
written unit goes to.  An episode is a load that is played on a new drive; its write
amplification is in the last info.  libvssd.baselines has agents for both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
import numpy.typing as npt

from .arrays import requests
from .drive import Drive
from .policies import GcPolicy, GcView, PlacementPolicy, PlacementView

Floats = npt.NDArray[np.float32]

# One plane of 64 blocks of 32 pages: 1575 units and 30 % more.
SMALL = {"nand.channels": 1, "nand.chips": 1, "nand.dies": 1, "nand.planes": 1,
         "nand.blocks": 64, "nand.pages": 32, "nand.page_size": "4KiB",
         "nand.read": "10us", "nand.program": "50us", "nand.erase": "200us",
         "buffer.size": "64KiB", "ftl.op_percent": "30%"}


@dataclass(frozen=True)
class HotCold:
    """Writes of single units: `share` of them to the first `hot` of the drive, each
    part uniform; `capacities` times as many as the drive has units."""

    hot: float = 0.1
    share: float = 0.9
    capacities: float = 8

    def __call__(self, drive: Drive, rng: np.random.Generator) -> npt.NDArray[Any]:
        """The requests for a drive."""
        per_unit = drive.info.unit_bytes // drive.info.block_bytes
        units = drive.info.nblocks // per_unit
        n = int(self.capacities * units)
        first = max(int(units * self.hot), 1)
        unit = np.where(rng.random(n) < self.share, rng.integers(0, first, n),
                        rng.integers(first, units, n))
        return requests(op="write", lba=unit * per_unit, nblocks=per_unit)


@dataclass
class Episode:
    """What an episode plays."""

    options: dict[str, Any] = field(default_factory=lambda: dict(SMALL))
    load: Callable[[Drive, np.random.Generator], npt.NDArray[Any]] = \
        field(default_factory=HotCold)
    depth: int = 8
    unmeasured: float = 0.5  # of the load, before write amplification counts

    def run(self, seed: int, **policies: Any) -> dict[str, Any]:
        """Play it on a new drive with these policies; its statistics."""
        with Drive(options=self.options, seed=seed, **policies) as drive:
            drive.preload()
            load = self.load(drive, np.random.default_rng(seed))
            begin = int(len(load) * self.unmeasured)
            drive.play(load[:begin], depth=self.depth)
            drive.reset_stats()
            drive.play(load[begin:], depth=self.depth)
            return drive.stats()


class _Ended(Exception):
    """The episode has been left: the policy may not be asked any more."""


class _Asker:
    """The drive runs in a thread of its own, and one of the two threads waits for
    the other at any time: results depend on the answers alone."""

    def __init__(self) -> None:
        self._asked = threading.Semaphore(0)
        self._answered = threading.Semaphore(0)
        self._given_up = False
        self._thread: threading.Thread | None = None
        self.question: Any = None  # None: the episode has ended
        self.answer = 0
        self.stats: dict[str, Any] = {}
        self.error: BaseException | None = None

    def start(self, run: Callable[[], dict[str, Any]]) -> None:
        """Go on to the first question."""
        self._thread = threading.Thread(target=self._main, args=(run,),
                                        daemon=True)
        self._thread.start()
        self._asked.acquire()

    def _main(self, run: Callable[[], dict[str, Any]]) -> None:
        try:
            self.stats = run()
        except BaseException as error:
            self.error = error
        self.question = None
        self._asked.release()

    def ask(self, question: Any) -> int:
        """Of the drive's thread: the answer."""
        if not self._given_up:
            self.question = question
            self._asked.release()
            self._answered.acquire()
        if self._given_up:
            raise _Ended
        return self.answer

    def reply(self, answer: int) -> None:
        """Of the environment: go on to the next question, or the end."""
        self.answer = answer
        self._answered.release()
        self._asked.acquire()

    def give_up(self) -> None:
        """End the episode early."""
        self._given_up = True
        self._answered.release()
        if self._thread is not None:
            self._thread.join()


class _DriveEnv(gymnasium.Env[Floats, np.int64]):
    """What both environments share."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, episode: Episode | None = None) -> None:
        self.episode = episode or Episode()
        self._asker: _Asker | None = None

    def _policies(self, asker: _Asker) -> dict[str, Any]:
        raise NotImplementedError

    def _observation(self, question: Any) -> tuple[Floats, dict[str, Any]]:
        raise NotImplementedError

    def _reward(self) -> float:
        """Of the last answer."""
        raise NotImplementedError

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) \
            -> tuple[Floats, dict[str, Any]]:
        """A new drive and load of the seed."""
        super().reset(seed=seed)
        self.close()
        chosen = int(self.np_random.integers(1, 2**31)) if seed is None else seed
        asker = self._asker = _Asker()
        policies = self._policies(asker)
        asker.start(lambda: self.episode.run(chosen, **policies))
        return self._seen()

    def step(self, action: np.int64) \
            -> tuple[Floats, SupportsFloat, bool, bool, dict[str, Any]]:
        """Answer, and go on to the next question."""
        if self._asker is None or self._asker.question is None:
            raise gymnasium.error.ResetNeeded("the episode has ended: reset()")
        self._asker.reply(int(action))
        reward = self._reward()
        seen, info = self._seen()
        return seen, reward, self._asker.question is None, False, info

    def _seen(self) -> tuple[Floats, dict[str, Any]]:
        asker = self._asker
        assert asker is not None
        if asker.question is not None:
            return self._observation(asker.question)
        if asker.error is not None:
            raise asker.error
        assert self.observation_space.shape is not None
        return (np.zeros(self.observation_space.shape, np.float32),
                {"waf": asker.stats["waf"], "stats": asker.stats})

    def close(self) -> None:
        """Leave the episode that is under way."""
        if self._asker is not None and self._asker.question is not None:
            self._asker.give_up()
        self._asker = None


# ---- victims ------------------------------------------------------------------------

VICTIM_FEATURES = ("valid", "gain", "age", "erases")


def victim_features(view: GcView, plane: int, most: int) \
        -> tuple[list[int], Floats]:
    """The candidates that gain, those with the fewest valid units first, at most so
    many; and the features of each: valid share u, log((1 - u) / (1 + u)), log of the
    age in programs of the host, log of the erases."""
    valid = sorted((view.valid(b), b) for b in view.candidates(plane)
                   if view.gains(b))[:most]
    blocks = [b for _, b in valid]
    u = np.array([v for v, _ in valid]) / view.shape.block_units
    u = np.minimum(u, 1 - 1e-6)
    age = np.array([view.age(b) for b in blocks], float)
    erases = np.array([view.erases(b) for b in blocks], float)
    return blocks, np.stack(
        [u, np.log((1 - u) / (1 + u)), np.log(age), np.log1p(erases)],
        axis=-1).astype(np.float32).reshape(-1, len(VICTIM_FEATURES))


class _AskedVictim(GcPolicy):
    name = "gym-victim"

    def __init__(self, asker: _Asker, most: int) -> None:
        super().__init__()
        self._asker, self._most = asker, most
        self.copied = 0.0

    def pick(self, view: GcView, plane: int) -> int | None:
        blocks, seen = victim_features(view, plane, self._most)
        if not blocks:
            return None
        answer = self._asker.ask(seen)
        i = answer if answer < len(blocks) else 0
        self.copied = float(seen[i, 0])
        return blocks[i]


class VictimEnv(_DriveEnv):
    """Which candidate is the victim: the number of a row of the observation.

    The rows are candidates, those with the fewest valid units first, so action 0 is
    ftl.gc=greedy; info["n"] says how many there are, and an action from there on
    counts as 0.  The reward is minus the share of the block that has to be copied.
    """

    def __init__(self, episode: Episode | None = None, candidates: int = 64) -> None:
        super().__init__(episode)
        self.candidates = candidates
        self.action_space = gymnasium.spaces.Discrete(candidates)
        self.observation_space = gymnasium.spaces.Box(
            -1e9, 1e9, (candidates, len(VICTIM_FEATURES)), np.float32)
        self._policy: _AskedVictim | None = None

    def _policies(self, asker: _Asker) -> dict[str, Any]:
        self._policy = _AskedVictim(asker, self.candidates)
        return {"gc": self._policy}

    def _observation(self, question: Floats) -> tuple[Floats, dict[str, Any]]:
        seen = np.zeros((self.candidates, len(VICTIM_FEATURES)), np.float32)
        seen[:len(question)] = question
        return seen, {"n": len(question)}

    def _reward(self) -> float:
        assert self._policy is not None
        return -self._policy.copied


# ---- streams ------------------------------------------------------------------------

STREAM_FEATURES = ("age", "writes", "stream")


class StreamTracker:
    """When each unit was last written, in writes of the host, and how often."""

    def __init__(self) -> None:
        self.clock = 0
        self.last: dict[int, int] = {}
        self.writes: dict[int, int] = {}

    def features(self, view: PlacementView, unit: int) -> Floats:
        """log2 of the age over that of the drive's size (1: never written), log2 of
        the writes, the stream of the copy in NAND (-1: none)."""
        span = np.log2(view.shape.units + 1)
        last = self.last.get(unit)
        age = 1.0 if last is None else \
            min(float(np.log2(self.clock - last + 1) / span), 1.0)
        stream = view.stream_of(unit)
        return np.array([age, np.log2(self.writes.get(unit, 0) + 1),
                         -1 if stream is None else stream], np.float32)

    def wrote(self, unit: int) -> None:
        """One more write."""
        self.clock += 1
        self.last[unit] = self.clock
        self.writes[unit] = self.writes.get(unit, 0) + 1


class _AskedStream(PlacementPolicy):
    name = "gym-stream"

    def __init__(self, asker: _Asker, streams: int) -> None:
        self.streams = streams
        super().__init__()
        self._asker = asker
        self._seen = StreamTracker()
        self._answer: tuple[int, int] | None = None  # of the unit that waits
        self.copied = 0
        self._before = 0

    def stream(self, view: PlacementView, unit: int) -> int:
        if self._answer is None or self._answer[0] != unit:
            copied = sum(view.copied(i) for i in range(self.streams))
            self.copied, self._before = copied - self._before, copied
            asked = self._asker.ask(self._seen.features(view, unit))
            self._answer = (unit, asked)
        return self._answer[1]

    def wrote(self, view: PlacementView, unit: int, stream: int) -> None:
        self._answer = None
        self._seen.wrote(unit)


class StreamEnv(_DriveEnv):
    """Which stream each written unit goes to.

    The reward is minus the units that garbage collection has copied meanwhile, so a
    decision is paid for much later.
    """

    def __init__(self, episode: Episode | None = None, streams: int = 2) -> None:
        super().__init__(episode)
        self.streams = streams
        self.action_space = gymnasium.spaces.Discrete(streams)
        self.observation_space = gymnasium.spaces.Box(
            -1e9, 1e9, (len(STREAM_FEATURES),), np.float32)
        self._policy: _AskedStream | None = None

    def _policies(self, asker: _Asker) -> dict[str, Any]:
        self._policy = _AskedStream(asker, self.streams)
        return {"placement": self._policy}

    def _observation(self, question: Floats) -> tuple[Floats, dict[str, Any]]:
        return question, {}

    def _reward(self) -> float:
        assert self._policy is not None
        return -float(self._policy.copied)
