# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks of docs/ run from their first cell to their last."""

from __future__ import annotations

from pathlib import Path

import pytest
from libvssd_wheel import installed

from vssd.build import model, venv
from vssd.paths import PROJECT

NOTEBOOKS = sorted((PROJECT / "docs/notebooks").glob("*.ipynb"))


def test_there_are_some() -> None:
    """Else the next test checks nothing."""
    assert NOTEBOOKS


@pytest.fixture(scope="module", name="libraries")
def _libraries(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PYTHONPATH of the wheel of lib/python."""
    python = installed(tmp_path_factory.mktemp("wheel") / "venv")
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    return str(site)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(path: Path, libraries: str,
              monkeypatch: pytest.MonkeyPatch) -> None:
    """With real runs of vssd-sim and libvssd; each cell of code has a result or none, and
    none raises."""
    venv.extra("notebook")
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    model.sim()
    monkeypatch.setenv("VSSD", str(PROJECT / "vssd"))
    monkeypatch.setenv("PYTHONPATH", libraries)
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not any(cell.get("outputs") for cell in book.cells), \
        "outputs do not belong into the repository"
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert len(code) > 3 and all(c.execution_count for c in code)
    assert any("text/html" in out.get("data", {})
               for cell in code for out in cell.outputs)
