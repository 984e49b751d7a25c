# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fleet: drives that are drawn, runs that fail, workers that die."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from vssd.build import venv
from vssd.cli import fleet as command
from vssd.cli import main
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim import fleet

FILE = """\
drives = 12
seed = 3
columns = ["requests", "waf", "nand.erases", "options.media.start_cycles"]
options = {"ftl.op_percent" = "60%"}
[[drive]]
profile = "tiny"
[[age]]
name = "new"
fill = "none"
[[age]]
name = "used"
share = 2
fill = "precondition"
options = {"media.start_cycles" = [100, 2000], "media.errors" = true}
[[load]]
workload = "rw=randrw bs=4k iodepth=4 number_ios=2000"
name = "random"
[[load]]
trace = "small.csv"
"""


@pytest.fixture()
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f.toml"
    path.write_text(FILE)
    (tmp_path / "small.csv").write_bytes(
        (PROJECT / "tests/sim/small-msr.csv").read_bytes())
    return path


def run(*args: object) -> int:
    """The command in this process; its exit status."""
    parsed = main.parser().parse_args(["fleet", *map(str, args)])
    status: int = parsed.call(parsed)
    return status


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def test_drawn(file: Path) -> None:
    """Shares, ranges and seeds; a drive does not depend on the fleet's size."""
    plan = fleet.read(file, 600)
    ages = [m.about["age"] for m in plan.members]
    assert 340 < ages.count("used") < 460  # 400, four standard deviations
    cycles = [m.about["drawn.media.start_cycles"] for m in plan.members
              if m.about["age"] == "used"]
    assert 100 <= min(cycles) < 150 and 1950 < max(cycles) <= 2000
    assert fleet.read(file).members == plan.members[:12]
    assert len({m.point.args for m in plan.members}) == 600  # their seeds
    file.write_text(FILE.replace("seed = 3", "seed = 4"))
    assert fleet.read(file).members != plan.members[:12]


def test_table(file: Path) -> None:
    """A row for each drive; options reach it; what has run is not run again."""
    out = file.with_suffix(".csv")
    assert run(file, "--out", out) == 0
    got = rows(out)
    assert [r["fleet_drive"] for r in got] == [str(i) for i in range(12)]
    assert {r["load"] for r in got} == {"random", "small.csv"}
    for row in got:
        assert row["error"] == ""
        assert (row["load"] != "random") or row["requests"] == "2000"
        drawn = row["drawn.media.start_cycles"]
        assert (drawn == "") == (row["age"] == "new")
        assert not drawn or float(drawn) == \
            float(row["options.media.start_cycles"])
    # The proof that nothing ran: a result that is there is taken as it is.
    kept = sorted((file.parent / "f.csv.results").glob("*.json"))
    text = kept[0].read_text()
    kept[0].write_text(text.replace('"requests": ', '"requests": 77'))
    first = out.read_bytes()
    assert run(file, "--out", out) == 0
    assert out.read_bytes() != first
    assert run(file, "--out", out, "--again") == 0
    assert out.read_bytes() == first


def test_parquet(file: Path) -> None:
    """The same numbers, typed, in one table."""
    assert run(file) == 0
    assert run(file, "--out", file.with_suffix(".csv")) == 0
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file.with_suffix(".parquet"))
    want = rows(file.with_suffix(".csv"))
    assert table.num_rows == 12
    assert table.column("waf").to_pylist() == [float(r["waf"]) for r in want]


def test_drive_that_fails(file: Path) -> None:
    """A drive without a result keeps its row, with the reason; others go on."""
    file.write_text(FILE.replace('fill = "none"', 'fill = "none"\n'
                                 'options = {"nand.read" = "1parsec"}'))
    out = file.with_suffix(".csv")
    assert run(file, "--out", out) == 1
    got = rows(out)
    assert len(got) == 12
    for row in got:
        assert (row["age"] == "new") == ("nand.read=1parsec" in row["error"])
        assert (row["age"] == "new") == (row["requests"] == "")


KILLED = """\
#!/usr/bin/env python3
import fcntl, os, pathlib, signal, sys
args = sys.argv[1:]
lock = open({folder!r} + ".lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)  # runs side by side count together
mark = pathlib.Path({folder!r}) / args[args.index("--seed") + 1]
if len(list(pathlib.Path({folder!r}).glob("*"))) < 3 and not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
{always}
lock.close()
os.execv({sim!r}, [{sim!r}, *args])
"""


def killer(tmp_path: Path, always: str = "") -> Path:
    """vssd-sim, of which the first three runs are killed."""
    from vssd.build import model

    folder = tmp_path / "killed"
    folder.mkdir()
    path = tmp_path / "sim"
    path.write_text(KILLED.format(folder=str(folder), sim=str(model.sim()),
                                  always=always))
    path.chmod(0o755)
    return path


def test_killed_process(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose process is killed is run again, with the same result."""
    sim = killer(file.parent)
    assert run(file, "--out", file.parent / "a.csv") == 0
    monkeypatch.setattr(command.points.model, "sim", lambda: sim)
    assert run(file, "--out", file.parent / "b.csv") == 0
    assert len(list((file.parent / "killed").iterdir())) == 3
    assert (file.parent / "a.csv").read_bytes() == \
        (file.parent / "b.csv").read_bytes()


def test_killed_always(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times is enough: the row says so."""
    sim = killer(file.parent, "os.kill(os.getpid(), signal.SIGKILL)")
    monkeypatch.setattr(command.points.model, "sim", lambda: sim)
    out = file.with_suffix(".csv")
    file.write_text(FILE.replace("drives = 12", "drives = 2").replace(
        '"options.media.start_cycles"', '"iops"'))
    assert run(file, "--out", out) == 1
    assert [r["error"] for r in rows(out)] == \
        ["vssd-sim was killed by signal 9, 3 times"] * 2


def test_worker_dies(file: Path) -> None:
    """Two workers of a cluster, one of which is killed: nothing is missing."""
    venv.extra("sweep")
    cluster = subprocess.Popen(
        [sys.executable, "-c",
         "import sys\n"
         "from distributed import LocalCluster\n"
         "if __name__ == '__main__':\n"
         "    with LocalCluster(n_workers=2, threads_per_worker=1,\n"
         "                      processes=True, dashboard_address=None,\n"
         "                      host='127.0.0.1') as c:\n"
         "        print(c.scheduler_address,\n"
         "              *(w.pid for w in c.workers.values()), flush=True)\n"
         "        sys.stdin.read()\n"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(file.parent)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, cwd=file.parent)
    assert cluster.stdin and cluster.stdout
    file.write_text(FILE.replace("number_ios=2000", "number_ios=100000"))
    out = file.parent / "c.csv"
    try:
        address, pid, _ = cluster.stdout.readline().split()

        def kill() -> None:
            folder = file.parent / "c.csv.results"
            begin = time.monotonic()
            while not list(folder.glob("*.json")) and \
                    time.monotonic() - begin < 300:
                time.sleep(0.02)
            os.kill(int(pid), signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        assert run(file, "--out", out, "--scheduler", address) == 0
        thread.join()
    finally:
        cluster.stdin.close()
        cluster.wait(60)
    assert run(file, "--out", file.parent / "l.csv") == 0
    assert out.read_bytes() == (file.parent / "l.csv").read_bytes()


@pytest.mark.parametrize(("change", "words"), [
    (("drives = 12", "drives = 0"), "drives=0: allowed 1..100000"),
    (("drives = 12", 'drives = "x"'), "drives=x: allowed"),
    (("seed = 3", "seed = -1"), "seed=-1: allowed"),
    (('fill = "none"', 'fill = "half"'), "age[0].fill=half: allowed none"),
    (("share = 2", "share = 0"), "age[1].share=0: allowed"),
    (('profile = "tiny"', ""), "drive[0].profile is missing"),
    (("[100, 2000]", "[2000, 100]"), "media.start_cycles: allowed"),
    (('trace = "small.csv"', 'trace = "none.csv"'), "load[1].trace: no file"),
    (('trace = "small.csv"', ""), "load[1]: give one of workload, trace"),
    (('trace = "small.csv"', 'trace = "small.csv"\nworkload = "rw=read"'),
     "load[1]: give one of workload, trace"),
    (("[[load]]", "[[loads]]"), "loads: allowed drives, seed"),
    (("share = 2", "shares = 2"), "age[1].shares: allowed share"),
    (("drives = 12", "drives ="), "f.toml: "),
])
def test_refused(file: Path, change: tuple[str, str], words: str) -> None:
    """One line that names file, key and the allowed values."""
    file.write_text(FILE.replace(*change))
    with pytest.raises(UserError) as e:
        fleet.read(file)
    assert words in str(e.value) and "\n" not in str(e.value)


@pytest.mark.parametrize(("args", "words"), [
    (("--jobs", "-1"), "--jobs"), (("--drives", "-1"), "--drives"),
    (("--out", "t.txt"), ".parquet"),
])
def test_refused_options(file: Path, args: tuple[str, str], words: str) -> None:
    """Before anything runs."""
    with pytest.raises(UserError, match=words):
        run(file, *args)
    assert sorted(p.name for p in file.parent.iterdir()) == \
        ["f.toml", "small.csv"]


def test_folder_is_a_file(file: Path) -> None:
    """The place of the results is taken."""
    (file.parent / "f.csv.results").write_text("")
    with pytest.raises(UserError, match=r"f\.csv\.results: File exists"):
        run(file, "--out", file.with_suffix(".csv"))
