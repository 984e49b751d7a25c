# SPDX-License-Identifier: GPL-2.0-or-later
"""Our group of tests for blktests (guest-tools/suites/blktests): the rules of
blktests' own `check` and CONTRIBUTING.md, and the group's helpers.  No checkout
of blktests is needed: empty files stand for its common helpers."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from vssd_lab.suites import cut, runner, sources

GROUP = runner.OURS / "blktests"
FOLDER = GROUP / "tests/ssd"
TESTS = sorted(p for p in FOLDER.iterdir() if p.name.isdecimal())
SUITES = [s for s in runner.SUITES.values() if s.group == GROUP.name]
# Of blktests' common/ and src/, that the group uses.
THEIRS = {
    "_have_root", "_have_program", "_have_fio", "_have_fio_ver", "_have_fs",
    "_have_kver", "_have_src_program", "_have_xfs_io_atomic_write",
    "_require_device_support_atomic_writes", "_require_test_dev_is_nvme",
    "_require_test_dev_size", "_require_test_dev_sysfs",
    "_test_dev_max_open_active_zones", "_test_dev_queue_get"}


def bash(work: Path, script: str, device: str = "") -> str:
    """What bash says to a script in a checkout of which only our group is
    there."""
    (work / "common").mkdir(exist_ok=True)
    for name in ("rc", "nvme", "xfs"):
        (work / "common" / name).touch()
    if not (work / "tests").exists():
        (work / "tests").symlink_to(GROUP / "tests")
    return subprocess.run(
        ["bash", "-c", "set -u; declare -a SKIP_REASONS=(); declare -A TEST_RUN;"
         f" . tests/ssd/rc; {script}"], cwd=work, check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "TEST_DEV": device,
             "TMPDIR": str(work), "FULL": "/dev/null"}).stdout


def test_numbers() -> None:
    """The tests are numbered from 001 on; each has its expected output, and
    nothing else is there."""
    names = [f"{n:03d}" for n in range(1, len(TESTS) + 1)]
    assert [p.name for p in TESTS] == names
    assert {p.name for p in FOLDER.iterdir()} \
        == {"rc", *names, *(n + ".out" for n in names)}


@pytest.mark.parametrize("path", [FOLDER / "rc", *TESTS], ids=lambda p: p.name)
def test_form_of_a_file(path: Path) -> None:
    """Licence and copyright at the top, indentation by tabs."""
    lines = path.read_text().splitlines()
    assert lines[:3] == ["#!/bin/bash", "# SPDX-License-Identifier: GPL-3.0+",
                         "# Copyright (C) 2026 the authors of vssd"]
    assert lines[3] == "#" and lines[4].startswith("# ")
    assert not [x for x in lines if x.startswith(" ") or x != x.rstrip()]
    assert "TO" "DO" not in path.read_text()


@pytest.mark.parametrize("path", TESTS, ids=lambda p: p.name)
def test_form_of_a_test(path: Path, tmp_path: Path) -> None:
    """As `check` of blktests wants it; the expected output ends with "Test
    complete" and is not executable."""
    assert os.access(path, os.X_OK)
    out = path.with_suffix(".out")
    said = out.read_text().splitlines()
    assert said[0] == f"Running ssd/{path.name}" and said[-1] == "Test complete"
    assert not os.access(out, os.X_OK)
    text = path.read_text()
    assert "\n. tests/ssd/rc\n" in text
    found = bash(tmp_path, f"QUICK=0 TIMED=0; . tests/ssd/{path.name};"
                 ' echo "$DESCRIPTION/$QUICK$TIMED"; declare -F').splitlines()
    functions = {x.removeprefix("declare -f ") for x in found[1:]}
    description, marks = found[0].split("/")
    assert 10 < len(description) < 70 and marks != "11"
    assert "test_device" in functions and "test" not in functions
    used = set(re.findall(r"\b_(?:have|require|test_dev)_\w+", text))
    assert used <= functions | THEIRS


@pytest.mark.parametrize("path", [FOLDER / "rc", *TESTS], ids=lambda p: p.name)
def test_logs_of_the_standard_only(path: Path) -> None:
    """The tests are for every drive: no log page of a vendor, no program of
    ours."""
    text = path.read_text()
    assert not re.search(r"get-log|vssdctl|streamwrite|\b0x[c-f][0-9a-f]\b|C[0-9]h",
                         text)


def test_reasons_of_a_skip(tmp_path: Path) -> None:
    """A test without its program or its feature says what is missing."""
    stubs = """
    _have_program() { command -v "$1" > /dev/null; }
    _test_dev_queue_get() { echo none; }
    nvme() { return 1; }
    _have_power_cut; _have_nvme_fdp; _require_test_dev_fdp
    _require_test_dev_streams; _require_test_dev_zns
    printf '%s\\n' "${SKIP_REASONS[@]}"
    """
    assert bash(tmp_path, stubs, "/dev/x").splitlines() == [
        "POWER_CUT_CMD is not set", "nvme-cli has no command fdp",
        "/dev/x is in no endurance group", "/dev/x has no Streams directive",
        "/dev/x has no zones"]


def test_numbers_of_json(tmp_path: Path) -> None:
    """One a line as nvme-cli prints them, by their whole name."""
    said = bash(tmp_path, """printf '%s\\n' '{' ' "ruamw":12,' ' "xruamw":3' \
        ' "ruamw" : 45' '}' | _json_numbers ruamw""")
    assert said.split() == ["12", "45"]


def test_torn_chunks_are_found(tmp_path: Path) -> None:
    """A chunk of both versions is torn, whatever the others are; the last one
    counts too."""
    device = tmp_path / "device"
    whole = b"A" * 512 + b"B" * 512
    for data, torn in ((whole * 1024, 0),
                       (b"A" * 511 + b"B" + whole * 1023 + b"A" * 512, 1),
                       (whole * 1023 + b"A" * 512 + b"B" * 511 + b"A", 1)):
        device.write_bytes(data)
        said = bash(tmp_path, 'dd() { cat "$TEST_DEV"; };'
                    " _power_count_chunks 0 1 512;"
                    ' echo "${TEST_RUN["old, new, torn"]}"', str(device))
        assert said.splitlines()[-1].endswith(f", {torn}")
        assert ("1 chunks of 512 bytes are torn" in said) == bool(torn)


def test_suites_of_the_group() -> None:
    """Each drive runs all of it."""
    assert {s.name for s in SUITES} == {
        "blktests-fdp", "blktests-streams", "blktests-plp", "blktests-zones"}
    for suite in SUITES:
        assert runner.tests(suite, Path("nowhere")) \
            == [f"ssd/{p.name}" for p in TESTS]


def test_group_is_laid_over_a_copy(tmp_path: Path) -> None:
    """The user's checkout stays as it is; our programs are compiled."""
    checkout = tmp_path / "checkout"
    for name in ("tests/block", "src", ".git"):
        (checkout / name).mkdir(parents=True)
    (checkout / "check").touch()
    made = runner.shared(SUITES[0], checkout, tmp_path)
    assert (made / "check").exists() and (made / "tests/block").is_dir()
    assert (made / "tests/ssd/001").read_bytes() == TESTS[0].read_bytes()
    assert os.access(made / "src/write-stream", os.X_OK)
    assert not (made / ".git").exists()
    assert sorted(p.name for p in checkout.rglob("*")) \
        == [".git", "block", "check", "src", "tests"]
    plain = runner.SUITES["blktests"]
    assert runner.shared(plain, checkout, tmp_path) == checkout
    assert sources.files(checkout).folder == checkout


def test_write_stream_refuses(tmp_path: Path) -> None:
    """In one line, with status 1."""
    program = tmp_path / "write-stream"
    subprocess.run(["cc", "-o", program, GROUP / "src/write-stream.c"],
                   check=True)
    (tmp_path / "file").touch()
    for args, said in (([], "usage: "), (["nowhere", "1", "0", "512"], "nowhere"),
                       ([str(tmp_path / "file"), "256", "0", "512"],
                        "stream 256: at most 255")):
        done = subprocess.run([program, *args], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1 and said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_requests_for_a_power_cut() -> None:
    """Each line on the console counts once, however it arrives."""
    watch = cut.Watch()
    pieces = [b"boot " + cut.LINE[:7], cut.LINE[7:] + b"\r\nmore", cut.LINE * 2,
              b"\n", cut.LINE[:-1], b"", cut.LINE[-1:]]
    assert [watch.seen(x) for x in pieces] == [0, 1, 2, 0, 0, 0, 1]


def test_power_cut_program_is_for_our_drive_only() -> None:
    """Of QEMU's own device the host cannot cut the power, so the program is not
    there, and the tests skip."""
    class Guest:
        live = None

        def run(self, command: str) -> str:
            raise AssertionError(command)

    cut.serve(Guest(), "")  # type: ignore[arg-type]
    command = SUITES[0].command("ssd/015", "/dev/nvme0n1", 30)
    assert f"[ -x {cut.PROGRAM} ]" in command and "POWER_CUT_CMD" in command
