# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of other architectures: refusals, QEMU's command line, and the parts
of their image that need no package."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from vssd import arch, paths
from vssd.build import aptsrc, packages, qemu_build
from vssd.cli import main as cli
from vssd.cli import run as cmd_run
from vssd.errors import UserError
from vssd.guest import cache, foreign, hardware, image, kvm, machine

FOREIGN = list(arch.FOREIGN.values())


@pytest.fixture(autouse=True, name="folder")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_SHARED_CACHE", raising=False)
    return paths.cache_dir()


def refused(*args: str) -> str:
    """What ./vssd run says of these arguments."""
    with pytest.raises(UserError) as e:
        cmd_run.check(cli.parser().parse_args(["run", *args]))
    return str(e.value)


@pytest.mark.parametrize("name", arch.FOREIGN)
@pytest.mark.parametrize("more", [
    ["--suite", "bookworm"], ["--disk", __file__], ["--firmware", "ovmf"],
    ["--server"]], ids=lambda more: more[0])
def test_refused_options(name: str, more: list[str]) -> None:
    """One line that names the option and the architecture."""
    said = refused("--arch", name, *more)
    assert said == f"{more[0]}: not with --arch {name} (docs/architectures.md)"


def test_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """The others are listed."""
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["run", "--arch", "vax"])
    assert "aarch64" in capsys.readouterr().err


@pytest.mark.parametrize("have", arch.ALL.values(), ids=lambda a: a.name)
@pytest.mark.parametrize("guest", arch.ALL.values(), ids=lambda a: a.name)
def test_kernel_of_another(have: arch.Arch, guest: arch.Arch,
                           tmp_path: Path) -> None:
    """By the magic number; a kernel without one is taken as it is."""
    path = tmp_path / "kernel"
    path.write_bytes(bytes(have.magic_at) + have.magic + bytes(4096))
    if have is guest:
        foreign.check_kernel(path, guest)
    else:
        said = refused("--arch", guest.name, "--kernel", str(path))
        assert f"a kernel of {have.name}, and the guest is {guest.name}" in said
    path.write_bytes(bytes(8192))
    foreign.check_kernel(path, guest)


@pytest.mark.parametrize("one", FOREIGN, ids=lambda a: a.name)
def test_command_line(one: arch.Arch) -> None:
    """Nothing of x86's machine is in it; the drive is."""
    drive = hardware.Drive(Path("/d.raw"), "raw", slot=True)
    spec = hardware.Spec(Path(f"/q/{one.emulator}"), "tcg", [drive],
                        arch=one, kernel=Path("/k"), append=one.kernel_command_line)
    args = hardware.command_line(spec)
    assert args[args.index("-machine") + 1] == "virt"
    assert args[args.index("-cpu") + 1] == one.cpu
    assert args[args.index("-append") + 1] == f"console={one.console}"
    assert ("-bios" in args) == bool(one.bios)
    assert not any(word in " ".join(args) for word in
                   ("ICH9", "svm=off", "q35", "no_timer_check"))
    devices = [json.loads(a) for a in args if a.startswith('{"driver": "vssd"')]
    assert devices[0]["bus"] == "slot0"


def test_x86_command_line() -> None:
    """As without the option."""
    drive = hardware.Drive(Path("/d.raw"), "raw", slot=True)
    args = hardware.command_line(hardware.Spec(Path("/q"), "tcg", [drive]))
    assert args[args.index("-machine") + 1] == "q35,sata=off,i8042=off"
    assert args[args.index("-cpu") + 1] == "max,svm=off,erms=off,fsrm=off,smap=off"
    assert "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off" in args
    assert hardware.KERNEL_ARGS.startswith("console=ttyS0 no_timer_check ")


@pytest.mark.parametrize("one", FOREIGN, ids=lambda a: a.name)
def test_complaints(one: arch.Arch) -> None:
    """Without the emulator's name, whichever it is."""
    said = machine.check_text(f"/x/{one.emulator}: -device vssd: no\n")
    assert said == "no"


@pytest.mark.parametrize("one", FOREIGN, ids=lambda a: a.name)
def test_builds(one: arch.Arch, monkeypatch: pytest.MonkeyPatch,
                folder: Path) -> None:
    """One build directory for all; of it the emulator that is needed; kept by
    a key of its own; always TCG."""
    built: list[tuple[str, ...]] = []

    def build(_origin: object, flags: tuple[str, ...],
              targets: tuple[str, ...]) -> qemu_build.Qemu:
        assert flags == qemu_build.FOREIGN_CONFIGURE
        built.append(targets)
        for name in targets:
            (folder / name).write_text(name)
        return qemu_build.Qemu(folder)

    monkeypatch.setattr(packages, "ensure", lambda *_: None)
    monkeypatch.setattr(qemu_build, "_ensure_build", build)
    qemu = qemu_build.ensure_for(one)
    assert built == [(one.emulator, "qemu-img")]
    assert qemu.emulator.read_text() == one.emulator
    assert qemu_build.ensure_for(one) == qemu
    assert len(built) == 1
    assert kvm.accelerator(qemu) == "tcg"
    marks = {qemu_build._mark(folder, (a.emulator,)) for a in arch.ALL.values()}
    assert len(marks) == 3
    assert folder / "built" in marks


def test_busybox(tmp_path: Path) -> None:
    """Of a root as tar, wherever it is there."""
    tar = tmp_path / "root.tar"
    with tarfile.open(tar, "w") as f:
        for name, data in (("./etc/busybox", b"no"), ("./usr/bin/busybox", b"1")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            f.addfile(info, io.BytesIO(data))
    assert foreign.busybox_of(tar) == b"1"
    with tarfile.open(tar, "w"):
        pass
    with pytest.raises(UserError, match="has no busybox"):
        foreign.busybox_of(tar)


def test_old_images(folder: Path) -> None:
    """Of another recipe; not of the present one, nor behind kept writes."""
    one = arch.AARCH64
    names = [foreign.image_name(one), f"image-{one.name}-0123456789abcdef",
             f"image-{one.name}-1123456789abcdef"]
    assert len({foreign.image_name(a) for a in FOREIGN}) == len(FOREIGN)
    for name in names:
        (folder / name).mkdir()
        (folder / name / "image.json").write_text(json.dumps(
            {"partuuid": "x", "suite": image.SUITE, "packages": [],
             "arch": one.name}))
    (folder / foreign.root_name(one)).write_text("x" * 5000)
    key = image.Image(folder / names[1]).key
    (folder / f"kept-{key}.qcow2").write_text("x" * 5000)
    assert {e.path.name for e in cache.entries() if e.old} == {names[2]}


def test_sources(monkeypatch: pytest.MonkeyPatch,
                 capsys: pytest.CaptureFixture[str]) -> None:
    """Without an archive whose index cannot be had, which is said; not without
    the suite's own."""
    own = aptsrc.Source("http://mirror", image.SUITE, ("main",))
    more = aptsrc.Source("http://mirror", image.SUITE + "-security", ("main",))
    found = [own, more]
    broken: list[aptsrc.Source] = []

    def get(self: aptsrc.PrivateApt, *_: str, **__: object) -> None:
        text = (self.root / "parts/vssd.list").read_text().split()
        assert "APT::Architecture=riscv64" in self.options
        if any(s.suite in text for s in broken):
            raise UserError("no index")

    monkeypatch.setattr(image, "sources_of", lambda *_: (image.SUITE, found))
    monkeypatch.setattr(aptsrc.PrivateApt, "get", get)
    assert foreign.sources_for(arch.RISCV64, "") == found
    broken.append(more)
    assert foreign.sources_for(arch.RISCV64, "") == [own]
    assert f"without {more.suite}: no index" in capsys.readouterr().err
    broken.append(own)
    found.remove(more)
    with pytest.raises(UserError, match="no index"):
        foreign.sources_for(arch.RISCV64, "")
