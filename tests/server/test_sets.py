# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile's options give a drive, over vfio-user: zones, FDP, streams
and key-value pairs, each by Identify and a command."""

from __future__ import annotations

import struct
from pathlib import Path

from test_server import host_of, refused
from vmm import Server, Vmm

from nvme_host import BUFFER, OP_FLUSH, OP_WRITE, NvmeHost
from test_fdp import SETS, rooms
from test_key_value import retrieve, value
from test_key_value import store as store_pair
from test_zones import BLOCK, FULL, OPTIONS, ZONE, fill, zones
from test_zones import read as read_zoned

KIB = 1 << 10
DIRECTIVE_SEND = 0x19
ZONED, PAIRS = 2, 1  # command set identifiers


def sets(text: str) -> list[str]:
    """--set for each of these options of the profile."""
    return [word for one in text.split(";") for word in ("--set", one)]


def command_set(host: NvmeHost, csi: int) -> bytes:
    """Identify Namespace of namespace 1 by that command set."""
    host.check(host.admin.run(6, nsid=1, prp1=BUFFER, cdw=(5, csi << 24)))
    return host.qtest.read(BUFFER, 4096)


def write(host: NvmeHost, directive: int, identifier: int) -> None:
    """4 KiB of namespace 1."""
    host.qtest.write(BUFFER, b"data" * KIB)
    host.check(host.io.run(OP_WRITE, nsid=1, prp1=BUFFER,
                           cdw=(0, 0, 7 | directive << 20, identifier << 16)))
    host.check(host.io.run(OP_FLUSH, nsid=1))


def test_zones(tmp_path: Path, image: Path) -> None:
    """Zone sizes, states and data; the next run goes on with them."""
    more = (*sets(OPTIONS), "--state", str(tmp_path / "state"))
    with Server(tmp_path, image, *more) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert struct.unpack_from("<Q", command_set(host, ZONED),
                                  2816)[0] == ZONE
        fill(host)
        server.end()
    with Server(tmp_path, image, *more) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        found = zones(host)
        assert found[0][1] == 3 and found[1][0] == FULL
        assert read_zoned(host, 2) == bytes([3]) * BLOCK
        assert read_zoned(host, ZONE) == b"f" * BLOCK


def test_fdp(tmp_path: Path, image: Path) -> None:
    """Placement identifiers choose reclaim units."""
    with Server(tmp_path, image, *sets(SETS)) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert struct.unpack_from("<I", host.identify(1), 96)[0] & 1 << 19
        before = rooms(host)
        write(host, 2, 1)
        after = rooms(host)
        changed = [b[0] for b, a in zip(before, after) if b[2] != a[2]]
        assert changed == [1], (before, after)


def test_streams(tmp_path: Path, image: Path) -> None:
    """A write with the Streams directive is of its stream."""
    with Server(tmp_path, image, *sets("streams.max=2;nand.blocks=64;"
                                       "ftl.op_percent=120%")) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert struct.unpack_from("<H", host.identify(1), 256)[0] & 1 << 5
        host.check(host.admin.run(DIRECTIVE_SEND, nsid=1,
                                  cdw=(0, 1, 1 << 8 | 1)))
        write(host, 1, 2)
        found = server.get("stats")
        assert isinstance(found, dict)
        assert sum(s["host_bytes_written"] > 0 for s in found["streams"]) == 1
        assert found["streams"][0]["host_bytes_written"] == 0


def test_key_value(tmp_path: Path, image: Path) -> None:
    """Pairs come back, also in the next run."""
    for run in range(2):
        with Server(tmp_path, image, "--namespaces", "6M:kv;rest") as server, \
                Vmm(server.socket) as vmm:
            host = host_of(vmm)
            assert struct.unpack_from("<Q", command_set(host, PAIRS))[0] > 0
            for key in range(20):
                if run == 0:
                    store_pair(host, key, value(key))
                assert retrieve(host, key) == value(key)
            host.check(host.io.run(OP_FLUSH, nsid=1))
            server.end()


def test_pairs_that_exclude_each_other(tmp_path: Path, image: Path) -> None:
    """Zones with namespaces or metadata are one line."""
    base = ("--profile", "tiny", "--image", str(image), "--socket",
            str(tmp_path / "s"), *sets(OPTIONS))
    assert "namespaces" in refused(*base, "--namespaces", "2")
    assert "zones.enabled=on" in refused(*base, "--metadata", "8")
