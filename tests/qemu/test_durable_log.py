# SPDX-License-Identifier: GPL-2.0-or-later
"""durable_log=FILE: the image that it gives for an instant is the one that a
power cut at that instant leaves."""

from __future__ import annotations

import contextlib
import random
import struct
from pathlib import Path

import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import BUFFER, CSTS, NvmeHost
from test_power import ALL_ONES, PATH, put
from vssd.campaign.durable import DATA, END, START, Log, Replayer, flush_instants
from vssd.errors import UserError

UNIT = 4096
LBAS = UNIT // 512
BYTES = 8 << 20
COMMANDS = 60
UNITS = 64  # that the commands reach


class Gone(Exception):
    """The drive has no power."""


def work(host: NvmeHost, seed: int) -> None:
    """Writes of whole and of partial units, some with FUA; TRIMs; flushes.
    Gone: where the drive has no power."""
    def pass_time(step_ns: int) -> None:
        host.qtest.clock_step(step_ns)
        if host.reg_read(CSTS) == ALL_ONES:
            raise Gone

    host.pass_time = pass_time
    chance = random.Random(seed)
    for i in range(1, COMMANDS + 1):
        lba = chance.randrange(0, 60 * LBAS)
        kind = chance.choice(("write", "write", "write", "fua", "trim",
                              "flush"))
        if kind == "flush":
            done = host.io.run(0)
        elif kind == "trim":
            first = lba // LBAS * LBAS
            host.qtest.write(BUFFER, struct.pack("<IIQ", 0, 4 * LBAS, first))
            done = host.io.run(9, prp1=BUFFER, cdw=(0, 4))
        else:
            n = chance.randrange(1, 3 * LBAS)
            host.qtest.write(BUFFER, chance.randbytes(n * 512))
            prp1, prp2 = host._prps(n * 512)
            done = host.io.run(1, prp1=prp1, prp2=prp2,
                               cdw=(lba, 0, n - 1 | (kind == "fua") << 30))
        assert done.status == 0
        pass_time(chance.randrange(1, 400_000))
        if i % 20 == 0:
            pass_time(20_000_000)


def life(folder: Path, seed: int, cut_ns: int | None = None, more: str = "",
         **properties: str) -> bytes:
    """Of a drive whose log is `log`; what it holds after the cut."""
    image = folder / "disk.img"
    with image.open("wb") as f:
        f.truncate(BYTES)
    options = "buffer.policy=lru" + more
    if cut_ns is not None:
        rules = folder / "rules"
        rules.write_text(f"time={cut_ns}ns -> cut power\n")
        options += f";faults={rules}"
    with Machine(*drive_args("tiny", image, options=options, power_return_ms="0",
                             durable_log=str(folder / "log"),
                             **properties)) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        found = b""
        if cut_ns is None:
            work(host, seed)
        else:
            with contextlib.suppress(Gone):
                work(host, seed)
            while machine.cmd("qom-get", path=PATH, property="powered"):
                machine.qtest.clock_step(1_000_000)
            put(machine, "powered", True)
            host = NvmeHost(machine.qtest)
            host.enable()
            found = b"".join(host.read(i * LBAS, UNIT) for i in range(UNITS))
        machine.quit()
    return found


@pytest.mark.parametrize("more, cuts, properties", [
    ("", 8, {}), (";ftl.recovery=checkpoint;ftl.op_percent=80%", 5, {}),
    (";buffer.plp=on", 4, {}), (";buffer.ignore_flush=on", 4, {}),
    ("", 6, {"atomic.nawupf": "0"})])  # units are torn
def test_image_of_each_cut(tmp_path: Path, more: str, cuts: int,
                           properties: dict[str, str]) -> None:
    """Random instants with each kind of drive, byte for byte.  Each life has a
    log of its own: without -icount no two are equal."""
    chance = random.Random(len(more))
    changes = set()
    for cut in range(cuts):
        cut_ns = chance.randrange(2_000_000, 60_000_000)
        found = life(tmp_path, cut, cut_ns, more, **properties)
        log = Log(tmp_path / "log")
        replayer = Replayer(log, tmp_path / "replayed", BYTES)
        replayer.advance(cut_ns)
        with replayer.path.open("rb") as f:
            assert found == f.read(UNITS * UNIT), cut_ns
        changes.add(replayer.changes)
        log.close()
    assert len(changes) > 2 and max(changes) > 4


def test_records(tmp_path: Path) -> None:
    """Commands with their instants; flush_instants() finds Flush and FUA."""
    life(tmp_path, 5)
    log = Log(tmp_path / "log")
    starts = [r for r in log.records if r.kind == START]
    ends = [r for r in log.records if r.kind == END]
    assert len(starts) == len(ends) == COMMANDS
    assert {r.opcode for r in starts} == {0, 1, 9}
    assert any(r.status & 1 for r in starts)
    instants = flush_instants(log, 0, 1 << 62)
    durable = [r for r in starts if r.opcode == 0 or r.status & 1]
    assert {r.at_ns for r in durable} < set(instants)
    assert all(a.at_ns <= b.at_ns for a, b in zip(log.records, log.records[1:]))
    log.close()
    raw = (tmp_path / "log").read_bytes()
    for bad in (raw[:-1], raw[:40], b"x" + raw[1:], raw[:56] + b"\xff" + raw[57:]):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(UserError):
            Log(tmp_path / "bad")


def test_data_of_flushed_writes(tmp_path: Path) -> None:
    """What was written before a Flush is in the log when that ends."""
    life(tmp_path, 9)
    log = Log(tmp_path / "log")
    written: set[int] = set()
    for i, r in enumerate(log.records):
        if r.kind == START and r.opcode == 1:
            written |= set(range(r.lba, r.lba + r.nblocks))
        elif r.kind == DATA:
            written -= set(range(r.lba, r.lba + r.nblocks))
        elif r.kind == START and r.opcode == 9:
            written.clear()
        elif r.kind == END and r.opcode == 0:
            assert not written, i
    log.close()


def test_refusals(image: Path, tmp_path: Path) -> None:
    """One line each."""
    log = str(tmp_path / "log")
    for more, why in (({"state": str(tmp_path / "state")}, "state="),
                      ({"metadata": "8"}, "metadata=")):
        said = start_and_fail(*drive_args("tiny", image, durable_log=log,
                                          **more))
        assert f"durable_log= does not go with {why}" in said
    said = start_and_fail(*drive_args("tiny", image,
                                      durable_log="/nowhere/log"))
    assert "durable_log=/nowhere/log: No such file or directory" in said
