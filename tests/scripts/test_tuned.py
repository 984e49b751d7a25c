# SPDX-License-Identifier: GPL-2.0-or-later
"""Which vssd-sim a user gets, and the rows of ./vssd bench sim about parsing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vssd import installed, paths
from vssd.bench import sim as bench_sim
from vssd.build import inputs, model, tuned


@pytest.mark.parametrize(("is_installed", "made", "kept", "builds"), [
    (False, False, False, True),
    (False, False, True, False),
    (False, True, False, False),
    (True, False, False, False),
])
def test_the_first_is_the_fast_one(
        monkeypatch: pytest.MonkeyPatch, is_installed: bool, made: bool, kept: bool,
        builds: bool) -> None:
    """Without any vssd-sim, the fast one is built; else there is no waiting."""
    monkeypatch.setattr(installed, "here", lambda: is_installed)
    monkeypatch.setattr(model, "tuned_is_made", lambda: made)
    monkeypatch.setattr(model, "portable_is_kept", lambda: kept)
    monkeypatch.setattr(model, "sim", lambda: Path("other"))
    monkeypatch.setattr(tuned, "sim", lambda: Path("fast"))
    assert tuned.first() == Path("fast" if builds else "other")


def test_tune_refuses(tmp_path: Path) -> None:
    """What is no build directory, in one line."""
    for args in ([], [str(tmp_path)]):
        done = subprocess.run(
            [sys.executable, paths.PROJECT / "packaging/tune.py", *args],
            capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "set up by meson" in done.stderr


def test_parsed_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind is read as its format, and all its lines are requests."""
    monkeypatch.setattr(bench_sim, "PARSED", 40)
    sizes = []

    def convert(trace: Path, _to: Path | None) -> float:
        to = tmp_path / "out"
        with to.open("wb") as out:
            subprocess.run([model.sim(), "convert", trace, "--to", "binary"],
                           stdout=out, check=True)
        sizes.append(to.stat().st_size)
        return .001

    monkeypatch.setattr(bench_sim, "_convert", convert)
    rows = bench_sim._parsing(1)  # pylint: disable=protected-access
    assert {r["name"] for r in rows} == {f"sim_parse_{k}" for k in inputs.TEXTS}
    # A header, a device, 40 requests and the end.
    assert set(sizes) == {32 + 42 * 24}
    assert all(r["ratio"] == r["ours"] / 500 for r in rows)
