# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd policy: new policies, and the checks of a shared object."""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

import pytest

from vssd.cli import policy
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim import policytest


def compiled(source: Path, *flags: str) -> Path:
    """A shared object; warnings are errors."""
    to = source.with_suffix(".so")
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared",
                    "-fPIC", f"-I{PROJECT / 'ftl'}", *flags, source, "-o", to],
                   check=True)
    return to


def made(kind: str, name: str) -> Path:
    """`./vssd policy new`, in the current folder."""
    assert policy.make(argparse.Namespace(kind=kind, name=name)) == 0
    return Path(f"{name}.c").resolve()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", policy.EXAMPLES)
def test_new(kind: str) -> None:
    """It compiles, and has its name."""
    source = made(kind, "My-Own")
    assert '.name = "My-Own"' in source.read_text()
    assert "My-Own.so" in source.read_text()
    assert compiled(source).exists()
    with pytest.raises(UserError, match=r"My-Own\.c: is there already"):
        made(kind, "My-Own")


def test_bad_names() -> None:
    """One line."""
    for name in ("a b", "", "x" * 41, "../x"):
        with pytest.raises(UserError, match="NAME="):
            made("gc", name)


def check(file: Path) -> int:
    """`./vssd policy test`, with few runs."""
    return policy.check(argparse.Namespace(file=file, runs=3))


def test_a_good_one(capsys: pytest.CaptureFixture[str]) -> None:
    """All checks."""
    assert check(compiled(made("buffer", "mine"))) == 0
    said = capsys.readouterr().out
    assert said.count("ok   ") == 6 and "all 6 checks passed" in said
    assert "play: 4 runs of 30000 requests" in said
    assert re.search(r"swarm: [1-3] of 3 drives", said)


@pytest.mark.parametrize("found, why", [
    ({}, "no request was played"), ({"requests": 0}, "no request was played"),
    ({"requests": 5, "gc": {"victims": 0}}, "no victim was chosen"),
    ({"requests": 5, "gc": {"victims": 2}}, None)])
def test_a_check_without_work_fails(monkeypatch: pytest.MonkeyPatch,
                                    found: dict[str, object],
                                    why: str | None) -> None:
    """A policy that was never asked was not checked."""
    monkeypatch.setattr(policytest, "_sim", lambda *_: found)
    on = policytest.Subject("ftl.gc=so:x", Path(), Path(), 3)
    for name in ("play", "repeat", "states"):
        said = policytest.CHECKS[name](on).why
        assert said is None if why is None else said and why in said


@pytest.mark.parametrize("out, why", [
    ("# 0 runs with x\n", "nothing was checked"), ("", "nothing was checked"),
    ("# 2 runs with x\n", None)])
def test_a_swarm_without_the_policy_fails(monkeypatch: pytest.MonkeyPatch,
                                          out: str, why: str | None) -> None:
    """No drive of it could have the option."""
    monkeypatch.setattr(policytest, "_said", lambda _: (0, out, ""))
    found = policytest.CHECKS["swarm"](
        policytest.Subject("ftl.gc=so:x", Path(), Path(), 3))
    assert found.why is None if why is None else found.why and why in found.why
    assert why or found.did == "2 of 3 drives"


def test_broken_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken rule, another version, no policy at all."""
    source = tmp_path / "broken.c"
    source.write_text((PROJECT / "tests/ftl/broken-policy.c").read_text())
    with pytest.raises(UserError, match="checks failed"):
        check(compiled(source, "-DBREAKS=12"))  # pick() says none
    assert "pick() said none for plane" in capsys.readouterr().out
    with pytest.raises(UserError, match="ABI version 2"):
        check(compiled(source, "-DBREAKS=1"))
    with pytest.raises(UserError, match="no such file"):
        check(tmp_path / "none.so")
    source.write_text("extern int x; int x;\n")
    with pytest.raises(UserError, match="exports no vssd_policy"):
        check(compiled(source))
