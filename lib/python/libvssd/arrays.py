# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and completions as NumPy's structured arrays; members as in vssd.h."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .native import ffi, lib, text

OPS = {"read": 0, "write": 1, "trim": 2, "flush": 3, "shutdown": 4, "append": 5,
       "zone-reset": 6, "zone-finish": 7, "zone-open": 8, "zone-close": 9}
ZONE_STATES = ("empty", "implicitly-open", "explicitly-open", "closed", "full")
STATUS = ("ok", "unrecovered-read", "write-fault", "read-only", "aborted",
          "power-loss")
COSTS = tuple(text(lib.vssd_cost_name(i)) for i in range(11))
FUA = 1

REQUEST = np.dtype([("time_ns", "u8"), ("lba", "u8"), ("nblocks", "u4"),
                    ("stream", "u2"), ("op", "u1"), ("flags", "u1")])
COMPLETION = np.dtype([("tag", "u8"), ("submit_ns", "u8"), ("complete_ns", "u8"),
                       ("bad_lba", "u8"), ("status", "u4"), ("reserved", "u4")])
COMPLETION_COSTS = np.dtype(
    [*((name, COMPLETION[name]) for name in COMPLETION.names or ()),
     *((f"{name}_ns", "u8") for name in COSTS)])

assert ffi.sizeof("VssdRequest") == REQUEST.itemsize
assert ffi.sizeof("VssdCompletion") == COMPLETION_COSTS.itemsize


def _codes(op: Any) -> npt.NDArray[np.uint8]:
    """Operations by name or number, one or many."""
    if isinstance(op, str):
        return np.asarray(code(op), "u1")
    found = np.asarray(op)
    if found.dtype.kind in "USO":
        return np.array([code(str(o)) for o in found.ravel()], "u1")
    return _whole("op", found, "u1")


def code(op: str | int) -> int:
    """The number of an operation."""
    if isinstance(op, str):
        if op not in OPS:
            raise ValueError(f"op={op}: allowed {', '.join(OPS)}")
        return OPS[op]
    return int(op)


def _whole(name: str, values: Any, kind: str) -> npt.NDArray[Any]:
    """Whole numbers that the member can hold."""
    found = np.asarray(values)
    most = np.iinfo(kind).max
    if found.size and found.dtype.kind not in "iub":
        raise ValueError(f"{name}: allowed whole numbers 0..{most}")
    if found.size and (int(found.min()) < 0 or int(found.max()) > most):
        raise ValueError(f"{name}: allowed 0..{most}")
    return found.astype(kind, copy=False)


def requests(*, op: Any, lba: Any = 0, nblocks: Any = 1, time_ns: Any = 0,
             stream: Any = 0, fua: Any = False) -> npt.NDArray[Any]:
    """An array of requests from arrays of their members, or single values that
    all of them have.  op: names or numbers of OPS."""
    parts = {"time_ns": _whole("time_ns", time_ns, "u8"),
             "lba": _whole("lba", lba, "u8"),
             "nblocks": _whole("nblocks", nblocks, "u4"),
             "stream": _whole("stream", stream, "u2"),
             "op": _codes(op),
             "flags": np.asarray(fua, bool).astype("u1") * np.uint8(FUA)}
    shape = np.broadcast_shapes(*(p.shape for p in parts.values())) or (1,)
    made = np.empty(shape, REQUEST)
    for name, values in parts.items():
        made[name] = values
    return made.ravel()
