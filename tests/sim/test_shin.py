# SPDX-License-Identifier: GPL-2.0-or-later
"""Short forms of statements of I. Shin's two papers that hold: on small inputs
of a kind, one seed, without what the figures `scatter` and `buffer` fit
(docs/lab/figures.md).  An error in a mechanism of these papers fails one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ["VSSD_ROOT"])
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "lab")]

from vssd_lab.figures import ssdsim  # noqa: E402

PAGE = {"shin2018": 4096, "shin2023": 8192}
SSDSIM = ssdsim.used("host")
BUFFERED = ssdsim.used("room")
SMALL = ("nand.blocks=64", "ftl.gc_low=4%", "ftl.gc_high=5%")
Request = tuple[int, bool, int, int]  # ns, write, page, pages


def play(profile: str, requests: list[Request], *sets: str) -> dict[str, Any]:
    """The result of a trace on a drive of that profile, full of old data."""
    page = PAGE[profile]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        f.writelines(
            f"{at // 100},shin,0,{'Write' if write else 'Read'},{n * page},"
            f"{count * page},0\n" for at, write, n, count in sorted(requests))
        f.flush()
        args = [x for s in sets for x in ("--set", s)]
        done = subprocess.run(
            [os.environ["VSSD_SIM"], "replay", f.name, "--json", "--profile",
             str(ROOT / f"profiles/{profile}.ini"), *args],
            capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    out: dict[str, Any] = json.loads(done.stdout)
    return out


# ---- 2018 ---------------------------------------------------------------------


def scattered(k: int, pages: int, gap_us: float) -> list[Request]:
    """Dk: single reads by Poisson, and batches of 1..k writes."""
    rng = random.Random(2018)
    reads, writes, at = 700, 2100, 0.0
    out: list[Request] = []
    for _ in range(reads):
        at += rng.expovariate(1 / (3 * gap_us))
        out.append((int(at * 1000), False, rng.randrange(100_000), 1))
    left, at = writes, 0.0
    while left > 0:
        n = min(rng.randint(1, k), left)
        out += [(int(at * 1000), True, rng.randrange(100_000), pages)
                for _ in range(n)]
        at += n * gap_us
        left -= n
    return out


def mean_us(r: dict[str, Any]) -> float:
    """Mean response."""
    return float(r["latency_ns"]["all"]["mean"]) / 1000


class Scatter(unittest.TestCase):
    """Section III of the paper of 2018."""

    def means(self, pages: int, *sets: str) -> list[float]:
        """Of D1, D4, D16 and D64."""
        return [mean_us(play("shin2018", scattered(k, pages, 20_000),
                             *SMALL, *SSDSIM, *sets))
                for k in (1, 4, 16, 64)]

    def d64(self, *sets: str) -> float:
        """The mean of D64 with writes of eight pages."""
        return mean_us(play("shin2018", scattered(64, 8, 20_000), *SMALL,
                            *SSDSIM, *sets))

    def test_mean_grows(self) -> None:
        """Figure 1: the response grows with k, to 3.7 to 9.1 times, and more
        where writes are large."""
        ratio = []
        for pages in (1, 8):
            means = self.means(pages)
            ratio.append(means[3] / means[0])
            print(f"# {pages} pages: D64 / D1 {ratio[-1]:.2f}")
            self.assertEqual(means, sorted(means))
            self.assertTrue(3.7 <= ratio[-1] <= 9.1)
        self.assertLess(ratio[0], ratio[1])

    def test_composite_commands_serve_a_batch(self) -> None:
        """Section III: die interleave serves a batch at once; without it D64
        waits for programs."""
        together = self.d64()
        alone = self.d64("nand.composite=off", "nand.multi_plane=off")
        print(f"# D64: {together:.0f} us, {alone:.0f} without")
        self.assertLess(together, 0.6 * alone)

    def test_erases_do_not_depend_on_k(self) -> None:
        """Figure 3, and the queue by which no batch is merged."""
        programs = [play("shin2018", scattered(k, 1, 20_000),
                         "nand.blocks=64", "ftl.gc_low=4%", "ftl.gc_high=7%",
                         *SSDSIM)["nand"]["by_cause"]["host"]["programs"]
                    for k in (1, 64)]
        self.assertLess(max(programs) / min(programs), 1.1)


# ---- 2023 ---------------------------------------------------------------------


def server() -> list[Request]:
    """Writes with hot units among units that are written once, and reads, with
    idle time between bursts."""
    rng = random.Random(2023)
    out: list[Request] = []
    for i in range(24_000):
        at = (i // 4) * 6_000_000
        if rng.random() < 0.2:
            out.append((at, False, 50_000 + rng.randrange(20_000), 1))
        elif rng.random() < 0.5:
            out.append((at, True, rng.randrange(260), 1))
        else:
            out.append((at, True, 1000 + rng.randrange(40_000), 1))
    return out


class Buffer(unittest.TestCase):
    """Sections 4.2 and 4.3 of the paper of 2023."""

    results: dict[tuple[str, ...], dict[str, Any]] = {}

    def of(self, policy: str, *sets: str) -> dict[str, Any]:
        """A policy in a buffer of 512 units."""
        key = (policy, *sets)
        if key not in self.results:
            self.results[key] = play(
                "shin2023", server(), "ftl.op_percent=1000%", *BUFFERED,
                f"buffer.policy={policy}", "buffer.size=4MiB", *sets)
        return self.results[key]

    def writes(self, policy: str) -> int:
        """Pages written, and to be written."""
        r = self.of(policy)
        return int(r["nand"]["programs"] + r["buffer"]["units_dirty"])

    def test_early_flush_is_faster(self) -> None:
        """Section 4.2.1: both are below CFLRU in mean and tail."""
        base = self.of("cflru")["latency_ns"]["all"]
        for policy in ("cflru-ef", "cflru-ef-sc"):
            own = self.of(policy)["latency_ns"]["all"]
            print(f"# {policy}: mean {own['mean'] / base['mean']:.2f}, tail"
                  f" {own['tail_1pct_mean'] / base['tail_1pct_mean']:.2f}")
            self.assertLess(own["mean"], 0.79 * base["mean"])
            self.assertLess(own["tail_1pct_mean"], base["tail_1pct_mean"])

    def test_second_chance_writes_less(self) -> None:
        """Section 4.2.2: EF writes more than CFLRU, EF-SC less than both."""
        base, early, second = (self.writes(p) for p in (
            "cflru", "cflru-ef", "cflru-ef-sc"))
        print(f"# NAND writes: EF {early / base:.3f}, EF-SC"
              f" {second / base:.3f}")
        self.assertGreaterEqual(early, base)
        self.assertLess(second, 0.99 * early)
        self.assertLess(second, base)

    def test_second_chance_hits_more(self) -> None:
        """Section 4.2.3."""
        self.assertGreater(self.of("cflru-ef-sc")["buffer"]["hits"],
                           self.of("cflru")["buffer"]["hits"])

    def test_flush_makes_them_equal(self) -> None:
        """Section 4.3: with a flush of everything in short intervals, early
        flush changes little."""
        mean = [mean_us(self.of(p, "buffer.flush_interval=500ms"))
                for p in ("cflru-ef-sc", "cflru")]
        self.assertLess(abs(mean[0] / mean[1] - 1), 0.1)

    def test_early_flush_with_prlru(self) -> None:
        """Section 2: it applies to PRLRU, too."""
        base, early = (mean_us(self.of(p)) for p in ("prlru", "prlru-ef"))
        print(f"# PRLRU-EF: mean {early / base:.2f}")
        self.assertLess(early, 0.79 * base)

    def test_second_chance_with_half_a_window(self) -> None:
        """Section 2: the pool of candidates is half of the buffer.  EF then
        has dirty victims, and EF-SC is faster than EF (section 4.2.1)."""
        half, second = (self.of(p, "buffer.window=50%")
                        for p in ("cflru-ef", "cflru-ef-sc"))
        whole = self.of("cflru-ef")
        print(f"# dirty victims of EF: {half['buffer']['dirty_evictions']},"
              f" {whole['buffer']['dirty_evictions']} with a whole window;"
              f" EF-SC / EF: {mean_us(second) / mean_us(half):.2f}")
        self.assertGreater(half["buffer"]["dirty_evictions"],
                           whole["buffer"]["dirty_evictions"])
        self.assertLess(mean_us(second), mean_us(half))

    def test_room_is_free_at_data_in(self) -> None:
        """SSDSim's rule makes a dirty victim cost less."""
        late = mean_us(self.of("cflru", "buffer.free_at=program"))
        self.assertLess(mean_us(self.of("cflru", "buffer.free_at=data-in")),
                        0.8 * late)


if __name__ == "__main__":
    unittest.main()
