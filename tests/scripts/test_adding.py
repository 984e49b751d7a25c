# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/adding.md: what its worked example says is done to a copy of the tree,
which is then built and run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from vssd.build import model, packages, venv
from vssd.paths import PROJECT

PAGE = (PROJECT / "docs/adding.md").read_text()
FOLDERS = ("core", "nand", "ftl", "hw-ssd", "sim", "tests", "profiles", "docs")
TARGETS = ("sim/vssd-sim", "tests/ftl/test-config", "tests/ftl/test-drive")
LIMIT_S = 1800


def said(pattern: str) -> str:
    """What the page says at one place, and there alone."""
    found = re.findall(pattern, PAGE, re.S)
    assert len(found) == 1, f"{pattern}: {found}"
    return str(found[0])


def insert(path: Path, before: str, line: str) -> None:
    """A line before the first that begins so."""
    text = path.read_text()
    assert text.count(before) >= 1, f"{path} has no {before!r}"
    path.write_text(text.replace(before, line + before, 1))


def append(path: Path, array: str, item: str) -> None:
    """An item at the end of an array that ends in NULL."""
    head, tail = path.read_text().split(f"{array} = {{", 1)
    assert "NULL" in tail
    path.write_text(f"{head}{array} = {{" + tail.replace(
        "NULL", f"{item} NULL", 1))


def run(*args: object, cwd: Path | None = None) \
        -> subprocess.CompletedProcess[str]:
    """A program of the copy."""
    return subprocess.run(
        [str(a) for a in args], cwd=cwd, capture_output=True, text=True,
        errors="replace", check=False, timeout=LIMIT_S,
        stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with the example of the page in it."""
    tree = tmp_path_factory.mktemp("adding") / "tree"
    tree.mkdir()
    shutil.copy(PROJECT / "meson.build", tree)
    for name in FOLDERS:
        shutil.copytree(PROJECT / name, tree / name, symlinks=True)
    name = said(r"\*\*Write `(ftl/gc/gc-[\w-]+\.c)`\*\*")
    code = textwrap.dedent(said(r"```c\n(.*?)\n *```"))
    assert not (tree / name).exists(), "the example is in the tree already"
    (tree / name).write_text(code)
    insert(tree / "ftl/gc/gc-policy.h", "extern const GcPolicy gc_fifo;",
           said(r"`(extern const GcPolicy \w+;)`") + "\n")
    append(tree / "ftl/policy.c", "gc_policies[]", said(r"`(&gc_\w+,)`"))
    insert(tree / "ftl/meson.build", "'gc/gc-fifo.c'",
           f"'gc/{Path(name).name}', ")
    build = tree.parent / "build"
    packages.ensure(packages.BUILD)
    meson = run(venv.tool("meson"), "setup", "-Dbuildtype=debugoptimized",
                *model.KINDS["gcc"][2:], build, tree)
    assert meson.returncode == 0, meson.stdout[-3000:]
    compile_in(build)
    return tree


def compile_in(build: Path) -> None:
    """What the tests here use."""
    ninja = run("ninja", "-C", build, *TARGETS)
    assert ninja.returncode == 0, ninja.stdout[-4000:]


def test_the_example_cleans(copy: Path) -> None:
    """Step 5, word by word; it does not do what the default does."""
    command = shlex.split(said(r"\*\*Look at it\*\*: `(vssd-sim [^`]+)`"))
    sim = copy.parent / "build/sim/vssd-sim"
    waf = []
    for args in (command[1:], [a.replace("=spare-worn", "=greedy")
                               for a in command[1:]]):
        done = run(sim, "--json", *args)
        assert done.returncode == 0, done.stderr
        waf.append(json.loads(done.stdout)["waf"])
    assert waf[0] > 1 and waf[0] != waf[1]


def test_every_listed_policy_is_tested(copy: Path) -> None:
    """Step 4: drive runs it, and config asks for a row until it has one."""
    build = copy.parent / "build"
    drive = run(build / "tests/ftl/test-drive", "-p", "/drive/overwrite")
    assert drive.returncode == 0, drive.stdout[-2000:] + drive.stderr[-2000:]
    test = (build / "tests/ftl/test-config", "-p", "/config/every-policy")
    lacking = run(*test)
    assert lacking.returncode != 0
    assert "ftl.gc has a choice more, spare-worn" in \
        lacking.stdout + lacking.stderr
    insert(copy / "tests/ftl/config.c", '    {"ftl.gc=fifo", ""},\n',
           "    " + said(r"`(\{\"ftl\.gc=[\w-]+\", \"\"\},)`") + "\n")
    compile_in(build)
    assert run(*test).returncode == 0
    row = run(build / "sim/vssd-sim", "--options")
    assert "greedy, " in row.stdout and "spare-worn" in row.stdout
