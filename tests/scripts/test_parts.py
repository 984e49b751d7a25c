# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the vssd command that need neither QEMU nor a network."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import tarfile
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import pytest

from vssd import ending, paths, proc, rundir, ui
from vssd.build import qemu_package, qemu_source
from vssd.cli import libvirt as cmd_libvirt
from vssd.cli import run as cmd_run
from vssd.cli import sim as cmd_sim
from vssd.errors import UserError
from vssd.guest import control, disk, domain, hardware, image, machine
from vssd.guest.frames import HELLO_MARKS, NO_MARK, ask, new_mark
from vssd.paths import PROJECT


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    return tmp_path / "cache"


def sides(patch: Path) -> list[tuple[str, str]]:
    """The old and the new text of each hunk."""
    hunks = re.split(r"^@@.*\n", patch.read_text(), flags=re.M)[1:]

    def side(hunk: str, marks: str) -> str:
        return "".join(line[1:] + "\n" for line in hunk.splitlines()
                       if line[0] in marks)

    return [(side(hunk, " -"), side(hunk, " +")) for hunk in hunks]


def qemu_tree(folder: Path, version: str = "10.0.2") -> Path:
    """What a QEMU tree has of what we edit."""
    (folder / "subprojects").mkdir(parents=True)
    (folder / "hw").mkdir()
    (folder / "configs/devices/x86_64-softmmu").mkdir(parents=True)
    (folder / "system").mkdir()
    (folder / "system/physmem.c").write_text("/* */\n".join(
        old for p in qemu_source.patch_files() for old, _ in sides(p)))
    (folder / "VERSION").write_text(version + "\n")
    (folder / "hw/meson.build").write_text("subdir('xtensa')\n")
    (folder / "hw/Kconfig").write_text("source xtensa/Kconfig")
    (folder / "meson.build").write_text("a = 1\nsubdir('trace')\nb = 2\n")
    return folder


def test_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) \
        -> None:
    """VSSD_CACHE before XDG_CACHE_HOME before the home directory."""
    assert paths.cache_dir() == tmp_path / "cache"
    monkeypatch.delenv("VSSD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert paths.cache_dir() == tmp_path / "xdg/vssd"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert paths.cache_dir() == tmp_path / "home/.cache/vssd"


def test_key_of_tells_its_parts_apart() -> None:
    """No two lists of parts run together."""
    assert paths.key_of("ab", "c") != paths.key_of("a", "bc")
    assert paths.key_of("ab", "c") == paths.key_of("ab", "c")


def test_need_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than any disk has is refused with a way out; what is free counts, and
    neither what others use nor what root alone may use."""
    with pytest.raises(UserError, match="VSSD_CACHE"):
        paths.need_space(tmp_path, 1 << 60, "this")
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(
        (4096, 4096, 100, 60, 50, 0, 0, 0, 0, 255)))
    paths.need_space(tmp_path, 50 * 4096, "this")
    with pytest.raises(UserError, match="VSSD_CACHE"):
        paths.need_space(tmp_path, 51 * 4096, "this")


def test_find_profile(tmp_path: Path) -> None:
    """By name, by file; or the list of names."""
    assert paths.find_profile("tiny") == PROJECT / "profiles/tiny.ini"
    assert paths.find_profile("tiny.ini") == PROJECT / "profiles/tiny.ini"
    own = tmp_path / "own.ini"
    own.touch()
    assert paths.find_profile(str(own)) == own
    with pytest.raises(UserError, match="tlc-generic"):
        paths.find_profile("none")


def test_prepare_edits_once(tmp_path: Path) -> None:
    """The edits of docs/qemu-device.md, the same after a second time."""
    tree = qemu_tree(tmp_path / "q")
    for _ in range(2):
        qemu_source.prepare(tree, PROJECT)
    assert (tree / "hw/meson.build").read_text() == \
        "subdir('xtensa')\nsubdir('ssd')\n"
    assert (tree / "hw/Kconfig").read_text() == \
        "source xtensa/Kconfig\nsource ssd/Kconfig\n"
    assert (tree / "meson.build").read_text() == (
        "a = 1\ntrace_events_subdirs += [ 'hw/ssd' ]\nsubdir('trace')\n"
        "b = 2\n")
    assert (tree / "hw/ssd").resolve() == PROJECT / "hw-ssd/qemu"
    assert (tree / "subprojects/vssd").resolve() == PROJECT
    devices = (tree / "configs/devices/x86_64-softmmu/vssd.mak").read_text()
    assert "\nCONFIG_VSSD_PCI=y\n" in devices


@pytest.mark.parametrize("version", ["10.0.13", "10.2.2", "11.0.0"])
def test_prepare_patches_once(tmp_path: Path, version: str) -> None:
    """Versions before 11.0 get the patches, the same after a second time."""
    tree = qemu_tree(tmp_path / "q", version)
    for _ in range(2):
        qemu_source.prepare(tree, PROJECT)
    text = (tree / "system/physmem.c").read_text()
    hunks = [h for p in qemu_source.patch_files() for h in sides(p)]
    assert len(hunks) >= 6
    for old, new in hunks:
        assert (old in text) == (version == "11.0.0")
        assert (new in text) == (version != "11.0.0")


def test_patch_that_does_not_fit(tmp_path: Path) -> None:
    """A QEMU that somebody has changed: one line with the patch's name."""
    tree = qemu_tree(tmp_path / "q")
    (tree / "system/physmem.c").write_text("other\n")
    with pytest.raises(UserError, match=r"0001-.*patch does not apply"):
        qemu_source.prepare(tree, PROJECT)


@pytest.mark.parametrize("version", ["10.0.13", "11.0.0"])
def test_edits_of_the_page(tmp_path: Path, version: str) -> None:
    """The script of docs/qemu-device.md, run twice, makes the same edits."""
    text = (PROJECT / "docs/qemu-device.md").read_text()
    script = text.split("```sh\n")[1].split("```")[0]
    trees = [qemu_tree(tmp_path / name, version) for name in ("ours", "page")]
    for tree in trees:
        (tree / "hw/Kconfig").write_text("source xtensa/Kconfig\n")
    qemu_source.prepare(trees[0], PROJECT)
    for _ in range(2):
        subprocess.run(["sh", "-e", "-c", script], check=True,
                       env={**os.environ, "VSSD": str(PROJECT),
                            "QEMU": str(trees[1])})
    for name in ("hw/meson.build", "hw/Kconfig", "meson.build",
                 "system/physmem.c"):
        assert (trees[1] / name).read_text() == (trees[0] / name).read_text()
    for name in ("hw/ssd", "subprojects/vssd"):
        assert (trees[1] / name).resolve() == (trees[0] / name).resolve()
    assert "configs/devices/x86_64-softmmu/vssd.mak" in text


def test_old_or_foreign_qemu(tmp_path: Path) -> None:
    """7.2 is too old; a tree without VERSION is none."""
    with pytest.raises(UserError, match="10.0 or later"):
        qemu_source.check_version(qemu_tree(tmp_path / "q", "7.2.1"))
    with pytest.raises(UserError, match="no QEMU source"):
        qemu_source.check_version(tmp_path)


def test_source_from_a_tarball(tmp_path: Path) -> None:
    """Unpacked, checked and edited; a wrong checksum leaves nothing."""
    qemu_tree(tmp_path / "qemu-10.0.2")
    tar = tmp_path / "qemu.tar.gz"
    with tarfile.open(tar, "w:gz") as t:
        t.add(tmp_path / "qemu-10.0.2", "qemu-10.0.2")
    with pytest.raises(UserError, match="sha256"):
        qemu_source.obtain(qemu_source.Origin(str(tar), "00"))
    assert not [p for p in paths.cache_dir().iterdir() if p.is_dir()
                and p.name.startswith("qemu-")]
    tree = qemu_source.obtain(qemu_source.Origin(str(tar)))
    assert (tree / "hw/ssd").is_symlink()
    assert qemu_source.obtain(qemu_source.Origin(str(tar))) == tree


def test_address_needs_a_checksum() -> None:
    """Nothing is fetched that nothing vouches for."""
    with pytest.raises(UserError, match="--sha256"):
        qemu_source.obtain(qemu_source.Origin("https://x.example/qemu.tar"))


def test_telling_line() -> None:
    """The line that says why, not the last one."""
    assert proc.telling_line(["a.c:1: error: x\n", "ninja: build stopped.\n"
                              ]) == "a.c:1: error: x"
    assert "space" in proc.telling_line(["No space left on device\n", "z\n"])
    assert proc.telling_line(["cannot go on\n", "ninja: build stopped.\n"]) \
        == "cannot go on"
    assert proc.telling_line([]) == "no output"


def test_run_logged_names_the_log(cache: Path) -> None:
    """The error tells where the rest is."""
    with pytest.raises(UserError, match=r"thing failed: ERROR: bad \(log: "):
        proc.run_logged(["sh", "-c", "echo ERROR: bad; exit 3"], "t", "thing")


def test_rundir_is_removed(cache: Path) -> None:
    """Also after an error, and after a run that was killed a moment ago; one
    that is in use stays."""
    with pytest.raises(ValueError), rundir.rundir() as path:
        (path / "x").touch()
        raise ValueError
    assert not path.exists()
    dead = cache / "runs/run-dead"
    with rundir.rundir() as other:
        dead.mkdir()
        (dead / "x").touch()
        with rundir.rundir() as path:
            assert path.exists() and other.exists() and not dead.exists()


def test_rundir_in_a_folder_of_the_users(tmp_path: Path) -> None:
    """What is not ours stays, links too."""
    kept = [tmp_path / "run-1", tmp_path / "target"]
    for one in kept:
        one.mkdir()
    (tmp_path / "vssd-run-link").symlink_to(tmp_path / "target")
    (tmp_path / "vssd-run-file").touch()
    (tmp_path / "vssd-run-dead").mkdir()
    with rundir.rundir(tmp_path) as path:
        assert path.parent == tmp_path
        names = {p.name for p in tmp_path.iterdir()}
        assert names == {"run-1", "target", "vssd-run-link", "vssd-run-file",
                         path.name}


def test_rundir_swept_before_it_is_locked(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run may come between; then there is a new one."""
    made: list[Path] = []
    flock = fcntl.flock

    def late(fd: int, how: int) -> None:
        if not made:
            made.extend(tmp_path.iterdir())
            made[0].rmdir()
        flock(fd, how)
    monkeypatch.setattr(fcntl, "flock", late)
    with rundir.rundir(tmp_path) as path:
        assert made and path != made[0] and path.is_dir()


def test_only_guests_that_run_are_found(cache: Path) -> None:
    """Not what a run that was killed has left."""
    with pytest.raises(UserError, match="no guest runs"):
        rundir.find(None)
    with rundir.rundir() as path:
        (path / "qmp.sock").touch()
        dead = path.parent / "run-dead"
        dead.mkdir()
        (dead / "qmp.sock").touch()
        assert rundir.find(None).monitor == path / "qmp.sock"
        with pytest.raises(UserError, match=f"there are: {path.name}"):
            rundir.find("run-dead")
        # A look does not take what it looks at.
        with rundir.rundir() as other:
            assert path.exists() and other.exists() and not dead.exists()
            (other / "qmp.sock").touch()
            with pytest.raises(UserError, match="several guests run"):
                rundir.find(None)
    dead.mkdir()
    (dead / "qmp.sock").touch()
    with pytest.raises(UserError, match="no guest runs"):
        rundir.find(None)


def test_runs_have_names(cache: Path) -> None:
    """Of their own, or that of the directory; two guests cannot share one."""
    with rundir.rundir() as path, rundir.rundir() as other:
        rundir.describe(path, {"name": "db", "pid": 7})
        (other / "qmp.sock").touch()  # QEMU has started before it has a name
        rundir.describe(other, {"name": other.name})
        assert rundir.find("db").facts["pid"] == 7
        assert rundir.find(other.name).folder == other
        with pytest.raises(UserError, match="--name db: a guest that runs"):
            rundir.describe(other, {"name": "db"})
        for bad in ("", "-x", "a/b", "a b", "x" * 64):
            with pytest.raises(UserError, match="--name .*: allowed are"):
                rundir.check_name(bad)
    rundir.check_name("db")


def test_runs_of_tests_are_apart(cache: Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """With VSSD_RUNS a command sees the guests there, and no others."""
    with rundir.rundir() as mine, rundir.apart() as runs:
        rundir.describe(mine, {"name": "mine"})
        monkeypatch.setenv("VSSD_RUNS", str(runs))
        with pytest.raises(UserError, match="no guest runs"):
            rundir.find()
        with rundir.rundir() as path:
            assert path.parent == runs
            assert len(str(path)) <= len(str(mine)) + len("/t-12345678")
            rundir.describe(path, {"name": "mine"})  # the name is free there
            assert rundir.find().folder == path
            monkeypatch.delenv("VSSD_RUNS")
            assert rundir.find().folder == mine
            assert len(rundir.users_of_the_cache()) == 3
    assert not runs.exists()


def test_runs_of_tests_that_were_killed(cache: Path) -> None:
    """Go, but for those with a guest that is alive; whatever their PIDs."""
    folder = paths.cache_dir() / "runs"
    empty, used = folder / "t-empty", folder / "t-used"
    (empty / "run-dead").mkdir(parents=True)
    (empty / "run-dead/qmp.sock").touch()
    used.mkdir()
    with rundir.rundir(used) as path:
        guest = path.rename(used / "run-1")
        (guest / "qmp.sock").touch()
        with rundir.apart() as runs:
            assert runs.exists() and used.exists() and not empty.exists()
            with rundir.apart() as other, rundir.rundir():
                assert runs.exists() and other.exists() and used.exists()
        guest.rename(path)
    with rundir.apart():
        assert not used.exists()


def frames(*parts: tuple[bytes, bytes]) -> bytes:
    """As the agent writes them."""
    return b"".join(kind + struct.pack("<I", len(data)) + data
                    for kind, data in parts)


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
def test_frames_in_any_pieces(step: int) -> None:
    """Firmware's noise is skipped, frames come out whole."""
    data = b"BdsDxe: noise \0" + machine.HELLO + frames(
        (b"O", b"out\n"), (b"E", b""), (b"X", struct.pack("<I", 3)))
    reader = machine.FrameReader()
    found = []
    for i in range(0, len(data), step):
        found += reader.feed(data[i:i + step])
    assert found == [("O", b"out\n"), ("E", b""), ("X", b"\3\0\0\0")]


def test_a_run_that_a_signal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes twice at once spares QEMU, whose statistics follow; a
    later one does not."""
    m = machine.Machine(hardware.Spec(Path("/q"), "tcg", []))
    monkeypatch.setattr(ending.Ended, "number", 0)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        m.proc = sleeper

        async def signalled() -> None:
            with machine.heeding(m):
                for _ in range(2):
                    os.kill(os.getpid(), signal.SIGTERM)
                    await asyncio.sleep(0.05)
                assert (m.interrupted, m.end_reason) == (15, "SIGTERM")
                assert sleeper.poll() is None
                m.interrupted_at -= ending.AGAIN_S
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.05)
            assert m.interrupted == signal.SIGTERM

        before = signal.getsignal(signal.SIGTERM)
        asyncio.run(signalled())
        assert signal.getsignal(signal.SIGTERM) == before
        assert sleeper.wait(10) == -signal.SIGKILL


SAYS = frames((b"O", b"out"), (b"X", bytes([7, 0, 0, 0])))
SAID = [("O", b"out"), ("X", b"\7\0\0\0")]


def greeted() -> machine.FrameReader:
    """A reader that has seen a greeting."""
    reader = machine.FrameReader()
    assert reader.feed(machine.HELLO) == []
    return reader


def fed(reader: machine.FrameReader, *chunks: bytes) -> list[tuple[str, bytes]]:
    """What a reader finds in all of these."""
    return [frame for chunk in chunks for frame in reader.feed(chunk)]


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
def test_frames_after_a_second_greeting(step: int) -> None:
    """The guest has started again, with noise of its firmware or without."""
    for noise in (b"", b"BdsDxe: noise \0", b"\0\0\0", b"\xff"):
        for hello in (machine.HELLO, HELLO_MARKS):
            data = SAYS + noise + hello + SAYS
            reader = greeted()
            pieces = [data[i:i + step] for i in range(0, len(data), step)]
            assert fed(reader, *pieces) == 2 * SAID
            assert reader.greetings == 2
            assert reader.marks == (hello == HELLO_MARKS)


def test_question_within_a_request() -> None:
    """Wherever a request ends in it, the agent finds no other in its rest."""
    question = ask(NO_MARK, new_mark())
    for at in range(1, len(question)):
        rest = question[at:].lstrip(b"\0")
        assert rest[:1] not in (b"R", b"T", b"I", b"K", b"P"), at
        # A length that the question completes is too large, or zeros follow.
        for begun in (b"", b"\1", b"\1\1", b"\1\1\0"):
            size = int.from_bytes((begun + question)[:4], "little")
            text = question[4 - len(begun):][:max(size, 3)]
            assert size > control.COMMAND_MAX or b"\0" in text


def test_answer_with_a_mark() -> None:
    """A frame of its size."""
    assert fed(greeted(), frames((b"S", new_mark()), (b"A", b""))) \
        == [("S", mock.ANY), ("A", b"")]
    assert fed(greeted(), frames((b"S", b"short")), machine.HELLO, SAYS) == SAID


def test_frames_cut_by_a_new_start() -> None:
    """A frame that ends anywhere, then a greeting: what follows is whole."""
    for cut in (frames((b"O", bytes(100))), frames((b"O", b"x" * 4096)),
                frames((b"E", b"OEAX" * 9)), frames((b"A", b"")),
                frames((b"X", b"\3\0\0\0")), frames((b"O", b"x" * 13))):
        for at in range(1, len(cut)):
            for told in (False, True):
                reader = greeted()
                fed(reader, cut[:at], machine.HELLO)
                if told and reader.greetings == 1:  # the bytes leave it open
                    reader.restarted()
                    assert reader.greetings == 2 and not reader.data
                found = fed(reader, SAYS, SAYS)
                assert found[-2:] == SAID, (cut, at, told)
                reader = greeted()
                fed(reader, cut[:at])
                reader.restarted()
                assert fed(reader, machine.HELLO, SAYS) == SAID


def test_a_greeting_as_payload() -> None:
    """It is one when the frame goes on, however the bytes come."""
    for payload in (machine.HELLO, b"a" + machine.HELLO + b"b",
                    2 * machine.HELLO, machine.HELLO[2:],
                    b"O\1\0\0\0" + machine.HELLO + b"O\1\0\0\0xy"):
        data = frames((b"O", payload), (b"X", bytes(4)))
        for at in range(len(data)):
            reader = greeted()
            # Where the bytes so far are those of a new start, too, the machine
            # has other means than a guess.
            reader.guess = b"O\1" not in payload
            assert fed(reader, data[:at], data[at:]) == [
                ("O", payload), ("X", bytes(4))], (payload, at)
            assert reader.greetings == 1


def test_frames_are_bounded() -> None:
    """What no agent sends is kept nowhere, and a greeting mends it."""
    for bad in (b"O\0\0\0\x7f", b"A\1\0\0\0", b"X\5\0\0\0", b"vssd",
                b"X\4\0\0\0\0\1\0\0"):
        reader = greeted()
        assert fed(reader, bad, *(9 * [b"O" * 65536])) == []
        assert len(reader.data) < 100
        assert fed(reader, machine.HELLO, SAYS) == SAID


def test_qemus_complaint_is_one_line() -> None:
    """Without the program's name and the device's arguments."""
    text = ("/x/qemu-system-x86_64: warning: nothing\n"
            '/x/qemu-system-x86_64: -device {"driver": "vssd", "id": "a"}:'
            " vssd: nand.channels=0: allowed 1..64\n")
    assert machine.check_text(text) == \
        "nand.channels=0: allowed 1..64"


def test_mem_sizes() -> None:
    """As QEMU takes them."""
    assert cmd_run.mebibytes("512") == 512
    assert cmd_run.mebibytes("2G") == 2048
    assert cmd_run.mebibytes("768M") == 768
    assert cmd_run.mebibytes("2.5G") == 2560
    for bad in ("", "1", "2T", "-5M", "64.5M"):
        with pytest.raises(UserError, match="--mem"):
            cmd_run.mebibytes(bad)


def test_image_formats(tmp_path: Path) -> None:
    """By content, not by name."""
    path = tmp_path / "x.img"
    path.write_bytes(b"QFI\xfb" + bytes(100))
    assert cmd_run.image_format(path) == "qcow2"
    path.write_bytes(bytes(100))
    assert cmd_run.image_format(path) == "raw"
    path.write_bytes(b"KDMV" + bytes(100))
    with pytest.raises(UserError, match="convert"):
        cmd_run.image_format(path)


def test_sim_resolves_profiles() -> None:
    """Names of shipped profiles become files."""
    tiny = str(PROJECT / "profiles/tiny.ini")
    assert cmd_sim.resolved(["--profile", "tiny", "--json"]) == \
        ["--profile", tiny, "--json"]
    assert cmd_sim.resolved(["--profile=tiny"]) == ["--profile=" + tiny]


def test_libvirt_domain_is_xml() -> None:
    """Whatever the names hold."""
    disks = [domain.Disk(Path('/a "b" & <c>.qcow2'), "qcow2", Path("/p.ini"),
                         ["nand.read=1us"]),
             domain.Disk(Path("/d.raw"), "raw", Path("/q.ini"), serial="X1",
                         files={"state": Path("/s")})]
    made = domain.Domain("d", Path("/q"), "tcg", 512, 2, disks)
    top = ElementTree.fromstring(domain.xml(made))
    assert top.get("type") == "qemu"
    assert top.findtext("uuid") == made.lasting_uuid
    ports = [e for e in top.iter("controller")
             if e.get("model") == "pcie-root-port"]
    assert len(ports) == domain.SPARE_PORTS
    values = [e.get("value") or "" for e in
              top.iter(f"{{{domain.QEMU_NS}}}arg")]
    devices = [json.loads(v) for v in values if '"driver": "vssd"' in v]
    assert [d["bus"] for d in devices] == ["slot0", "slot1"]
    assert [d.get("options") for d in devices] == ["nand.read=1us", None]
    assert devices[1]["serial"] == "X1" and devices[1]["state"] == "/s"
    assert any("<c>" in v for v in values)
    rules = domain.apparmor_rules(made, Path("/base.raw")).splitlines()
    assert '"/q" rmix,' in rules and '"/base.raw" rk,' in rules
    assert '"/d.raw" rwk,' in rules and '"/s*" rwk,' in rules
    assert domain.apparmor_daemon_rules(made) == '"/q" PUx,\n'
    # virt-aa-helper refuses a domain that names a file of /usr/share/seabios.
    assert top.find("os/loader") is None


@pytest.mark.parametrize("unpacked", [False, True])
def test_apparmor_permits_the_plugin(tmp_path: Path, unpacked: bool,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the machine's own QEMU loads it, and where it is a link."""
    (tmp_path / "package.so").touch()
    (tmp_path / "vssd-qemu.so").symlink_to(tmp_path / "package.so")
    package = qemu_package.Package(Path("/private"), "1:10.0.13") if unpacked else None
    monkeypatch.setattr(qemu_package, "there", lambda *_: package)
    made = domain.Domain("d", tmp_path / "qemu", "tcg", 512, 2, [])
    rules = domain.apparmor_rules(made, None).splitlines()
    assert f'"{tmp_path}/package.so" rm,' in rules
    assert "/{usr/,}bin/{da,}sh rmix," in rules
    assert ('"/private/**" rmix,' in rules) == unpacked


def test_libvirt_refuses_odd_names() -> None:
    """A name that a shell or libvirt would trip over."""
    with pytest.raises(UserError, match="NAME"):
        cmd_libvirt.check(argparse.Namespace(name="../x", disk=None))


def test_disk_layout(tmp_path: Path) -> None:
    """A GPT that sfdisk reads, GRUB's first sector pointing to the second."""
    if not (disk.GRUB / "i386-pc/boot.img").exists():
        pytest.skip("GRUB's images are not installed")
    image = tmp_path / "d.raw"
    uuid = "11111111-2222-3333-4444-555555555555"
    layout = disk.make(image, uuid, tmp_path)
    out = subprocess.run(["/sbin/sfdisk", "-d", image], text=True,
                         capture_output=True, check=True).stdout
    assert out.count("start=") == 3
    assert uuid in out.lower()
    with image.open("rb") as f:
        mbr = f.read(512)
        f.seek(disk.BIOS_START * 512)
        core = f.read(512)
        f.seek(disk.ESP_START * 512)
        esp = f.read(512)
    assert struct.unpack_from("<Q", mbr, disk.BOOT_KERNEL_SECTOR)[0] == \
        disk.BIOS_START
    assert struct.unpack_from("<Q", core, disk.CORE_BLOCKLIST)[0] == \
        disk.BIOS_START + 1
    assert mbr[510:] == b"\x55\xaa" and esp[510:] == b"\x55\xaa"
    assert layout.root_start_bytes % (1 << 20) == 0
    assert layout.root_start_bytes + layout.root_bytes < disk.DISK_BYTES


def vssd(*args: str) -> subprocess.CompletedProcess[str]:
    """The command, on paths that need no build."""
    return subprocess.run([str(PROJECT / "vssd"), *args], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)


@pytest.mark.parametrize("command", ["setup", "run", "test", "bench",
                                     "libvirt"])
def test_help_everywhere(command: str) -> None:
    """Each command explains itself, without setting anything up."""
    done = vssd(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: vssd {command}")


def test_dry_run_changes_nothing(cache: Path) -> None:
    """It says what it would do."""
    done = vssd("setup", "--dry-run")
    assert done.returncode == 0
    assert "would make in" in done.stdout
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("kib, user, in_memory", [
    (8 << 20, 0, True), (4 << 20, 0, False), (8 << 20, 1000, False)])
def test_root_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kib: int,
                        user: int, in_memory: bool) -> None:
    """A root is made in memory if it is root's and there is enough; dpkg saves
    fsync() there, and not in the guest."""
    ran: list[list[str]] = []
    monkeypatch.setattr(image, "run_logged",
                        lambda args, *_, **__: ran.append(list(args)))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__:
                        subprocess.CompletedProcess([], 0, "", ""))
    monkeypatch.setattr(Path, "read_text", lambda *_, **__:
                        f"MemTotal: 1 kB\nMemAvailable: {kib} kB\n")
    image.mmdebstrap(tmp_path / "root.tar", "trixie", [], ["bash"],
                     ui.Stage("test"), ())
    assert (ran[0][0] == "unshare") == in_memory
    at = ran[0].index("--dpkgopt=force-unsafe-io")
    assert "/^force-unsafe-io$/d" in ran[0][at + 1]


def test_root_that_memory_has_no_room_for(tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made on the disk then; any other failure is told at once."""
    ran: list[str] = []

    def fail_in_memory(args: list[str], *_: object, **__: object) -> None:
        ran.append(args[0])
        if args[0] == "in-memory":
            raise UserError("mmdebstrap failed")

    monkeypatch.setattr(image, "_in_memory", lambda: ["in-memory"])
    monkeypatch.setattr(image, "run_logged", fail_in_memory)
    monkeypatch.setattr(image, "log_file", lambda _: tmp_path / "log")
    (tmp_path / "log").write_text("dpkg: error: No space left on device\n")
    image.mmdebstrap(tmp_path / "root.tar", "trixie", [], ["bash"],
                     ui.Stage("test"), ())
    assert ran == ["in-memory", "mmdebstrap"]
    (tmp_path / "log").write_text("E: no such package\n")
    with pytest.raises(UserError):
        image.mmdebstrap(tmp_path / "root.tar", "trixie", [], ["bash"],
                         ui.Stage("test"), ())
    assert ran == ["in-memory", "mmdebstrap", "in-memory"]
