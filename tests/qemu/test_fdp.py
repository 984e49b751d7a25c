# SPDX-License-Identifier: GPL-2.0-or-later
"""FDP beside a saved drive: selected events, their log and the placement
handles of namespaces go on in the next run."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import BUFFER, OP_FLUSH, OP_WRITE, NvmeHost

KIB = 1 << 10
SETS = "nand.blocks=64;ftl.op_percent=120%;fdp.ruhs=2;fdp.groups=2"
GET_LOG, SET_FEATURES, MANAGE, ATTACH = 0x02, 0x09, 0x0D, 0x15
RECEIVE = 0x12
PLACEMENT = 2


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def select(host: NvmeHost, event: int) -> None:
    """Feature 1Eh: the event, of placement handle 0."""
    host.qtest.write(BUFFER, bytes([event]))
    host.check(host.admin.run(SET_FEATURES, nsid=1, prp1=BUFFER,
                              cdw=(0x1E, 1 << 16, 1)))


def write(host: NvmeHost, pid: int) -> None:
    """4 KiB of namespace 1 with a placement identifier."""
    host.qtest.write(BUFFER, b"data" * KIB)
    host.check(host.io.run(OP_WRITE, nsid=1, prp1=BUFFER,
                           cdw=(0, 0, 7 | PLACEMENT << 20, pid << 16)))
    host.check(host.io.run(OP_FLUSH, nsid=1))


def events(host: NvmeHost) -> list[tuple[int, int]]:
    """Types and identifiers of the host's events."""
    host.check(host.admin.run(GET_LOG, nsid=0, prp1=BUFFER,
                              cdw=(1023 << 16 | 1 << 8 | 0x23, 1 << 16)))
    page = host.qtest.read(BUFFER, 4096)
    n = struct.unpack_from("<I", page)[0]
    return [(page[64 + 64 * i],
             struct.unpack_from("<H", page, 64 + 64 * i + 2)[0])
            for i in range(n)]


def rooms(host: NvmeHost) -> list[tuple[int, int, int]]:
    """Identifier, reclaim unit handle and RUAMW of namespace 1."""
    host.check(host.io.run(RECEIVE, nsid=1, prp1=BUFFER, cdw=(1, 1023)))
    page = host.qtest.read(BUFFER, 4096)
    return [struct.unpack_from("<HH4xQ", page, 16 + 32 * i)
            for i in range(struct.unpack_from("<H", page, 14)[0])]


def create(host: NvmeHost, nblocks: int, handles: list[int]) -> None:
    """Namespace 1, with a placement handle list, attached."""
    page = bytearray(4096)
    struct.pack_into("<QQ", page, 0, nblocks, nblocks)
    struct.pack_into("<H", page, 392, len(handles))
    struct.pack_into(f"<{len(handles)}H", page, 512, *handles)
    host.qtest.write(BUFFER, bytes(page))
    done = host.check(host.admin.run(MANAGE, nsid=0, prp1=BUFFER, cdw=(0,)))
    assert done.result == 1
    cntlid = struct.unpack_from("<H", host.identify(1), 78)[0]
    host.qtest.write(BUFFER, struct.pack("<HH", 1, cntlid) + bytes(4092))
    host.check(host.admin.run(ATTACH, nsid=1, prp1=BUFFER, cdw=(0,)))


@pytest.mark.parametrize("managed", [False, True])
def test_fdp_state(image: Path, tmp_path: Path, managed: bool) -> None:
    """With one namespace for good, and with one that has a list."""
    state = tmp_path / "drive.state"
    more = {"namespaces": "0"} if managed else {}
    args = drive_args("tiny", image, state=str(state), options=SETS, **more)
    with Machine(*args) as machine:
        host = host_of(machine)
        if managed:
            create(host, 64, [1])
        write(host, 9)  # not selected
        select(host, 3)
        write(host, 0x8000 | 9)
        write(host, 0x8000)
        assert events(host) == [(3, 0x8009)]
        before = rooms(host)
        assert before[0][1] == managed
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        assert events(host) == [(3, 0x8009)]
        assert rooms(host) == before
        write(host, 8)
        assert events(host) == [(3, 0x8009), (3, 8)]
        assert machine.quit() == 0
    if managed:
        message = start_and_fail(*drive_args("tiny", image, state=str(state),
                                             options=SETS))
        assert "namespaces=" in message


def test_fdp_nothing_to_save(image: Path, tmp_path: Path) -> None:
    """A drive without events has the file that vssd-sim loads, too."""
    state = tmp_path / "drive.state"
    args = drive_args("tiny", image, state=str(state), options=SETS)
    for _ in range(2):
        with Machine(*args) as machine:
            host = host_of(machine)
            write(host, 1)
            assert events(host) == []
            assert machine.quit() == 0
    assert b"vssdFDP" not in state.read_bytes()
