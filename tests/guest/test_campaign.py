# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd powercut campaign: programs that survive, and planted errors that it
finds (docs/powercut-campaign.md).

The short form has three programs in one guest, two of them with an error.  With
--long the same cuts are repeated, also in guests that run at the same time, and
each program has each mode and file system of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from long_form import LONG, START, of_part

from conftest import vssd
from vssd import paths
from vssd.campaign.durable import Log

EXAMPLES = paths.PROJECT / "guest-tools/powercut/examples"
SQLITE = "python3 $VSSD_FILES/sqlite_rows.py"
FILES = "python3 $VSSD_FILES/files.py"
LEVELDB = "python3 $VSSD_FILES/leveldb_rows.py"
PAGES = "python3 $VSSD_FILES/pages.py"


def command(folder: Path, *options: str) -> list[str]:
    """Arguments of a campaign that keeps its files there."""
    return ["powercut", "campaign", "--json", "--output", str(folder),
            *(x for name in sorted(EXAMPLES.glob("[!t]*.py"))
              for x in ("--files", str(name))), *options]


def emulators_of(pid: int) -> int:
    """Processes of QEMU's emulator below this one."""
    count, left = 0, [pid]
    while left:
        proc = Path(f"/proc/{left.pop()}")
        try:
            count += proc.joinpath("comm").read_text().startswith("qemu-system")
            left += [int(x) for task in proc.glob("task/*/children")
                     for x in task.read_text().split()]
        except OSError:  # it has ended
            continue
    return count


def campaign(folder: Path, *options: str, found: bool) -> dict[str, Any]:
    """Run one; does it find a violation?  Its JSON."""
    done = vssd(*command(folder, *options), timeout_s=5400)
    assert done.returncode == int(found), done.stderr + done.stdout[:3000]
    result: dict[str, Any] = json.loads(done.stdout)
    for row in result["rows"]:
        print(row["cut"], row["instant_ns"], row["ok"], row["notes"],
              row["text"][:200])
    assert len({row["instant_ns"] for row in result["rows"]}) \
        == len(result["rows"])
    return result


def several(**programs: str) -> tuple[str, str]:
    """Commands that write and check with several programs at a time, each in a
    folder and with the promises of its own."""
    write = "".join(f"mkdir {name}; (cd {name}; {program} |"
                    f" while read -r x; do echo {name} $x; done) &\n"
                    for name, program in programs.items()) + "wait"
    check = "status=0; all=$VSSD_NOTES\n" + "".join(
        f"export VSSD_NOTES=/run/{name}; sed -n 's/^{name} //p' $all"
        f" >$VSSD_NOTES; (mkdir -p {name}; cd {name};"
        f" {program.split(' write')[0]} check 2>&1 | sed 's/^/{name}: /' |"
        f" grep .) && status=1\n"
        for name, program in programs.items()) + "exit $status"
    return write, check


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) \
        -> tuple[Path, list[str], dict[str, Any]]:
    """A campaign with three programs, two of which have an error: its folder,
    its programs, its result."""
    folder = tmp_path_factory.mktemp("planted") / "1"
    write, check = several(sound=f"{SQLITE} write wal full",
                           off=f"{SQLITE} write delete off",
                           rename=f"{FILES} write both")
    options = ["--write", write, "--check", check, "--cuts", "8", "--seconds",
               "8"]
    return folder, options, campaign(folder, *options, found=True)


@of_part(*START, "scripts/vssd/campaign/", "scripts/vssd/cli/powercut*.py", "ftl/power/",
         "ftl/buffer/")
def test_planted_errors(planted: tuple[
        Path, list[str], dict[str, Any]]) -> None:
    """SQLite that syncs has no loss; SQLite without, and renames without fsync,
    have."""
    folder, _, result = planted
    said = " ".join(row["text"] for row in result["rows"])
    assert "off: " in said and "rename: " in said and "sound: " not in said
    assert max(row["notes"] for row in result["rows"]) > 30
    bad = next(row for row in result["rows"] if not row["ok"])
    assert (folder / f"cut{bad['cut']}.img").exists()
    assert bad["replay"].startswith("./vssd powercut campaign ")
    log = Log(folder / "durable.log")
    assert any(r.changes for r in log.records)
    log.close()


@LONG
def test_replay(tmp_path: Path, planted: tuple[
        Path, list[str], dict[str, Any]]) -> None:
    """The printed command repeats the first violation, from a recorded run that
    is the same to the byte."""
    folder, _, result = planted
    bad = next(row for row in result["rows"] if not row["ok"])
    words = shlex.split(bad["replay"])
    done = vssd(*words[1:], "--json", "--output", str(tmp_path / "2"))
    assert done.returncode == 1, done.stderr
    again = json.loads(done.stdout)["rows"]
    assert [(row["instant_ns"], row["ok"], row["notes"], row["text"])
            for row in again] == [(bad["instant_ns"], False, bad["notes"],
                                   bad["text"])]
    for name in ("durable.log", "notes.log"):
        assert (folder / name).read_bytes() \
            == (tmp_path / "2" / name).read_bytes()


@LONG
def test_jobs(tmp_path: Path, planted: tuple[
        Path, list[str], dict[str, Any]]) -> None:
    """Guests that check at the same time, each some of the cuts, give the
    verdicts of one guest."""
    folder, options, one = planted
    most = 0
    with (tmp_path / "out").open("w+") as out, subprocess.Popen(
            [str(paths.PROJECT / "vssd"), *command(
                tmp_path / "2", *options, "--recorded", str(folder), "--jobs",
                "2")], stdin=subprocess.DEVNULL, stdout=out) as proc:
        while proc.poll() is None:
            most = max(most, emulators_of(proc.pid))
            time.sleep(0.1)
        assert proc.returncode == 1
        out.seek(0)
        found = json.load(out)
    assert most == 2

    def verdicts(result: dict[str, Any]) -> list[tuple[object, ...]]:
        return [(row["cut"], row["instant_ns"], row["ok"], row["notes"],
                 row["text"]) for row in result["rows"]]

    assert verdicts(found) == verdicts(one)
    assert len({row["ok"] for row in one["rows"]}) == 2  # both kinds


@LONG
@pytest.mark.parametrize("journal, synchronous, found", [
    ("delete", "extra", False), ("truncate", "full", False),
    ("wal", "full", False), ("delete", "off", True), ("wal", "off", True)])
def test_sqlite(tmp_path: Path, journal: str, synchronous: str,
                found: bool) -> None:
    """Each journal; synchronous=OFF loses what was committed."""
    result = campaign(tmp_path / "out", "--write",
                      f"{SQLITE} write {journal} {synchronous}", "--check",
                      f"{SQLITE} check", "--cuts", "32", "--seconds", "12",
                      found=found)
    print(result["violations"], "of", len(result["rows"]))


@LONG
@pytest.mark.parametrize("found", [False, True], ids=["sync", "nosync"])
def test_leveldb(tmp_path: Path, found: bool) -> None:
    """Writes with sync; without, keys are lost."""
    result = campaign(tmp_path / "out", "--packages", "python3-plyvel",
                      "--write", f"{LEVELDB} write" + " nosync" * found,
                      "--check", f"{LEVELDB} check", "--cuts", "32",
                      "--seconds", "12", found=found)
    print(result["violations"], "of", len(result["rows"]))


@LONG
@pytest.mark.parametrize("at", ["random", "flush"])
@pytest.mark.parametrize("fs", ["ext4", "xfs", "f2fs", "btrfs"])
def test_file_systems(tmp_path: Path, fs: str, at: str) -> None:
    """Files that were synced, their folders and renames; then fsck."""
    campaign(tmp_path / "out", "--fs", fs, "--write", f"{FILES} write",
             "--check", f"{FILES} check", "--cuts", "32", "--seconds", "12",
             "--at", at, found=False)


@LONG
@pytest.mark.parametrize("fs", ["ext4", "xfs", "f2fs", "btrfs"])
def test_no_fsync(tmp_path: Path, fs: str) -> None:
    """A program that renames without fsync loses files everywhere."""
    campaign(tmp_path / "out", "--fs", fs, "--write", f"{FILES} write both",
             "--check", f"{FILES} check", "--cuts", "16", "--seconds", "12",
             found=True)


@LONG
def test_drive_that_ignores_flushes(tmp_path: Path) -> None:
    """Programs without an error, a drive with one."""
    campaign(tmp_path / "out", "--write", f"{FILES} write", "--check",
             f"{FILES} check", "--cuts", "16", "--seconds", "12", "--drive",
             "tlc-generic,buffer.policy=lru,buffer.ignore_flush=on", found=True)


@LONG
@pytest.mark.parametrize("promises, torn", [("", {"large"}),
                                            (",atomic.nawupf=0",
                                             {"small", "large"})],
                         ids=["unit", "block"])
def test_torn_pages(tmp_path: Path, promises: str, torn: set[str]) -> None:
    """A program that trusts pages to be whole: a mapping unit is, two are not;
    nor is a unit of a drive that promises 512 bytes."""
    write, check = several(small=f"{PAGES} write 4096",
                           large=f"{PAGES} write 16384")
    result = campaign(tmp_path / "out", "--drive",
                      f"tlc-generic,buffer.policy=lru{promises}",
                      "--write", write, "--check", check, "--cuts", "24",
                      "--seconds", "6", found=True)
    said = " ".join(row["text"] for row in result["rows"])
    assert {name for name in ("small", "large") if f"{name}: " in said} == torn


@LONG
def test_ignored_flushes(tmp_path: Path) -> None:
    """SQLite that syncs loses rows on a drive that ignores a fifth of the
    Flushes, by a rule."""
    rules = tmp_path / "rules"
    rules.write_text("cmd=flush prob=0.2 -> ignore-flush\n")
    result = campaign(tmp_path / "out", "--drive", "tlc-generic,"
                      f"buffer.policy=lru,faults={rules}", "--at", "flush",
                      "--write", f"{SQLITE} write wal full", "--check",
                      f"{SQLITE} check", "--cuts", "32", "--seconds", "6",
                      found=True)
    assert "committed rows lost" in " ".join(
        row["text"] for row in result["rows"])


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options for log_rows in Rust and in Go, as `rs` and `go` in $VSSD_FILES."""
    if not shutil.which("rustc") or not shutil.which("go"):
        pytest.skip("no rustc or no go")
    folder = tmp_path_factory.mktemp("logs")
    subprocess.run(["rustc", "-O", "--edition", "2021", "-D", "warnings", "-o", folder / "rs",
                    EXAMPLES / "log_rows.rs"], check=True)
    subprocess.run(["go", "build", "-o", folder / "go", EXAMPLES / "log_rows.go"], check=True,
                   env={**os.environ, "CGO_ENABLED": "0"})
    return ["--files", str(folder / "rs"), "--files", str(folder / "go")]


@LONG
def test_logs_in_rust_and_go(tmp_path: Path, logs: list[str]) -> None:
    """Without their sync they lose rows, with it none."""
    write, check = several(**{
        f"{lang}{mode}": f"$VSSD_FILES/{lang} write {mode}".strip()
        for lang in ("rs", "go") for mode in ("", "nosync")})
    result = campaign(tmp_path / "out", *logs, "--write", write, "--check", check,
                      "--cuts", "8", "--seconds", "4", found=True)
    said = " ".join(row["text"] for row in result["rows"])
    assert {name for name in ("rs", "go", "rsnosync", "gonosync")
            if f"{name}: " in said} == {"rsnosync", "gonosync"}


@LONG
def test_ignored_fua(tmp_path: Path, logs: list[str]) -> None:
    """A log that syncs loses rows on a drive that ignores FUA, by a rule: the commit
    block of ext4's journal is written with it."""
    rules = tmp_path / "rules"
    rules.write_text("cmd=write -> ignore-fua\n")
    result = campaign(tmp_path / "out", *logs, "--drive",
                      f"tlc-generic,buffer.policy=lru,faults={rules}", "--at", "flush",
                      "--write", "$VSSD_FILES/rs write", "--check", "$VSSD_FILES/rs check",
                      "--cuts", "16", "--seconds", "4", found=True)
    assert "durable rows is lost" in " ".join(row["text"] for row in result["rows"])


@LONG
@pytest.mark.usefixtures("planted")  # all is built
def test_deleted_fsync_in_two_minutes(tmp_path: Path) -> None:
    """Of CPU time; one process at a time has work."""
    before = os.times()
    campaign(tmp_path / "out", "--write", f"{FILES} write both", "--check",
             f"{FILES} check", "--cuts", "10", "--seconds", "3", found=True)
    after = os.times()
    used_s = after.children_user + after.children_system \
        - before.children_user - before.children_system
    print(f"{used_s:.0f} s of CPU time")
    assert 10 < used_s < 120
