# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with results of fio (--output-format=json): which jobs ran.

Knows the documents of a file, notes between them, clients, groups and which
results a later document replaces; does not know what a job's options mean
(fiojson.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UserError, one_line

GIVE = "give the output of fio --output-format=json"
SIDES = ("read", "write", "mixed")
DOCUMENT = re.compile(r"\{\s*\"")
# fio's messages, which may come in the middle of its results.
NOTE = re.compile(r"^(?:fio: |note: |warning: ).*$", re.I | re.M)
NO_NUMBER = re.compile(r"(:\s*)[-+]?(?:nan|inf)\b", re.I)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
SAME_START_S = 1  # fio writes whole seconds

Fields = dict[str, Any]


class LeftOut(UserError):
    """Why a job is no measurement that the model can repeat."""


@dataclass(frozen=True)
class Job:
    """A job, or the jobs of a group that fio reports as one."""

    where: str  # file and name, for messages
    name: str
    fields: Fields
    options: dict[str, str]  # the global ones included
    fault: str = ""  # why it does not count
    apart: bool = False  # summed here: there are no common percentiles


def jobs(path: Path, client: str = "") -> list[Job]:
    """All jobs of a file; of one client, where there are several."""
    found = _last(_documents(path))
    hosts = list(dict.fromkeys(_host(e) for d in found for e in _clients(d)))
    if client and client not in hosts:
        raise UserError(f"{path}: --client {client}: "
                        + ("allowed " + ", ".join(hosts) if hosts else
                           "these are no results of clients of fio"))
    if len(hosts) > 1 and not client:
        raise UserError(
            f"{path}: the clients " + ", ".join(hosts) + " ran at the same"
            " time, and fio does not say whether on one drive; give --client"
            " with the one to use")
    out = []
    for document in found:
        entries = _entries(path, document)
        out += _jobs(path, document, [
            e for e in entries if not client or _host(e) == client])
    return out


# ---- the file ----------------------------------------------------------------


def _documents(path: Path) -> list[Fields]:
    """All results of a file: fio may append them to one another, and print
    notes before, between and behind them."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    text = NO_NUMBER.sub(r"\1null", NOTE.sub("", text))
    out = []
    start = DOCUMENT.search(text)
    while start:
        try:
            data, end = json.JSONDecoder().raw_decode(text, start.start())
        except (ValueError, RecursionError) as e:
            line = text.count("\n", 0, start.start()) + 1
            if _is_cut(text[start.start():]):
                raise UserError(
                    f"{path}: the results that begin in line {line} are cut:"
                    f" fio had not ended, or the copy is partial; {GIVE},"
                    " as a whole") from e
            raise UserError(f"{path}: no JSON ({one_line(str(e))}); {GIVE}") \
                from e
        out.append(data)
        start = DOCUMENT.search(text, end)
    if not out:
        raise UserError(f"{path}: " + ("no JSON" if text.strip() else
                                       "no results") + f"; {GIVE}")
    return out


def _is_cut(text: str) -> bool:
    """Does it end within the object that it begins with?"""
    plain = STRING.sub("", text)
    depth = plain.count("{") - plain.count("}")
    return depth > 0 or '"' in plain


def _last(documents: list[Fields]) -> list[Fields]:
    """Without results that a later document of the same run replaces
    (--status-interval)."""
    out: list[Fields] = []
    for one in documents:
        if out and _goes_on(out[-1], one):
            out.pop()
        out.append(one)
    return out


def _goes_on(before: Fields, after: Fields) -> bool:
    """Are these later figures of the same run?"""
    one, two = _parts(before), _parts(after)
    names = [(j.get("jobname"), j.get("groupid"), j.get("hostname"))
             for j in one]
    if not one or names != [(j.get("jobname"), j.get("groupid"),
                             j.get("hostname")) for j in two]:
        return False
    if any(_done(a) > _done(b) for a, b in zip(one, two)):
        return False
    begun = [j.get("job_start") for j in (one[0], two[0])]
    if all(isinstance(b, (int, float)) and b > 0 for b in begun):
        return bool(begun[0] == begun[1])
    starts = [_start(d, j) for d, j in ((before, one[0]), (after, two[0]))]
    return None not in starts \
        and abs((starts[0] or 0) - (starts[1] or 0)) <= SAME_START_S


def _start(document: Fields, job: Fields) -> float | None:
    """When fio began, seconds."""
    now, elapsed = document.get("timestamp"), job.get("elapsed")
    if not isinstance(now, (int, float)) \
            or not isinstance(elapsed, (int, float)):
        return None
    return float(now) - float(elapsed)


def _done(job: Fields) -> float:
    return sum(float(side.get("total_ios", 0) or 0) for side in
               (job.get(s) for s in (*SIDES, "trim"))
               if isinstance(side, dict))


# ---- clients --------------------------------------------------------------------


def _clients(document: Fields) -> list[Fields]:
    """The jobs of clients, without fio's sum over all of them."""
    found = document.get("client_stats")
    return [e for e in found if isinstance(e, dict)
            and e.get("jobname") != "All clients"] \
        if isinstance(found, list) else []


def _host(entry: Fields) -> str:
    """A client's name; several on one host differ in the port."""
    port = entry.get("port")
    name = str(entry.get("hostname", "?"))
    return name if port in (None, 0, 8765) else f"{name}:{port}"


def _parts(document: Fields) -> list[Fields]:
    found = document.get("jobs")
    found = found if isinstance(found, list) else []
    return _clients(document) or [j for j in found if isinstance(j, dict)]


def _entries(path: Path, document: Fields) -> list[Fields]:
    """The jobs of a document, as fio wrote them."""
    found = document.get("jobs")
    bad = isinstance(found, list) and not all(isinstance(j, dict)
                                              for j in found)
    out = _parts(document)
    if bad or not out:
        raise UserError(f"{path}: no jobs; {GIVE}")
    return out


def _common(document: Fields, entry: Fields) -> dict[str, str]:
    """The global options; each client has its own."""
    found = document.get("global options", {})
    out: dict[str, str] = {}
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, dict) and one.get("hostname") in (
                None, entry.get("hostname")):
            out.update({k: v for k, v in one.items()
                        if k not in ("hostname", "port")})
    return out


# ---- groups ----------------------------------------------------------------------


def _jobs(path: Path, document: Fields, entries: list[Fields]) -> list[Job]:
    """Each group as one job, or why it is none."""
    groups: dict[Any, list[Job]] = {}
    last: list[Job] = []
    for entry in entries:
        name = str(entry.get("jobname", "?"))
        own = entry.get("job options")
        options = _later(_common(document, entry),
                         own if isinstance(own, dict) else {})
        one = Job(f"{path}: job {name!r}", name, entry, options,
                  _fault(entry))
        group = groups.setdefault(entry.get("groupid", len(groups)), [])
        if not group and last and "new_group" in options \
                and not {"stonewall", "wait_for"} & options.keys():
            fault = _together(last[0].name, name)
            one = replace(one, fault=fault)
            last[:] = [replace(j, fault=fault) for j in last]
        group.append(one)
        last = group
    return [job for g in groups.values() for job in _group(path, g)]


def _later(common: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """All options as text, in the order in which they count."""
    rest = {k: v for k, v in common.items() if k not in own}
    return {k: str(v) for k, v in {**rest, **own}.items()}


def _fault(entry: Fields) -> str:
    error = entry.get("error", 0)
    return f"fio ended it with error {error}" if error else ""


def _together(one: str, two: str) -> str:
    return (f"jobs {one!r} and {two!r} ran at the same time; use stonewall"
            " between jobs, and group_reporting with numjobs")


def _group(path: Path, group: list[Job]) -> list[Job]:
    """Jobs that ran at the same time: those of numjobs are one."""
    first = group[0]
    if len(group) == 1:
        return group
    same = {(j.name, tuple(sorted(j.options.items()))) for j in group}
    fault = next((j.fault for j in group if j.fault), "")
    if len(same) > 1 or first.options.get("numjobs") != str(len(group)):
        other = next((j.name for j in group if j.name != first.name),
                     first.name)
        fault = fault or _together(first.name, other)
        return [Job(str(path), first.name, first.fields, first.options,
                    fault)]
    fields = {"jobname": first.name,
              **{s: _sum([j.fields.get(s, {}) for j in group])
                 for s in SIDES}}
    return [Job(first.where, first.name, fields, first.options, fault, True)]


def _sum(sides: list[Fields]) -> Fields:
    """Requests of several jobs together; percentiles have no sum."""
    out: Fields = {key: sum(float(s.get(key, 0) or 0) for s in sides)
                   for key in ("total_ios", "io_bytes", "iops")}
    for kind in ("lat_ns", "clat_ns"):
        parts = [(float(s.get("total_ios", 0) or 0), s[kind]["mean"])
                 for s in sides if s.get(kind, {}).get("mean")]
        total = sum(n for n, _ in parts)
        if total:
            out[kind] = {"mean": sum(n * m for n, m in parts) / total}
    return out
