# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/suites: what the suites say is read rightly, and what a user gives
wrongly is refused in one line.  The suites themselves are not here: the texts
below are made up in their form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from suites import public, run, target

from vssd import paths
from vssd.errors import UserError


def test_blktests_says_pass_fail_and_skip() -> None:
    """Each state, and the reason: what the output has too much, or why not."""
    passed = public.blktests_rows("block/003", (
        "block/003 => nvme0n1 (run various discard sizes)\n"
        "    runtime   ...\n"
        "block/003 => nvme0n1 (run various discard sizes)         [passed]\n"
        "    runtime     ...  30.1s\n"))
    assert [(r.name, r.result) for r in passed] == [("block/003", "pass")]
    failed = public.blktests_rows("block/012", (
        "block/012 => nvme0n1 (check [a thing])                   [failed]\n"
        "    runtime     ...  1.1s\n"
        "    --- tests/block/012.out\n"
        "    +++ /root/results/block/012.out.bad\n"
        "    @@ -1,3 +1,4 @@\n"
        "     Running block/012\n"
        "    +fio exited with status 1\n"
        "     Test complete\n"))
    assert [(r.result, r.reason) for r in failed] \
        == [("fail", "fio exited with status 1")]
    skipped = public.blktests_rows("block/007", (
        "block/007 => nvme0n1 (test polling)                      [not run]\n"
        "    nvme0n1 does not support hybrid polling\n"))
    assert [(r.result, r.reason) for r in skipped] \
        == [("skip", "nvme0n1 does not support hybrid polling")]


def test_blktests_with_two_conditions_has_two_rows() -> None:
    """A failure of the second is not lost behind the first."""
    rows = public.blktests_rows("nvme/033", (
        "nvme/033 => nvme0n1 (tr=loop) (create)                   [passed]\n"
        "    runtime     ...  1.1s\n"
        "nvme/033 => nvme0n1 (tr=tcp) (create)                    [failed]\n"
        "    exited with status 1\n"))
    assert [(r.name, r.result, r.reason) for r in rows] == [
        ("nvme/033 loop", "pass", ""),
        ("nvme/033 tcp", "fail", "exited with status 1")]


@pytest.mark.parametrize("read", [public.blktests_rows, public.nvme_cli_rows,
                                  public.fio_rows])
def test_silence_is_a_failure(read: object) -> None:
    """A suite that ends without a result has not passed."""
    assert callable(read)
    for text in ("", "bash: ./check: No such file or directory\n"):
        rows = read("one", text)
        assert [r.result for r in rows] == ["fail"]


def test_nvme_cli_report() -> None:
    """A row for each method; an error is a failure."""
    rows = public.nvme_cli_rows("nvme_dsm_test", json.dumps({"tests": [
        {"name": "test_dsm", "outcome": "pass", "duration_s": 1.5,
         "message": None},
        {"name": "test_two", "outcome": "error", "duration_s": 0,
         "message": "Traceback\n  File x\nAssertionError: 1 != 0\n"},
        {"name": "test_three", "outcome": "skip", "duration_s": 0,
         "message": "Compare is not supported"}]}))
    assert [(r.name, r.result, r.reason) for r in rows] == [
        ("nvme_dsm_test.test_dsm", "pass", ""),
        ("nvme_dsm_test.test_two", "fail", "AssertionError: 1 != 0"),
        ("nvme_dsm_test.test_three", "skip", "Compare is not supported")]


def test_commands_that_nvme_2_lacks(tmp_path: Path) -> None:
    """Host Behavior Support goes by feature 16h: one byte changes, and the
    answer has the form of version 3.  The rest goes to nvme as it is."""
    feature = tmp_path / "feature"
    before = bytes(range(1, 129)) * 4
    feature.write_bytes(before)
    nvme = tmp_path / "nvme"
    nvme.write_text(f"""#!/bin/sh
case "$*" in
"get-feature /dev/nvme0 -f 0x16 -l 512 -b") cat {feature} ;;
"set-feature /dev/nvme0 -f 0x16 -l 512 -d "*) cat "$8" > {feature} ;;
*) echo "nvme $*" ;;
esac
""")
    nvme.chmod(0o755)
    shim = tmp_path / "nvme-2"
    script = public.NVME_CLI_PREPARE.replace("/usr/local/bin", str(tmp_path))
    subprocess.run(["sh", "-e", "-c", script], check=True)

    def said(*args: str) -> str:
        return subprocess.run(
            [shim, *args], check=True, capture_output=True, text=True,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}",
                 "TMPDIR": str(tmp_path)}).stdout

    def formats() -> list[str]:
        found = json.loads(said("feat", "host-behavior-support", "/dev/nvme0",
                                "--output-format=json"))
        fields, = found["Feature: 0x16"]
        return [fields[f"Copy Descriptor Format {i}h Enable (CDF{i}E)"]
                for i in (2, 3, 4)]

    assert formats() == ["True", "False", "False"]      # 5
    said("feat", "host-behavior-support", "/dev/nvme0", "--cdfe=24")
    assert formats() == ["False", "True", "True"]
    assert feature.read_bytes() == before[:4] + bytes([24]) + before[5:]
    assert said("ns", "get-id", "/dev/x") == "nvme get-ns-id /dev/x\n"
    assert said("copy", "/dev/x") == "nvme copy /dev/x\n"


def test_fio_lines() -> None:
    """The complaint before a FAILED line belongs to that test."""
    rows = public.fio_rows("fdp", (
        "Artifact directory is out\nfio path is /usr/bin/fio\n"
        "Test 1 PASSED 1\n"
        "ERROR:root:RUAMW mismatch\nTest 2 FAILED:  2\n"
        "Test 3 PASSED 3\n2 test(s) passed, 1 failed, 0 skipped\n"))
    assert [(r.name, r.result, r.reason) for r in rows] == [
        ("fdp 1", "pass", ""), ("fdp 2", "fail", "ERROR:root:RUAMW mismatch"),
        ("fdp 3", "pass", "")]


def test_arguments_of_the_drive(tmp_path: Path) -> None:
    """The same block size and number of handles for both devices."""
    setup = target.Setup("vssd", tmp_path, 1 << 30,
                         paths.find_profile("zero-latency"), ["a=1", "b=2"],
                         4096)
    ours = " ".join(target.device_args(setup, tmp_path / "d"))
    assert '"logical_block_size": 4096' in ours and '"a=1;b=2"' in ours
    setup.kind, setup.fdp_handles = "nvme", 8
    theirs = " ".join(target.device_args(setup, tmp_path / "d"))
    # QEMU refuses physical blocks that are smaller.
    assert '"logical_block_size": 4096, "physical_block_size": 4096' in theirs
    assert "fdp.nruh=8" in theirs and '"fdp.ruhs": "0-7"' in theirs
    assert "a=1" not in theirs


def test_table(tmp_path: Path) -> None:
    """A column for each run; a bar in a reason does not end the cell."""
    names = []
    for kind in ("vssd", "nvme"):
        rows = [{"name": "block/004", "result": "fail", "reason": "a|b",
                 "dead": "no capacity" if kind == "nvme" else ""}]
        path = tmp_path / kind
        path.write_text(json.dumps([{"device": kind, "block_bytes": 512,
                                     "rows": rows}]))
        names.append(path)
    lines = run.table(names).splitlines()
    assert lines[0] == "| test | vssd (512 B) | nvme (512 B) |"
    assert lines[2] == ("| block/004 | fail: a\\|b |"
                        " fail: a\\|b; afterwards: no capacity |")


@pytest.mark.parametrize("args, said", [
    (["blktests", "--dir", "nowhere"], "no checkout of blktests"),
    (["blktests", "--dir", ".", "block/003"], "has no check"),
    (["table", "nowhere"], "nowhere"),
])
def test_refused_in_one_line(args: list[str], said: str, tmp_path: Path) \
        -> None:
    """Before anything is built or booted."""
    done = subprocess.run(
        [sys.executable, paths.PROJECT / "tests/suites/run.py", *args],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1 and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_unknown_test_is_refused(tmp_path: Path) -> None:
    """A name with a slip runs nothing."""
    (tmp_path / "check").touch()
    args = run.parser().parse_args(["blktests", "--dir", str(tmp_path),
                                    "block/3"])
    with pytest.raises(UserError, match="block/3: no test of blktests"):
        run.check(args)


# The runner with a guest that is none: one test passes, the next never ends.
ENDLESS = """
import sys, time
from pathlib import Path
from suites import public, run, target
from vssd import ending

class Stub:
    def __init__(self, setup, work):
        self.setup = setup
    def __enter__(self):
        (self.setup.folder / "drive.raw").write_bytes(b"x")
        return self
    def __exit__(self, *_):
        pass
    def run(self, command):
        return ""
    def device(self):
        return "/dev/nvme0n1"
    def timed(self, command, limit):
        if "block/004" in command:
            print("busy", flush=True)
            # A signal right before a long wait is only seen after it.
            for _ in range(6000):
                time.sleep(0.05)
        text = b"block/003 => nvme0n1 (x)  [passed]"
        return target.machine.Result(0, text, b""), 1.0
    def complaints(self):
        return []
    def trouble(self):
        return ""
    def versions(self):
        return {"kernel": "6.12", "host_fs": "ext4"}

target.Target = Stub
sys.exit(ending.run(lambda: run.main(sys.argv[1:])))
"""


@pytest.mark.parametrize("number, status", [
    (signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_signal_leaves_no_image(number: int, status: int, tmp_path: Path) \
        -> None:
    """The results so far are kept; what SIGKILL leaves, the next run removes.
    Files of the user's stay."""
    checkout, images = tmp_path / "checkout", tmp_path / "images"
    checkout.mkdir()
    images.mkdir()
    (checkout / "check").touch()
    (images / "vssd-run.raw").touch()
    found = tmp_path / "found.json"
    args = ["blktests", "--dir", str(checkout), "--images", str(images),
            "--json", str(found), "block/003", "block/004"]
    path = os.pathsep.join((str(paths.PROJECT / "scripts"),
                            str(paths.PROJECT / "tests")))

    def begin() -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, *args], text=True,
            env={**os.environ, "PYTHONPATH": path,
                 "VSSD_CACHE": str(tmp_path / "cache")}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Whoever runs the tests in the background ignores SIGINT.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        assert child.stdout
        said = [child.stdout.readline(), child.stdout.readline()]
        assert said[0].startswith("pass vssd block/003") and \
            said[1] == "busy\n"
        return child

    with begin() as child:
        assert len(list(images.glob("*/drive.raw"))) == 1
        child.send_signal(number)
        out, err = child.communicate(timeout=300)
    assert child.returncode == status and "Traceback" not in err
    if number == signal.SIGKILL:
        assert len(list(images.glob("*/drive.raw"))) == 1
        with begin() as child:
            left = len(list(images.glob("*/drive.raw")))
            child.terminate()
            child.communicate(timeout=300)
        assert left == 1
    else:
        assert "1 pass, 0 fail, 0 skip, 0 hang, 1 not run" in out
    assert [p.name for p in images.iterdir()] == ["vssd-run.raw"]
    (one,) = json.loads(found.read_text())
    assert [r["name"] for r in one["rows"]] == ["block/003"]
    assert one["not_run"] == ["block/004"]
