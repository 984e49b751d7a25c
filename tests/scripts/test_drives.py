# SPDX-License-Identifier: GPL-2.0-or-later
"""--drive of ./vssd run, and the summary of several drives, without a guest."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from vssd import paths, proc, sizes
from vssd.build import model
from vssd.build.qemu_build import Qemu
from vssd.cli import libvirt as cmd_libvirt
from vssd.cli import main as cli
from vssd.cli import run as cmd_run
from vssd.errors import UserError
from vssd.guest import cache as cache_module
from vssd.guest import drives, hardware, report, used
from vssd.watch import spare

REAL = os.environ.get("VSSD_CACHE")  # where the programs of the tests are


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def parsed(*args: str) -> argparse.Namespace:
    """./vssd run's arguments, checked."""
    found = cli.parser().parse_args(["run", *args])
    cmd_run.check(found)
    return found


@pytest.mark.parametrize("text, nbytes", [
    ("1048576", 2**20), ("8192K", 2**23), ("512M", 2**29), ("512m", 2**29),
    ("1.5G", 3 * 2**29), ("2T", 2**41), ("4MiB", 2**22), ("8GB", 8 * 10**9),
    ("2048KiB", 2**21),
])
def test_sizes(text: str, nbytes: int) -> None:
    """K, M, G and T are powers of 1024, as in an option of the model, and the
    text of a size is read as that size."""
    assert drives.parse(f"tiny,size={text}").size == nbytes
    assert sizes.read("", sizes.text(nbytes), 0, 2**50) == nbytes


@pytest.mark.parametrize("text, says", [
    ("", "a profile comes first"),
    ("size=1G", "a profile comes first"),
    ("nope", "no profile 'nope'"),
    ("tiny,", "'' is no KEY=VALUE"),
    ("tiny,size", "'size' is no KEY=VALUE"),
    ("tiny,=1", "'=1' is no KEY=VALUE"),
    ("tiny,nand.read=1us;seed=2", "is no KEY=VALUE"),
    ("tiny,size=1M,size=2M", "size is there twice"),
    ("tiny,sizze=1M", "no key 'sizze'; did you mean size?"),
    ("tiny,Serial=a", "no key 'Serial'; did you mean serial?"),
    ("tiny,size=", "size takes a number of bytes"),
    ("tiny,size=1", "--drive size=1: allowed 1M..1024T, it is below 1M"),
    ("tiny,size=1048577", "in steps of 4 KiB"),
    ("tiny,size=1.0000001M", "in whole bytes"),
    ("tiny,size=1Q", "no unit is 'Q': B, K, M, G, T, KiB"),
    ("tiny,size=-1M", "--drive size=-1M: allowed 1M..1024T"),
    ("tiny,size=1025T", "--drive size=1025T: allowed 1M..1024T, it is above 1024T"),
    ("tiny,image=", "image takes a file"),
    ("tiny,image=/nowhere/x", "--drive image=/nowhere/x: no such file"),
    ("tiny,image=/etc/passwd,size=1M", "image and size exclude each other"),
    ("tiny,image2=/etc/passwd", "image2 needs image"),
    ("tiny,image=/etc/passwd,image3=/etc/group", "image3 needs image2"),
    ("tiny,image=/etc/passwd,image2=/nowhere/x", "--drive image=/nowhere/x: no such"),
    ("tiny,image=/etc/passwd,image9=/etc/group", "no key 'image9'; did you mean image"),
    ("tiny,state=/nowhere/x", "--drive state /nowhere/x: No such file"),
    ("tiny,oplog=/", "--drive oplog /: Is a directory"),
    ("tiny,fill=sep", "fill=sep: allowed aged, preload, seq, random; did you"
     " mean seq?"),
    ("tiny,aged,fill=seq", "fill is there twice"),
    ("tiny,aged=yes", "no key 'aged'; did you mean aged?"),
    ("tiny,aged,state=x", "state=FILE says how used the drive is"),
    ("tiny,serial=a b", "--drive serial=a b: give 1 to 20 letters"),
    ("tiny,atomic.nawupf=65536", "--drive atomic.nawupf=65536: allowed 0..65535"),
    ("tiny,atomic.awun=-1", "--drive atomic.awun=-1: allowed 0..65535"),
])
def test_refused(text: str, says: str) -> None:
    """In one line, before anything is made."""
    with pytest.raises(UserError) as e:
        parsed("--drive", text)
    assert says in str(e.value) and "\n" not in str(e.value)


def test_drives_that_cannot_be_together(tmp_path: Path) -> None:
    """A file or a serial number for two; more drives than slots."""
    state = f"tiny,state={tmp_path}/a"
    with pytest.raises(UserError, match="two drives cannot share"):
        parsed("--drive", state, "--drive", f"tiny,state={tmp_path}/../"
               f"{tmp_path.name}/a")
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    with pytest.raises(UserError, match="two namespaces cannot share"):
        parsed("--drive", f"tiny,image={image},image2={image}")
    with pytest.raises(UserError, match="serial=S: two drives have it"):
        parsed("--drive", "tiny,serial=S", "--drive", "tiny,serial=S")
    parsed(*["--drive", "tiny"] * 23)
    for args in (["--drive", "tiny"] * 24,
                 ["--controllers", "20", *["--drive", "tiny"] * 5]):
        with pytest.raises(UserError, match=r"--drive: given \d+ times"):
            parsed(*args)
    with pytest.raises(UserError, match="give image=FILE"):
        parsed("--print-command", "--drive", "tiny")


def test_what_a_drive_says(tmp_path: Path) -> None:
    """Words of the option and options of the model; doubled commas."""
    image = tmp_path / "a,b.raw"
    image.write_bytes(bytes(1 << 20))
    drive = drives.parse("tiny,nand.read=9us,serial=DB.1,seed=4,image="
                         + str(image).replace(",", ",,"))
    assert drive.profile == paths.find_profile("tiny")
    assert drive.image == image and drive.serial == "DB.1"
    assert drive.sets == ["nand.read=9us", "seed=4"]
    drive = drives.parse("tiny,atomic.nawupf=0,buffer.plp=on,atomic.nawun=7")
    assert drive.sets == ["buffer.plp=on"]
    assert drive.properties == {"atomic.nawupf": 0, "atomic.nawun": 7}
    args = hardware.drive_args(1, hardware.Drive(
        image, "raw", profile=drive.profile, properties=drive.properties), False)
    assert '"atomic.nawupf": 0, "atomic.nawun": 7' in args[-1]
    assert drives.parse("tiny,size=3g").size == 3 << 30


SIM = """#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --save-state ] && to=$2
    shift
done
echo made >>"$to"
echo x >>"${0%/*}/runs"
"""


def test_a_used_drive_is_made_once(tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """For each drive, use and model; a run has a copy of its own."""
    sim = tmp_path / "sim"
    sim.write_text(SIM)
    sim.chmod(0o755)
    monkeypatch.setattr("vssd.build.model.sim", lambda: sim)
    tiny = paths.find_profile("tiny")

    def runs(sets: list[str], how: str) -> int:
        to = tmp_path / "copy.state"
        assert used.copy(tiny, sets, how, to).read_text() == "made\n"
        to.write_text("changed by the guest")
        return len((tmp_path / "runs").read_text().split())

    before = proc.cpu_s()
    assert runs([], "aged") == runs([], "aged") == 1
    assert proc.cpu_s() > before  # the stage tells it
    assert runs([], "random") == 2
    assert runs(["nand.read=9us"], "aged") == 3
    assert runs([], "aged") == 3
    names = {e.path.name: e.old for e in cache_module.entries()
             if e.path.name.startswith(used.PREFIX)}
    assert len(names) == 3 and not any(names.values())
    monkeypatch.setattr(used, "model_key", lambda: "0123")
    assert all(e.old for e in cache_module.entries()
               if e.path.name.startswith(used.PREFIX))
    assert runs([], "aged") == 4


def test_a_used_drive_of_the_simulator(tmp_path: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """vssd-sim takes the command line, and its refusal is told."""
    monkeypatch.setenv("VSSD_CACHE", REAL or "")
    sim = str(model.sim())
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "own"))
    monkeypatch.setattr("vssd.build.model.sim", lambda: sim)
    tiny = paths.find_profile("tiny")
    states = [used.copy(tiny, [], how, tmp_path / how).read_bytes()
              for how in (used.AGED, *used.FILLS)]
    assert len(set(states)) == len(states)
    with pytest.raises(UserError, match="--drive tiny,...: nand.read=x: "):
        used.ensure(tiny, ["nand.read=x"], used.AGED)
    assert [e.path.name for e in cache_module.entries()
            if e.path.name.endswith(".part")] == []


def test_where_a_used_drive_would_not_last() -> None:
    """What has no run of its own; and the first drive."""
    with pytest.raises(UserError, match="aged not with --print-command: make"):
        parsed("--print-command", "--drive", "tiny,aged,image=/etc/hostname")
    found = cli.parser().parse_args(["libvirt", "a", "--drive",
                                     "tiny,fill=random"])
    with pytest.raises(UserError, match="random not with libvirt: make a state"):
        cmd_libvirt.check(found)
    found = cli.parser().parse_args(
        ["libvirt", "NAME", "--drive", "tiny,image=/etc/passwd,image2=/etc/group"])
    with pytest.raises(UserError, match="image2 not with libvirt, which starts no domain"):
        cmd_libvirt.check(found)
    with pytest.raises(UserError, match="'tiny,aged': aged, size= and other"):
        parsed("--profile", "tiny,aged")


def test_the_machine_has_them(tmp_path: Path,
                              monkeypatch: pytest.MonkeyPatch) -> None:
    """Each behind a slot, with a seed, an image of its size and its files."""
    boot = tmp_path / "boot.raw"
    boot.write_bytes(bytes(1 << 20))
    other = tmp_path / "other.raw"
    other.write_bytes(bytes(1 << 20))
    made: list[Any] = []
    monkeypatch.setattr("vssd.build.emulator.ensure", lambda *_: Qemu(Path("/q")))
    monkeypatch.setattr("vssd.guest.kvm.accelerator", lambda _: "tcg")
    monkeypatch.setattr("vssd.guest.image.overlay", lambda *a: made.append(a))
    monkeypatch.setattr("vssd.build.model.drive_info",
                        lambda *_: {"capacity_bytes": 5 << 20})
    monkeypatch.setattr("vssd.guest.used.copy", lambda *a: a[-1])
    args = parsed("--disk", str(boot), "--seed", "7",
                  "--drive", "tiny,size=2M", "--drive", "tiny,seed=3",
                  "--drive", f"tiny,image={boot},state={tmp_path}/s,image2={other}",
                  "--drive", "tiny,size=1M,aged")
    with cmd_run.prepared(args) as spec:
        assert [d.image.stat().st_size for d in spec.drives[1:3]] == \
            [2 << 20, 5 << 20]
        assert [a[1] for a in made[1:]] == [boot, other]  # writes go to overlays
        line = hardware.command_line(spec)
        devices = [json.loads(a) for a in line if a.startswith('{"driver": "vssd')]
        with pytest.raises(UserError, match="--drive state .*: in use"):
            drives.claim(args.further, False)
    assert [d["id"] for d in devices] == ["ssd0", "ssd1", "ssd2", "ssd3", "ssd4"]
    assert "bus" not in devices[0]
    for d in devices[1:]:
        assert any(a.startswith(f"pcie-root-port,id={d['bus']},") for a in line)
    assert [d["options"] for d in devices] == \
        ["seed=7", "seed=8", "seed=3", "seed=10", "seed=11"]
    assert devices[3]["state"] == f"{tmp_path}/s"
    nodes = {json.loads(a)["node-name"]: json.loads(a)["file"]["filename"]
             for a in line if '"node-name"' in a}
    assert [nodes[devices[3][name]] for name in ("drive", "drive2")] == \
        [str(a[2]) for a in made[1:]]
    assert "drive2" not in devices[1]
    assert devices[4]["state"] == f"{args.folder}/drive4.state"


def stats_of(mean: float, late: float, count: int = 10) -> dict[str, Any]:
    """A drive's statistics, as far as the summary reads them."""
    return {"profile": "tiny", "requests": count, "waf": 1,
            "latency_ns": {"read": {"count": count, "mean": mean, "max": mean},
                           "write": {"count": 0, "mean": None, "max": 0}},
            "lateness_ns": {"mean": late, "p50": late, "p99": late,
                            "max": late}}


def test_summary_of_every_drive() -> None:
    """Each by its id; one alone as ever."""
    two = {"ssd0": stats_of(1e5, 10), "ssd1": stats_of(2e5, 10)}
    text = report.summary_of_all(two, icount=False)
    assert "drive ssd0: profile tiny" in text
    assert "drive ssd1: profile tiny" in text and "mean 200 us" in text
    one = {"ssd0": stats_of(1e5, 10)}
    assert report.summary_of_all(one, icount=False) == \
        report.summary(one["ssd0"])
    assert report.as_one(one) == one["ssd0"]
    assert report.as_one(two) == {"drives": two}


def drive_with(image: Path, size: int, *sets: str, fmt: str = "qcow2",
               profile: str = "tlc-generic") -> hardware.Drive:
    """Of an image of so many bytes."""
    if fmt == "qcow2":
        image.write_bytes(spare.QCOW2.pack(b"QFI\xfb", size))
    else:
        with image.open("wb") as f:
            f.truncate(size)
    return hardware.Drive(image, fmt, profile=paths.find_profile(profile),
                         sets=list(sets))


@pytest.mark.parametrize("fmt", ["qcow2", "raw"])
def test_far_more_spare_space_is_told(tmp_path: Path, fmt: str) -> None:
    """In one line, with the image that gives the drive its share; a drive
    whose image has its capacity, or that was given spare space, has none."""
    small = drive_with(tmp_path / "a", 3 << 30, "seed=1", fmt=fmt)
    text = spare.advice([small], ["ssd0"])
    assert "ssd0 has 187 % spare space, 7 % by its data sheet" in text
    assert text.count("\n") == 0 and spare.advice([small], []) == ""
    size = re.search(r"an image of (\d+) bytes", text)
    assert size and int(size[1]) == pytest.approx(8655159296, rel=1e-6)
    for sets in (["ftl.op_percent=187%"], ["ftl.capacity=3GiB"],
                 ["nand.blocks=56"]):
        drive = drive_with(tmp_path / "b", 3 << 30, *sets, fmt=fmt)
        assert spare.advice([drive], ["ssd0"]) == ""
    whole = drive_with(tmp_path / "c", 8655159296, fmt=fmt)
    assert "ssd1 has" in spare.advice([whole, small], ["ssd0", "ssd1"])
    assert "ssd0" not in spare.advice([whole, small], ["ssd0", "ssd1"])
    small.profile = None
    (tmp_path / "a").write_bytes(b"")
    assert spare.advice([small], ["ssd0"]) == ""


def test_spare_space_is_that_of_the_model(tmp_path: Path) -> None:
    """For every profile: as much as vssd-sim says; nothing of zones."""
    for path in sorted((paths.PROJECT / "profiles").glob("*.ini")):
        info = model.drive_info(path, [])
        found = spare.of(drive_with(tmp_path / "x", info["capacity_bytes"],
                                    profile=path.stem))
        if "[zones]" in path.read_text(encoding="utf-8"):
            assert found is None, path
            continue
        assert found, path
        ratio = 100 * (info["raw_bytes"] / info["capacity_bytes"] - 1)
        assert found.now == pytest.approx(ratio) and not found.is_far, path


def test_lateness_is_explained() -> None:
    """Where it is a tenth of the latency or more; never in virtual time."""
    bad = {"ssd0": stats_of(1e5, 10), "ssd1": stats_of(1e5, 3e4)}
    text = report.summary_of_all(bad, icount=False)
    assert "ssd1 completed commands 30 us late on average (latency 100 us)" \
        in text
    assert "--icount" in text
    assert "--icount" not in report.summary_of_all(bad, icount=True)
    for fine in (stats_of(1e5, 9e3), stats_of(1e5, 9e3, count=0), {}):
        assert report.lateness_advice({"ssd0": fine}) == ""
