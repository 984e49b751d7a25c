# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutation tests: each small error of tests/mutants.toml is made in a copy of
the sources, and a test has to fail (R. A. DeMillo et al., "Hints on Test Data
Selection", Computer 11(4), 1978).

A mutant replaces one piece of text, which its file has exactly once.  It names
the tests that have to find it: those of the part that it is in, of Meson or in
Python (mutantgroups.py).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vssd import tomlfile
from vssd.build import packages, venv
from vssd.errors import UserError
from vssd.paths import PROJECT, cache_dir, file_bytes, key_of
from vssd.proc import run_logged, telling_line

from . import mutantgroups
from .mutantgroups import group_of

LIST = Path("tests/mutants.toml")
PAGE = "docs/testing.md"
KEYS = {"file", "old", "new", "wrong", "tests"}
KILLED_MIN = 0.95
# A mutant may leave a variable unused.
SETUP = ("-Dbuildtype=debugoptimized", "-Db_lto=false", "-Dwerror=false")
FOLDERS = ("core", "nand", "ftl", "hw-ssd", "lib", "sim", "tests", "tools", "profiles",
           "docs", "scripts", "lab", "packaging", "guest-tools")
COMPILED = (".c", ".h")
LONGER = 10  # times as long as without a mutant a test may take
RESULTS_MAX = 10000  # that are kept


@dataclass(frozen=True)
class Mutant:
    """One small error."""

    file: str
    old: str
    new: str
    wrong: str               # the error, in a few words
    tests: tuple[str, ...]   # at least one
    part: str = ""           # of the test: its path in the program

    @property
    def name(self) -> str:
        """For the results."""
        return f"{self.file}: {self.wrong}"


def load(root: Path = PROJECT) -> list[Mutant]:
    """The list; UserError names the first entry that does not fit."""
    found = []
    for row in tomlfile.load(root / LIST, PAGE).get("mutant", []):
        if set(row) - {"part"} != KEYS or not row["tests"]:
            raise UserError(f"{LIST}: {row.get('wrong', row)}: needs"
                            f" {', '.join(sorted(KEYS))} ({PAGE})")
        if "part" in row and (len(row["tests"]) > 1 or group_of(row["tests"][0])):
            raise UserError(f"{LIST}: {row['wrong']}: a part is of one test in"
                            f" C ({PAGE})")
        one = Mutant(row["file"], row["old"], row["new"], row["wrong"],
                     tuple(row["tests"]), row.get("part", ""))
        mutated(one, root)
        found.append(one)
    return found


def mutated(one: Mutant, root: Path) -> str:
    """The text of the mutant's file, with the error."""
    try:
        text = (root / one.file).read_text(encoding="utf-8")
    except OSError as e:
        raise UserError(f"{LIST}: {one.file}: {e.strerror}") from e
    count = text.count(one.old)
    if count != 1 or one.old == one.new:
        raise UserError(f"{LIST}: {one.name}: its file has the old text"
                        f" {count} times, not once")
    return text.replace(one.old, one.new)


@dataclass
class Results:
    """What is known of tests and mutants, by their keys: kept in a file, so
    that a run that was interrupted goes on where it ended."""

    path: Path
    took_s: dict[str, float] = field(default_factory=dict)  # without a mutant
    killers: dict[str, str | None] = field(default_factory=dict)

    def load(self) -> None:
        """From the file."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            took_s, killers = dict(kept["took_s"]), dict(kept["killers"])
        except (OSError, ValueError, LookupError, TypeError):
            return
        if len(killers) <= RESULTS_MAX:
            self.took_s, self.killers = took_s, killers

    def save(self) -> None:
        """To the file."""
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"took_s": self.took_s,
                                    "killers": self.killers}),
                        encoding="utf-8")
        part.replace(self.path)


class Tree:
    """A copy of the sources, built once without sanitizers."""

    def __init__(self) -> None:
        packages.ensure(packages.BUILD)
        venv.ensure()
        self.base = cache_dir() / f"mutants-{key_of(PROJECT)}"
        self.source = self.base / "source"
        self.build = self.base / "build"
        self.env = dict(os.environ, **venv.path_env(), CC="gcc",
                        VSSD_PROFILES=str(self.source / "profiles"))
        self.others = self._copy()
        self.results = Results(self.base / "results.json")
        self.results.load()
        if not (self.build / "build.ninja").exists():
            shutil.rmtree(self.build, ignore_errors=True)
            run_logged([venv.tool("meson"), "setup", *SETUP, self.build,
                        self.source], "mutants-setup", "configuring the copy",
                       env=self.env)
        self.limits_s: dict[str, float] = {}  # of the tests
        self.keys: dict[str, str] = {}  # of those that sound() has built
        self.groups = mutantgroups.Groups(self.source, self.build, self.env)
        self.targets: dict[str, list[str]] = {}  # of each test of Meson

    def _copy(self) -> str:
        """Bring the copy up to date; files that are the same stay as they
        are, so that ninja builds what changed.  The key of those that are not
        compiled and that a test may read, so without the list and the
        documents."""
        names = subprocess.run(
            ["git", "-C", str(PROJECT), "ls-files", "-z", "--cached",
             "--others", "--exclude-standard"], check=True,
            capture_output=True, text=True).stdout.split("\0")
        wanted = {n for n in names if n and (PROJECT / n).is_file()
                  and (n.split("/")[0] in FOLDERS or "/" not in n)}
        digest = []
        for name in sorted(wanted):
            data, to = file_bytes(name), self.source / name
            if Path(name) != LIST and not name.endswith(COMPILED) \
                    and not name.startswith("docs/"):
                digest += [name, data]
            if not to.is_file() or to.read_bytes() != data:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(data)
                to.chmod((PROJECT / name).stat().st_mode)
        for path in self.source.rglob("*"):
            if path.is_file() and str(path.relative_to(self.source)) \
                    not in wanted:
                path.unlink()
        return key_of(*digest)

    def _targets(self) -> dict[str, list[str]]:
        """What each test needs of the build, by the test's name; the copy may
        have got other build files since Meson last read them."""
        subprocess.run(["ninja", "-C", str(self.build), "build.ninja"],
                       check=True, capture_output=True, env=self.env)
        text = subprocess.run(
            [str(venv.tool("meson")), "introspect", "--tests", "--targets",
             str(self.build)], check=True, capture_output=True, text=True,
            env=self.env).stdout
        about: dict[str, list[dict[str, Any]]] = json.loads(text)
        files = {t["id"]: t["filename"] for t in about["targets"]}
        found = {}
        for t in about["tests"]:
            mine = [os.path.relpath(p, self.build)
                    for i in t["depends"] for p in files[i]]
            if mine:
                found[t["name"]] = mine
                self.limits_s[t["name"]] = float(t["timeout"])
        return found

    def _needs(self, name: str) -> list[str]:
        """The targets of a test."""
        if group_of(name):
            return mutantgroups.targets(name)
        if name not in self.targets:
            raise UserError(f"{LIST}: there is no test {name}")
        return self.targets[name]

    def _factor(self, names: tuple[str, ...]) -> str:
        """Of the tests' own time limits: no limit without a mutant; then
        enough for a busy machine, and an end for a mutant that hangs."""
        took = self.results.took_s
        if not all(self.keys[n] in took for n in names):
            return "0"
        shares = (took[self.keys[n]] / self.limits_s[n] for n in names)
        return f"{max(1, LONGER * max(shares)):.2f}"

    def _key(self, name: str) -> str:
        """What a test's results depend on: its programs, and files."""
        return key_of("mutants-2", name, self.others, *(
            (self.build / p).read_bytes() for p in self._needs(name)))

    def sound(self, mutants: list[Mutant]) -> str | None:
        """The test of these mutants that fails without any."""
        names = own_tests(mutants)
        self.groups.configure({group_of(n) for n in names})
        self.targets = self._targets()
        self._make(names)
        self.keys = {n: self._key(n) for n in names}
        new = tuple(n for n in names
                    if self.keys[n] not in self.results.took_s)
        failed = self.test(new) if new else None
        self.results.save()  # also of those that pass beside one that fails
        return failed

    def _make(self, names: tuple[str, ...]) -> None:
        """Build the programs of these tests."""
        targets = sorted({p for n in names for p in self._needs(n)})
        if not targets:
            return
        built = subprocess.run(["ninja", "-C", str(self.build), *targets],
                               capture_output=True, text=True, env=self.env,
                               check=False)
        if built.returncode != 0:
            raise UserError("does not compile: " + telling_line(
                built.stdout.splitlines()))

    def test(self, names: tuple[str, ...], part: str = "") -> str | None:
        """Build and run these tests; the name of one that fails."""
        self._make(names)
        in_c = tuple(n for n in names if not group_of(n))
        failed = self._test_meson(in_c, part) if in_c else None
        return failed or self._test_python(
            tuple(n for n in names if group_of(n)))

    def _test_python(self, names: tuple[str, ...]) -> str | None:
        took = self.results.took_s
        for name in names:
            passed, seconds = self.groups.run(name, took.get(self.keys[name]),
                                              LONGER)
            if not passed:
                return name
            took.setdefault(self.keys[name], seconds)
        return None

    def _test_meson(self, names: tuple[str, ...], part: str) -> str | None:
        results = self.build / "meson-logs/testlog-quick.json"
        results.unlink(missing_ok=True)
        ran = subprocess.run(
            [str(venv.tool("meson")), "test", "-C", str(self.build),
             "--no-rebuild", "--setup", "quick", "--maxfail", "1",
             "--timeout-multiplier", self._factor(names),
             *([f"--test-args=-p {part}"] if part else []), *names],
            capture_output=True, text=True, check=False, env=self.env)
        if not results.is_file():
            raise UserError("meson test: " + telling_line(
                (ran.stdout + ran.stderr).splitlines()))
        failed = None
        for line in results.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            name: str = row["name"].split("/")[-1].strip()
            if row["result"] in ("FAIL", "ERROR", "TIMEOUT"):
                failed = failed or name
            else:
                self.results.took_s.setdefault(self.keys[name],
                                               row["duration"])
        return failed

    def killer(self, one: Mutant) -> str | None:
        """The test that fails with the mutant; None: it survives."""
        kept = self.results.killers
        key = key_of(*vars(one).values(), *(self.keys[n] for n in one.tests))
        if key not in kept:
            kept[key] = self._killer(one)
            self.results.save()
        return kept[key]

    def cost_s(self, one: Mutant) -> float:
        """Of its tests, about."""
        took = self.results.took_s
        return 0 if one.part else sum(took.get(self.keys[n], 0)
                                      for n in one.tests)

    def _killer(self, one: Mutant) -> str | None:
        path = self.source / one.file
        before = path.read_text(encoding="utf-8")
        path.write_text(mutated(one, self.source), encoding="utf-8")
        try:
            return self.test(one.tests, one.part)
        finally:
            path.write_text(before, encoding="utf-8")


def own_tests(mutants: list[Mutant]) -> tuple[str, ...]:
    """The tests that the mutants name."""
    return tuple(sorted({t for m in mutants for t in m.tests}))
