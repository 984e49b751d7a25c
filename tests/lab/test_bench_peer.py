# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench: a peer that does not start is one line, and rows that were
measured before something fails are shown."""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vssd.build.inputs import INPUTS
from vssd.errors import UserError
from vssd_lab.bench import mqsim, peer
from vssd_lab.bench.rows import row
from vssd_lab.cli import bench

LIMIT_S = 30


def arguments(*line: str) -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers())
    return parser.parse_args(["bench", *line])


def script(folder: Path, text: str) -> Path:
    """A program."""
    path = folder / "peer"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_no_such_program(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--peer femu=.*none: cannot start: No such"):
        bench.main(arguments("fio", "--peer", f"femu={tmp_path / 'none'}"))


@pytest.mark.parametrize("text, words", [
    ("echo one; echo 'no device femu' >&2; exit 1", "cannot start: no device femu"),
    ("exit 3", "cannot start: exit status 3"),
])
def test_program_that_refuses(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as e:
        bench.main(arguments("fio", "--peer", f"femu={script(tmp_path, text)}"))
    assert words in str(e.value) and "\n" not in str(e.value)


def test_program_that_starts(tmp_path: Path) -> None:
    peer.check(script(tmp_path, '[ "$2" = femu,help ]'))


def test_peer_goes_with_fio_only(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--peer femu=PATH: only with fio and peer"):
        bench.main(arguments("nand", "--peer", f"femu={tmp_path}"))


def test_rows_of_the_peer_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.BENCHES, "peer", lambda _args: [])
    with pytest.raises(UserError, match="bench peer: needs --peer femu=PATH"):
        bench.main(arguments("peer"))


@pytest.mark.parametrize("names, measured", [
    (["fio"], ["fio", "peer"]), (["peer"], ["peer"]),
    (["fio", "peer"], ["fio", "peer"])])
def test_what_a_peer_adds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                          names: list[str], measured: list[str]) -> None:
    found: list[str] = []
    for name in ("fio", "peer"):
        monkeypatch.setitem(bench.BENCHES, name,
                            lambda _args, name=name: found.append(name)
                            or [row(name, 1, 1, "IOPS")])
    bench.main(arguments(*names, "--peer", f"femu={script(tmp_path, ':')}"))
    assert found == measured


@contextmanager
def ends(**_more: Any) -> Iterator[None]:
    """A guest whose emulator ends."""
    raise UserError("no memory to lock")
    yield  # pylint: disable=unreachable


def test_guest_of_the_peer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """After it has passed the check: the line names the option."""
    monkeypatch.setattr(peer, "booted", ends)
    with pytest.raises(UserError, match="^--peer femu=/femu: no memory to lock$"), \
            peer.their_guest(Path("/femu"), peer.AT_ONCE):
        pass


class FakeGuest:
    """A guest of which only the process is real."""

    def __init__(self) -> None:
        self.proc = subprocess.Popen(["sleep", "1000"])
        self.pid = self.proc.pid

    def comes_to(self, state: str) -> bool:
        """S, or T when it is stopped; a signal takes its time."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            text = Path(f"/proc/{self.pid}/stat").read_text()
            if text.rsplit(")", 1)[1].split()[0] == state:
                return True
        return False


def test_the_others_are_stopped() -> None:
    """Each guest is measured while all others are stopped; all go on then."""
    guests: list[Any] = [FakeGuest() for _ in range(3)]

    def figure(me: int) -> float:
        assert all(g.comes_to("S" if i == me else "T")
                   for i, g in enumerate(guests))
        return [5.0, 7.0, 9.0][me]

    try:
        assert peer.medians({g: partial(figure, i)
                             for i, g in enumerate(guests)}, 2) == [5, 7, 9]
        assert all(g.comes_to("S") for g in guests)
    finally:
        for g in guests:
            g.proc.kill()
            g.proc.wait()


@pytest.mark.parametrize("names", [[], ["nand"], ["fio", "watch"]])
def test_server_goes_with_its_rows_only(names: list[str]) -> None:
    with pytest.raises(UserError, match="--server: only with fio, idle, warm"):
        bench.main(arguments(*names, "--server"))


def test_server_has_no_peer(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--peer femu=PATH: only with fio and peer,"
                       " and not with --server"):
        bench.main(arguments("fio", "--server", "--peer", f"femu={tmp_path}"))


@pytest.mark.parametrize("as_json", [False, True])
def test_finished_rows_are_kept(monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str],
                                as_json: bool) -> None:
    def measure(_args: argparse.Namespace) -> Iterator[dict[str, Any]]:
        yield row("first_row", 3, 2, "IOPS")
        raise UserError("the peer's guest ended")

    monkeypatch.setitem(bench.BENCHES, "fio", measure)
    with pytest.raises(UserError, match="the peer's guest ended"):
        bench.main(arguments("fio", *["--json"] * as_json))
    out = capsys.readouterr().out
    if as_json:
        assert [r["name"] for r in json.loads(out)["rows"]] == ["first_row"]
    else:
        assert "first_row" in out and "1.5" in out


@pytest.mark.parametrize("text", ["x=y", "femu", "femu=", "/a/program"])
def test_names_of_peers(text: str) -> None:
    with pytest.raises(UserError,
                       match=f"^--peer {text}: allowed femu=PATH, mqsim=PATH$"):
        bench.main(arguments("fio", "--peer", text))


# A peer that plays its text, as often as it says.
PLAYS = """
load=$4
n=$(grep -c . "$(sed 's/.*<File_Path>//; s/<.*//' "$load")")
echo "<a><Host.IO_Flow><Request_Count>$((n - {lost}))</Request_Count>\
</Host.IO_Flow></a>" > "${{load%.xml}}_scenario_1.xml"
exit {status}"""


@pytest.mark.parametrize("lost, status, says", [
    (0, 0, None), (1, 0, "played 99 of 100 requests of read"),
    (0, 3, "could not play read: status 3")])
def test_mqsim(tmp_path: Path, lost: int, status: int, says: str | None) -> None:
    """It plays the text of the input, all of it."""
    one, path = INPUTS[0], tmp_path / "requests.txt"
    one.write(path, 100)
    program = script(tmp_path, PLAYS.format(lost=lost, status=status))
    if says is None:
        assert mqsim.rate(program, one, path, 100) > 0
        return
    with pytest.raises(UserError) as e:
        mqsim.rate(program, one, path, 100)
    assert str(e.value) == f"--peer mqsim={program}: {says}"


def test_no_mqsim(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--peer mqsim=.*none: no such program"):
        bench.main(arguments("sim", "--peer", f"mqsim={tmp_path / 'none'}"))
