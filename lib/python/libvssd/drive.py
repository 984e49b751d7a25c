# SPDX-License-Identifier: GPL-2.0-or-later
"""A modelled drive."""

from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import (
    COMPLETION,
    COMPLETION_COSTS,
    FUA,
    REQUEST,
    ZONE_STATES,
    code,
    requests,
)
from .native import MESSAGE_BYTES, VssdError, failure, ffi, lib, taken, text
from .policies import Policy, fault, policy_of

KEEP_VERSIONS = 1
NEVER = 2**64 - 1


@dataclass(frozen=True)
class Info:
    """Sizes of a drive; vssd.h describes each."""

    nblocks: int
    raw_bytes: int
    page_bytes: int
    erase_bytes: int
    reclaim_bytes: int
    memory_bytes: int
    block_bytes: int
    unit_bytes: int
    streams: int
    queue_depth: int
    zone_blocks: int


@dataclass(frozen=True)
class Zone:
    """A zone with all commands that were submitted; blocks."""

    start: int
    written: int
    state: str  # of ZONE_STATES


def abi() -> int:
    """Version of the library's interface."""
    return int(lib.vssd_abi())


def version() -> str:
    """Version of vssd."""
    return text(lib.vssd_version())


def options_table() -> str:
    """Every option, its range and default, as a Markdown table."""
    return taken(lib.vssd_options_table()) or ""


def _value(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) \
        else str(value)


def _options(options: dict[str, Any], keywords: dict[str, Any]) -> str:
    """"key=value;key=value".  The first _ of a keyword stands for the dot."""
    pairs = dict(options)
    pairs.update({k.replace("_", ".", 1): v for k, v in keywords.items()})
    for key, value in pairs.items():
        if ";" in f"{key}{value}":
            raise ValueError(f"{key}={value}: may not have a semicolon")
    return ";".join(f"{k}={_value(v)}" for k, v in pairs.items())


KEYS = {"gc": "ftl.gc", "alloc": "ftl.alloc", "buffer": "buffer.policy",
        "placement": "ftl.placement", "map": "ftl.map"}


class Setup:
    """VssdSetup, and what it points to."""

    def __init__(self, profile: str | os.PathLike[str] | None,
                 given: dict[str, Any], keywords: dict[str, Any],
                 seed: int | None, block_bytes: int, keep_versions: bool) -> None:
        self.policies: list[Policy] = []
        named = dict(given)
        for kind in KEYS.keys() & keywords.keys():
            found = policy_of(kind, keywords.pop(kind))
            if isinstance(found, Policy):
                self.policies.append(found)
            else:
                named[KEYS[kind]] = found
        self.kept = [ffi.new("char[]", _options(named, keywords).encode())]
        self.c = ffi.new("VssdSetup *")
        self.c.size = ffi.sizeof("VssdSetup")
        if profile is not None:
            self.kept.append(ffi.new("char[]", os.fspath(profile).encode()))
            self.c.profile = self.kept[-1]
        self.c.options = self.kept[0]
        if seed is not None:
            self.kept.append(ffi.new("uint64_t *", seed))
            self.c.seed = self.kept[-1]
        self.c.block_bytes = block_bytes
        self.c.flags = KEEP_VERSIONS if keep_versions else 0
        if self.policies:
            self.kept.append(ffi.new("VssdPolicy *[]",
                                     [p.c for p in self.policies]))
            self.c.policy = self.kept[-1]
            self.c.n_policies = len(self.policies)

    def error(self) -> BaseException | None:
        """The exception of a policy in Python, if one had any."""
        return next((p.error for p in self.policies if p.error), None)


class Drive:
    """A drive of a profile (a file, or the name of a shipped one), with options
    as keywords: ftl_op_percent="28%" is the option ftl.op_percent, and
    options={"ftl.op_percent": "28%"} the same.  gc, alloc, buffer, placement and map
    are policies: a listed one, a shared object's path, or Python (policies.py).

    Modelled time is in ns since the drive was made.  One thread uses a drive at
    a time.  An error of the model is a VssdError of one line.
    """

    def __init__(self, profile: str | os.PathLike[str] | None = None, *,
                 options: dict[str, Any] | None = None, seed: int | None = None,
                 block_bytes: int = 512, keep_versions: bool = False,
                 **keywords: Any) -> None:
        self._open(Setup(profile, options or {}, keywords, seed, block_bytes,
                         keep_versions), None)

    @classmethod
    def load(cls, state: bytes | str | os.PathLike[str],
             profile: str | os.PathLike[str] | None = None, *,
             options: dict[str, Any] | None = None, seed: int | None = None,
             block_bytes: int = 512, keep_versions: bool = False,
             **keywords: Any) -> Drive:
        """A drive that save() made, from its bytes or its file, with the same
        profile and options."""
        drive = cls.__new__(cls)
        drive._open(Setup(profile, options or {}, keywords, seed, block_bytes,
                          keep_versions), state)
        return drive

    def _open(self, setup: Setup,
              state: bytes | str | os.PathLike[str] | None) -> None:
        out = ffi.new("VssdDrive **")
        said = ffi.new("char[]", MESSAGE_BYTES)
        if state is None:
            r = lib.vssd_create(setup.c, out, said, MESSAGE_BYTES)
        elif isinstance(state, bytes):
            r = lib.vssd_load(setup.c, ffi.from_buffer(state), len(state), out,
                              said, MESSAGE_BYTES)
        else:
            r = lib.vssd_load_file(setup.c, os.fspath(state).encode(), out,
                                   said, MESSAGE_BYTES)
        if r < 0:
            raise failure(r, text(said))
        self._adopt(out[0], setup)

    def _adopt(self, handle: Any, setup: Setup) -> None:
        self._c = ffi.gc(handle, lib.vssd_destroy)
        self._setup = setup
        self._next_tag = 1 << 32
        self._in_flight = 0
        self._told = False  # of a policy's broken rule
        self._clock: Any = None  # of live(); outlives its view

    def _check(self, r: int) -> int:
        if not self._told:
            said = fault(self._c)
            if said is not None:
                self._told = True
                raise VssdError(errno.EPROTO, said) from self._setup.error()
        if r < 0:
            raise failure(r, text(lib.vssd_message(self._c)))
        return int(r)

    # ---- life -----------------------------------------------------------------

    def close(self) -> None:
        """Free the drive; no other call may follow."""
        ffi.release(self._c)

    def __enter__(self) -> Drive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def clone(self) -> Drive:
        """A copy as the drive is, commands in flight included."""
        out = ffi.new("VssdDrive **")
        self._check(lib.vssd_clone(self._c, out))
        copy = type(self).__new__(type(self))
        copy._adopt(out[0], self._setup)
        copy._next_tag, copy._in_flight = self._next_tag, self._in_flight
        return copy

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The drive at rest (rest() brings it there) as bytes, or in a file."""
        if path is not None:
            self._check(lib.vssd_save_file(self._c, os.fspath(path).encode()))
            return b""
        out, n = ffi.new("void **"), ffi.new("size_t *")
        self._check(lib.vssd_save(self._c, out, n))
        try:
            return bytes(ffi.buffer(out[0], n[0]))
        finally:
            lib.vssd_free(out[0])

    def rest(self, most_ns: int = 3600 * 10**9) -> None:
        """Let time pass until the array does nothing."""
        self._check(lib.vssd_rest(self._c, most_ns))

    # ---- commands ---------------------------------------------------------------

    @property
    def info(self) -> Info:
        """Sizes."""
        out = ffi.new("VssdInfo *")
        out.size = ffi.sizeof("VssdInfo")
        self._check(lib.vssd_get_info(self._c, out))
        return Info(*(getattr(out, f.name) for f in fields(Info)))

    @property
    def now_ns(self) -> int:
        """Modelled time."""
        return int(lib.vssd_now(self._c))

    @property
    def next_event_ns(self) -> int | None:
        """No completion comes before; None: none will come."""
        found = int(lib.vssd_next_event(self._c))
        return None if found == NEVER else found

    def submit(self, op: str | int, lba: int = 0, nblocks: int = 1, *,
               at_ns: int | None = None, stream: int = 0, fua: bool = False,
               tag: int | None = None) -> int:
        """Submit one command, now or at a later instant; its tag.  VssdError with
        errno.EAGAIN: the queue is full, or the zone is busy."""
        one = ffi.new("VssdRequest *", {
            "lba": lba, "nblocks": nblocks, "stream": stream, "op": code(op),
            "flags": FUA if fua else 0})
        if tag is None:
            tag, self._next_tag = self._next_tag, self._next_tag + 1
        at = self.now_ns if at_ns is None else at_ns
        r = lib.vssd_submit(self._c, at, one, tag)
        if r == -errno.EAGAIN:
            raise VssdError(-r, f"{self._in_flight} commands are in flight"
                            + (": the queue is full, or the zone is busy"
                               if self.info.zone_blocks else ""))
        self._check(r)
        self._in_flight += 1
        return tag

    def advance(self, until_ns: int | None = None, *,
                costs: bool = False) -> npt.NDArray[Any]:
        """Let time pass until that instant, or until all commands have completed:
        the completions meanwhile, oldest first."""
        kind = COMPLETION_COSTS if costs else COMPLETION
        parts = []
        while until_ns is not None or self._in_flight:
            at = self.next_event_ns if until_ns is None else until_ns
            if at is None:
                break
            part = np.empty(max(self._in_flight, 1), kind)
            n = self._check(lib.vssd_advance(
                self._c, max(at, self.now_ns) if until_ns is None else at,
                ffi.from_buffer(part), len(part), kind.itemsize))
            self._in_flight -= n
            parts.append(part[:n])
            if until_ns is not None:
                break
        return np.concatenate(parts) if parts else np.empty(0, kind)

    def play(self, what: npt.NDArray[Any] | None = None, *, depth: int = 0,
             costs: bool = False, **members: Any) -> npt.NDArray[Any]:
        """Play an array of requests (REQUEST), or requests(**members), and wait for
        the last completion: an array in the order of the requests.  At most depth
        commands are in flight; 0: as many as the drive takes.  A request starts at
        its time_ns or later."""
        asked = requests(**members) if what is None else \
            np.ascontiguousarray(what, REQUEST).ravel()
        kind = COMPLETION_COSTS if costs else COMPLETION
        done = np.empty(len(asked), kind)
        n = self._check(lib.vssd_play(
            self._c, ffi.from_buffer(asked) if len(asked) else ffi.NULL,
            REQUEST.itemsize, len(asked), depth,
            ffi.from_buffer(done) if len(asked) else ffi.NULL, kind.itemsize))
        if n < len(asked):
            raise VssdError(errno.EINVAL, text(lib.vssd_message(self._c)))
        return done

    def zone(self, lba: int) -> Zone:
        """The zone of a block, of a drive that has zones."""
        out = ffi.new("VssdZone *")
        self._check(lib.vssd_get_zone(self._c, lba, out))
        return Zone(int(out.start), int(out.written), ZONE_STATES[out.state])

    # ---- its state --------------------------------------------------------------

    def preload(self, lba: int = 0, nblocks: int | None = None) -> None:
        """A new drive's blocks hold old data; all of them, without arguments."""
        if nblocks is None:
            nblocks = self.info.nblocks - lba
        self._check(lib.vssd_preload(self._c, lba, nblocks))

    def age(self, units: Any) -> None:
        """Write mapping units in this order, without modelled time."""
        array = np.ascontiguousarray(units, "u8")
        self._check(lib.vssd_age(
            self._c, ffi.from_buffer("uint64_t[]", array) if len(array)
            else ffi.NULL, len(array)))

    def power_cut(self, at_ns: int | None = None) -> None:
        """The power goes; with keep_versions=True."""
        self._check(lib.vssd_power_cut(
            self._c, self.now_ns if at_ns is None else at_ns))

    def power_on(self, at_ns: int | None = None) -> None:
        """It comes back."""
        self._check(lib.vssd_power_on(
            self._c, self.now_ns if at_ns is None else at_ns))

    @property
    def ready(self) -> bool:
        """Is the power on, and the map found?"""
        return bool(lib.vssd_ready(self._c))

    def mapped(self, lba: int) -> bool:
        """Does the drive hold data of the block?"""
        return bool(self._check(lib.vssd_mapped(self._c, lba)))

    def version_of(self, lba: int) -> int | None:
        """Which write the unit of the block is of; None: it is not mapped."""
        out = ffi.new("uint64_t *")
        r = lib.vssd_version_of(self._c, lba, out)
        return None if r == -errno.ENOENT else self._check(r) or int(out[0])

    # ---- reports ------------------------------------------------------------------

    def live(self, path: str | os.PathLike[str] | None) -> None:
        """Pictures of the drive in a file, for those who read it
        (docs/live-format.md), while time passes; None ends the view, and so does
        close()."""
        if path is None:
            self._check(lib.vssd_live(self._c, ffi.NULL, ffi.NULL))
            self._clock = None
            return
        clock = ffi.callback("uint64_t(void)", time.monotonic_ns)
        self._check(lib.vssd_live(self._c, os.fspath(path).encode(), clock))
        self._clock = clock

    def set(self, key: str, value: Any) -> None:
        """From now on the option has this value; docs/watch.md lists those that may
        change while the drive runs."""
        self._check(lib.vssd_set(self._c, key.encode(), _value(value).encode()))

    def stats(self) -> dict[str, Any]:
        """Statistics as docs/results-drive.md describes them."""
        found: dict[str, Any] = json.loads(
            taken(lib.vssd_stats_json(self._c)) or "{}")
        return found

    def stats_frame(self) -> Any:
        """The same as a pandas DataFrame: member, value."""
        import pandas as pd

        rows = list(_flat(self.stats(), ""))
        return pd.DataFrame(rows, columns=["member", "value"])

    def reset_stats(self) -> None:
        """Counters and latencies begin again."""
        lib.vssd_reset_stats(self._c)

    def option(self, key: str) -> str:
        """The value of an option."""
        found = taken(lib.vssd_get_option(self._c, key.encode()))
        if found is None:
            raise KeyError(key)
        return found

    @property
    def policy_fault(self) -> str | None:
        """The line about a policy from outside that broke a rule; None: none has."""
        return fault(self._c)

    def check(self) -> None:
        """Check all invariants, slowly."""
        self._check(lib.vssd_check(self._c))


def _flat(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _flat(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _flat(one, f"{path}[{i}]")
    else:
        yield path, value


def profiles() -> list[str]:
    """Names of the shipped profiles of the wheel."""
    return sorted(p.stem for p in (Path(__file__).parent / "profiles").glob("*.ini"))
