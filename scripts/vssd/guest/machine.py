# SPDX-License-Identifier: GPL-2.0-or-later
"""One QEMU process: its monitor, its serial console and the guest's agent.

All channels are sockets made before QEMU starts, so there are no paths to
clean up and nothing to wait for.  The guest's power-off pauses QEMU, so that
the drive's statistics can still be read.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import ending
from ..arch import X86_64
from ..errors import UserError, one_line
from ..proc import log_file
from . import confined
from .frames import EXIT, NO_MARK, SAME, ask, new_mark
from .frames import HELLO as HELLO
from .frames import FrameReader as FrameReader
from .hardware import Spec, command_line, goes_on

PR_SET_PDEATHSIG = 1
ENDS = (signal.SIGINT, signal.SIGTERM)
FOLLOW_S = 0.2
QUIET_S = 2  # the agent does not pause so long within a frame
RESTARTED = "the guest restarted before the command ended"
UNSEEN_BYTES = 16 << 20
HPET = 0xfed00000
HPET_REGISTERS = (0x10, 0x20, 0xf0, 0x100, 0x108)  # with comparator 0
COMPLAINT = r"\S*qemu-system-\w+: "  # QEMU's name before what it says

def check_text(text: str) -> str:
    """QEMU's first complaint, without its name, the device's arguments and our
    own name."""
    lines = [x for x in text.splitlines() if x.strip()
             and "warning:" not in x]
    if not lines:
        return "no message"
    # Output of -trace may be between them.
    own = [x for x in lines if re.match(COMPLAINT, x)]
    line = re.sub("^" + COMPLAINT, "", (own or lines)[0])
    line = re.sub(r"^-(?:device|blockdev) (?:\{.*?\}|\S+): ", "", line)
    return one_line(line).removeprefix("vssd: ")

@dataclass
class Result:
    """Result of a command in the guest."""

    status: int
    out: bytes
    err: bytes


class Machine:
    """A running guest; use within one event loop."""

    def __init__(self, spec: Spec) -> None:
        from qemu.qmp import QMPClient

        self.spec = spec
        self.qmp = QMPClient("vssd")
        self.proc: subprocess.Popen[bytes] | None = None
        self.ended = asyncio.Event()      # the guest, or QEMU itself
        self.greeted = asyncio.Event()    # the agent, which takes commands
        self.restarted = asyncio.Event()  # the guest, since the last request
        self.prompt = asyncio.Event()     # a login prompt was seen
        self.end_reason = ""
        self.console_log = bytearray()
        self.on_console: Callable[[bytes], None] | None = None
        self.on_output: Callable[[str, bytes], None] | None = None
        # The agent says no more after its greeting until it is asked, which is
        # after QUIET_S: there is nothing to guess.
        self.frames = FrameReader(guess=False)
        self.greeted_at = 0.0  # by the clock of QEMU's events
        self.stopped = False   # the guest's CPUs, for now
        # After each pause the agent may be another: that of a snapshot.
        self.has_mark = goes_on(spec, "loadvm") or goes_on(spec, "incoming")
        self.mark = new_mark()
        self.asking: asyncio.Task[None] | None = None
        self.status_held: int | None = None  # until it is known
        self.quiet: asyncio.TimerHandle | None = None
        self.exit_status: asyncio.Future[int] | None = None
        self.console: socket.socket | None = None
        self.agent: socket.socket | None = None
        self.agents_end: socket.socket | None = None  # QEMU's, to empty it
        self.sending = asyncio.Lock()
        self.sends: asyncio.Task[None] | None = None
        self.stderr = b""
        # QEMU's standard error, from its start on; before it is
        # known to run, it is the reason why it does not.
        self.on_stderr: Callable[[bytes], None] | None = None
        self.console_copy: Callable[[bytes], None] | None = None
        self.unseen = bytearray()
        self.interrupted = 0  # the signal that ended the run
        self.interrupted_at = 0.0
        self.broken = False   # the accelerator failed
        self.tasks: list[asyncio.Task[None]] = []
        self.readers: list[int] = []
        self.tails: list[list[Any]] = []  # fd, offset, receiver of the data

    # -- life -----------------------------------------------------------

    async def start(self) -> None:
        """Start QEMU; UserError if it refuses."""
        prepare = _child_of_ours(self.spec.confined)
        loop = asyncio.get_running_loop()
        self.exit_status = loop.create_future()
        names = ["qmp"] if self._to_files() else ["qmp", "console", "agent"]
        mine, theirs = zip(*(socket.socketpair() for _ in names))
        args = command_line(self.spec)
        for name, end in zip(names, theirs):
            args += ["-chardev", f"socket,id={name},fd={end.fileno()}"]
        fds = [end.fileno() for end in theirs]
        if self._to_files():
            fds += self._make_files(args)
        args += ["-qmp", "chardev:qmp",
                 "-serial", "chardev:console", *self.spec.arch.agent]
        with self._command_file() as (more, more_fds):
            try:
                with _signals_later():
                    self.proc = subprocess.Popen(
                        args + more, pass_fds=fds + more_fds,
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE, preexec_fn=prepare)
            except OSError as e:
                raise UserError(f"cannot start {self.spec.emulator}: "
                                f"{e.strerror}; run ./vssd setup") from e
            except subprocess.SubprocessError as e:  # prepare failed
                raise UserError("--share: QEMU's rights cannot be limited here"
                                " (seccomp, capabilities); give --share DIR,raw"
                                " to share without") from e
            finally:
                if not self._to_files():
                    self.agents_end = theirs[-1].dup()
                for end in theirs:
                    end.close()
            self._watch_stderr()
            await self._connect(mine[0])
        if self.tails:
            self.tasks.append(asyncio.create_task(self._follow_files()))
        else:
            self.console, self.agent = mine[1:]
            self._watch(self.console, self._console_data)
            self._watch(self.agent, self._agent_data)
            if goes_on(self.spec, "loadvm"):
                self._ask_for_mark()
        self.tasks.append(asyncio.create_task(self._events()))

    def show_stderr(self, take: Callable[[bytes], None]) -> None:
        """Forward QEMU's standard error, from its start on."""
        self.on_stderr = take
        take(bytes(self.unseen))
        self.unseen.clear()

    def interrupt(self, number: int) -> None:
        """A signal asks for the end of the run; a later one insists."""
        now = time.monotonic()
        if not self.interrupted:
            self.interrupted, self.interrupted_at = number, now
        elif now - self.interrupted_at > ending.AGAIN_S and self.proc:
            self.proc.kill()
        self._end(signal.Signals(number).name)

    def _to_files(self) -> bool:
        """Nobody types, and two runs must be equal: a socket may be full for a
        moment, which the guest's serial port then notices; a file never is."""
        return self.spec.icount and self.spec.command is not None

    def _make_files(self, args: list[str]) -> list[int]:
        for name, take in (("console", self._console_data),
                           ("agent", self._agent_data)):
            fd = os.memfd_create(f"vssd-{name}", 0)
            self.tails.append([fd, 0, take])
            args += ["-chardev", f"file,id={name},path=/proc/self/fd/{fd}"]
        return [tail[0] for tail in self.tails]

    async def _follow_files(self) -> None:
        while True:
            self._read_files()
            await asyncio.sleep(FOLLOW_S)

    def _read_files(self) -> None:
        for tail in self.tails:
            fd, at, take = tail
            while data := os.pread(fd, 65536, at):
                at += len(data)
                tail[1] = at
                take(data)

    @contextlib.contextmanager
    def _command_file(self) -> Any:
        """The command, where QEMU can read it whatever it holds."""
        if self.spec.command is None:
            yield [], []
            return
        fd = os.memfd_create("vssd-command", 0)
        try:
            os.write(fd, self.spec.command.encode())
            yield ["-fw_cfg", "name=opt/vssd/exec,file=/proc/self/fd/"
                   f"{fd}"], [fd]
        finally:
            os.close(fd)

    async def _connect(self, qmp: socket.socket) -> None:
        from qemu.qmp import ConnectError

        qmp.setblocking(False)
        try:
            await asyncio.wait_for(self.qmp.connect(qmp), 60)
        except (ConnectError, asyncio.TimeoutError, OSError) as e:
            await self.kill()
            raise UserError(self.complaint()) from e

    def failure(self) -> str:
        """QEMU's exit status, once it has ended, unless it is 0: the state of
        a drive, a log or data of the guest is lost."""
        code = self.proc.returncode if self.proc else 0
        return f"QEMU ended with a failure ({_status(code)})" if code else ""

    async def why_it_ended(self) -> str:
        """Why QEMU ended, once it has."""
        await self.kill(wait_s=10)
        return self.complaint()

    def complaint(self) -> str:
        """QEMU's message, or its exit status."""
        text = check_text(self.stderr.decode(errors="replace"))
        if text == "no message" and self.broken:
            return "QEMU stopped the machine (internal-error)"
        if text == "no message" and self.proc and self.proc.returncode:
            return f"QEMU ended by itself ({_status(self.proc.returncode)})"
        return text

    def _watch_stderr(self) -> None:
        assert self.proc and self.proc.stderr
        pipe = self.proc.stderr
        os.set_blocking(pipe.fileno(), False)
        loop = asyncio.get_running_loop()

        def ready() -> None:
            data = pipe.read() or b""
            self.stderr = (self.stderr + data)[-65536:]
            if self.on_stderr:
                self.on_stderr(data)
            else:
                self.unseen += data
                del self.unseen[:-UNSEEN_BYTES]
            if not data:
                loop.remove_reader(pipe.fileno())
                self.readers.remove(pipe.fileno())
                self._end("QEMU ended")

        loop.add_reader(pipe.fileno(), ready)
        self.readers.append(pipe.fileno())

    def _watch(self, sock: socket.socket,
               take: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        sock.setblocking(False)

        def ready() -> None:
            try:
                data = sock.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                take(data)
            else:
                loop.remove_reader(sock.fileno())
                self.readers.remove(sock.fileno())

        loop.add_reader(sock.fileno(), ready)
        self.readers.append(sock.fileno())

    async def _events(self) -> None:
        async for event in self.qmp.events:
            data = event.get("data")
            if event["event"] == "STOP":
                self.stopped = True
                # Not awaited: what follows must be known at once.
                task = asyncio.create_task(self._stopped())
                self.tasks.append(task)
                task.add_done_callback(self.tasks.remove)
            elif event["event"] == "RESUME":
                self.stopped = False
                self._await_quiet()
                self._ask_for_mark()
            elif event["event"] == "RESET":
                stamp = event["timestamp"]
                assert isinstance(stamp, dict)
                self._was_reset(stamp["seconds"] + stamp["microseconds"] / 1e6)
            elif (event["event"] == "SHUTDOWN" and isinstance(data, dict)
                  and not self.broken):
                self._end(data["reason"])

    async def _stopped(self) -> None:
        """A machine whose accelerator failed cannot go on: end QEMU, whose
        message says why.  The drives are saved, as at any end."""
        from qemu.qmp import QMPError

        with contextlib.suppress(QMPError):  # QEMU may end meanwhile
            state = await self.qmp.execute("query-status")
            assert isinstance(state, dict)
            if state["status"] == "internal-error":
                self.broken = True
                await self.qmp.execute("quit")

    def _end(self, reason: str) -> None:
        if not self.ended.is_set():
            self._read_files()
            self.end_reason = reason
            self.ended.set()

    async def quit(self) -> None:
        """End QEMU in an orderly way."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.qmp.execute("quit"), 20)
        await self.kill(wait_s=20)

    async def kill(self, wait_s: float = 0) -> None:
        """End QEMU in any way."""
        assert self.proc
        try:
            await asyncio.to_thread(self.proc.wait, wait_s or 2)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            await asyncio.to_thread(self.proc.wait)
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        if self.proc.stderr:
            with contextlib.suppress(OSError, ValueError):
                rest = self.proc.stderr.read() or b""
                self.stderr += rest
                if self.on_stderr:
                    self.on_stderr(rest)
        for fd in self.readers:
            loop.remove_reader(fd)
        self.readers.clear()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.qmp.disconnect(), 5)
        for task in self.tasks:
            task.cancel()
        if self.quiet:
            self.quiet.cancel()
        for sock in (self.console, self.agent, self.agents_end):
            if sock:
                sock.close()
        self._read_files()
        for tail in self.tails:
            os.close(tail[0])
        self.tails.clear()
        if self.proc.stderr:
            self.proc.stderr.close()

    # -- the console ----------------------------------------------------

    def _console_data(self, data: bytes) -> None:
        self.console_log += data
        if self.console_copy:
            self.console_copy(data)
        del self.console_log[:-(4 << 20)]
        if not self.prompt.is_set() and b"login: " in self.console_log[-8192:]:
            self.prompt.set()
        if self.on_console:
            self.on_console(data)

    async def type(self, data: bytes) -> None:
        """Type on the serial console."""
        assert self.console
        await asyncio.get_running_loop().sock_sendall(self.console, data)

    def last_console_lines(self, count: int = 1) -> str:
        """The end of the console's output, in plain text."""
        text = self.console_log[-8192:].decode(errors="replace")
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
        lines = [x.strip() for x in text.splitlines() if x.strip()]
        return " / ".join(lines[-count:]) or "nothing"

    async def keep_evidence(self) -> Path:
        """Write the console and the state of every CPU of a guest that hangs
        into a file of the logs; its path."""
        parts = [self.console_log.decode(errors="replace")]
        asked = ["info registers -a", "info pic"]
        if self.spec.arch is X86_64:
            asked += [*(f"info lapic {cpu}" for cpu in range(self.spec.smp)),
                      *(f"xp /1gx 0x{HPET + at:x}" for at in HPET_REGISTERS)]
        for line in asked:
            try:
                said = await asyncio.wait_for(
                    self.qmp.execute("human-monitor-command",
                                     {"command-line": line}), 20)
            except Exception as e:  # QEMU may be what hangs
                parts.append(f"\n--- {line}\nno answer: {e!r}")
                break
            parts.append(f"\n--- {line}\n{said}")
        path = log_file(f"guest-{os.getpid()}")
        path.write_text("\n".join(parts), encoding="utf-8")
        return path

    # -- the agent ------------------------------------------------------

    def _agent_data(self, data: bytes) -> None:
        before = self.frames.greetings
        for kind, payload in self.frames.feed(data):
            if kind == EXIT:
                self.status_held = int.from_bytes(payload, "little")
                self._pass_status()
            elif kind == SAME:
                if payload == self.mark:
                    self.greeted.set()
                    self._pass_status()
            elif self.on_output:
                self.on_output(kind, payload)
        self._see_greeting(before)
        self._await_quiet()

    def _pass_status(self) -> None:
        """That of the command, when the agent is known to be the same."""
        if self.status_held is None or not self.greeted.is_set():
            return
        assert self.exit_status
        if not self.exit_status.done():
            self.exit_status.set_result(self.status_held)
        self.status_held = None

    def _see_greeting(self, before: int) -> None:
        """Each greeting but the first ends the command: the guest has started
        again, or the agent is out of step."""
        if self.frames.greetings > before:
            self.greeted_at = time.time()
            if self.frames.greetings > 1:
                self.restarted.set()
            self.status_held = None
            if self.frames.marks:
                self.has_mark, self.mark = True, NO_MARK
                self._forget_requests()
                self._ask_for_mark()
            else:
                self.greeted.set()
        elif not self.frames.greeted and self.greeted.is_set():
            # What comes is none of the agent's frames.
            self.greeted.clear()
            self.restarted.set()

    def _ask_for_mark(self) -> None:
        """Give the agent another mark; it takes commands when it says that its
        old one is ours.  A snapshot's is not."""
        if self.has_mark:
            self.greeted.clear()
            before, self.mark = self.mark, new_mark()
            request = ask(before, self.mark)
            self.asking = asyncio.create_task(self.send(request))

    def _await_quiet(self) -> None:
        if self.quiet:
            self.quiet.cancel()
            self.quiet = None
        if self.frames.unsettled() and not self.stopped:
            self.quiet = asyncio.get_running_loop().call_later(
                QUIET_S, self._is_quiet)

    def _is_quiet(self) -> None:
        fd = self.agent.fileno() if self.agent else -1
        if not self.stopped and fd in self.readers:
            before = self.frames.greetings
            self.frames.settle()
            self._see_greeting(before)

    def _was_reset(self, at: float) -> None:
        """The machine has started again; its agent is to greet, if it has not
        done so meanwhile."""
        if not self.frames.greeted or at < self.greeted_at:
            return
        before = self.frames.greetings
        self._forget_requests()
        self.frames.restarted()
        self.restarted.set()
        self._see_greeting(before)

    def _forget_requests(self) -> None:
        """What the guest had not read must not reach its next agent: that would
        take the rest of a frame for a request."""
        if self.sends:
            self.sends.cancel()
        with contextlib.suppress(OSError):
            while self.agents_end and self.agents_end.recv(
                    65536, socket.MSG_DONTWAIT):
                pass

    async def send(self, data: bytes) -> None:
        """Send a request, whole even when the caller is cancelled; not to a
        guest that restarts meanwhile."""
        await asyncio.wait([asyncio.create_task(self._send(data))])

    async def _send(self, data: bytes) -> None:
        async with self.sending:
            if self.agent and not self.ended.is_set():
                self.sends = asyncio.create_task(
                    asyncio.get_running_loop().sock_sendall(self.agent, data))
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await self.sends
                self.sends = None

    def new_command(self) -> asyncio.Future[int]:
        """The exit status of the command that is sent now."""
        self.exit_status = asyncio.get_running_loop().create_future()
        self.restarted.clear()
        return self.exit_status

    def hear_agent(self, on: bool) -> None:
        """Take what the agent says, or leave it in the socket for now."""
        fd = self.agent.fileno() if self.agent else -1
        if fd >= 0 and on and fd not in self.readers:
            assert self.agent
            self._watch(self.agent, self._agent_data)
        elif fd >= 0 and not on and fd in self.readers:
            asyncio.get_running_loop().remove_reader(fd)
            self.readers.remove(fd)

    async def request(self, command: str) -> Result:
        """Have the agent run a command (Spec.serve)."""
        assert self.agent
        out: dict[str, bytearray] = {"O": bytearray(), "E": bytearray()}
        status = self.new_command()
        self.on_output = lambda kind, data: out[kind].extend(data)
        data = command.encode()
        await self.send(b"R" + struct.pack("<I", len(data)) + data)
        await self.first(status, self.ended, self.restarted)
        if not status.done() and not self.ended.is_set():
            raise UserError(RESTARTED)
        if not status.done():
            raise UserError(f"the guest ended ({self.end_reason}); the console"
                            f" said: {self.last_console_lines(3)}")
        return Result(status.result(), bytes(out["O"]),
                      bytes(out["E"]))

    async def power_off(self) -> None:
        """Have the agent power the guest off."""
        assert self.agent
        await self.send(b"P" + struct.pack("<I", 0))

    async def press_power_button(self) -> None:
        """Have the guest end; by the agent where there is no button."""
        if self.spec.arch.power_button:
            await self.qmp.execute("system_powerdown")
        else:
            await self.power_off()

    # -- waiting and asking ---------------------------------------------

    @staticmethod
    async def first(*things: asyncio.Event | asyncio.Future[Any],
                    timeout_s: float | None = None) -> bool:
        """Wait for the first of these; false when the time is up."""
        tasks = [asyncio.ensure_future(
            t.wait() if isinstance(t, asyncio.Event) else asyncio.shield(t))
            for t in things]
        done, rest = await asyncio.wait(
            tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        return bool(done)

    async def stats(self, drive: int = 0) -> dict[str, Any] | None:
        """The statistics of a vssd drive; None for another kind."""
        if server := self.spec.drives[drive].server:
            return await _ask_server(server[1], f"ssd{drive}")
        if self.spec.drives[drive].device != "vssd":
            return None
        return await _stats_of(self.qmp, f"ssd{drive}")

    async def all_stats(self) -> dict[str, dict[str, Any]]:
        """The statistics of every vssd drive that is there now, by its id:
        also of those that came by QEMU's own arguments or by hot-plug."""
        there = await self.qmp.execute("qom-list",
                                       {"path": "/machine/peripheral"})
        assert isinstance(there, list)
        names = sorted((x["name"] for x in there if x["type"] == "child<vssd>"),
                       key=lambda name: [(len(part), part) for part
                                         in re.split(r"(\d+)", name)])
        found = {}
        for name in names:
            found[name] = await _stats_of(self.qmp, name)
        for i, drive in enumerate(self.spec.drives):
            if drive.server:
                found[f"ssd{i}"] = await _ask_server(drive.server[1], f"ssd{i}")
        return found


async def _ask_server(control: Path, drive: str) -> dict[str, Any]:
    """The statistics of a drive that a vssd-server has."""
    from qemu.qmp import QMPClient, QMPError

    client = QMPClient("vssd")
    try:
        await client.connect(str(control))
        found = await _stats_of(client, drive)
        await client.disconnect()
    except (OSError, EOFError, QMPError) as e:
        raise UserError(f"vssd-server does not answer: {one_line(str(e))}") \
            from e
    return found


async def _stats_of(qmp: Any, drive: str) -> dict[str, Any]:
    """The statistics of a drive by its id."""
    text = await qmp.execute("qom-get", {
        "path": f"/machine/peripheral/{drive}", "property": "stats-text"})
    assert isinstance(text, str)
    found: dict[str, Any] = json.loads(text)
    return found


def _status(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"status {code}"


@contextlib.contextmanager
def _signals_later() -> Iterator[None]:
    """Signals wait: one to the group of processes must not reach a child that
    has not left it yet."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die_with_parent() -> None:
    os.setpgid(0, 0)  # Ctrl-C is ours to handle
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)  # which drops what waits
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _child_of_ours(with_filter: bool) -> Callable[[], None]:
    """What QEMU's process does before it becomes QEMU."""
    if not with_filter:
        return _die_with_parent
    install = confined.installer()

    def prepare() -> None:
        _die_with_parent()
        install()

    return prepare


@contextlib.contextmanager
def heeding(machine: Machine) -> Iterator[None]:
    """SIGINT and SIGTERM end the machine, from before its start on."""
    loop = asyncio.get_running_loop()

    def end(number: int, _: object) -> None:
        if not machine.interrupted:
            ending.is_first(number)
        loop.call_soon_threadsafe(machine.interrupt, number)

    before = [signal.signal(number, end) for number in ENDS]
    try:
        yield
    finally:
        for number, handler in zip(ENDS, before):
            signal.signal(number, handler)


@contextlib.asynccontextmanager
async def running(spec: Spec, heed: bool = False) -> AsyncIterator[Machine]:
    """A started machine that is ended at the end.  heed: SIGINT and SIGTERM
    are the machine's."""
    machine = Machine(spec)
    with heeding(machine) if heed else contextlib.nullcontext():
        await machine.start()
        try:
            yield machine
        finally:
            await machine.quit()
