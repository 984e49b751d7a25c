# SPDX-License-Identifier: GPL-2.0-or-later
"""Building the model by itself: vssd-sim and the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from .. import installed
from ..errors import UserError, one_line
from ..paths import PROJECT, cache_dir, file_bytes, key_of, locked
from ..proc import ninja_step, run_logged
from ..ui import Stage
from . import packages, programs, venv

TUNED = "tuned"
SAMPLED = "sampled"
SIM = "sim/vssd-sim"
OPLOG_CHECK = "tools/oplog-check/vssd-oplog-check"
COMMIT = "core/about-commit.h"  # made again with each commit
# For this machine's processor.  No fused multiply-add: it rounds in another way,
# and results must be those of every other build.  Files that vssd-sim does not
# link have no profile.
NATIVE = ("-Dc_args=-march=native -ffp-contract=off"
          " -Wno-missing-profile")
KINDS = {
    "release": ("-Dbuildtype=release",),
    TUNED: ("-Dbuildtype=release", "-Db_lto=true", NATIVE),  # by tuned.py
    # For profilers: whole stacks, files of functions, addresses as linked.
    SAMPLED: ("-Dbuildtype=release", "-Db_pie=false",
              "-Dc_args=-g1 -fno-omit-frame-pointer"
              " -fno-optimize-sibling-calls", "-Dc_link_args=-no-pie"),
    # Of the tests.  Each sanitizer by the compiler that is better at it, since
    # both together take twice as long as either.  With gcc -O2 takes a third more
    # to compile, and its tests a tenth less.  A report needs lines, no variables.
    # One of the two has the general path alone (core/short-way.h).
    "gcc": ("-Dbuildtype=debugoptimized", "-Doptimization=1", "-Db_sanitize=address",
            "-Dc_args=-g1"),
    "clang": ("-Dbuildtype=debugoptimized", "-Db_sanitize=undefined",
              "-Db_lundef=false", "-Dshort_way=false",
              "-Dc_args=-gline-tables-only"),
    "gcc-long": ("-Dbuildtype=debugoptimized",
                 "-Db_sanitize=address,undefined"),
    # For libFuzzer: undefined behaviour traps, so that the input is kept.
    "clang-fuzz": ("-Dbuildtype=debugoptimized",
                   "-Db_sanitize=address,undefined", "-Db_lundef=false",
                   "-Dc_args=-fsanitize=fuzzer-no-link"
                   " -fno-sanitize-coverage=trace-cmp"
                   " -fsanitize-trap=undefined -O3 -march=native"),
    "clang-long": ("-Dbuildtype=debugoptimized",
                   "-Db_sanitize=address,undefined", "-Db_lundef=false"),
}


def _processor() -> str:
    """The features of this machine's processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return line
    return ""


def build_dir(kind: str) -> Path:
    """Where the build `kind` is."""
    inputs = [PROJECT, KINDS[kind], *([_processor()] if kind == TUNED else [])]
    return cache_dir() / f"model-{kind}-{key_of(*inputs)}"


def configure(kind: str, *more: str) -> None:
    """Make the build directory, if it is not there."""
    build = build_dir(kind)
    if (build / "build.ninja").exists():
        return
    shutil.rmtree(build, ignore_errors=True)
    compiler = "clang" if kind.startswith("clang") else "gcc"
    try:
        run_logged([venv.tool("meson"), "setup", *KINDS[kind], *more, build,
                    PROJECT],
                   f"model-{kind}-setup", f"configuring the model ({kind})",
                   env=dict(venv.path_env(), CC=compiler))
    except BaseException:
        shutil.rmtree(build, ignore_errors=True)
        raise


def set_option(kind: str, name: str, value: str) -> None:
    """Have an option of meson_options.txt in the build `kind`."""
    build = build_dir(kind)
    with locked(build.name):
        configure(kind)
        set_in(build, name, value)


def set_in(build: Path, name: str, value: str) -> None:
    """The same in a build directory that is there."""
    if _option(build, name) != value:
        run_logged([venv.tool("meson"), "configure", build, f"-D{name}={value}"],
                   f"{build.name}-setup", f"configuring {build.name}",
                   env=venv.path_env())


def _option(build: Path, name: str) -> str:
    """The value of an option in a build."""
    done = subprocess.run(
        [str(venv.tool("meson")), "introspect", "--buildoptions", str(build)],
        capture_output=True, text=True, check=False, cwd=PROJECT)
    try:
        return next(str(o["value"]) for o in json.loads(done.stdout)
                    if o["name"] == name)
    except (ValueError, StopIteration):
        return ""


def ensure(kind: str, *targets: str) -> Path:
    """Build `targets` (all when none is named); the build directory."""
    installed.needs_sources(f"building the model ({kind})")
    groups = [packages.BUILD]
    if kind.startswith("clang"):
        groups.append(packages.CLANG)
    packages.ensure(*groups)
    venv.ensure()
    build = build_dir(kind)
    with locked(build.name):
        configure(kind)
        if up_to_date(build, targets):
            return build
        with Stage(f"building the model ({kind})") as stage:
            run_logged(["ninja", "-C", build, *targets], f"model-{kind}",
                       f"building the model ({kind})",
                       on_line=ninja_step(stage.step), env=venv.path_env())
    return build


def configured(kind: str) -> Path:
    """The build directory, with the commands that compile the sources as they
    are now (compile_commands.json); nothing is compiled, but headers that the
    build makes are there."""
    build = build_dir(kind)
    with locked(build.name):
        configure(kind)
        run_logged(["ninja", "-C", build, "build.ninja", COMMIT], f"model-{kind}",
                   f"configuring the model ({kind})", env=venv.path_env())
    return build


def up_to_date(build: Path, targets: tuple[str, ...]) -> bool:
    """Has ninja nothing to do?"""
    done = subprocess.run(["ninja", "-C", str(build), "-n", *targets],
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, **venv.path_env()))
    return "no work to do" in done.stdout


def tuned_key() -> str:
    """Names the vssd-sim that tuned.py builds of these sources, with this
    training, for this processor."""
    return programs.key(SIM, programs.SIM, KINDS[TUNED], _processor(), file_bytes(
        "scripts/vssd/build/tuned.py", "scripts/vssd/build/inputs.py"))


def tuned_sim() -> Path | None:
    """The vssd-sim that tuned.py builds, if it is there and up to date."""
    found = programs.find(tuned_key())
    return found / Path(SIM).name if found else None


def _program_key(target: str) -> str:
    return programs.key(target, programs.SIM, KINDS["release"])


def sim_is_made() -> bool:
    """Is there a sim() of these sources, so that nothing has to be built?"""
    return bool(programs.find(_program_key(SIM)) or tuned_sim())


def oplog_check_is_made() -> bool:
    """The same of oplog_check()."""
    return installed.here() or bool(programs.find(_program_key(OPLOG_CHECK)))


def _program(target: str) -> Path:
    """A program of the release build, up to date: one that is kept, else
    built.  The shipped profiles are beside it, where vssd-sim finds them."""
    if installed.here():
        return installed.program(Path(target).name)
    folder = programs.ensure(
        lambda: _program_key(target),
        lambda: ([ensure("release", target) / target], [PROJECT / "profiles"]))
    return folder / Path(target).name


def portable_sim() -> Path:
    """vssd-sim, up to date, for processors of this architecture."""
    return _program(SIM)


def sim() -> Path:
    """vssd-sim, up to date; the faster one, if that is there."""
    return (None if installed.here() else tuned_sim()) or portable_sim()


def choices(key: str) -> list[str]:
    """The values that an option of names may have."""
    text = subprocess.run([str(sim()), "options"], check=True,
                          capture_output=True, text=True).stdout
    for line in text.splitlines():
        cells = [c.strip() for c in line.split("|")]
        if len(cells) > 3 and cells[1] == f"`{key}`":
            return cells[3].split(", ")
    raise UserError(f"vssd-sim options: there is no {key}")


def oplog_check() -> Path:
    """vssd-oplog-check, up to date."""
    return _program(OPLOG_CHECK)


def bench_nand() -> Path:
    """vssd-bench-nand, up to date."""
    return _program("sim/vssd-bench-nand")


def drive_info(profile: Path, sets: list[str]) -> dict[str, Any]:
    """SsdInfo of a profile; UserError with the model's own words."""
    args: list[str] = [str(sim()), "info", "--profile", str(profile)]
    for one in sets:
        args += ["--set", one]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        text = one_line(done.stderr) or "vssd-sim refused the profile"
        raise UserError(text.removeprefix("vssd-sim: "))
    info: dict[str, Any] = json.loads(done.stdout)
    return info
