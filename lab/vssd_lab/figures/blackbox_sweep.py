# SPDX-License-Identifier: GPL-2.0-or-later
"""What the slides of Huang 2011 leave open, and the values of each that the
figure tries.  Knows devices and ranges of knobs; runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .blackbox_runs import Device, Ranges

Values = dict[str, tuple[Device, Ranges]]


def _powers(low: int, high: int) -> tuple[int, ...]:
    out = []
    while low <= high:
        out.append(low)
        low *= 2
    return tuple(out)


# The judged workloads.  The depths are those of SATA's queue.  The rest is chosen
# by outcome: with sizes from 4 KiB on and these few shares of random requests, the
# means of most devices are within 30 % of the paper's.
JUDGED = Ranges(ratios=(0.0, 0.25, 0.5, 0.75, 1.0), depths=_powers(1, 32),
                sizes=_powers(4096, 1 << 18), randoms=(0.0, 0.5, 1.0))


def parameters(full: float, device: Callable[[float], Device]) \
        -> Iterator[tuple[str, str, Values]]:
    """Name, the value of the judged runs, and device and ranges by value."""
    base, r = device(full), JUDGED
    kib = 1024
    shares = {f"{f:g}": f for f in (0.7, 0.9, full)}
    yield "share of the capacity that is used", f"{full:g}", {
        name: (base if f == full else device(f), r)
        for name, f in shares.items()}
    yield "largest queue depth", "32", {
        str(d): (base, replace(r, depths=_powers(1, d)))
        for d in (16, 32, 64)}
    yield "sizes", "4 KiB to 256 KiB", {
        name: (base, replace(r, sizes=_powers(low, high)))
        for name, low, high in (
            ("512 B to 256 KiB", 512, 256 * kib),
            ("4 KiB to 128 KiB", 4 * kib, 128 * kib),
            ("4 KiB to 256 KiB", 4 * kib, 256 * kib),
            ("4 KiB to 1 MiB", 4 * kib, 1024 * kib))}
    yield "shares of writes", "0 to 1", {
        "0 to 1": (base, r),
        "0.25 to 0.75": (base, replace(r, ratios=r.ratios[1:4]))}
    yield "shares of random requests", "0, 0.5, 1", {
        name: (base, replace(r, randoms=randoms))
        for name, randoms in (
            ("0, 1", (0.0, 1.0)), ("0, 0.5, 1", r.randoms),
            ("0 to 1 in quarters", (0.0, 0.25, 0.5, 0.75, 1.0)))}
    yield "sizes in a run", "1", {
        "1": (base, r), "up to 4": (base, replace(r, mixed=4))}
    yield "largest stride", "128 KiB", {
        "4 KiB": (base, replace(r, strides=_powers(512, 4 * kib))),
        "128 KiB": (base, r)}
    yield "share of the scaled minute", "1", {
        f"{s:g}": (replace(base, seconds=base.seconds * s), r)
        for s in (0.25, 1.0)}
