# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd streams without a guest: refusals, the guest's commands, the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.streams import bench, load, report, ways

STREAMS = """\
stream id open host_bytes host_units padded copied erases victims victim_valid nand_bytes waf
0 - 1 4096 1 3 0 0 0 0 16384 4.000
1 7 1 409600 100 0 50 2 2 50 614400 1.500
other - 0 0 0 0 0 0 0 0 8192 -
all - 2 413696 101 3 50 2 2 50 638976 1.545
"""
BLOCKS = """\
stream    block where     units file
     7       12 alone        60 /mnt/a b
     7       13 shared        4 /mnt/a b
     -        - buffer        2 /mnt/c
"""


def refusal(*argv: str) -> str:
    """What the check of the arguments says."""
    args = cli.parser().parse_args(["streams", *argv])
    with pytest.raises(UserError) as e:
        args.check_arguments(args)
    return str(e.value)


@pytest.mark.parametrize("argv, said", [
    (("--fs", "ext4", "--by", "ioctl"),
     "--fs ext4: ioctl gives no streams there; allowed xfs"),
    (("--fs", "f2fs", "--by", "fadvise"),
     "--fs f2fs: fadvise gives no streams there; allowed ext4, xfs, raw"),
    (("--by", "fdp-f2fs"), "--fs xfs: fdp-f2fs gives no streams there"),
    (("--streams", "2"), "--streams 2: allowed 3..63"),
    (("--suite", "bullseye", "--streams", "3"),
     "--streams 3: Linux uses no drive with fewer than 4 by hint"),
    (("--kernel", "no-such-kernel"), "--kernel no-such-kernel: no such file"),
    (("--rule", "a=1"), "--rule needs --fio or COMMAND"),
    (("--rule", "a=5", "--", "true"), "--rule a=5: allowed streams 1..4"),
    (("--rule", "a", "--", "true"), "--rule a: give GLOB=STREAM"),
    (("--fs", "raw", "--rule", "a=1", "--", "true"), "--rule: not with uring"),
    (("--fio", "/no/file"), "--fio /no/file: No such file"),
    (("--fio", "x", "--fs", "raw"), "--fio: fio has no write streams"),
    (("--fio", "x", "--", "true"), "--fio and COMMAND exclude each other"),
    (("--writes", "-1"), "--writes -1: allowed 0..1000"),
    (("--set", "x"), "--set x: give KEY=VALUE"),
    (("--seed", "0"), "--seed 0: allowed 1.."),
])
def test_refusals(argv: tuple[str, ...], said: str) -> None:
    """Each in one line, before anything is built."""
    assert refusal(*argv).startswith(said)


def test_the_usual_way() -> None:
    """What a kernel and a file system have."""
    def way(*argv: str) -> str:
        args = cli.parser().parse_args(["streams", *argv])
        args.check_arguments(args)
        return str(args.way.name)
    assert way("--fs", "f2fs") == "fdp-f2fs"
    assert way("--fs", "raw") == "uring"
    assert way("--suite", "bullseye") == "hint"
    assert way() == "fadvise"


def test_drives_are_equal() -> None:
    """F2FS places data whether it is asked or not: one handle holds it then."""
    assert ways.drives(ways.WAYS["fadvise"], 4) == ("streams.max=4",) * 2
    assert ways.drives(ways.WAYS["fdp-f2fs"], 4) == ("fdp.ruhs=1", "fdp.ruhs=4")


def test_commands_of_the_guest() -> None:
    """The churn gives streams by itself, streamrun gives them to the others."""
    churn = load.Load(30, 90, 7)
    fadvise, f2fs = ways.WAYS["fadvise"], ways.WAYS["fdp-f2fs"]
    assert load.script(churn, fadvise, "/mnt", True) == \
        "streamchurn -m fadvise -p 30 -w 90 -s 7 /mnt"
    assert "-m none" in load.script(churn, fadvise, "/mnt", False)
    assert "-m temperature" in load.script(churn, f2fs, "/mnt", False)
    own = load.Load(command="x 'y'", rules=("*.log=2",))
    assert load.script(own, fadvise, "/mnt", True) == (
        "env TARGET=/mnt STREAMS=1 streamrun -m fadvise -r '/mnt/*.log=2' --"
        " sh -c 'x '\"'\"'y'\"'\"''")
    assert load.script(own, fadvise, "/mnt", False) == \
        "env TARGET=/mnt STREAMS=0 sh -c 'x '\"'\"'y'\"'\"''"
    fio = load.Load(fio="[a]")
    assert "--directory=/mnt " in load.script(fio, fadvise, "/mnt", True)
    assert "--filename=/dev/x " in load.script(fio, fadvise, "/dev/x", True)


def test_streams_of_jobs() -> None:
    """In the order of the file; no more than there are."""
    text = "[global]\nrw=write\n[log]\n[data]\n"
    assert load.rules_of_jobs(text, 4) == ("log.*=1", "data.*=2")
    with pytest.raises(UserError, match="2 jobs and --streams 1"):
        load.rules_of_jobs(text, 1)
    with pytest.raises(UserError, match="no job"):
        load.rules_of_jobs("[global]", 4)


def made_run() -> report.Run:
    """One run as the guest's programs print it."""
    run = report.Run(report.read_rows(STREAMS), report.read_files(BLOCKS))
    report.count_files(run)
    return run


def test_rows() -> None:
    """By the host's number; write amplification is NAND per host bytes."""
    rows = made_run().rows
    assert list(rows) == ["-", "7", "other", "all"]
    assert rows["7"] == report.Row("7", 409600, 614400, 1)
    assert rows["7"].waf == 1.5 and rows["other"].waf is None
    assert sum(r.nand_bytes for n, r in rows.items() if n != "all") \
        == rows["all"].nand_bytes
    later = report.since(rows, {"7": report.Row("7", 9600, 14400)})
    assert (later["7"].host_bytes, later["7"].nand_bytes) == (400000, 600000)
    assert later["-"].host_bytes == 4096


def test_files() -> None:
    """Erase blocks of each file; those that share one are not apart."""
    run = made_run()
    assert run.files["/mnt/a b"] == [
        report.Part("7", 12, True, 60), report.Part("7", 13, False, 4)]
    assert run.apart() == 1  # the one in the buffer
    assert report.places(run, 1) == [
        "/mnt/a b: 7; erase blocks 12, 13*",
        "... and 1 more (--json FILE)"]


def test_side_by_side() -> None:
    """A stream that one run lacks has empty cells there."""
    none = report.Run({"all": report.Row("all", 10**6, 2 * 10**6)})
    cells = report.cells((none, made_run()))
    assert [row[0] for row in cells] == ["7", "none", "other", "all"]
    assert cells[0] == ["7", "", "", "", "", "0.4", "0.6", "1.500", "1"]
    assert cells[3][:5] == ["all", "1.0", "2.0", "2.000", "0"]
    said = report.as_json((none, made_run()), {"fs": "xfs"})
    assert said["fs"] == "xfs" and said["with"]["files_apart"] == 1
    assert said["with"]["rows"][0] == {
        "handle": "7", "host_bytes": 409600, "nand_bytes": 614400, "files": 1,
        "waf": 1.5}


class FakeGuest:
    """Answers the commands of a check."""

    def __init__(self, answers: dict[str, tuple[int, bytes, bytes]]) -> None:
        self.answers = answers

    def result(self, command: str, timeout_s: float = 1) -> Any:
        """As Guest.result(); no command here waits."""
        assert timeout_s > 0
        for start, answer in self.answers.items():
            if command.startswith(start):
                return type("Result", (), dict(zip(("status", "out", "err"),
                                                   answer)))
        raise AssertionError(command)


def a_bench(way: str, fs: str) -> bench.Bench:
    """Nothing of it is started."""
    return bench.Bench(ways.WAYS[way], fs, load.Load(), Path("p.ini"), [], 4,
                       None, "trixie", "", 1024, False)


def test_a_kernel_without_the_way() -> None:
    """One line: what is missing, and which kernel has it."""
    guest: Any = FakeGuest({
        "streamchurn": (2, b"", b"streamchurn: /mnt: this kernel has no ioctl"
                        b" for streams there\n"),
        "cat": (0, b"", b""), "uname": (0, b"6.12.1\n", b"")})
    with pytest.raises(UserError) as e:
        bench._check_way(guest, a_bench("ioctl", "xfs"), "/dev/nvme1n1", "/mnt")
    assert str(e.value) == ("--by ioctl: /mnt: this kernel has no ioctl for"
                            " streams there; use ./vssd kernel build, then"
                            " --kernel streams")
    with pytest.raises(UserError) as e:
        bench._check_way(guest, a_bench("uring", "raw"), "/dev/nvme1n1", "")
    assert str(e.value) == ("--by uring: Linux 6.12.1 has 0 write streams for"
                            " the drive; use --suite trixie-backports")


def test_a_file_system_that_does_not_place() -> None:
    """Write streams of the kernel, and F2FS uses one."""
    run = report.Run({"0": report.Row("0", 5), "1": report.Row("1", 0)})
    with pytest.raises(UserError, match="f2fs of Linux 6.16 wrote all data to"
                       " one handle"):
        bench._check_placed(a_bench("fdp-f2fs", "f2fs"), run, "6.16")
    bench._check_placed(a_bench("uring", "raw"), run, "6.16")
    run.rows["1"].host_bytes = 1
    bench._check_placed(a_bench("fdp-f2fs", "f2fs"), run, "7.3")
