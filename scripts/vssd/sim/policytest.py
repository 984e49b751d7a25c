# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of a policy from outside: those that listed policies get."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..build import model
from ..errors import UserError, one_line
from ..paths import find_profile

KEYS = {"gc": "ftl.gc", "alloc": "ftl.alloc", "buffer": "buffer.policy",
        "placement": "ftl.placement", "map": "ftl.map"}
PROFILES = ("tiny", "tlc-generic", "qlc", "pm9a3")
ROOM = ("--set", "ftl.op_percent=100%", "--set", "nand.blocks=64",
        "--set", "ftl.map_cache=4KiB")
LOAD = "rw=randrw rwmixread=40 bs=4k iodepth=16 random_distribution=zipf:1.1"
SWARM = "tests/ftl/test-swarm"
MEASURED = ("wall_s", "requests_per_s_wall", "cpu_s", "requests_per_s_cpu",
            "peak_rss_bytes", "host")


@dataclass(frozen=True)
class Subject:
    """What is tested, and by which programs."""

    option: str  # "ftl.gc=so:/path"
    sim: Path
    swarm: Path
    runs: int


@dataclass(frozen=True)
class Verdict:
    """Of one check."""

    why: str | None  # it failed; None: it did not
    did: str = ""    # what was checked, with numbers


def _said(args: list[str | Path]) -> tuple[int, str, str]:
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def _sim(on: Subject, *args: str) -> dict[str, object] | str:
    """A result without what a clock measured; or what went wrong."""
    status, out, err = _said([on.sim, "run", *args, "--set", on.option])
    if status != 0:
        return one_line(err).removeprefix("vssd-sim: ") or f"status {status}"
    if not out:
        return {}  # of --precondition and --save-state alone
    found: dict[str, object] = json.loads(out)
    return {k: v for k, v in found.items() if k not in MEASURED}


def _did_nothing(on: Subject, found: dict[str, object]) -> str | None:
    """A run in which the policy had no work checks nothing."""
    if not found.get("requests"):
        return "no request was played, so nothing was checked"
    gc = found.get("gc")
    if on.option.startswith("ftl.gc=") and not (
            isinstance(gc, dict) and gc.get("victims")):
        return "no victim was chosen, so nothing was checked"
    return None


def _played(n: int, requests: object) -> str:
    return f"{n} runs of {requests} requests"


def _play(on: Subject) -> Verdict:
    requests = 0
    for name in PROFILES:
        found = _sim(on, "--profile", str(find_profile(name)), *ROOM, "--fill",
                     "random", "--workload", f"{LOAD} number_ios=30000", "--json")
        if isinstance(found, str):
            return Verdict(f"{name}: {found}")
        if why := _did_nothing(on, found):
            return Verdict(f"{name}: {why}")
        requests = int(str(found["requests"]))
    return Verdict(None, _played(len(PROFILES), requests))


def _repeat(on: Subject) -> Verdict:
    args = ("--profile", str(find_profile("tiny")), *ROOM, "--fill", "random",
            "--workload", f"{LOAD} number_ios=30000", "--json")
    first, second = _sim(on, *args), _sim(on, *args)
    if isinstance(first, str):
        return Verdict(first)
    if first != second:
        return Verdict("two runs of one seed differ")
    return Verdict(_did_nothing(on, first), _played(2, first.get("requests")))


def _states(on: Subject) -> Verdict:
    """A drive that is saved and loaded plays as one that is saved and goes on; here:
    two that were loaded, of which one was saved again in between."""
    drive = ("--profile", str(find_profile("tiny")), *ROOM)
    with tempfile.TemporaryDirectory() as tmp:
        first, second = f"{tmp}/1", f"{tmp}/2"
        found = _sim(on, *drive, "--precondition", "--save-state", first)
        if isinstance(found, str):
            return Verdict(found)
        found = _sim(on, *drive, "--state", first, "--save-state", second)
        if isinstance(found, str):
            return Verdict(found)
        load = ("--workload", f"{LOAD} number_ios=20000", "--json")
        a = _sim(on, *drive, "--state", first, *load)
        b = _sim(on, *drive, "--state", second, *load)
    if isinstance(a, str):
        return Verdict(a)
    if a != b:
        return Verdict("a drive that was saved twice differs")
    return Verdict(_did_nothing(on, a), _played(2, a.get("requests")))


def _swarm(on: Subject, *more: str) -> Verdict:
    status, out, err = _said([on.swarm, "--set", on.option, "--runs",
                              str(on.runs), "--commands", "3000", *more])
    used = re.search(r"^# (\d+) runs with ", out, re.M)
    if status == 0:
        if not used or used[1] == "0":
            return Verdict("no drive could have the policy, so nothing was"
                           " checked: give more --runs")
        return Verdict(None, f"{used[1]} of {on.runs} drives")
    seed = [line for line in out.splitlines() if "--seed" in line][-1:]
    return Verdict(one_line(err or f"status {status}") + "".join(
        f" ({s.removeprefix('# ')})" for s in seed))


CHECKS: dict[str, Callable[[Subject], Verdict]] = {
    "play": _play,
    "repeat": _repeat,
    "states": _states,
    "swarm": _swarm,
    "copies": lambda on: _swarm(on, "--copies"),
    "map in NAND": lambda on: _swarm(on, "--dftl"),
}


def option_of(file: Path, sim: Path) -> str:
    """The option for the file, by the kind that the model finds in it."""
    said = ""
    for key in KEYS.values():
        option = f"{key}=so:{file}"
        status, _, err = _said([sim, "info", "--profile", find_profile("tiny"),
                                *ROOM, "--set", option])
        if status == 0:
            return option
        said = one_line(err).removeprefix("vssd-sim: ").removeprefix(f"{key}: ")
        kind = re.search(r"is a policy of the kind (\w+), not", said)
        if kind:
            return f"{KEYS[kind[1]]}=so:{file}"
        break
    raise UserError(said or f"{file}: cannot be loaded")


def run(file: Path, runs: int) -> Iterator[tuple[str, Verdict]]:
    """Each check and its verdict."""
    if not file.is_file():
        raise UserError(f"{file}: there is no such file")
    sim = model.sim()
    option = option_of(file.resolve(), sim)
    swarm = model.ensure("release", SWARM) / SWARM
    on = Subject(option, sim, swarm, runs)
    for name, call in CHECKS.items():
        yield name, call(on)
