# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure warp in short (docs/lab/figure-warp.md): a flash cache and three
streams on a drive with handles.  Its statements that hold, at 1/16 of its
size."""

import json
import os
import random
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIM = os.environ["VSSD_SIM"]
PROFILE = Path(os.environ["VSSD_ROOT"]) / "profiles/warp2026.ini"
DIES, PAGES, RUS = 8, 8, 448
DRIVE = DIES * PAGES * RUS  # pages
REGION = 4  # pages: 1/16 of a reclaim unit

Write = tuple[int, int, int]  # page, pages, stream


def mixed(rng: random.Random, shares: list[float], volumes: float,
          streams: list[Iterator[Write]]) -> Iterator[Write]:
    """Streams side by side, by their shares of the pages."""
    left = volumes * DRIVE
    debt = [0.0] * len(shares)
    while left > 0:
        i = max(range(len(shares)), key=lambda k: debt[k] + rng.random())
        write = next(streams[i])
        left -= write[1]
        debt = [d + write[1] * s for d, s in zip(debt, shares)]
        debt[i] -= write[1]
        yield write


def in_sequence(first: int, last: int, stream: int) -> Iterator[Write]:
    while True:
        for page in range(first, last - REGION + 1, REGION):
            yield page, REGION, stream


def at_random(rng: random.Random, first: int, last: int,
              stream: int) -> Iterator[Write]:
    while True:
        yield rng.randrange(first, last), 1, stream


def eighty_twenty(rng: random.Random, last: int,
                  stream: int) -> Iterator[Write]:
    while True:
        low, high = rng.choices(((0, .2), (.2, .4), (.4, 1)), (8, 1, 1))[0]
        yield rng.randrange(int(low * last), int(high * last)), 1, stream


def cache(soc: float, part: float) -> Iterator[Write]:
    """Four volumes: small objects (stream 1) write `part` of the bytes."""
    rng = random.Random(1)
    first = int(DRIVE * (1 - soc))
    return mixed(rng, [1 - part, part], 4, [
        in_sequence(0, first, 0), at_random(rng, first, DRIVE, 1)])


def three() -> Iterator[Write]:
    """A fill, then 80/20 overwrites (stream 2) of what is sequential."""
    rng = random.Random(1)
    first = int(DRIVE * .9)
    streams = [in_sequence(0, first, 0), at_random(rng, first, DRIVE, 1),
               eighty_twenty(rng, first, 2)]
    yield from mixed(rng, [.9, .1], 1, streams[:2])
    yield from mixed(rng, [.577, .21, .213], 3, streams)


class Warp(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vssd-warp-")
        self.addCleanup(folder.cleanup)
        self.trace = Path(folder.name) / "t.csv"

    def save(self, writes: Iterator[Write]) -> None:
        with self.trace.open("w") as f:
            f.write("time_us,is_write,page,pages,stream\n")
            f.writelines(f"0,1,{p},{n},{s}\n" for p, n, s in writes)

    def play(self, handles: str, op: int, *sets: str) -> dict[str, Any]:
        n = int(max(handles)) + 1
        given = (f"nand.blocks={int(RUS * (1 + op / 100))}",
                 f"nand.pages={PAGES}", f"ftl.capacity={DRIVE * 4096}",
                 "buffer.size=256KiB", f"fdp.ruhs={n}", *sets)
        done = subprocess.run(
            [SIM, "replay", self.trace, "--json", "--profile", PROFILE,
             "--fill", "none", "--iodepth", "4", "--stream-map", handles,
             *(x for s in given for x in ("--set", s))],
            capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(json.loads(done.stdout))

    def near(self, ours: float, paper: float) -> None:
        self.assertLess(abs(ours / paper - 1), .1, (ours, paper))

    def test_cache(self) -> None:
        """Table 2, WARP_A: 4 % and 40 % for small objects; large ones are
        copied by nobody."""
        for soc, part, apart, together in ((.04, .84, 1.0, 1.16),
                                           (.4, .86, 1.37, None)):
            self.save(cache(soc, part))
            fdp = self.play("0,1", 10)
            none = self.play("0,0", 10)
            self.near(fdp["waf"], apart)
            self.assertLess(fdp["waf"], none["waf"])
            self.assertEqual(fdp["streams"][0]["copied_units"], 0)
            if together:
                self.near(none["waf"], together)

    def test_three_streams(self) -> None:
        """Table 2, WARP_A2 with 80/20, initially isolated."""
        self.save(three())
        fdp, some, none = (self.play(h, 14, "streams.gc=merge")["waf"]
                           for h in ("0,1,2", "0,1,0", "0,0,0"))
        self.near(fdp, 1.68)
        self.assertLess(fdp, some)
        self.assertLess(some, none)
        self.near(none, 2.64)

    def test_isolation(self) -> None:
        """With much room persistent isolation is better (section 5.3): hot and
        cold data at random."""
        rng = random.Random(1)
        first = int(DRIVE * .9)
        self.save(mixed(rng, [.5, .5], 4, [
            at_random(rng, 0, first, 0), at_random(rng, first, DRIVE, 1)]))
        initial = self.play("0,1", 25, "streams.gc=merge")["waf"]
        persistent = self.play("0,1", 25)["waf"]
        self.assertLess(persistent, initial * .99)


if __name__ == "__main__":
    unittest.main()
