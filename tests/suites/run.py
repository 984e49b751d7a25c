#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a suite of another project on the drive, in a guest.

  tests/suites/run.py blktests --dir CHECKOUT
  tests/suites/run.py blktests --dir CHECKOUT --peer --json FILE
  tests/suites/run.py nvme-cli --dir CHECKOUT nvme_flush_test
  tests/suites/run.py fio-fdp --block-size 4096
  tests/suites/run.py table FILE...

The suite is not part of this project: CHECKOUT is a folder with its files,
where its programs are built so that they run in the guest (linked statically,
or on Debian 13).  Without --dir they are those of Debian's source package.
--peer runs the same tests on QEMU's own nvme device.  A row says pass, fail,
skip or hang; after a test that leaves a drive that does not answer, the next
one gets a fresh guest.  SIGINT and SIGTERM end the run; the results so far are
kept.  "table" prints the results of files that --json wrote, side by side, in
Markdown.  ./vssd bench conformance runs several suites on both devices.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / name) for name in ("scripts", "lab", "tests")]

from vssd import ending  # noqa: E402 pylint: disable=wrong-import-position
from vssd.build import venv  # noqa: E402 pylint: disable=wrong-import-position
from vssd.errors import UserError  # noqa: E402 pylint: disable=wrong-import-position

# Those of which the suites' programs run, too.
KERNELS = ("trixie", "trixie-backports")


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    from vssd.guest import image
    from vssd_lab.suites import runner

    p = argparse.ArgumentParser(
        prog="tests/suites/run.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="suite", required=True, metavar="SUITE")
    for suite in runner.SUITES.values():
        s = sub.add_parser(suite.name, help=suite.help)
        s.add_argument("tests", nargs="*", metavar="TEST",
                       help="tests of the suite (default: all that"
                       " docs/lab/suites.md has)")
        s.add_argument("--dir", type=Path, required=not suite.source,
                       metavar="CHECKOUT",
                       help="the suite's files, its programs built"
                       + (f" (default: those of Debian's {suite.source})"
                          if suite.source else ""))
        s.add_argument("--peer", action="store_true",
                       help="then the same on QEMU's own nvme device")
        s.add_argument("--device", choices=("vssd", "nvme"), default="vssd",
                       help="only this one (default: vssd)")
        s.add_argument("--json", type=Path, metavar="FILE",
                       help="write all results, with what the tests said")
        s.add_argument("--kernel", choices=sorted(KERNELS),
                       default=image.SUITE, metavar="SUITE",
                       help="Debian's suite of the guest and its kernel: "
                       + ", ".join(sorted(KERNELS)) + " (default: %(default)s)")
        s.add_argument("--images", type=Path, metavar="FOLDER",
                       help="where the drive's image is made (default: the"
                       " cache)")
        s.add_argument("--profile", default=runner.PROFILE,
                       help="the drive's profile (default: %(default)s)")
        s.add_argument("--set", action="append", default=[],
                       metavar="KEY=VALUE", help="an option of the drive")
        s.add_argument("--size", type=int, default=suite.form.size_mib,
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
    from vssd import paths
    from vssd_lab.suites import runner, sources

    suite = runner.SUITES[args.suite]
    if args.dir:
        suite.check(args.dir)
    else:
        args.dir = sources.debian(suite.source).folder
    known = runner.tests(suite, args.dir)
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


def main(argv: list[str]) -> int:
    """See the head of this file."""
    from vssd_lab.suites import runner, sources

    args = parser().parse_args(argv)
    if args.suite == "table":
        print(table(args.files))
        return 0
    check(args)
    runs: list[dict[str, Any]] = []
    options = runner.Options(
        sources.files(args.dir), args.tests, args.profile, args.set,
        args.size, args.block_size, args.seconds, args.limit, args.images,
        args.kernel)
    try:
        for kind in ["vssd", "nvme"] if args.peer else [args.device]:
            runner.run(
                runner.SUITES[args.suite], kind, options, runs,
                lambda kind, row: print(runner.line(kind, row), flush=True))
    finally:
        if args.json and runs:
            args.json.write_text(json.dumps(runs, indent=1))
        for run in runs:
            print(runner.summary(run))
    bad = [r for r in runs[0]["rows"] if r["result"] in ("fail", "hang")]
    return 1 if bad else 0


def _in_venv() -> int:
    if not venv.inside():
        python = str(venv.ensure() / "bin/python")
        os.execv(python, [python, __file__, *sys.argv[1:]])
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(ending.run(_in_venv))
