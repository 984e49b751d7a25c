#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that the corpus of fuzz-nvme reaches, by clang's own count.

    tests/fuzz/coverage.py [BUILD] [--corpus DIR] [--files] [--uncovered FILE]

BUILD is made by Meson with clang if it is not there (build-coverage).  Needs the
packages clang, llvm and libclang-rt-dev of the same version.  Ends with an error
when a folder has less than is expected of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Lines that the corpus alone must reach, in per cent.
EXPECTED = {"hw-ssd/nvme": 90.0, "ftl": 60.0, "nand": 0.0, "core": 0.0}
FLAGS = "-fprofile-instr-generate -fcoverage-mapping"


def run(*command: str | Path, **env: str) -> str:
    done = subprocess.run([str(c) for c in command], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, check=False,
                          env={**os.environ, **env})
    if done.returncode:
        sys.stdout.write(done.stdout[-4000:])
        sys.exit(f"coverage: {Path(command[0]).name} failed")
    return done.stdout


def build(where: Path) -> Path:
    if not (where / "build.ninja").exists():
        run(os.environ.get("MESON", "meson"), "setup", where, ROOT,
            "-Dbuildtype=debugoptimized", CC="clang", CFLAGS=FLAGS,
            LDFLAGS="-fprofile-instr-generate", LLVM_PROFILE_FILE=os.devnull)
    run("ninja", "-C", where, "tests/fuzz/replay-nvme")
    return where / "tests/fuzz/replay-nvme"


def replay(program: Path, corpus: Path) -> Path:
    raw, profile = program.with_suffix(".profraw"), program.with_suffix(".profdata")
    run(program, corpus, "-p", "/fuzz/corpus", LLVM_PROFILE_FILE=str(raw))
    run("llvm-profdata", "merge", "-o", profile, raw)
    return profile


def lines_of(program: Path, profile: Path) -> dict[str, tuple[int, int]]:
    """Lines, and those of them that were reached, of each file of the tree."""
    report = json.loads(run("llvm-cov", "export", program,
                            f"-instr-profile={profile}", "-summary-only"))
    files = {}
    for entry in report["data"][0]["files"]:
        path = Path(os.path.normpath(program.parents[2] / entry["filename"]))
        if path.is_relative_to(ROOT):
            count = entry["summary"]["lines"]
            files[str(path.relative_to(ROOT))] = (count["count"], count["covered"])
    return files


def main() -> None:
    parser = argparse.ArgumentParser(
        description="lines that the corpus of fuzz-nvme reaches")
    parser.add_argument("build", nargs="?", type=Path,
                        default=ROOT / "build-coverage")
    parser.add_argument("--corpus", type=Path,
                        default=ROOT / "tests/corpora/nvme")
    parser.add_argument("--files", action="store_true", help="file by file, too")
    parser.add_argument("--uncovered", metavar="FILE",
                        help="print the lines of FILE that nothing reaches")
    args = parser.parse_args()

    program = build(args.build.resolve())
    profile = replay(program, args.corpus.resolve())
    files = lines_of(program, profile)
    low = []
    for folder, expected in EXPECTED.items():
        inside = {f: n for f, n in sorted(files.items())
                  if str(Path(f).parent) == folder and n[0]}
        for name, (lines, reached) in inside.items():
            if args.files:
                print(f"  {name:36} {reached:6} of {lines:6}"
                      f" {100 * reached / lines:6.1f} %")
        lines = sum(n for n, _ in inside.values())
        reached = sum(n for _, n in inside.values())
        share = 100 * reached / lines if lines else 0.0
        print(f"{folder:12} {reached:6} of {lines:6} lines {share:6.1f} %"
              f"   expected {expected:.0f} %")
        if share < expected:
            low.append(folder)
    if args.uncovered:
        shown = run("llvm-cov", "show", program, f"-instr-profile={profile}",
                    f"-sources={ROOT / args.uncovered}", ROOT / args.uncovered)
        print("\n".join(line for line in shown.splitlines() if "|      0|" in line))
    if low:
        sys.exit(f"coverage: too little of {', '.join(low)}")


if __name__ == "__main__":
    main()
