# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd validate --data: rows, classes, loads, histograms, errors, refusals;
and the bounds of --short."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from long_form import of_part

from vssd.build import model
from vssd.errors import UserError
from vssd.measured import classes, drives, hdr, loads, points, run, score
from vssd.measured import rows as board_rows
from vssd.measured.play import Player
from vssd.measured.rows import Row
from vssd.measured.states import States
from vssd.paths import PROJECT
from vssd.sim.run import Runner
from vssd_lab.board import charts, command, mqsim, page, peer, report, short, simplessd

HEAD = ",".join(board_rows.COLUMNS)
READ = ("D,1000000000,TLC,PCIe,depth-4k/read,seq fill 1x,"
        "rw=randread bs=4k iodepth=4 numjobs=2 size=100%,{},{},{},,,src,f,{}")


ZONES_FILLED = "zones filled before (4x, by the read-me)"
# 25 zones of 1 MiB on the drive `tiny`.
ZONED = ("zones.enabled=on", "ftl.alloc=in-order", "buffer.plp=on",
         "ftl.op_percent=0%")


def row(experiment: str, workload: str, metric: str = "iops",
        value: float = 100.0, note: str = "", file: str = "f",
        precondition: str = "seq fill 1x") -> Row:
    return Row("w", "D", 10**9, experiment, precondition, workload, metric,
               value, file, note)


def folder(tmp_path: Path, *lines: str) -> Path:
    (tmp_path / "d.csv").write_text("\n".join((HEAD, *lines)) + "\n")
    return tmp_path


def tiny(tmp_path: Path, by_rule: bool = False) -> drives.Drive:
    return drives.Drive("D", PROJECT / "profiles/tiny.ini", (), 10**9, by_rule,
                        ("p50_us",) if not by_rule else ())


# ---- rows -------------------------------------------------------------------


@pytest.mark.parametrize("line, says", [
    ("a,b", "d.csv row 2: 2 columns, not 15"),
    (READ.format("speed", "1", "3", ""), "row 2: metric 'speed': allowed"),
    (READ.format("iops", "us", "3", ""), "unit 'us' of iops: allowed 1/s"),
    (READ.format("p99_us", "ns", "3", ""), "unit 'ns' of p99_us: allowed us"),
    (READ.format("iops", "1/s", "x", ""), "value 'x': allowed a number"),
    (READ.format("iops", "1/s", "-1", ""), "value '-1': allowed a number"),
    (READ.format("iops", "1/s", "nan", ""), "value 'nan': allowed a number"),
    (READ.format("iops", "1/s", "3", "").replace("1000000000", "1e9"),
     "capacity_bytes '1e9'"),
])
def test_bad_row(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(UserError) as e:
        board_rows.read(folder(tmp_path, line))
    assert says in str(e.value) and "\n" not in str(e.value)


def test_no_file_and_wrong_columns(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no CSV file"):
        board_rows.read(tmp_path)
    (tmp_path / "d.csv").write_text("a,b\n")
    with pytest.raises(UserError, match="d.csv row 1: allowed the columns"):
        board_rows.read(tmp_path)


def test_a_row_that_cannot_be_placed(tmp_path: Path) -> None:
    known = {"D": tiny(tmp_path)}
    for bad, says in [
            (row("dance", "step by step"), "no class for the experiment"),
            (row("depth-4k/read", "rw=randread bs=4k iodepth=1",
                 precondition="baked"), "'baked': no such state")]:
        with pytest.raises(UserError, match=says):
            points.entries([bad], known)
    with pytest.raises(UserError, match="w: no profile for the drive 'D'"):
        points.entries([row("rated", "rw=read bs=4k")], {})


def test_percentile() -> None:
    assert [board_rows.percentile(m) for m in
            ("p50_us", "p01_us", "p925_us", "p99999_us", "mean_us")] == \
        [50, 1, 92.5, 99.999, None]


# ---- classes ----------------------------------------------------------------


@pytest.mark.parametrize("experiment, bs, metric, name", [
    ("depth-4k-spdk/read", "4k", "iops", "depth"),
    ("depth-bs-uring/read", "16k", "iops", "size"),
    ("randread/read", "8k", "iops", "size"),
    ("write/write", "4k", "iops", "size"),
    ("initial-state/curve", "4k", "wa", "wa"),
    ("mixratio-append/read", "4k", "iops", "zones"),
    ("rate-limited-seqread/read", "4k", "iops", "mix"),
    ("zones-trim/size", "512k", "mb_s", "writes"),
    ("zone-reset", "4k", "ms", "zones"),
    ("my-own", "4k", "iops", "depth"),
])
def test_class(experiment: str, bs: str, metric: str, name: str) -> None:
    assert classes.class_of(row(experiment, f"rw=x bs={bs}", metric)) == name


def test_best_of_a_grid_is_a_peak(tmp_path: Path) -> None:
    grid = [row("write/write", f"rw=write bs=4k iodepth={d}", value=d)
            for d in (1, 8, 4)]
    found, _ = points.entries(grid, {"D": tiny(tmp_path)})
    assert [e.name for e in found] == ["size", "peaks", "size"]
    found, _ = points.entries(grid, {"D": tiny(tmp_path)}, whole=False)
    assert {e.name for e in found} == {"size"}


def test_left_out_with_a_reason(tmp_path: Path) -> None:
    some = [row("steady-zipf", "rw=randwrite bs=4k", "mean_us",
                note="closed;clipped"),
            row("steady-zipf", "rw=randwrite bs=4k", "p50_us",
                note="closed;clipped")]
    found, left = points.entries(some, {"D": tiny(tmp_path)})
    assert len(found) == 1
    assert left == {"values above 20 ms were recorded as 20 ms": 1}


# ---- loads ------------------------------------------------------------------


@pytest.mark.parametrize("one, workload, beside, state", [
    (row("depth-4k/read", "rw=randread bs=4k iodepth=4 numjobs=2"),
     "rw=randread bs=4k iodepth=8", "", "seq"),
    (row("steady-zipf", "rw=randwrite bs=4k iodepth=128 numjobs=4"
         " random_distribution=zipf:0.8"),
     "iodepth=512 random_distribution=zipf:0.8", "", "scattered"),
    (row("rate-limited/read", "rw=randread", file="a/zns_250_16"),
     "rw=randread bs=4k iodepth=16",
     "rw=write bs=128k iodepth=1 rate_iops=2000", "seq"),
    (row("flow/read", "rw=randread", file="99_flow_sleep_8.json"),
     "rw=randread bs=4k iodepth=8 flow=99 size=11%",
     "rw=write bs=4k iodepth=8 flow=1 offset=11% size=11%", "seq"),
    (row("read-qd1-beside-64kwrites", "rw=randread", file="x_num_t_4.txt",
         precondition="random 4k 2x"),
     "rw=randread bs=4k iodepth=1 pause=7",
     "rw=randwrite bs=64k iodepth=64", "random:2"),
    (row("append/write", "rw=write bs=8k iodepth=4 numjobs=2 active_zones=2"
         " zone_append=1", precondition=ZONES_FILLED),
     "rw=write bs=8k iodepth=8 max_open_zones=2 zone_append=1", "", "preload"),
    (row("mixratio-append/read", "rw=randrw bs=4k iodepth=4 numjobs=1"
         " rwmixread=75 zone_append=1 size=100%", precondition=ZONES_FILLED),
     "rw=randrw bs=4k iodepth=4 rwmixread=75 zone_append=1", "", "preload"),
    (row("rate-limited-append/write", "rw=write", file="zns_append_50_8",
         precondition=ZONES_FILLED), "rw=randread bs=4k iodepth=8 size=44%",
     "rw=append bs=128k iodepth=1 rate_iops=400 offset=44% size=44%",
     "preload"),
    (row("zone-finish", "finish of a zone of which 2 of 8 blocks of 4k are"
         " written", precondition="all zones reset before"),
     "finish 0.250000", "", "none"),
    (row("zone-interference", "reset beside appends",
         precondition=ZONES_FILLED), "rw=append bs=4k iodepth=1 size=50%",
     "rw=reset bs=4k iodepth=1 offset=50% size=50%", "preload"),
])
def test_load(one: Row, workload: str, beside: str, state: str) -> None:
    load = loads.load_of(one, 10**9)
    assert (load.workload, load.beside, load.state) == \
        (workload, beside, state)


def test_steady_rows_of_one_run_share_it(tmp_path: Path) -> None:
    workload = "rw=randwrite bs=4k iodepth=8 size=100%"
    found, _ = points.entries(
        [row("steady-uniform", workload, note="last20%of4.99fills"),
         row("steady-uniform/curve", workload, note="at=0-0.25fills")],
        {"D": tiny(tmp_path)})
    assert len({e.point for e in found}) == 1
    assert found[0].load.fills == 4.99


# ---- errors -----------------------------------------------------------------


def scored(tmp_path: Path, ours: float | None, why: str = "",
           **more: object) -> score.Scored:
    one = row("depth-4k/read", "rw=randread bs=4k", **more)  # type: ignore
    return score.Scored(points.entries([one], {"D": tiny(tmp_path)})[0][0],
                        ours, why)


def test_error(tmp_path: Path) -> None:
    assert scored(tmp_path, 100.0).error == 0
    assert scored(tmp_path, 100 * 2.718281828).error == pytest.approx(100)
    assert scored(tmp_path, 1e9).error == 300
    assert scored(tmp_path, None, "not modelled: x").error == 300
    assert scored(tmp_path, None, score.FEW).error is None


@pytest.mark.parametrize(("note", "rw", "host"), [
    ("closed;spdk;clat", "randread", 1),
    ("closed;io_uring irq;one core", "randread", 5),
    ("data sheet, not measured", "randread", 5),
    ("closed;answer", "randread", 0),
    ("closed;spdk", "randrw rwmixread=50", 0),
])
def test_the_host_takes_time(tmp_path: Path, note: str, rw: str,
                             host: float) -> None:
    """It is added to latencies of one closed loop, and slows it."""
    side = {"iops": 100_000.0, "mean_us": 10.0, "percentiles": {"50": 9.0}}
    for metric, ours in (("iops", 1e6 / (10 + host)), ("mean_us", 10 + host),
                         ("p50_us", 9 + host)):
        one = dataclasses.replace(
            row("depth-4k/read", f"rw={rw} bs=4k iodepth=1", metric),
            note=note)
        entry, = points.entries([one], {"D": tiny(tmp_path)})[0]
        found = score.ours_of(entry, {"read": side}, 1)
        assert found.ours == pytest.approx(ours)


def test_a_class_is_the_mean_of_its_drives(tmp_path: Path) -> None:
    def of(name: str, errors: list[float]) -> list[score.Scored]:
        one = row("depth-4k/read", "rw=randread bs=4k")
        drive = drives.Drive(name, None, (), 1, True, ())
        return [score.Scored(points.Entry(one, drive, "depth", "by rule",
                                          loads.Load("run")),
                             100 * 2.718281828 ** (e / 100)) for e in errors]

    cell = score.board_of(of("A", [10] * 9) + of("B", [50]))["depth"]
    assert (cell.mean, cell.n) == (pytest.approx(30), 10)


def test_slc_regimes() -> None:
    fast = [[1.0, 0.01, 0.0]] * 20
    slow = [[4.0, 0.01, 0.0]] * 80
    shape = score.slc_shape(fast + slow)
    assert shape["cache-size"] == pytest.approx(0.2)
    assert shape["cache-rate"] == pytest.approx(0.01)
    assert shape["after-cache"] == pytest.approx(0.0025)
    assert shape["whole-drive"] == pytest.approx(1 / 340)
    assert "third-start" not in shape
    assert score.slc_shape(slow)["cache-size"] == pytest.approx(0.8)


def test_third_regime_of_an_slc_cache() -> None:
    """It begins where the rate falls again; short falls do not count."""
    fast, middle, slow = [1.0, 0.01, 0.0], [3.0, 0.01, 0.0], [9.0, 0.01, 0.0]
    shape = score.slc_shape([fast] * 20 + [middle] * 20 + [slow] * 2
                            + [middle] * 28 + [slow] * 30)
    assert shape["cache-size"] == pytest.approx(0.2)
    assert shape["third-start"] == pytest.approx(0.7)
    assert shape["third-rate"] == pytest.approx(0.01 / 9)
    assert shape["after-cache"] == pytest.approx(0.3 / (28 * 3 + 2 * 9))


# ---- played -----------------------------------------------------------------


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Player:
    sim = model.sim()
    return Player(States(Runner(sim, 1), sim.read_bytes(),
                         tmp_path_factory.mktemp("board")), 20_000,
                  command._library)


def test_histogram_is_that_of_the_results(tmp_path: Path,
                                          player: Player) -> None:
    log = tmp_path / "h.hlog"
    from vssd.sim.run import Point

    result = player.states.runner.one(Point(
        PROJECT / "profiles/tiny.ini", "rw=randrw bs=4k iodepth=8"
        " number_ios=20000", args=("--histograms", str(log))))
    counts = hdr.read(log.read_text())
    for kind in ("read", "write"):
        stats = result["latency_ns"][kind]
        assert sum(n for _, n in counts[kind]) == stats["count"]
        for name, p in (("p50", 50), ("p99", 99), ("p999", 99.9)):
            assert hdr.percentile(counts[kind], p) == stats[name]


def test_two_jobs_are_one_when_one_is_idle(tmp_path: Path,
                                           player: Player) -> None:
    """The host on libvssd and vssd-sim agree on the same load."""
    drive = tiny(tmp_path)
    reads = "rw=randread bs=4k iodepth=4"
    alone = player.play(drive, loads.Load("run", "seq", reads))["read"]
    pair = player.play(drive, loads.Load("pair", "seq", reads))["read"]
    assert pair["iops"] == pytest.approx(alone["iops"], rel=0.03)
    beside = player.play(drive, loads.Load(
        "pair", "seq", reads, beside="rw=write bs=4k iodepth=1"
        " rate_iops=500"))
    assert beside["write"]["iops"] == pytest.approx(500, rel=0.05)
    assert beside["read"]["iops"] < pair["iops"]


def test_jobs_keep_their_share(tmp_path: Path, player: Player) -> None:
    """As flow= of fio; the one that is ahead lets its queue run empty."""
    played = player.play(tiny(tmp_path), loads.Load(
        "pair", "seq", "rw=randread bs=4k iodepth=8 flow=75",
        beside="rw=write bs=4k iodepth=8 flow=25"))
    reads, writes = played["read"], played["write"]
    assert reads["iops"] / writes["iops"] == pytest.approx(3, rel=0.02)
    assert reads["iops"] * reads["mean_us"] / 1e6 < 6  # in flight


def test_queues_are_served_by_turns(tmp_path: Path, player: Player) -> None:
    """A job with many requests in its queue does not delay that of another by
    more than its turn."""
    drive = dataclasses.replace(tiny(tmp_path), sets=("host.queue_depth=1",))
    played = player.play(drive, loads.Load(
        "pair", "preload", "rw=randread bs=4k iodepth=32",
        beside="rw=write bs=4k iodepth=1"))
    reads, writes = played["read"], played["write"]
    assert reads["iops"] == pytest.approx(writes["iops"], rel=0.01)
    assert reads["iops"] * reads["mean_us"] / 1e6 == pytest.approx(32, 0.01)


def test_a_rate_spreads_its_requests(tmp_path: Path, player: Player) -> None:
    """They begin one by one, however many may be in flight."""
    one, many = (player.play(tiny(tmp_path), loads.Load(
        "pair", "preload", f"rw=randread bs=4k iodepth={depth}"
        " rate_iops=500"))["read"] for depth in (1, 64))
    assert many["iops"] == pytest.approx(500, rel=0.01)
    assert many["mean_us"] == pytest.approx(one["mean_us"], rel=0.01)


def test_latencies_at_the_limit_are_those_of_one_thread(
        tmp_path: Path, player: Player) -> None:
    """The rates are of all seven."""
    played = player.play(tiny(tmp_path), loads.Load("saturated", "preload"))
    reads, writes = played["read"], played["write"]
    assert reads["n"] == pytest.approx(writes["n"], rel=0.05)
    assert writes["iops"] > 5 * reads["iops"]


def test_steady_run_has_its_whole_course(tmp_path: Path,
                                         player: Player) -> None:
    """Pieces by the amount written, and the last fifth by itself."""
    load = loads.Load("steady", "scattered", "iodepth=16", fills=2.0)
    drive = tiny(tmp_path)
    played = player.play(drive, load)
    size = player.states.capacity(drive)
    assert sum(c[1] for c in played["course"]) == pytest.approx(2, rel=0.01)
    assert played["write"]["n"] == int(0.2 * 2 * size / 4096)

    def ours(note: str, metric: str) -> float:
        one = row("steady-uniform/curve", "rw=randwrite bs=4k", metric,
                  note=note)
        found = score.ours_of(points.Entry(one, drive, "writes", "predicted",
                                           load), played, size).ours
        assert found is not None
        return found

    first, last = (ours(f"at={at}fills", "wa") for at in
                   ("0-0.25", "1.75-2"))
    assert 1 <= first < last
    assert ours("at=0-0.25fills", "iops") > ours("at=1.75-2fills", "iops")
    assert ours("last20%of2.00fills", "iops") == \
        pytest.approx(played["write"]["iops"], rel=0.1)


def test_zones(player: Player) -> None:
    """Commands of zones, and jobs beside resets, on libvssd; grids with
    vssd-sim."""
    drive = drives.Drive("D", PROJECT / "profiles/tiny.ini", ZONED, 10**9, True,
                         ())
    page_us = 500 + 16384 / 400

    def of(kind: str, workload: str, beside: str = "") -> dict[str, Any]:
        return player.play(drive, loads.Load(kind, "preload" if kind != "zone"
                                             else "none", workload,
                                             beside=beside))

    # 16 pages of each die, of which the first die has one.
    finish = of("zone", "finish 0.000001")["write"]["mean_us"]
    assert finish == pytest.approx(17 * page_us, rel=0.02)
    half = of("zone", "finish 0.5")["write"]["mean_us"]
    assert half == pytest.approx(8 * page_us, rel=0.02)
    assert of("zone", "reset 1.0")["write"]["mean_us"] == \
        pytest.approx(3003, abs=2)
    assert of("zone", "open 0")["write"]["mean_us"] == 3
    append = "rw=append bs=4k iodepth=1 size=50%"
    both = of("pair", append, "rw=reset bs=4k iodepth=1 offset=50% size=50%")
    assert 2 < both["reset"]["n"] < 12  # some of 12 are the warm-up
    assert both["reset"]["mean_us"] > 3003
    assert of("pair", append)["reset"] is None
    grid = of("run", "rw=write bs=16k iodepth=2 max_open_zones=2")
    assert grid["write"]["n"] > 1000


def test_board_of_a_folder(tmp_path: Path, player: Player,
                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Played once, kept, printed and written."""
    data = folder(
        tmp_path, READ.format("iops", "1/s", "30000", "closed"),
        READ.format("p50_us", "us", "100", "closed"),
        READ.format("p99999_us", "us", "300", "closed"),
        READ.replace("depth-4k/read", "slc/none").format(
            "iops", "1/s", "3", ""))
    found, left = points.entries(board_rows.read(data),
                                 {"D": tiny(tmp_path)})
    told: list[int] = []
    result = run.score(found, player, told.append)
    assert told == [2, 2]
    assert [s.error is None for s in result] == [False, False, True, False]
    assert result[3].error == 300
    with monkeypatch.context() as m:  # again: from the cache
        m.setattr(player.states.runner, "output", None)
        assert run.score(found, player, told.append) == result
    text = report.text(result, left)
    assert "fitted" in text and "predicted" in text
    assert "1 rows: no such regime" in text
    report.write(tmp_path / "b.json", result, left)
    assert len(json.loads((tmp_path / "b.json").read_text())["rows"]) == 4
    assert "| slc |" in page.page(result, left, "How.").replace(
        " | ", " | ")


def test_curves_have_a_place() -> None:
    assert charts.place(row("x/curve", "size=100%",
                            note="at=0.5-0.75fills"))[:2] == ("fills", 0.75)  # type: ignore
    assert charts.place(row("mixed/read", "rate_iops=5000"))[1] == 5000  # type: ignore


# ---- a peer ----

REPORT = """<MQSim_Results><Host><Host.IO_Flow><Name>a</Name>
<Request_Count>10</Request_Count><Read_Request_Count>10</Read_Request_Count>
<IOPS>inf</IOPS><Device_Response_Time>80</Device_Response_Time></Host.IO_Flow>
</Host></MQSim_Results>"""


def test_mqsim_gets_the_facts_and_the_load(tmp_path: Path,
                                           player: Player) -> None:
    """A program in its place copies its input, and reports."""
    program = tmp_path / "peer"
    (tmp_path / "report.xml").write_text(REPORT)
    program.write_text('#!/bin/sh\ncp "$2" "$4" ' + str(tmp_path)
                       + f'\ncp {tmp_path}/report.xml'
                       ' "${4%.xml}_scenario_1.xml"\n')
    program.chmod(0o755)
    other = mqsim.MqSim(player, program)
    drive = drives.Drive("D", PROJECT / "profiles/pm9a3.ini",
                         ("nand.dies=2",), 10**9, False, ())
    read = loads.Load("run", "seq", "rw=randread bs=4k iodepth=4")
    found, _ = points.entries([row("depth-4k/read", read.workload),
                               row("depth-4k/read", read.workload, "p50_us")],
                              {"D": drive})
    result = run.score(found, other, lambda _: None)
    assert result[0].ours == pytest.approx(4 / 80e-6)
    assert result[1].why == "not modelled: percentiles"
    ssd = (tmp_path / "ssd.xml").read_text()
    assert "<Die_No_Per_Chip>2<" in ssd and "<Page_Capacity>16384<" in ssd
    assert "<Average_No_of_Reqs_in_Queue>4<" in \
        (tmp_path / "load.xml").read_text()
    assert "error" in other.play(drive, loads.Load("steady", "seq", ""))


def test_simplessd_gets_the_facts_and_the_load(tmp_path: Path,
                                               player: Player) -> None:
    """A program in its place: request k takes k us."""
    program = tmp_path / "peer"
    program.write_text(
        f'#!/bin/sh\ncp "$1" "$2" "$3/trace.txt" {tmp_path}\n'
        """awk '{ print NR ", " $3 ", " $4 ", " NR "000000" }' """
        '"$3/trace.txt" > "$3/latency.txt"\n')
    program.chmod(0o755)
    other = simplessd.SimpleSsd(player, program)
    drive = drives.Drive("D", PROJECT / "profiles/pm9a3.ini",
                         ("nand.dies=4",), 10**9, False, ())
    read = loads.Load("run", "seq", "rw=randread bs=4k iodepth=4")
    found = other.run(drive, read)["read"]
    assert found["n"] == 27_000
    assert found["mean_us"] == pytest.approx(16_500, rel=1e-3)
    assert found["iops"] == pytest.approx(4 / 16_500e-6, rel=1e-3)
    assert found["percentiles"]["50"] == pytest.approx(16_500, rel=1e-3)
    ssd = (tmp_path / "ssd.cfg").read_text()
    assert "Die = 4\n" in ssd and "FillRatio = 1.0" in ssd
    assert "MSBWrite = 349666000" in ssd  # a third of a word line's
    assert "QueueDepth = 4\n" in (tmp_path / "run.cfg").read_text()
    other.run(drive, loads.Load("mixed", "random:2",
                                "rate_iops=20000 rwmixread=50"))
    assert "TimingMode = 2" in (tmp_path / "run.cfg").read_text()
    first = (tmp_path / "trace.txt").read_text().splitlines()[:20_000]
    assert int(first[-1].split()[0]) == pytest.approx(1e9, rel=0.05)
    assert sum(" R " in line for line in first) == pytest.approx(10_000,
                                                                 rel=0.05)


@pytest.mark.parametrize("load", [
    loads.Load("steady", "seq", "iodepth=4"),
    loads.Load("pair", "seq", "rw=randread bs=4k iodepth=1", beside="x"),
    loads.Load("run", "seq", "rw=write bs=4k iodepth=1 zone_append=1")])
def test_what_simplessd_cannot_play(load: loads.Load) -> None:
    with pytest.raises(UserError, match="simplessd plays no such run"):
        simplessd.requests_of(load, 10**9)


def test_a_peer_that_ends_early() -> None:
    with pytest.raises(UserError, match="ended before its 20 requests"):
        simplessd.report("1, 0, 4096, 5\n", [(0, True, 0, 4096)] * 20, 1)


def test_a_profile_without_a_time() -> None:
    with pytest.raises(UserError, match="nand.read=5: a peer needs a time"):
        peer.ns({"nand.read": "5"}, "nand.read")


# ---- the command ------------------------------------------------------------


@pytest.mark.parametrize("given, says", [
    (["--drive", "x"], "--drive: only with --data"),
    (["--short", "--data", "x"], "--short: not with --data"),
    (["--data", "x", "--set", "a=b"], "--set: only with --profile"),
    (["--data", "x", "--peer", "x=y"], "--peer x=y: allowed mqsim=PATH, s"),
    (["--data", "x", "--peer", "mqsim=no"], "--peer mqsim=no: no such file"),
    (["--data", "x", "--points", "0"], "--points 0: allowed 1 and more"),
    (["--data", "x", "--requests", "5"], "--requests 5: allowed 1000"),
    (["--data", "x", "--write-doc", "--class", "mix"], "--write-doc: not"),
])
def test_refused(given: list[str], says: str) -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--write-doc", action="store_true")
    command.add_options(p)
    with pytest.raises(UserError) as e:
        command.check(p.parse_args(given))
    assert says in str(e.value)


def test_shipped_drives_have_their_profiles() -> None:
    for drive in drives.read().values():
        assert drive.profile is None or drive.profile.is_file()


@of_part("core/", "nand/", "ftl/", "sim/", "lib/", "profiles/", "scripts/vssd/measured/",
         "scripts/vssd/sim/", "lab/vssd_lab/board/")
def test_short_is_within_its_bounds(player: Player) -> None:
    """A model or a profile that becomes worse fails here."""
    some, bounds = short.read()
    found, _ = points.entries(some, drives.read(), whole=False)
    result = run.score(found, Player(player.states, command.SHORT_REQUESTS,
                                     command._library), lambda _: None)
    assert short.beyond(result, bounds) == []
    assert short.beyond(result, {**bounds, "mix": 0.1})
