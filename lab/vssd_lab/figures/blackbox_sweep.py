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


def parameters(full: float, device: Callable[[float], Device]) \
        -> Iterator[tuple[str, str, Values]]:
    """Name, the value of the judged runs, and device and ranges by value."""
    base, r = device(full), Ranges()
    kib = 1024
    shares = {f"{f:g}": f for f in (0.5, full, 0.9)}
    yield "share of the capacity that is used", f"{full:g}", {
        name: (base if f == full else device(f), r)
        for name, f in shares.items()}
    yield "largest queue depth", "64", {
        str(d): (base, replace(r, depths=_powers(1, d)))
        for d in (16, 64, 128)}
    yield "sizes", "512 B to 256 KiB", {
        name: (base, replace(r, sizes=_powers(low, high)))
        for name, low, high in (
            ("512 B to 64 KiB", 512, 64 * kib),
            ("512 B to 256 KiB", 512, 256 * kib),
            ("512 B to 1 MiB", 512, 1024 * kib),
            ("4 KiB to 256 KiB", 4 * kib, 256 * kib))}
    yield "shares of writes", "0 to 1", {
        name: (base, replace(r, ratios=r.ratios[least:11 - least]))
        for name, least in (("0 to 1", 0), ("0.1 to 0.9", 1),
                            ("0.3 to 0.7", 3))}
    yield "sizes in a run", "1", {
        "1": (base, r), "up to 4": (base, replace(r, mixed=4))}
    yield "largest stride", "128 KiB", {
        "4 KiB": (base, replace(r, strides=_powers(512, 4 * kib))),
        "128 KiB": (base, r)}
    yield "share of the scaled minute", "1", {
        f"{s:g}": (replace(base, seconds=base.seconds * s), r)
        for s in (0.25, 1.0)}
