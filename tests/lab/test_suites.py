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
from suites import run

from vssd import paths
from vssd.build import aptsrc
from vssd.errors import UserError
from vssd_lab.bench import conformance
from vssd_lab.suites import blktests, fio, nvme_cli, runner, sources, target
from vssd_lab.suites.suite import Form


def test_blktests_says_pass_fail_and_skip() -> None:
    """Each state, and the reason: what the output has too much, or why not."""
    passed = blktests.rows("block/003", (
        "block/003 => nvme0n1 (run various discard sizes)\n"
        "    runtime   ...\n"
        "block/003 => nvme0n1 (run various discard sizes)         [passed]\n"
        "    runtime     ...  30.1s\n"))
    assert [(r.name, r.result) for r in passed] == [("block/003", "pass")]
    failed = blktests.rows("block/012", (
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
    skipped = blktests.rows("block/007", (
        "block/007 => nvme0n1 (test polling)                      [not run]\n"
        "    nvme0n1 does not support hybrid polling\n"))
    assert [(r.result, r.reason) for r in skipped] \
        == [("skip", "nvme0n1 does not support hybrid polling")]


def test_blktests_skips_before_it_takes_a_device() -> None:
    """No device is named then."""
    row, = blktests.rows("md/003", (
        "md/003 (test md atomic writes for NVMe drives)           [not run]\n"
        "    Kernel version is older than 6.14.0\n"))
    assert (row.name, row.result, row.reason) == (
        "md/003", "skip", "Kernel version is older than 6.14.0")


def test_blktests_with_two_conditions_has_two_rows() -> None:
    """A failure of the second is not lost behind the first."""
    rows = blktests.rows("nvme/033", (
        "nvme/033 => nvme0n1 (tr=loop) (create)                   [passed]\n"
        "    runtime     ...  1.1s\n"
        "nvme/033 => nvme0n1 (tr=tcp) (create)                    [failed]\n"
        "    exited with status 1\n"))
    assert [(r.name, r.result, r.reason) for r in rows] == [
        ("nvme/033 loop", "pass", ""),
        ("nvme/033 tcp", "fail", "exited with status 1")]


@pytest.mark.parametrize("read", [blktests.rows, nvme_cli.rows,
                                  fio.rows])
def test_silence_is_a_failure(read: object) -> None:
    """A suite that ends without a result has not passed."""
    assert callable(read)
    for text in ("", "bash: ./check: No such file or directory\n"):
        rows = read("one", text)
        assert [r.result for r in rows] == ["fail"]


def test_nvme_cli_report() -> None:
    """A row for each method; an error is a failure."""
    rows = nvme_cli.rows("nvme_dsm_test", json.dumps({"tests": [
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
"create-ns /dev/x --nsze=1") echo "create-ns: Success, created nsid:12" ;;
"create-ns "*) echo "NVMe status: Invalid Field"; exit 1 ;;
*) echo "nvme $*" ;;
esac
""")
    nvme.chmod(0o755)
    shim = tmp_path / "nvme-2"
    script = nvme_cli.PREPARE.replace("/usr/local/bin", str(tmp_path))
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
    assert json.loads(said("ns", "create", "/dev/x", "--nsze=1")) == {"nsid": 12}
    with pytest.raises(subprocess.CalledProcessError) as e:
        said("ns", "create", "/dev/x", "--nsze=0")
    assert "Invalid Field" in e.value.stdout
    assert said("ns", "attach", "/dev/x", "-n1") == "nvme attach-ns /dev/x -n1\n"
    assert said("ns", "get-id", "/dev/x") == "nvme get-ns-id /dev/x\n"
    assert said("copy", "/dev/x") == "nvme copy /dev/x\n"


def test_fio_lines() -> None:
    """The complaint before a FAILED line belongs to that test."""
    rows = fio.rows("fdp", (
        "Artifact directory is out\nfio path is /usr/bin/fio\n"
        "Test 1 PASSED 1\n"
        "ERROR:root:RUAMW mismatch\nTest 2 FAILED:  2\n"
        "Test 3 PASSED 3\n2 test(s) passed, 1 failed, 0 skipped\n"))
    assert [(r.name, r.result, r.reason) for r in rows] == [
        ("fdp 1", "pass", ""), ("fdp 2", "fail", "ERROR:root:RUAMW mismatch"),
        ("fdp 3", "pass", "")]


def test_arguments_of_the_drive(tmp_path: Path) -> None:
    """The same block size and number of handles for both devices."""
    form = runner.SUITES["fio-fdp"].form
    setup = target.Setup("vssd", tmp_path, 1 << 30,
                         paths.find_profile("zero-latency"), ["a=1", "b=2"],
                         4096, Form(ours={"metadata": 8}))
    ours = " ".join(target.device_args(setup, tmp_path / "d"))
    assert '"logical_block_size": 4096' in ours and '"a=1;b=2"' in ours
    assert '"metadata": 8' in ours
    setup.kind, setup.form = "nvme", form
    theirs = " ".join(target.device_args(setup, tmp_path / "d"))
    # QEMU refuses physical blocks that are smaller.
    assert '"logical_block_size": 4096, "physical_block_size": 4096' in theirs
    assert "fdp.nruh=8" in theirs and '"fdp.ruhs": "0-7"' in theirs
    assert "a=1" not in theirs and "metadata" not in theirs


def test_rows_of_protection_information_have_their_format() -> None:
    """nvmept_pi.py runs the same numbers for each format; one without metadata
    has nothing to test."""
    suite = runner.SUITES["fio-pi"]
    tests = suite.tests(Path())
    assert len(set(tests)) == 7 * 12
    for n in range(0, len(tests), 7):   # each seven: all formats, seven forms
        assert len({x[:4] for x in tests[n:n + 7]}) == 7
        assert len({x[5:] for x in tests[n:n + 7]}) == 7
    command = suite.command("pi-2-0-3-1", "/dev/nvme1n1", 30)
    assert " --lbaf 2; " in command
    assert "nvme format /dev/nvme1n1 -l 0" in command.split("; ")[-1]
    assert "caps = dict(pil=[0], pitype=[3], elba=[1])" in command
    for said in ("Error: lbaf 1 has metadata size zero",
                 "IndexError: list index out of range"):
        assert [r.result for r in suite.rows("pi-1-0-1-0", said)] == ["skip"]
    head = ("lbaf: {{'lbaf': {}, 'ds': 512, 'ms': 8, 'guard_pi_bits': 16,"
            " 'pi_bytes': 8}}, pil: 0, pitype: 1, elba: 0\n")
    rows = fio.rows("pi", f"{head.format(1)}Test 1 PASSED x\n"
                    f"\n{head.format(2)}Test 1 FAILED: x\n")
    assert [(r.name, r.result) for r in rows] == [
        ("pi lbaf 1 pil 0 pi 1 elba 0 1", "pass"),
        ("pi lbaf 2 pil 0 pi 1 elba 0 1", "fail")]


@pytest.mark.parametrize("said,result", [
    ("1..2\nok 1 - a\nok 2 - b\nexit status 0\n", "pass"),
    ("1..2\nok 1 - a\nnot ok 2 - b\nexit status 1\n", "fail"),
    ("1..2\nok 1 - a\nexit status 0\n", "fail"),     # one is missing
    ("1..1\nok 1 - a\nexit status 139\n", "fail"),   # it crashed at its end
    ("1..1\nok 1 - a\n", "fail"),                    # it did not end
    ("io: failed to init nvme controller\nexit status 1\n", "fail"),
    ("1..0 # skip no test device\nexit status 0\n", "skip")])
def test_programs_that_report_tap(said: str, result: str) -> None:
    """A program passes if all its points are there and ok, and it ended so."""
    assert [r.result for r in runner.SUITES["libvfn"].rows("io", said)] \
        == [result]


def test_vroom_reads_what_it_wrote() -> None:
    """One example prints the text that it has read back, another how much it
    read with each number of commands in flight."""
    rows = runner.SUITES["vroom"].rows
    for said, result in (("init\nhello world\0\nexit status 0\n", "pass"),
                         ("init\n\nexit status 0\n", "fail"),
                         ("hello world\nexit status 101\n", "fail")):
        assert [r.result for r in rows("hello_world", said)] == [result]
    reads = "n: 17, total read iops: 3.4\n"
    for said, result in ((reads + reads + "exit status 0\n", "pass"),
                         (reads + "exit status 0\n", "fail"),
                         (reads + reads.replace("17", "0")
                          + "exit status 0\n", "fail"),
                         (reads + reads + "exit status 101\n", "fail")):
        assert [r.result for r in rows("io_test", said)] == [result]


def test_drivers_give_the_device_back(tmp_path: Path) -> None:
    """The runner finds it again, also after a failure; a driver over vfio has
    an IOMMU."""
    suite = runner.SUITES["libvfn"]
    command = suite.command("io", "/dev/nvme1n1", 30)
    assert "/sys/class/nvme/nvme1/device" in command
    assert command.rstrip().endswith("give_back")
    assert "vfio-pci > $pci/driver_override" in command
    setup = target.Setup("vssd", tmp_path, 1 << 20,
                         paths.find_profile("zero-latency"), form=suite.form)
    assert "intel-iommu" in " ".join(target.device_args(setup, tmp_path))
    setup.form = Form()
    assert "intel-iommu" not in " ".join(target.device_args(setup, tmp_path))


def test_version_2_reports_as_version_3(tmp_path: Path) -> None:
    """Each outcome of unittest, by the report that runs in the guest."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/some_test.py").write_text(
        "import unittest\n"
        "class A(unittest.TestCase):\n"
        "    def test_good(self): pass\n"
        "    def test_bad(self): self.assertEqual(1, 2)\n"
        "    def test_error(self): 1 // 0\n"
        "    @unittest.skip('no drive')\n"
        "    def test_skip(self): pass\n")
    (tmp_path / "report.py").write_text(nvme_cli.UNITTEST)
    subprocess.run([sys.executable, "report.py", "some_test"], cwd=tmp_path,
                   check=True)
    rows = nvme_cli.rows("some_test", (tmp_path / "r.json").read_text())
    assert sorted((r.name, r.result, r.reason) for r in rows) == [
        ("some_test.test_bad", "fail", "AssertionError: 1 != 2"),
        ("some_test.test_error", "fail", "ZeroDivisionError: "
         "integer division or modulo by zero"),
        ("some_test.test_good", "pass", ""),
        ("some_test.test_skip", "skip", "no drive")]


def test_debian_files_that_the_mirror_lacks(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next suite's are taken, and the version is kept with them."""
    class Apt:
        def __init__(self, suite: str) -> None:
            self.suite = suite

        @classmethod
        def updated(cls, root: Path, found: list[aptsrc.Source]) -> Apt:
            return cls(found[0].suite)

        def versions(self, _package: str) -> list[str]:
            return ["3.39-1"] if self.suite == "trixie" else ["3.41-2"]

        def get(self, *args: str, cwd: Path, what: str) -> None:
            if args[-1] == "fio=3.39-1":
                raise UserError(what)
            (tmp_path / "fio-3.41/t").mkdir(parents=True)
            (tmp_path / "fio-3.41/t/nvmept.py").touch()
            subprocess.run(["tar", "-C", tmp_path, "-czf",
                            cwd / "fio_3.41.orig.tar.gz", "fio-3.41"],
                           check=True)

    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(aptsrc, "PrivateApt", Apt)
    monkeypatch.setattr(aptsrc, "debian_sources", lambda suite, mirror: [
        aptsrc.Source("http://deb.example", suite, ("main",))])
    monkeypatch.setattr(sources.packages, "ensure", lambda *_: None)
    found = sources.debian("fio")
    assert found.version == "fio 3.41-2"
    assert (found.folder / "t/nvmept.py").is_file()
    monkeypatch.setattr(sources, "_fetch", None)    # the second time: kept
    assert sources.debian("fio") == found


def run_of(kind: str, *results: tuple[str, str, str]) -> dict[str, object]:
    """A run as runner.run() makes it."""
    return {"suite": "fio-trim", "device": kind, "kernel": "6.12",
            "checkout": "fio 3.41-2", "rows": [
                {"name": n, "result": r, "reason": why}
                for n, r, why in results]}


def test_conformance_compares_each_test() -> None:
    """A test that one device did not come to is no pass; totals at the end."""
    rows = conformance.compare([
        run_of("vssd", ("trim 1", "pass", ""), ("trim 2", "skip", "no a"),
               ("trim 3", "fail", "c"), ("trim 4", "fail", "d")),
        run_of("nvme", ("trim 1", "fail", "b"), ("trim 3", "fail", "c"),
               ("trim 4", "fail", "e"))])
    assert [(r["name"], r["ours"], r["peer"], r["note"]) for r in rows[:-1]] \
        == [("fio-trim trim 1", "pass", "fail", "nvme: b"),
            ("fio-trim trim 2", "skip", "not run", "vssd: no a"),
            ("fio-trim trim 3", "fail", "fail", "both: c"),
            ("fio-trim trim 4", "fail", "fail", "vssd: d; nvme: e")]
    assert (rows[-1]["ours"], rows[-1]["peer"]) == (1, 0)
    assert rows[-1]["unit"] == "passed of 4"
    assert "vssd 2 fail, 1 skip, 0 hang; nvme 3 fail" in rows[-1]["note"]


def test_conformance_refuses_what_it_cannot_run(tmp_path: Path) -> None:
    """In one line, before a guest is started."""
    with pytest.raises(UserError, match="--suite nothing: one of nvme-cli"):
        conformance.chosen(["nothing"])
    with pytest.raises(UserError, match="Debian has no package"):
        conformance.chosen(["blktests"])
    with pytest.raises(UserError, match="has no check"):
        conformance.chosen([f"blktests={tmp_path}"])
    (tmp_path / "check").touch()
    assert conformance.chosen([f"blktests={tmp_path}"]) == [
        (runner.SUITES["blktests"], tmp_path)]
    assert all(s.source and not folder
               for s, folder in conformance.chosen([]))


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
from suites import run
from vssd import ending
from vssd_lab.suites import target

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
    path = os.pathsep.join(str(paths.PROJECT / name)
                           for name in ("scripts", "lab", "tests"))

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
