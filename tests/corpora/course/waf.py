# SPDX-License-Identifier: GPL-2.0-or-later
"""A solution of exercise 1.

Source: P. Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012,
section 4.2 (greedy, uniform writes), with W of Lambert by Newton's method.
"""

import math

OPEN = 8  # blocks that hold no full set of data: for each plane, one of the
#           host and one of GC


def lambert(x: float) -> float:
    """The principal branch, for -1/e < x < 0."""
    w = -0.5
    for _ in range(100):
        e = math.exp(w)
        w -= (w * e - x) / (e * (w + 1))
    return w


def waf(spare: float, blocks: int, units: int) -> float:
    """The write amplification."""
    alpha = (1 + spare) * (1 - OPEN / blocks)
    k = 1 + 1 / (2 * units)
    valid = 0.5 - units / alpha * lambert(-k * alpha * math.exp(-k * alpha))
    return units / (units - (valid - 1))
