# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd test: everything that the project checks about itself.

Groups, in the order in which they run:
  lint         the sources: ruff, mypy, shellcheck, codespell, clang-format,
               clang-tidy, the documents' links and commands
  gcc, clang   the model built by each, and its unit, property, swarm and fuzz
               tests; gcc's build watches memory (address sanitizer), clang's
               what C leaves undefined, by swarm and fuzz tests alone, and not
               again with the same sources; with --long each both, and all tests
  release      the model as users get it: many requests, compared with formulas,
               data sheets and the operation log; full drives of each policy;
               drives of up to 256 TiB; power cuts at many instants
  scripts      the vssd command, the sources' rules
  lab          the laboratory: figures, benches, suites, fuzzing, these groups
  qemu         the device, through QEMU's test interface
  server       vssd-server, by a client of vfio-user; with the address sanitizer
  guest        Linux guests, through firmware and directly, kernels of other
               versions and one with our patches; libvirt
  qemu-new     the tests of group qemu with the newest QEMU of which the mirror
               has the source; only when it is named, or with --long
  mutants      small errors made on purpose, each of which a test of the model
               has to find; only when it is named, or with --long
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from vssd import rundir
from vssd.build import (
    emulator,
    kernel_build,
    model,
    packages,
    qemu_build,
    venv,
    vfio_server,
)
from vssd.build.kernel_source import Wanted
from vssd.build.qemu_source import NEWEST, Origin
from vssd.cli import stop
from vssd.errors import UserError, one_line
from vssd.guest import image, suite_kernel
from vssd.paths import PROJECT, cache_dir
from vssd.proc import log_file

from . import lint, mutants, testnames, testparts, testpasses
from .testtimes import Times

MESON_LINE = re.compile(
    r"^\s*\d+/\d+\s+(?P<name>.+?)\s+(?P<result>OK|FAIL|ERROR|TIMEOUT|SKIP"
    r"|EXPECTEDFAIL|UNEXPECTEDPASS)\s+(?P<time>[\d.]+)\s*s")
PYTEST_LINE = "\x1evssd "  # tests/vssd_lines.py
WORKER_GROUP = re.compile(r"@[^@\]]*$")  # pytest-xdist puts it behind the name
NAME_MAX = 100
NEW = "qemu-new"
WORKERS_MAX = 4  # each may have a guest with 1 GiB
# Of the model and its tests.
SOURCES = ("meson.build", "meson_options.txt", "core/", "nand/", "ftl/", "hw-ssd/", "lib/",
           "sim/", "tools/", "profiles/",
           *(f"tests/{name}/" for name in ("core", "nand", "ftl", "lib", "sim", "nvme",
                                           "fuzz", "checker", "corpora", "reports")),
           "tests/meson.build")
GOOD = ("OK", "EXPECTEDFAIL", "PASSED", "XFAIL")
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "MESON_TESTTHREADS": "2",
}


@dataclass
class Tally:
    """The results."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0
    times: Times = field(default_factory=Times)

    def note(self, name: str, result: str, detail: str = "",
             seconds: float = 0.0) -> None:
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
        if len(name) > NAME_MAX:
            name = name[:NAME_MAX] + "..."
        if seconds:
            self.times.tests.append((seconds, name))
        print(f"{mark:<5}{name}{detail}", flush=True)


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "test", help="run the project's tests", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--long", action="store_true",
                   help="run the long tests, too: hours")
    p.add_argument("--changed", metavar="COMMIT",
                   help="run only the long tests of the parts that have changed"
                   " since then")
    p.add_argument("--list", action="store_true",
                   help="list the groups and end")
    p.add_argument("names", nargs="*", metavar="NAME",
                   help="a group, or a part of the names of tests")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The names, before anything is installed or built."""
    if args.changed is not None and (args.names or args.long):
        raise UserError("--changed: chooses the tests by itself; give no NAME"
                        " and no --long with it")
    groups, parts = _chosen(args)
    if any(not re.fullmatch(r"[\w.-]+", p) for p in parts):
        raise UserError("NAME: a group (./vssd test --list), or a part of the"
                        " name of a test: letters, digits, - and _")
    none = testnames.unknown(groups, parts)
    if none:
        where = f" of {', '.join(groups)}" if {*groups} & {*args.names} else ""
        raise UserError(f"NAME: {', '.join(none)}: no test{where} has such a"
                        " name; ./vssd test --list has the groups")


def _chosen(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The groups to run, and the parts of names."""
    groups = [n for n in args.names if n in GROUPS]
    return (groups or [g for g in GROUPS if args.long or g not in LONG_GROUPS],
            [n for n in args.names if n not in GROUPS])


def _lines(args: list[str], log: Path, env: dict[str, str]) \
        -> Iterator[tuple[str, int | None]]:
    """The output line by line, kept in the log; last comes the status.  The
    program may also write to the file descriptor VSSD_LINES."""
    read_fd, write_fd = os.pipe()
    with open(log, "w", encoding="utf-8") as f, \
            open(read_fd, encoding="utf-8", errors="replace") as lines:
        try:
            proc = subprocess.Popen(
                args, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=write_fd,
                stderr=subprocess.STDOUT, pass_fds=[write_fd],
                env=dict(os.environ, VSSD_LINES=str(write_fd), **env))
        finally:
            os.close(write_fd)
        try:
            for line in lines:
                f.write(line)
                f.flush()
                yield line.rstrip("\n"), None
            yield "", proc.wait()
        finally:
            if proc.poll() is None:
                proc.terminate()
                proc.wait()


def run_meson(kind: str, parts: list[str], tally: Tally, long: bool) -> None:
    """The tests of one build of the model with a sanitizer: all of them with
    gcc, and with --long; those of suite random with clang, unless they have
    passed with the same sources."""
    if long:
        _run_meson(f"{kind}-long", ["all", "release-tests"],
                   ["--setup", "long"], parts, tally, long)
    elif kind == "gcc":
        _run_meson(kind, [], ["--setup", "sanitized"], parts, tally, long)
    else:
        _unless_passed(kind, parts, tally, partial(
            _run_meson, kind, ["random-tests"],
            ["--setup", "quick", "--suite", "random"], parts, tally, long))


def _unless_passed(group: str, parts: list[str], tally: Tally,
                   run: Callable[[], None]) -> None:
    """Run a whole group that is long, unless it has passed with the same
    sources; what is named runs."""
    if parts:
        run()
        return
    kept = testpasses.folder() / testpasses.name_of(
        group, testpasses.files_of(SOURCES))
    if testpasses.counts(kept):
        tally.note(f"{group}: all its tests", "SKIP", f" ({testpasses.WHY})")
        return
    before = len(tally.failed)
    run()
    if len(tally.failed) == before:
        kept.touch()


def run_release(kind: str, parts: list[str], tally: Tally, long: bool) -> None:
    """The tests of suite release, on the build that users get."""
    if not long:  # --long has them in the other builds
        _run_meson(kind, ["release-tests"],
                   ["--setup", "quick", "--suite", "release"], parts, tally, long)


def _run_meson(kind: str, targets: list[str], which: list[str],
               parts: list[str], tally: Tally, long: bool) -> None:
    """The tests `which` of one build of the model, of which `targets` are
    built (all when none is named)."""
    try:
        build = model.ensure(kind, *targets)
    except UserError as e:
        tally.note(f"{kind}: build", "FAIL", f": {e}")
        return
    tally.note(f"{kind}: build", "OK")
    env = {**SANITIZERS, **venv.path_env()}
    if long:
        env["VSSD_LONG"] = "1"
        env["ASAN_OPTIONS"] += ":detect_stack_use_after_return=1"  # twice the time
    try:
        names = _meson_names(build, parts, env, which)
    except UserError as e:
        tally.note(f"{kind}: meson test", "FAIL", f": {e}")
        return
    if not names:
        return
    args = [str(venv.tool("meson")), "test", "-C", str(build), "--no-rebuild",
            *which, "--print-errorlogs", "--timeout-multiplier",
            "100" if long else "10", *names]
    log = log_file(f"test-{kind}")
    seen: set[str] = set()  # meson repeats the failures at its end
    status = 0
    before = len(tally.failed)
    for line, end in _lines(args, log, env):
        m = MESON_LINE.match(line)
        if m and m["name"] not in seen:
            seen.add(m["name"])
            name = m["name"].removeprefix("vssd:").replace(" / ", "/")
            name = re.sub(r"\+(release|slow)/", "/", name)
            tally.note(f"{kind}: {name}", m["result"], f" ({m['time']} s)",
                       float(m["time"]))
        elif end is None and seen and line.strip():
            print(f"     | {line}")
        status = end or 0
    if status != 0 and len(tally.failed) == before or len(seen) != len(names):
        tally.note(f"{kind}: meson test", "FAIL", f" (status {status},"
                   f" {len(seen)} of {len(names)} tests, log: {log})")


def _meson_names(build: Path, parts: list[str], env: dict[str, str],
                 which: list[str]) -> list[str]:
    done = subprocess.run(
        [str(venv.tool("meson")), "test", "-C", str(build), "--list",
         "--no-rebuild", *which], capture_output=True, text=True, check=False,
        env=dict(os.environ, **env))
    if done.returncode != 0:
        raise UserError("its tests cannot be listed: "
                        + one_line(done.stdout + done.stderr)[-300:])
    names = [x.split(" / ")[-1].strip() for x in done.stdout.splitlines()
             if " / " in x]
    if not names:
        raise UserError("it has no tests")
    return [n for n in dict.fromkeys(names)
            if not parts or any(p in n for p in parts)]


def run_pytest(group: str, parts: list[str], tally: Tally, long: bool) -> None:
    """The tests of one folder."""
    with rundir.apart() as runs:
        try:
            _run_pytest(group, parts, tally, long, runs)
        finally:
            _end_guests(runs)


def _end_guests(runs: Path) -> None:
    """No guest of a test outlives the tests."""
    for run in rundir.running(runs):
        print(f"     | a test has left the guest {run.name}", flush=True)
        try:
            stop.stop(run, True, stop.FORCED_S)
        except UserError as e:
            print(f"     | {e}", flush=True)


def _run_pytest(group: str, parts: list[str], tally: Tally, long: bool,
                runs: Path) -> None:
    env = {"VSSD_RUNS": str(runs),
           "PYTHONPATH": f"{PROJECT}/scripts:{PROJECT}/lab:{PROJECT}/tests",
           "COLUMNS": "200", "PYTEST_ADDOPTS": "", **venv.path_env()}
    try:
        if group in ("qemu", NEW, "server"):
            qemu = qemu_build.ensure(Origin(suite=NEWEST)) if group == NEW \
                else emulator.ensure_qtest()
            env["VSSD_QEMU"] = str(qemu.emulator)
            env["VSSD_QEMU_IMG"] = str(qemu.img)
            env["VSSD_OPLOG_CHECK"] = str(model.oplog_check())
        if group == "server":
            env["VSSD_SERVER"] = str(vfio_server.build("gcc"))
            env.update(SANITIZERS)
        if group == "qemu" and long:
            env["VSSD_QEMU_TSAN"] = str(qemu_build.ensure_tsan().emulator)
    except UserError as e:
        tally.note(f"{group}: build", "FAIL", f": {e}")
        return
    if group == "guest" and not parts:
        _make_guests(tally, long)
    if long:
        env["VSSD_LONG"] = "1"
    if not parts and group != NEW:  # what is named runs
        env["VSSD_PASSES"] = str(testpasses.folder())
    log = log_file(f"test-{group}")
    before = len(tally.failed)
    counted = status = 0
    report = False
    for line, end in _lines(_pytest_args(group, parts), log, env):
        if line.startswith(PYTEST_LINE):
            _note_pytest(group, line.removeprefix(PYTEST_LINE), tally)
            counted += 1
        elif line.startswith(("=====", "_____")):
            report = "FAILURES" in line or "ERRORS" in line or report
        if report and end is None and line.strip():
            print(f"     | {line}")
        status = end or 0
    nothing = not counted and not parts
    if status not in (0, 5) and len(tally.failed) == before or nothing:
        tally.note(f"{group}: pytest", "FAIL",
                   f" (status {status}, {counted} tests, log: {log})")


def _pytest_args(group: str, parts: list[str]) -> list[str]:
    args = [str(venv.tool("python")), "-m", "pytest", "-q", "--tb=short",
            "-p", "no:cacheprovider", "-p", "vssd_lines", "-p", "kept_passes",
            "--durations=8",
            "-o", f"cache_dir={cache_dir() / 'pytest'}",
            str(PROJECT / "tests" / ("qemu" if group == NEW else group))]
    cores = len(os.sched_getaffinity(0))
    # A guest that boots or shuts down leaves its core idle for a quarter of the
    # time.
    workers = min(cores + (group == "guest" and cores > 1), WORKERS_MAX)
    if workers > 1:
        args += ["-n", str(workers), "--dist", "loadgroup",
                 "--no-loadscope-reorder"]
    if parts:
        args += ["-k", " or ".join(parts)]
    return args


def _note_pytest(group: str, text: str, tally: Tally) -> None:
    said = json.loads(text)
    name = WORKER_GROUP.sub("", said["name"].split("::", 1)[-1])
    detail = f" ({said['why']})" if said["why"] else ""
    if said["seconds"] >= 1:
        detail += f" ({said['seconds']:.0f} s)"
    tally.note(f"{group}: {name}", said["result"], detail, said["seconds"])


def _make_guests(tally: Tally, long: bool) -> None:
    """Builds that take minutes, before the tests wait for them. A failed build
    is a failure here; the tests that need it fail, too."""
    makers: dict[str, Callable[[], object]] = {
        "image": image.ensure,
        "kernel with our patches": partial(kernel_build.ensure, Wanted())}
    for suite in ("trixie-backports", *["bullseye"] * long):
        makers[f"kernel of {suite}"] = partial(
            image.ensure if long else suite_kernel.ensure, suite=suite)
    for name, make in makers.items():
        try:
            make()
            tally.note(f"guest: {name}", "OK")
        except UserError as e:
            tally.note(f"guest: {name}", "FAIL", f": {e}")


def run_lint(group: str, parts: list[str], tally: Tally, _long: bool) -> None:
    """The checks of the sources."""
    try:
        for name, result, said in lint.run(parts):
            skipped = result == "SKIPPED"
            tally.note(f"{group}: {name}", result,
                       f" ({said[0]})" if skipped else "")
            for line in [] if skipped else said:
                print(f"     | {line}")
    except UserError as e:
        tally.note(f"{group}: its programs", "FAIL", f": {e}")


def run_mutants(group: str, parts: list[str], tally: Tally, _long: bool) -> None:
    """Each error of the list, in a copy of the sources."""
    try:
        wanted = [m for m in mutants.load()
                  if not parts or any(p in m.name for p in parts)]
        tree = mutants.Tree() if wanted else None
        broken = tree and tree.sound(wanted)
    except UserError as e:
        tally.note(f"{group}: the list", "FAIL", f": {e}")
        return
    if tree is None:
        return
    if broken:
        tally.note(f"{group}: {broken} fails without any mutant", "FAIL")
        return
    killed = 0
    for one in sorted(wanted, key=tree.cost_s):
        try:
            by = tree.killer(one)
        except UserError as e:
            tally.note(f"{group}: {one.name}", "FAIL", f": {e}")
            continue
        killed += by is not None
        if by:
            tally.note(f"{group}: {one.name}", "OK", f" (killed by {by})")
        else:
            print(f"     | survives: {one.name}", flush=True)
    enough = killed >= mutants.KILLED_MIN * len(wanted)
    tally.note(f"{group}: {killed} of {len(wanted)} killed",
               "OK" if enough else "FAIL",
               f" (at least {mutants.KILLED_MIN:.0%})")


GROUPS = {
    "lint": run_lint,
    "gcc": run_meson,
    "clang": run_meson,
    "release": run_release,
    "scripts": run_pytest,
    "lab": run_pytest,
    "qemu": run_pytest,
    "server": run_pytest,
    "guest": run_pytest,
    NEW: run_pytest,
    "mutants": run_mutants,
}
LONG_GROUPS = {"mutants", NEW}  # of --long, or when they are named


def main(args: argparse.Namespace) -> int:
    """./vssd test"""
    if args.list:
        print("\n".join(GROUPS))
        return 0
    groups, parts = _chosen(args)
    wanted = dict.fromkeys(groups, parts)
    if args.changed is not None:
        wanted = testparts.long_tests(testparts.changed_since(args.changed))
        if not wanted:
            print("no part with long tests has changed")
            return 0
        for name, chosen in wanted.items():
            print(f"     | {name}: {' '.join(chosen)}", flush=True)
    packages.ensure(*packages.TEST)
    tally = Tally()
    for name, chosen in wanted.items():
        with tally.times.group(name):
            GROUPS[name](name, chosen, tally, args.long or bool(args.changed))
    print("", *tally.times.lines(), "", sep="\n")
    for name in tally.failed:
        print(f"failed: {name}")
    if tally.passed + len(tally.failed) == 0:
        raise UserError("no test has such a name")
    tail = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {len(tally.failed)} failed{tail}")
    sys.stdout.flush()
    return 1 if tally.failed else 0
