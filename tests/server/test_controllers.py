# SPDX-License-Identifier: GPL-2.0-or-later
"""Several controllers of one drive, with a socket and a client each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from test_server import ALL_ONES, host_of, pattern, refused, use_msix
from vmm import LIMIT_S, PROJECT, Server, Vmm

from nvme_host import BUFFER, CSTS, OP_WRITE, NvmeHost
from test_subsystem import (
    ACQUIRE,
    CONFLICT,
    REGISTER,
    cntlid,
    controllers,
    reserve,
    set_host,
)

BLOCK = 4096
NSSR, NSSR_MAGIC = 0x20, 0x4E564D65


@contextmanager
def pair(tmp_path: Path, image: Path, *more: str
         ) -> Iterator[tuple[Server, list[Vmm], list[NvmeHost]]]:
    """A drive with two controllers, and a driver of each in a guest of its
    own."""
    second = tmp_path / "t.sock"
    with ExitStack() as stack:
        server = stack.enter_context(Server(tmp_path, image, "--socket",
                                            str(second), *more))
        vmms = [stack.enter_context(Vmm(path))
                for path in (server.socket, second)]
        yield server, vmms, [host_of(vmm) for vmm in vmms]


def test_both_work_on_the_same_namespace(tmp_path: Path, image: Path) -> None:
    """One drive, two numbers, shared namespaces; each guest has its memory and
    its interrupts."""
    with pair(tmp_path, image) as (server, vmms, (first, second)):
        first.write(0, pattern(1))
        assert second.read(0, BLOCK) == pattern(1)
        second.write(8, pattern(2))
        assert first.read(8, BLOCK) == pattern(2)
        assert (cntlid(first), cntlid(second)) == (1, 2)
        assert controllers(first) == controllers(second) == [1, 2]
        assert first.identify(1)[4:24] == second.identify(1)[4:24]
        assert first.identify(1)[76] & 2 and second.identify(0, 1)[30] & 1
        vmms[0].memory[BUFFER:BUFFER + BLOCK] = pattern(3)
        vmms[1].memory[BUFFER:BUFFER + BLOCK] = pattern(4)
        for host, lba in ((first, 16), (second, 24)):
            host.check(host.io.run(OP_WRITE, prp1=BUFFER, cdw=(lba, 0, 7)))
        assert second.read(16, BLOCK) == pattern(3)
        assert first.read(24, BLOCK) == pattern(4)
        for vmm, host in zip(vmms, (first, second)):
            use_msix(host)
            host.identify(1)
            assert vmm.interrupted(0, 10)
        found = server.counts()
        assert found["clients"] == 2 and found["memory_ranges"] == 2


def test_reservation(tmp_path: Path, image: Path) -> None:
    """A host that has none may not write."""
    with pair(tmp_path, image) as (_, _, (first, second)):
        for n, host in enumerate((first, second)):
            set_host(host, n + 1)
        assert reserve(first, REGISTER, 0, (0, 0xAA)) == 0
        assert reserve(first, ACQUIRE, 1 << 8, (0xAA, 0)) == 0
        first.write(0, pattern(6))
        done = second.io.run(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
        assert done.status & 0x7FF == CONFLICT


def test_client_goes(tmp_path: Path, image: Path) -> None:
    """The other one works on, and the next client of that socket, too."""
    with pair(tmp_path, image) as (server, vmms, (first, second)):
        for i in range(20):
            first.io.push(OP_WRITE, prp1=BUFFER, cdw=(64 + 8 * i, 0, 7))
        first.io.ring()
        vmms[0].close()
        second.write(0, pattern(1))
        assert second.read(0, BLOCK) == pattern(1)
        with Vmm(server.socket) as again:
            assert host_of(again).read(0, BLOCK) == pattern(1)


def test_power_is_of_the_drive(tmp_path: Path, image: Path) -> None:
    """A power cut takes both away; a reset by one guest brings both back, and
    a reset of one that has power is its own."""
    with pair(tmp_path, image, "--power_return_ms", "0") as (
            server, vmms, (first, second)):
        server.put("power-cut", "running")
        assert first.reg_read(CSTS) == second.reg_read(CSTS) == ALL_ONES
        vmms[1].call(13)
        assert first.reg_read(CSTS) == second.reg_read(CSTS) == 0
        assert first.pci.read(4) & 7 == second.pci.read(4) & 7 == 0
        first.enable()
        second.enable()
        vmms[1].call(13)
        assert second.reg_read(CSTS) == 0
        assert first.read(0, BLOCK) == bytes(BLOCK)
        second.enable()
        first.reg_write(NSSR, NSSR_MAGIC)
        assert first.reg_read(CSTS) & 1 == second.reg_read(CSTS) & 1 == 0


def test_link_of_one(tmp_path: Path, image: Path) -> None:
    """A rule of one controller takes that one away."""
    with pair(tmp_path, image) as (server, _, (first, second)):
        server.put("fault-add", "ctrl ctrl=1 -> link-down for 200ms")
        end = time.monotonic() + LIMIT_S
        while second.reg_read(CSTS) != ALL_ONES:
            assert time.monotonic() < end
        assert first.read(0, BLOCK) == bytes(BLOCK)
        while second.reg_read(CSTS) == ALL_ONES:
            assert time.monotonic() < end
            time.sleep(0.01)
        second.enable()
        assert second.read(0, BLOCK) == bytes(BLOCK)


def test_state(tmp_path: Path, image: Path) -> None:
    """The state file is the drive's, with more controllers or fewer."""
    state = ("--state", str(tmp_path / "drive.state"))
    with pair(tmp_path, image, *state) as (server, _, (first, second)):
        second.write(0, pattern(1))
        first.flush()
        assert server.end() == ""
    assert not (tmp_path / "s.sock").exists()
    assert not (tmp_path / "t.sock").exists()
    with Server(tmp_path, image, *state) as server, Vmm(server.socket) as vmm:
        assert host_of(vmm).read(0, BLOCK) == pattern(1)


@pytest.mark.parametrize("sockets, words", [
    (["a", "a"], "another process listens at this socket"),
    ([f"{i}" for i in range(33)], "--socket: 33 of them: allowed 1..32"),
])
def test_refused(tmp_path: Path, image: Path, sockets: list[str],
                 words: str) -> None:
    """One line that names the option."""
    args = [x for name in sockets for x in ("--socket", str(tmp_path / name))]
    assert words in refused("--profile", str(PROJECT / "profiles/tiny.ini"),
                            "--image", str(image), *args)
    assert not (tmp_path / "a").exists()
