# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd test: everything that the project checks about itself.

Groups, in the order in which they run:
  gcc, clang   the model built with sanitizers, and its unit, property, swarm
               and fuzz tests
  scripts      the vssd command, the sources' rules
  qemu         the device, through QEMU's test interface
  guest        Linux guests, through firmware and directly; libvirt
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import model, packages, qemu_build, venv
from .errors import UserError
from .paths import PROJECT, cache_dir
from .proc import log_file

MESON_LINE = re.compile(
    r"^\s*\d+/\d+\s+(?P<name>.+?)\s{2,}(?P<result>OK|FAIL|ERROR|TIMEOUT|SKIP"
    r"|EXPECTEDFAIL|UNEXPECTEDPASS)\s+(?P<time>[\d.]+)\s*s")
PYTEST_LINE = re.compile(
    r"^(?P<name>\S+::.+?) (?P<result>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
    r"(?P<why> \(.*\))?(?:\s+\[\s*\d+%\])?$")
GOOD = ("OK", "EXPECTEDFAIL", "PASSED", "XFAIL")
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "MESON_TESTTHREADS": "2",
}


@dataclass
class Tally:
    """What came out."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0

    def note(self, name: str, result: str, detail: str = "") -> None:
        """Count one test and show its line."""
        if result in GOOD:
            self.passed += 1
            mark = "ok"
        elif result.startswith("SKIP"):
            self.skipped += 1
            mark = "skip"
        else:
            self.failed.append(name)
            mark = "FAIL"
        print(f"{mark:<5}{name}{detail}", flush=True)


def add_parser(sub: "argparse._SubParsersAction[argparse.ArgumentParser]") \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "test", help="run the project's tests", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--long", action="store_true",
                   help="run the long tests, too: hours")
    p.add_argument("--list", action="store_true",
                   help="list the groups and end")
    p.add_argument("names", nargs="*", metavar="NAME",
                   help="a group, or a part of the names of tests")
    p.set_defaults(call=main)


def _lines(args: list[str], log: Path, env: dict[str, str]) \
        -> Iterator[tuple[str, int | None]]:
    """The output line by line, kept in the log; last comes the status."""
    with open(log, "w", encoding="utf-8") as f:
        proc = subprocess.Popen(
            args, cwd=PROJECT, env=dict(os.environ, **env), text=True,
            errors="replace", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert proc.stdout
        try:
            for line in proc.stdout:
                f.write(line)
                f.flush()
                yield line.rstrip("\n"), None
            yield "", proc.wait()
        finally:
            if proc.poll() is None:
                proc.terminate()
                proc.wait()


def run_meson(kind: str, parts: list[str], tally: Tally, long: bool) -> None:
    """The tests of one build of the model."""
    try:
        build = model.ensure(kind)
    except UserError as e:
        tally.note(f"{kind}: build", "FAIL", f": {e}")
        return
    tally.note(f"{kind}: build", "OK")
    env = {**SANITIZERS, **venv.path_env()}
    if long:
        env["VSSD_LONG"] = "1"
    setup = ["--setup", "long" if long else "quick"]
    names = _meson_names(build, parts, env, setup)
    if not names:
        return
    args = [str(venv.tool("meson")), "test", "-C", str(build), "--no-rebuild",
            *setup, "--print-errorlogs", "--timeout-multiplier",
            "100" if long else "4", *names]
    log = log_file(f"test-{kind}")
    counted, status = 0, 0
    for line, end in _lines(args, log, env):
        m = MESON_LINE.match(line)
        if m:
            counted += 1
            name = m["name"].removeprefix("vssd:").replace(" / ", "/")
            tally.note(f"{kind}: {name}", m["result"], f" ({m['time']} s)")
        elif end is None and counted and line.strip():
            print(f"     | {line}")
        status = end or 0
    if status != 0 and not tally.failed or not counted:
        tally.note(f"{kind}: meson test", "FAIL", f" (log: {log})")


def _meson_names(build: Path, parts: list[str], env: dict[str, str],
                 setup: list[str]) -> list[str]:
    out = subprocess.run(
        [str(venv.tool("meson")), "test", "-C", str(build), "--list",
         "--no-rebuild", *setup], capture_output=True, text=True, check=True,
        env=dict(os.environ, **env)).stdout
    names = [x.split(" / ")[-1].strip() for x in out.splitlines() if " / " in x]
    return [n for n in dict.fromkeys(names)
            if not parts or any(p in n for p in parts)]


def run_pytest(group: str, parts: list[str], tally: Tally, long: bool) -> None:
    """The tests of one folder."""
    folder = PROJECT / "tests" / group
    env = {"PYTHONPATH": str(PROJECT / "scripts"), "COLUMNS": "200",
           "PYTEST_ADDOPTS": "", **venv.path_env()}
    try:
        if group != "scripts":
            env["VSSD_QEMU"] = str(qemu_build.ensure().emulator)
            env["VSSD_QEMU_IMG"] = str(qemu_build.built().img)
        if group == "qemu":
            env["VSSD_OPLOG_CHECK"] = str(model.oplog_check())
    except UserError as e:
        tally.note(f"{group}: build of QEMU", "FAIL", f": {e}")
        return
    if long:
        env["VSSD_LONG"] = "1"
    args = [str(venv.tool("python")), "-m", "pytest", "-v", "--tb=short",
            "-p", "no:cacheprovider", "--durations=8",
            "-o", f"cache_dir={cache_dir() / 'pytest'}", str(folder)]
    if parts:
        args += ["-k", " or ".join(parts)]
    log = log_file(f"test-{group}")
    before = len(tally.failed)
    report = False
    status = 0
    for line, end in _lines(args, log, env):
        m = PYTEST_LINE.match(line)
        if m and not report:
            tally.note(f"{group}: {m['name'].split('::', 1)[1]}", m["result"],
                       m["why"] or "")
        elif line.startswith(("=====", "_____")):
            report = "FAILURES" in line or "ERRORS" in line or report
        if report and end is None:
            print(f"     | {line}")
        status = end or 0
    if status not in (0, 5) and len(tally.failed) == before:
        tally.note(f"{group}: pytest", "FAIL",
                   f" (status {status}, log: {log})")


GROUPS = {
    "gcc": run_meson,
    "clang": run_meson,
    "scripts": run_pytest,
    "qemu": run_pytest,
    "guest": run_pytest,
}


def main(args: argparse.Namespace) -> int:
    """./vssd test"""
    if args.list:
        print("\n".join(GROUPS))
        return 0
    groups = [n for n in args.names if n in GROUPS]
    parts = [n for n in args.names if n not in GROUPS]
    if any(not re.fullmatch(r"[\w.-]+", p) for p in parts):
        raise UserError("NAME: a group (./vssd test --list), or a part of the"
                        " name of a test: letters, digits, - and _")
    packages.ensure(*packages.SETUP, packages.CLANG)
    tally = Tally()
    for name in groups or GROUPS:
        GROUPS[name](name, parts, tally, args.long)
    print()
    for name in tally.failed:
        print(f"failed: {name}")
    if tally.passed + len(tally.failed) == 0:
        raise UserError("no test has such a name")
    tail = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {len(tally.failed)} failed{tail}")
    sys.stdout.flush()
    return 1 if tally.failed else 0
