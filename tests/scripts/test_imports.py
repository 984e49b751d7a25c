# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of the vssd command import downwards only, and nothing in a
circle; no module of the product imports the laboratory.  Every import counts,
also one inside a function."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vssd.cli import main as product
from vssd.paths import PROJECT
from vssd_lab.cli import main as lab

ROOT = PROJECT / "scripts"
LAB = PROJECT / "lab"
TOPS = ("vssd.__main__", "vssd_lab.__main__")
# The higher imports the lower; those of one rank do not know each other.
RANKS = {"vssd_lab.cli": 9, "vssd_lab.figures": 8, "vssd_lab.bench": 8,
         "vssd_lab.board": 7, "vssd_lab.suites": 7,
         "vssd_lab": 6,
         "vssd.cli": 5, "vssd.watch": 4, "vssd.campaign": 4,
         "vssd.measured": 4, "vssd.streams": 4, "vssd.guest": 3,
         "vssd.sim": 3, "vssd.build": 2, "vssd": 1}
# What runs before the Python environment is there; the libraries that it has
# are imported inside functions.
LIBRARIES = {"rich", "qemu", "prometheus_client", "numpy", "matplotlib", "pyarrow", "distributed",
             "scipy", "sklearn", "pytest", "mesonbuild", "tornado", "bokeh"}
Graph = dict[str, set[str]]


def name_of(path: Path, root: Path) -> str:
    """The module in a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.stmt | ast.AST, module: str, known: set[str]) \
        -> set[str]:
    """The modules of ours that an import statement names."""
    if isinstance(node, ast.Import):
        return {a.name for a in node.names} & known
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = module.split(".")[:-node.level] if node.level else []
    source = ".".join(base + ([node.module] if node.module else []))
    return {found for a in node.names
            for found in (f"{source}.{a.name}", source) if found in known}


def graph_of(*roots: Path) -> Graph:
    """Who imports whom; the packages' empty __init__ left out."""
    files = {name_of(p, root): p for root in roots for p in root.rglob("*.py")
             if p.name != "__init__.py"}
    return {module: set().union(*(
        imported(node, module, set(files))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for module, path in files.items()}


def circle(graph: Graph) -> list[str]:
    """Modules that import each other, if there are any."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module):]
        if module in done:
            return []
        for other in sorted(graph[module]):
            if found := visit(other, [*path, module]):
                return found
        done.add(module)
        return []

    for module in sorted(graph):
        if found := visit(module, []):
            return found
    return []


def package(module: str) -> str:
    """The package of a module: vssd for the modules of the base."""
    return ".".join(module.split(".")[:-1])


def upward(graph: Graph) -> list[str]:
    """Imports from a package of the same or of a higher rank."""
    return sorted(
        f"{module} imports {other}" for module, others in graph.items()
        for other in others
        if module not in TOPS and package(module) != package(other)
        and RANKS[package(other)] >= RANKS[package(module)])


def test_vssd_imports_downwards() -> None:
    """The laboratory, cli, watch and campaign, guest and sim, build, base: in this
    order."""
    graph = graph_of(ROOT, LAB)
    assert {package(m) for m in graph} == set(RANKS)
    assert len(graph) > 70
    assert upward(graph) == []


def test_the_product_runs_without_the_laboratory(tmp_path: Path) -> None:
    """Its modules do not name it; a command of the laboratory is refused in one
    line, and without lab/ the script starts the product."""
    for path in ROOT.rglob("*.py"):
        assert "vssd_lab" not in path.read_text(encoding="utf-8"), path
    (tmp_path / "vssd").write_bytes((PROJECT / "vssd").read_bytes())
    (tmp_path / "vssd").chmod(0o755)
    (tmp_path / "scripts").symlink_to(ROOT)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def vssd(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(tmp_path / "vssd"), *words], env=env,
                              capture_output=True, text=True, check=False)

    assert "  fleet " in vssd("--help").stdout
    own, = (group for title, group in lab.GROUPS.items()
            if title not in product.GROUPS)
    assert [m.__name__.split(".")[-1] for m in own] == [*product.LABORATORY]
    for words in [*([name, "--help"] for name in product.LABORATORY),
                  ["help", "figures"]]:
        done = vssd("--quiet", *words)
        name = words[words[0] == "help"]
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"vssd: {name} is a command of the laboratory")
        assert done.stderr.count("\n") == 1


def test_vssd_has_no_circle() -> None:
    """Not even a late import in a function closes one."""
    assert circle(graph_of(ROOT, LAB)) == []


def test_libraries_are_imported_late() -> None:
    """./vssd starts with the system's Python alone: what it loads to print its
    help and to make the environment names no library at its top."""
    graph = graph_of(ROOT, LAB)
    seen, wanted = set(), ["vssd_lab.cli.main", "vssd.build.venv"]
    while wanted:
        module = wanted.pop()
        if module in seen:
            continue
        seen.add(module)
        root = LAB if module.startswith("vssd_lab.") else ROOT
        tree = ast.parse((root / (module.replace(".", "/") + ".py"))
                         .read_text(encoding="utf-8"))
        for node in tree.body:
            wanted += imported(node, module, set(graph))
            names = [a.name for a in node.names] \
                if isinstance(node, ast.Import) else \
                [node.module or ""] if isinstance(node, ast.ImportFrom) \
                and not node.level else []
            tops = {n.split(".")[0] for n in names}
            assert not tops & LIBRARIES, module
            assert tops <= {*sys.stdlib_module_names, "vssd"}, module
    assert len(seen) > 20


@pytest.mark.parametrize("line", [
    "from ..cli import test", "from ..cli.test import main",
    "def late() -> None:\n    from ..watch import plot",
    "import vssd_lab.bench.rows", "from vssd_lab.bench import rows",
    "from vssd.guest.machine import Machine"])
def test_a_line_that_runs_up_is_found(line: str, tmp_path: Path) -> None:
    """Each way to write an import, in a copy of build/."""
    for module in ("vssd/cli/test", "vssd/watch/plot", "vssd_lab/bench/rows",
                   "vssd/guest/machine", "vssd/build/model", "vssd/paths"):
        path = tmp_path / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert upward(graph_of(tmp_path)) == []
    (tmp_path / "vssd/build/model.py").write_text(line + "\n")
    assert len(upward(graph_of(tmp_path))) == 1


def test_a_circle_is_found() -> None:
    """Of two and of three; a module that two use is none."""
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"b"}, "b": {"a"}}) == ["a", "b"]
    assert circle({"d": {"a"}, "a": {"b"}, "b": {"c"}, "c": {"a"}}) == [
        "a", "b", "c"]
