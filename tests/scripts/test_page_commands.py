# SPDX-License-Identifier: GPL-2.0-or-later
"""Each command of vssd on each page: its arguments are those that the command
has, and it is run as it is printed, or ELSEWHERE says why not."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from page_commands import Command, commands
from vssd.build import model
from vssd.cli.main import parser
from vssd.cli.run import mebibytes
from vssd.guest import drives
from vssd.paths import PROJECT, find_profile

PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md",
         *sorted((PROJECT / "docs").rglob("*.md"))]
ALL = list(dict.fromkeys(c for page in PAGES for c in commands(page, PROJECT)))

GUEST = "needs a guest; group guest runs such guests (docs/testing.md)"
BUILDS = "builds or installs for minutes; the groups of ./vssd test do it"
HOURS = "takes half a minute of CPU time to hours"
INPUT = "the page stands for files of the reader"
# How the commands begin that are not run here, with the reason.
ELSEWHERE = {
    "run": GUEST, "exec": GUEST, "cp": GUEST, "ssh": GUEST, "console": GUEST,
    "stop": GUEST, "powercut": GUEST, "fault": GUEST, "stat": GUEST,
    "top": GUEST, "metrics": GUEST, "vng": GUEST,
    "libvirt": "needs libvirt; test_libvirt.py has it",
    "setup": BUILDS, "kernel build": BUILDS,
    "kernel remove": "there is no such kernel to remove",
    "cache": "reads and removes what others use; test_cache.py has it",
    "figures": HOURS, "bench": HOURS, "fuzz": HOURS, "validate": HOURS,
    "fit": HOURS, "model": HOURS, "fleet": HOURS, "sweep": HOURS,
    "test": "it is what runs this",
    "profiles": "a command that the page adds; test_adding.py runs it",
    "policy": "compiles a policy; test_policy.py has it",
    "age tlc-generic": "fills a drive; test_command.py has --save-state",
    "checklog": "reads the log of a guest's run; test_oplog.py has it",
    "report NAME": GUEST, "plot sweep.csv": INPUT, "plot now.csv": INPUT,
    "sim run --profile tiny --set ftl.gc=so:mine.so":
        "needs a compiled policy; test_policy.py has it",
    "sim run --profile tlc-generic --job": INPUT,
    "sim run ...": INPUT,
    "sim run --profile tlc-generic --state": INPUT,
    "sim batch": "reads runs from a pipe; test_command.py has it",
    "sim replay guest.trace": "needs a guest's recording; test_trace.py has it",
    "sim convert guest.trace": "needs a guest's recording; test_trace.py has it",
    "sim replay t.csv --profile datacentre-tlc": "in a loop over $n",
    "sim run --profile tlc-generic --fill seq": "in a loop over $a",
    "sim run --profile datacentre-tlc --fill random": HOURS,
    "sim run --profile tlc-generic --drives 5": HOURS,
}
# Commands that are run, beside those of sim.
RUN = ("help", "--help", "--version", "man", "completion", "kernel list",
       "compare", "plot", "report")


def key_of(command: Command) -> str:
    """The entry of ELSEWHERE; empty: there is none."""
    text = " ".join(command.words) + " "
    return max((key for key in ELSEWHERE if text.startswith(key + " ")),
               key=len, default="")


def is_run(command: Command) -> bool:
    """Does test_it_runs() have it?"""
    text = " ".join(command.words) + " "
    return not key_of(command) and (
        text.startswith("sim ") or any(text.startswith(f"{start} ")
                                       for start in RUN))


def test_each_command_has_its_place() -> None:
    """It is run, or stands in the list; the list has no more than that."""
    assert len(ALL) > 150
    assert [str(c) for c in ALL if not is_run(c) and not key_of(c)] == []
    assert set(ELSEWHERE) - {key_of(c) for c in ALL} == set()


def options_of(words: tuple[str, ...], name: str) -> list[str]:
    """The values of an option, but those that only the shell knows."""
    return [b for a, b in zip(words, words[1:])
            if a == name and "$" not in b]


@pytest.mark.parametrize(
    "command", [c for c in ALL if c.words[0] not in ("sim", "profiles")],
    ids=str)
def test_its_arguments_exist(command: Command, tmp_path: Path) -> None:
    """Options, profiles, drives and sizes; no file is looked for."""
    words = command.words
    try:
        parser().parse_args(list(words))
    except SystemExit as e:
        assert e.code in (0, None), command
    profiles = {p for p in options_of(words, "--profile")
                if not p.endswith(".ini")}
    sets = {find_profile(p): options_of(words, "--set")
            for p in profiles or {"tlc-generic"}}
    for text in options_of(words, "--drive"):
        if "," not in text or any(f in text for f in drives.FILES):
            continue
        found = drives.parse(text)
        sets[found.profile] = found.sets
    for text in options_of(words, "--mem"):
        mebibytes(text)
    for profile, values in sets.items():
        if values:
            given = [w for v in values for w in ("--set", v)]
            done = subprocess.run(
                [model.sim(), "info", "--profile", profile, *given],
                capture_output=True, text=True, check=False, cwd=tmp_path)
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the pages name, small."""
    path = tmp_path_factory.mktemp("pages")
    shutil.copy(PROJECT / "profiles/tlc-generic.ini", path / "mine.ini")
    trace = (PROJECT / "tests/sim/small-msr.csv").read_bytes()
    (path / "hm_0.csv").write_bytes(trace)
    (path / "hm_0.csv.gz").write_bytes(gzip.compress(trace))
    (path / "faults.txt").write_text("cmd=read nth=100 -> status 2/81\n")
    (path / "t.csv").write_text("time_us,op,offset,size,stream\n"
                                "0,write,0,65536,1\n10,write,1048576,65536,2\n"
                                "20,trim,0,65536,0\n")
    play = ["run", "--profile", "tiny", "--series", "0.1", "--json",
            "--workload", "rw=randrw iodepth=16 number_ios=3000"]
    for name, words in (
            ("hm_0.bin", ["convert", "hm_0.csv", "--to", "binary"]),
            ("a.json", play), ("b.json", [*play, "--set", "nand.read=90us"])):
        with open(path / name, "wb") as out:
            subprocess.run([model.sim(), *words], stdout=out, check=True,
                           cwd=path)
    for name in ("a.json", "b.json"):
        shutil.copy(path / name, path / name.capitalize())
    return path


@pytest.mark.parametrize("command", [c for c in ALL if is_run(c)], ids=str)
def test_it_runs(command: Command, folder: Path) -> None:
    """As it is printed, but for the place of files in /tmp."""
    words = [w.replace("/tmp/", f"{folder}/") for w in command.words]
    done = subprocess.run([PROJECT / "vssd", *words], capture_output=True,
                          check=False, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
