# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd stat, top, metrics and report on a drive that runs, through a monitor of
the kind that ./vssd run gives its guests."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_data import data_of

from machine import LIMIT_S, PROJECT, Machine, drive_args
from nvme_host import NvmeHost
from test_device import host_of, pattern
from vssd import rundir
from vssd.build import venv
from vssd.cli import main as cli
from vssd.cli import metrics as cmd_metrics
from vssd.cli import stat as cmd_stat
from vssd.watch import members, metrics, source

KIB = 1 << 10


@pytest.fixture
def drive(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) \
        -> Iterator[NvmeHost]:
    """A drive that has done something, in the only machine of a fresh cache."""
    for name in ("metrics", "figures"):
        venv.extra(name)  # into the cache that the tests share
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    for name in ("enter", "extra"):
        monkeypatch.setattr(venv, name, lambda _: None)
    with rundir.rundir() as folder:
        monitor = folder / rundir.MONITOR
        args = ["-chardev", f"socket,id=control,server=on,wait=off,path={monitor}",
                "-mon", "chardev=control,mode=control"]
        with Machine(*drive_args("tiny", image), *args) as machine:
            host = host_of(machine)
            for i in range(16):
                host.write(64 * i, pattern(i, 32 * KIB))
            host.flush()
            host.read(0, 32 * KIB)
            yield host


def vssd(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert cli.main(list(argv)) == 0
    return capsys.readouterr().out


def test_stat(drive: NvmeHost, capsys: pytest.CaptureFixture[str]) -> None:
    """One reading: as a table, as JSON, as CSV, whole and in part."""
    whole = json.loads(vssd(capsys, "stat", "--json"))
    assert whole["profile"] == "tiny" and "options" in whole
    assert whole["host_bytes_written"] == 16 * 32 * KIB
    assert list(whole)[:3] == ["schema_version", "profile", "seed"]
    assert list(whole["waf_by_cause"])[:2] == ["host", "gc"]
    shown = vssd(capsys, "stat")
    assert "host_bytes_written" in shown and f"{16 * 32 * KIB:,}" in shown
    assert "commands_failed" not in shown, "it is 0"
    assert "commands_failed" in vssd(capsys, "stat", "--all")
    part = json.loads(vssd(capsys, "stat", "--json", "gc", "nand.*.die"))
    assert part["gc"].keys() >= {"victims", "free_blocks"}
    assert part["nand"] == {"busy_ns": {"die": whole["nand"]["busy_ns"]["die"]}}
    assert part.keys() == {"schema_version", "gc", "nand"}
    head, line = csv.reader(io.StringIO(vssd(
        capsys, "stat", "--csv", "host_bytes_written", "waf")))
    assert head == ["time_s", "drive", "host_bytes_written", "waf",
                    "host_bytes_written per s"]
    assert line[1:3] == ["ssd", str(16 * 32 * KIB)] and line[4] == ""


def test_stat_of_nothing(drive: NvmeHost, capsys: pytest.CaptureFixture[str]
                         ) -> None:
    """A pattern without a statistic, a drive that is not there."""
    assert cli.main(["stat", "no.such"]) == 1
    assert cli.main(["stat", "--drive", "ssd9"]) == 1
    found = capsys.readouterr().err.splitlines()
    assert "no statistic matches 'no.such'" in found[0] and len(found) == 2
    assert "--drive ssd9: the guest has ssd" in found[1]


def test_rates(drive: NvmeHost) -> None:
    """Of the drive's own time, and none after a reset of the statistics."""
    source = cmd_stat.drive_of(cli.parser().parse_args(["stat"]))
    before = source.read()
    drive.write(0, pattern(1, 64 * KIB))
    after = source.read()
    rates = members.rates(before, after)
    span = (after["sim_ns"] - before["sim_ns"]) / 1e9
    assert span > 0
    assert rates["host_bytes_written"] == pytest.approx(64 * KIB / span)
    assert rates["requests"] > 0 and "waf" not in rates
    assert members.rates(after, after) == {}
    assert "host_bytes_written" not in members.rates(after, before)


def test_every_statistic_has_a_row(drive: NvmeHost) -> None:
    """With its labels; only options and the origin have none."""
    found = cmd_stat.drive_of(cli.parser().parse_args(["stat"])).read()
    places = members.values(found)
    assert [p for p in places if not members.member(p)
            and not p.startswith("options.")] == []
    row = members.member("latency_ns.read.p99")
    assert row and row.unit == "ns" and not row.counts
    assert row.labels("latency_ns.read.p99") == {"op": "read"}
    row = members.member("nand.busy_ns.die[3]")
    assert row and row.counts
    assert row.labels("nand.busy_ns.die[3]") == {"die": "3"}


def test_top(drive: NvmeHost, capsys: pytest.CaptureFixture[str]) -> None:
    """One frame; without a terminal nothing else."""
    lines = vssd(capsys, "top", "--once", "--interval", "0.1").splitlines()
    assert "tiny" in lines[0] and "bound by" in lines[0]
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    labels = {x[:10].strip() for x in lines}
    assert labels >= {"now", "queues", "latency", "read", "WAF", "buffer",
                      "channels", "dies", "GC", "streams", "heat", "lateness"}
    assert cli.main(["top"]) == 1
    assert "top needs a terminal" in capsys.readouterr().err


@pytest.mark.parametrize("end", [b"q", b"\x03"], ids=["q", "ctrl-c"])
def test_top_on_a_terminal(drive: NvmeHost, end: bytes) -> None:
    """Frames on the other screen, until a key ends it; the first screen is back
    then."""
    parent, child = pty.openpty()
    code = ("import vssd.build.venv as v; v.enter = lambda _: None;"
            "from vssd.cli.main import main;"
            "raise SystemExit(main(['top', '--interval', '0.1']))")
    with subprocess.Popen(
            [sys.executable, "-c", code], stdin=child, stdout=child,
            stderr=child, start_new_session=True, preexec_fn=own_terminal,
            env=dict(os.environ, TERM="xterm", PYTHONPATH="scripts",
                     COLUMNS="80", LINES="24"), cwd=PROJECT) as proc:
        os.close(child)
        data, sent = b"", False
        while chunk := read_some(parent):
            data += chunk
            if not sent and data.count(b"bound by") >= 3:
                os.write(parent, end)
                sent = True
        assert proc.wait(LIMIT_S) == 0, data
    os.close(parent)
    assert data.index(b"\x1b[?1049h") < data.index(b"lateness")
    assert data.rindex(b"\x1b[?1049l") > data.rindex(b"lateness")


def own_terminal() -> None:
    """Of the new session: standard input.  A job in the background of a shell
    ignores interrupts, and so would its children."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def read_some(fd: int) -> bytes:
    """What a terminal shows next; nothing when its last user has ended."""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


def test_watch(drive: NvmeHost, capsys: pytest.CaptureFixture[str]) -> None:
    """Several readings; another command finds the monitor free meanwhile."""
    lines = [json.loads(x) for x in vssd(
        capsys, "stat", "--json", "requests", "--watch", "0.05", "--count",
        "3").splitlines()]
    assert [x["requests"] for x in lines] == [lines[0]["requests"]] * 3
    assert lines[0]["time_s"] < lines[2]["time_s"]
    assert lines[0]["rates"] == {}, "no time has passed"
    table = list(csv.reader(io.StringIO(vssd(
        capsys, "stat", "--csv", "gc", "--watch", "0.05", "--count", "2"))))
    assert len(table) == 3 and len({len(x) for x in table}) == 1


# ---- Prometheus ---------------------------------------------------------------

def test_metrics(drive: NvmeHost, capsys: pytest.CaptureFixture[str]) -> None:
    """What Prometheus' own parser reads: units, labels, kinds; all names are
    those that the dashboard may use."""
    from prometheus_client.parser import text_string_to_metric_families

    text = vssd(capsys, "metrics", "--once")
    samples = {(s.name, *sorted(s.labels.items())): s.value
               for f in text_string_to_metric_families(text) for s in f.samples}
    assert {key[0] for key in samples} <= metrics.names()
    stats = json.loads(vssd(capsys, "stat", "--json"))
    where = [("drive", "ssd")]
    run = next(v for key in samples for k, v in key[1:] if k == "run")

    def of(name: str, **labels: str) -> float:
        every = sorted([*where, ("run", run), *labels.items()])
        return samples[(name, *every)]

    assert of("vssd_up") == 1
    assert of("vssd_host_bytes_written_total") == stats["host_bytes_written"]
    assert of("vssd_latency_p99_seconds", op="write") == pytest.approx(
        stats["latency_ns"]["write"]["p99"] / 1e9)
    assert of("vssd_nand_busy_die_seconds_total", die="1") == pytest.approx(
        stats["nand"]["busy_ns"]["die"][1] / 1e9)
    assert of("vssd_explain_bound_by", value=stats["explain"]["bound_by"]) == 1
    assert "# TYPE vssd_gc_victims_blocks_total counter" in text
    assert "# TYPE vssd_gc_free_blocks gauge" in text


def test_metrics_server(drive: NvmeHost) -> None:
    """Over HTTP; a drive that does not answer is down, and ends nothing."""
    found = cmd_metrics.drives(None)
    assert [d.name for d in found] == ["ssd"]
    gone = source.Drive(found[0].machine, "gone")
    server, port = metrics.serve(
        metrics.Collector(lambda: [*found, gone]), "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/metrics", timeout=LIMIT_S) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    up = {x.split('drive="')[1].split('"')[0]: x.split()[-1]
          for x in text.splitlines() if x.startswith("vssd_up{")}
    assert up == {"ssd": "1.0", "gone": "0.0"}


# ---- report -------------------------------------------------------------------

def test_report_of_a_guest(drive: NvmeHost, tmp_path: Path,
                           capsys: pytest.CaptureFixture[str]) -> None:
    """The drive as it is now; two readings of it, one from a file."""
    run = cmd_metrics.drives(None)[0].run
    kept = tmp_path / "kept.json"
    kept.write_text(vssd(capsys, "stat", "--json"))
    page = tmp_path / "page.html"
    vssd(capsys, "report", run, str(kept), "-o", str(page))
    runs = data_of(page)["runs"]
    assert [one["name"] for one in runs] == [f"{run} ssd", "kept"]
    assert [one["data"]["host_bytes_written"] for one in runs] == [16 * 32 * KIB] * 2
    assert [one["commands"] for one in runs] == [None, None]
    compared = json.loads(vssd(capsys, "compare", "--json", str(kept),
                               str(kept)))
    assert compared["differs"] == []
