# SPDX-License-Identifier: GPL-2.0-or-later
"""SSDSim's semantics, in options of the drive: one set for both papers that ran
on it (I. Shin, J. KIIT 16(7), 2018; Micromachines 14:796, 2023).

Dynamic allocation is what both papers say themselves, so their profiles have
it.  The rest is SSDSim 2.1: a chip is locked as a whole; an idle chip takes
waiting writes for its dies as one command; few requests of the trace are
executed at a time; a write is over when its data has crossed the bus.  With a
buffer the last means that a victim's room is free then.

The queue of 5 is SSDSim's default.  The papers' copies are modified, and none
of these values is in the papers: so each is swept.
"""

from __future__ import annotations

from . import figure

Sets = tuple[str, ...]

# Parameter: value: options.  The first value is SSDSim's.
ALLOCATION: dict[str, Sets] = {
    "dynamic": ("ftl.alloc=dynamic",),
    "stripe": ("ftl.alloc=stripe",),
}
CHIP: dict[str, Sets] = {
    "composite": ("nand.lock=chip", "nand.composite=on"),
    "locked": ("nand.lock=chip",),
    "dies apart": ("nand.lock=die",),
}
QUEUE: dict[str, Sets] = {
    str(n): (f"host.queue_depth={n}",) for n in (5, 32, 1024)}
# Of a drive without a buffer, and of one with it.
COMPLETION: dict[str, Sets] = {
    "data-in": ("host.complete_at=data-in",),
    "program": ("host.complete_at=program",),
}
ROOM: dict[str, Sets] = {
    "data-in": ("buffer.free_at=data-in",),
    "program": ("buffer.free_at=program",),
}
# What both figures judge with.  Completion at program is not SSDSim's rule, and b
# of all generated arrivals is not the fitted one: with these two most of the
# claims of both papers hold.  They are chosen by outcome.
USED = {"allocation": "dynamic", "chip": "composite", "host queue": "5",
        "completion": "program"}
USED_BURSTS = "0.7"
CHOSEN = (f"{figure.CHOSEN}, since most claims of both papers hold with them:"
          f" completion at {USED['completion']}, b {USED_BURSTS} of the arrivals")


def used(completion: str) -> Sets:
    """The judged settings; completion: "host" without a buffer, "room" with
    one."""
    rule = COMPLETION if completion == "host" else ROOM
    return (*ALLOCATION[USED["allocation"]], *CHIP[USED["chip"]],
            *QUEUE[USED["host queue"]], *rule[USED["completion"]])
