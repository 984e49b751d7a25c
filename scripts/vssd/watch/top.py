# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of ./vssd top: a drive on a screen of 80 columns and 24 lines.

What is named "now" is of the time between two readings.  Percentiles are of all
commands since the last reset of the statistics, for the drive keeps no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import members
from .source import Stats

if TYPE_CHECKING:
    from rich.text import Text

WIDTH, HEIGHT = 80, 24
LABEL = 10  # columns
STREAMS = 3  # shown
EIGHTHS = " ▁▂▃▄▅▆▇█"
BAR, NO_BAR = "█", "░"
CELLS = 52  # of a row of dies or channels


def si(value: float | None, unit: str = "") -> str:
    """Four digits and a prefix: 15.11k, and with a unit 30.61 MB/s."""
    space = " " if unit else ""
    if value is None:
        return "-"
    for limit, prefix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scale = 1e3 if prefix == "k" else limit
            return f"{value / scale:.4g}{space}{prefix}{unit}"
    return f"{value:.4g}{space}{unit}"


def ns(value: float | None) -> str:
    """A time for people."""
    if value is None:
        return "-"
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.3g} ns"


def bar(share: float, width: int) -> str:
    """A share of 1 as a bar."""
    full = round(max(0.0, min(share, 1.0)) * width)
    return BAR * full + NO_BAR * (width - full)


def cells(shares: list[float], width: int = CELLS) -> str:
    """A column of characters for each share, wider where there are few; the
    mean of adjacent ones where there are more than the width."""
    per = -(-len(shares) // width) or 1
    wide = max(1, min(width // max(len(shares), 1), 6))
    groups = [shares[i:i + per] for i in range(0, len(shares), per)]
    means = [sum(g) / len(g) for g in groups]
    gap = " " if wide > 1 else ""
    return gap.join(EIGHTHS[round(max(0.0, min(m, 1.0)) * 8)]
                    * (wide - len(gap)) for m in means)


def between(before: Stats, now: Stats, mean: str, count: str) -> float | None:
    """The mean over what was added to `count` since the first reading, of a
    mean over all of it: both paths of values."""
    a, b = members.values(before), members.values(now)
    added: int = b[count] - a[count]
    if added <= 0 or a.get(mean) is None or b.get(mean) is None:
        return None
    total: float = b[mean] * b[count] - a[mean] * a[count]
    return max(total / added, 0.0)


class Frame:
    """Two readings of a drive, as lines."""

    def __init__(self, name: str, before: Stats, now: Stats) -> None:
        self.name = name
        self.before = before
        self.now = now
        self.rates = members.rates(before, now)
        self.values = members.values(now)

    def rate(self, *places: str) -> float | None:
        """The sum of the rates of counters; None when no time passed."""
        found = [self.rates[p] for p in places if p in self.rates]
        return sum(found) if found else None

    def busy(self, kind: str) -> list[float]:
        """The shares of time in which channels, dies or planes were busy."""
        n = len(self.now["nand"]["busy_ns"][kind])
        return [self.rates.get(f"nand.busy_ns.{kind}[{i}]", 0.0) / 1e9
                for i in range(n)]

    def mean(self, mean: str, count: str) -> float | None:
        """between() the two readings."""
        return between(self.before, self.now, mean, count)

    # -- the lines ------------------------------------------------------

    def head(self) -> list[str]:
        """What and when."""
        profile = str(self.now["profile"]).split("/")[-1].removesuffix(".ini")
        state = "  READ-ONLY" if self.now["media"]["read_only"] else ""
        return [f"{self.name}  {profile}"
                f"  {self.now['sim_ns'] / 1e9:.1f} s since the last reset"
                f"  bound by {self.now['explain']['bound_by']}{state}"]

    def io(self) -> list[str]:
        """IOPS and queues."""
        in_flight = self.mean("explain.commands_in_flight", "sim_ns")
        shown = "-" if in_flight is None else f"{in_flight:.1f}"
        return [f"{'now':{LABEL}}{si(self.rate('requests')):>7} IOPS"
                f"   read {si(self.rate('host_bytes_read'), 'B/s')}"
                f"   write {si(self.rate('host_bytes_written'), 'B/s')}"
                f"   failed {si(self.rate('commands_failed'))}/s",
                f"{'queues':{LABEL}}{shown:>7} in flight"
                f"   doorbells {si(self.rate('doorbell_writes'))}/s"
                f"   fetches {si(self.rate('fetches'))}/s"
                f"   interrupts {si(self.rate('interrupts'))}/s"]

    def latency(self) -> list[str]:
        """A line for each kind of command that there was."""
        out = [f"{'latency':{LABEL}}{'mean now':>10}{'p50':>10}{'p99':>10}"
               f"{'p99.9':>10}{'max':>10}"]
        for kind in ("read", "write", "flush", "trim"):
            one = self.now["latency_ns"][kind]
            path = f"latency_ns.{kind}"
            values = [self.mean(path + ".mean", path + ".count"),
                      *(one[q] if one["count"] else None
                        for q in ("p50", "p99", "p999", "max"))]
            out.append(f"  {kind:{LABEL - 2}}"
                       + "".join(f"{ns(v):>10}" for v in values))
        return out

    def amplification(self) -> list[str]:
        """WAF now, and by cause."""
        now = self.mean("waf", "host_bytes_written")
        parts = [f"{cause} {share:.2f}" for cause, share
                 in self.now["waf_by_cause"].items() if share]
        shown = "-" if now is None else f"{now:.2f}"
        return [f"{'WAF':{LABEL}}{shown:>7} now   {self.now['waf']:.2f}"
                f" since the reset: {', '.join(parts) or '-'}"]

    def buffer(self) -> list[str]:
        """How full it is."""
        b = self.now["buffer"]
        size = b["units"] or 1
        return [f"{'buffer':{LABEL}}{bar(b['units_used'] / size, 24)}"
                f" {b['units_used']:,} of {b['units']:,} units,"
                f" {b['units_dirty']:,} dirty ({b['policy']})"]

    def array(self) -> list[str]:
        """Channels and dies: a character for each."""
        out = []
        for kind, label in (("channel", "channels"), ("die", "dies")):
            shares = self.busy(kind)
            mean = sum(shares) / len(shares)
            out.append(f"{label:{LABEL}}{100 * mean:3.0f} %"
                       f" |{cells(shares)}| of {len(shares)}")
        work = [(c, v) for c, v in
                self.now["explain"]["work_by_cause"].items() if v]
        out.append(f"{'work':{LABEL}}" + ("   ".join(
            f"{c} {100 * v:.0f} %" for c, v in work) or "none yet"))
        return out

    def gc(self) -> list[str]:
        """Garbage collection now."""
        g = self.now["gc"]
        return [f"{'GC':{LABEL}}{si(self.rate('gc.victims')):>7} victims/s"
                f"   copies {si(self.rate('gc.copied_units'))} units/s"
                f"   free {g['free_blocks']:,} blocks",
                f"{'':{LABEL}}valid units of a victim"
                f" {100 * (g['victim_valid_mean'] or 0):.0f} %"
                f"   erases {si(self.rate('nand.erases'))}/s"
                f"   wear {self.now['nand']['mean_erase_count']:.1f} mean,"
                f" {self.now['nand']['max_erase_count']} max"]

    def streams(self) -> list[str]:
        """The streams with the most data."""
        def written(s: dict[str, Any]) -> int:
            return int(s["host_bytes_written"])

        every = self.now["streams"]
        order = sorted(range(len(every)), key=lambda i: -written(every[i]))
        out = []
        for n, i in enumerate(order[:STREAMS]):
            s = every[i]
            rate = self.rate(f"streams[{i}].host_bytes_written")
            out.append(f"{'streams' if n == 0 else '':{LABEL}}"
                       f"{s['id']:>3}: {si(rate, 'B/s'):>10}"
                       f"   WAF {s['waf'] or 0:.2f}"
                       f"   {s['units_dirty']:,} dirty"
                       f"   {s['open_blocks']} open blocks")
        if len(every) > STREAMS:
            out[-1] += f"   and {len(every) - STREAMS} more"
        return out

    def heat(self) -> list[str]:
        """Temperature and power."""
        v = self.values
        celsius, watts = v.get("thermal.celsius"), v.get("power.mean_w")
        parts = ["no model (thermal.resistance)" if celsius is None
                 else f"{celsius:.1f} C"]
        if watts is not None:
            parts.append(f"power {watts:.2f} W mean,"
                         f" state {v['power.state']}")
        return [f"{'heat':{LABEL}}" + "   ".join(parts)]

    def lateness(self) -> list[str]:
        """How late completions were delivered."""
        late = self.now["lateness_ns"]
        now = self.mean("lateness_ns.mean", "lateness_ns.count")
        return [f"{'lateness':{LABEL}}{ns(now):>7} mean now"
                f"   p50 {ns(late['p50'])}   p99 {ns(late['p99'])}"
                f"   max {ns(late['max'])}"]

    def lines(self) -> list[str]:
        """All of it; a line is cut at the width of the screen."""
        found = [*self.head(), "", *self.io(), *self.latency(),
                 *self.amplification(), *self.buffer(), *self.array(),
                 *self.gc(), *self.streams(), *self.heat(), *self.lateness()]
        return [line[:WIDTH] for line in found]

    def text(self) -> Text:
        """For rich: labels in bold, the head reversed."""
        from rich.text import Text

        out = Text(no_wrap=True)
        for i, line in enumerate(self.lines()):
            out.append("\n" if i else "")
            if i == 0:
                out.append(line.ljust(WIDTH), "reverse")
            else:
                out.append(line[:LABEL], "bold")
                out.append(line[LABEL:])
        return out
