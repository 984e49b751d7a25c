#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a suite of another project on the drive, in a guest.

  tests/suites/run.py blktests --dir CHECKOUT
  tests/suites/run.py blktests --dir CHECKOUT --peer --json FILE
  tests/suites/run.py nvme-cli --dir CHECKOUT nvme_flush_test
  tests/suites/run.py fio-fdp --dir CHECKOUT --block-size 4096
  tests/suites/run.py table FILE...

The suite is not part of this project: CHECKOUT is a folder with its files,
where its programs are built so that they run in the guest (linked statically,
or on Debian 13).  --peer runs the same tests on QEMU's own nvme device.  A
row says pass, fail, skip or hang; after a test that leaves a drive that does
not answer, the next one gets a fresh guest.  SIGINT and SIGTERM end the run;
the results so far are kept.  "table" prints the results of files that --json
wrote, side by side, in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "scripts"), str(PROJECT / "tests")]

from vssd import ending  # noqa: E402 pylint: disable=wrong-import-position
from vssd.build import venv  # noqa: E402 pylint: disable=wrong-import-position
from vssd.errors import UserError  # noqa: E402 pylint: disable=wrong-import-position

PROFILE = "zero-latency"
# A reclaim unit of 2 MiB: the script writes one to its end, several times.
FDP_SETS = ["nand.channels=2", "nand.dies=1", "fdp.ruhs=8",
            "ftl.op_percent=40%"]
FDP_HANDLES = 8
SIZE_MIB = {False: 3072, True: 512}
PACKAGES = ("bsdextrautils", "dmsetup", "gawk", "pciutils", "python3", "sudo")


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    from suites import public

    p = argparse.ArgumentParser(
        prog="tests/suites/run.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="suite", required=True, metavar="SUITE")
    for suite in public.SUITES.values():
        s = sub.add_parser(suite.name, help=suite.help)
        s.add_argument("tests", nargs="*", metavar="TEST",
                       help="tests of the suite (default: all that"
                       " docs/suites.md has)")
        s.add_argument("--dir", type=Path, required=True, metavar="CHECKOUT",
                       help="the suite's files, its programs built")
        s.add_argument("--peer", action="store_true",
                       help="then the same on QEMU's own nvme device")
        s.add_argument("--device", choices=("vssd", "nvme"), default="vssd",
                       help="only this one (default: vssd)")
        s.add_argument("--json", type=Path, metavar="FILE",
                       help="write all results, with what the tests said")
        s.add_argument("--images", type=Path, metavar="FOLDER",
                       help="where the drive's image is made (default: the"
                       " cache)")
        s.add_argument("--profile", default=PROFILE,
                       help="the drive's profile (default: %(default)s)")
        s.add_argument("--set", action="append", default=[],
                       metavar="KEY=VALUE", help="an option of the drive")
        s.add_argument("--size", type=int, default=SIZE_MIB[suite.fdp],
                       metavar="MIB",
                       help="the drive's size (default: %(default)s)")
        s.add_argument("--block-size", type=int, choices=(512, 4096),
                       default=512, help="of the namespace (default: 512)")
        s.add_argument("--seconds", type=int, default=30, metavar="N",
                       help="how long a test may load the drive, where it has"
                       " a limit (default: %(default)s)")
        s.add_argument("--limit", type=int, default=suite.limit_s,
                       metavar="N", help="seconds after which a test hangs"
                       " (default: %(default)s)")
    t = sub.add_parser("table", help="results as Markdown")
    t.add_argument("files", nargs="+", type=Path, metavar="FILE",
                   help="what --json wrote")
    return p


def check(args: argparse.Namespace) -> None:
    """Errors that can be found before the run."""
    from suites import public

    from vssd import paths

    suite = public.SUITES[args.suite]
    suite.check(args.dir)
    known = suite.tests(args.dir)
    for name in args.tests:
        if name not in known and not (args.dir / "tests" / name).is_file():
            raise UserError(f"{name}: no test of {suite.name}")
    for one in args.set:
        if "=" not in one or ";" in one:
            raise UserError(f"--set {one}: give KEY=VALUE")
    for name, low in (("size", 64), ("seconds", 1), ("limit", 10)):
        if not low <= getattr(args, name) <= 1 << 20:
            raise UserError(f"--{name} {getattr(args, name)}: allowed"
                            f" {low}..{1 << 20}")
    if args.images and not args.images.is_dir():
        raise UserError(f"--images {args.images}: no such folder")
    if args.json and not args.json.absolute().parent.is_dir():
        raise UserError(f"--json {args.json}: no such folder")
    paths.find_profile(args.profile)


def run_suite(args: argparse.Namespace, kind: str, runs: list[dict[str, Any]]) \
        -> None:
    """All tests on one device; a row is printed, and stands in the last of the
    runs, as soon as it is known."""
    from suites import public, target

    from vssd import paths
    from vssd.rundir import rundir

    suite = public.SUITES[args.suite]
    sets = (FDP_SETS if suite.fdp else []) + args.set
    left = args.tests or suite.tests(args.dir)
    tree = _commit(PROJECT)
    with rundir() as work, rundir(args.images) as images:
        setup = target.Setup(
            kind, images, args.size << 20,
            paths.find_profile(args.profile), sets, args.block_size,
            FDP_HANDLES if suite.fdp else 0, PACKAGES, args.dir / suite.part)
        with target.Target(setup, work) as t:
            run: dict[str, Any] = {
                "suite": suite.name, "device": kind, "tree": tree,
                "checkout": _commit(args.dir), "block_bytes": args.block_size,
                "profile": args.profile, "sets": sets, **t.versions(),
                "rows": [], "not_run": left}
            runs.append(run)
            ready = False
            while left:
                if not ready:
                    _prepare(t, suite)
                found = _run_test(t, suite, left[0], args)
                for row in found:
                    print(_line(kind, row), flush=True)
                run["rows"] += [asdict(row) for row in found]
                run["not_run"] = left = left[1:]
                ready = not any(r.dead for r in found)
                if not ready and left:
                    t.restart()


def _prepare(t: Any, suite: Any) -> None:
    # The share is the part itself; the suite wants it under its name.
    if suite.part:
        t.run(f"mv /root/suite /root/part && mkdir /root/suite"
              f" && mv /root/part /root/suite/{suite.part}")
    t.run(suite.prepare)
    t.complaints()


def _run_test(t: Any, suite: Any, name: str, args: argparse.Namespace) \
        -> list[Any]:
    from suites import public

    device = t.device()
    result, seconds = t.timed(suite.command(name, device, args.seconds),
                              args.limit)
    if result is None:
        rows = [public.Row(name, public.HUNG,
                           f"not done after {seconds:.0f} s")]
    else:
        rows = suite.rows(name, (result.out + result.err).decode(
            errors="replace"))
    if len(rows) == 1:
        rows[0].seconds = round(seconds, 1)
    rows[-1].complaints = t.complaints()
    # A guest in which a test still runs serves no other.
    rows[-1].dead = t.trouble() or ("" if result else "the test still runs")
    return rows


def _line(kind: str, row: Any) -> str:
    tail = f": {row.reason}" if row.reason else ""
    if row.dead:
        tail += f" [afterwards: {row.dead}]"
    if row.complaints:
        tail += f" [{len(row.complaints)} complaints of the kernel]"
    return f"{row.result:<5}{kind} {row.name} ({row.seconds:.0f} s){tail}"


def _commit(folder: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty",
         "--exclude", "*"], capture_output=True, text=True, check=False)
    inside = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--show-prefix"],
        capture_output=True, text=True, check=False)
    # A checkout without its history may be within another project's.
    if done.returncode != 0 or inside.stdout.strip():
        return "unknown"
    return done.stdout.strip()


def table(files: list[Path]) -> str:
    """Markdown: a line for each test, a column for each run."""
    runs: list[dict[str, Any]] = []
    for path in files:
        try:
            runs += json.loads(path.read_text())
        except (OSError, ValueError, TypeError) as e:
            raise UserError(f"{path}: {e}") from e
    names = dict.fromkeys(r["name"] for run in runs for r in run["rows"])
    lines = ["| test | " + " | ".join(
        f"{r['device']} ({r['block_bytes']} B)" for r in runs) + " |",
        "|---" * (len(runs) + 1) + "|"]
    for name in names:
        cells = []
        for run in runs:
            row = next((r for r in run["rows"] if r["name"] == name), None)
            cells.append("" if row is None else _cell(row))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(row: dict[str, Any]) -> str:
    text = row["result"]
    if row["reason"]:
        text += ": " + row["reason"].replace("|", "\\|")
    return text + (f"; afterwards: {row['dead']}" if row["dead"] else "")


def summary(run: dict[str, Any]) -> str:
    """The result of a run, in a line."""
    counts = {w: sum(r["result"] == w for r in run["rows"])
              for w in ("pass", "fail", "skip", "hang")}
    if run["not_run"]:
        counts["not run"] = len(run["not_run"])
    return (f"{run['suite']} on {run['device']}, tree {run['tree']}, Linux"
            f" {run['kernel']}, image on {run['host_fs']}: "
            + ", ".join(f"{n} {w}" for w, n in counts.items()))


def main(argv: list[str]) -> int:
    """See the head of this file."""
    args = parser().parse_args(argv)
    if args.suite == "table":
        print(table(args.files))
        return 0
    check(args)
    runs: list[dict[str, Any]] = []
    try:
        for kind in ["vssd", "nvme"] if args.peer else [args.device]:
            run_suite(args, kind, runs)
    finally:
        if args.json and runs:
            args.json.write_text(json.dumps(runs, indent=1))
        for run in runs:
            print(summary(run))
    bad = [r for r in runs[0]["rows"] if r["result"] in ("fail", "hang")]
    return 1 if bad else 0


def _in_venv() -> int:
    if not venv.inside():
        python = str(venv.ensure() / "bin/python")
        os.execv(python, [python, __file__, *sys.argv[1:]])
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(ending.run(_in_venv))
