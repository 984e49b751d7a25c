# SPDX-License-Identifier: GPL-2.0-or-later
"""The guides (docs/adding*.md): every example is applied to a copy of the
tree, which is then built, and every command of theirs is run there.

docs/adding.md tells how the examples are read: 'New file `PATH`:' before a
block is a file, a `diff` block changes files, an `sh` block is run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from vssd.build import packages, venv
from vssd.paths import PROJECT

GUIDES = ("adding-policy", "adding-trace-format", "adding-option",
          "adding-nvme", "adding-command")
COPIED = ("vssd", "meson.build", "meson_options.txt", "scripts", "lab", "core",
          "nand", "ftl", "hw-ssd", "lib", "sim", "tests", "tools", "profiles", "docs", "packaging",
          "guest-tools")
LIMIT_S = 1800
# One worker, so that the copy is built once.
pytestmark = pytest.mark.xdist_group("adding")
FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
NEW_FILE = re.compile(r"^New file `(?P<path>[^`]+)`:\n\n\Z", re.M)


@dataclass
class Block:
    """A fenced block of a guide."""

    kind: str
    text: str
    path: str  # of a new file, else empty


def blocks(text: str) -> list[Block]:
    """Those of a page, in order."""
    found = []
    for m in FENCE.finditer(text):
        named = NEW_FILE.search(text[:m.start()])
        found.append(Block(m["kind"], m["text"], named["path"] if named
                           else ""))
    return found


def guide(name: str) -> list[Block]:
    """The blocks of a guide."""
    return blocks((PROJECT / f"docs/{name}.md").read_text())


def places(diff: str) -> list[tuple[str, str, str]]:
    """File, old lines and new lines of each place that a diff changes."""
    found: list[tuple[str, str, str]] = []
    path, old, new = "", "", ""
    for line in [*diff.splitlines(), "@@"]:
        if line.startswith(("--- ", "@@")) and (old or new):
            found.append((path, old, new))
            old = new = ""
        if line.startswith("+++ b/"):
            path = line[6:]
        elif not line.startswith(("--- ", "@@")):
            assert path and line[:1] in ("", " ", "-", "+"), line
            if line[:1] != "+":
                old += line[1:] + "\n"
            if line[:1] != "-":
                new += line[1:] + "\n"
    return found


def change(tree: Path, diff: str) -> None:
    """Apply a diff.  Each place must be found in its file exactly once."""
    for path, old, new in places(diff):
        file = tree / path
        text = file.read_text()
        found = [m.start() for m in
                 re.finditer(rf"^(?={re.escape(old)})", text, re.M)]
        assert len(found) == 1, f"{path}: {len(found)} places with\n{old}"
        at = found[0]
        file.write_text(text[:at] + new + text[at + len(old):])


def apply(tree: Path, block: Block) -> None:
    """Do what a block says to a copy of the tree."""
    if block.path:
        file = tree / block.path
        assert not file.exists(), f"{block.path} exists already"
        file.write_text(block.text)
    elif block.kind == "diff":
        change(tree, block.text)


def run(*args: object, cwd: Path | None = None,
        env: dict[str, str] | None = None) \
        -> subprocess.CompletedProcess[str]:
    """A program, in the copy."""
    return subprocess.run(
        [str(a) for a in args], cwd=cwd, capture_output=True, text=True,
        errors="replace", check=False, timeout=LIMIT_S, env=env,
        stdin=subprocess.DEVNULL)


def shell(tree: Path, text: str) -> subprocess.CompletedProcess[str]:
    """An sh block, with BUILD set as docs/adding.md says."""
    env = dict(os.environ, BUILD=str(tree.parent / "build"),
               **venv.path_env())
    return run("bash", "-euo", "pipefail", "-c", text, cwd=tree, env=env)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with the examples of all guides in it, configured."""
    tree = tmp_path_factory.mktemp("adding") / "tree"
    tree.mkdir()
    for name in COPIED:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, tree / name, symlinks=True)
        else:
            shutil.copy(PROJECT / name, tree)
    for name in GUIDES:
        for block in guide(name):
            apply(tree, block)
    packages.ensure(packages.BUILD)
    # Least time to compile and to run full drives.
    meson = run(venv.tool("meson"), "setup", "-Dbuildtype=plain", "-Dc_args=-Og",
                tree.parent / "build", tree)
    assert meson.returncode == 0, meson.stdout[-3000:]
    return tree


@pytest.mark.parametrize("name", GUIDES)
def test_commands_of_the_guide(copy: Path, name: str) -> None:
    """Each sh block of a guide ends well with all examples in the tree."""
    scripts = [b.text for b in guide(name) if b.kind == "sh"]
    assert scripts
    for text in scripts:
        done = shell(copy, text)
        assert done.returncode == 0, \
            f"{text}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def sim(copy: Path, *args: str) -> dict[str, object]:
    """A result of the copy's vssd-sim."""
    done = run(copy.parent / "build/sim/vssd-sim", "run", "--json",
               "--profile", "tiny", *args)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("new, old, load", [
    ("ftl.gc=spare-worn", "ftl.gc=greedy",
     "--fill random --workload 'rw=randwrite number_ios=20000'"),
    ("buffer.policy=slru", "buffer.policy=lru",
     "--workload 'rw=randrw number_ios=20000 random_distribution=zipf:1.2'"),
    ("ftl.map=bast-fifo", "ftl.map=bast",
     "--fill seq --workload 'rw=randwrite bs=4k number_ios=5000"
     " random_distribution=zipf:1.1'"),
    ("host.firmware_read=1ms", "host.firmware_read=0",
     "--workload 'rw=randread number_ios=100'"),
])
def test_an_example_has_an_effect(copy: Path, new: str, old: str,
                                  load: str) -> None:
    """Each policy and option of the guides behaves unlike the one that it
    copies."""
    ours, theirs = (
        sim(copy, "--set", value, *shlex.split(load)) for value in (new, old))
    assert ours["sim_ns"] != theirs["sim_ns"]


def test_a_check_asks_for_the_examples_tests(copy: Path) -> None:
    """A policy without rows in the tests fails them, and the message says
    which row is missing."""
    row = '    {"ftl.gc=spare-worn", ""},\n'
    file = copy / "tests/ftl/config.c"
    text = file.read_text()
    test = (copy.parent / "build/tests/ftl/test-config", "-p",
            "/config/every-policy")

    def build() -> None:
        done = shell(copy, 'ninja -C "$BUILD" tests/ftl/test-config')
        assert done.returncode == 0, done.stdout[-4000:]

    assert text.count(row) == 1
    try:
        file.write_text(text.replace(row, ""))
        build()
        lacking = run(*test)
        assert lacking.returncode != 0
        assert "ftl.gc has a choice more, spare-worn" in \
            lacking.stdout + lacking.stderr
    finally:
        file.write_text(text)
    build()
    assert run(*test).returncode == 0


def test_guides_are_complete() -> None:
    """Every guide is applied here, and each has something to apply."""
    pages = {p.stem for p in (PROJECT / "docs").glob("adding-*.md")}
    assert pages == set(GUIDES)
    for name in pages:
        assert any(b.kind == "diff" for b in guide(name)), name
    index = (PROJECT / "docs/adding.md").read_text()
    for name in pages:
        assert f"({name}.md)" in index


@pytest.mark.parametrize("text, message", [
    ("--- a/f\n+++ b/f\n@@\n one\n+two\n", ""),
    ("--- a/f\n+++ b/f\n@@\n absent\n+two\n", "0 places"),
    ("--- a/f\n+++ b/f\n@@\n twice\n+two\n", "2 places"),
])
def test_a_diff_needs_its_place(tmp_path: Path, text: str,
                                message: str) -> None:
    """An example that no longer fits the tree is a failure."""
    (tmp_path / "f").write_text("one\ntwice\ntwice\n")
    if message:
        with pytest.raises(AssertionError, match=message):
            change(tmp_path, text)
    else:
        change(tmp_path, text)
        assert (tmp_path / "f").read_text() == "one\ntwo\ntwice\ntwice\n"
