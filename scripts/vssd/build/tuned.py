# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-sim built for speed: once to record a profile, then once more with that
profile (profile-guided and link-time optimisation).

It computes the same, faster; building takes about three times as long, so only
./vssd setup and ./vssd bench ask for it.  Once it is there and up to date every
other command takes it, too.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import installed, paths
from ..proc import ninja_step, run_logged
from ..ui import Stage, say
from . import model, packages, programs, venv
from .inputs import INPUTS, TEXTS, write_text

LOG = f"model-{model.TUNED}"

# Parts of a drive that are off by default.
PARTS = [
    "media.errors=on", "media.retry_levels=on", "media.retry_memory=block",
    "media.block_sigma=0.2", "superblock.row=8", "ftl.recovery=checkpoint",
    "host.cores=4", "host.firmware_unit=100ns", "host.pcie_gen=4",
    "host.read_ahead=128KiB", "nand.async_reads=on", "thermal.resistance=5",
    "power.active=2000",
]
# The runs to profile: profile, fill, workload, options.  Reads, fresh writes and
# GC, page by page and in larger requests, with a write buffer and a cache, with
# those parts, and on an array of drives; and text of each kind is converted.
TRAINING = [
    ("c64", "preload", "rw=randread bs=4k size=40g number_ios=300000"
     " interval=10us", []),
    ("c64", "none", "rw=randwrite bs=4k size=40g number_ios=300000"
     " interval=50us", []),
    ("c4", "none", "rw=randwrite bs=4k size=2600m number_ios=1200000"
     " interval=500us", []),
    ("c4", "seq", "rw=randrw bs=4k iodepth=32 number_ios=200000", []),
    ("tlc-generic", "random", "rw=randrw bssplit=4k/70:64k/30 iodepth=16"
     " number_ios=50000", []),
    ("tlc-generic", "seq", "rw=randrw bs=4k iodepth=32 number_ios=100000"
     " random_distribution=zipf:1.1", ["buffer.policy=lru"]),
    ("980-pro", "random", "rw=randrw bs=4k iodepth=8 number_ios=200000", PARTS),
]
ARRAY = ["--drives", "5", "--raid", "5", "--fill", "preload",
         "--workload", "rw=randrw bs=4k iodepth=32 number_ios=50000"]
TRACE_REQUESTS = 200_000
TEXT_LINES = 200_000


def _programs() -> list[list[str]]:
    """Command lines without the program; traces come from elsewhere."""
    found = []
    for profile, fill, workload, sets in TRAINING:
        args = ["run", "--json", "--profile", str(paths.find_profile(profile)),
                "--fill", fill, "--workload", workload]
        for one in sets:
            args += ["--set", one]
        found.append(args)
    found.append(["run", "--json", "--profile", str(paths.find_profile("c4")),
                  *ARRAY])
    return found


def watch(program: Path) -> None:
    """Let it run, so that it records a profile."""
    commands = _programs()
    with tempfile.TemporaryDirectory(prefix="vssd-tuned-") as name:
        trace = Path(name) / "requests.txt"
        INPUTS[1].write(trace, TRACE_REQUESTS)
        commands.append(["replay", str(trace), "--json", "--profile",
                         str(paths.find_profile(INPUTS[1].profile)),
                         "--fill", "none", "--format", "ssdsim"])
        for kind in TEXTS:
            text = Path(name) / f"{kind}.txt"
            write_text(text, kind, TEXT_LINES)
            subprocess.run([program, "convert", text, "--to", "binary",
                            "--format", kind],
                           stdout=subprocess.DEVNULL, check=True)
        binary = Path(name) / "requests.bin"
        with open(binary, "wb") as out:
            subprocess.run([program, "convert", trace, "--to", "binary",
                            "--format", "ssdsim"],
                           stdout=out, check=True)
        commands.append(["replay", str(binary), "--json", "--profile",
                         str(paths.find_profile(INPUTS[1].profile)),
                         "--fill", "none"])
        commands.append(["run", "--json", "--profile",
                         str(paths.find_profile("tlc-generic")),
                         "--precondition", "--workload",
                         "rw=randread number_ios=1000"])
        for i, args in enumerate(commands):
            run_logged([program, *args], f"{LOG}-watch",
                       "watching vssd-sim", append=i > 0)


def _ninja(build: Path, what: str) -> None:
    with Stage(what) as stage:
        run_logged(["ninja", "-C", build, model.SIM], LOG, what,
                   on_line=ninja_step(stage.step), env=venv.path_env())


def _build() -> tuple[list[Path], list[Path]]:
    build = model.build_dir(model.TUNED)
    packages.ensure(packages.BUILD)
    venv.ensure()
    with paths.locked(build.name):
        if made := model.tuned_sim():  # by somebody who held the lock
            return [made], [made.parent / "profiles"]
        shutil.rmtree(build, ignore_errors=True)
        model.configure(model.TUNED, "-Db_pgo=generate")
        _ninja(build, "building vssd-sim to watch it")
        with Stage("watching vssd-sim"):
            watch(build / model.SIM)
        run_logged([venv.tool("meson"), "configure", build, "-Db_pgo=use"],
                   f"{LOG}-setup", "configuring the model (tuned)",
                   env=venv.path_env())
        _ninja(build, "building vssd-sim for speed")
    return [build / model.SIM], [paths.PROJECT / "profiles"]


def first() -> Path:
    """vssd-sim for a user: one that is built, else the plain one, which takes a
    third of the time."""
    if not installed.here() and not model.sim_is_made():
        say("builds the plain vssd-sim; ./vssd setup builds a faster one")
    return model.sim()


def sim() -> Path:
    """vssd-sim, up to date; that of an installed vssd is made already."""
    if installed.here():
        return installed.program("vssd-sim")
    folder = programs.ensure(model.tuned_key, _build)
    return folder / Path(model.SIM).name
