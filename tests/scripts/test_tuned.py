# SPDX-License-Identifier: GPL-2.0-or-later
"""Which vssd-sim a user gets, and the rows of ./vssd bench sim about parsing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vssd import installed, paths
from vssd.build import inputs, model, tuned
from vssd_lab.bench import sim as bench_sim


@pytest.mark.parametrize(("is_installed", "made", "says"), [
    (False, False, True), (False, True, False), (True, False, False)])
def test_the_first_is_the_plain_one(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        is_installed: bool, made: bool, says: bool) -> None:
    """Nobody waits for the fast one without having asked for it."""
    monkeypatch.setattr(installed, "here", lambda: is_installed)
    monkeypatch.setattr(model, "sim_is_made", lambda: made)
    monkeypatch.setattr(model, "sim", lambda: Path("plain"))
    assert tuned.first() == Path("plain")
    assert ("./vssd setup builds a faster one" in capsys.readouterr().err) == says


def test_the_fast_one_is_of_its_contents(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built once for all clones of the same sources and training; never older."""
    built: list[str] = []

    def build() -> tuple[list[Path], list[Path]]:
        built.append("one")
        (tmp_path / "vssd-sim").write_text("fast")
        return [tmp_path / "vssd-sim"], []

    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_SHARED_CACHE", raising=False)
    monkeypatch.setattr(tuned, "_build", build)
    assert model.tuned_sim() is None
    assert tuned.sim().read_text() == "fast" == tuned.sim().read_text()
    assert model.tuned_sim() == tuned.sim() and built == ["one"]
    monkeypatch.setattr(model, "file_bytes", lambda *names: b"another training")
    assert model.tuned_sim() is None


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

    def convert(trace: Path, form: str, _to: Path | None) -> float:
        to = tmp_path / "out"
        with to.open("wb") as out:
            subprocess.run([model.sim(), "convert", trace, "--to", "binary",
                            "--format", form], stdout=out, check=True)
        sizes.append(to.stat().st_size)
        return .001

    monkeypatch.setattr(bench_sim, "_convert", convert)
    rows = bench_sim._parsing(1)  # pylint: disable=protected-access
    assert {r["name"] for r in rows} == {f"sim_parse_{k}" for k in inputs.TEXTS}
    # A header, a device, 40 requests and the end.
    assert set(sizes) == {32 + 42 * 24}
    assert all(r["ratio"] == r["ours"] / 500 for r in rows)
