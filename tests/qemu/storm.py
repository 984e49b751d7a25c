# SPDX-License-Identifier: GPL-2.0-or-later
"""A storm: everything that can happen to the device, in an order that a seed picks.

Commands of every kind and size, good and bad; doorbells with nonsense; queues
deleted under load; resets of the controller, the function and the machine;
power cuts; hot-unplug; a machine that stops; backups, mirrors, snapshots and
commits of the node; a throttle that is moved; a node that fails for some places.  A thread
writes shadow doorbells all the while.  Now and then all is put right, and then
the device must work: registers answer, what is written is read, nobody computes,
memory is bounded.

    VSSD_QEMU=... python3 tests/qemu/storm.py --seed 7 --steps 400

--peer has QEMU's own nvme device in its place, and backups at the same time:
whose defect is it?
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qemu.qmp import ExecuteError, QMPError

from machine import PROFILES, Machine
from nvme_host import (
    CAP,
    CC,
    CSTS,
    CSTS_CFS,
    CSTS_RDY,
    DOORBELLS,
    OP_FLUSH,
    OP_READ,
    OP_WRITE,
    NvmeHost,
    Queue,
)
from shadow_host import Feeder, shared_memory

MIB = 1 << 20
ALL_ONES = 0xFFFFFFFF
WRITE_FAULT = 0x280
ACPI_EJECT = 0xAE08
PATH = "/machine/peripheral/ssd"
# The last MiB is for the checks; the places that fail are before it.
IMAGE_BYTES, CHECK_LBA = 8 * MIB, 7 * MIB // 512
STORM_BLOCKS = 6 * MIB // 512
QUEUE_AREA, QUEUE_BYTES = 0x3000000, 0x20000
PRPS, DATA = 0x1200000, 0x1400000  # not where the checks have theirs
OTHER = 0x6000000       # where a further controller has its queues and BAR
ROUND = 40              # steps between two checks
GO_ON = 100             # waits between two commands to go on
MOST_RSS = 400 * MIB    # beyond what QEMU had when the storm began
IDLE_S, IDLE_CPU_S = 0.5, 0.25
LIMIT_S = 60
PROFILE_NAMES = ("tiny", "zero-latency", "read-40us")


class Storm:
    """One machine, one seed."""

    def __init__(self, seed: int, folder: Path, most_rss: int = MOST_RSS,
                 peer: bool = False, others: bool = False) -> None:
        self.most_rss = most_rss
        self.peer = peer
        self.others = others
        self.other: NvmeHost | None = None  # a further controller, plugged in
        self.random = random.Random(seed)
        self.folder = folder
        self.hotplug = bool(seed % 2)  # else PCI Express, with function resets
        self.memory = folder / "ram"
        self.profile = self.random.choice(PROFILE_NAMES)
        self.queues: dict[int, Queue] = {}
        self.files = 0
        self.overlay = ""
        self.count: dict[str, int] = {}
        self.machine: Machine
        self.host: NvmeHost
        self.feeder: Feeder
        self.rss = 0
        self.waits = 0

    # ---- the machine --------------------------------------------------------

    def arguments(self) -> list[str]:
        """The drive's node: throttle, on top of faults, on top of a file."""
        image = self.folder / "disk.img"
        image.write_bytes(os.urandom(IMAGE_BYTES))
        faults = "".join(self.fault(i, kind) for i, kind in enumerate(
            ("read", "write", "write-zeroes", "discard") * 2))
        return [
            *shared_memory(self.memory),
            "-machine", "pc" if self.hotplug else "q35",
            "-object", "iothread,id=io0",
            "-object", "throttle-group,id=tg",
            "-blockdev", f"driver=file,filename={image},node-name=f0",
            "-blockdev", f"driver=blkdebug,image=f0,node-name=b0{faults}",
            "-blockdev", "driver=throttle,throttle-group=tg,file=b0,"
            "node-name=d0",
            "-device", json.dumps(self.device(self.random.choice(
                ({}, {"iothread": "io0"}))))]

    def fault(self, i: int, kind: str) -> str:
        """A place that fails, once or always.  There is room again (28: no space)
        when the machine goes on: otherwise it would stop at once, for ever."""
        errno = self.random.choice((5, 28))
        once = self.random.choice(("on", "off"))
        at = f",inject-error.{i}."
        return (f"{at}event=none{at}iotype={kind}{at}errno={errno}"
                f"{at}once={'on' if errno == 28 else once}"
                f"{at}sector={self.random.randrange(STORM_BLOCKS)}")

    def device(self, props: dict[str, Any]) -> dict[str, Any]:
        """The device, with more properties that only a vssd has."""
        common = {"id": "ssd", "drive": "d0", "addr": "4", "mdts": 5}
        if self.peer:
            return {"driver": "nvme", "serial": "x", **common}
        if self.others:
            props = {"controllers": 2, **props}
        return {"driver": "vssd", "power_return_ms": 20,
                "profile": f"{PROFILES / self.profile}.ini", **common, **props}

    def qmp(self, name: str, **args: Any) -> Any:
        """A command that may be refused: there is a storm on."""
        try:
            return self.machine.cmd(name, **args)
        except ExecuteError:
            return None

    def put(self, name: str, value: object) -> None:
        """qom-set of the drive."""
        self.qmp("qom-set", path=PATH, property=name, value=value)

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event of QEMU; its data."""
        while True:
            event = self.machine.qmp.pull_event(wait=LIMIT_S)
            if event["event"] == name:
                return event["data"]

    def step(self, ns: int) -> None:
        """Let virtual time pass."""
        self.host.qtest.clock_step(ns)

    def go_on(self, ns: int) -> None:
        """Time passes while something waits for the drive; a machine that an error
        of the node has stopped goes on."""
        self.waits += 1
        if self.waits % GO_ON == 0:
            self.qmp("cont")
        self.step(ns)

    def alive(self) -> bool:
        """Is there a controller that takes commands?"""
        return self.host.reg_read(CSTS) & (CSTS_RDY | CSTS_CFS) == CSTS_RDY \
            and self.host.reg_read(CC) & 1 == 1

    # ---- what a driver does -------------------------------------------------

    def open_queue(self) -> None:
        """One more queue pair."""
        qid = self.random.randrange(3, 9)
        if qid in self.queues or not self.alive():
            return
        at = QUEUE_AREA + qid * QUEUE_BYTES
        self.queues[qid] = self.host.add_queue(
            qid, self.random.choice((2, 3, 16, 256)), at, at + QUEUE_BYTES // 2)

    def delete_queue(self) -> None:
        """With commands in flight."""
        if self.queues and self.alive():
            qid = self.random.choice(list(self.queues))
            del self.queues[qid]
            self.host.check(self.host.admin.run(0, cdw=(qid,)))
            self.host.check(self.host.admin.run(4, cdw=(qid,)))

    def command(self, queue: Queue) -> None:
        """One command, mostly a good one."""
        rnd = self.random
        opcode = rnd.choice((0, 1, 1, 1, 2, 2, 2, 5, 8, 9, rnd.randrange(256)))
        blocks = rnd.choice((1, 8, 8, 64, 128, 256))
        lba = rnd.randrange(STORM_BLOCKS)
        prp1 = DATA + 4 * rnd.randrange(1024)
        prp2 = PRPS
        if blocks <= 8:
            prp2 = DATA + 4096
        if rnd.random() < 0.05:
            prp1, prp2 = rnd.choice(((1 << 60, 0), (prp1, 1 << 60), (3, 3)))
        if rnd.random() < 0.03:
            lba = rnd.randrange(1 << 64)
        if opcode == 9:
            blocks, prp1 = 1 + rnd.randrange(8), PRPS + 4096
            ranges = b"".join(
                struct.pack("<IIQ", 0, rnd.randrange(1024), rnd.randrange(
                    STORM_BLOCKS - 1024)) for _ in range(blocks))
            self.host.qtest.write(prp1, ranges)
            queue.push(9, prp1=prp1, cdw=(blocks - 1, 4))
        else:
            queue.push(opcode, prp1=prp1, prp2=prp2,
                       cdw=(lba & ALL_ONES, lba >> 32,
                            blocks - 1 | rnd.getrandbits(1) << 30))

    def commands(self) -> None:
        """Some, and the doorbell; completions are taken unseen."""
        if not self.queues:
            return
        queue = self.random.choice(list(self.queues.values()))
        while queue.poll():
            pass
        for _ in range(self.random.randrange(queue.entries)):
            self.command(queue)
        queue.ring()

    def doorbells(self) -> None:
        """Nonsense: of queues that are there, and of others."""
        for _ in range(10):
            value = self.random.choice((0, 1, 7, 0xFFFF, ALL_ONES))
            index = self.random.randrange(6, 140)
            self.host.reg_write(DOORBELLS + 4 * index, value)

    # ---- what becomes of controller and machine -----------------------------

    def lost(self) -> None:
        """Queues are gone."""
        self.queues.clear()

    def controller_reset(self) -> None:
        """CC.EN from 1 to 0, at any moment."""
        self.host.reg_write(CC, self.random.choice((0, 1 << 14, 2 << 14)))
        self.lost()

    def function_reset(self) -> None:
        """PCI Express has it."""
        cap = 0 if self.hotplug else self.host.pci.capability(0x10)
        if cap:
            self.host.pci.write(cap + 8, 1 << 15)
            self.lost()

    def machine_reset(self) -> None:
        """As the button does it."""
        self.machine.qmp.clear_events()
        self.qmp("system_reset")
        self.event("RESET")
        self.lost()

    def bus_master_off(self) -> None:
        """No DMA: the next one is fatal for the controller."""
        self.host.pci.write(4, 0x2)
        self.commands()
        self.doorbells()
        self.step(1_000_000)
        self.host.pci.enable()
        self.controller_reset()

    def start(self) -> None:
        """A driver comes."""
        if not self.alive():
            self.bring_up()

    def power(self) -> None:
        """It goes, and comes back by itself or when told."""
        self.put("power-cut", "running")
        self.lost()
        if self.random.random() < 0.5:
            self.step(self.random.randrange(40_000_000))
        self.put("powered", True)

    def unplug(self) -> None:
        """And a drive is plugged in again, perhaps of another kind."""
        if not self.hotplug:
            return
        self.end_jobs()
        self.lost()
        if self.other and self.random.random() < 0.5:
            self.eject("other", 5)
        if self.other:  # the guest takes the drive out, and all of it goes
            self.machine.qmp.clear_events()
            self.host.qtest.outl(ACPI_EJECT, 1 << 4)
            while self.event("DEVICE_DELETED").get("device") != "ssd":
                pass
            self.eject("other", 5)
        else:
            self.eject("ssd", 4)
        self.profile = self.random.choice(PROFILE_NAMES)
        self.machine.cmd("device_add", **self.device({}))

    def eject(self, name: str, slot: int) -> None:
        """device_del, and the guest's consent."""
        self.machine.qmp.clear_events()
        self.qmp("device_del", id=name)
        self.host.qtest.outl(ACPI_EJECT, 1 << slot)
        while self.event("DEVICE_DELETED").get("device") != name:
            pass
        if name == "other":
            self.other = None

    def another(self) -> None:
        """A further controller comes, works, or goes."""
        if not self.other:
            self.qmp("device_add", driver="vssd-ctrl", id="other",
                     subsys="ssd", addr="5")
            if self.qmp("qom-list", path=f"{PATH[:-3]}other") is None:
                return  # the drive has no power
            self.other = NvmeHost(self.host.qtest, 5, at=OTHER)
            self.other.pass_time = self.go_on
        elif self.random.random() < 0.2:
            self.eject("other", 5)
            return
        self.other.pci.enable()
        if self.other.reg_read(CAP) in (0, ALL_ONES):
            return
        if not self.other.reg_read(CSTS) & CSTS_RDY:
            self.other.reg_write(CC, 0)
            self.throttle(0)
            self.other.enable()
        for _ in range(self.random.randrange(20)):
            self.other.io.push(
                self.random.choice((OP_READ, OP_WRITE, OP_FLUSH)),
                prp1=DATA, cdw=(8 * self.random.randrange(STORM_BLOCKS // 8),
                                0, 7))
        self.other.io.ring()
        while self.other.io.poll():
            pass

    def stop_and_go(self) -> None:
        """A machine that stands still for a moment."""
        self.qmp("stop")
        self.doorbells()
        self.qmp("cont")

    # ---- what becomes of the node -------------------------------------------

    def target(self) -> str:
        """A new node for a job."""
        self.files += 1
        name = f"t{self.files}"
        self.machine.cmd("blockdev-add", driver="null-co", size=IMAGE_BYTES,
                         **{"node-name": name, "read-zeroes": True})
        return name

    def job(self) -> None:
        """A backup or a mirror, while it works.

        One backup at a time: two that end together are too much for QEMU 10.0
        (docs/testing.md).
        """
        kind = self.random.choice(("backup", "mirror"))
        backups = [job for job in self.qmp("query-block-jobs")
                   if job["type"] == "backup"]
        if kind == "mirror" or len(backups) < (3 if self.peer else 1):
            self.qmp(f"blockdev-{kind}", device=self.overlay or "d0",
                     target=self.target(), sync="full",
                     **{"job-id": f"j{self.files}"})

    def snapshot(self) -> None:
        """An overlay comes on top of the node, and later goes back into it."""
        if self.overlay:
            self.qmp("block-commit", device=self.overlay, **{
                "job-id": "commit", "base-node": "d0", "on-error": "ignore"})
            return
        self.files += 1
        name = f"t{self.files}"
        self.qmp("blockdev-snapshot-sync", **{
            "node-name": "d0", "snapshot-node-name": name,
            "snapshot-file": str(self.folder / f"{name}.qcow2")})
        if any(node["node-name"] == name
               for node in self.qmp("query-named-block-nodes", flat=True)):
            self.overlay = name

    def settle_jobs(self) -> bool:
        """Cancel copies, complete a commit; true: none is left."""
        for job in self.qmp("query-block-jobs") or []:
            if job["type"] == "commit":
                self.qmp("block-job-complete", device=job["device"])
            else:
                self.qmp("block-job-cancel", device=job["device"], force=True)
        self.step(10_000_000)
        return not self.qmp("query-block-jobs")

    def end_jobs(self) -> None:
        """The drive has its own node again, alone."""
        self.throttle(0)
        self.wait("a block job does not end", self.settle_jobs)
        if self.overlay:
            self.snapshot()
            self.wait("an overlay stays", self.settle_jobs)
            self.overlay = ""
        for i in range(1, self.files + 1):
            self.qmp("blockdev-del", **{"node-name": f"t{i}"})

    def resize(self) -> None:
        """Is refused."""
        self.qmp("block_resize", size=2 * IMAGE_BYTES, **{"node-name": "d0"})

    def throttle(self, limit: int | None = None) -> None:
        """Another limit for the node's rate, or none."""
        if limit is None:
            limit = self.random.choice((0, 50, 1000))
        self.qmp("qom-set", path="/objects/tg", property="limits",
                 value={"iops-total": limit})

    def look(self) -> None:
        """What others ask meanwhile."""
        self.qmp("qom-get", path=PATH, property="stats")
        self.qmp("query-blockstats")

    def time(self) -> None:
        """Passes."""
        self.step(self.random.choice((1, 1000, 100_000, 50_000_000)))

    # ---- the checks ---------------------------------------------------------

    def wait(self, what: str, done: Callable[[], bool]) -> None:
        """Until something has happened, while time passes."""
        end = time.monotonic() + LIMIT_S
        while not done():
            assert time.monotonic() < end, what
            self.go_on(1_000_000)

    def cpu_s(self) -> float:
        """CPU time of QEMU so far."""
        assert self.machine.process
        text = Path(f"/proc/{self.machine.process.pid}/stat").read_text()
        words = text.rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self) -> int:
        """Its memory, without that of the guest."""
        assert self.machine.process
        text = Path(f"/proc/{self.machine.process.pid}/status").read_text()
        words = dict(line.split(":", 1) for line in text.splitlines())
        return int(words["RssAnon"].split()[0]) * 1024

    def recover(self) -> None:
        """All is put right: the device must work."""
        host = self.host
        self.qmp("cont")
        self.end_jobs()
        self.put("powered", True)
        self.wait("no power", lambda: self.peer or self.qmp(
            "qom-get", path=PATH, property="powered") is True)
        self.lost()
        self.wait("registers are dead", self.bring_up)
        data = self.random.randbytes(16384)
        for _ in range(2):
            # A place that never takes its data is no success of a Flush.
            done = host.io.run(OP_FLUSH, 10_000_000)
            assert done.status & 0x7FF in (0, WRITE_FAULT)
            host.write(CHECK_LBA, data)
        assert host.read(CHECK_LBA, len(data)) == data
        assert host.reg_read(CAP) not in (0, ALL_ONES)

    def bring_up(self) -> bool:
        """The driver's part."""
        self.host.pci.enable()
        if self.host.reg_read(CAP) in (0, ALL_ONES):
            return False
        self.lost()
        self.throttle(0)  # the controller is ready when old commands have ended
        self.feeder.bring_up()
        return True

    def rest(self) -> None:
        """Nobody computes, and memory is bounded."""
        self.step(2_000_000_000)
        end = time.monotonic() + LIMIT_S
        while True:
            before = self.cpu_s()
            time.sleep(IDLE_S)
            used = self.cpu_s() - before
            if used <= IDLE_CPU_S:
                break
            assert time.monotonic() < end, f"{used:.2f} s of CPU while idle"
        grown = self.rss_bytes() - self.rss
        assert grown < self.most_rss, f"{grown >> 20} MiB more memory"

    # ---- all together -------------------------------------------------------

    def actions(self) -> list[Callable[[], None]]:
        """What may happen, the frequent ones several times."""
        return ([self.another] * (12 if self.others else 0) + [
                    self.commands] * 12 + [self.time] * 8 + [self.open_queue] * 6 +
                [self.doorbells] * 3 + [self.start] * 4 + [self.throttle] * 2 + [self.look] * 2 + [
                    self.delete_queue, self.delete_queue,
                    self.controller_reset, self.function_reset,
                    self.machine_reset, self.bus_master_off, self.power,
                    self.unplug, self.stop_and_go, self.job, self.job,
                    self.snapshot, self.snapshot,
                    self.resize, self.recover])

    def run(self, steps: int) -> None:
        """The storm."""
        with Machine(*self.arguments()) as self.machine:
            assert self.machine.qtest
            self.machine.qtest.limit(2 * LIMIT_S)
            self.feeder = Feeder(self.machine, self.memory, STORM_BLOCKS // 8)
            self.host = self.feeder.host
            self.host.pass_time = self.go_on
            with self.feeder:
                prps = [DATA + 4096 * i for i in range(1, 64)]
                self.host.qtest.write(PRPS, struct.pack("<63Q", *prps))
                self.rss = self.rss_bytes()
                for step in range(steps):
                    self.one(step)
                self.recover()
                self.host.reg_write(CC, 0)  # the feeder's queue, too
                self.rest()
            assert self.machine.quit() == 0

    def one(self, step: int) -> None:
        """An action; now and then a check."""
        act = self.random.choice(self.actions())
        self.count[act.__name__] = self.count.get(act.__name__, 0) + 1
        act()
        if self.host.reg_read(CSTS) != ALL_ONES:
            self.feeder.ring()
        if step % ROUND == ROUND - 1:
            self.recover()


def storm(seed: int, steps: int, most_rss: int = MOST_RSS,
          peer: bool = False, others: bool = False) -> Storm:
    """Run one; the command that repeats it is printed first."""
    print(f"# storm.py --seed {seed} --steps {steps}"
          f"{' --peer' if peer else ''}{' --others' if others else ''}",
          flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = Storm(seed, Path(folder), most_rss, peer, others)
        try:
            found.run(steps)
        except ExecuteError:
            raise
        except (ConnectionError, EOFError, QMPError) as error:
            status, text = found.machine.wait()
            raise RuntimeError(f"QEMU ended: {status}: {text}") from error
    return found


def main() -> int:
    """For a seed that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--peer", action="store_true",
                        help="QEMU's own nvme device, several backups at once")
    parser.add_argument("--others", action="store_true",
                        help="a further controller of the drive; odd seeds")
    args = parser.parse_args()
    print(storm(args.seed, args.steps, peer=args.peer,
                others=args.others).count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
