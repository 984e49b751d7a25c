# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sweep and ./vssd compare, as commands."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import started
from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim import simremote, sweep
from vssd.sim.run import Point
from vssd.sim.store import Store
from vssd.watch.result import load_drives

FILE = """\
profiles = ["tiny"]
seeds = [1, 2]
[options]
"host.firmware" = ["1us", "3us"]
ftl.op_percent = ["40%", "60%"]
[workloads]
w = "rw=randwrite bs=4k iodepth=4 number_ios=2000"
r = "rw=randread bs=4k iodepth=4 number_ios=2000"
[run]
fill = "seq"
columns = ["iops", "waf", "latency_ns.all.mean", "requests"]
"""


def vssd(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROJECT / "vssd"), *map(str, args)],
                          capture_output=True, text=True, check=False)


def compare(*args: object) -> subprocess.CompletedProcess[str]:
    """./vssd compare, which needs no library."""
    return started.vssd("compare", *map(str, args))


@pytest.fixture()
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(FILE)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def test_cross_product(file: Path) -> None:
    """Every combination once, and the options reach the drive."""
    done = vssd("sweep", file)
    assert done.returncode == 0, done.stderr
    got = rows(file.with_suffix(".csv"))
    axes = ("workload", "seed", "host.firmware", "ftl.op_percent")
    assert len(got) == len({tuple(r[a] for a in axes) for r in got}) == 16
    assert all(r["requests"] == "2000" for r in got)
    mean = {r["host.firmware"]: float(r["latency_ns.all.mean"]) for r in got
           if r["workload"] == "r" and r["seed"] == "1"}
    assert mean["1us"] < mean["3us"]
    waf = {r["ftl.op_percent"]: float(r["waf"]) for r in got
           if r["workload"] == "w" and r["seed"] == "1"}
    assert waf["60%"] < waf["40%"]


def test_goes_on(file: Path) -> None:
    """What has a result is not run again; what has lost it is."""
    assert vssd("sweep", file).returncode == 0
    table = file.with_suffix(".csv")
    first = table.read_bytes()
    kept = sorted((file.parent / "s.csv.results").glob("*.json"))
    assert len(kept) == 16
    # A result that is there is taken as it is: the proof that nothing ran.
    fake = json.loads(kept[0].read_text())
    fake["iops"] = 12345.5
    kept[0].write_text(json.dumps(fake))
    kept[1].unlink()
    kept[2].write_text('{"cut off')
    table.unlink()
    again = vssd("sweep", file)
    assert again.returncode == 0
    assert "14 of 16 points are there already" in again.stderr
    assert sum(r["iops"] == "12345.5" for r in rows(table)) == 1
    assert vssd("sweep", file, "--again").returncode == 0
    assert table.read_bytes() == first


def test_interrupted(file: Path) -> None:
    """Ctrl-C in the middle loses only what was running."""
    file.write_text(FILE.replace("number_ios=2000", "number_ios=2000000")
                    .replace("seeds = [1, 2]", "seeds = [1]"))
    assert vssd("sweep", "--list", file).returncode == 0  # venv is there
    proc = subprocess.Popen([str(PROJECT / "vssd"), "sweep", str(file),
                             "--jobs", "1"], stderr=subprocess.DEVNULL,
                            # Whoever runs the tests may ignore it.
                            preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                             signal.SIG_DFL))
    folder = file.parent / "s.csv.results"
    begin = time.monotonic()
    while not list(folder.glob("*.json")) and time.monotonic() - begin < 300:
        time.sleep(0.1)
    proc.send_signal(signal.SIGINT)
    assert proc.wait(60) == 130
    done = len(list(folder.glob("*.json")))
    assert 1 <= done < 8
    assert not file.with_suffix(".csv").exists()
    file_now = vssd("sweep", file)
    assert f"{done} of 8 points are there already" in file_now.stderr
    assert len(rows(file.with_suffix(".csv"))) == 8


def test_cluster(file: Path) -> None:
    """Two worker processes give the table that this machine gives."""
    venv.extra("sweep")
    cluster = subprocess.Popen(
        [sys.executable, "-c",
         "import sys\n"
         "from distributed import LocalCluster\n"
         "if __name__ == '__main__':\n"
         "    with LocalCluster(n_workers=2, threads_per_worker=1,\n"
         "                      processes=True, dashboard_address=None,\n"
         "                      host='127.0.0.1') as c:\n"
         "        print(c.scheduler_address, len(c.workers), flush=True)\n"
         "        sys.stdin.read()\n"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(file.parent)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=file.parent)
    assert cluster.stdin and cluster.stdout
    try:
        address, workers = cluster.stdout.readline().split()
        assert workers == "2"
        done = vssd("sweep", file, "--out", file.parent / "c.csv",
                    "--scheduler", address)
        assert done.returncode == 0, done.stderr
    finally:
        cluster.stdin.close()
        cluster.wait(60)
    assert vssd("sweep", file).returncode == 0
    assert (file.parent / "c.csv").read_bytes() == \
        file.with_suffix(".csv").read_bytes()


def test_parquet(file: Path) -> None:
    """The same numbers, typed."""
    assert vssd("sweep", file).returncode == 0
    done = vssd("sweep", file, "--out", file.parent / "t.parquet")
    assert done.returncode == 0, done.stderr
    read = ("import pyarrow.parquet, json\n"
            "print(json.dumps(pyarrow.parquet.read_table('t.parquet')"
            ".to_pydict()))")
    got = subprocess.run([sys.executable, "-c", read], cwd=file.parent,
                         capture_output=True, text=True, check=True)
    columns = json.loads(got.stdout)
    assert columns["iops"] == [float(r["iops"]) for r in
                               rows(file.with_suffix(".csv"))]


@pytest.mark.parametrize("old,new,word", [
    ('["tiny"]', '["none"]', "none"),
    ("[workloads]", "[workload]", "allowed profiles"),
    ("[run]", "[run]\nfil = 1", "run.fil"),
    ('["1us", "3us"]', "[]", "host.firmware"),
    ('["1us", "3us"]', "[[1]]", "host.firmware"),
    ("seeds = [1, 2]", "seeds = [1, 2", "docs/sweeps.md"),
    ('fill = "seq"', "fill = 1", "run.fill"),
])
def test_bad_file(file: Path, old: str, new: str, word: str) -> None:
    """One line that names the file's key."""
    assert old in FILE
    file.write_text(FILE.replace(old, new))
    with pytest.raises(UserError, match=word):
        sweep.read(file)


def test_bad_value(file: Path) -> None:
    """What vssd-sim refuses is told in its words; so is a wrong column."""
    file.write_text(FILE.replace('"60%"', '"60000%"'))
    done = vssd("sweep", file)
    assert done.returncode == 1
    assert "ftl.op_percent" in done.stderr and "Traceback" not in done.stderr
    file.write_text(FILE.replace('"waf"', '"wof"'))
    done = vssd("sweep", file)
    assert done.returncode == 1 and "wof" in done.stderr
    done = vssd("sweep", file, "--out", "x.txt")
    assert done.returncode == 1 and ".parquet" in done.stderr


# ---- compare ------------------------------------------------------------------


def result(path: Path, **more: object) -> Path:
    path.write_text(json.dumps({"schema_version": 1, "profile": "p",
                                "iops": 100.0, "waf": 0, **more}))
    return path


def test_compare(tmp_path: Path) -> None:
    """Ratios are B / A; what one has not, or is zero, has none."""
    a = result(tmp_path / "a.json", nand={"reads": 4})
    b = result(tmp_path / "b.json", iops=150.0, gc={"victims": 2})
    done = compare(a, b, "--json")
    assert done.returncode == 0, done.stderr
    got = {r["name"]: r for r in json.loads(done.stdout)["rows"]}
    assert got["iops"] == {"name": "iops", "a": 100.0, "b": 150.0,
                           "ratio": 1.5}
    assert got["waf"]["ratio"] is None
    assert got["nand.reads"]["b"] is None
    assert got["gc.victims"]["a"] is None
    shown = compare(a, b)
    assert shown.returncode == 0 and "1.5" in shown.stdout


def test_compare_shows_text_as_it_is(tmp_path: Path) -> None:
    """Of other people's files: nothing that a terminal or rich obeys."""
    a = result(tmp_path / "a.json", profile="p\x1b[2J")
    b = result(tmp_path / "b.json", iops=1.0, **{"[/x]\x1b[2J": 1})
    done = compare(a, b, "--all")
    assert done.returncode == 0, done.stderr
    assert "profile: p\\x1b[2J | p" in done.stdout
    assert "[/x]\\x1b[2J" in done.stdout and "\x1b" not in done.stdout


def test_compare_lists_what_differs(tmp_path: Path) -> None:
    """Two real runs: the option that was given, and no other."""
    run = ("sim", "run", "--profile", "tiny", "--workload",
           "rw=randwrite number_ios=200", "--json")
    names = []
    for name, more in (("a", ()), ("b", ("--set", "ftl.gc=fifo"))):
        done = vssd(*run, *more)
        assert done.returncode == 0, done.stderr
        (tmp_path / name).write_text(done.stdout)
        names.append(tmp_path / name)
    got = json.loads(compare(*names, "--json").stdout)
    assert got["differs"] == [{"name": "options.ftl.gc", "a": None,
                               "b": "fifo"}]
    assert not any(r["name"].startswith(("options.", "host.", "vssd."))
                   for r in got["rows"])
    shown = compare(*names).stdout
    assert "options.ftl.gc" in shown and "default" in shown
    assert "vssd.commit" not in shown
    assert json.loads(compare(names[0], names[0],
                           "--json").stdout)["differs"] == []


def test_values_have_types(tmp_path: Path) -> None:
    """A number is a number in the table; what is of several types is text."""
    file = tmp_path / "t.toml"
    file.write_text('profiles = ["tiny"]\nseeds = [1, 2]\n[options]\n'
                    '"ftl.gc_d" = [2, 3]\n"buffer.plp" = [true, false]\n'
                    '"ftl.op_percent" = [40, "50%"]\n'
                    '[workloads]\nw = "number_ios=10"\n')
    jobs = sweep.read(file).jobs
    assert {type(j.axes["seed"]) for j in jobs} == {int}
    assert {type(j.axes["ftl.gc_d"]) for j in jobs} == {int}
    assert {type(j.axes["buffer.plp"]) for j in jobs} == {bool}
    assert {j.axes["ftl.op_percent"] for j in jobs} == {"40", "50%"}
    assert any("buffer.plp=off" in j.point.sets for j in jobs)
    assert jobs[0].point.args[-2:] == ("--seed", "1")


def test_compare_of_nothing(tmp_path: Path) -> None:
    """Without a number that both have, nothing was compared."""
    a = tmp_path / "a.json"
    b = tmp_path / "b.json"
    a.write_text('{"schema_version": 1, "iops": 3, "profile": "p"}')
    for other in ('"waf": 2', '"iops": null', '"iops": "3"', '"profile": "p"'):
        b.write_text(f'{{"schema_version": 1, {other}}}')
        for more in ((), ("--json",)):
            done = compare(a, b, *more)
            assert done.returncode == 1 and not done.stdout
            assert "no number in common" in done.stderr
            assert done.stderr.count("\n") == 1
    b.write_text('{"schema_version": 1, "iops": 4}')
    assert "compared: 1 numbers, 0 of them equal" \
        in compare(a, b).stdout
    assert json.loads(compare(a, b, "--json").stdout)["compared"] == 1


def test_compare_refuses(tmp_path: Path) -> None:
    """What is no result, and results that mean different things."""
    a = result(tmp_path / "a.json")
    other = tmp_path / "b.json"
    other.write_text("[1]")
    with pytest.raises(UserError, match="schema_version"):
        load_drives(str(other))
    other.write_text("{")
    with pytest.raises(UserError, match="no JSON"):
        load_drives(str(other))
    with pytest.raises(UserError, match="No such file"):
        load_drives(str(tmp_path / "c.json"))
    done = compare(a, result(other, schema_version=2))
    assert done.returncode == 1
    assert "b.json: a result with schema_version 2; this vssd reads 1" in done.stderr


@pytest.mark.parametrize("planted", ("link", "writable"))
def test_a_planted_folder_is_not_used(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str) -> None:
    """A program in a folder that another user can write is not run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with simremote._own_folder() as usual:
        assert usual.parent == tmp_path
        assert usual.stat().st_mode & 0o777 == 0o700
    with simremote._own_folder() as again:
        assert again == usual
    usual.rmdir()
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    if planted == "link":
        usual.symlink_to(theirs)
    else:
        theirs.rename(usual)
        usual.chmod(0o777)
    (usual / "vssd-sim-x").write_text("#!/bin/sh\necho planted\n")
    (usual / "vssd-sim-x").chmod(0o755)
    assert simremote.run("vssd-sim-x", b"#!/bin/sh\necho ours\n", "p", b"",
                         ["run"])[1] == "ours\n"
    left = {"theirs", usual.name} if planted == "link" else {usual.name}
    assert {p.name for p in tmp_path.iterdir()} == left


def test_planted_links_are_not_followed(tmp_path: Path) -> None:
    """A table and a result are written beside, where no name is known before;
    the old file's mode and a link of the user's stay."""
    victim = tmp_path / "victim"
    out = tmp_path / "t.csv"
    (tmp_path / "t.csv.tmp").symlink_to(victim)
    sweep.write(["a"], [[1]], out)
    assert out.read_bytes() == b"a\r\n1\r\n"
    out.chmod(0o600)
    link = tmp_path / "link.csv"
    link.symlink_to("t.csv")
    sweep.write(["b"], [["\u00b5"]], link)
    assert link.is_symlink() and out.read_text("utf-8") == "b\n\u00b5\n"
    assert out.stat().st_mode & 0o7777 == 0o600
    assert not victim.exists()


def test_results_that_others_can_write(tmp_path: Path) -> None:
    """Results are not taken from there."""
    folder = tmp_path / "t.csv.results"
    Store(folder, b"")
    folder.chmod(0o777)
    with pytest.raises(UserError, match=r"t.csv.results: every user can"):
        Store(folder, b"")


def test_store_keeps_off_planted_links(tmp_path: Path) -> None:
    """As for a table."""
    store = Store(tmp_path, b"")
    point = Point(tmp_path / "p.ini", "rw=read")
    point.profile.write_text("")
    victim = tmp_path / "victim"
    store._file(point).with_suffix(".tmp").symlink_to(victim)
    store.put(point, {"iops": 1})
    assert store.get(point) == {"iops": 1} and not victim.exists()
