# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd powercut campaign without a guest: options, instants, notes; the
pytest plugin and the GitHub Action with a command that stands in for vssd."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from schema import faults

from started import vssd
from vssd.build import venv
from vssd.campaign import campaign, durable, guests, plan
from vssd.campaign.guests import Outcome, Parts
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.ui import Stage

FOLDER = PROJECT / "guest-tools/powercut"
BLOCK = 512


def record(ns: int, kind: int, lba: int = 0, n: int = 0, data: bytes = b"",
           opcode: int = 0, flags: int = 0, cid: int = 0) -> bytes:
    """One of a log."""
    return struct.pack("<QQQBBHHH", ns, lba, n, kind, opcode, flags, 1, cid) + data


def log(path: Path, *records: bytes) -> durable.Log:
    """A log of 64 blocks."""
    path.write_bytes(struct.pack("<8sIIQQ", b"vssdDUR1", BLOCK, 0, 64, 0)
                     + b"".join(records))
    return durable.Log(path)


def block(letter: bytes) -> bytes:
    return letter * BLOCK


@pytest.fixture(name="small")
def _small(tmp_path: Path) -> durable.Log:
    return log(tmp_path / "log",
               record(10, 1, 1, 2, block(b"a") + block(b"b")),
               record(20, 3, opcode=0, cid=7), record(25, 3, opcode=1, flags=1),
               record(30, 2, 2, 40), record(40, 4, opcode=0, cid=7),
               record(50, 1, 3, 1, block(b"c")), record(60, 4, opcode=1))


def test_early_log(tmp_path: Path) -> None:
    """One of before version 1.0 is refused, and so is another file."""
    for begin, why in ((b"VSSDDUR1", "before 1.0: make it again"),
                       (b"vssdLOG1", "not a log of durable data")):
        (tmp_path / "log").write_bytes(begin + bytes(24))
        with pytest.raises(UserError, match=why):
            durable.Log(tmp_path / "log")


def test_images(small: durable.Log, tmp_path: Path) -> None:
    """All up to the instant, and nothing behind it."""
    image = durable.Replayer(small, tmp_path / "image", 16 * BLOCK)
    wanted = {9: b"", 10: block(b"\0") + block(b"a") + block(b"b"),
              29: block(b"\0") + block(b"a") + block(b"b"),
              30: block(b"\0") + block(b"a"), 49: block(b"\0") + block(b"a"),
              50: block(b"\0") + block(b"a") + block(b"\0") + block(b"c")}
    for at_ns, head in wanted.items():
        image.advance(at_ns)
        assert image.path.read_bytes() == head.ljust(16 * BLOCK, b"\0"), at_ns


def test_flush_instants(small: durable.Log) -> None:
    """Of Flush and of the write with FUA."""
    assert durable.flush_instants(small, 0, 100) == [20, 25, 40, 60]
    assert durable.flush_instants(small, 21, 59) == [25, 40]


def test_random_instants(small: durable.Log) -> None:
    """The same with the same seed, in the window, in all states, however short
    they last."""
    def chosen(seed: int, last_ns: int = 99) -> list[int]:
        return plan.choose(plan.Plan("w", "c", cuts=30, seed=seed), small, 5,
                           last_ns)

    assert chosen(1) == chosen(1) != chosen(2)
    assert all(5 <= t <= 99 for t in chosen(1))
    assert any(10 <= t < 30 for t in chosen(1))
    assert any(30 <= t < 50 for t in chosen(1))
    assert len([t for t in chosen(1, 10**9) if t < 50]) > 3


def test_given_instants(small: durable.Log) -> None:
    """Since the start of the write command; not behind its end."""
    given = plan.Plan("w", "c", at=["0.00002ms", "7", "30ns"])
    assert plan.choose(given, small, 5, 99) == [12, 25, 35]
    assert plan.choose(plan.Plan("w", "c", at=["94ns"]), small, 5, 99) == [99]
    for late in ("95ns", "1us"):
        with pytest.raises(UserError, match="ended after"):
            plan.choose(plan.Plan("w", "c", at=[late]), small, 5, 99)


def test_notes_over_time(tmp_path: Path) -> None:
    """Whole lines that were there at the instant."""
    begin, end = b"\x01begin\n", b"\x02end\n"
    texts = [begin, begin + b"one\ntw", begin + b"one\ntwo\n",
             begin + b"one\ntwo\n" + end]
    log(tmp_path / "notes", *(
        record(10 * i, 1, 0, 1, text.ljust(BLOCK, b"\0"))
        for i, text in enumerate(texts, 1))).close()
    notes = campaign.NotesLog(tmp_path / "notes")
    assert (notes.begin_ns, notes.end_ns) == (10, 40)
    assert [notes.at(t) for t in (9, 10, 19, 20, 29, 30, 45)] == [
        b"", b"", b"", b"one\n", b"one\n", b"one\ntwo\n", b"one\ntwo\n"]


@pytest.mark.parametrize("jobs, cuts, guests", [
    (1, 20, [16, 4]), (2, 20, [10, 10]), (3, 2, [1, 1]), (4, 80, [16] * 5)])
def test_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int,
              cuts: int, guests: list[int]) -> None:
    """As many guests at a time as asked for, or as there are; each cut has one
    verdict, also those of a guest that ends in its second check."""
    now, most, batches, broken = 0, 0, list[int](), {3}

    async def run(spec: list[campaign.Cut]) -> Outcome:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        said = ""
        for cut in spec:
            said += '{"begins": 0}\n'
            if cut.number in broken:
                broken.remove(cut.number)
                return Outcome(None, said, "", "the guest ended")
            said += json.dumps({"ends": 0, "status": cut.number % 2,
                                "text": f"{cut.number}"}) + "\n"
        return Outcome(0, said, "", "")

    def checking(_: Any, __: Path, name: str, batch: list[Any]) \
            -> list[campaign.Cut]:
        if name.endswith("-1"):
            batches.append(len(batch))
        return [made[int(image.name)] for image, _ in batch]

    monkeypatch.setattr(campaign.guests, "run", run)
    monkeypatch.setattr(campaign.guests, "checking", checking)
    made = {i: campaign.Cut(i, i, b"", (i, 0)) for i in range(1, cuts + 1)}
    images = [(cut, tmp_path / str(i)) for i, cut in made.items()]
    for _, image in images:
        image.touch()
    parts = Parts(plan.Plan("w", "c", jobs=jobs), None, None, None)  # type: ignore[arg-type]
    with Stage("test") as stage:
        asyncio.run(campaign._check_all(parts, tmp_path, images, stage))
    assert (most, batches) == (min(jobs, len(guests)), guests)
    for i, cut in made.items():
        wanted = (False, "the guest ended") if i == 3 else (i % 2 == 0, f"{i}")
        assert (cut.ok, cut.text) == wanted
    assert not any(image.exists() for _, image in images)


def of_guest(monkeypatch: pytest.MonkeyPatch, folder: Path, lines: int) -> guests.Payload:
    """The payload of a guest that checks 16 cuts of a run with so many lines."""
    def spec(*args: Any) -> Any:
        return args[3]

    monkeypatch.setattr(guests, "_spec", spec)
    monkeypatch.setattr(guests.hardware, "Drive", lambda *_, **__: None)
    said = [hashlib.sha256(b"%d" % i).hexdigest().encode() + b"\n"
            for i in range(lines)]
    cuts = [(folder / str(i), b"".join(said[:lines * i // 16]))
            for i in range(1, 17)]
    parts = Parts(plan.Plan("w", "c"), None, None, None)  # type: ignore[arg-type]
    found: Any = guests.checking(parts, folder, "check0-1", cuts)
    assert isinstance(found, guests.Payload)
    return found


def test_notes_of_all_cuts_fit(tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines are sent once, so 16 cuts of a run with 90 kB of lines are a
    command that Linux takes as one argument; more lines are on a drive."""
    small = of_guest(monkeypatch, tmp_path, 1400)
    assert subprocess.run(["sh", "-c", f"exit 7\n{small.command}"],
                          check=False).returncode == 7
    assert small.drive(tmp_path / "none") == [] and not (tmp_path / "none").exists()
    large = of_guest(monkeypatch, tmp_path, 3000)
    assert len(large.command) < 300
    args = large.drive(tmp_path / "files")
    assert str(tmp_path / "files") in args[1] and args[3] == "virtio-blk-pci,drive=files"
    with tarfile.open(tmp_path / "files") as tar:
        notes = tar.extractfile("notes")
        assert notes and notes.read().count(b"\n") == 3000
    monkeypatch.setattr(guests, "MOST_FILES", 100_000)
    with pytest.raises(UserError, match=r"--files: \d+ bytes, allowed 100000"):
        of_guest(monkeypatch, tmp_path, 3000)


@pytest.mark.parametrize("options, why", [
    (["--cuts", "0"], "--cuts 0: allowed 1..100000"),
    (["--jobs", "65"], "--jobs 65: allowed 1..64"),
    (["--seed", "-1"], "--seed -1: allowed 0.."),
    (["--seconds", "0"], "--seconds 0: allowed 0.1..3600"),
    (["--at", "soon"], "--at soon: give random, flush, or instants"),
    (["--at", "random", "1s"], "--at random: give random, flush, or instants"),
    (["--files", "/nowhere"], "--files /nowhere: no such file"),
    (["--files", str(PROJECT / "README.md"), "--files", str(PROJECT / "docs/README.md")],
     "--files: two have the name README.md"),
    (["--check", " "], "--check: give a command"),
    (["--drive", "none-such"], "none-such"),
    (["--drive", "tiny,image=x"], "image"),
    (["--drive", "tlc-generic,media.paired_pages=on"], "destroys data"),
    (["--fs", "fat"], "invalid choice: 'fat'"),
    (["--output", "/proc/x"], "--output /proc/x"),
    (["--recorded", "/nowhere"], "--recorded /nowhere"),
])
def test_refusals(options: list[str], why: str) -> None:
    """One line, before a guest starts."""
    done = vssd("powercut", "campaign", "--write", "true", "--check", "true", *options)
    assert done.returncode in (1, 2)
    assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_replay_command_has_all_options(tmp_path: Path) -> None:
    """Parsing it gives the same plan, but for the instant."""
    import shlex

    from vssd.cli import main, powercut_campaign

    given = plan.Plan("echo 'a b'", "c $VSSD_NOTES", "s", 5, 9, ["flush"], 3,
                      "xfs", "tiny,size=64M", [PROJECT / "README.md"], "jq",
                      3.5, 70.0, False, False, tmp_path)
    for name in (plan.LOG, plan.NOTES):
        (tmp_path / name).touch()
    words = shlex.split(given.command(1234))
    args = main.parser().parse_args(words[1:])
    again = powercut_campaign.plan_of(args)
    again.cuts, again.jobs, again.at = 5, 3, ["flush"]
    assert args.at == ["1234ns"] and again == given


def recorded(folder: Path, *texts: bytes) -> Path:
    """A run whose command prints these, 10 ns apart, and ends after them."""
    folder.mkdir()
    begin, end = b"\x01begin\n", b"\x02end\n"
    log(folder / plan.LOG, record(15, 1, 1, 1, block(b"a"))).close()
    said = [begin + b"".join(texts[:i]) for i in range(len(texts) + 1)]
    log(folder / plan.NOTES, *(
        record(10 * i, 1, 0, 1, text.ljust(BLOCK, b"\0"))
        for i, text in enumerate([*said, said[-1] + end], 1))).close()
    return folder


@pytest.mark.parametrize("texts, at, bad, says, why", [
    ((b"one\n", b"two\n"), "15ns", False, "1 of 2 promises checked", ""),
    ((b"one\n", b"two\n"), "20ns", False, "2 of 2 promises checked", ""),
    ((b"one\n", b"two\n"), "9ns", False, "0 of 2 promises checked",
     "--at: no cut came after the first of 2 promises (0.000000010 s)"),
    ((), "9ns", False, "0 of 0 promises checked", "--write: it printed no line"),
    ((b"half",), "15ns", False, "0 of 0 promises checked",
     "--write: it printed no line"),
    ((), "9ns", True, "1 violations", "")])
def test_a_campaign_without_promises_fails(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str], texts: tuple[bytes, ...], at: str,
        bad: bool, says: str, why: str) -> None:
    """It has checked nothing; text and JSON tell how many were checked.  A file
    system that is broken before the first promise is a violation."""
    from vssd.cli import main, powercut_campaign

    async def check(_: Any, __: Path, left: list[Any], ___: Stage) -> None:
        for cut, _image in left:
            cut.ok = not bad

    words = ["powercut", "campaign", "--write", "w", "--check", "true", "--at",
             at, "--recorded", str(recorded(tmp_path / "run", *texts))]
    parts = Mock(size=64 * BLOCK)
    monkeypatch.setattr(campaign, "_check_all", check)
    monkeypatch.setattr(guests, "check_drive", lambda _: None)

    def prepare(given: plan.Plan) -> Mock:
        parts.plan = given
        return parts

    monkeypatch.setattr(guests, "prepare", prepare)
    for i, more in enumerate(([], ["--json"])):
        args = main.parser().parse_args(
            [*words, "--output", str(tmp_path / f"out{i}"), *more])
        if why:
            with pytest.raises(UserError, match=re.escape(why)):
                powercut_campaign.main(args)
        else:
            assert powercut_campaign.main(args) == int(bad)
        said = capsys.readouterr()
        if not more:
            assert says in said.out + said.err
    result = json.loads(said.out)
    assert faults("powercut", result) == []
    assert (result["promises"], result["promises_checked"]) \
        == (sum(b"\n" in t for t in texts),
            max(row["notes"] for row in result["rows"]))


# ---- the pytest plugin and the GitHub Action ---------------------------------

STAND_IN = """#!{python}
import json, sys
from pathlib import Path
Path({folder!r}, "args").write_text(json.dumps(sys.argv[1:]))
bad = "off" in sys.argv[sys.argv.index("--write") + 1]
mute = "mute" in sys.argv[sys.argv.index("--write") + 1]
rows = [{{"cut": i, "instant_ns": 1000 * i, "ok": not (bad and i == 2),
          "notes": 0 if mute else i, "text": "row 7 is lost" if bad else "",
          "replay": "./vssd powercut campaign --at %dns" % i}} for i in (1, 2)]
same = {{"rows": rows, "output": "/out", "violations": int(bad), "seed": 1,
  "fs": "ext4", "drive": "tiny", "at": ["random"], "icount": True, "write": "w",
  "check": "c", "write_ns": 5, "states": 2, "schema_version": 1,
  "promises": 9, "promises_checked": 0 if mute else 2,
  "vssd": {{"version": "1", "commit": ""}},
  "host": {{"kernel": "", "processor": "", "cores": 1}}}}
print(json.dumps(same))
sys.exit(bad or mute)
"""


@pytest.fixture(name="stand_in")
def _stand_in(tmp_path: Path) -> Path:
    path = tmp_path / "vssd"
    path.write_text(STAND_IN.format(python=sys.executable, folder=str(tmp_path)))
    path.chmod(0o755)
    return path


def run_pytest(text: str, tmp_path: Path, stand_in: Path, *options: str) \
        -> subprocess.CompletedProcess[str]:
    """Run a test with the plugin."""
    (tmp_path / "test_it.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "vssd_powercut", "-p",
         "no:cacheprovider", "--rootdir", str(tmp_path),
         str(tmp_path / "test_it.py"), *options],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FOLDER), "VSSD": str(stand_in)})


def test_stand_in_is_as_the_command(stand_in: Path) -> None:
    """Its JSON is as the schema says."""
    said = subprocess.run([str(stand_in), "--write", "off"], check=False,
                          capture_output=True, text=True).stdout
    assert faults("powercut", json.loads(said)) == []


def test_plugin(tmp_path: Path, stand_in: Path) -> None:
    """A test passes, one fails with the violation, options reach the command."""
    done = run_pytest("""
def test_good(powercut):
    assert len(powercut("w", "c", fs="xfs", fsck=False, at=["1s", "2s"],
                        check_seconds=9, cuts=5).rows) == 2
def test_bad(powercut):
    powercut("w off", "c")
def test_mute(powercut):
    powercut("mute", "c")
""", tmp_path, stand_in, "-k", "good", "--powercut-cuts", "7")
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    args: list[str] = json.loads((tmp_path / "args").read_text())
    assert "--no-fsck" in args and args[-3:] == ["--at", "1s", "2s"]
    for option, value in (("--fs", "xfs"), ("--check-seconds", "9"),
                          ("--cuts", "7")):
        assert args[args.index(option) + 1] == value
    done = run_pytest((tmp_path / "test_it.py").read_text(), tmp_path, stand_in,
                      "-k", "bad")
    assert "1 failed" in done.stdout
    for text in ("1 of 2 power cuts are violations; the first is cut 2",
                 "row 7 is lost", "replay: ./vssd powercut campaign --at 2ns"):
        assert text in done.stdout
    done = run_pytest((tmp_path / "test_it.py").read_text(), tmp_path, stand_in,
                      "-k", "mute")
    assert "1 failed" in done.stdout
    assert "no promise was checked: write printed 9 lines" in done.stdout


def test_plugin_without_vssd(tmp_path: Path) -> None:
    """It says what is missing."""
    done = run_pytest("def test_it(powercut):\n    powercut('w', 'c')\n",
                      tmp_path, tmp_path / "none")
    assert "there is no command" in done.stdout


def test_guest_plugin(tmp_path: Path) -> None:
    """Options, commands and copies reach vssd; a command that fails fails the test;
    each guest ends with its test."""
    vssd, log = tmp_path / "vssd", tmp_path / "log"
    vssd.write_text(f'#!/bin/sh\necho "$@" >>{log}\n[ "$1" != exec ] || eval "$5"\n')
    vssd.chmod(0o755)
    done = run_pytest("""
def test_good(vssd_guest):
    guest = vssd_guest(drive=["a", "b,size=1G"], ssh=True)
    guest.put("x", "y")
    assert guest.run("echo ok") == "ok\\n"
    assert guest.status("exit 3") == 3
    guest.get("/z", "z")
    assert vssd_guest().name != guest.name
def test_bad(vssd_guest):
    vssd_guest().run("echo why >&2; exit 4")
""", tmp_path, vssd, "-p", "vssd_guest")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "vssd exec: status 4: why" in done.stdout
    lines = re.sub(r"pytest-\d+-", "g", log.read_text()).splitlines()
    assert lines == [
        "run --quiet --detach --name g1 --drive a --drive b,size=1G --ssh",
        "cp x y g1:", "exec --run g1 -- echo ok", "exec --run g1 -- exit 3",
        "cp g1:/z z", "run --quiet --detach --name g2", "stop --force g1",
        "stop --force g2", "run --quiet --detach --name g1",
        "exec --run g1 -- echo why >&2; exit 4", "stop --force g1"]


def run_action(tmp_path: Path, stand_in: Path, path: str = "", **inputs: str) \
        -> tuple[int, str, str]:
    """The step of the action: status, output, and what it hands on."""
    given: dict[str, Any] = {}
    text = (FOLDER / "action.yml").read_text()
    for name, body in re.findall(r"^  (\w+):\n((?:    .*\n)+)",
                                 text[:text.index("\noutputs:")] + "\n", re.M):
        m = re.search(r"default: (.*)", body)
        given[name] = inputs.get(name, m[1].strip('"') if m else "")
        assert f"INPUT_{name.upper()}: ${{{{ inputs.{name} }}}}" in text
    out = tmp_path / "github"
    out.write_text("")
    done = subprocess.run(
        ["bash", str(FOLDER / "action.sh")], capture_output=True, text=True,
        check=False, env={**os.environ, "VSSD": str(stand_in),
                          "OUTPUT": str(tmp_path / "out"),
                          "GITHUB_OUTPUT": str(out),
                          "PATH": path or os.environ["PATH"],
                          **{f"INPUT_{k.upper()}": v
                             for k, v in given.items()}})
    return done.returncode, done.stdout + done.stderr, out.read_text()


def test_action(tmp_path: Path, stand_in: Path) -> None:
    """Inputs reach the command; a violation fails the step and is told."""
    status, said, told = run_action(tmp_path, stand_in, write="w", check="c d",
                                    files="a\nb c\n", at="1s 2s", setup="s")
    assert status == 0 and "violations=0" in told, said
    args: list[str] = json.loads((tmp_path / "args").read_text())
    assert args.count("--files") == 2 and "b c" in args
    assert args[args.index("--check") + 1] == "c d"
    assert args[args.index("--setup") + 1] == "s"
    assert args[-3:] == ["--at", "1s", "2s"]
    status, said, told = run_action(tmp_path, stand_in, write="off", check="c")
    assert status == 1 and "violations=1" in told
    assert "::error::power cut 2: row 7 is lost" in said
    assert "replay: ./vssd powercut campaign --at 2ns" in said


@pytest.mark.parametrize("engine, more", [
    ("docker", []), ("podman", ["--userns", "keep-id"])])
def test_action_in_an_image(tmp_path: Path, stand_in: Path, engine: str,
                            more: list[str]) -> None:
    """The command is the image's, with the job's folders and user, and without
    network; packages need one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / engine).write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/engine\n'
        f'while [ "$1" != powercut ]; do shift; done\nexec {stand_in} "$@"\n')
    (folder / engine).chmod(0o755)
    for name in ("bash", "dirname", "id", "mkdir", "head", "tail"):
        (folder / name).symlink_to(shutil.which(name) or "")
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    status, said, told = run_action(
        tmp_path, tmp_path / "none", str(folder), write="w", check="c", image="i:1")
    assert status == 0 and "violations=0" in told, said
    words = (tmp_path / "engine").read_text().splitlines()
    at = words.index("i:1")
    assert words[at + 1:at + 3] == ["powercut", "campaign"]
    for option, value in (("--network", "none"), ("-w", os.getcwd()),
                          ("--user", f"{os.getuid()}:{os.getgid()}"),
                          ("-v", f"{os.getcwd()}:{os.getcwd()}")):
        assert words[words.index(option) + 1] == value
    assert f"{tmp_path}/out:{tmp_path}/out" in words[:at]
    assert [w for w in words if w in ("--userns", "keep-id")] == more
    status, said, _ = run_action(tmp_path, stand_in, str(folder), write="w", check="c",
                                 image="i:1", packages="p")
    assert status == 1 and "packages cannot be added to the guest of image" in said


def by_schema(schema: str, file: Path) -> None:
    """Hold a file of a CI against the schema of its format."""
    venv.extra("schema")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema",
         f"vendor.{schema}", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_action_is_as_github_wants_it() -> None:
    """By the schema of composite actions."""
    by_schema("github-actions", FOLDER / "action.yml")


def test_jobs_of_the_page(tmp_path: Path) -> None:
    """Each has ten lines at most, and is as GitHub or GitLab want it."""
    page = (PROJECT / "docs/in-your-ci.md").read_text()
    jobs = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    assert len(jobs) == 5 and all(job.count("\n") <= 10 for job in jobs)
    *github, gitlab = jobs
    (tmp_path / "github.yml").write_text(
        "on: push\njobs:\n  kernel: {runs-on: x, steps: [{run: make}]}\n"
        + "".join(github))
    by_schema("github-workflows", tmp_path / "github.yml")
    for name, text in (("page", gitlab), ("template",
                                          (FOLDER / "gitlab.yml").read_text())):
        (tmp_path / f"{name}.yml").write_text(text)
        by_schema("gitlab-ci", tmp_path / f"{name}.yml")
