# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of a program at regular instants of its CPU time: by perf, else by the
profiler of gperftools, which takes SIGPROF.

A frame is a function and the file that it is from; without a file it is from a
library or the kernel.
"""

from __future__ import annotations

import bisect
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from vssd.build import packages
from vssd.errors import UserError, one_line
from vssd.paths import PROJECT
from vssd.ui import say

HERTZ = 1999
PROFILER = "libprofiler.so.0"
GPERFTOOLS = packages.Group("sampling where perf does not work",
                            ("libgoogle-perftools4",))
KERNEL = "[kernel]"
UNKNOWN = "[unknown]"
NM = re.compile(r"^([0-9a-f]+) [tTwW] (\S+)(?:\t(.+):\d+)?$")


@dataclass(frozen=True)
class Frame:
    """A function; its file below the project, or ""."""

    name: str
    file: str = ""


# From the outermost function to the innermost; how often.
Stacks = Counter[tuple[Frame, ...]]


class Symbols:
    """Functions of a program by address; it is loaded where it was linked."""

    def __init__(self, program: Path) -> None:
        out = subprocess.run(["nm", "-l", "--defined-only", str(program)],
                             capture_output=True, text=True, check=True).stdout
        found = []
        for line in out.splitlines():
            if m := NM.match(line):
                found.append((int(m[1], 16), Frame(plain(m[2]), _below(m[3]))))
        found.sort(key=lambda pair: pair[0])
        self.starts = [at for at, _ in found]
        self.frames = [frame for _, frame in found]
        self.end = (self.starts[-1] if found else 0) + (1 << 20)
        self.base = load_base(program)

    def at(self, address: int) -> Frame | None:
        """None: it is of something else."""
        i = bisect.bisect_right(self.starts, address) - 1
        return self.frames[i] if i >= 0 and address < self.end else None


    def named(self, address: int, name: str) -> Frame | None:
        """The same of a function whose name is known.  perf counts from where the
        program is linked, or from where its file begins."""
        for start in (0, self.base):
            frame = self.at(address + start)
            if frame and frame.name == name:
                return frame
        return None


def load_base(program: Path) -> int:
    """Where the start of a program's file is in memory (ELF, 64 bits)."""
    data = program.read_bytes()[:4096]
    table, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, _, offset, address = struct.unpack_from("<IIQQ", data, table + i * size)
        if kind == 1:  # PT_LOAD
            return int(address - offset)
    return 0


def plain(name: str) -> str:
    """A function's name without what the compiler adds to its clones."""
    return name.split(".", 1)[0] or name


def _below(file: str | None) -> str:
    if not file:
        return ""
    path = Path(os.path.normpath(file))
    return str(path.relative_to(PROJECT)) if path.is_relative_to(PROJECT) \
        else ""


# ---- perf --------------------------------------------------------------------

def perf_works() -> str:
    """"", or why perf cannot sample here."""
    if not shutil.which("perf"):
        return "there is no perf"
    with tempfile.TemporaryDirectory(prefix="vssd-perf-") as name:
        done = subprocess.run(
            ["perf", "record", "-q", "-g", "-o", f"{name}/data", "true"],
            capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return "perf record fails: " + (one_line(done.stderr)
                                    or f"status {done.returncode}")


def perf_script(data: Path, fields: str) -> str:
    """What perf recorded, as text."""
    return subprocess.run(
        ["perf", "script", "-i", str(data), "-F", fields],
        capture_output=True, text=True, check=True, errors="replace").stdout


def stacks_of(text: str, symbols: Symbols) -> Stacks:
    """Of `perf script -F ip,sym`: a block of lines for each sample, the innermost
    function first."""
    found: Stacks = Counter()
    for block in text.split("\n\n"):
        stack = []
        for line in block.splitlines():
            words = line.split()
            if words:
                stack.append(_frame(int(words[0], 16), words[1:], symbols))
        if stack:
            found[tuple(reversed(stack))] += 1
    return found


def _frame(address: int, words: list[str], symbols: Symbols) -> Frame:
    if address >> 63:
        return Frame(KERNEL)
    name = plain(words[0]) if words else UNKNOWN
    return symbols.named(address, name) or Frame(name)


def _by_perf(args: list[str], symbols: Symbols, folder: Path) -> tuple[Stacks, str]:
    data = folder / "data"
    done = subprocess.run(
        ["perf", "record", "-q", "-g", "-F", str(HERTZ), "-o", str(data), *args],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError("vssd-sim under perf: " + one_line(done.stderr))
    return stacks_of(perf_script(data, "ip,sym"), symbols), done.stdout


# ---- gperftools --------------------------------------------------------------

def parse_cpu_profile(data: bytes, symbols: Symbols) -> Stacks:
    """A profile in gperftools' format ("CPU profiles", docs/cpuprofile-fileformat
    of gperftools): words; a header of five, then for each stack its count, its
    depth and its addresses, the innermost first; at last 0, 1, 0 and text."""
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    if len(words) < 5 or words[:2] != (0, 3):
        raise UserError(f"{PROFILER} wrote no profile that can be read")
    at, found = 2 + words[1], Counter[tuple[Frame, ...]]()
    while at + 2 < len(words) and words[at:at + 3] != (0, 1, 0):
        n, depth = words[at:at + 2]
        stack = [symbols.at(a - (i > 0)) or Frame(UNKNOWN)
                 for i, a in enumerate(words[at + 2:at + 2 + depth])]
        found[tuple(reversed(stack))] += n
        at += 2 + depth
    return found


def _by_signal(args: list[str], symbols: Symbols, folder: Path) \
        -> tuple[Stacks, str]:
    packages.ensure(GPERFTOOLS)
    data = folder / "data"
    env = dict(os.environ, LD_PRELOAD=PROFILER, CPUPROFILE=str(data),
               CPUPROFILE_FREQUENCY=str(HERTZ))
    done = subprocess.run(args, capture_output=True, text=True, check=False,
                          env=env)
    if done.returncode != 0:
        raise UserError("vssd-sim: " + one_line(done.stderr))
    if not data.is_file():
        raise UserError(f"neither perf nor {PROFILER} samples here: install"
                        " linux-perf or libgoogle-perftools4")
    return parse_cpu_profile(data.read_bytes(), symbols), done.stdout


def sample(program: Path, args: list[str]) -> tuple[Stacks, str]:
    """Run a program; its stacks and what it printed.  Says so when perf does not
    work."""
    symbols = Symbols(program)
    why = perf_works()
    with tempfile.TemporaryDirectory(prefix="vssd-profile-") as name:
        if not why:
            return _by_perf([str(program), *args], symbols, Path(name))
        say(f"{why}: sampling with {PROFILER} of gperftools")
        return _by_signal([str(program), *args], symbols, Path(name))
