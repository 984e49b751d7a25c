# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of a fleet, drawn from its file (docs/fleets.md).

Knows the file's vocabulary and how the drives are drawn; runs nothing.  Drive i
of a seed is always the same, however many drives the fleet has.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import paths, tomlfile
from ..errors import UserError
from .run import Point

DOC = "docs/fleets.md"
TOP = ("drives", "seed", "options", "drive", "age", "load", "columns")
SHARED = ("share", "name", "options")
KINDS = {"drive": (*SHARED, "profile"),
         "age": (*SHARED, "fill"),
         "load": (*SHARED, "workload", "trace", "args")}
FILLS = ("none", "preload", "seq", "random", "precondition")
MAX_DRIVES = 100_000
Range = tuple[float, float]


@dataclass(frozen=True)
class Kind:
    """One of the alternatives of a part: a drive, an age, a load."""

    name: str
    share: float
    options: dict[str, str | Range]  # of vssd-sim; a range is drawn from
    args: tuple[str, ...] = ()
    profile: Path = field(default_factory=Path)
    workload: str = ""
    trace: Path | None = None


@dataclass(frozen=True)
class Member:
    """A drive of the fleet: the columns that describe it, and its run."""

    about: dict[str, Any]
    point: Point


@dataclass(frozen=True)
class Fleet:
    """A file, read."""

    members: list[Member]
    columns: list[str]  # of the results; empty: every number


def _bad(name: str, text: str) -> UserError:
    return UserError(f"{name}: {text} ({DOC})")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(name: str, key: str, value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or \
            not least <= value <= most:
        raise _bad(name, f"{key}={value}: allowed {least}..{most}")
    return value


def _options(name: str, where: str, table: Any) -> dict[str, str | Range]:
    """Values as vssd-sim takes them; [A, B] is a range of numbers."""
    if not isinstance(table, dict):
        raise _bad(name, f"{where}: allowed a table of option = value")
    out: dict[str, str | Range] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            for inner, one in _options(name, f"{where}.{key}", value).items():
                out[f"{key}.{inner}"] = one
        elif isinstance(value, bool):
            out[key] = "on" if value else "off"
        elif isinstance(value, str) or _is_number(value):
            out[key] = str(value)
        elif isinstance(value, list) and len(value) == 2 and \
                all(map(_is_number, value)) and value[0] <= value[1]:
            out[key] = (value[0], value[1])
        else:
            raise _bad(name, f"{where}.{key}: allowed a text, a number, true,"
                       " false, or a range [LEAST, MOST] of numbers")
    return out


def _known(name: str, where: str, table: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(table, dict):
        raise _bad(name, f"{where}: allowed a table")
    for key in table:
        if key not in allowed:
            raise _bad(name, f"{where + '.' if where else ''}{key}: allowed "
                       + ", ".join(allowed))


def _share(name: str, where: str, value: Any) -> float:
    if not _is_number(value) or not 0 < value <= 1e9:
        raise _bad(name, f"{where}.share={value}: allowed above 0, up to"
                   " 1000000000")
    return float(value)


def _text(name: str, where: str, table: dict[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise _bad(name, f"{where}.{key}: allowed a text")
    return value


def _file(folder: Path, text: str) -> Path:
    return (folder / text).resolve()


def _load(name: str, where: str, table: dict[str, Any], folder: Path) \
        -> tuple[str, Path | None, tuple[str, ...]]:
    workload = _text(name, where, table, "workload")
    trace = _text(name, where, table, "trace")
    args = table.get("args", [])
    if bool(workload) == bool(trace):
        raise _bad(name, f"{where}: give one of workload, trace")
    if not isinstance(args, list) or not all(isinstance(a, str) for a in args):
        raise _bad(name, f"{where}.args: allowed a list of texts")
    if not trace:
        return workload, None, tuple(args)
    path = _file(folder, trace)
    if not path.is_file():
        raise _bad(name, f"{where}.trace: no file {path}")
    return "", path, tuple(args)


def _kind(part: str, name: str, where: str, table: Any, folder: Path) -> Kind:
    _known(name, where, table, KINDS[part])
    label = _text(name, where, table, "name")
    share = _share(name, where, table.get("share", 1))
    options = _options(name, f"{where}.options", table.get("options", {}))
    if part == "drive":
        text = _text(name, where, table, "profile")
        if not text:
            raise _bad(name, f"{where}.profile is missing")
        here = folder / text
        profile = here.resolve() if here.is_file() else paths.find_profile(text)
        return Kind(label or text, share, options, profile=profile)
    if part == "age":
        fill = table.get("fill", "preload")
        if fill not in FILLS:
            raise _bad(name, f"{where}.fill={fill}: allowed "
                       + ", ".join(FILLS))
        args: tuple[str, ...] = ("--precondition",) \
            if fill == "precondition" else ("--fill", str(fill))
        return Kind(label or str(fill), share, options, args)
    workload, trace, args = _load(name, where, table, folder)
    return Kind(label or (trace.name if trace else workload), share, options,
                args, workload=workload, trace=trace)


def _kinds(part: str, name: str, data: dict[str, Any], folder: Path) \
        -> list[Kind]:
    tables = data.get(part, [{}] if part == "age" else [])
    if not isinstance(tables, list) or not tables:
        raise _bad(name, f"{part}: give one or more tables [[{part}]]")
    return [_kind(part, name, f"{part}[{i}]", t, folder)
            for i, t in enumerate(tables)]


def _drawn(rng: random.Random, value: str | Range) -> str:
    if isinstance(value, str):
        return value
    least, most = value
    if isinstance(least, int) and isinstance(most, int):
        return str(rng.randint(least, most))
    return f"{rng.uniform(least, most):.6g}"


def _member(i: int, seed: int, parts: dict[str, list[Kind]],
            options: dict[str, str | Range]) -> Member:
    rng = random.Random(f"{seed}/{i}")
    chosen = {part: rng.choices(kinds, [k.share for k in kinds])[0]
              for part, kinds in parts.items()}
    drawn = {key: _drawn(rng, value)
             for kind in (None, *chosen.values())
             for key, value in (kind.options if kind else options).items()}
    of_drive = rng.randrange(1, 2 ** 31)
    age, load = chosen["age"], chosen["load"]
    wrap = ("--wrap",) if load.trace else ()
    point = Point(chosen["drive"].profile, load.workload, load.trace,
                  tuple(f"{k}={v}" for k, v in drawn.items()),
                  (*age.args, *wrap, *load.args, "--seed", str(of_drive)))
    ranged = {key for kind in (None, *chosen.values())
              for key, value in (kind.options if kind else options).items()
              if not isinstance(value, str)}
    about = {"fleet_drive": i, **{part: k.name for part, k in chosen.items()},
             **{f"drawn.{key}": float(drawn[key]) for key in sorted(ranged)}}
    return Member(about, point)


def read(path: Path, n_drives: int = 0) -> Fleet:
    """The fleet of a file, or its first n_drives; UserError names file, key, and
    the allowed values."""
    name, folder, data = str(path), path.parent, tomlfile.load(path, DOC)
    _known(name, "", data, TOP)
    n = n_drives or _whole(name, "drives", data.get("drives", 0), 1, MAX_DRIVES)
    seed = _whole(name, "seed", data.get("seed", 1), 0, 2 ** 53)
    columns = data.get("columns", [])
    if not isinstance(columns, list) or \
            not all(isinstance(c, str) for c in columns):
        raise _bad(name, "columns: allowed a list of names of results")
    options = _options(name, "options", data.get("options", {}))
    parts = {part: _kinds(part, name, data, folder) for part in KINDS}
    return Fleet([_member(i, seed, parts, options) for i in range(n)], columns)
