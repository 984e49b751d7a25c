# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that QEMU stops: after an error of its accelerator the run ends, and
QEMU's message is the reason.  A program that speaks QMP stands for QEMU, since no
TCG guest causes such an error."""

from __future__ import annotations

import asyncio
import textwrap
from pathlib import Path

import pytest

from vssd.guest import hardware, machine

EMULATOR = """\
    #!/usr/bin/env python3
    import json, re, socket, sys

    fd = int(re.search(r"id=qmp,fd=(\\d+)", " ".join(sys.argv))[1])
    monitor = socket.socket(fileno=fd)

    def say(**message):
        monitor.sendall(json.dumps(message).encode() + b"\\r\\n")

    def event(name, **data):
        say(event=name, data=data, timestamp={"seconds": 0, "microseconds": 0})

    say(QMP={"version": {}, "capabilities": []})
    while command := monitor.recv(4096):  # each is answered before the next
        command = json.loads(command)
        name = command["execute"]
        status = {"running": False, "status": "%s"}
        answer = {"return": status if name == "query-status" else {}}
        say(**answer, **{k: v for k, v in command.items() if k == "id"})
        if name == "qmp_capabilities":
            sys.stderr.write("%s")
            sys.stderr.flush()
            event("STOP")
        if name == "query-status" and status["status"] == "paused":
            event("SHUTDOWN", guest=True, reason="guest-shutdown")
        if name == "quit":
            event("SHUTDOWN", guest=False, reason="host-qmp-quit")
            break
    """
KVM = r"KVM internal error. Suberror: 1\nEAX=00000000\n"


async def reason(emulator: Path) -> tuple[str, str]:
    """Why a run with this emulator ended, and QEMU's message."""
    m = machine.Machine(hardware.Spec(emulator, "tcg", [], network=False))
    await m.start()
    ended = await m.first(m.ended, timeout_s=60)
    await m.quit()
    return (m.end_reason if ended else "never"), m.complaint()


@pytest.mark.parametrize("status, stderr, ends", [
    ("internal-error", KVM, ("QEMU ended", "KVM internal error. Suberror: 1")),
    ("internal-error", "",
     ("QEMU ended", "QEMU stopped the machine (internal-error)")),
    # A user's `stop`: it goes on, here to the guest's power-off.
    ("paused", "", ("guest-shutdown", "no message")),
])
def test_a_stop(tmp_path: Path, status: str, stderr: str,
                ends: tuple[str, str]) -> None:
    """Only that of an error ends the run."""
    emulator = tmp_path / "qemu"
    emulator.write_text(textwrap.dedent(EMULATOR) % (status, stderr),
                        encoding="utf-8")
    emulator.chmod(0o755)
    assert asyncio.run(reason(emulator)) == ends
