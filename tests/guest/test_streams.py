# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams and FDP by nvme-cli in a stock guest: its writes are placed in the
stream it names, as the drive counts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from vssd.guest.guest import Guest

UNIT = 4096


@pytest.fixture(name="guest")
def placed_guest(featured: Guest) -> Guest:
    """Drive 1 has four streams, drive 2 four reclaim unit handles, drive 3
    two handles in two reclaim groups."""
    return featured


def device(guest: Guest, i: int) -> str:
    """Drive i in the guest, as /dev/nvme1."""
    found = guest.run(f"grep -lw VSSD{i:04d} /sys/class/nvme/*/serial")
    return "/dev/" + str(found.split("/")[-2])


def written(guest: Guest, i: int) -> list[int]:
    """Bytes by stream."""
    return [s["host_bytes_written"] for s in guest.stats(i)["streams"]]


def write(guest: Guest, dev: str, kind: int, spec: int, lba: int,
          nbytes: int = 64 * UNIT) -> None:
    """A write of zeroes with a directive, by the passthrough ioctl."""
    guest.run(f"head -c {nbytes} /dev/zero > /tmp/w && nvme io-passthru"
              f" {dev}n1 --opcode=1 --namespace-id=1 --write"
              f" --data-len={nbytes} --input-file=/tmp/w --cdw10={lba}"
              f" --cdw12={nbytes // 512 - 1 | kind << 20}"
              f" --cdw13={spec << 16}")


def as_json(guest: Guest, command: str) -> Any:
    """What nvme-cli prints."""
    text = guest.run(command + " -o json")
    return json.loads(text[text.index("{"):])


def test_streams_directive(guest: Guest) -> None:
    """Enable, write, look at what is open, release, disable."""
    dev = device(guest, 1)
    before = written(guest, 1)
    assert len(before) == 5
    guest.run(f"nvme dir-send {dev}n1 -n 1 -D 0 -O 1 -T 1 -e 1")
    text = guest.run(f"nvme dir-receive {dev}n1 -n 1 -D 0 -O 1 -H")
    enabled = text[text.index("Directive enabled"):]
    assert re.search(r"Stream Directive +: enabled", enabled)
    text = guest.run(f"nvme dir-receive {dev}n1 -n 1 -D 1 -O 1 -H")
    assert "MSL" in text and "4" in text
    for stream in (1, 2, 3):
        write(guest, dev, 1, 100 + stream, 10000 * stream,
              stream * 16 * UNIT)
    after = written(guest, 1)
    assert [b - a for a, b in zip(before, after, strict=True)] == \
        [0, 16 * UNIT, 32 * UNIT, 48 * UNIT, 0]
    text = guest.run(f"nvme dir-receive {dev}n1 -n 1 -D 1 -O 2 -H")
    assert all(str(100 + s) in text for s in (1, 2, 3))
    guest.run(f"nvme dir-send {dev}n1 -n 1 -D 1 -O 1 -S 102")
    text = guest.run(f"nvme dir-receive {dev}n1 -n 1 -D 1 -O 2 -H")
    assert "102" not in text and "103" in text
    guest.run(f"nvme dir-send {dev}n1 -n 1 -D 0 -O 1 -T 1 -e 0")
    assert guest.result(f"nvme dir-receive {dev}n1 -n 1 -D 1 -O 1").status != 0


def test_fdp(guest: Guest) -> None:
    """Configurations, usage, statistics, status and writes by handle."""
    dev = device(guest, 2)
    config = as_json(guest, f"nvme fdp configs {dev} -e 1")
    assert "4" in json.dumps(config)
    text = guest.run(f"nvme fdp configs {dev} -e 1")
    assert "Number of Reclaim Unit Handles: 4" in text
    assert "Persistently Isolated" in text
    text = guest.run(f"nvme fdp usage {dev} -e 1")
    assert text.count("Host Specified") == 4
    before = written(guest, 2)
    for handle in range(4):
        write(guest, dev, 2, handle, 10000 * handle, (handle + 1) * 16 * UNIT)
    guest.run(f"nvme flush {dev} -n 1")
    after = written(guest, 2)
    assert [b - a for a, b in zip(before, after, strict=True)] == \
        [(h + 1) * 16 * UNIT for h in range(4)]
    text = guest.run(f"nvme fdp stats {dev} -e 1")
    assert f"{sum(after)}" in text
    text = guest.run(f"nvme fdp status {dev}n1")
    assert text.count("Reclaim Unit Handle Identifier") == 4
    guest.run(f"nvme fdp update {dev}n1 -p 1")
    assert guest.result(f"nvme fdp update {dev}n1 -p 9").status != 0


def test_fdp_events(guest: Guest) -> None:
    """Which are wanted, those that came, and what the feature says."""
    dev = device(guest, 2)
    text = guest.run(f"nvme fdp feature {dev} -e 1")
    assert re.search(r"Enable \(FDPE\) +: Yes", text)
    # not with a namespace there
    assert guest.result(f"nvme fdp feature {dev} -e 1 -d").status != 0
    guest.run(f"nvme fdp set-events {dev}n1 -n 1 -p 0 -t 3 -e")
    guest.run(f"nvme fdp set-events {dev}n1 -n 1 -p 3 -t 0 -e")
    # Media Reallocated is not of persistently isolated handles
    assert guest.result(f"nvme fdp set-events {dev}n1 -n 1 -p 0 -t 128"
                        " -e").status != 0
    write(guest, dev, 2, 99, 50000)
    write(guest, dev, 2, 3, 60000)
    guest.run(f"nvme flush {dev} -n 1; nvme fdp update {dev}n1 -p 3")
    events = as_json(guest, f"nvme fdp events {dev} -e 1 -E")
    text = guest.run(f"nvme fdp events {dev} -e 1 -E")
    assert text.count("Event Type") == 2, events
    assert "Invalid Placement Identifier" in text
    assert "Reclaim Unit Not Fully Written" in text
    assert re.search(r"Placement Identifier \(PID\): 0x63", text)
    assert "Reclaim Unit Handle Identifier 3" in text
    assert "Event Type" not in guest.run(f"nvme fdp events {dev} -e 1")
    for handle, event in ((0, 3), (3, 0)):
        guest.run(f"nvme fdp set-events {dev}n1 -n 1 -p {handle} -t {event}")
    write(guest, dev, 2, 99, 50000)
    text = guest.run(f"nvme fdp events {dev} -e 1 -E")
    assert text.count("Event Type") == 2


def test_fdp_groups(guest: Guest) -> None:
    """Identifiers of two reclaim groups, each with two handles."""
    dev = device(guest, 3)
    text = guest.run(f"nvme fdp configs {dev} -e 1")
    assert "Number of Reclaim Groups: 2" in text
    assert "FDP Attributes: 0x91" in text  # RGIF 1
    before = written(guest, 3)
    for stream, pid in enumerate((0, 1, 0x8000, 0x8001)):
        write(guest, dev, 2, pid, 10000 * stream, (stream + 1) * 16 * UNIT)
    after = written(guest, 3)
    assert [b - a for a, b in zip(before, after, strict=True)] == \
        [(s + 1) * 16 * UNIT for s in range(4)]
    text = guest.run(f"nvme fdp status {dev}n1")
    assert text.count("Reclaim Unit Handle Identifier") == 4
    guest.run(f"nvme fdp update {dev}n1 -p {0x8001}")
    assert guest.result(f"nvme fdp update {dev}n1 -p {0x8002}").status != 0


def test_write_zeroes_has_a_directive(guest: Guest) -> None:
    """One logical block, so that it is written: nvme-cli names the handle."""
    dev = device(guest, 2)
    before = written(guest, 2)
    guest.run(f"nvme write-zeroes {dev}n1 -s 70001 -c 0 -T 2 -D 2")
    after = written(guest, 2)
    assert [b - a for a, b in zip(before, after, strict=True)] == \
        [0, 0, 512, 0]
    assert guest.result(f"nvme write-zeroes {dev}n1 -s 70001 -c 0 -T 1"
                        " -D 2").status != 0


def test_ordinary_writes_belong_to_no_stream(guest: Guest) -> None:
    """The page cache of this kernel sends no directive."""
    dev = device(guest, 1)
    before = written(guest, 1)
    guest.run(f"dd if=/dev/zero of={dev}n1 bs=1M count=2 oflag=direct"
              " 2>/dev/null")
    after = written(guest, 1)
    assert after[0] - before[0] == 2 << 20
    assert after[1:] == before[1:]


def test_tools_ask_the_drive(guest: Guest) -> None:
    """vssdctl and nvme-cli read the same log pages; what they say is what the
    statistics have."""
    dev = device(guest, 1)
    raw = f"nvme get-log {dev} --log-id=0xc0 --log-len=512 --raw-binary"
    assert guest.run(f"{raw} | head -c 4") == "VSSD"
    # again, if the guest has read the drive meanwhile (udev)
    assert guest.result("for i in 1 2 3 4 5; do"
                        f" {raw} > /tmp/a; vssdctl -d {dev} raw c0 > /tmp/b;"
                        " cmp /tmp/a /tmp/b && exit; done; exit 1").status == 0
    for page, size in (("c1", 6 * 64), ("c2", 4096)):
        assert guest.result(
            f"nvme get-log {dev} --log-id=0x{page} --log-len={size}"
            f" --raw-binary > /tmp/a; vssdctl -d {dev} raw {page}"
            f" | head -c {size} > /tmp/b; test -s /tmp/a && cmp /tmp/a"
            " /tmp/b").status == 0
    said = dict(line.split() for line in
                guest.run(f"vssdctl -d {dev} stats").splitlines())
    found = guest.stats(1)
    assert int(said["nand_programs"]) == found["nand"]["programs"]
    assert int(said["streams"]) == 5
    lines = guest.run(f"vssdctl -d {dev} streams").splitlines()
    assert [int(x.split()[3]) for x in lines[1:-1]] == written(guest, 1)
    head = guest.run("vssdctl where /etc/hostname | head -n 1")
    assert head.startswith("/etc/hostname: 1 extents on /dev/nvme")
    assert "beyond the end" in guest.result(
        f"vssdctl -d {dev} where 99999999999").err.decode()
    for block in (1 << 55) - 2, (1 << 64) - 1:
        assert "beyond the end" in guest.result(
            f"vssdctl -d {dev} where {block}").err.decode()


@pytest.mark.parametrize("i", [1, 2], ids=["directive", "fdp"])
def test_streamwrite_by_passthrough(guest: Guest, i: int) -> None:
    """What any kernel can do; and without streams the check fails."""
    dev = device(guest, i)
    said = guest.run(f"streamwrite -n 4 -s 2 {dev}n1")
    assert "every unit lies in blocks of its stream by passthru" in said
    assert guest.result(f"streamwrite -m none -n 4 -s 2 {dev}n1").status == 1
    said = guest.result("streamwrite /root").err.decode()
    assert "has no streams: give it some" in said
