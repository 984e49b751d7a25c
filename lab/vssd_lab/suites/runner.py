# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a suite on a device: a test at a time, in a guest that is replaced when
a test leaves a drive that does not answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.guest import image
from vssd.proc import run_logged
from vssd.rundir import rundir

from . import blktests, drivers, fio, nvme_cli, sources, target, xfstests
from .sources import Files
from .suite import HUNG, Row, Suite

SUITES = {s.name: s for s in (*nvme_cli.SUITES, *fio.SUITES, *blktests.SUITES,
                              *drivers.SUITES, *xfstests.SUITES)}
PROFILE = "zero-latency"
PACKAGES = ("bsdextrautils", "dmsetup", "gawk", "pciutils", "python3", "sudo")
OURS = paths.PROJECT / "guest-tools/suites"
RESULTS = ("pass", "fail", "skip", "hang")


@dataclass
class Options:
    """The tests, and the drive that they are run on."""

    files: Files
    tests: list[str] = field(default_factory=list)  # empty: all
    profile: str = PROFILE
    sets: list[str] = field(default_factory=list)
    size_mib: int = 0           # 0: the suite's
    block_bytes: int = 512
    seconds: int = 30
    limit_s: int = 0            # 0: the suite's
    images: Path | None = None
    kernel: str = image.SUITE   # Debian's suite of the guest


def tests(suite: Suite, folder: Path) -> list[str]:
    """All tests of a suite, with files in a checkout or of ours."""
    return suite.tests(OURS / suite.group if suite.group else folder)


def shared(suite: Suite, folder: Path, work: Path) -> Path:
    """The folder that the guest gets: the part of the checkout.  Tests of ours
    are laid over a copy of it."""
    part = folder / suite.part
    if not suite.group:
        return part
    made = work / "suite"
    shutil.copytree(part, made, symlinks=True,
                    ignore=shutil.ignore_patterns(".git", "results"))
    shutil.copytree(OURS / suite.group, made, dirs_exist_ok=True)
    for source in (OURS / suite.group).glob("src/*.c"):
        run_logged(["cc", "-O2", "-static", "-o", made / "src" / source.stem,
                    source], "suite", f"compiling {source.name}")
    return made


def run(suite: Suite, kind: str, options: Options, runs: list[dict[str, Any]],
        show: Callable[[str, Row], None]) -> None:
    """All tests on one device; a row is shown, and stands in the last of the
    runs, as soon as it is known."""
    left = options.tests or tests(suite, options.files.folder)
    sets = [*suite.form.sets, *options.sets]
    with rundir() as work, rundir(options.images) as images:
        setup = target.Setup(
            kind, images, (options.size_mib or suite.form.size_mib) << 20,
            paths.find_profile(options.profile), sets, options.block_bytes,
            suite.form, PACKAGES + suite.packages,
            shared(suite, options.files.folder, work), options.kernel)
        with target.Target(setup, work) as t:
            found: dict[str, Any] = {
                "suite": suite.name, "device": kind,
                "tree": sources.commit(paths.PROJECT),
                "checkout": options.files.version,
                "block_bytes": options.block_bytes,
                "profile": options.profile, "sets": sets, **t.versions(),
                "rows": [], "not_run": left}
            runs.append(found)
            ready = False
            while left:
                if not ready:
                    _prepare(t, suite)
                rows = _run_test(t, suite, left[0], options)
                for row in rows:
                    show(kind, row)
                found["rows"] += [asdict(row) for row in rows]
                found["not_run"] = left = left[1:]
                ready = not any(r.dead for r in rows)
                if not ready and left:
                    t.restart()


def _prepare(t: target.Target, suite: Suite) -> None:
    # The share is the part itself; the suite wants it under its name.
    if suite.part:
        place = Path("/root/suite", suite.part)
        t.run(f"mv /root/suite /root/part && mkdir -p {place.parent}"
              f" && mv /root/part {place}")
    t.run(suite.prepare)
    t.complaints()


def _run_test(t: target.Target, suite: Suite, name: str, options: Options) \
        -> list[Row]:
    result, seconds = t.timed(suite.command(name, t.device(), options.seconds),
                              options.limit_s or suite.limit_s)
    if result is None:
        rows = [Row(name, HUNG, f"not done after {seconds:.0f} s")]
    else:
        rows = suite.rows(name, (result.out + result.err).decode(
            errors="replace"))
    if len(rows) == 1:
        rows[0].seconds = round(seconds, 1)
    rows[-1].complaints = t.complaints()
    # A guest in which a test still runs serves no other.
    rows[-1].dead = t.trouble() or ("" if result else "the test still runs")
    return rows


def line(kind: str, row: Row) -> str:
    """A row as text."""
    tail = f": {row.reason}" if row.reason else ""
    if row.dead:
        tail += f" [afterwards: {row.dead}]"
    if row.complaints:
        tail += f" [{len(row.complaints)} complaints of the kernel]"
    return f"{row.result:<5}{kind} {row.name} ({row.seconds:.0f} s){tail}"


def counts(found: dict[str, Any]) -> dict[str, int]:
    """Rows by result."""
    return {w: sum(r["result"] == w for r in found["rows"]) for w in RESULTS}


def summary(found: dict[str, Any]) -> str:
    """The result of a run, in a line."""
    numbers = counts(found)
    if found["not_run"]:
        numbers["not run"] = len(found["not_run"])
    return (f"{found['suite']} on {found['device']}, tree {found['tree']},"
            f" Linux {found['kernel']}, image on {found['host_fs']}: "
            + ", ".join(f"{n} {w}" for w, n in numbers.items()))
