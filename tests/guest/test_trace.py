# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest did to its drive, recorded, and played again without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from long_form import DEVICE, LONG, of_part

from conftest import Env, load, vssd

WORK = ("fio --name=t --filename=/root/t --size=24m --rw=randrw --bs=4k"
        " --iodepth=8 --ioengine=libaio --direct=1 --fsync=50 --randseed=5"
        " --output=/dev/null; rm /root/t; fstrim /; sync")


def played(trace: Path) -> dict[str, Any]:
    """The result of vssd-sim replay --check, which found every completion again."""
    done = vssd("sim", "replay", str(trace), "--check", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["checked"] is True
    return found


@of_part(*DEVICE, "core/", "nand/", "ftl/", "sim/", "scripts/vssd/cli/sim.py")
@pytest.mark.parametrize("more", [
    [], pytest.param(["--icount"], marks=LONG)], ids=["real-time", "virtual-time"])
def test_fio_is_played_again(env: Env, tmp_path: Path,
                             more: list[str]) -> None:
    """Every command of boot, fio and shutdown ends after the same time, and
    the statistics of the drive are those that the guest run had.  The guest
    flushes, since the drive's buffer is volatile."""
    trace, stats = tmp_path / "guest.trace", tmp_path / "stats.json"
    done = vssd("run", "--profile", "tlc-generic", *more, "--trace", str(trace),
                "--stats", str(stats), "--exec", WORK, timeout_s=1800)
    assert done.returncode == 0, done.stderr
    guest, found = load(stats), played(trace)
    assert found["requests"] == guest["requests"] > 5000
    for op in ("read", "write", "flush", "trim"):
        assert found["latency_ns"][op]["count"] > 0, op
        assert found["latency_ns"][op] == guest["latency_ns"][op], op
    for name in ("reads", "programs", "erases", "by_cause"):
        assert found["nand"][name] == guest["nand"][name], name
    assert found["waf"] == guest["waf"]
