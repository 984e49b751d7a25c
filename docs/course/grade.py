#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades an exercise of the course (README.md).

    docs/course/grade.py waf waf.py
    docs/course/grade.py gc mine.so
    docs/course/grade.py buffer mine.so
    docs/course/grade.py streams rules.txt
    docs/course/grade.py store store.py

Each line is one requirement with the figure that was measured.  Status: 0 if
all hold, 1 if one does not, 2 if the work cannot be graded.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VSSD = HERE.parents[1] / "vssd"
SEEDS = (1, 2, 3)
DRIVE = ("--profile", "tiny", "--set", "nand.blocks=128", "--fill", "random",
         "--json")
LOAD = "iodepth=16 number_ios=150000"


class NotGraded(Exception):
    """One line that says why."""


@dataclass(frozen=True)
class Line:
    """A requirement and what was measured."""

    holds: bool
    what: str
    found: str


def said(*args: str | Path) -> str:
    """The output of ./vssd, which ends with status 0."""
    done = subprocess.run([VSSD, *args], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise NotGraded(lines[-1])
    return done.stdout


def play(*args: str) -> dict[str, Any]:
    """A run of the model."""
    found: dict[str, Any] = json.loads(said("sim", "run", *DRIVE, *args))
    return found


def mean(of: Callable[[int], float]) -> float:
    """Over the seeds."""
    return sum(of(seed) for seed in SEEDS) / len(SEEDS)


# ---- 1: write amplification ------------------------------------------------

UNITS, PLANES = 64, 4  # of a block; of the drive


def waf(file: Path) -> Iterator[Line]:
    """waf(spare, blocks, units) predicts greedy's WAF of uniform writes."""
    space: dict[str, Any] = {"__name__": "waf"}
    try:
        exec(compile(file.read_text(encoding="utf-8"), file, "exec"), space)
        predict = space["waf"]
    except KeyError:
        raise NotGraded(f"{file}: it has no function waf") from None
    except Exception as e:  # of code that is not ours
        raise NotGraded(f"{file}: {type(e).__name__}: {e}") from None
    for blocks in (128, 512):
        for percent in (7, 12, 20, 28, 50):
            real = play("--set", f"nand.blocks={blocks}",
                        "--set", f"ftl.op_percent={percent}%", "--workload",
                        "rw=randwrite iodepth=16 number_ios=50000")["waf"]
            try:
                mine = float(predict(percent / 100, blocks * PLANES, UNITS))
            except Exception as e:  # of code that is not ours
                raise NotGraded(f"{file}: {type(e).__name__}: {e}") from None
            yield Line(abs(mine / real - 1) <= 0.08,
                       f"{percent} % of spare space, {blocks * PLANES} blocks:"
                       " within 8 %", f"predicted {mine:.2f}, played {real:.2f}")


# ---- 2 and 3: policies -----------------------------------------------------

def passes(file: Path) -> Line:
    """./vssd policy test"""
    try:
        text = said("policy", "test", file).splitlines()[-1]
    except NotGraded as e:
        return Line(False, "./vssd policy test passes", str(e))
    return Line(True, "./vssd policy test passes", text)


def ratio(option: str, file: Path, listed: str, sets: tuple[str, ...],
          load: str, figure: Callable[[dict[str, Any]], float]) -> float:
    """The policy's figure by that of a listed one, a mean over the seeds."""
    def one(policy: str, seed: int) -> float:
        return figure(play("--set", f"{option}={policy}", *sets, "--seed",
                           str(seed), "--warm-up", "50000", "--workload", load))

    return mean(lambda seed: one(f"so:{file.resolve()}", seed)
                / one(listed, seed))


def gc(file: Path) -> Iterator[Line]:
    """A policy of ftl.gc beside greedy."""
    yield passes(file)
    for spread, most in (("zipf:0.9", 0.88), ("zoned:90/10:10/90", 0.75),
                         ("random", 1.03)):
        found = ratio("ftl.gc", file, "greedy", ("--set", "ftl.op_percent=10%"),
                      f"rw=randwrite {LOAD} random_distribution={spread}",
                      lambda run: float(run["waf"]))
        yield Line(found <= most, f"WAF of {spread}: at most {most} of greedy's",
                   f"{found:.3f}")


def buffer(file: Path) -> Iterator[Line]:
    """A policy of buffer.policy beside lru."""
    yield passes(file)
    sets = ("--set", "ftl.op_percent=20%", "--set", "buffer.size=1MiB")
    for reads, spread, most in ((50, "zipf:0.9", 0.9), (70, "zipf:1.1", 0.75)):
        load = (f"rw=randrw iodepth=4 number_ios=150000 rwmixread={reads}"
                f" random_distribution={spread}")
        programs = ratio("buffer.policy", file, "lru", sets, load,
                         lambda run: float(run["nand"]["programs"]))
        hits = ratio("buffer.policy", file, "lru", sets, load,
                     lambda run: float(run["buffer"]["hits"]))
        yield Line(programs <= most,
                   f"programs, {spread}, {reads} % reads: at most {most} of lru's",
                   f"{programs:.3f}")
        yield Line(hits >= 1, "hits: at least lru's", f"{hits:.3f}")


# ---- 4: streams ------------------------------------------------------------

SHARE = 0.87  # of the WAF without streams
GUEST = """
echo {load} | base64 -d > /root/load.py
d=$(lsblk -dno PATH,SERIAL | awk '$2 == "COURSE" {{print $1}}')
mkfs.ext4 -q -O ^has_journal -E nodiscard $d
mkdir -p /data
mount -o discard $d /data
streamrun {rules} -- python3 /root/load.py /data && umount /data
"""


def rules_of(file: Path) -> str:
    """The options of streamrun."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    for line in found:
        if not re.fullmatch(r"/data/\S+=[1-4]", line):
            raise NotGraded(f"{file}: {line}: allowed /data/PATTERN=1 to 4")
    if not found:
        raise NotGraded(f"{file}: it has no rule")
    return " ".join(f"-r {shlex.quote(line)}" for line in found)


def in_guest(rules: str) -> dict[str, Any]:
    """The drive's statistics of a guest with the load."""
    load = base64.b64encode((HERE / "files_load.py").read_bytes()).decode()
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        said("run", "--kernel", "streams", "--drive",
             "tiny,nand.blocks=165,ftl.op_percent=25%,streams.max=4,"
             "buffer.plp=on,serial=COURSE", "--stats", stats, "--exec",
             GUEST.format(load=load, rules=rules))
        found: dict[str, Any] = json.loads(stats.read_text())["drives"]["ssd1"]
    return found


def streams(file: Path) -> Iterator[Line]:
    """Rules that give the files of a load streams."""
    rules = rules_of(file)
    without, mine = in_guest("-r /nothing=1"), in_guest(rules)
    used = [s for s in mine["streams"] if s["id"] and s["host_bytes_written"]]
    yield Line(bool(used), "the files have streams", f"{len(used)} are used")
    found = mine["waf"] / without["waf"]
    yield Line(found <= SHARE, f"WAF: at most {SHARE} of that without streams",
               f"{mine['waf']:.2f} of {without['waf']:.2f}, {found:.3f}")


# ---- 5: power cuts ---------------------------------------------------------

CUTS, PROMISES = 30, 30


def store(file: Path) -> Iterator[Line]:
    """A store of keys and values under power cuts."""
    if file.name != "store.py":
        raise NotGraded(f"{file}: the file's name must be store.py")
    command = "python3 $VSSD_FILES/store_load.py"
    done = subprocess.run(
        [VSSD, "powercut", "campaign", "--files", file, "--files",
         HERE / "store_load.py", "--write", f"{command} write", "--check",
         f"{command} check", "--fs", "xfs", "--cuts", str(CUTS),
         "--seconds", "12", "--json"],
        stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        raise NotGraded("the campaign has no result")
    found = json.loads(done.stdout)
    bad = [row["text"] for row in found["rows"] if not row["ok"]]
    yield Line(not bad, "no cut breaks a promise",
               f"{len(bad)} of {len(found['rows'])} cuts do"
               + (f": {bad[0]}" if bad else ""))
    yield Line(found["promises_checked"] >= PROMISES,
               f"at least {PROMISES} promises before the last cut",
               f"{found['promises_checked']}")


# ---- all -------------------------------------------------------------------

EXERCISES: dict[str, Callable[[Path], Iterator[Line]]] = {
    "waf": waf, "gc": gc, "buffer": buffer, "streams": streams,
    "store": store}


def main(args: list[str]) -> int:
    """The command."""
    if len(args) != 2 or args[0] not in EXERCISES:
        print(f"usage: grade.py {'|'.join(EXERCISES)} FILE", file=sys.stderr)
        return 2
    file = Path(args[1])
    failed = 0
    try:
        if not file.is_file():
            raise NotGraded(f"{file}: no such file")
        for line in EXERCISES[args[0]](file):
            failed += not line.holds
            print(f"{'ok' if line.holds else 'FAIL':<5}{line.what}:"
                  f" {line.found}", flush=True)
    except NotGraded as e:
        print(f"grade.py: {e}", file=sys.stderr)
        return 2
    print("passed" if not failed else f"{failed} not reached")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
