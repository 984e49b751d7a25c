# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd explain: predictions against runs with the option changed, and words
against the numbers of the result."""

from __future__ import annotations

import json
import math
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from vssd.build import model
from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.watch import why
from vssd.watch.network import Drive, Unknown, valid_share
from vssd.watch.result import Result

PAGE = PROJECT / "docs/results/explain.md"
SIZE = 1.2  # times as large or small as the truth a prediction may be


@dataclass(frozen=True)
class Run:
    """A run, and the option that another one changes."""

    name: str
    profile: str
    workload: str
    change: str        # "KEY=VALUE"
    more: str = ""     # further arguments of vssd-sim


READ, WRITE = "rw=randread bs=4k", "rw=randwrite bs=4k"
MIX = "rw=randrw rwmixread=70 bs=4k iodepth=16 number_ios=60000"
FULL = "--fill random"
RUNS = (
    Run("one read, tR", "tiny", READ + " iodepth=1 number_ios=20000",
        "nand.read=25us"),
    Run("16 reads, dies", "tiny", READ + " iodepth=16 number_ios=40000",
        "nand.dies=4"),
    Run("4 reads, dies", "tiny", READ + " iodepth=4 number_ios=40000",
        "nand.dies=4"),
    Run("64 reads, dies", "tlc-generic", READ + " iodepth=64 number_ios=60000",
        "nand.dies=4"),
    Run("256 reads, tR", "tlc-generic", READ + " iodepth=256 number_ios=60000",
        "nand.read=25us"),
    Run("8 reads, depth", "tlc-generic", READ + " iodepth=8 number_ios=60000",
        "iodepth=16"),
    Run("64 reads, channels", "pm9a3", READ + " iodepth=64 number_ios=60000",
        "nand.channels=16"),
    Run("one read, firmware", "pm9a3", READ + " iodepth=1 number_ios=20000",
        "host.firmware=20us"),
    Run("large reads, bus", "tlc-generic",
        "rw=randread bs=128k iodepth=32 number_ios=10000", "nand.bus_mt_s=1600"),
    Run("large reads, link", "pm9a3",
        "rw=read bs=128k iodepth=32 number_ios=20000", "host.link_mb_s=3250"),
    Run("reads over SATA, firmware", "sata-mlc-2013",
        "rw=randread bs=16k iodepth=32 number_ios=20000", "host.firmware=10us"),
    Run("reads with a core", "tlc-generic",
        READ + " iodepth=64 number_ios=60000", "host.cores=2",
        "--set host.cores=1 --set host.firmware=12us"),
    Run("GC, spare space", "tiny", WRITE + " iodepth=16 number_ios=60000",
        "ftl.op_percent=80%", FULL),
    Run("GC, tPROG", "tiny", WRITE + " iodepth=16 number_ios=60000",
        "nand.program=250us", FULL),
    Run("GC, tBERS", "tiny", WRITE + " iodepth=16 number_ios=60000",
        "nand.erase=6ms", FULL),
    Run("GC, dies", "tiny", WRITE + " iodepth=16 number_ios=60000",
        "nand.dies=4", FULL),
    Run("large writes, tPROG", "c4", "rw=write bs=128k iodepth=8 number_ios=4000",
        "nand.program=330us", "--fill none"),
    Run("large writes, link", "pm9a3",
        "rw=write bs=128k iodepth=8 number_ios=20000", "host.link_mb_s=1000",
        "--fill none"),
    Run("one write, firmware", "pm9a3", WRITE + " iodepth=1 number_ios=4000",
        "host.firmware_write=4us", "--fill none"),
    Run("mix under GC, tR", "tiny", MIX, "nand.read=25us", FULL),
    Run("mix under GC, tPROG", "tiny", MIX, "nand.program=250us", FULL),
    Run("mix under GC, spare space", "tiny", MIX, "ftl.op_percent=80%", FULL),
    Run("mix, bus", "tlc-generic",
        "rw=randrw rwmixread=70 bs=16k iodepth=16 number_ios=60000",
        "nand.bus_mt_s=400"),
    Run("open reads, dies", "tiny", READ + " rate_iops=40000"
        " rate_process=poisson number_ios=60000", "nand.dies=4"),
    Run("open reads, tR", "tiny", READ + " rate_iops=50000"
        " rate_process=poisson number_ios=60000", "nand.read=40us"),
    Run("open mix, tR", "tlc-generic", "rw=randrw rwmixread=80 bs=4k"
        " rate_iops=30000 rate_process=poisson number_ios=60000",
        "nand.read=90us"),
)


@cache
def simulator() -> str:
    """Of this tree."""
    return str(model.sim())


@cache
def result(run: Run, *sets: str) -> dict[str, Any]:
    """Of vssd-sim."""
    command = [simulator(), "run", "--json", "--profile",
               str(PROJECT / f"profiles/{run.profile}.ini"), *run.more.split()]
    workload = run.workload
    for one in sets:
        if one.startswith("iodepth="):
            workload += " " + one
        else:
            command += ["--set", one]
    done = subprocess.run([*command, "--workload", workload],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(run: Run) -> float:
    """The ratio that a prediction is of."""
    before, after = result(run), result(run, run.change)
    if Drive(before).open:
        a, b = (d["latency_ns"]["all"]["mean"] for d in (before, after))
    else:
        a, b = before["iops"], after["iops"]
    return float(b / a)


def predicted(run: Run) -> float:
    """The ratio."""
    return Drive(result(run)).change(*run.change.split("=")).ratio


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_prediction(run: Run) -> None:
    """Its direction, and its size within a fifth."""
    said, true = predicted(run), measured(run)
    assert 1 / SIZE <= said / true <= SIZE
    if abs(true - 1) > 0.03:
        assert (said > 1) == (true > 1)


def test_page() -> None:
    """docs/results/explain.md has the table of these runs."""
    rows = [f"| {run.name} | `{run.profile}` | `{run.change}` |"
            f" {measured(run):.3f} | {predicted(run):.3f} |" for run in RUNS]
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition("|---|---|---|---|---|\n")
    _, blank, rest = rest.partition("\n\n")
    new = head + "|---|---|---|---|---|\n" + "\n".join(rows) + blank + rest
    if os.environ.get("VSSD_WRITE_DOCS"):
        PAGE.write_text(new, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == new


def test_valid_share() -> None:
    """The closed form backwards."""
    for used in (0.1, 0.5, 0.9):
        v = valid_share(used)
        assert (v - 1) / math.log(v) == pytest.approx(used)


def run_of(name: str) -> Run:
    """Of the table."""
    return next(run for run in RUNS if run.name == name)


def test_guest() -> None:
    """It goes on at its own rate: the measure is the latency."""
    data = {k: v for k, v in result(run_of("4 reads, dies")).items()
            if k != "workload"}
    found = why.why(Result("a", data))
    assert found.measure == "mean latency, ns"
    assert found.now == pytest.approx(data["latency_ns"]["all"]["mean"], rel=0.01)
    assert all(0 < c.ratio < 1 for c in found.changes)


def test_words() -> None:
    """Each part has the number that the result has."""
    data = result(run_of("GC, tPROG"))
    found = why.why(Result("a", data))
    busy = 100 * data["explain"]["stages"]["dies"]["utilization"]
    gc = 100 * data["explain"]["work_by_cause"]["gc"]
    assert found.bound == (f"the dies bound the run: busy for {busy:.0f} % of the"
                           f" time, of that {gc:.0f} % GC")
    assert found.now == pytest.approx(data["iops"])
    first = found.changes[0]
    assert first.ratio == max(c.ratio for c in found.changes)
    assert {"nand.dies", "nand.program", "ftl.op_percent"} <= {
        c.option for c in found.changes}
    assert "link" in found.without["host.link_mb_s"]
    assert "--csv" in found.slow


def test_slowest(tmp_path: Path) -> None:
    """Their mean parts are those of the file's slowest rows."""
    rows = [f"{i},{'read' if i % 2 else 'write'},0,4096,0,0,0,{1000 + i},ok,"
            f"{i},{1000},0,0,0,0,0,0,0,0,0,0" for i in range(2000)]
    (tmp_path / "a.csv").write_text(
        "n,op,offset,bytes,arrival_ns,submit_ns,complete_ns,latency_ns,status,"
        "queue_ns,firmware_ns,link_ns,buffer_ns,bus_wait_ns,bus_ns,die_wait_ns,"
        "cell_ns,ecc_ns,gc_wait_ns,flush_ns,map_ns\n" + "\n".join(rows) + "\n")
    one = Result("a", {}, tmp_path / "a.csv")
    found = one.slowest(0.001)
    assert found and (found.commands, found.of, found.least_ns) == (2, 2000, 2998)
    assert found.ops == {"read": 1, "write": 1}
    assert found.parts["queue"] == 1998.5
    assert why.slowest(one) == (
        "the slowest 2 of 2000 commands took 3 us or more: 67 % wait at the"
        " host, 33 % firmware (read: 1, write: 1)")


@pytest.mark.parametrize("run, option, value, reason", [
    ("GC, dies", "host.cores", "2", "it is 0 now"),
    ("one read, tR", "ftl.op_percent", "80%", "GC copied nothing"),
    ("one read, tR", "host.pcie_lanes", "8", "does not act with host.pcie_gen=0"),
    ("open reads, tR", "iodepth", "4", "the load keeps no number"),
    ("open reads, tR", "nand.read", "70us", "an open load keeps the dies busy"),
    ("mix under GC, tR", "nand.dies", "4", "GC holds single dies"),
])
def test_unknown(run: str, option: str, value: str, reason: str) -> None:
    """What the network does not describe is not predicted."""
    with pytest.raises(Unknown, match=reason):
        Drive(result(run_of(run))).change(option, value)


@pytest.mark.parametrize("sets, words", [
    ("gc=1", "--set gc: no prediction for it; allowed nand.channels, "),
    ("nand.read", "--set nand.read: give KEY=VALUE"),
    ("iodepth=4", "--set iodepth=4: give KEY=VALUE of the drive"),
    ("nand.read=0ns", "--set nand.read=0ns: allowed 0ns..10ms, and above 0 here"),
    ("nand.read=x", "--set nand.read=x: allowed 0ns..10ms"),
    ("nand.read=60%", "--set nand.read=60%: allowed 0ns..10ms"),
    ("nand.dies=65", "--set nand.dies=65: allowed 1..64"),
    ("nand.dies=1.5", "--set nand.dies=1.5: allowed 1..64"),
])
def test_refused(sets: str, words: str) -> None:
    """In one line."""
    one = Result("a", result(run_of("one read, tR")))
    with pytest.raises(UserError) as e:
        why.why(one, [sets])
    assert str(e.value).startswith(words) and "\n" not in str(e.value)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as JSON; a result without commands is refused."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(result(run_of("16 reads, dies"))))
    assert cli.main(["explain", str(path), "--set", "nand.dies=4"]) == 0
    assert capsys.readouterr().out.startswith(
        "The dies bound the run: busy for 90 % of the time.\n")
    assert cli.main(["explain", str(path), "--iodepth", "32"]) == 0
    assert "iodepth" in capsys.readouterr().out
    assert cli.main(["explain", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["changes"][0].keys() == {"option", "before", "after", "ratio",
                                         "because"}
    path.write_text('{"schema_version": 1}')
    assert cli.main(["explain", str(path)]) == 1
    assert "give the result of a run of one" in capsys.readouterr().err


@pytest.mark.parametrize("profile", ["zero-latency", "tiny", "warp2026", "zn540"])
@pytest.mark.parametrize("workload", [
    "rw=trim number_ios=200", "rw=randwrite number_ios=200",
    "rw=randrw number_ios=200 fsync=5 iodepth=8", "rw=read number_ios=1"])
def test_every_load(profile: str, workload: str) -> None:
    """Each has an answer of finite numbers, or one line."""
    try:
        found = why.why(Result("a", result(Run("", profile, workload, ""))))
    except UserError as e:
        assert "\n" not in str(e)
        return
    assert json.dumps(found.json(), allow_nan=False)


def test_firmware_of_a_write() -> None:
    """It comes on top of that of each command, which writes have, too."""
    drive = Drive(result(run_of("one write, firmware")))
    assert drive.change("host.firmware", "10us").ratio < 0.75


def test_bus_of_planes_that_work_together() -> None:
    """Their array times overlap in a die, so a faster bus costs no time."""
    drive = Drive(result(
        Run("", "tiny", "rw=randrw iodepth=64 number_ios=20000", "", "--fill preload"),
        "nand.planes=4", "superblock.width=die", "superblock.row=die",
        "nand.multi_plane=on"))
    assert drive.cell_ns() > drive.stages["dies"].demand
    assert drive.change("nand.bus_mt_s", "2000").ratio >= 1
