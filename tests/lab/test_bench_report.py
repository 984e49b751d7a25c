# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench --report: a file with rows, host and versions; a benchmark that
fails does not end the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vssd import origin
from vssd.errors import UserError
from vssd_lab.bench import report
from vssd_lab.bench.rows import row
from vssd_lab.cli import bench, main


def bench_of(name: str, one: str) -> Any:
    """A benchmark of one row; fio fails after it."""
    def measure(_: object) -> Iterator[dict[str, Any]]:
        yield row(one, 1234.5, 2, "1/s", "a note")
        if name == "fio":
            raise UserError("no guest here")
    return measure


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """./vssd bench, with benchmarks that take no time."""
    for name in bench.BENCHES:
        monkeypatch.setitem(bench.BENCHES, name, bench_of(name, f"{name}|row"))
    args = main.parser().parse_args(["bench", *words])
    bench.check(args)
    return bench.main(args)


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                capsys: pytest.CaptureFixture[str]) -> None:
    """Without names: those that tell KVM from TCG."""
    file = tmp_path / "report.md"
    assert run(monkeypatch, "--report", str(file), "--repeat", "1") == 0
    text = file.read_text()
    assert text.startswith(f"# {origin.version_text()}: benchmarks\n")
    assert "    ./vssd bench sim warm fio lateness idle --repeat 1 --runtime 3\n" \
        in text
    for what in ("processor", "cores", "KVM", "memory", "kernel", "system",
                 "vssd", "QEMU", "guest's kernel"):
        assert re.search(rf"^\| {what} \| [^|]+ \|$", text, re.M), what
    for name in bench.REPORTED:
        assert f"| {name}\\|row | 1,234 | 2 | 617 | 1/s | a note |\n" in text
    assert "| fio | no guest here |\n" in text
    assert "sim|row" in capsys.readouterr().out
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()
               if line.startswith("|")}
    assert columns == {3, 7}


def test_report_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those alone, with their options."""
    file = tmp_path / "report.md"
    assert run(monkeypatch, "idle", "--server", "--report", str(file)) == 0
    text = file.read_text()
    assert "./vssd bench idle --server --repeat 3 --runtime 3\n" in text
    assert "not measured" not in text and "fio" not in text
    with pytest.raises(UserError, match="--report /nowhere/x: No such file"):
        run(monkeypatch, "--report", "/nowhere/x")
    with pytest.raises(UserError, match="--report: not with profile"):
        run(monkeypatch, "profile", "gc", "--report", str(file))


def test_version_of_a_kernel(tmp_path: Path) -> None:
    """In the head of its file."""
    kernel = bytearray(0x800)
    kernel[0x20e:0x210] = (0x400).to_bytes(2, "little")
    text = b"6.12.1-amd64 (builder) #1 SMP\0"
    kernel[0x600:0x600 + len(text)] = text
    (tmp_path / "vmlinuz").write_bytes(kernel)
    assert report.kernel_version(tmp_path / "vmlinuz") == "6.12.1-amd64"
    (tmp_path / "empty").write_bytes(b"")
    assert report.kernel_version(tmp_path / "empty") == report.UNKNOWN
    assert report.kernel_version(tmp_path / "none") == report.UNKNOWN


def test_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--write: the page of the documents, of all rows, with the peers' programs
    by their names alone."""
    monkeypatch.setattr(bench, "PAGE_FILE", tmp_path / "page.md")
    program = tmp_path / "MQSim"
    program.write_text("")
    program.chmod(0o755)
    assert run(monkeypatch, "--write", "--peer", f"mqsim={program}") == 0
    text = (tmp_path / "page.md").read_text()
    assert text.startswith(report.PAGE_HEAD)
    assert "    ./vssd bench --write --repeat 3 --runtime 3 --peer mqsim=MQSim\n" in text
    for name in bench.WRITTEN:
        assert f"| {name}\\|row | 1,234 | 2 | 617 | 1/s | a note |\n" in text
    for what in ("fio", "fio --server"):
        assert f"| {what} | no guest here |\n" in text
    assert str(tmp_path) not in text
    for words in (["sim"], ["--server"], ["--report", "x"]):
        with pytest.raises(UserError, match="--write: not with NAME, --report or"):
            run(monkeypatch, "--write", *words)
