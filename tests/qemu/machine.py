# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU process without a guest, driven through qtest and QMP.

The test is the guest: it reads and writes memory and ports through qtest, and
moves the virtual clock itself, so modelled times can be checked to the
nanosecond.
"""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

from qemu.qmp.legacy import QEMUMonitorProtocol

PROJECT = Path(__file__).resolve().parents[2]
PROFILES = PROJECT / "profiles"
# For what takes a moment, of the host's time: that a busy machine is slow is no
# failure, that something hangs is.
LIMIT_S = 200
FIRMWARE = ("-L", "/usr/share/seabios", "-L", "/usr/share/qemu")


def emulator() -> str:
    """The QEMU to test: $VSSD_QEMU, set by `./vssd test`."""
    return os.environ["VSSD_QEMU"]


class Qtest:
    """The line protocol of -qtest."""

    def __init__(self, sock: socket.socket, real_time: bool = False) -> None:
        self._sock = sock
        self._real_time = real_time
        self._file = sock.makefile("rw", encoding="ascii", newline="\n")

    def call(self, line: str) -> str:
        """Send one command, return what follows OK."""
        self._file.write(line + "\n")
        self._file.flush()
        while True:
            answer = self._file.readline()
            if not answer:
                raise EOFError(f"QEMU ended during: {line[:80]}")
            if answer.startswith("IRQ"):
                continue
            if not answer.startswith("OK"):
                raise RuntimeError(f"{line[:80]}: {answer.strip()}")
            return answer[2:].strip()

    def write(self, addr: int, data: bytes) -> None:
        """Write guest memory."""
        text = base64.b64encode(data).decode()
        self.call(f"b64write {addr:#x} {len(data):#x} {text}")

    def read(self, addr: int, size: int) -> bytes:
        """Read guest memory."""
        return base64.b64decode(self.call(f"b64read {addr:#x} {size:#x}"))

    def readl(self, addr: int) -> int:
        """A 4-byte load, as a CPU would do."""
        return int(self.call(f"readl {addr:#x}"), 16)

    def readq(self, addr: int) -> int:
        """An 8-byte load."""
        return int(self.call(f"readq {addr:#x}"), 16)

    def writel(self, addr: int, value: int) -> None:
        """A 4-byte store."""
        self.call(f"writel {addr:#x} {value:#x}")

    def writeq(self, addr: int, value: int) -> None:
        """An 8-byte store."""
        self.call(f"writeq {addr:#x} {value:#x}")

    def outl(self, port: int, value: int) -> None:
        """A 4-byte write to an I/O port."""
        self.call(f"outl {port:#x} {value:#x}")

    def inl(self, port: int) -> int:
        """A 4-byte read of an I/O port."""
        return int(self.call(f"inl {port:#x}"), 16)

    def clock_step(self, step_ns: int | None = None) -> int:
        """Move the virtual clock: by step_ns, or to the next timer.

        A clock that goes by itself: wait a moment.
        """
        if self._real_time:
            time.sleep(0.0001)
            return 0
        arg = "" if step_ns is None else f" {step_ns}"
        return int(self.call("clock_step" + arg))

    def limit(self, seconds: float) -> None:
        """How long a call may take."""
        self._sock.settimeout(seconds)

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._sock.close()


class Machine:
    """A q35 machine under test; a context manager."""

    def __init__(self, *args: str, qtest: bool = True, accel: str = "qtest"
                 ) -> None:
        self._args = args
        self._qtest = qtest
        self._accel = accel
        self.process: subprocess.Popen[str] | None = None
        self.qmp: QEMUMonitorProtocol | None = None
        self.qtest: Qtest | None = None

    def command_line(self, fds: dict[str, int]) -> list[str]:
        """QEMU's arguments; fds: the sockets it inherits."""
        line = [emulator(), "-machine", "q35", "-m", "256", "-display", "none",
                "-nic", "none", "-nodefaults", *FIRMWARE, "-no-user-config",
                "-chardev", f"socket,id=qmp,fd={fds['qmp']}",
                "-mon", "chardev=qmp,mode=control"]
        if self._qtest:
            line += ["-accel", self._accel, "-qtest-log", "/dev/null",
                     "-chardev", f"socket,id=qt,fd={fds['qtest']}",
                     "-qtest", "chardev:qt"]
        return line + list(self._args)

    def __enter__(self) -> Machine:
        pairs = {name: socket.socketpair() for name in ("qmp", "qtest")}
        fds = {name: theirs.fileno() for name, (_, theirs) in pairs.items()}
        self.process = subprocess.Popen(
            self.command_line(fds), pass_fds=tuple(fds.values()),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        for _, theirs in pairs.values():
            theirs.close()
        if self._qtest:
            pairs["qtest"][0].settimeout(LIMIT_S)
            self.qtest = Qtest(pairs["qtest"][0], self._accel != "qtest")
        self.qmp = QEMUMonitorProtocol(pairs["qmp"][0])
        try:
            self.qmp.connect()
        except Exception as error:
            text = self.wait()[1]
            raise RuntimeError(text.strip() or str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.qtest:
            self.qtest.close()
        if self.qmp:
            with contextlib.suppress(Exception):
                self.qmp.close()  # the process is gone; so is its socket

    def cmd(self, name: str, **args: object) -> object:
        """A QMP command; raises when QEMU refuses."""
        assert self.qmp
        return self.qmp.cmd(name, **args)

    def wait(self, timeout_s: float = LIMIT_S) -> tuple[int, str]:
        """Wait for the end of QEMU: exit status and what it printed."""
        assert self.process
        text = self.process.communicate(timeout=timeout_s)[1]
        return self.process.returncode, text

    def quit(self) -> int:
        """Ask QEMU to end; its exit status."""
        self.cmd("quit")
        return self.wait()[0]


def pid(machine: Machine) -> int:
    """QEMU's process."""
    assert machine.process
    return machine.process.pid


def start_and_fail(*args: str) -> str:
    """Start QEMU with arguments that it must refuse; what it printed."""
    line = [emulator(), "-machine", "q35,accel=qtest", "-display", "none",
            "-nodefaults", "-no-user-config", *FIRMWARE, *args]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1, done.stderr
    return done.stderr.strip()


def drive_args(profile: str, image: Path | str, **device: str) -> list[str]:
    """The arguments that give the machine one vssd drive at 00:04.0."""
    path = profile if "/" in profile else str(PROFILES / f"{profile}.ini")
    props = "".join(f",{k.replace('__', '-')}={v}" for k, v in device.items())
    node = (str(image) if str(image).startswith("driver=") else
            f"driver=raw,file.driver=file,file.filename={image}")
    return ["-blockdev", f"{node},node-name=d0", "-device",
            f"vssd,id=ssd,drive=d0,profile={path},addr=4{props}"]
