# SPDX-License-Identifier: GPL-2.0-or-later
"""Images are read and written by io_uring where kernel and QEMU have it."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vssd.guest import hardware, uring

LINKED = b"\x7fELF rest \0liburing.so.2\0 rest"


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Answers are kept for the process."""
    uring.kernel_has.cache_clear()
    uring.program_has.cache_clear()
    yield
    uring.kernel_has.cache_clear()
    uring.program_has.cache_clear()


def with_kernel(monkeypatch: pytest.MonkeyPatch, has: bool) -> None:
    """A kernel that makes a ring, or refuses it."""
    def syscall(number: int, entries: int, params: Any) -> int:
        assert (number, entries, len(params)) == (425, 128, 120)
        return os.open(os.devnull, os.O_RDONLY) if has else -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_named: SimpleNamespace(
        syscall=syscall))


def test_both_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = {"linked": LINKED, "other": b"\x7fELF libaio.so.1", "empty": b""}
    for name, data in programs.items():
        (tmp_path / name).write_bytes(data)
    for kernel in (True, False):
        with_kernel(monkeypatch, kernel)
        asked = {name: uring.works(tmp_path / name)
                 for name in (*programs, "missing")}
        assert asked == {"linked": kernel, "other": False, "empty": False,
                         "missing": False}
        uring.kernel_has.cache_clear()


@pytest.mark.parametrize("kernel", [True, False])
def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                      kernel: bool) -> None:
    """Every image of a drive, also one whose writes are forgotten; a node that the
    caller gives stays as it is."""
    emulator = tmp_path / "qemu"
    emulator.write_bytes(LINKED)
    with_kernel(monkeypatch, kernel)
    aio = "io_uring" if kernel else "threads"
    null = {"driver": "null-co", "size": 1 << 30}
    line = hardware.command_line(hardware.Spec(emulator, "tcg", [
        hardware.Drive(Path("a.qcow2")),
        hardware.Drive(Path("b.raw"), "raw", forget=True),
        hardware.Drive(Path(), node=null)]))
    nodes = [json.loads(value) for name, value in zip(line, line[1:], strict=False)
             if name == "-blockdev"]
    assert nodes[0]["file"]["aio"] == aio
    assert nodes[1] == {**null, "node-name": "disk2"}
    drive = line[line.index("-drive") + 1]
    assert f",aio={aio},file=b.raw" in drive
