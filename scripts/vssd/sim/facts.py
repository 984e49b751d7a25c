# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles from facts: a drive's data sheet and its generation of NAND, turned
into options by the rules of docs/profiles.md.

Nothing here looks at a measurement.  Knows profiles/facts.toml and files of its
form; does not know how a profile is played.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tomlfile
from ..errors import UserError
from ..paths import PROJECT

FILE = PROJECT / "profiles/facts.toml"
PAGE = "docs/profiles.md"
Options = dict[str, dict[str, str]]

CHANNELS = 8  # where a drive does not say it
WORD_LINES = 4  # of a block of the scaled drive
MOST_BYTES = 10e9  # of the scaled drive; within it all blocks are there
TYPES = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
GENERATION = {"die_gbit": float, "planes": int, "page_kib": int, "cell": str,
              "tr_us": float, "die_mb_s": float, "bus_mt_s": int,
              "tbers_us": float, "block_pages": int, "what": str,
              "source": str}
OPTIONAL = ("guess", "brother", "channels", "zones", "independent_reads", "slc",
            "hmb_mib")
RATED = {"read_mb_s": float}
MAYBE_RATED = ("write_mb_s", "read_iops", "write_iops")
ZONES = {"capacity": int, "size": int, "open": int}
SENSE_US = 12.0  # tR of the middle page of TLC, less that of the others
SLC = ("gb", "static_gb", "after_mb_s")  # of an SLC cache, if the maker says it
SLC_SHARE = 0.5  # of the cells that an SLC cache of unknown size may take
SLC_READ, SLC_PROGRAM = 25.0, 200.0  # us
SLC_FOLD_AT = "2%"  # of its blocks left
SLC_FOLD_DELAY = 5e6  # us
SLC_BUFFER = "16MiB"
MAP_BYTES = 8, 4  # of an entry, as modelled and in a real drive's memory
MAP_CACHE = "64KiB"  # entries of the buffer and as many more
MAP_PREFETCH = "32"
PLAYED_ZONES, SPARE_BLOCKS = 24, 7  # of a plane of a drive with zones
LIMIT = 1.3  # a rated figure this far below the array's is a controller's limit
COMMANDS = "384"  # that a drive with PLP holds
GC_SHARE = 0.85  # of the rate of writes that reads and erases of GC leave
MAP_ENTRY = "20ns"  # to clear one; as of a TRIM (ftl.trim_unit)
APPEND = "7us"  # an append takes the time of a write once more, alone
NEAR = 0.3  # a rated rate of writes within this share of the dies' is theirs


@dataclass(frozen=True)
class Drive:
    """A drive and its NAND."""

    name: str
    profile: str
    date: int
    capacity: int  # bytes
    dies: int
    plp: bool
    rated: dict[str, float]
    nand: dict[str, Any]
    source: str
    die_mb_s: float  # rate at which a die is written (rule 3)
    channels: int
    zones: dict[str, int] | None  # of a drive with zones (rule 8)
    slc: dict[str, float] | None  # of a drive with an SLC cache (rule 9)
    hmb_mib: float | None  # of a drive without DRAM (rule 10)

    @property
    def nominal(self) -> float:
        """Bytes of all dies by the size of a die."""
        return float(self.dies * self.nand["die_gbit"] * 2**30 / 8)

    @property
    def raw(self) -> float:
        """Bytes of all dies, which have more blocks than their nominal size if
        the rated random writes need them (rule 4)."""
        rated = self.rated.get("write_iops", 0.0)
        ours = self.write_iops(self.nominal)
        if self.slc is not None or not ours < rated <= LIMIT * ours:
            return self.nominal
        # write_iops(), solved for the spare capacity.
        return self.capacity / (1 - rated / self.write_iops(math.inf))

    @property
    def write_mb_s(self) -> float:
        """Of all dies."""
        return self.dies * self.die_mb_s

    def write_iops(self, raw: float) -> float:
        """4 KiB at random in the steady state, by the array (rule 6)."""
        spare = 1 - self.capacity / raw  # s / (1 + s)
        return GC_SHARE * self.write_mb_s * 1e6 / 4096 * 2 * spare

    @property
    def pages(self) -> int:
        """Of a block of the scaled drive; a zone is a block of each plane."""
        if self.zones:
            return self.zones["capacity"] // self.row
        return WORD_LINES * int(TYPES[self.nand["cell"]])

    @property
    def row(self) -> int:
        """Bytes of a page of each plane."""
        return int(self.dies * self.nand["planes"] * self.nand["page_kib"]
                   * 1024)

    @property
    def real_blocks(self) -> float:
        """Of a plane of the real die, each of block_pages."""
        return self.raw / self.row / int(self.nand["block_pages"])

    @property
    def blocks(self) -> int:
        """Of a plane: those of the real die, or as many as MOST_BYTES hold."""
        if self.zones:
            return PLAYED_ZONES + SPARE_BLOCKS
        return round(min(self.real_blocks,
                         MOST_BYTES / (self.row * self.pages)))

    @property
    def scale(self) -> float:
        """Of the drive as it is played, to the real one."""
        return self.blocks * self.pages * self.row / self.raw

    @property
    def bits(self) -> int:
        """Of a cell."""
        return TYPES[self.nand["cell"]]

    @property
    def static_blocks(self) -> int:
        """Of a plane, in SLC mode always."""
        static = (self.slc or {}).get("static_gb", 0.0)
        return round(self.blocks * static * 1e9 * self.bits / self.raw)

    @property
    def word_line(self) -> int:
        """Bytes that a die programs at once."""
        return int(self.nand["planes"] * self.nand["page_kib"] * 1024
                   * TYPES[self.nand["cell"]])


def _check(where: str, table: dict[str, Any], keys: Mapping[str, type],
           optional: tuple[str, ...] = OPTIONAL) -> None:
    for key in table:
        if key not in keys and key not in optional:
            raise UserError(f"{where}: {key}: no such fact: "
                            + ", ".join((*keys, *optional)))
    for key, kind in keys.items():
        allowed = (int, float) if kind is float else kind
        if key not in table:
            raise UserError(f"{where}: {key} is missing")
        if not isinstance(table[key], allowed) or isinstance(table[key], bool) \
                is not (kind is bool):
            raise UserError(f"{where}: {key}={table[key]}: must be"
                            f" {'a number' if kind is float else kind.__name__}")
        if kind in (int, float) and table[key] <= 0:
            raise UserError(f"{where}: {key}={table[key]}: must be above 0")


def _generations(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data.get("nand", {})
    for name, table in found.items():
        where = f"{path.name}: nand.{name}"
        _check(where, table, GENERATION)
        if table["cell"] not in TYPES:
            raise UserError(f"{where}: cell={table['cell']}: allowed "
                            + ", ".join(TYPES))
    return found


def _die_mb_s(table: dict[str, Any], nand: dict[str, Any]) -> float:
    """The rated rate of writes by die, where it is near that of the NAND; with
    an SLC cache, the one beyond it."""
    own = float(nand["die_mb_s"])
    rated = float(table["slc"].get("after_mb_s", 0) if "slc" in table else
                  table["rated"].get("write_mb_s", 0)) / table["dies"]
    return rated if abs(rated / own - 1) <= NEAR else own


def _check_slc(where: str, table: dict[str, Any], nand: dict[str, Any]) -> None:
    slc = table["slc"]
    if not isinstance(slc, dict):
        raise UserError(f"{where}: slc={slc}: must be a table")
    where = f"{where}: slc"
    _check(where, slc, {key: float for key in SLC if key in slc}, SLC)
    if "static_gb" in slc and slc.get("gb", 0.0) <= slc["static_gb"]:
        raise UserError(f"{where}: gb={slc.get('gb', 'unknown')}: must be above"
                        f" static_gb={slc['static_gb']}")
    most = table["dies"] * nand["die_gbit"] * 2**30 / 8e9 / TYPES[nand["cell"]]
    if slc.get("gb", 0.0) > most:
        raise UserError(f"{where}: gb={slc['gb']}: the cells hold"
                        f" {int(most)} GB in SLC mode")


def _drive(path: Path, table: dict[str, Any], nand: dict[str, Any],
           others: dict[str, dict[str, Any]]) -> Drive:
    where = f"{path.name}: {table.get('name', 'a drive without a name')}"
    first = table
    if "brother" in table:
        if table["brother"] not in others:
            raise UserError(f"{where}: brother={table['brother']}: no such"
                            " drive")
        first = others[table["brother"]]
        table = first | table
    _check(where, table, {"name": str, "profile": str, "date": int,
                          "capacity": int, "dies": int, "plp": bool,
                          "nand": str, "rated": dict, "source": str})
    # GC, which limits random writes, has nothing to do in zones.
    known = MAYBE_RATED[:2] if "zones" in table else MAYBE_RATED
    maybe = {key: float for key in known if key in table["rated"]}
    _check(f"{where}: rated", table["rated"], RATED | maybe, known)
    if table["nand"] not in nand:
        raise UserError(f"{where}: nand={table['nand']}: allowed "
                        + ", ".join(nand))
    channels = table.get("channels", CHANNELS)
    if isinstance(channels, bool) or channels not in range(1, 257):
        raise UserError(f"{where}: channels={channels}: allowed 1..256")
    if table["dies"] > channels and table["dies"] % channels:
        raise UserError(f"{where}: dies={table['dies']}: must be a multiple of"
                        f" {channels}")
    if "zones" in table:
        _check(f"{where}: zones", table["zones"], ZONES)
    if "slc" in table:
        _check_slc(where, table, nand[table["nand"]])
    if "hmb_mib" in table:
        _check(where, {"hmb_mib": table["hmb_mib"]}, {"hmb_mib": float})
    drive = Drive(table["name"], table["profile"], table["date"],
                  table["capacity"], table["dies"], table["plp"],
                  table["rated"], nand[table["nand"]], table["source"],
                  _die_mb_s(first, nand[table["nand"]]), channels,
                  table.get("zones"), table.get("slc"), table.get("hmb_mib"))
    row = drive.row * TYPES[drive.nand["cell"]]
    if drive.zones and drive.zones["capacity"] % row:
        raise UserError(f"{where}: zones: capacity={drive.zones['capacity']}:"
                        f" must be whole word lines of all planes, {row} bytes")
    if drive.raw <= drive.capacity:
        raise UserError(f"{where}: dies={drive.dies}: hold"
                        f" {drive.raw / 1e9:.0f} GB, less than the capacity")
    return drive


def read(path: Path = FILE) -> list[Drive]:
    """The drives of a file.  Generations of NAND that it does not have are
    those of profiles/facts.toml.  UserError names file, drive and fact."""
    data = tomlfile.load(path, PAGE)
    nand = _generations(FILE, tomlfile.load(FILE, PAGE)) | _generations(path, data)
    tables = data.get("drive", [])
    if not tables:
        raise UserError(f"{path}: has no [[drive]]")
    named = {t.get("name", ""): t for t in tables}
    if len(named) < len(tables):
        raise UserError(f"{path.name}: two drives have one name")
    return [_drive(path, t, nand, named) for t in tables]


# ---- the rules --------------------------------------------------------------------


def _us(us: float) -> str:
    whole = us >= 100 or us == round(us)
    return f"{round(us)}us" if whole else f"{round(us * 1000)}ns"


def _reads(nand: dict[str, Any]) -> dict[str, str]:
    """tR by type of page, with the generation's as the mean."""
    tr = nand["tr_us"]
    if nand["cell"] != "tlc":
        return {"read": _us(tr)}
    less = tr - SENSE_US / 3
    return {"read": _us(less), "read_2": _us(less + SENSE_US),
            "read_3": _us(less)}


def _array(d: Drive) -> dict[str, str]:
    channels = min(d.dies, d.channels)
    n = d.nand
    return {
        "channels": str(channels), "chips": "1",
        "dies": str(d.dies // channels), "planes": str(n["planes"]),
        "blocks": str(d.blocks), "pages": str(d.pages),
        "page_size": f"{n['page_kib']}KiB", "cell": n["cell"],
        "interface": "nv-ddr3", "bus_mt_s": str(n["bus_mt_s"]),
        **_reads(n),
        "program": _us(d.word_line / d.die_mb_s),
        "erase": _us(n["tbers_us"] * (1 if d.zones else
                                      d.pages / n["block_pages"])),
        "one_shot": "on", "multi_plane": "on",
        "independent_reads": "on" if n.get("independent_reads", True)
        else "off",
        "cache_read": "on", "cache_program": "on",
        "schedule": "read-first-deadline", "suspend": "both",
        "suspend_time": "80us", "suspend_min_run": "150us",
        "suspend_limit": "16",
    }


def _slc_program(d: Drive) -> float:
    """us: fast enough for the rated rate of writes."""
    rated = d.rated.get("write_mb_s", 0.0)
    return min(SLC_PROGRAM, d.row / rated if rated else SLC_PROGRAM)


def _slc_share(d: Drive, slc: dict[str, float]) -> float:
    """Of the blocks of a plane that are not static: those of the cache."""
    if "gb" not in slc:
        return SLC_SHARE
    dynamic = slc["gb"] - slc.get("static_gb", 0.0)
    rest = d.raw * (1 - d.static_blocks / d.blocks)
    return dynamic * 1e9 * d.bits / rest


def _slc(d: Drive) -> Options:
    """Rule 9."""
    if d.slc is None:
        return {}
    nand = {"slc_read": _us(SLC_READ), "slc_program": _us(_slc_program(d))}
    if d.static_blocks:
        nand["slc_blocks"] = str(d.static_blocks)
    folds = "after_mb_s" not in d.slc
    return {"nand": nand,
            "ftl": {"slc_dynamic": f"{100 * _slc_share(d, d.slc):.1f}%",
                    "slc_fold_at": SLC_FOLD_AT if folds else "0%",
                    "slc_when_full": "fold" if folds else "direct",
                    "slc_fold_delay": _us(SLC_FOLD_DELAY * d.scale)},
            "buffer": {"size": SLC_BUFFER}}


def _map(d: Drive) -> Options:
    """Rule 10."""
    if d.hmb_mib is None:
        return {}
    ours, real = MAP_BYTES
    hmb = d.hmb_mib * 1024 * d.scale * ours / real
    return {"ftl": {"map": "dftl", "map_cache": MAP_CACHE,
                    "map_prefetch": MAP_PREFETCH, "hmb": f"{round(hmb)}KiB"}}


def _op(d: Drive) -> str:
    cells = d.raw * (1 - d.static_blocks / d.blocks)
    return f"{100 * (cells / d.capacity - 1):.1f}%"


def _limits(d: Drive) -> dict[str, str]:
    """Rated figures that are not those of the array.  One that nobody gave is
    no limit."""
    found = {"link_mb_s": str(round(d.rated["read_mb_s"]))}
    if "read_iops" in d.rated:
        found["max_iops"] = str(round(d.rated["read_iops"]))
    for name, ours in (("write_mb_s", d.write_mb_s),
                       ("write_iops", d.write_iops(d.raw))):
        rated = d.rated.get(name, ours)
        # Of an SLC cache they are the controller's.
        if ours > LIMIT * rated or (d.slc is not None and name in d.rated):
            found[f"max_{name}"] = str(round(d.rated[name]))
    return found


def _zones(d: Drive) -> Options:
    """Rule 8."""
    if not d.zones:
        return {}
    return {"zones": {
        "enabled": "on", "size": str(d.zones["size"]),
        "max_active": str(d.zones["open"]), "max_open": str(d.zones["open"]),
        "reset_record": _us(d.word_line / d.die_mb_s),
        "reset_unit": MAP_ENTRY, "append_time": APPEND,
    }}


def options(d: Drive) -> Options:
    """The sections of the drive's profile, by the rules."""
    ftl = {"unit": "4KiB", "op_percent": _op(d)}
    if d.zones:
        ftl |= {"alloc": "in-order", "op_percent": "0%"}
    elif d.plp:
        ftl["gc_pace"] = "even"
        ftl["gc_urgent"] = "1ms"
    found = {
        "nand": _array(d),
        "superblock": {"width": "die", "row": "die",
                       "row_wait": "10s" if d.plp else "10ms"},
        "ftl": ftl,
        **_zones(d),
        "buffer": {"size": "64MiB", "plp": "on" if d.plp else "off"},
        "host": {**({"queue_depth": COMMANDS} if d.plp else {}),
                 "firmware": "5us", "firmware_write": "2us",
                 "read_ahead": "512KiB", **_limits(d)},
    }
    for more in (_slc(d), _map(d)):
        for section, keys in more.items():
            found[section] |= keys
    return found


def whole(d: Drive) -> list[str]:
    """What makes a profile's drive as large as the real one, as KEY=VALUE: all
    blocks of the die, with all their pages.  Not of a drive with zones."""
    found = [f"nand.pages={d.nand['block_pages']}",
             f"nand.blocks={round(d.real_blocks)}",
             f"nand.erase={_us(d.nand['tbers_us'])}"]
    if d.static_blocks:
        real = d.static_blocks * d.real_blocks / d.blocks
        found.append(f"nand.slc_blocks={round(real)}")
    if d.slc is not None:
        found.append(f"ftl.slc_fold_delay={_us(SLC_FOLD_DELAY)}")
    if d.hmb_mib is not None:
        ours, real = MAP_BYTES
        found.append(f"ftl.hmb={round(d.hmb_mib * 1024 * ours / real)}KiB")
    return found


def _scale(d: Drive) -> str:
    played = d.capacity * d.scale
    if d.zones:
        return f"{PLAYED_ZONES} zones are played, with all their pages."
    return (f"{played / 1e9:.1f} GB of {d.capacity / 1e9:.0f} GB are played;"
            f" the whole drive: {' '.join(whole(d))}")


def changes(d: Drive, base: Drive) -> list[str]:
    """What of a brother's options differs from the profile's, as KEY=VALUE; an
    option that it lacks has its default, 0."""
    mine, other = options(d), options(base)
    return [f"{section}.{key}={mine[section].get(key, '0')}"
            for section in mine
            for key in sorted(mine[section] | other[section])
            if mine[section].get(key) != other[section].get(key)]


def text(d: Drive) -> str:
    """The profile, as an INI file."""
    head = textwrap.wrap(
        f"Made by ./vssd profile \"{d.name}\" from profiles/facts.toml, by the"
        " rules of docs/profiles.md: change the facts, not this file."
        f" NAND: {d.nand['what']}; {d.nand['source']}."
        + (f" Guessed: {d.nand['guess']}." if "guess" in d.nand else ""), 76)
    kind = "data-centre" if d.plp else "consumer"
    lines = [f"# Class:  {kind} NVMe drive: {d.name}",
             *textwrap.wrap(d.source, 76, initial_indent="# Source: ",
                            subsequent_indent="#         "),
             f"# Date:   {d.date}",
             *textwrap.wrap(_scale(d), 76, initial_indent="# Scale:  ",
                            subsequent_indent="#         "),
             "#", *(f"# {line}" for line in head)]
    for section, keys in options(d).items():
        lines += [f"[{section}]", *(f"{k} = {v}" for k, v in keys.items()), ""]
    return "\n".join(lines).rstrip() + "\n"
