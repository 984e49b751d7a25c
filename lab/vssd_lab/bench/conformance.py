# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of other projects on the drive and on QEMU's own nvme, in guests of
the same image: a row for each test, and one for each suite.

The files of a suite are those of Debian's source package, or of a checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vssd.errors import UserError
from vssd.ui import say

from ..suites import runner, sources
from ..suites.suite import Row, Suite

OURS, PEER = "vssd", "nvme"


def chosen(given: list[str]) -> list[tuple[Suite, Path | None]]:
    """The suites of --suite NAME[=CHECKOUT]; without any, those that Debian
    has."""
    if not given:
        return [(s, None) for s in runner.SUITES.values() if s.source]
    found = []
    for text in given:
        name, _, folder = text.partition("=")
        if name not in runner.SUITES:
            raise UserError(f"--suite {name}: one of "
                            + ", ".join(runner.SUITES))
        suite = runner.SUITES[name]
        if folder:
            suite.check(Path(folder))
        elif not suite.source:
            raise UserError(f"--suite {name}: Debian has no package of it;"
                            f" give {name}=CHECKOUT, its programs built")
        found.append((suite, Path(folder) if folder else None))
    return found


def compare(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the two runs of a suite; the reason is that of ours, then that
    of the peer."""
    ours, peer = runs
    name = ours["suite"]
    results = [{r["name"]: r for r in run["rows"]} for run in runs]
    made = []
    for test in dict.fromkeys([*results[0], *results[1]]):
        cells = [found.get(test, {"result": "not run", "reason": ""})
                 for found in results]
        made.append({"name": f"{name} {test}", "ours": cells[0]["result"],
                     "peer": cells[1]["result"], "ratio": None, "unit": "",
                     "note": _reasons(*(cell["reason"] for cell in cells))})
    passed = [runner.counts(run)["pass"] for run in runs]
    made.append({
        "name": f"{name} total", "ours": passed[0], "peer": passed[1],
        "ratio": passed[0] / passed[1] if passed[1] else None,
        "unit": f"passed of {len(made)}",
        "note": f"{ours['checkout']}, Linux {ours['kernel']}; {OURS} "
        + _others(ours) + f"; {PEER} " + _others(peer)})
    return made


def _reasons(ours: str, peer: str) -> str:
    if ours == peer:
        return f"both: {ours}" if ours else ""
    return "; ".join(f"{who}: {why}" for who, why
                     in ((OURS, ours), (PEER, peer)) if why)


def _others(found: dict[str, Any]) -> str:
    numbers = {k: n for k, n in runner.counts(found).items() if k != "pass"}
    return ", ".join(f"{n} {k}" for k, n in numbers.items())


def measure(given: list[str]) -> list[dict[str, Any]]:
    """Every suite on both devices, one guest at a time."""
    rows = []
    for suite, folder in chosen(given):
        options = runner.Options(
            sources.files(folder) if folder else sources.debian(suite.source))
        runs: list[dict[str, Any]] = []
        for kind in (OURS, PEER):
            runner.run(suite, kind, options, runs, _show)
        rows += compare(runs)
    return rows


def _show(kind: str, row: Row) -> None:
    say(runner.line(kind, row))
