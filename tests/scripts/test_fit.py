# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fit: fio's results as workloads, refusals, and recovery of a profile
from its own figures."""

from __future__ import annotations

import configparser
import dataclasses
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from vssd.build import model
from vssd.cli import fit as cmd_fit
from vssd.cli.main import parser
from vssd.errors import UserError
from vssd.measured import fitting, rows
from vssd.measured.play import Player
from vssd.paths import PROJECT, find_profile
from vssd.sim import calibrate, fiojson, fioplan
from vssd.sim.run import Point, Runner

HOW = fiojson.How(("iops", "p50", "p99"), "", 0)
LONG = os.environ.get("VSSD_LONG") == "1"
JOBS = {
    "read-q1": {"rw": "randread", "bs": "4k"},
    "read-large": {"rw": "randread", "bs": "128k"},
    "read-q64": {"rw": "randread", "bs": "4k", "iodepth": "64"},
    "seqread": {"rw": "read", "bs": "128k", "iodepth": "32"},
    "seqwrite": {"rw": "write", "bs": "128k", "iodepth": "32"},
}
REQUESTS = 20000 if LONG else 3000


def vssd(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROJECT / "vssd"), *map(str, args)],
                          capture_output=True, text=True, check=False)


def fit(*args: object) -> None:
    """The command, in this process."""
    chosen = parser().parse_args(["fit", *map(str, args)])
    cmd_fit.main(chosen)


def job(name: str = "j", group: int = 0, **options: str) -> dict[str, Any]:
    """A job as fio prints it, with made-up results."""
    side = {"total_ios": 1000, "iops": 5000.0,
            "lat_ns": {"mean": 200000.0},
            "clat_ns": {"mean": 199000.0, "percentile": {
                "50.000000": 180000, "99.000000": 400000}}}
    rw = options.get("rw", "read")
    sides = {"read": "write" not in rw, "write": "read" not in rw or
             rw == "readwrite"}
    if rw in ("rw", "randrw", "readwrite"):
        sides = {"read": True, "write": True}
    return {"jobname": name, "groupid": group,
            "job options": {"ioengine": "libaio", "direct": "1", **options},
            **{s: side if on else {"total_ios": 0, "iops": 0.0}
               for s, on in sides.items()}}


def write(path: Path, *jobs: dict[str, Any], before: str = "",
          **common: str) -> Path:
    path.write_text(before + json.dumps(
        {"fio version": "fio-3.32", "global options": common,
         "jobs": list(jobs)}))
    return path


# ---- fio's jobs -------------------------------------------------------------------


@pytest.mark.parametrize("options, words", [
    ({"rw": "randread", "bs": "4Ki", "iodepth": "8"},
     {"rw=randread", "bs=4096", "iodepth=8"}),
    ({"rw": "readwrite", "bs": "1m", "rwmixread": "30"},
     {"rw=rw", "bs=1048576", "iodepth=1", "rwmixread=30"}),
    ({"rw": "randwrite", "bssplit": "4k/70:64k/30", "iodepth": "4",
      "numjobs": "4", "random_distribution": "zipf:1.1"},
     {"rw=randwrite", "bssplit=4k/70:64k/30", "iodepth=16",
      "random_distribution=zipf:1.1"}),
    ({"rw": "randrw", "rate_iops": "1000,500", "numjobs": "2",
      "rate_process": "poisson"},
     {"rw=randrw", "bs=4096", "iodepth=2", "rwmixread=50", "rate_iops=3000",
      "rate_process=poisson"}),
    ({"rw": "randread", "rate_iops": "700"},
     {"rw=randread", "bs=4096", "iodepth=1", "rate_iops=700",
      "rate_process=linear"}),
    ({"ioengine": "psync", "iodepth": "32", "numjobs": "3"},
     {"rw=read", "bs=4096", "iodepth=3"}),
])
def test_workload(options: dict[str, str], words: set[str]) -> None:
    """A job's options as keywords of vssd-sim, which takes them."""
    text = fiojson.workload_of(
        "x", {"ioengine": "libaio", "direct": "1", **options}, 500)
    assert set(text.split()) == words | {"number_ios=500"}
    done = subprocess.run(
        [str(model.sim()), "run", "--profile", str(find_profile("tiny")),
         "--workload", text, "--describe"], capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stderr


def test_targets(tmp_path: Path) -> None:
    """Global options count for each job; fio's notes before the results do
    not matter; a mix has latencies of its own for reads and writes."""
    path = write(tmp_path / "a.json", job("a", 0, rw="randread"),
                 job("b", 1, rw="randrw"), before="fio: note\n", bs="8k")
    got = fiojson.targets(path, HOW)
    assert [(t.job, t.measure, t.value) for t in got] == [
        ("a", "iops", 5000.0), ("a", "p50_us", 180.0), ("a", "p99_us", 400.0),
        ("b", "iops", 10000.0),
        ("b", "read.p50_us", 180.0), ("b", "write.p50_us", 180.0),
        ("b", "read.p99_us", 400.0), ("b", "write.p99_us", 400.0)]
    assert all("bs=8192" in t.workload for t in got)
    assert {t.fill for t in got} == {"preload", "random"}
    mean = fiojson.targets(path, fiojson.How(("mean",), "seq", 9))[0]
    assert (mean.value, mean.fill) == (200.0, "seq")
    assert mean.workload.endswith("number_ios=9")


@pytest.mark.parametrize("jobs, says", [
    ([], "no jobs"),
    ([{"jobname": "x", "groupid": 0}], "no requests completed"),
    ([job("x", rw="trim")], "rw=trim: allowed read, write"),
    ([job("x", bs="4k,8k")], "bs=4k,8k: allowed one size"),
    ([job("x", iodepth="0")], "iodepth=0: allowed 1 or more"),
    ([job("x", rate="1m")], "rate=1m: the job must run as fast"),
    ([job("x", rate_iops="9000")], "rate_iops: the drive did not reach it"),
    ([job("x", rate_iops="x")], "rate_iops=x: allowed requests a second"),
    ([job("x", rw="randrw", rate_iops="10,0")], "of one direction alone"),
    ([job("x"), job("y")], "'x' and 'y' ran at the same time"),
])
def test_refused_jobs(jobs: list[dict[str, Any]], says: str,
                      tmp_path: Path) -> None:
    """By file, job and option, in one line."""
    path = write(tmp_path / "a.json", *jobs)
    with pytest.raises(UserError, match=says) as e:
        fiojson.targets(path, HOW)
    assert str(path) in str(e.value) and "\n" not in str(e.value)


def test_a_missing_percentile_is_refused(tmp_path: Path) -> None:
    """With the option of fio that adds it."""
    one = job()
    del one["read"]["clat_ns"]["percentile"]["99.000000"]
    path = write(tmp_path / "a.json", one)
    with pytest.raises(UserError, match="no p99; give fio --percentile_list"):
        fiojson.targets(path, HOW)
    assert len(fiojson.targets(path, fiojson.How(("iops", "p50"), "", 0))) == 2


# ---- what the figures do not tell, and which jobs would -----------------------


def test_together() -> None:
    """Parameters that move the figures in the same way, and three of which
    only the sum counts."""
    a, b, c = [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 1.0, 5.0]
    assert [k for k, _ in calibrate.together(["a", "b", "c"], [a, b, c],
                                             0.01)] == [["a", "b"]]
    assert calibrate.together(["a", "c"], [a, c], 0.01) == []
    d = [x + y for x, y in zip(a, c)]
    (keys, spread), = calibrate.together(["a", "c", "d"], [a, c, d], 0.01)
    assert set(keys) == {"a", "c", "d"} and spread > 1e6
    # One that no figure depends on is no direction of several.
    assert calibrate.together(["a", "z"], [a, [0.0] * 3], 0.01) == []
    # The noise decides.
    e = [1.0, 1.0, 1.3]
    assert calibrate.together(["a", "e"], [a, e], 1e-3) == []
    assert [k for k, _ in calibrate.together(["a", "e"], [a, e], 0.1)]


def test_plan(tmp_path: Path) -> None:
    """The jobs for each parameter, fewer than 30 minutes in all; what no job
    determines is refused."""
    assert fioplan.seconds_of(list(fioplan.JOBS)) < 30 * 60
    names = [j.name for j in fioplan.jobs_for(["nand.read"])]
    assert "read-q1" in names and "write-q128" not in names
    path = tmp_path / "p.fio"
    fit("--plan", path, "--free", "ftl.op_percent=5%..20%,host.link_mb_s")
    jobs = configparser.ConfigParser(allow_no_value=True)
    jobs.read(path)
    assert {"seqread-q32", "age", "write-q128"} < set(jobs.sections())
    assert "lost" in path.read_text() and jobs["age"]["rw"] == "randwrite"
    for name in jobs.sections()[1:]:  # fit --fio takes them
        options = {k: v or "" for k, v in (*jobs["global"].items(),
                                           *jobs[name].items())}
        assert fiojson.workload_of("x", options, 100).startswith("rw=")
    fit("--plan", path, "--free", "nand.read")
    assert "lost" not in path.read_text()
    with pytest.raises(UserError, match="no job of fio determines seed"):
        fit("--plan", path, "--free", "seed")


# ---- measured rows ------------------------------------------------------------


def test_rows(tmp_path: Path) -> None:
    """Rows that a drive with known parameters made give these again, from
    another start; rows that were not fitted are predicted."""
    base = find_profile("tiny")
    head = ",".join(rows.COLUMNS)
    lines = [f"D,33554432,,,depth-4k/read,{state},rw=randread bs=4k"
             f" iodepth={d},{metric},{unit},1,,,s,f,closed"
             for d in (1, 4, 16) for state in ("seq fill 1x",)
             for metric, unit in (("iops", "1/s"), ("p50_us", "us"))]
    (tmp_path / "d.csv").write_text("\n".join([head, *lines]) + "\n")
    true = {"nand.read": "77us"}
    if LONG:
        true["host.firmware"] = "9us"
    bounds = "nand.read=20us..200us,host.firmware=1us..20us"
    frees = calibrate.parse_free(bounds, dict.fromkeys(
        ("nand.read", "host.firmware"), "time"))[:len(true)]
    sim = model.sim()
    states = fitting.SharedStates(Runner(sim, 2), b"", tmp_path)
    states.share(frees)
    player = Player(states, 1000, lambda: tmp_path)
    entries = fitting.entries_of(fitting.rows_of(tmp_path, ""), base, 9)
    made = fitting.RowSearch(player, entries, frees, base, lambda _: None)
    entries = [dataclasses.replace(s.entry, drive=entries[0].drive,
                                   row=dataclasses.replace(
                                       s.entry.row, value=s.ours or 0))
               for s in made.scored(true, entries)]
    fitted, others = fitting.split(entries, 67, 1)
    assert (len(fitted), len(others)) == (4, 2)
    search = fitting.RowSearch(player, fitted, frees, base, lambda _: None)
    found = calibrate.find(search)
    for p, text in zip(found.parameters, true.values()):
        assert p.value == pytest.approx(
            calibrate.number_of(text)[0], rel=0.03), p
    errors = fitting.errors_by_metric(search.scored(found.values(), others))
    assert errors["all"] < 2
    assert len(list(tmp_path.glob("*.state"))) == 1  # times leave no mark on it


# ---- what fio writes ----------------------------------------------------------------


def document(*jobs: dict[str, Any], **fields: Any) -> str:
    """Results as fio prints them."""
    return json.dumps({"fio version": "fio-3.36", "jobs": list(jobs),
                       **fields}, indent=2)


def names_of(path: Path, match: str = "iops") -> list[tuple[str, float]]:
    """The jobs that are used, with their IOPS."""
    how = fiojson.How((match,), "", 0)
    return [(t.job, t.value) for t in fiojson.targets(path, how)]


def faster(one: dict[str, Any], iops: float, ios: int = 1000) \
        -> dict[str, Any]:
    """The same job with other results."""
    side = "write" if one["write"]["total_ios"] else "read"
    return {**one, side: {**one[side], "iops": iops, "total_ios": ios}}


A, B = job("a", 0, rw="randread"), job("b", 1, rw="randread")
LATER = faster(A, 6000.0, 2000)


@pytest.mark.parametrize("text, want", [
    # Runs that were appended to one file.
    (document(A) + document(B), [("a", 5000), ("b", 5000)]),
    (document(A) + "\n" + document(LATER), [("a", 5000), ("a", 6000)]),
    (document(A, timestamp=1000) + document(LATER, timestamp=1060),
     [("a", 5000), ("a", 6000)]),
    (document({**A, "elapsed": 61}, timestamp=1061)
     + document({**LATER, "elapsed": 61}, timestamp=1125),
     [("a", 5000), ("a", 6000)]),
    # Figures so far of one run (--status-interval).
    (document({**A, "elapsed": 11}, timestamp=1011)
     + document({**LATER, "elapsed": 21}, timestamp=1021), [("a", 6000)]),
    (document({**A, "job_start": 5}) + document({**LATER, "job_start": 5}),
     [("a", 6000)]),
    # fio's messages, wherever they come.
    ("fio: this platform does not support {that}\nwarning: x\n" + document(A)
     + "\nfio: terminating on signal 2\n\n" + document(B) + "note: both\n",
     [("a", 5000), ("b", 5000)]),
    (document(A).replace('"jobs"', '\nfio: io_u error: "x\n"jobs"', 1),
     [("a", 5000)]),
    ("Jobs: 1 (f=1): [r(1)][100.0%]\r" + document(A), [("a", 5000)]),
    (document(A).replace("199000.0", "-nan"), [("a", 5000)]),
])
def test_documents(text: str, want: list[tuple[str, float]],
                   tmp_path: Path) -> None:
    """All runs of a file, each once, in its last state."""
    path = tmp_path / "a.json"
    path.write_text(text)
    assert names_of(path) == want


@pytest.mark.parametrize("text, says", [
    (document(A)[:-40], "the results that begin in line 1 are cut"),
    (document(A) + "\n" + document(B)[:99], "are cut: fio had not ended"),
    (document(A)[:-40] + "\n" + document(B), "line 1 are cut"),
    (document(A).replace(",", ";"), "no JSON"),
    ("", "no results; give the output of fio"),
    ("read: IOPS=5000, BW=20MiB/s\n", "no JSON; give the output of fio"),
    ('{"jobs": 3}', "no jobs"),
    ('{"x": 1}', "no jobs"),
    (document("x"), "no jobs"),  # type: ignore[arg-type]
])
def test_no_documents(text: str, says: str, tmp_path: Path) -> None:
    """Cut results are no results, whatever came before them."""
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UserError, match=says) as e:
        names_of(path)
    assert str(path) in str(e.value) and "\n" not in str(e.value)


def clients(path: Path, *hosts: str) -> Path:
    """Results of fio --client, of one job each, with fio's sum."""
    jobs = [{**job("c", 0), "hostname": h, "port": 8765} for h in hosts]
    total = {**faster(job("All clients"), 5000.0 * len(hosts)),
             "job options": {}, "hostname": hosts[-1], "port": 8765}
    shared = [{"hostname": h, "bs": "8k", "rw": "randread"} for h in hosts]
    path.write_text(f"<{hosts[0]}> fio: note\n" + json.dumps(
        {"fio version": "fio-3.36", "global options": shared,
         "client_stats": [*jobs, total]}))
    return path


def test_clients(tmp_path: Path) -> None:
    """The jobs of one client, with its global options, without the sum over
    all; several are not taken for one drive, nor for several."""
    one = clients(tmp_path / "a.json", "h1")
    got = fiojson.targets(one, HOW)
    assert [(t.job, t.value) for t in got] == [("c", 5000), ("c", 180),
                                               ("c", 400)]
    assert "rw=randread" in got[0].workload and "bs=8192" in got[0].workload
    two = clients(tmp_path / "b.json", "h1", "h2")
    with pytest.raises(UserError, match="clients h1, h2 ran at the same time"
                       ".*give --client"):
        names_of(two)
    assert [t.value for t in fiojson.targets(
        two, fiojson.How(("iops",), "", 0, "h2"))] == [5000]
    for path, says in ((two, "--client h3: allowed h1, h2"),
                       (write(tmp_path / "c.json", A), "no results of clients")):
        with pytest.raises(UserError, match=says):
            fiojson.targets(path, fiojson.How(("iops",), "", 0, "h3"))


@pytest.mark.parametrize("options, words", [
    ({"bsrange": "4k-16k"}, "bssplit=4096/25:8192/25:12288/25:16384/25"),
    ({"blocksize_range": "16k-32k,4k-8k", "rw": "rw"},
     "bssplit=16384/50:32768/50,4096/50:8192/50"),
    ({"bsrange": "4k-8k", "bs": "4k"}, "bs=4096"),  # the last one counts
    ({"bs": "4k", "bsrange": "4k-8k"}, "bssplit=4096/50:8192/50"),
    ({"bssplit": "4k/50:8k/:16k/"}, "bssplit=4096/50:8192/25:16384/25"),
    ({"bssplit": "4k:8k:16k"},
     "bssplit=4096/33.3333:8192/33.3334:16384/33.3333"),
    ({"bssplit": "4k/100,8k/100,64k/100", "bs": "1k"},
     "bssplit=4096/100,8192/100"),
    ({"rw": "write", "fsync": "16"}, "fsync=16"),
    ({"rw": "write", "fdatasync": "1", "fsync": "0"}, "fsync=1"),
    ({"rw": "randrw", "rwmixwrite": "30"}, "rwmixread=70"),
    ({"ioengine": "libaio", "iodepth": "8", "numjobs": "4"}, "iodepth=32"),
    ({"rw": "randread", "random_distribution": "zipf"},
     "random_distribution=zipf:1.1"),
])
def test_sizes_and_flushes(options: dict[str, str], words: str) -> None:
    """Options of fio in other words; vssd-sim takes them."""
    text = fiojson.workload_of("x", {"ioengine": "libaio", **options}, 500)
    assert words in text.split()
    done = subprocess.run(
        [str(model.sim()), "run", "--profile", str(find_profile("tiny")),
         "--workload", text, "--describe"], capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stderr


def test_wide_range() -> None:
    """As many sizes as vssd-sim takes, with the same mean."""
    text = fiojson.workload_of("x", {"bsrange": "4k-1m"}, 500)
    parts = text.split("bssplit=")[1].split()[0].split(":")
    sizes = [int(p.partition("/")[0]) for p in parts]
    assert len(sizes) == 64 and all(s % 4096 == 0 for s in sizes)
    assert sum(sizes) / 64 == pytest.approx((2**20 + 4096) / 2, rel=0.01)
    subprocess.run(
        [str(model.sim()), "run", "--profile", str(find_profile("tiny")),
         "--workload", text, "--describe"], capture_output=True, check=True)


def test_flushes_count(tmp_path: Path) -> None:
    """fio's IOPS of writes are without the flushes, the model's with them; the
    latency is that of the writes."""
    path = write(tmp_path / "a.json", job(rw="randwrite", fsync="4"))
    got = fiojson.targets(path, HOW)
    assert [(t.measure, t.value) for t in got] == [
        ("iops", 6250.0), ("write.p50_us", 180.0), ("write.p99_us", 400.0)]


@pytest.mark.parametrize("options, says", [
    ({"direct": "0"}, "buffered I/O .*page cache, not the drive"),
    ({"direct": "1", "buffered": "1"}, "page cache"),
    ({"ioengine": "mmap"}, "ioengine=mmap: it measures the page cache"),
    ({"ioengine": "null"}, "ioengine=null: it measures no drive"),
    ({"rate": "10m"}, "rate=10m: the job must run as fast"),
    ({"rate_min": "1m"}, "rate_min=1m: the job must"),
    ({"thinktime": "10us"}, "thinktime=10us: the job must"),
    ({"verify": "crc32c", "rw": "write"}, "verify=crc32c: reads that check"),
    ({"zonemode": "zbd"}, "zonemode=zbd: the requests follow zones"),
    ({"sync": "1", "rw": "write"}, "sync: writes that wait for the medium"),
    ({"sync": "dsync", "rw": "write"}, "sync=dsync: writes that wait"),
    ({"fsync": "1", "fdatasync": "1"}, "fsync and fdatasync: allowed one"),
    ({"bsrange": "64k-4k"}, "bsrange=64k-4k: the smaller size comes first"),
    ({"bsrange": "4k"}, "bsrange=4k: allowed one size|smaller"),
    ({"bssplit": "4k/x"}, "bssplit=4k/x: allowed SIZE/PERCENT"),
    ({"read_iolog": "x.log"}, "read_iolog=x.log: the requests are those"),
    ({"random_distribution": "pareto:0.2", "rw": "randread"},
     "random_distribution=pareto:0.2: allowed random"),
    ({"filename": "/dev/nvme0n1:/dev/nvme1n1"}, "several drives at once"),
    ({"iodepth_batch_complete_min": "8"}, "keep its requests in flight"),
])
def test_left_out(options: dict[str, str], says: str, tmp_path: Path) -> None:
    """A job that is no measurement of the drive, or that the model cannot
    repeat, is left out with its reason; alone it is refused."""
    bad = job("bad", **options)
    path = write(tmp_path / "a.json", bad)
    with pytest.raises(UserError, match="job 'bad': .*" + says):
        fiojson.targets(path, HOW)
    path = write(tmp_path / "b.json", bad, B)
    told: list[str] = []
    got = fiojson.targets(path, HOW, told.append)
    assert {t.job for t in got} == {"b"}
    assert len(told) == 1 and re.search(says, told[0])


def test_options_that_are_off(tmp_path: Path) -> None:
    """They change nothing, and direct may be written in several ways."""
    for options in ({"direct": ""}, {"direct": "0", "buffered": "0"},
                    {"direct": "0", "ioengine": "io_uring_cmd"},
                    {"sync": "none", "verify": "0", "zonemode": "none",
                     "rate_iops": "0", "thinktime": "0", "fsync": "0"}):
        path = write(tmp_path / "a.json", job("a", **options))
        assert names_of(path) == [("a", 5000)]
    one = job("a")
    del one["job options"]["direct"]
    assert names_of(write(tmp_path / "a.json", one, direct="1")) \
        == [("a", 5000)]
    with pytest.raises(UserError, match="direct=0 is fio's default"):
        names_of(write(tmp_path / "a.json", one))


def test_groups(tmp_path: Path) -> None:
    """The jobs of numjobs are one, reported as one or not; a group with jobs of
    other options shows in its figures; groups of one time are refused."""
    path = tmp_path / "a.json"
    four = [job("a", 0, numjobs="4") for _ in range(4)]
    write(path, *four)
    assert names_of(path) == [("a", 20000)]
    assert names_of(path, "mean") == [("a", 200)]
    with pytest.raises(UserError, match="p50 of each of its numjobs jobs alone;"
                       " give fio --group_reporting"):
        fiojson.targets(path, HOW)
    write(path, job("a", numjobs="4", group_reporting="", iodepth="8"))
    assert "iodepth=32" in fiojson.targets(path, HOW)[0].workload
    for bad, says in (
            ([*four[:3]], "'a' and 'a' ran at the same time"),
            ([A, job("b", 1, new_group="1")],
             "'a' and 'b' ran at the same time"),
            ([{**A, "write": B["read"]}], "rw=randread, but there are writes"),
            ([{**A, "read": {**A["read"], "io_bytes": 65536000}}],
             "reads of 65536 bytes, where its options say 4096"),
            ([job("m", rw="randrw", rwmixread="90")],
             "50 % reads, where its options say 90"),
            ([{**A, "error": 5}], "fio ended it with error 5")):
        write(path, *bad)
        with pytest.raises(UserError, match=says):
            fiojson.targets(path, HOW)


def test_reads_and_writes_as_one(tmp_path: Path) -> None:
    """unified_rw_reporting has one side; fio 2 had microseconds."""
    one = job("m", rw="randrw", unified_rw_reporting="mixed")
    one["mixed"] = one.pop("read")
    del one["write"]
    got = fiojson.targets(write(tmp_path / "a.json", one), HOW)
    assert [(t.measure, t.value) for t in got] == [
        ("iops", 5000), ("p50_us", 180), ("p99_us", 400)]
    old = job("o")
    old["read"] = {"total_ios": 9, "iops": 5, "clat": {
        "mean": 7.0, "percentile": {"50.000000": 6, "99.000000": 9}}}
    got = fiojson.targets(write(tmp_path / "a.json", old), HOW)
    assert [t.value for t in got] == [5, 6, 9]


# ---- the command ---------------------------------------------------------------------


@pytest.mark.parametrize("args, says", [
    (["--free", "nand.read=80us..40us"], "the lower bound comes first"),
    (["--free", "nand.nothing=1..2"], "nand.nothing: no such option ("),
    (["--free", "nand.reda=1us..2us"], "no such option; did you mean nand.read?"),
    (["--free", "ftl.gc=1..2"], "only options with a range of numbers"),
    (["--free", "seed=1..2"], "only options with a range of numbers"),
    (["--free", "ftl.unit=4KiB..8KiB"], "only options with a range of numbers"),
    (["--free", "nand.read=40us"], "give KEY=LOW..HIGH"),
    (["--free", "nand.read=40..80"], "allowed a range of times"),
    (["--free", "nand.read=x..80us"], "'x' is no number"),
    (["--free", "nand.read=1us..20ms"], "nand.read=20000us: allowed 0ns..10ms"),
    (["--free", "nand.dies=1.5..4"], "allowed"),
    (["--free", "nand.read=1us..2us,nand.read=1us..2us"], "given twice"),
    (["--free", "nand.read=1us..2us", "--match", "p98"], "--match p98: allowed"),
    (["--free", "nand.read=1us..2us", "--tolerance", "0"], "--tolerance"),
    (["--free", "nand.read=1us..2us,host.firmware=1us..2us,"
      "host.link_mb_s=1..9,nand.dies=1..2"], "4 parameters, but only 3"),
    ([], "--fio: give --free, too"),
])
def test_refused_options(args: list[str], says: str, tmp_path: Path) -> None:
    """One line, before anything runs."""
    path = write(tmp_path / "a.json", job())
    with pytest.raises(UserError, match=re.escape(says)) as e:
        fit("--fio", path, "--profile", "tiny", *args)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("args, says", [
    (["--published", "x"], "no drive 'x'"),
    (["--published", "P4500 2 TB"], "the drive has no free parameters"),
    (["--published", "TB"], "several drives"),
    (["--fio", "/nowhere", "--profile", "tiny", "--free", "a=1..2"],
     "No such file"),
    (["--fio", __file__, "--profile", "tiny", "--free", "a=1..2"],
     "give the output of fio"),
    (["--fio", __file__, "--profile", "none", "--free", "a=1..2"],
     "no profile 'none'"),
])
def test_refused_inputs(args: list[str], says: str) -> None:
    """Drives and files that there are not."""
    with pytest.raises(UserError, match=re.escape(says)):
        fit(*args)


def test_errors_are_one_line() -> None:
    """As a command: status 1 for a mistake in a value, 2 for one in the
    command line."""
    done = vssd("fit", "--published", "x")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert vssd("fit").returncode == 2


# ---- parameters and profiles --------------------------------------------------------


def test_values() -> None:
    """From text to a place in the range and back."""
    kinds = {"nand.read": "time", "ftl.op_percent": "percent",
             "buffer.size": "size", "host.firmware": "time"}
    frees = calibrate.parse_free(
        "nand.read=40us..90us, ftl.op_percent=7..28%,buffer.size=1MiB..64MiB,"
        "host.firmware=0..6us", kinds)
    for free, text in zip(frees, ["60us", "14.5%", "4194304B", "0.25us"]):
        value, _ = calibrate.number_of(text)
        assert free.text(free.at(free.place(value))) == text
        assert free.at(0) == pytest.approx(free.low)
        assert free.at(1) == pytest.approx(free.high)


def test_options_that_can_be_free() -> None:
    """Numbers with a range; neither words nor powers of two."""
    text = subprocess.run([str(model.sim()), "options"], check=True,
                          capture_output=True, text=True).stdout
    kinds = calibrate.option_kinds(text)
    assert kinds["nand.read"] == "time" and kinds["nand.dies"] == "number"
    assert kinds["ftl.op_percent"] == "percent"
    assert kinds["buffer.size"] == "size"
    assert {k for k in ("seed", "ftl.gc", "ftl.unit", "nand.page_size",
                        "faults") if kinds[k]} == set()


def test_a_profile_rewritten() -> None:
    """Values change at their place; new ones come first in their section, so
    that nand.read does not reset nand.read_2."""
    text = "# Head\n[nand]\nread_2 = 60us\nerase = 1ms\n\n[ftl]\nunit = 4KiB\n"
    new = calibrate.rewritten(text, {"nand.read": "50us", "nand.erase": "2ms",
                                     "host.firmware": "1us"})
    assert new == ("# Head\n[nand]\nread = 50us\nread_2 = 60us\nerase = 2ms\n"
                   "\n[ftl]\nunit = 4KiB\n\n[host]\nfirmware = 1us\n")
    assert calibrate.settings(new)["nand.read_2"] == "60us"
    sets = calibrate.sets_of({"host.firmware": "1us", "nand.read": "50us"},
                             calibrate.settings(text))
    assert sets == ("nand.read=50us", "nand.read_2=60us", "host.firmware=1us")


# ---- recovery ------------------------------------------------------------------------


def fio_of(path: Path, profile: Path, sets: tuple[str, ...]) -> Path:
    """The jobs on a drive of ours, as fio would report them."""
    runner = Runner(model.sim())
    jobs = []
    for group, (name, options) in enumerate(JOBS.items()):
        options = {"ioengine": "libaio", "direct": "1", "iodepth": "1",
                   **options}
        workload = fiojson.workload_of(name, options, REQUESTS)
        fill = "none" if name == "seqwrite" else "preload"
        result = runner.one(Point(profile, workload, None, sets,
                                  ("--fill", fill)))
        lat = result["latency_ns"]["all"]
        side = {"total_ios": result["requests"], "iops": result["iops"],
                "lat_ns": {"mean": lat["mean"]},
                "clat_ns": {"mean": lat["mean"], "percentile": {
                    "50.000000": lat["p50"], "99.000000": lat["p99"]}}}
        other = {"total_ios": 0, "iops": 0.0}
        write_job = name == "seqwrite"
        jobs.append({"jobname": name, "groupid": group,
                     "job options": options,
                     "read": other if write_job else side,
                     "write": side if write_job else other})
    return write(path, *jobs)


def test_recovers_a_profile(tmp_path: Path) -> None:
    """tR, tPROG, firmware time and link of a drive, from its figures alone,
    within 3 %; the profile that is written has them; a parameter that no
    figure shows is reported as such."""
    base = find_profile("nvme-tlc-2019")
    truth = {"nand.read": 55.0, "nand.program": 1600.0, "host.firmware": 6.0,
             "host.link_mb_s": 2900.0}
    flat = ("nand.read_2=55us", "nand.read_3=55us", "buffer.size=4MiB")
    drive = ("nand.read=55us", *flat, "nand.program=1600us",
             "host.firmware=6us", "host.link_mb_s=2900")
    path = tmp_path / "base.ini"
    text = calibrate.rewritten(base.read_text(), {
        "nand.read_2": "0", "nand.read_3": "0", "buffer.size": "4MiB"})
    path.write_text("\n".join(x for x in text.splitlines()
                              if not x.startswith("read_")) + "\n")
    out = tmp_path / "out.ini"
    done = vssd(
        "fit", "--fio", fio_of(tmp_path / "fio.json", path, drive),
        "--profile", path, "--requests", REQUESTS, "--json", "--out", out,
        "--free", "nand.read=30us..90us,nand.program=700us..3ms,"
        "host.firmware=1us..12us,host.link_mb_s=1500..6000"
        + (",media.retry_time=1us..9us" if LONG else ""))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    found = {p["key"]: p for p in report["parameters"]}
    settings = calibrate.settings(out.read_text())
    for key, value in truth.items():
        got, unit = calibrate.number_of(found[key]["fitted"])
        got /= 1e6 if unit == "time" else 1
        assert got == pytest.approx(value, rel=0.03), found[key]
        assert found[key]["determined"], found[key]
        assert settings[key] == found[key]["fitted"]
    if LONG:
        assert not found["media.retry_time"]["determined"]
    assert all(f["matched"] for f in report["figures"])
    assert out.read_text().startswith("# Class:  fitted drive")


def test_what_cannot_be_told_apart(tmp_path: Path) -> None:
    """At depth 1 and one size, tR and firmware time add up; no figure of
    reads depends on tPROG."""
    path = tmp_path / "fio.json"
    write(path, job("q1", rw="randread", iodepth="1"))
    done = vssd("fit", "--fio", path, "--profile", "tiny", "--json",
                "--requests", 300, "--free", "nand.read=100us..300us,"
                "host.firmware=1us..60us,nand.program=1ms..2ms")
    assert done.returncode == 0, done.stderr
    found = {p["key"]: p for p in json.loads(done.stdout)["parameters"]}
    assert "acts like host.firmware" in found["nand.read"]["notes"]
    assert found["nand.program"]["notes"] == ["no figure depends on it"]
    assert not any(p["determined"] for p in found.values())


def test_whole_numbers(tmp_path: Path) -> None:
    """The number of dies is found, and stays whole."""
    base = find_profile("tiny")
    runner = Runner(model.sim())
    jobs = []
    for group, depth in enumerate(("1", "8", "32")):
        options = {"rw": "randread", "iodepth": depth, "direct": "1",
                   "ioengine": "libaio"}
        result = runner.one(Point(
            base, fiojson.workload_of("x", options, 1000), None,
            ("nand.dies=3",), ("--fill", "preload")))
        one = job(f"q{depth}", group, **options)
        one["read"]["iops"] = result["iops"]
        jobs.append(one)
    done = vssd("fit", "--fio", write(tmp_path / "a.json", *jobs), "--profile",
                base, "--json", "--requests", 1000, "--match", "iops",
                "--free", "nand.dies=1..6")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"][0]["fitted"] == "3"
