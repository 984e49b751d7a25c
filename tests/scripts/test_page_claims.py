# SPDX-License-Identifier: GPL-2.0-or-later
"""Each statement of a page that denies a feature is in tests/claims.toml, is
still on its page, and is still true: what it denies is refused when tried."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
from page_claims import TABLE, Claim, denials, flat, table, text_of

from vssd.build import model
from vssd.paths import PROJECT

CLAIMS, OTHER = table()
PAGES = [str(p.relative_to(PROJECT)) for p in (
    PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))]
SOURCES = (".c", ".h", ".py", ".md", ".nix", ".patch")


@cache
def simulator() -> Path:
    """Of this tree."""
    return model.sim()


@cache
def ran(sim: str) -> subprocess.CompletedProcess[str]:
    """vssd-sim with these arguments."""
    return subprocess.run([str(simulator()), *shlex.split(sim)], check=False,
                          capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, cwd=PROJECT)


def tried(claim: Claim) -> str:
    """What vssd-sim says to the statement; empty: it is not refused."""
    done = ran(claim.sim)
    return done.stderr if done.returncode else ""


def sources(name: str) -> str:
    """The text of a file, or of all sources below a folder."""
    path = PROJECT / name
    files = [p for p in sorted(path.rglob("*")) if p.suffix in SOURCES]
    return "\n".join(p.read_text(encoding="utf-8") for p in files or [path])


def holds(claim: Claim) -> bool:
    """Is the feature still missing?"""
    if claim.sim and claim.lacks:
        told = ran(claim.sim).stdout
        return bool(told) and not re.search(claim.lacks, told, re.M)
    if claim.sim:
        return bool(claim.refused) and claim.refused in tried(claim)
    if claim.nvme or claim.property:
        return True  # tests/nvme/test-claims.c, tests/qemu/test_claims.py
    if claim.has:
        return flat(claim.has) in flat(sources(claim.file))
    return not re.search(claim.lacks, sources(claim.file), re.M)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_claim(claim: Claim) -> None:
    """Correct the page, and then the table, when a feature has come."""
    assert flat(claim.words) in text_of(claim.page)
    ways = [claim.sim, claim.nvme, claim.property, claim.file]
    assert sum(map(bool, ways)) == 1
    assert holds(claim), "the page denies what is there"


def test_rows_for_the_controller() -> None:
    """A test in C tries them, which reads lines."""
    rows = re.findall(r'^nvme = "([^"]*)"\nrefused = "[0-9a-f]{3}h"$',
                      TABLE.read_text(encoding="utf-8"), re.M)
    assert rows and rows == [c.nvme for c in CLAIMS if c.nvme]


@pytest.mark.parametrize("page", PAGES)
def test_no_other_denial(page: str) -> None:
    """A new one gets a row with a way to try it."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    known = [flat(c.words) for c in (*CLAIMS, *OTHER) if c.page == page]
    assert [part for part in denials(page, text)
            if not any(words in part for words in known)] == []


def test_other_words_are_on_their_pages() -> None:
    """And are such that the patterns find them."""
    for other in OTHER:
        found = denials(other.page, (PROJECT / other.page).read_text())
        assert any(flat(other.words) in part for part in found), other


@pytest.mark.parametrize("text, n", [
    ("The controller has no Copy and no Write Uncorrectable.", 1),
    ("Streams are not supported. The drive is quick.", 1),
    ("`vssd-sim` knows no streams; it has three buffers.", 1),
    ("Not modelled: errors of neighbours.", 1),
    ("## Limits\n\n- One format; no compression.\n- Two\n  only.\n- Many.\n", 2),
    ("## Limits\n\n- Many.\n\n## Use\n\n- None of them.\n", 0),
    ("    ./vssd no Copy\n", 0),
    ("The host writes no data, and there is no block left.", 0),
])
def test_denials(text: str, n: int) -> None:
    """Features of vssd, and sections of limits."""
    assert len(denials("docs/a.md", text)) == n
    assert denials("docs/results/figures.md", text) == []


def test_none_of_a_comparison() -> None:
    """A row without an equal is one there, and not elsewhere."""
    text = "| a | vssd | |\n| `b` | none | why |\n| `c` | `d` | none |\n"
    assert denials("docs/coming-from.md", text) == ["| `b` | none | why |"]
    assert denials("docs/vfio-user.md", text) == []


@pytest.mark.parametrize("claim", [
    Claim("p", "w", sim="info --profile tiny", refused="no"),
    Claim("p", "w", sim="info --profile tiny --set ftl.map=page", refused=""),
    Claim("p", "w", sim="info --profile none", refused="other words"),
    Claim("p", "w", sim="options", lacks=r"^\| `zones\.enabled"),
    Claim("p", "w", file="docs/zones.md", lacks="ZRWA"),
    Claim("p", "w", file="docs", has="words that no page has: " + "x" * 3),
])
def test_a_feature_that_came_is_found(claim: Claim) -> None:
    """An accepted command, another refusal, words that are there."""
    assert not holds(claim)
