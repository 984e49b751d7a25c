# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of options in a range, with one message for all: it names the bound
that was broken."""

from __future__ import annotations

import math

from .errors import UserError

MOST_JOBS = 1024
MOST_PORT = 65535
MOST_SEED = 2**63 - 1
LONGEST_S = 10**9  # of a time to wait


def _text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.12g}"


def check(option: str, value: float, low: float, high: float = math.inf,
          unit: str = "", above: bool = False) -> None:
    """UserError unless the value is in low..high; above: low is too low.  The
    option's name may end in "="."""
    if low <= value <= high and not (above and value == low):
        return
    if above:
        allowed = f"above {_text(low)}"
        allowed += "" if high == math.inf else f" to {_text(high)}"
    else:
        allowed = _text(low)
        allowed += " or more" if high == math.inf else f"..{_text(high)}"
    broken = f"above {_text(high)}" if value > high \
        else f"not above {_text(low)}" if above and value <= low \
        else f"below {_text(low)}" if value < low else "no number"
    gap = "" if option.endswith("=") else " "
    raise UserError(f"{option}{gap}{_text(value)}: allowed {allowed}{unit}, it"
                    f" is {broken}")


def check_seconds(option: str, value: float) -> None:
    """A time to wait."""
    check(option, value, 0, LONGEST_S, " seconds", above=True)


def check_jobs(value: int) -> None:
    """--jobs, of which 0 are as many as there are CPUs."""
    check("--jobs", value, 0, MOST_JOBS)
