# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of tests, by the sources alone: nothing is built or imported.

Names that are put together while the tests run are known by their parts only.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from vssd.paths import PROJECT

from . import lint, mutants

QUOTED = re.compile(r"'([^'\n]+)'")
NAMES = re.compile(r"^\s*(?:async )?(?:def|class) ((?:test|Test)\w*)", re.M)
PLACE = re.compile(r"@\d@")  # in a name of meson; a number or a text stands there
NUMBER = re.compile(r"(?:^|-)\d*(?=-|$)")  # which one is not looked at
IMPORT = re.compile(
    r"^from (vssd|vssd_lab)(\.[\w.]+)? import ([^\n(]+|\([^)]*)", re.M)
FOLDERS = {"vssd": "scripts/vssd", "vssd_lab": "lab/vssd_lab"}


def unknown(groups: Iterable[str], parts: list[str]) -> list[str]:
    """The parts that are in no name of a test of these groups."""
    kinds = {_kind(g) for g in groups}
    return [p for p in parts if not any(_has(kind, p) for kind in kinds)]


def _kind(group: str) -> str:
    """Groups with the same tests are one."""
    if group in ("gcc", "clang", "release"):
        return "meson"
    return "qemu" if group == "qemu-new" else group


def _has(kind: str, part: str) -> bool:
    if kind == "lint":
        return any(part in name for name in lint.CHECKS)
    if kind == "mutants":
        return any(part in one.name for one in mutants.load())
    if kind == "meson":
        return any(_joined(part, cells) for cells in _meson())
    part = part.lower()  # pytest takes capitals for small letters
    return any(part in name.lower() for name in _pytest(kind)) \
        or any(_joined(part, cells) for cells in _parameters(kind))


def _joined(part: str, cells: frozenset[str]) -> bool:
    """Is it a part of some of them, with "-" between each two?"""
    texts = {part, NUMBER.sub("", part).strip("-")}
    if any(text in cell for text in texts for cell in cells):
        return True
    return any(cell.endswith(text[:m.start()])
               and _begins(text[m.end():], cells) for text in texts
               for m in re.finditer("-", text) for cell in cells)


def _begins(text: str, cells: frozenset[str]) -> bool:
    return any(cell.startswith(text)
               or text.startswith(cell + "-")
               and _begins(text[len(cell) + 1:], cells) for cell in cells)


# ---- the model's, by meson -------------------------------------------------------


@functools.cache
def _meson() -> list[frozenset[str]]:
    """The texts of each file that defines tests of the model."""
    return [frozenset(
        piece for text in QUOTED.findall(path.read_text("utf-8"))
        if "/" not in text and " " not in text
        for piece in [text, text.strip("-"), *PLACE.split(text)] if piece)
        for path in sorted((PROJECT / "tests").rglob("meson.build"))]


# ---- those in Python, by pytest --------------------------------------------------


def _files(group: str) -> list[Path]:
    return sorted((PROJECT / "tests" / group).rglob("*.py"))


@functools.cache
def _pytest(group: str) -> frozenset[str]:
    """The files with tests, their functions and their classes."""
    found = [f"{group}/{p.name}" for p in _files(group)
             if p.name.startswith("test_")]
    for path in _files(group):
        found += NAMES.findall(path.read_text("utf-8"))
    return frozenset(found)


@functools.cache
def _parameters(group: str) -> list[frozenset[str]]:
    """Of each function, the texts that pytest puts in brackets behind its
    name."""
    out = []
    for path in _files(group):
        module = _Module(path.read_text("utf-8"))
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                out.append(frozenset(
                    cell.lower() for call in node.decorator_list
                    if isinstance(call, ast.Call)
                    for cell in module.cells(call) if cell))
    return [cells for cells in out if cells]


@functools.cache
def _constants(path: Path) -> frozenset[str]:
    """The words of a file of the project."""
    return frozenset(str(c.value) for c in ast.walk(ast.parse(
        path.read_text("utf-8"))) if isinstance(c, ast.Constant)
        and " " not in str(c.value)) if path.is_file() else frozenset()


class _Module:
    """A file with tests."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.values = {t.id: node.value for node in self.tree.body
                       if isinstance(node, ast.Assign) for t in node.targets
                       if isinstance(t, ast.Name)}
        self.imports: dict[str, Path] = {}  # where a name comes from
        for package, place, names in IMPORT.findall(text):
            base = PROJECT / FOLDERS[package] / place.strip(".").replace(".", "/")
            for name in re.findall(r"\w+", names):
                inner = base / f"{name}.py"
                self.imports[name] = inner if inner.is_file() \
                    else base.with_suffix(".py")

    def cells(self, call: ast.Call) -> Iterator[str]:
        """Of one decorator: of @pytest.mark.parametrize, or of a fixture with
        params."""
        given = {k.arg: k.value for k in call.keywords}
        name = ast.unparse(call.func)
        if name == "pytest.mark.parametrize" and len(call.args) > 1:
            arguments = _arguments(call.args[0])
            rows: ast.expr = call.args[1]
        elif name == "pytest.fixture" and "params" in given:
            arguments, rows = [""], given["params"]
        else:
            return
        if "ids" in given:
            yield from self._texts(given["ids"])
        if isinstance(rows, ast.Name):
            rows = self.values.get(rows.id, rows)
        if not isinstance(rows, (ast.List, ast.Tuple)):
            yield from self._texts(rows)
            return
        for i, row in enumerate(rows.elts):
            yield from self._row(row, i, arguments)

    def _row(self, row: ast.expr, number: int, arguments: list[str]) \
            -> Iterator[str]:
        cells = [row]
        if isinstance(row, ast.Call) \
                and ast.unparse(row.func) == "pytest.param":
            cells = row.args
            for given in row.keywords:
                yield from self._texts(given.value)
        elif len(arguments) > 1 and isinstance(row, (ast.List, ast.Tuple)):
            cells = row.elts
        elif isinstance(row, ast.Starred) or len(arguments) > 1:
            yield from self._texts(row)
        for argument, cell in zip(arguments, cells):
            if isinstance(cell, ast.Constant):
                yield str(cell.value)
            else:  # a text, or an object, of which pytest takes the number
                yield f"{argument}{number}"
                if not isinstance(cell, (ast.List, ast.Tuple, ast.Dict)):
                    yield from self._texts(cell)

    def _texts(self, node: ast.AST) -> Iterator[str]:
        """Its texts and numbers, those of its names included."""
        for one in ast.walk(node):
            if isinstance(one, ast.Constant):
                yield str(one.value)
            elif isinstance(one, ast.Attribute):
                yield one.attr
            elif isinstance(one, ast.Lambda):
                yield "<lambda>"
            elif isinstance(one, ast.Name):
                yield one.id
                if value := self.values.pop(one.id, None):  # once
                    yield from self._texts(value)
                    self.values[one.id] = value
                elif one.id in self.imports:
                    yield from _constants(self.imports[one.id])


def _arguments(names: ast.expr) -> list[str]:
    """What the parameters are called."""
    if isinstance(names, ast.Constant):
        return [n.strip() for n in str(names.value).split(",")]
    return [str(c.value) for c in ast.walk(names)
            if isinstance(c, ast.Constant)]
