# SPDX-License-Identifier: GPL-2.0-or-later
"""The group lint of ./vssd test: each check is one program that reads the
sources.

clang-format looks at the lines that changed since the last commit of
.clang-format, so that older lines keep their form; clang-tidy looks at the
product, not at its tests.  Settings: pyproject.toml, .codespellrc,
.clang-format, .clang-tidy, .shellcheckrc.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vssd.build import model, packages, venv
from vssd.errors import UserError, one_line
from vssd.paths import PROJECT, cache_dir, key_of

PRODUCT = ("core", "nand", "ftl", "lib", "hw-ssd/nvme", "hw-ssd/rules",
           "sim", "tools")
C_SUFFIXES = (".c", ".h")
# Text that people wrote; the rest is generated, foreign or binary.
PROSE = (".c", ".h", ".py", ".md", ".ini", ".sh", ".json", ".txt", ".toml",
         ".build", ".yaml", ".java", ".service", ".events")
INCLUDE = re.compile(rb'^ *# *include +"([^"\n]+)"', re.M)
TIDY_BATCH = 6  # files for each run of clang-tidy
TIDIED = "clang-tidy.json"  # in the build: the files of which it says nothing
DOCUMENTS = "tests/scripts/test_docs.py"
NO_HISTORY = "git does not know this tree's history"


class Skipped(Exception):
    """Why a check has nothing to look at here."""


def sources() -> list[str]:
    """The files that git knows or would add, relative to the project; without
    git all files but those that were fetched or made."""
    try:
        done = subprocess.run(
            ["git", "-C", str(PROJECT), "ls-files", "-co", "-z",
             "--exclude-standard"], capture_output=True, text=True, check=True)
        names = [n for n in done.stdout.split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(PROJECT)) for p in PROJECT.rglob("*")
                 if not {".git", "__pycache__"} & {*p.parts}]
    return sorted(n for n in names if (PROJECT / n).is_file()
                  and "corpora" not in n)


def findings(args: list[str | Path]) -> list[str]:
    """The messages of a program about the sources; empty: none."""
    try:
        done = subprocess.run(
            [str(a) for a in args], cwd=PROJECT, capture_output=True,
            text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, PYTHONPATH=f"{PROJECT}/scripts:{PROJECT}/lab",
                     **venv.path_env()))
    except FileNotFoundError as e:
        raise UserError(f"{e.filename} is not installed") from e
    if done.returncode == 0:
        return []
    lines = [x for x in done.stdout.splitlines() if x.strip()]
    return lines or done.stderr.splitlines() or \
        [f"{args[0]}: status {done.returncode}"]


def ruff() -> list[str]:
    """errors and habits in Python"""
    return findings([venv.tool("ruff"), "check", "--no-cache", "--quiet",
                     "--output-format", "concise", "."])


def mypy() -> list[str]:
    """types of the vssd command"""
    return findings([venv.tool("mypy"), "--no-error-summary",
                     "--cache-dir", cache_dir() / "mypy"])


def is_shell(name: str) -> bool:
    """Is it a shell script, by its first line?"""
    with open(PROJECT / name, "rb") as f:
        first = f.readline(80)
    return first.startswith(b"#!") and first.split(b"/")[-1].strip() in (
        b"sh", b"bash", b"env sh", b"env bash")


def shellcheck() -> list[str]:
    """shell scripts"""
    scripts = [n for n in sources()
               if Path(n).suffix in ("", ".sh") and is_shell(n)]
    return findings(["shellcheck", "--format=gcc", *scripts])


def codespell() -> list[str]:
    """misspelt words"""
    return findings([venv.tool("codespell"),
                     *(n for n in sources() if Path(n).suffix in PROSE)])


def clang_format() -> list[str]:
    """form of the C lines that changed since .clang-format did"""
    git = ["git", "-C", str(PROJECT), "log", "-1", "--format=%H", "--",
           ".clang-format"]
    try:
        base = subprocess.run(git, capture_output=True, text=True,
                              check=False).stdout.strip()
    except FileNotFoundError:
        base = ""
    if not base:
        raise Skipped(NO_HISTORY)
    found = findings([venv.tool("git-clang-format"), "--binary",
                      venv.tool("clang-format"), "--diff", "--extensions",
                      "c,h", base])
    said = ("no modified files to format",
            "clang-format did not modify any files")
    return [] if found[:1] and found[0].startswith(said) else found


def _commands(build: Path) -> dict[str, str]:
    """How each file of the project is compiled, by its name."""
    found = json.loads((build / "compile_commands.json").read_text("utf-8"))
    return {os.path.relpath(os.path.join(one["directory"], one["file"]), PROJECT):
            one["command"] for one in found}


def _included(name: str, names: dict[str, list[str]],
              text: dict[str, bytes]) -> list[str]:
    """A file, and all that it includes, by it or by its headers.  A header that is
    included may be any one of that name."""
    found, left = {name}, [name]
    while left:
        for said in INCLUDE.findall(text[left.pop()]):
            new = {*names.get(os.path.basename(said.decode()), ())} - found
            found |= new
            left += new
    return sorted(found)


def _tidy_keys(build: Path) -> dict[str, str]:
    """What clang-tidy says of each file depends on the file, its headers, its
    command and the settings."""
    text = {n: (PROJECT / n).read_bytes() for n in sources()
            if n.endswith((".c", ".h"))}
    names: dict[str, list[str]] = {}
    for n in text:
        names.setdefault(os.path.basename(n), []).append(n)
    version = subprocess.run(["sh", "-c", "clang-tidy --version"], check=False,
                             capture_output=True).stdout
    settings = (PROJECT / ".clang-tidy").read_bytes()
    commands = _commands(build)
    return {n: key_of(version, settings, commands.get(n, ""),
                      *(text[m] for m in _included(n, names, text))) for n in text
            if n.endswith(".c")
            and n.startswith(tuple(f"{folder}/" for folder in PRODUCT))}


def clang_tidy() -> list[str]:
    """errors in C that compilers accept"""
    build = model.configured("clang")
    keys = _tidy_keys(build)
    try:
        good = json.loads((build / TIDIED).read_text("utf-8"))
    except (OSError, ValueError):
        good = {}
    names = [n for n, key in keys.items() if good.get(n) != key]
    batches = [names[i:i + TIDY_BATCH]
               for i in range(0, len(names), TIDY_BATCH)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = pool.map(lambda batch: findings(
            ["clang-tidy", "-p", build, "--quiet", *batch]), batches)
        said = [line for lines in found for line in lines]
    if not said:
        (build / TIDIED).write_text(json.dumps(keys), "utf-8")
    return said


def documents() -> list[str]:
    """links and commands of the documents"""
    if not (PROJECT / DOCUMENTS).exists():
        raise Skipped(f"there is no {DOCUMENTS}")
    return findings([venv.tool("python"), "-m", "pytest", "-q", "--tb=short",
                     "-p", "no:cacheprovider", DOCUMENTS])


CHECKS: dict[str, Callable[[], list[str]]] = {
    "ruff": ruff, "mypy": mypy, "shellcheck": shellcheck,
    "codespell": codespell, "clang-format": clang_format,
    "clang-tidy": clang_tidy, "documents": documents,
}


def run(parts: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """The checks whose names have one of the parts, or all: name, result as
    pytest calls it, and the findings, or the reason for skipping it."""
    wanted = {n: check for n, check in CHECKS.items()
              if not parts or any(p in n for p in parts)}
    if wanted:
        packages.ensure(*packages.TEST)
        venv.extra("lint")
        venv.extra("figures")  # mypy looks at numpy's types
        venv.extra("watch")  # and those of tornado
    for name, check in wanted.items():
        try:
            found = check()
        except Skipped as e:
            yield name, "SKIPPED", [str(e)]
        except UserError as e:
            yield name, "FAILED", [one_line(str(e))]
        else:
            yield name, "FAILED" if found else "PASSED", found
