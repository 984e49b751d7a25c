# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics as Prometheus metrics: names, units, labels, and the collector.

A name is that of the row in docs/results.md with `vssd_` in front and the base
unit at the end (prometheus.io, "Metric and label naming"): nand.busy_ns.die[die]
is vssd_nand_busy_die_seconds_total{die="0"}.  A member that counts is a counter,
all others are gauges.  A text is a gauge of 1 whose label `value` has the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import UserError
from . import members
from .members import Member
from .source import Drive

# Unit of the table: unit of the metric, what to multiply by, and the word of a
# path that the unit replaces.
BASE = {"ns": ("seconds", 1e-9, "ns"), "bytes": ("bytes", 1, ""),
        "C": ("celsius", 1, ""), "W": ("watts", 1, "w"),
        "nJ": ("joules", 1e-9, "nj"), "ratio": ("ratio", 1, ""),
        "%": ("ratio", 0.01, "percent"), "1/s": ("per_second", 1, ""),
        "nJ/byte": ("joules_per_byte", 1e-9, "nj_per_host_byte")}
UP = "vssd_up"
UP_HELP = "1: the drive's statistics were read; 0: it did not answer"
READ = "vssd_read_seconds"
READ_HELP = "time that the last reading of the drive took"


@dataclass(frozen=True)
class Metric:
    """What a member of the table is for Prometheus."""

    name: str  # without _total
    counter: bool
    factor: float
    text: bool
    help: str

    @property
    def sample(self) -> str:
        """The name of its samples."""
        return self.name + "_total" if self.counter else self.name


@functools.cache
def metric(row: Member) -> Metric:
    """By the rules above."""
    unit, factor, word = BASE.get(row.unit,
                                  (row.unit.replace(" ", "_"), 1, ""))
    path = re.sub(r"<\w+>|\[\w+\]", "", row.path)
    words = [w for w in re.split(r"[._]+", path) if w]
    name = "_".join(["vssd", *words])
    # A count below latency_ns has another unit; "ns" goes all the same.
    name = re.sub(rf"_(?:{word or 'ns'}|ns)(?=_|$)", "", name)
    if unit and not re.search(rf"_{unit}(?:_|$)", name):
        name += f"_{unit}"
    text = "string" in row.types
    return Metric(name, row.counts, factor, text, row.help)


def names() -> set[str]:
    """The samples that a drive can have."""
    return {metric(row).sample for row in members.table().values()
            if not row.course} | {UP, READ}


def samples(stats: dict[str, Any]) -> Iterator[tuple[Metric, dict[str, str],
                                                     float]]:
    """All values of a drive with their labels; null has none."""
    for place, value in members.values(stats).items():
        row = members.member(place)
        if row is None or row.course or value is None:
            continue
        one = metric(row)
        labels = row.labels(place)
        if one.text:
            yield one, {**labels, "value": str(value)}, 1.0
        else:
            yield one, labels, float(value) * one.factor


class Collector:
    """Reads the drives whenever Prometheus asks."""

    def __init__(self, find: Callable[[], list[Drive]]) -> None:
        self.find = find

    def describe(self) -> list[Any]:
        """Nothing: registration reads no drive."""
        return []

    def collect(self) -> Iterable[Any]:
        """Every metric of every drive."""
        import time

        from prometheus_client.core import GaugeMetricFamily

        up = GaugeMetricFamily(UP, UP_HELP, labels=["run", "drive"])
        took = GaugeMetricFamily(READ, READ_HELP, labels=["run", "drive"])
        families: dict[str, Any] = {}
        for drive in self.find():
            where = [drive.run, drive.name]
            begin = time.monotonic()
            try:
                stats = drive.read()
            except UserError:
                up.add_metric(where, 0)
                continue
            up.add_metric(where, 1)
            took.add_metric(where, time.monotonic() - begin)
            _add(families, drive, stats)
        return [up, took, *families.values()]


def _add(families: dict[str, Any], drive: Drive, stats: dict[str, Any]) \
        -> None:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    for one, labels, value in samples(stats):
        if one.name not in families:
            kind = CounterMetricFamily if one.counter else GaugeMetricFamily
            families[one.name] = kind(one.name, one.help)
        every = {"run": drive.run, "drive": drive.name, **labels}
        families[one.name].add_sample(one.sample, every, value)


def text(collector: Collector) -> str:
    """The metrics in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(collector)
    return str(generate_latest(registry).decode())


def serve(collector: Collector, address: str, port: int) -> tuple[Any, int]:
    """A server for Prometheus in a thread of its own, and its port; shutdown()
    of the server ends it."""
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server, _ = start_http_server(port, address, registry)
    except OSError as e:
        raise UserError(f"--port {port}: {e.strerror or e}") from e
    return server, server.server_port
