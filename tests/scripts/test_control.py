# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that reach a guest that runs: the sockets of a run, with an agent
that runs its commands here; detached runs; what each command refuses."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import getpass
import io
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from vssd import paths, rundir
from vssd.cli import cp as cmd_cp
from vssd.cli import execute as cmd_execute
from vssd.cli import main as cli
from vssd.cli import ps as cmd_ps
from vssd.cli import run as cmd_run
from vssd.cli import stat as cmd_stat
from vssd.cli import stop as cmd_stop
from vssd.errors import UserError
from vssd.guest import (
    attach,
    console,
    control,
    copying,
    frames,
    hardware,
    links,
    machine,
)
from vssd.watch import source


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    return tmp_path / "cache"


class Agent(threading.Thread):
    """As guest-tools/vssd-agent.c, but its commands run here."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(daemon=True)
        self.sock = sock

    def frame(self) -> tuple[str, bytes]:
        """The next request."""
        head = self.sock.recv(5, socket.MSG_WAITALL)
        if len(head) < 5:
            raise EOFError
        size = struct.unpack("<I", head[1:])[0]
        payload = self.sock.recv(size, socket.MSG_WAITALL) if size else b""
        return chr(head[0]), payload

    def run(self) -> None:
        """Until the other end is closed."""
        try:
            self.sock.sendall(machine.HELLO)
            while True:
                kind, payload = self.frame()
                if kind in "RT":
                    self.command(payload.decode(), kind == "T")
        except (EOFError, OSError):
            pass

    def command(self, text: str, reads: bool) -> None:
        """One command, and the requests that come meanwhile."""
        with subprocess.Popen(
                text, shell=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                stdin=subprocess.PIPE if reads else subprocess.DEVNULL) as job:
            assert job.stdout
            while True:
                ready: list[int] = select.select(
                    [job.stdout.fileno(), self.sock.fileno()], [], [])[0]
                if job.stdout.fileno() in ready:  # its end is the command's
                    data = os.read(job.stdout.fileno(), 4096)
                    if not data:
                        break
                    self.sock.sendall(control.frame("O", data))
                else:
                    self.request(job)
            assert job.stderr
            self.sock.sendall(control.frame("E", job.stderr.read()))
            if job.stdin:
                with contextlib.suppress(BrokenPipeError):
                    job.stdin.close()
        status = job.returncode & 0xff
        self.sock.sendall(control.frame("X", struct.pack("<I", status)))

    def request(self, job: subprocess.Popen[bytes]) -> None:
        """Input, or the end."""
        kind, payload = self.frame()
        if kind == "K":
            os.killpg(job.pid, signal.SIGKILL)
        elif kind == "I":  # the command may take it late or never
            threading.Thread(target=self.give, args=(job, payload),
                             daemon=True).start()

    def give(self, job: subprocess.Popen[bytes], payload: bytes) -> None:
        """Input for the command; the answer when it has taken it."""
        try:
            if job.stdin and payload:
                job.stdin.write(payload)
                job.stdin.flush()
            elif job.stdin:
                job.stdin.close()
        except (BrokenPipeError, ValueError):
            pass
        if job.returncode is None:
            self.sock.sendall(control.frame("A"))


class Restarting(Agent):
    """Its guest starts again during the command "restart CUT": after CUT bytes
    of a frame of output; 0, without any."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.greets_again = threading.Event()

    def command(self, text: str, reads: bool) -> None:
        if not text.startswith("restart"):
            super().command(text, reads)
            return
        data = control.frame("O", b"x" * 100)[:int(text.split()[1])]
        if data:
            self.sock.sendall(data)
        assert self.greets_again.wait(20)
        self.greets_again.clear()
        self.sock.sendall(machine.HELLO)


class Served:
    """A run's sockets, in a thread; the guest is an Agent and an echo."""

    def __init__(self, folder: Path, setup: str = "", boots: bool = True) \
            -> None:
        self.folder, self.setup = folder, setup
        self.loop = asyncio.new_event_loop()
        self.up = threading.Event()
        self.mine, theirs = socket.socketpair()
        self.console, self.keyboard = socket.socketpair()
        self.agent = Restarting(theirs)
        if boots:
            self.agent.start()
        self.problem = ""
        threading.Thread(target=self.run, daemon=True).start()
        assert self.up.wait(20)

    def run(self) -> None:
        """The loop of ./vssd run."""
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.start())
        self.up.set()
        self.loop.run_forever()

    async def start(self) -> None:
        """As in a run that has started."""
        m = machine.Machine(hardware.Spec(Path("/q"), "tcg", []))
        m.agent, m.console = self.mine, self.console
        m._watch(m.agent, m._agent_data)
        m._watch(m.console, m._console_data)
        self.console.setblocking(False)
        self.machine = m
        self.control = control.Control(m, self.folder, self.setup)
        m.console_copy = self.control.console
        await self.control.start()

    def close(self) -> None:
        """The guest ends."""
        self.loop.call_soon_threadsafe(self.machine._end, "test")
        time.sleep(0.2)
        self.loop.call_soon_threadsafe(self.loop.stop)
        for sock in (self.mine, self.console, self.keyboard, self.agent.sock):
            sock.close()


@pytest.fixture
def run() -> Iterator[rundir.Run]:
    """A run whose sockets are served."""
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db", "pid": os.getpid()})
        served = Served(folder)
        yield rundir.find("db")
        served.close()


def execute(run: rundir.Run, command: str, given: bytes | None = None,
            timeout_s: float | None = None) -> tuple[int, bytes]:
    """Status and output."""
    out = bytearray()
    stdin = None
    if given is not None:
        stdin, writing = os.pipe()

        def feed() -> None:
            with open(writing, "wb") as pipe, contextlib.suppress(BrokenPipeError):
                pipe.write(given)
        threading.Thread(target=feed, daemon=True).start()
    status = attach.execute(
        run, command, attach.Streams(out.extend, out.extend, lambda _: None,
                                     stdin), timeout_s)
    if stdin is not None:
        os.close(stdin)
    return status, bytes(out)


def test_exec(run: rundir.Run) -> None:
    """Status, output, input, and input that nobody takes."""
    assert execute(run, "echo out; exit 7") == (7, b"out\n")
    big = os.urandom(200_000)
    assert execute(run, "cat", big) == (0, big)
    assert execute(run, "head -c 5", big) == (0, big[:5])
    status, out = execute(run, "head -c 3000000 /dev/zero")
    assert (status, len(out)) == (0, 3_000_000)


def test_exec_that_outlasts_its_client(run: rundir.Run, tmp_path: Path) -> None:
    """It is killed, whatever its input; then the next one runs."""
    for given in (None, b"x" * 1_000_000):
        status, out = execute(run, f"echo $$ >{tmp_path}/pid; sleep 98765",
                              given, 1)
        assert (status, out) == (attach.TIMED_OUT, b"")
        assert execute(run, "echo next") == (0, b"next\n")
        pid = int((tmp_path / "pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_commands_take_turns(run: rundir.Run) -> None:
    """The second says that it waits."""
    first = threading.Thread(target=execute, args=(run, "sleep 1"))
    first.start()
    time.sleep(0.4)
    notes: list[str] = []
    out = bytearray()
    assert attach.execute(run, "echo 2", attach.Streams(
        out.extend, out.extend, notes.append)) == 0
    assert (bytes(out), notes) == (b"2\n", ["another command runs"])
    first.join()


def test_the_setup_comes_first() -> None:
    """And its failure is told."""
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        served = Served(folder, "echo no device >&2; exit 1")
        assert execute(rundir.find("db"), "echo on") == (0, b"on\n")
        said = asyncio.run_coroutine_threadsafe(served.control.set_up(),
                                                served.loop).result(20)
        assert said == "no device"
        served.close()


def test_a_guest_that_ends_before_the_command() -> None:
    """One line; a client that has gone is forgotten."""
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        served = Served(folder, boots=False)
        run = rundir.find("db")
        assert execute(run, "true", timeout_s=0.5) == (attach.TIMED_OUT, b"")
        threading.Timer(0.5, served.close).start()
        with pytest.raises(UserError, match="db ended before the command"):
            execute(run, "true")
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        with pytest.raises(UserError, match="db takes no commands"):
            execute(rundir.find("db"), "true")


@pytest.mark.parametrize("cut", [0, 3, 5, 50, 80, 90, 104])
@pytest.mark.parametrize("told", [False, True])
def test_a_guest_that_restarts(monkeypatch: pytest.MonkeyPatch, cut: int,
                               told: bool) -> None:
    """The command in flight fails in one line, told by QEMU or by the next
    greeting alone; the next command runs.  By cp likewise."""
    if not told and cut == 90:
        return  # the greeting is just what the frame lacks
    monkeypatch.setattr(machine, "QUIET_S", 0.1)
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        served = Served(folder)
        run = rundir.find("db")
        assert execute(run, "echo 1") == (0, b"1\n")
        for given in (None, b"x" * 100_000):
            if told:
                threading.Timer(
                    0.2, served.loop.call_soon_threadsafe,
                    [served.machine._was_reset, time.time() + 0.2]).start()
            threading.Timer(0.3, served.agent.greets_again.set).start()
            with pytest.raises(UserError, match="db: the guest restarted"):
                execute(run, f"restart {cut}", given, 20)
            assert execute(run, "echo 2", timeout_s=20) == (0, b"2\n")
        served.close()


def test_agent_after_a_pause() -> None:
    """It says whether it is the one of before; a status counts only then."""
    async def talk() -> None:
        m = machine.Machine(hardware.Spec(Path("/q"), "tcg", []))
        m.agent, theirs = socket.socketpair()
        m.agent.setblocking(False)

        async def asked(before: bytes) -> None:
            await asyncio.sleep(0.05)
            assert theirs.recv(4096) == frames.ask(before, m.mark)
            assert not m.greeted.is_set()

        m._ask_for_mark()  # an agent that has no mark is not asked
        for _ in range(2):
            m._agent_data(frames.HELLO_MARKS)
            await asked(frames.NO_MARK)
            m._agent_data(control.frame("S", m.mark))
            status = m.new_command()
            for changed in (False, True):
                before = m.mark
                m._ask_for_mark()
                await asked(before)
                m._agent_data(control.frame("X", bytes([7, 0, 0, 0])))
                assert not status.done() and not m.restarted.is_set()
                if not changed:
                    m._agent_data(control.frame("S", before))
                    assert not m.greeted.is_set()
                    m._agent_data(control.frame("S", m.mark))
                    assert m.greeted.is_set() and status.result() == 7
                    status = m.new_command()
            m._agent_data(frames.HELLO_MARKS)
            assert m.restarted.is_set() and not status.done()
            await asked(frames.NO_MARK)
        for sock in (m.agent, theirs):
            sock.close()

    asyncio.run(talk())


@pytest.mark.parametrize("hello", [frames.HELLO, frames.HELLO_MARKS])
def test_the_first_greeting_is_no_restart(hello: bytes) -> None:
    """The command of --exec runs already."""
    async def talk() -> None:
        m = machine.Machine(hardware.Spec(Path("/q"), "tcg", [], command="x"))
        for again in (False, True):
            m._agent_data(hello)
            assert m.restarted.is_set() == again

    asyncio.run(talk())


def test_guests_that_have_booted_elsewhere() -> None:
    """They are asked without a greeting."""
    for extra, asks in (["-loadvm", "x"], True), (["--incoming", "defer"], True), \
            (["-S"], False):
        spec = hardware.Spec(Path("/q"), "tcg", [], extra=extra)
        assert machine.Machine(spec).has_mark == asks


def test_a_request_that_the_restart_cuts() -> None:
    """Neither what waits to be read nor its rest reaches the next agent."""
    async def talk() -> None:
        m = machine.Machine(hardware.Spec(Path("/q"), "tcg", []))
        m.agent, theirs = socket.socketpair()
        m.agent.setblocking(False)
        m.agents_end = theirs.dup()
        m._agent_data(machine.HELLO)
        for size in (10, 1 << 20):
            m.new_command()
            sending = asyncio.create_task(m.send(control.frame("R", bytes(size))))
            await asyncio.sleep(0.1)
            m._was_reset(time.time())
            await asyncio.wait_for(sending, 10)
            assert m.restarted.is_set() and not m.greeted.is_set()
            m._agent_data(machine.HELLO)
            assert m.greeted.is_set()
            m.new_command()
            await m.send(b"next")
            assert theirs.recv(4096) == b"next"
        for sock in (m.agent, m.agents_end, theirs):
            sock.close()

    asyncio.run(talk())


def test_payload_is_no_restart(run: rundir.Run,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that prints the greeting, and rests."""
    monkeypatch.setattr(machine, "QUIET_S", 0.1)
    said = r"printf '\000\000vssd-agent 1\n'; sleep 0.5; echo on"
    assert execute(run, said, timeout_s=20) == (0, machine.HELLO + b"on\n")


def test_console(monkeypatch: pytest.MonkeyPatch,
                 capfd: pytest.CaptureFixture[str]) -> None:
    """Its past, what it says, and the lines that are typed."""
    monkeypatch.setattr(attach, "QUIET_S", 0.3)
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        served = Served(folder)
        served.keyboard.sendall(b"\x1b[6nbo\x1b]11;?\x07ots\n")
        reading, writing = os.pipe()
        os.write(writing, b"one\ntwo")
        os.close(writing)
        monkeypatch.setattr(console, "STDIN", reading)
        time.sleep(0.3)
        attach.show_console(rundir.find("db"))
        assert served.keyboard.recv(100) in (b"one\n", b"one\ntwo")
        assert capfd.readouterr().out == "boots\n"
        served.close()


@pytest.mark.parametrize("query", [
    b"\x1b[6n", b"\x1b[?6n", b"\x1b[5n", b"\x1b[c", b"\x1b[0c", b"\x1b[>c",
    b"\x1b[=c", b"\x1b[>0q", b"\x1b[?2026$p", b"\x1b[4$p", b"\x1b[1x", b"\x1b[?u",
    b"\x1b[18t", b"\x1b[?1;1;0S", b"\x1b]10;?\x07", b"\x1b]11;?\x1b\\",
    b"\x1b]4;1;?\x07", b"\x1b]52;c;?\x07", b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\", b"\x1bZ", b"\x05", b"\x1b[1;1;1;1;1;1*y",
])
def test_past_queries_are_not_shown(query: bytes) -> None:
    """Their answers would be typed at the login.  Colours and titles stay."""
    shown = b"\x1b[31;1mred\x1b[0m \x1b]0;what?title\x07\x1b[2J\x1b[8;24;80t$?"
    assert control.QUERIES.sub(b"", shown + query + shown) == shown + shown


# ---- detached runs ------------------------------------------------------

DETACH = """
import sys, time
from pathlib import Path
from vssd import detach

def child(started):
    print("before", file=sys.stderr)
    if sys.argv[2] == "fail":
        return 3
    started("db", Path(sys.argv[1]))
    time.sleep(1)
    print("after", file=sys.stderr)
    return 0

sys.exit(detach.run(child))
"""


@pytest.mark.parametrize("how", ["start", "fail"])
def test_detach(tmp_path: Path, how: str) -> None:
    """Its name is printed and its later output goes to the log; its failure
    before that is ours."""
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", DETACH, str(log), how], text=True, check=False,
        capture_output=True, timeout=60,
        env=dict(os.environ, PYTHONPATH=str(paths.PROJECT / "scripts")))
    assert done.stderr == "before\n"
    if how == "fail":
        assert (done.returncode, done.stdout) == (3, "")
        return
    assert (done.returncode, done.stdout) == (0, "db\n")
    end = time.monotonic() + 30
    while log.read_text() != "after\n" and time.monotonic() < end:
        time.sleep(0.1)
    assert log.read_text() == "after\n"


HOLD = """
import json, os, signal, sys, time
from vssd import rundir

def end(*_):
    open(log, "w").write("x\\nvssd: drive: profile tiny\\n")
    sys.exit()

signal.signal(signal.SIGTERM, end)
with rundir.rundir() as folder:
    log = str(folder.parent / "log")
    rundir.describe(folder, {"name": "db", "pid": os.getpid(), "log": log})
    print("up", flush=True)
    time.sleep(100)
"""


def test_stop_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    """A signal to its process; then its summary is shown."""
    with subprocess.Popen(
            [sys.executable, "-c", HOLD], stdout=subprocess.PIPE,
            env=dict(os.environ, PYTHONPATH=str(paths.PROJECT / "scripts"))) \
            as process:
        assert process.stdout and process.stdout.readline() == b"up\n"
        run = rundir.find("db")
        with pytest.raises(UserError, match="db has no monitor"):
            cmd_stop.stop(run, False, 1)
        assert not cmd_stop.wait(run, 0.1)
        cmd_stop.stop(run, True, 1)
    assert capsys.readouterr().err == \
        "vssd: drive: profile tiny\nvssd: db has ended\n"
    with pytest.raises(UserError, match="no guest runs"):
        rundir.find()


def test_ps(capsys: pytest.CaptureFixture[str]) -> None:
    """The facts of each run."""
    with rundir.rundir() as folder:
        rundir.describe(folder, {
            "name": "db", "pid": 7, "started": time.time() - 3700,
            "accel": "tcg", "ssh_port": 2222, "detached": True,
            "drives": [{"id": "ssd0", "profile": "tiny", "device": "vssd"}]})
        assert cmd_ps.row(rundir.find()) == [
            "db", "7", "1 h 1 min", "tcg detached", "2222", "ssd0 tiny",
            f"{paths.PROJECT} ({getpass.getuser()})"]
        cmd_ps.main(argparse.Namespace(json=True))
        said = json.loads(capsys.readouterr().out)[0]
        assert said["ssh_port"] == 2222
        assert said["checkout"] == str(paths.PROJECT)
        assert said["uid"] == os.getuid()
    cmd_ps.main(argparse.Namespace(json=True))
    assert capsys.readouterr().out == "[]\n"


# ---- guests of others ----------------------------------------------------

FOREIGN: list[dict[str, object] | None] = [
    {"checkout": "/another/clone"}, {"uid": os.getuid() + 1}, None]
FILE = str(Path(__file__))
CHANGE = (["exec", "true"], ["console"], ["ssh"], ["ssh", "--print-command"],
          ["cp", FILE, ":"])
DESTROY = (["powercut"], ["powercut", "--mode", "running"],
           ["stop"], ["stop", "--force"],
           ["fault", "add", "ctrl -> cfs"], ["fault", "remove", "1"])


class Monitor:
    """Counts who comes to a guest's socket, and answers nobody."""

    def __init__(self, folder: Path, name: str = rundir.MONITOR) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(str(folder / name))
        self.sock.listen()
        self.sock.setblocking(False)

    def asked(self) -> bool:
        """Has somebody come since?"""
        try:
            self.sock.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@contextlib.contextmanager
def guest_of(name: str, facts: dict[str, object] | None) -> Iterator[Monitor]:
    """A guest with these facts in place of ours; without run.json for None."""
    with rundir.rundir() as folder:
        if facts is not None:
            rundir.describe(folder, {"name": name})
            path = folder / rundir.FACTS
            path.write_text(json.dumps({**json.loads(path.read_text()),
                                        **facts}))
        monitor = Monitor(folder)
        yield monitor
        monitor.sock.close()


def command(*words: str) -> int:
    """One of ./vssd, in this process."""
    args = cli.parser().parse_args(list(words))
    return int(args.call(args))


@pytest.fixture
def no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes to a monitor comes back with an error."""
    from qemu.qmp.legacy import QEMUMonitorProtocol

    def connect(self: QEMUMonitorProtocol, **_: object) -> None:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(self._address)
        raise OSError("is a stand-in")
    monkeypatch.setattr(QEMUMonitorProtocol, "connect", connect)


def come(words: list[str], monitor: Monitor) -> bool:
    """Does the command go to the guest's monitor?"""
    with pytest.raises(UserError) as e:
        command(*words)
    assert "\n" not in str(e.value)
    return monitor.asked()


@pytest.mark.usefixtures("no_answer")
def test_stop_of_a_guest_with_a_server() -> None:
    """The power button is QEMU's; vssd-server has none."""
    with guest_of("db", {}) as server:
        machine = Monitor(rundir.find("db").folder, rundir.VMM)
        with machine.sock:
            assert come(["stop", "db"], machine)
            assert not server.asked()


@pytest.mark.usefixtures("no_answer")
@pytest.mark.parametrize("facts", FOREIGN)
@pytest.mark.parametrize("words", DESTROY, ids=" ".join)
def test_a_guest_of_another_must_be_named(
        words: list[str], facts: dict[str, object] | None,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody touches its monitor or its process before."""
    def kill(*_: object) -> None:
        raise AssertionError("a signal")
    monkeypatch.setattr(os, "kill", kill)
    with guest_of("db", facts) as monitor:
        name = rundir.find().name
        with pytest.raises(UserError, match=f"the guest {name} .*--run {name}"
                           ) as e:
            command(*words)
        assert "\n" not in str(e.value)
        assert facts is None or f"of {rundir.find().owner}," in str(e.value)
        assert not monitor.asked()
        if "--force" not in words:
            assert come([*words, "--run", name], monitor)
        if words == ["stop"]:
            assert come(["stop", name], monitor)
        assert come(["fault", "list"], monitor)


@pytest.mark.parametrize("facts", FOREIGN)
@pytest.mark.parametrize("words", CHANGE, ids=lambda words: words[0])
def test_a_guest_of_another_is_not_changed(
        words: list[str], facts: dict[str, object] | None,
        tmp_path: Path) -> None:
    """Unless it is named; files may come out of it without a name."""
    with guest_of("db", facts):
        name = rundir.find().name
        refused = f"the guest {name} .*--run {name}"
        with pytest.raises(UserError, match=refused):
            command(*words)
        named = [["cp", FILE, f"{name}:"]] if words[0] == "cp" else []
        for way in [[words[0], "--run", name, *words[1:]], *named,
                    ["cp", ":/etc/hostname", str(tmp_path)]]:
            with pytest.raises(UserError) as e:
                command(*way)
            assert not re.search(refused, str(e.value))
    with guest_of("db", {}), pytest.raises(UserError) as e:
        command(*words)
    assert "if you mean it" not in str(e.value)


@pytest.mark.usefixtures("no_answer")
@pytest.mark.parametrize("words", [w for w in DESTROY if "--force" not in w],
                         ids=" ".join)
def test_a_guest_of_ours_needs_no_name(words: list[str]) -> None:
    """From any terminal, if it is the only one."""
    with guest_of("db", {}) as monitor:
        assert come(words, monitor)
        with guest_of("other", {"uid": os.getuid() + 1}), \
                pytest.raises(UserError, match="several guests run"):
            command(*words)
        assert not monitor.asked()


def test_stop_all_takes_ours(monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    """And names those of others."""
    stopped: list[str] = []
    monkeypatch.setattr(cmd_stop, "stop",
                        lambda run, *_: stopped.append(run.name))
    with guest_of("a", {}), guest_of("b", {"checkout": "/another/clone"}), \
            guest_of("c", {}), guest_of("d", {"uid": os.getuid() + 1}):
        assert command("stop", "--all") == 0
    assert stopped == ["a", "c"]
    said, = capsys.readouterr().err.splitlines()
    assert "left running: b of /another/clone" in said and "d of " in said
    assert "--run NAME" in said


class Qemu(threading.Thread):
    """A monitor that answers as QEMU does; it has ssd0 only."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen()

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Of one command."""
        if command["execute"] == "qom-list":
            return {"return": [{"name": "type", "type": "string"},
                               {"name": "ssd0", "type": "child<vssd>"}]}
        if command["execute"] == "qom-get":
            path = command["arguments"]["path"]
            return {"error": {"class": "DeviceNotFound",
                              "desc": f"Device '{path}' not found"}}
        return {"return": {}}

    def run(self) -> None:
        """One connection after the other."""
        with contextlib.suppress(OSError):
            while True:
                with self.server.accept()[0] as sock:
                    self.serve(sock)

    def serve(self, sock: socket.socket) -> None:
        """One client, whose commands come one by one."""
        sock.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\r\n')
        while text := sock.recv(4096):
            command = json.loads(text)
            answer = self.answer(command)
            if "id" in command:
                answer["id"] = command["id"]
            sock.sendall(json.dumps(answer).encode() + b"\r\n")


def test_a_drive_that_qemu_has_deleted(
        capsys: pytest.CaptureFixture[str]) -> None:
    """As of a slot that the guest powered off: ps and stat drop it."""
    drives = [{"id": f"ssd{i}", "profile": "tiny", "device": "vssd"}
              for i in range(2)]
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db", "drives": drives})
        run = rundir.find()
        # Without an answer, the facts are all that is known.
        assert "ssd0 tiny, ssd1 tiny" in cmd_ps.row(run)
        Qemu(run.monitor).start()
        assert "ssd0 tiny" in cmd_ps.row(run)
        cmd_ps.main(argparse.Namespace(json=True))
        assert json.loads(capsys.readouterr().out)[0]["drives"] == drives[:1]
        args = argparse.Namespace(run=None, drive="ssd1")
        with pytest.raises(UserError, match="^--drive ssd1: the guest has ssd0"):
            cmd_stat.drive_of(args)
        args.drive = None
        assert cmd_stat.drive_of(args).name == "ssd0"
        with pytest.raises(UserError, match="db has no drive ssd1 any more"):
            source.Drive(run, "ssd1").read()


# ---- options ------------------------------------------------------------


@pytest.mark.parametrize("args, says", [
    (["--name", "a b"], "--name a b: allowed are"),
    (["--name", ""], "--name : allowed are"),
    (["--detach", "--exec", "x"], "--exec: not with --detach"),
    (["--detach", "--stats", "-"], "--stats -: not with --detach"),
    (["--detach", "--print-command"], "--print-command: not with --detach"),
    (["--name", "x", "--print-command"], "--name: not with --print-command"),
    (["--share", "/nowhere"], "--share /nowhere: /nowhere is no directory"),
    (["--share", ""], "nothing is no directory"),
    (["--share", "/etc:mnt"], "PATH must be absolute"),
    (["--share", "/etc:/"], "PATH must be absolute"),
    (["--share", "/etc", "--share", "/usr/../etc"], "would be at /mnt/etc"),
    ([x for i in range(9) for x in ("--share", f"/etc:/{i}")],
     "--share: given 9 times, allowed 0..8"),
    (["--forward", "80"], "--forward 80: give PORT:GUEST-PORT"),
    (["--forward", "0:80"], "--forward 0:80: port 0: allowed 1..65535"),
    (["--forward", "65536:80"], "--forward 65536:80: port 65536: allowed"),
    (["--ssh", "70000"], "--ssh 70000: allowed 1..65535"),
    (["--ssh", "-1"], "--ssh -1: allowed 1..65535"),
    (["--ssh", "4022", "--forward", "4022:80"], "port 4022 of the host is given"
     " twice"),
    (["--icount", "--ssh"], "--ssh: not with --icount"),
    (["--icount", "--share", "/etc"], "--share: not with --icount"),
    (["--print-command", "--ssh"], "--ssh: not with --print-command"),
    (["--disk", "/etc/passwd", "--ssh"], "for --disk, give --forward PORT:22"),
])
def test_refused_before_the_run(args: list[str], says: str) -> None:
    """In one line that names the option."""
    found = cli.parser().parse_args(["run", *args])
    with pytest.raises(UserError) as e:
        cmd_run.check(found)
    assert says in str(e.value) and "\n" not in str(e.value)


def test_a_port_in_use() -> None:
    """Said before the run."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} of 127.0.0.1: Addr"):
            links.check(cli.parser().parse_args(
                ["run", "--forward", f"{port}:80"]))


def test_links_of_a_machine(tmp_path: Path) -> None:
    """QEMU's arguments and the set-up, with names that need quotes."""
    folder = tmp_path / "a,b c"
    folder.mkdir()
    args = cli.parser().parse_args(
        ["run", "--share", f"{folder}:/srv/x y,ro", "--ssh", "--forward",
         f"{links.free_port()}:80"])
    links.check(args)
    text = " ".join(links.share_arguments(args.shares))
    assert f"path={tmp_path}/a,,b c,security_model=none" in text
    assert "readonly=on" in text
    script = links.setup_script(args.shares, True)
    assert "mkdir -p '/srv/x y' && mount -t 9p" in script
    assert links.key().with_suffix(".pub").read_text().strip() in script
    assert subprocess.run(["sh", "-n", "-c", script], check=False) \
        .returncode == 0
    assert links.key().stat().st_mode & 0o077 == 0
    ports = links.with_ports(args)
    assert ports[0][1] == 80 and ports[1][1] == 22 and ports[1][0] > 0
    spec = hardware.Spec(Path("/q"), "tcg", [], ports=ports)
    assert f"hostfwd=tcp:127.0.0.1:{ports[1][0]}-:22" in \
        " ".join(hardware.command_line(spec))
    assert links.setup_script([], False) == ""


@pytest.mark.parametrize("words, says", [
    ([], "a command must follow"), ([" "], "a command must follow"),
    (["--"], "a command must follow"),
    (["--timeout", "0", "x"], "--timeout 0: allowed above 0"),
])
def test_exec_refuses(words: list[str], says: str) -> None:
    """In one line."""
    with pytest.raises(UserError, match=says):
        cmd_execute.command_of(cli.parser().parse_args(["exec", *words]))


def test_exec_words() -> None:
    """One is for the shell, several are a program and its arguments."""
    def of(*words: str) -> str:
        return cmd_execute.command_of(cli.parser().parse_args(["exec", *words]))

    assert of("a; b") == "a; b"
    assert of("--run", "db", "nvme", "list", "-o", "json") == \
        "nvme list -o json"
    assert of("--", "echo", "a b") == "echo 'a b'"


# ---- cp -----------------------------------------------------------------


@pytest.mark.parametrize("words, says", [
    (["a"], "sources and a destination"),
    (["/etc/passwd", "/tmp"], "either the destination"),
    (["a:x", "b:y"], "either the destination|several guests"),
    (["a:x", "b:y", "/tmp"], "several guests are named: a, b"),
    (["--run", "c", "a:x", "/tmp"], "several guests are named: a, c"),
    (["/no/such", ":"], "cp: /no/such: no such file"),
    ([":", "/tmp"], "is no source"),
])
def test_cp_refuses(words: list[str], says: str) -> None:
    """In one line."""
    with pytest.raises(UserError, match=says):
        cmd_cp.plan(cli.parser().parse_args(["cp", *words]))


def test_cp(run: rundir.Run, tmp_path: Path) -> None:
    """A tree there and back; one file to another name; what is not there."""
    tree, guest = tmp_path / "tree", tmp_path / "guest"
    (tree / "in").mkdir(parents=True)
    guest.mkdir()
    (tree / "in/data").write_bytes(os.urandom(100_000))
    (tree / "in/data").chmod(0o750)
    (tree / "link").symlink_to("in/data")
    (tree / "name with 'quotes'").write_text("x")
    os.mkfifo(tree / "fifo")
    copying.to_guest(run, [tree], str(guest))
    copying.from_guest(run, [f"{guest}/tree"], tmp_path / "back")
    (tree / "fifo").unlink()
    assert subprocess.run(["diff", "-r", tree, tmp_path / "back"],
                          check=False).returncode == 0
    assert (tmp_path / "back/in/data").stat().st_mode & 0o777 == 0o750
    copying.to_guest(run, [tree / "link"], f"{guest}/other")
    assert os.readlink(guest / "other") == "in/data"
    with pytest.raises(UserError, match="is no directory in the guest"):
        copying.to_guest(run, [tree, tree / "in"], f"{guest}/none")
    with pytest.raises(UserError, match=r"cp: in the guest: .*No such file"):
        copying.from_guest(run, [f"{guest}/none"], tmp_path)
    with pytest.raises(UserError, match=r"cp: in the guest: .*none"):
        copying.to_guest(run, [tree], f"{guest}/none/x")


def test_cp_by_ssh_notices_a_restart(tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is kept alive; its end is told in one line."""
    tool = tmp_path / "bin/ssh"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ncase $* in *' true') exit 0 ;;\n"
                    "*ServerAliveInterval=*) exit 255 ;; esac\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(links, "key", lambda: tmp_path / "key")
    (tmp_path / "f").write_text("x")
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db", "pid": os.getpid(),
                                 "ssh_port": 1})
        served = Served(folder)
        run = rundir.find("db")
        with pytest.raises(UserError, match="the guest restarted"):
            copying.from_guest(run, ["/root/f"], tmp_path / "to")
        with pytest.raises(UserError, match="the guest restarted"):
            copying.to_guest(run, [tmp_path / "f"], "/tmp")
        served.close()


def test_stop_presses_the_power_button_again(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, when the guest has not ended; also if it ends just then."""
    done: list[str] = []

    def press(_: object) -> None:
        done.append("press")
        if done.count("press") > 1:
            raise UserError("it does not answer")

    def wait(_: object, _seconds: float) -> bool:
        done.append("wait")
        return done.count("wait") > 1

    monkeypatch.setattr(cmd_stop, "press_power_button", press)
    monkeypatch.setattr(cmd_stop, "wait", wait)
    run = mock.Mock(facts={}, name="db")
    cmd_stop.stop(run, False, 60)
    assert done == ["press", "wait", "press", "wait"]


def stream_of(*members: tuple[str, bytes, str]) -> io.BytesIO:
    """A tar: name, kind, and contents or target."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind, text in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o6777
            data = text.encode() if kind == tarfile.REGTYPE else b""
            info.size = len(data)
            info.linkname = "" if data else text
            tar.addfile(info, io.BytesIO(data))
    out.seek(0)
    return out


def test_cp_trusts_no_guest(tmp_path: Path,
                            capsys: pytest.CaptureFixture[str]) -> None:
    """Names that leave the destination, links to write through, devices."""
    to = tmp_path / "to"
    to.mkdir()
    file: Any = tarfile.REGTYPE
    for name in ("/a/x", "a/../../x", "b/x", ".."):
        with pytest.raises(UserError, match="was not asked for"):
            copying.extract(stream_of((name, file, "x")), {"a": to / "a"})
    with pytest.raises(OSError):
        copying.extract(stream_of(("a", tarfile.SYMTYPE, str(tmp_path)),
                                  ("a/x", file, "x")), {"a": to / "a"})
    (to / "l").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError):
        copying.extract(stream_of(("l", file, "x")), {"l": to / "l"})
    copying.extract(stream_of(("f", file, "x"), ("d", tarfile.CHRTYPE, "")),
                    {"f": to / "f", "d": to / "d"})
    assert (to / "f").stat().st_mode & 0o7777 == 0o755
    assert "d is neither a file nor a directory" in capsys.readouterr().err
    assert not (to / "d").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["to"]


@pytest.mark.parametrize("at_top", [False, True])
def test_cp_twice_out_of_a_guest(run: rundir.Run, tmp_path: Path,
                                 at_top: bool) -> None:
    """The first copy brings a link, where the second one has a directory: at
    the top, and below it."""
    guest, to, victim = tmp_path / "g", tmp_path / "to", tmp_path / "victim"
    for folder in (guest / "tree", to, victim):
        folder.mkdir(parents=True)
    (victim / "f").write_text("mine")
    logs = guest / ("logs" if at_top else "tree/logs")
    logs.symlink_to(victim)
    source = [str(logs if at_top else guest / "tree")]
    copying.from_guest(run, source, to)
    assert (to / logs.relative_to(guest)).readlink() == victim
    logs.unlink()
    logs.mkdir()
    (logs / "f").write_text("the guest's")
    (logs / "new").write_text("the guest's")
    with pytest.raises(UserError, match="'logs' is in the way; remove it"):
        copying.from_guest(run, source, to)
    assert [p.name for p in victim.iterdir()] == ["f"]
    assert (victim / "f").read_text() == "mine"
    (to / logs.relative_to(guest)).unlink()
    copying.from_guest(run, source, to)
    assert (to / logs.relative_to(guest) / "f").read_text() == "the guest's"


@pytest.mark.parametrize("gnu", [True, False])
def test_cp_twice_into_a_guest(run: rundir.Run, tmp_path: Path, gnu: bool,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    """The same the other way; a tar that follows links is not begun."""
    guest, tree, victim = tmp_path / "g", tmp_path / "tree", tmp_path / "victim"
    for folder in (guest / "tree", tree / "logs", victim):
        folder.mkdir(parents=True)
    (tree / "logs/f").write_text("new")
    (guest / "tree/logs").symlink_to(victim)
    if gnu:
        copying.to_guest(run, [tree], str(guest))
        assert (guest / "tree/logs/f").read_text() == "new"
    else:
        monkeypatch.setattr(copying, "UNPACK",
                            copying.UNPACK.replace("grep -q GNU", "false"))
        with pytest.raises(UserError, match="which this tar follows"):
            copying.to_guest(run, [tree], str(guest))
        (guest / "tree/logs").unlink()
        copying.to_guest(run, [tree], str(guest))
    assert not list(victim.iterdir())


def test_cp_into_a_guest_follows_nothing(tmp_path: Path,
                                         monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) \
        -> None:
    """What is replaced by a link while it is read; modes, links, sockets."""
    tree, secret = tmp_path / "tree", tmp_path / "secret"
    for folder in (tree / "d", secret, tmp_path / "moved"):
        folder.mkdir(parents=True)
    (secret / "key").write_text("mine")
    (tree / "d/key").write_text("x")
    (tree / "d/key").chmod(0o6755)
    os.link(tree / "d/key", tree / "d/same")
    (tree / "up").symlink_to("..")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tree / "s\33[31m"))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w|") as tar:
        copying.pack(tar, [(tmp_path, "tree")], ["t"])
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        assert {m.name: (m.type, m.linkname) for m in tar} == {
            "t": (tarfile.DIRTYPE, ""), "t/d": (tarfile.DIRTYPE, ""),
            "t/d/key": (tarfile.REGTYPE, ""),
            "t/d/same": (tarfile.LNKTYPE, "t/d/key"),
            "t/up": (tarfile.SYMTYPE, "..")}
        assert tar.getmember("t/d/key").mode == 0o755
    assert r"s\x1b[31m is neither a file" in capsys.readouterr().err
    real = os.stat
    for path, target in ((tree / "d/key", secret / "key"),
                         (tree / "d", secret)):
        def late(name: Any, path: Path = path, target: Path = target,
                 **how: Any) -> os.stat_result:
            seen = real(name, **how)
            if name == path.name:
                path.rename(tmp_path / "moved" / name)
                path.symlink_to(target)
            return seen

        monkeypatch.setattr(os, "stat", late)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w|") as tar, \
                pytest.raises(OSError):
            copying.pack(tar, [(tmp_path, "tree")], ["t"])
        assert b"mine" not in out.getvalue()


def test_cp_sources_by_their_names(run: rundir.Run, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """A link has its own; each begins where the command does; no two alike."""
    for folder in ("a", "b", "to", "guest"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a/x").write_text("a")
    (tmp_path / "b/y").write_text("b")
    (tmp_path / "gone").symlink_to("/no/such")
    monkeypatch.chdir(tmp_path)
    copying.from_guest(run, ["a/x", "b/y", "gone"], tmp_path / "to")
    assert sorted(p.name for p in (tmp_path / "to").iterdir()) \
        == ["gone", "x", "y"]
    assert cmd_cp.plan(cli.parser().parse_args(["cp", "gone", ":"]))[1] \
        == ["gone"]
    copying.to_guest(run, [Path("gone"), Path("a/../b")], "guest")
    assert os.readlink("guest/gone") == "/no/such"
    assert Path("guest/b/y").read_text() == "b"
    Path("b/x").write_text("b")
    with pytest.raises(UserError, match="two sources have the name 'x'"):
        copying.from_guest(run, ["a/x", "b/x"], tmp_path / "to")
    with pytest.raises(UserError, match="two sources have the name 'x'"):
        copying.to_guest(run, [Path("a/x"), Path("b/x")], "guest")


def test_cp_replaces_no_other_kind(tmp_path: Path) -> None:
    """A name of the destination is of another kind; hard links; a FIFO."""
    (tmp_path / "d").mkdir()
    (tmp_path / "victim").write_text("mine")
    os.mkfifo(tmp_path / "p")
    (tmp_path / "l").symlink_to("victim")
    file, link, folder = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE
    for name, kind in (("d", file), ("d", link), ("p", file), ("p", link),
                       ("p", folder), ("l", file), ("l", folder),
                       ("victim", folder)):
        with pytest.raises(OSError, match=f"'{name}' is in the way"):
            copying.extract(stream_of((name, kind, "x")),
                            {name: tmp_path / name})
    for name in ("l/x", "victim/x", "p/x"):
        with pytest.raises(OSError, match="is in the way"):
            copying.extract(stream_of((name, file, "x")),
                            {name[:-2]: tmp_path / name[:-2]})
    for target in (str(tmp_path / "victim"), "../victim", "victim"):
        with pytest.raises(UserError, match="hard link"):
            copying.extract(stream_of(("d", folder, ""),
                                      ("d/h", tarfile.LNKTYPE, target),
                                      ("d/h", file, "x")),
                            {"d": tmp_path / "d"})
    with pytest.raises(OSError):  # a link of the same stream
        copying.extract(stream_of(("d/n", link, ".."), ("d/n/victim", file, "x")),
                        {"d": tmp_path / "d"})
    copying.extract(stream_of(("l", link, "d"), ("victim", link, "d")),
                    {n: tmp_path / n for n in ("l", "victim")})
    assert os.readlink(tmp_path / "l") == os.readlink(tmp_path / "victim") == "d"


def broken(what: str) -> bytes:
    """A tar with a fault after its first member."""
    if what == "time":
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("t")
            info.pax_headers = {"mtime": "nan"}
            tar.addfile(info)
        return out.getvalue()
    data = bytearray(stream_of(("t", tarfile.DIRTYPE, ""),
                               ("t/f", tarfile.REGTYPE, "x")).getvalue())
    if what == "header":
        data[512] ^= 1
    elif what == "end":
        del data[512:]
    elif what == "data":
        del data[1024:]
    elif what == "long":
        info = tarfile.TarInfo("t")
        info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
        data[512:1024] = info.tobuf(tarfile.GNU_FORMAT)
    else:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("t")
            info.pax_headers = {"path": "t\0\33[31m"}
            tar.addfile(info)
        return out.getvalue()
    return bytes(data)


@pytest.mark.parametrize("what", ["header", "end", "data", "long", "name",
                                  "time"])
def test_cp_of_a_faulty_stream_fails(what: str, run: rundir.Run, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line without control characters, never as a success."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "a.tar").write_bytes(broken(what))
    tool = tmp_path / "bin/tar"
    tool.write_text(f"#!/bin/sh\nexec cat '{tmp_path}/a.tar'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with pytest.raises(UserError) as e:
        copying.from_guest(run, ["/t"], tmp_path / "to")
    assert str(e.value).startswith("cp: ") and str(e.value).isprintable()


def test_cp_shows_no_control_characters(
        run: rundir.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """In names and in what the guest's tar says, whose length is bounded."""
    copying.extract(stream_of(("d\33]0;x\7", tarfile.CHRTYPE, "")),
                    {"d\33]0;x\7": tmp_path / "d"})
    assert r"cp: d\x1b]0;x\x07 is neither" in capsys.readouterr().err
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin/tar"
    tool.write_text("#!/bin/sh\ncat >/dev/null\nprintf '\\033[31m%0200d' 1"
                    " >&2\nexit 2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    (tmp_path / "f").write_text("x")
    for into in (False, True):
        with pytest.raises(UserError, match=r"in the guest: .x1b\[31m0") as e:
            if into:
                copying.to_guest(run, [tmp_path / "f"], "/tmp")
            else:
                copying.from_guest(run, ["/t"], tmp_path / "to")
        assert str(e.value).isprintable()
    said = copying.Said()
    for _ in range(9):
        said.add(bytes(copying.PIECE // 2))
    assert len(said) == copying.PIECE
