# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive of a result as a network of queues, and what another value of one
option would make of it.

A stage has m servers, of whose time a request takes the demand D = U m / X
(utilization law: P. J. Denning and J. P. Buzen, "The Operational Analysis of
Queueing Network Models", ACM Computing Surveys 10(3), 1978).

- A closed load of N requests: mean value analysis (M. Reiser and S. S.
  Lavenberg, JACM 27(2), 1980) in the form of P. J. Schweitzer (1979): a request
  waits at a stage k D/m Q (N - 1)/N, with Q requests there.  The factor k is
  that of the measured wait.
- Writes that complete in the buffer are bound by the stage that is busiest, or
  by their time without any wait for room.
- An open load: a wait grows as D/m rho / (1 - rho) (Pollaczek and Khinchine).
- GC: the valid share v of victims of uniform writes, (v - 1) / ln v = u of the
  units in use (J. Menon, HPDC 1995), with the u of the measured v.

Times are in ns of one request, rates in requests per ns.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import UserError
from ..sim.calibrate import number_of
from .defaults import default_of, range_of

BUSY = 0.75       # of the time: a stage bounds the run, as in ftl/inspect/explain.c
OPEN_MAX = 0.95   # busier, an open load's wait is not known well enough
EMPTY = 1e-12     # of a share
PAGES = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}  # of a word line
TYPED = ("nand.read", "nand.program")  # set for every type of page
STAGES = {"link_in": "the link toward the drive",
          "link_out": "the link toward the host", "cores": "firmware cores",
          "dram": "the DRAM", "channels": "the channels", "dies": "the dies",
          "ecc": "ECC decoders"}
SINGLE = ("link_in", "link_out", "dram")
DEPTH = "iodepth"  # of the workload, beside the drive's options


@dataclass
class Stage:
    """One kind of servers."""

    servers: float
    demand: float   # of all servers
    wait: float     # measured
    service: float  # in the latency; less than the demand where parts of a
                    # request are served side by side
    factor: float = 0.0


@dataclass(frozen=True)
class Change:
    """Another value of one option."""

    option: str
    before: str
    after: str
    ratio: float    # of the rate; of an open load, of the mean latency
    because: str    # the number that it rests on


class Unknown(Exception):
    """Why there is no prediction, in a few words."""


def over(a: float, b: float) -> float:
    """a / b; no bound where b is no time."""
    return a / b if b > 0 else math.inf


def others_of(depth: float) -> float:
    """The share of the requests in flight that an arriving one may meet."""
    return max(depth - 1, 0.0) / depth if depth > 0 else 0.0


def plain(text: str) -> float:
    """A value: ns, percent or a plain number."""
    value, kind = number_of(text)
    return value / 1e3 if kind == "time" else value


def refusal(option: str, text: str) -> str:
    """Why the option has no such value, in a few words; "" if it has."""
    allowed = range_of(option) or ""
    low, dots, high = allowed.partition("..")
    if option == DEPTH or not dots:
        return ""
    try:
        value, kind = number_of(text)
    except UserError:
        return f"allowed {allowed}"
    least, most = number_of(low), number_of(high)
    fits = kind == most[1] and least[0] <= value <= most[0] and value > 0
    whole = kind != "number" or value == int(value)
    return "" if fits and whole else f"allowed {allowed}, and above 0 here"


class Drive:
    """What a result says of its drive and load."""

    def __init__(self, data: dict[str, Any]) -> None:
        """UserError: the result is of no such run."""
        if "explain" not in data:
            raise UserError("of several drives, or of no drive: give the result"
                            " of a run of one")
        if not data.get("requests") or not data.get("iops"):
            raise UserError("the run has no commands, or they took no time")
        self.data = data
        self.options: dict[str, Any] = data.get("options", {})
        self.requests: int = data["requests"]
        self.workload: str = data.get("workload") or ""
        self.rate: float = data["iops"] / 1e9
        self.depth: float = data["explain"]["commands_in_flight"]
        # A trace has times of its own, and so has a guest.
        self.open = not self.workload or bool(
            re.search(r"\b(rate_iops|interval)=", self.workload))
        self.reads: float = data["latency_ns"]["read"]["count"] / self.requests
        self.parts: dict[str, float] = data["explain"]["latency_ns"]
        self.room: float = data["explain"]["stages"]["buffer"]["queueing_ns"]
        self.stages = self._stages()
        self.latency: float = sum(self.parts.values())
        self.fixed: float = self.latency - self.room \
            - sum(s.wait for s in self.stages.values())

    def _stages(self) -> dict[str, Stage]:
        service = {"dies": self.parts["cell"], "channels": self.parts["bus"],
                   "cores": self.parts["firmware"]}
        out = {}
        for name, of in self.data["explain"]["stages"].items():
            demand = of["utilization"] * of["servers"] / self.rate
            if name != "buffer" and demand > 0:
                out[name] = Stage(of["servers"], demand, of["queueing_ns"],
                                  service.get(name, demand))
        if self.in_nand and "dies" in out:  # a write waits for its program
            dies = out["dies"]
            dies.service = min(self.cell_ns("host"), self.parts["flush"])
            dies.wait = self.parts["flush"] - dies.service
        if self.reads == 1 and self.value("nand.independent_reads") == "on" \
                and "dies" in out:  # each plane reads by itself
            planes = self.data["nand"]["busy_ns"]["plane"]
            out["dies"].servers = len(planes)
            out["dies"].demand = sum(planes) / self.elapsed / self.rate
        return out

    @property
    def in_nand(self) -> bool:
        """Writes, which complete when they are programmed."""
        return self.reads == 0 and self.value("host.complete_at") == "program"

    @property
    def elapsed(self) -> float:
        """Time of the run, without its warm-up."""
        return float(self.data["nand"]["elapsed_ns"])

    def value(self, option: str) -> str:
        """Of an option, as text."""
        if option == DEPTH:
            m = re.search(r"\biodepth=(\d+)", self.workload)
            return m[1] if m else "1"
        return str(self.options.get(option) or default_of(option))

    def number(self, option: str) -> float:
        """Of an option: ns, percent or a plain number."""
        return plain(self.value(option))

    def page_ns(self, option: str) -> float:
        """Of nand.read or nand.program, the mean of the types of pages."""
        kinds = ["", *(f"_{i}" for i in range(2, PAGES[self.value("nand.cell")] + 1))]
        given = [self.options.get(option + kind) for kind in kinds]
        return sum(plain(str(g or self.value(option))) for g in given) / len(given)

    def cell_ns(self, cause: str | None = None) -> float:
        """Of the array, for a request; all causes, or one."""
        times = self.data["nand"]["time_ns"]
        chosen = times.values() if cause is None else (times[cause],)
        return sum(float(t["cell"]) for t in chosen) / self.requests

    def counts(self, kind: str, cause: str | None = None) -> float:
        """Reads, programs or erases for a request."""
        by = self.data["nand"]["by_cause"]
        chosen = by.values() if cause is None else (by[cause],)
        return sum(float(c[kind]) for c in chosen) / self.requests

    def kind_ns(self, kind: str, cause: str | None = None) -> float:
        """Array time of reads, programs or erases for a request.  Programs
        have what the others leave, since one may be of several pages."""
        if kind == "programs":
            return max(0.0, self.cell_ns(cause) - self.kind_ns("reads", cause)
                       - self.kind_ns("erases", cause))
        each = self.page_ns("nand.read") if kind == "reads" \
            else self.number("nand.erase")
        return min(self.counts(kind, cause) * each, self.cell_ns(cause))

    # ---- solutions ---------------------------------------------------------

    def bound(self, stages: dict[str, Stage]) -> float:
        """The rate at which the busiest stage is always busy."""
        return min((s.servers / s.demand for s in stages.values()
                    if s.demand > 0), default=math.inf)

    def _calibrate(self, stages: dict[str, Stage]) -> None:
        for s in stages.values():
            others = self.rate * (s.service + s.wait) \
                * others_of(self.depth)
            seen = s.demand / s.servers * others
            s.factor = s.wait / seen if self.depth > 1.01 and seen > 0 else 0.5

    @staticmethod
    def _latency(stages: dict[str, Stage], fixed: float, depth: float,
                 rate: float) -> float:
        """Of a closed load at a rate."""
        total = fixed
        for s in stages.values():
            # wait = a (service + wait) rate
            a = s.factor * s.demand / s.servers * others_of(depth) * rate
            if a >= 1:
                return math.inf
            total += a * s.service / (1 - a)
        return total

    def _closed(self, stages: dict[str, Stage], fixed: float,
                depth: float) -> float:
        """The rate of a load that keeps so many requests in flight."""
        low, high = 0.0, min(self.bound(stages), over(depth, fixed))
        for _ in range(60):
            rate = (low + high) / 2
            if self._latency(stages, fixed, depth, rate) * rate < depth:
                low = rate
            else:
                high = rate
        return low

    def _open(self, stages: dict[str, Stage], fixed: float) -> float:
        """The mean latency at the load's own rate."""
        total = fixed + self.room
        for name, s in stages.items():
            was = self.stages[name]
            busy, now = (self.rate * x.demand / x.servers for x in (was, s))
            if max(busy, now) > OPEN_MAX:
                raise Unknown(f"an open load keeps {STAGES[name]} busy for"
                              f" {percent(max(busy, now))} of the time")
            total += was.wait * (s.demand / was.demand) * (now / busy) \
                * (1 - busy) / (1 - now)
        return total

    def _buffered(self, stages: dict[str, Stage], saved: float,
                  depth: float) -> float:
        """The rate of writes that complete in the buffer."""
        busy = self.rate / self.bound(self.stages)
        waits = sum(s.wait for s in self.stages.values())
        return min(over(depth, self.fixed - saved + waits),
                   self.bound(stages) * (busy if busy > BUSY else 1))

    def ratio(self, stages: dict[str, Stage], saved: float,
              depth: float) -> float:
        """Of the rate with these stages to that of the result; of an open load,
        of the mean latency.  `saved` is time that a request has less without
        any wait."""
        found = self._ratio(stages, saved, depth)
        if not 0 < found < math.inf:
            raise Unknown("nothing that was measured bounds such a run")
        return found

    def _ratio(self, stages: dict[str, Stage], saved: float,
               depth: float) -> float:
        if self.open:
            return self._open(stages, self.fixed - saved) / self.latency
        if self.reads == 0 and not self.in_nand:
            return self._buffered(stages, saved, depth) / self.rate
        before = copy.deepcopy(self.stages)
        self._calibrate(before)
        for name, s in stages.items():
            s.factor = before[name].factor
        return self._closed(stages, self.fixed + self.room - saved, depth) \
            / self._closed(before, self.fixed + self.room, self.depth)

    def change(self, option: str, after: str) -> Change:
        """What another value of its range makes, above 0.  Unknown: it cannot
        be said."""
        if option in INERT_WITH:
            other, needed = INERT_WITH[option]
            if (self.number(other) == 0) != needed:
                raise Unknown(f"it does not act with {other}={self.value(other)}")
        before = self.page_ns(option) if option in TYPED else self.number(option)
        if before == 0:
            raise Unknown("it is 0 now, so no other value is a multiple of it")
        scale = plain(after) / before
        stages = copy.deepcopy(self.stages)
        effect = MODELS[option](self, stages, scale)
        return Change(option, self.value(option), after, self.ratio(
            stages, effect.saved, self.depth * effect.depth), effect.because)


@dataclass
class Effect:
    """Of a value on the stages, which have it already."""

    because: str
    saved: float = 0.0  # of a request without any wait
    depth: float = 1.0  # times as many requests in flight


Model = Callable[[Drive, dict[str, Stage], float], Effect]


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.0f} %"


def _busy(drive: Drive, name: str) -> str:
    s = drive.stages[name]
    return f"{STAGES[name]} {'is' if name in SINGLE else 'are'} busy for" \
           f" {percent(drive.rate * s.demand / s.servers)} of the time"


def _need(stages: dict[str, Stage], name: str, option: str) -> Stage:
    if name not in stages:
        raise Unknown(f"{option} takes no time here")
    return stages[name]


def _dies(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    """More dies on each channel."""
    _need(stages, "dies", "nand.dies").servers *= scale
    if 0 < drive.reads < 1 and drive.cell_ns("gc") > 0.1 * drive.cell_ns():
        raise Unknown("GC holds single dies, and reads queue up there: how that"
                      " changes with their number is not modelled")
    return Effect(_busy(drive, "dies"))


def _channels(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    """With their dies."""
    _need(stages, "channels", "nand.channels").servers *= scale
    return _dies(drive, stages, scale)


def _array(kind: str) -> Model:
    def model(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
        dies = _need(stages, "dies", f"time of {kind}")
        whole = dies.demand
        part = min(drive.kind_ns(kind), whole)
        dies.demand -= part * (1 - scale)
        saved = 0.0
        if kind == ("programs" if drive.in_nand else "reads"):
            saved = dies.service * (1 - scale)
            dies.service -= saved
        return Effect(f"{kind} are {percent(part / whole)} of"
                      f" the {whole / 1e3:.1f} us of dies that a request"
                      " takes", saved)
    return model


def _bus(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    channels = _need(stages, "channels", "nand.bus_mt_s")
    bus = sum(float(t["bus"]) for t in drive.data["nand"]["time_ns"].values()) \
        / drive.requests
    less = 1 - 1 / scale
    channels.demand -= channels.demand * less
    saved = channels.service * less
    channels.service -= saved
    if "dies" in stages:  # a transfer holds its die, whose planes work together
        dies = stages["dies"]
        dies.demand = max(dies.demand - bus * less,
                          min(dies.demand, drive.cell_ns()))
    return Effect(_busy(drive, "channels"), saved)


def _link(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    saved = 0.0
    for name in ("link_in", "link_out"):
        if name in stages:
            less = stages[name].demand * (1 - 1 / scale)
            stages[name].demand -= less
            stages[name].service -= less
            saved += less
    if not saved:
        raise Unknown("the link takes no time here")
    return Effect(", ".join(_busy(drive, n) for n in ("link_in", "link_out")
                            if n in stages), saved)


def _firmware(of_writes: bool) -> Model:
    """Of a write the second time comes on top of the first."""
    def model(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
        own = drive.number("host.firmware_write" if of_writes
                           else "host.firmware") \
            * (1 - drive.reads if of_writes else 1)
        saved = own * (1 - scale)
        if "cores" in stages:
            cores = stages["cores"]
            cores.demand -= min(saved, cores.demand * (1 - EMPTY))
            cores.service -= min(saved, cores.service)
        part = min(1.0, own / drive.latency)
        return Effect(f"it is {percent(part)} of the mean latency", saved)
    return model


def _cores(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    _need(stages, "cores", "host.cores").servers *= scale
    return Effect(_busy(drive, "cores"))


def valid_share(used: float) -> float:
    """v of (v - 1) / ln v = used; both are shares."""
    low, high = EMPTY, 1 - EMPTY
    for _ in range(100):
        v = (low + high) / 2
        if (v - 1) / math.log(v) < used:
            low = v
        else:
            high = v
    return low


def _spare(drive: Drive, stages: dict[str, Stage], scale: float) -> Effect:
    """The user capacity changes, the blocks stay."""
    v = drive.data["gc"]["victim_valid_mean"] or 0.0
    if not EMPTY < v < 1 or "dies" not in stages:
        raise Unknown("GC copied nothing")
    spare = drive.number("ftl.op_percent")
    used = (v - 1) / math.log(v) * (100 + spare) / (100 + spare * scale)
    if used >= 1:
        raise Unknown("no such drive has free blocks")
    new = valid_share(used)
    copies = new / (1 - new) / (v / (1 - v))
    erases = (1 - v) / (1 - new)
    moved = drive.kind_ns("reads", "gc") + drive.kind_ns("programs", "gc")
    erased = drive.kind_ns("erases", "gc")
    stages["dies"].demand -= moved * (1 - copies) + erased * (1 - erases)
    return Effect(f"victims of GC are {percent(v)} valid, and would be"
                  f" {percent(new)}")


def _depth(drive: Drive, _: dict[str, Stage], scale: float) -> Effect:
    if drive.open or DEPTH not in drive.workload:
        raise Unknown("the load keeps no number of requests in flight")
    return Effect(f"{drive.depth:.1f} requests are in flight", depth=scale)


# Options that act only while another one is 0 (True), or only while it is not.
INERT_WITH = {"host.link_mb_s": ("host.pcie_gen", True),
              "host.pcie_lanes": ("host.pcie_gen", False),
              "ftl.op_percent": ("ftl.capacity", True)}
# Each gets the ratio of the new value to the old one.
MODELS: dict[str, Model] = {
    "nand.channels": _channels, "nand.chips": _dies, "nand.dies": _dies,
    "nand.read": _array("reads"), "nand.program": _array("programs"),
    "nand.erase": _array("erases"), "nand.bus_mt_s": _bus,
    "host.link_mb_s": _link, "host.pcie_lanes": _link,
    "host.firmware": _firmware(False), "host.firmware_write": _firmware(True),
    "host.cores": _cores, "ftl.op_percent": _spare, DEPTH: _depth,
}
