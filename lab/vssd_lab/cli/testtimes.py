# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the tests of ./vssd test took: the slowest ones, and each group."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SLOWEST = 20


def _cpu_s() -> float:
    """CPU time of the programs that have been run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Times:
    """Seconds of each test, and of each group: elapsed, and of CPU time."""

    tests: list[tuple[float, str]] = field(default_factory=list)
    groups: dict[str, tuple[float, float]] = field(default_factory=dict)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """Take the time of a group, and show it at its end."""
        begin, used = time.monotonic(), _cpu_s()
        yield
        self.groups[name] = time.monotonic() - begin, _cpu_s() - used
        print(f"     | {name} took {_spent(*self.groups[name])}", flush=True)

    def lines(self) -> Iterator[str]:
        """The slowest tests, the groups, and their sum."""
        slowest = sorted(self.tests, reverse=True)[:SLOWEST]
        if slowest:
            yield "slowest tests:"
        yield from (f"{seconds:8.1f} s  {name}" for seconds, name in slowest)
        yield "groups:"
        yield from (f"{name:>10}  {_spent(*took)}"
                    for name, took in self.groups.items())
        both = list(zip(*self.groups.values(), strict=True))
        yield f"{'all':>10}  {_spent(*map(sum, both))}"


def _spent(seconds: float, cpu_s: float) -> str:
    return f"{seconds:.0f} s, with {cpu_s:.0f} s of CPU time"
