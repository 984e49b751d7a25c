# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of the vssd command import downwards only, and nothing in a
circle.  Every import counts, also one inside a function."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from vssd.paths import PROJECT

ROOT = PROJECT / "scripts"
TOP = "vssd.__main__"
# The higher imports the lower; those of one rank do not know each other.
RANKS = {"cli": 5, "figures": 4, "bench": 4, "watch": 3, "suites": 3,
         "campaign": 3, "guest": 2, "sim": 2, "build": 1, "": 0}
# What runs before the Python environment is there; the libraries that it has
# are imported inside functions.
LIBRARIES = {"rich", "qemu", "prometheus_client", "numpy", "matplotlib", "pyarrow", "distributed",
             "scipy", "sklearn", "pytest", "mesonbuild"}
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


def graph_of(root: Path) -> Graph:
    """Who imports whom; the packages' empty __init__ left out."""
    files = {name_of(p, root): p for p in root.rglob("*.py")
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
    """The package of a module: "" for the modules of the base."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 else ""


def upward(graph: Graph) -> list[str]:
    """Imports from a package of the same or of a higher rank."""
    return sorted(
        f"{module} imports {other}" for module, others in graph.items()
        for other in others
        if module != TOP and package(module) != package(other)
        and RANKS[package(other)] >= RANKS[package(module)])


def test_vssd_imports_downwards() -> None:
    """cli, figures and bench, suites and watch, guest and sim, build, base: in
    this order."""
    graph = graph_of(ROOT)
    assert {package(m) for m in graph} == set(RANKS)
    assert len(graph) > 70
    assert upward(graph) == []


def test_vssd_has_no_circle() -> None:
    """Not even a late import in a function closes one."""
    assert circle(graph_of(ROOT)) == []


def test_libraries_are_imported_late() -> None:
    """./vssd starts with the system's Python alone: what it loads to print its
    help and to make the environment names no library at its top."""
    graph = graph_of(ROOT)
    seen, wanted = set(), ["vssd.cli.main", "vssd.build.venv"]
    while wanted:
        module = wanted.pop()
        if module in seen:
            continue
        seen.add(module)
        tree = ast.parse((ROOT / (module.replace(".", "/") + ".py"))
                         .read_text(encoding="utf-8"))
        for node in tree.body:
            wanted += imported(node, module, set(graph))
            names = [a.name for a in node.names] \
                if isinstance(node, ast.Import) else \
                [node.module or ""] if isinstance(node, ast.ImportFrom) \
                and not node.level else []
            tops = {n.split(".")[0] for n in names}
            assert not tops & LIBRARIES, module
            assert tops <= set(sys.stdlib_module_names), module
    assert len(seen) > 20


@pytest.mark.parametrize("line", [
    "from ..cli import test", "from ..cli.test import main",
    "def late() -> None:\n    from ..figures import plot",
    "import vssd.bench.rows", "from vssd.guest.machine import Machine"])
def test_a_line_that_runs_up_is_found(line: str, tmp_path: Path) -> None:
    """Each way to write an import, in a copy of build/."""
    for module in ("cli/test", "figures/plot", "bench/rows", "guest/machine",
                   "build/model", "paths"):
        path = tmp_path / f"vssd/{module}.py"
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
