# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fuzz: inputs that nobody thought of, and how many of them ran.

libFuzzer (clang) runs a target of tests/fuzz with the address and the undefined
behaviour sanitizer, in rounds of a quarter of an hour, and counts its
executions itself.  Its corpus is kept in a folder, from which the next call
continues.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from vssd import ranges, sizes
from vssd.build import model
from vssd.errors import UserError
from vssd.paths import PROJECT, cache_dir
from vssd.ui import Stage

# Parameters of each target: the longest input in bytes, and the seeds.
TARGETS = {"nvme": 104, "trace": 4096}
ROUND_S = 900
ROUND_RUNS = 1_000_000
KILL_S = 120  # a round that does not end by itself
INTERRUPTED = 72  # libFuzzer's exit status after SIGINT
SANITIZERS = {
    # A small quarantine keeps memory warm: an input frees about a MiB.  Leaks are
    # looked for when a round ends.
    "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:"
                    "allocator_release_to_os_interval_ms=-1:"
                    "detect_stack_use_after_return=0:malloc_context_size=2:"
                    "handle_abort=1:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1",
}
# Edges only, not how often each was taken: else most of the time goes into
# keeping inputs that differ in a count.
LIBFUZZER = ("-use_counters=0", "-entropic=0", "-reduce_inputs=0",
             "-len_control=0", "-detect_leaks=0", "-timeout=60",
             "-rss_limit_mb=2048", "-print_final_stats=1")
COUNT = re.compile(rb"^stat::number_of_executed_units:\s*(\d+)", re.M)
LATEST = re.compile(rb"^#(\d+)\t", re.M)
EDGES = re.compile(rb"\bcov: (\d+)")


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "fuzz", help="look for inputs that break the device or a parser",
        description="Runs a fuzz target under libFuzzer with the address and"
        " the undefined behaviour sanitizer, and says how many executions"
        " there were (docs/lab/fuzzing.md).  Exit status 1: an input failed; it is"
        " kept in the folder.")
    p.add_argument("target", nargs="?", default="nvme", choices=list(TARGETS),
                   help="nvme: guests in front of any drive; trace: trace"
                   " files (default: nvme)")
    p.add_argument("--executions", type=int, default=100_000, metavar="N",
                   help="end after so many (default: 100000)")
    p.add_argument("--minutes", type=float, default=0, metavar="M",
                   help="end after this time, whatever was done")
    p.add_argument("--jobs", type=int, default=1, metavar="N",
                   help="processes (default: 1)")
    p.add_argument("--length", default="", metavar="BYTES",
                   help="longest input; nvme: a head and actions of 8 bytes"
                   " each (default: " + ", ".join(
                       f"{n} of {t}" for t, n in TARGETS.items()) + ")")
    p.add_argument("--folder", type=Path, metavar="DIR",
                   help="new inputs and those that failed (default: in the"
                   " cache)")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """UserError for contradictory options."""
    ranges.check("--executions", args.executions, 1)
    ranges.check("--minutes", args.minutes, 0)
    ranges.check("--jobs", args.jobs, 1, 256)
    _length(args)


def _length(args: argparse.Namespace) -> int:
    """The longest input."""
    return sizes.read("--length ", args.length, 8, 1 << 20) if args.length \
        else TARGETS[args.target]


@dataclass
class Campaign:
    """The command, and its result."""

    program: Path
    folder: Path
    seeds: Path
    length: int
    executions: int = 0
    edges: int = 0
    failed: list[str] = field(default_factory=list)

    def command(self, runs: int, seconds: int) -> list[str]:
        """One process of a round."""
        return [str(self.program), *LIBFUZZER, f"-max_len={self.length}",
                f"-runs={runs}", f"-max_total_time={seconds}",
                f"-artifact_prefix={self.folder}/failed/",
                str(self.folder / "corpus"), str(self.seeds)]

    def note(self, output: bytes, status: int) -> None:
        """A process has ended: count, and see whether something failed."""
        found = COUNT.findall(output) or LATEST.findall(output)[-1:]
        self.executions += int(found[0]) if found else 0
        self.edges = max([self.edges,
                          *map(int, EDGES.findall(output)[-1:])])
        if status not in (0, INTERRUPTED):
            self.failed.append(telling(output))

    def round(self, jobs: int, runs: int, seconds: int) -> None:
        """All processes at once, to the end of each."""
        logs = [self.folder / f"log.{i}" for i in range(jobs)]
        procs = []
        try:
            for log in logs:
                with open(log, "wb") as f:
                    procs.append(subprocess.Popen(
                        self.command(runs, seconds), stdout=f,
                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                        env={**os.environ, **SANITIZERS}))
            for proc in procs:
                proc.wait(seconds + KILL_S)
        except subprocess.TimeoutExpired:
            self.failed.append("a process did not end in time")
        finally:
            for log, proc in zip(logs, procs):
                killed = proc.poll() is None
                if killed:
                    proc.kill()
                status = proc.wait()
                self.note(log.read_bytes(), 0 if killed else status)


def telling(output: bytes) -> str:
    """The line that says best why a process failed."""
    text = output.decode(errors="replace")
    for want in (r"^.*runtime error:.*$", r"^\*\* .*ERROR \*\*: .*$",
                 r"^ERROR:.*$", r"^.*ERROR: .*$"):
        m = re.search(want, text, re.M)
        if m:
            return m[0].strip()[:400]
    return "it ended without a word"


def version() -> str:
    """The commit, with a mark when files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=PROJECT,
        capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def run(campaign: Campaign, args: argparse.Namespace) -> None:
    """Rounds until there is enough, or something failed."""
    begin = time.monotonic()
    with Stage(f"fuzzing {args.target}") as stage:
        while campaign.executions < args.executions and not campaign.failed:
            left = ROUND_S
            if args.minutes:
                left = min(left, int(begin + 60 * args.minutes
                                     - time.monotonic()))
                if left < 1:
                    break
            want = args.executions - campaign.executions
            campaign.round(args.jobs, min(-(-want // args.jobs), ROUND_RUNS),
                           left)
            stage.step(campaign.executions, args.executions,
                       f"{campaign.edges} edges")


def main(args: argparse.Namespace) -> int:
    """./vssd fuzz"""
    check(args)
    name = f"fuzz-{args.target}"
    build = model.ensure("clang-fuzz", f"tests/fuzz/{name}")
    folder = (args.folder or cache_dir() / name).absolute()
    for part in ("corpus", "failed"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    # A copy: an hour later the build may be another one.
    program = folder / name
    shutil.copy2(build / "tests" / "fuzz" / name, program)
    campaign = Campaign(program, folder,
                        PROJECT / "tests" / "corpora" / args.target,
                        _length(args))
    commit = version()
    try:
        run(campaign, args)
    finally:
        print(f"{name} at {commit}: {campaign.executions} executions of inputs"
              f" up to {campaign.length} bytes, {campaign.edges} edges,"
              f" {len(campaign.failed)} failed")
    for line in campaign.failed:
        print(line)
    if campaign.failed:
        print(f"inputs that failed: {folder}/failed")
    elif not campaign.executions:
        raise UserError("fuzz: no input was executed: give more --minutes or"
                        " --executions")
    return 1 if campaign.failed else 0
