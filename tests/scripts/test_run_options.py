# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd run and its sisters without a guest: what is refused before anything
is made, what is printed, and how lines reach the console."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from vssd import paths
from vssd.build.qemu_build import Qemu
from vssd.cli import libvirt as cmd_libvirt
from vssd.cli import main as cli
from vssd.cli import powercut as cmd_powercut
from vssd.cli import run as cmd_run
from vssd.cli import sim as cmd_sim
from vssd.errors import UserError
from vssd.guest import console, domain, hardware, image, machine


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    return tmp_path / "cache"


def parsed(*args: str) -> argparse.Namespace:
    """./vssd run's arguments, checked."""
    found = cli.parser().parse_args(["run", *args])
    cmd_run.check(found)
    return found


@pytest.mark.parametrize("args, says", [
    (["--timeout", "5"], "--timeout: only with --exec"),
    (["--timeout", "-5", "--exec", "x"], "--timeout -5: allowed above 0"),
    (["--exec", ""], "--exec: give a command"),
    (["--wait-network"], "--wait-network: only with --exec"),
    (["--wait-network", "--icount", "--exec", "x"],
     "--wait-network: not with --icount"),
    (["--exec", " "], "--exec: give a command"),
    (["--icount", "--smp", "4"], "--smp 4: with --icount only 1"),
    (["--smp", "0"], "--smp 0: allowed 1..255"),
    (["--print-command", "--exec", "x"], "--exec: not with --print-command"),
    (["--print-command", "--stats", "x"], "--stats: not with --print-command"),
    (["--stats", "/nowhere/x"], "--stats /nowhere/x: No such file"),
    (["--console", "/nowhere/x"], "--console /nowhere/x: No such file"),
    (["--qemu-log", "/nowhere/x"], "--qemu-log /nowhere/x: No such file"),
    (["--oplog", "/nowhere/x"], "--oplog /nowhere/x: No such file"),
    (["--timeline", "/nowhere/x"], "--timeline /nowhere/x: No such file"),
    (["--timeline-for", "1s"], "--timeline-for needs --timeline"),
    (["--controllers", "0"], "--controllers 0: allowed 1..24"),
    (["--controllers", "25"], "--controllers 25: allowed 1..24"),
    (["--sriov-vfs", "32"], "--sriov-vfs 32: allowed 0..31"),
    (["--sriov-vfs", "-1"], "--sriov-vfs -1: allowed 0..31"),
    (["--sriov-vfs", "1", "--device", "nvme"],
     "--sriov-vfs: only with --device vssd"),
    (["--controllers", "2", "--device", "nvme"],
     "--controllers: only with --device vssd"),
    (["--trace", "/nowhere/x"], "--trace /nowhere/x: No such file"),
    (["--state", "/nowhere/x"], "--state /nowhere/x: No such file"),
    (["--stats", "/"], "--stats /: Is a directory"),
])
def test_refused_before_the_run(args: list[str], says: str) -> None:
    """In one line that names the option."""
    with pytest.raises(UserError) as e:
        parsed(*args)
    assert says in str(e.value)


def test_cpus() -> None:
    """One in virtual time, else two."""
    assert parsed().smp == 2
    assert parsed("--icount").smp == 1
    assert parsed("--icount", "--smp", "1").smp == 1


@pytest.mark.parametrize("args, says", [
    (["run", "--nothing"], "vssd: run: unrecognized arguments: --nothing"
     " (./vssd run --help says more)"),
    (["run", "--smp", "x"], "vssd: run: argument --smp: invalid int value: 'x'"
     " (./vssd run --help says more)"),
    (["run", "nvme", "list"], "vssd: what is 'nvme'? Arguments for QEMU come"
     " after -- (./vssd --help says more)"),
    ([], "vssd: the following arguments are required: COMMAND (./vssd --help"
     " says more)"),
])
def test_usage_errors_are_one_line(args: list[str], says: str,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    """With status 2."""
    with pytest.raises(SystemExit) as e:
        cli.main(args)
    assert e.value.code == 2
    assert capsys.readouterr().err == says + "\n"


def test_one_prefix(monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the device's own message begins with our name."""
    def fail(_: argparse.Namespace) -> int:
        raise UserError("vssd: nand.read=x: allowed")

    monkeypatch.setattr(cmd_sim, "main", fail)
    monkeypatch.setattr("vssd.build.venv.enter", lambda _: None)
    assert cli.main(["sim", "options"]) == 1
    assert capsys.readouterr().err == "vssd: nand.read=x: allowed\n"


def test_complaints_among_trace_events() -> None:
    """QEMU's own line is the reason, not what -trace showed before it."""
    text = ("vssd_start ssd0\n/x/qemu-system-x86_64: -device vssd,drive=d:"
            " vssd: drive=d: no such node\n")
    assert machine.check_text(text) == "drive=d: no such node"


def spec(**more: object) -> hardware.Spec:
    """A machine as --print-command has it."""
    drive = hardware.Drive(Path("/a b,c.raw"), "raw", "vssd",
                          Path("/p.ini"), ["nand.read=90us", "seed=1"],
                          forget=True)
    return hardware.Spec(Path("/q/qemu-system-x86_64"), "tcg", [drive],
                        pause_at_end=False, **more)  # type: ignore[arg-type]


def test_printed_command_is_for_a_shell() -> None:
    """Quotes, semicolons, commas; the guest's end is QEMU's."""
    args = hardware.command_line(spec(append="root=x console=ttyS0"))
    line = shlex.join(args)
    out = subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"],
                         capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == args
    assert "-action" not in args
    assert "if=none,id=disk0,format=raw,discard=unmap,snapshot=on," \
        "aio=threads,file=/a b,,c.raw" in args
    assert any("nand.read=90us;seed=1" in a for a in args)


def test_controllers_of_a_drive() -> None:
    """The drive says how many; the further ones come behind it."""
    both = spec()
    both.drives[0].controllers = 3
    devices = [json.loads(a) for a in hardware.command_line(both)
               if a.startswith('{"driver": "vssd')]
    assert [d["driver"] for d in devices] == ["vssd"] + 2 * ["vssd-ctrl"]
    assert devices[0]["controllers"] == 3
    assert {d["subsys"] for d in devices[1:]} == {devices[0]["id"]}
    assert len({d["id"] for d in devices}) == 3


def test_virtual_functions_of_a_drive() -> None:
    """In a slot of their own, whose bus they share with the drive."""
    one = spec()
    one.drives[0].sriov_vfs = 3
    line = hardware.command_line(one)
    drive = next(json.loads(a) for a in line if a.startswith('{"driver": "vssd'))
    assert drive["sriov_vfs"] == 3
    assert any(a.startswith(f"pcie-root-port,id={drive['bus']},")
               for a in line)


def test_printed_paths_are_absolute(tmp_path: Path,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is pasted anywhere."""
    for name in ("d.raw", "k", "i"):
        (tmp_path / name).write_bytes(bytes(512))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vssd.build.emulator.ensure", lambda *_: Qemu(Path("/q")))
    monkeypatch.setattr("vssd.guest.kvm.accelerator", lambda _: "tcg")
    for more in ([], ["--keep"]):
        args = parsed("--print-command", "--disk", "d.raw", "--kernel", "k",
                      "--initrd", "i", "--state", "s", "--oplog", "o", "--timeline", "t",
                      "--timeline-for", "1s", *more)
        with cmd_run.prepared(args) as found:
            line = " ".join(hardware.command_line(found))
        for name in ("d.raw", "k", "i", "s", "o", "t"):
            assert f"{tmp_path}/{name}" in line
        assert '"timeline_for": "1s"' in line


def test_one_user_of_a_state(tmp_path: Path) -> None:
    """Also for a file that is not there yet, and by another name."""
    state = tmp_path / "a.state"
    first = paths.claim("--state", state)
    other = tmp_path / "b"
    other.symlink_to(state)
    for path in (state, other, tmp_path / "cache/../a.state"):
        with pytest.raises(UserError, match="in use by another vssd"
                           rf" \(process {os.getpid()}\)"):
            paths.claim("-o", path)
        with pytest.raises(UserError, match="--state .*: in use"):
            paths.claim("--state", path, shared=True)
    os.close(first)
    readers = [paths.claim("--state", state, shared=True) for _ in range(2)]
    with pytest.raises(UserError, match="in use"):
        paths.claim("--save-state", state)
    for fd in readers:
        os.close(fd)


def test_sim_claims_its_states(tmp_path: Path) -> None:
    """Reading is shared, writing is not; the locks live on in vssd-sim."""
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    held = cmd_sim.claim_states(["--state", a, f"--save-state={b}"])
    assert all(os.get_inheritable(fd) for fd in held)
    held += cmd_sim.claim_states([f"--state={a}"])
    for rest in (["--save-state", a], ["--state", b]):
        with pytest.raises(UserError, match="in use"):
            cmd_sim.claim_states(rest)
    for fd in held:
        os.close(fd)
    for fd in cmd_sim.claim_states(["--state", a, "--save-state", a]):
        os.close(fd)


def test_printing_leaves_no_file(cache: Path, tmp_path: Path) -> None:
    """No image of a guest that is kept, no lock of a state."""
    guest = image.Image(tmp_path)
    with pytest.raises(UserError, match="run once with --keep"):
        cmd_run._kept(parsed("--print-command", "--keep"),
                      Qemu(tmp_path), guest, guest.disk, "raw")
    for rest in (["run", "--save-state", "s", "--help"],
                 ["replay", "--state=s", "--describe"]):
        assert cmd_sim.claim_states(rest) == []
    assert not [p for p in cache.rglob("*") if p.is_file()]


def test_powercut_of_a_run_that_ends_with_it() -> None:
    """The cut is done; that QEMU has gone before `cont` is no error."""
    from qemu.qmp import QMPError

    said: list[str] = []

    class Monitor:
        """QEMU's, until the machine is reset."""

        def cmd(self, name: str, **_: object) -> None:
            """Gone after the cut."""
            said.append(name)
            if name == "cont":
                raise QMPError("not connected")

    cmd_powercut.cut(Monitor(), "reset", ["ssd0"])
    assert said == ["stop", "qom-set", "cont"]


class FakeGuest:
    """Takes lines, as a guest that is quiet."""

    def __init__(self) -> None:
        self.prompt, self.ended = asyncio.Event(), asyncio.Event()
        self.prompt.set()
        self.on_console = None
        self.typed: list[bytes] = []
        self.presses = 0
        self.hears = 1  # the press that it hears

    first = staticmethod(machine.Machine.first)

    async def type(self, data: bytes) -> None:
        """A line."""
        self.typed.append(data)

    async def press_power_button(self) -> None:
        """The end, if it hears it."""
        self.presses += 1
        if self.presses == self.hears:
            self.ended.set()


@pytest.fixture
def fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As standard input."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
    monkeypatch.setattr(console, "STDIN", fd)
    monkeypatch.setattr(console, "QUIET_S", 0.01)
    return path


def test_lines_of_a_fifo(fifo: Path) -> None:
    """Each is typed when it comes, not when the FIFO ends."""
    writer = os.open(fifo, os.O_WRONLY)

    async def go() -> FakeGuest:
        guest = FakeGuest()
        task = asyncio.create_task(
            console.relay_pipe(guest))  # type: ignore[arg-type]
        for i, data in enumerate((b"root\n", b"ls\nec", b"ho x\nlast")):
            os.write(writer, data)
            want = [1, 2, 3][i]
            end = time.monotonic() + 20
            while len(guest.typed) < want and time.monotonic() < end:
                await asyncio.sleep(0.01)
            assert len(guest.typed) == want
        assert guest.presses == 0
        os.close(writer)
        await asyncio.wait_for(task, 20)
        return guest

    guest = asyncio.run(go())
    assert guest.typed == [b"root\n", b"ls\n", b"echo x\n", b"last"]
    assert guest.presses == 1


def test_the_power_button_is_pressed_again(
        fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest whose acpid has not begun yet hears nothing."""
    monkeypatch.setattr(console, "PRESS_S", 0.05)
    os.close(os.open(fifo, os.O_WRONLY))
    guest = FakeGuest()
    guest.hears = 2
    asyncio.run(asyncio.wait_for(
        console.relay_pipe(guest), 20))  # type: ignore[arg-type]
    assert guest.presses == 2


def test_a_guest_that_ends_before_its_input(fifo: Path) -> None:
    """Nothing waits for the rest."""
    writer = os.open(fifo, os.O_WRONLY)

    async def go() -> None:
        guest = FakeGuest()
        asyncio.get_running_loop().call_later(0.2, guest.ended.set)
        await asyncio.wait_for(
            console.relay_pipe(guest), 20)  # type: ignore[arg-type]

    asyncio.run(go())
    os.close(writer)


@pytest.fixture
def virsh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that knows a domain; what it is given to define stays in a file."""
    tools = tmp_path / "bin"
    tools.mkdir()
    tool = tools / "virsh"
    tool.write_text(
        "#!/bin/sh\n"
        f"[ $1 = domuuid ] && {{ [ $2 = old ] && echo 11-22 || exit 1; exit; }}\n"
        f"cat >{tmp_path}/defined\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return tmp_path / "defined"


def test_libvirt_updates_a_domain(virsh: Path) -> None:
    """The UUID of the one that has the name, so that libvirt takes it."""
    assert cmd_libvirt.known_uuid("old") == "11-22"
    assert cmd_libvirt.known_uuid("new") == ""
    old = domain.Domain("old", Path("/q"), "tcg", 64, 1, [], "11-22")
    assert "<uuid>11-22</uuid>" in domain.xml(old)
    same = [domain.Domain("new", Path("/q"), "tcg", mem, 1, []).lasting_uuid
            for mem in (64, 128)]
    assert same[0] == same[1] != domain.Domain(
        "other", Path("/q"), "tcg", 64, 1, []).lasting_uuid


def test_virt_install_has_no_marks() -> None:
    """virt-install 4.1 escapes quotation marks and the like twice: arguments
    for QEMU have none, and what cannot do without is refused."""
    disk = domain.Disk(Path("/a,b c.qcow2"), "qcow2", Path("/p.ini"),
                       ["nand.read=1us", "seed=2"], files={"state": Path("/s")})
    made = domain.Domain("d", Path("/q"), "tcg", 64, 1, [disk] * 9)
    command = domain.virt_install(made)
    passed = command[-1].removeprefix("--qemu-commandline=")
    args = shlex.split(passed)
    assert not set(domain.MARKS) & set("".join(args))
    assert args[-1] == (
        "vssd,id=ssd8,drive=disk8,serial=VSSD0008,profile=/p.ini,bus=slot8,"
        "options=nand.read=1us;seed=2,state=/s")
    assert args[-3] == (
        "qcow2,node-name=disk8,discard=unmap,file.driver=file,"
        "file.filename=/a,,b c.qcow2")
    ports = [x for x in args if x.startswith("pcie-root-port")]
    places = [re.findall(r"addr=0x([0-9a-f.]+)", x)[0] for x in ports]
    assert places == [f"10.{i}" for i in range(8)] + ["11.0"]
    for bad in ("/a'b", "/a&b", '/a"b'):
        disk.image = Path(bad)
        with pytest.raises(UserError, match="virt-install cannot pass"):
            domain.virt_install(made)


@pytest.mark.parametrize("args, says", [
    (["a/b"], "NAME 'a/b'"),
    (["d", "--disk", "/nowhere"], "--disk /nowhere: no such file"),
    (["d", "--smp", "0"], "--smp 0: allowed 1..255"),
    (["d", "--mem", "2T"], "--mem 2T: allowed 64M..1T, it is above 1T"),
    (["d", "--set", "x"], "--set x: give KEY=VALUE"),
    (["d", "--profile", "none"], "no profile 'none'"),
    (["d", "--drive", "tiny,size=3"], "--drive size=3"),
])
def test_libvirt_refuses(args: list[str], says: str) -> None:
    """Nonsense, before anything is made."""
    with pytest.raises(UserError, match=re.escape(says)):
        cmd_libvirt.make(cli.parser().parse_args(["libvirt", *args]))


def test_the_console_is_written_as_it_comes(tmp_path: Path) -> None:
    """And what QEMU says, too."""
    args = argparse.Namespace(console=str(tmp_path / "c"),
                              qemu_log=str(tmp_path / "q"))
    logs = cmd_run.Logs(args)
    logs.console(b"one")
    logs.qemu(b"vssd_x 1\n")
    assert (tmp_path / "c").read_bytes() == b"one"
    assert (tmp_path / "q").read_bytes() == b"vssd_x 1\n"


def test_a_full_disk_does_not_end_the_run(
        capsys: pytest.CaptureFixture[str]) -> None:
    """It is said once."""
    logs = cmd_run.Logs(argparse.Namespace(console="/dev/full", qemu_log=None))
    logs.console(b"one")
    logs.console(b"two")
    assert capsys.readouterr().err.count("--console /dev/full: No space") == 1
