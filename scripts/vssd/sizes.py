# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes in options, with the units of the model's (core/options.h).

Knows no workloads: theirs have fio's units.
"""

from __future__ import annotations

import re
from fractions import Fraction

from .errors import UserError

UNITS = {"": 1, "B": 1,
         "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
         "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BY_NAME = {name.lower(): scale for name, scale in UNITS.items()}


def scale(unit: str) -> int | None:
    """Bytes of a unit, in any case of letters; None: there is no such unit."""
    return _BY_NAME.get(unit.lower())


def text(nbytes: int) -> str:
    """As short as a user would type it: 64M."""
    for unit in "TGMK":
        if nbytes and nbytes % UNITS[unit] == 0:
            return f"{nbytes // UNITS[unit]}{unit}"
    return str(nbytes)


def read(option: str, value: str, low: int, high: int, bare: str = "") -> int:
    """The bytes of an option's value, in a range; a number alone has the unit
    `bare`."""
    allowed = f"{option}{value}: allowed {text(low)}..{text(high)}"
    m = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", value)
    if not m:
        raise UserError(f"{allowed}, as 512M or 4G")
    factor = scale(m[2] or bare)
    if factor is None:
        names = ", ".join(name for name in UNITS if name)
        raise UserError(f"{allowed}, no unit is '{m[2]}': {names}")
    nbytes = Fraction(m[1]) * factor
    if nbytes < low:
        raise UserError(f"{allowed}, it is below {text(low)}")
    if nbytes > high:
        raise UserError(f"{allowed}, it is above {text(high)}")
    if nbytes.denominator != 1:
        raise UserError(f"{allowed}, in whole bytes")
    return int(nbytes)
