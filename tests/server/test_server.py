# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-server as a client of vfio-user sees it: the function, I/O, interrupts,
clients that go, power cuts, and its life."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
import schema
from qemu.qmp.legacy import QEMUMonitorProtocol
from vmm import (
    BAR0,
    BAR0_REGION,
    CONFIG_REGION,
    DMA_MAP,
    GET_INFO,
    GET_IRQ_INFO,
    GET_REGION_INFO,
    INTX,
    IRQ_EVENTFD,
    IRQ_TRIGGER,
    IRQ_UNMASK,
    LIMIT_S,
    MEMORY_BYTES,
    MIB,
    PROJECT,
    QUEUES,
    RESET,
    SET_IRQS,
    Bus,
    Refused,
    Server,
    Vmm,
    connect,
    dma_map,
    irq_set,
)

from nvme_host import CC, CSTS, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost

BLOCK = 4096
ALL_ONES = 0xFFFFFFFF


def host_of(vmm: Vmm) -> NvmeHost:
    """A driver that has brought the controller up."""
    host = NvmeHost(Bus(vmm))  # type: ignore[arg-type]
    host.enable()
    return host


def use_msix(host: NvmeHost, on: bool = True) -> None:
    """Switch MSI-X on or off."""
    at = host.pci.capability(0x11)
    host.pci.write(at, host.pci.read(at) & ~(1 << 31) | on << 31)


def pattern(seed: int, size: int = BLOCK) -> bytes:
    """Data that no other seed has."""
    return random.Random(seed).randbytes(size)


# -- the function ------------------------------------------------------------

def test_function(server: Server) -> None:
    """IDs, class code, BAR 0, MSI-X, power management, PCI Express with FLR."""
    with Vmm(server.socket) as vmm:
        flags, regions, irqs = struct.unpack("<4xIII", vmm.call(
            GET_INFO, struct.pack("<IIII", 16, 0, 0, 0)))
        assert (flags & 3, regions, irqs) == (3, 10, 5)
        info = vmm.call(GET_REGION_INFO,
                        struct.pack("<IIIIQQ", 32, 0, BAR0_REGION, 0, 0, 0))
        assert struct.unpack("<4xIIIQQ", info)[3] == 16384
        count = vmm.call(GET_IRQ_INFO, struct.pack("<IIII", 16, 0, 2, 0))
        assert struct.unpack("<IIII", count)[3] == QUEUES + 1
        config = vmm.region_read(CONFIG_REGION, 0, 4096)
        assert struct.unpack_from("<HH", config) == (0x1234, 0x7653)
        assert config[9:12] == b"\x02\x08\x01"
        pci = NvmeHost(Bus(vmm)).pci  # type: ignore[arg-type]
        assert pci.capability(0x11) and pci.capability(0x01)
        assert pci.read(pci.capability(0x11)) >> 16 == QUEUES
        assert pci.read(pci.capability(0x10) + 4) >> 28 & 1  # FLR


def test_bar_tells_its_size(server: Server) -> None:
    """A machine that asks for the sizes by writing ones gets them."""
    with Vmm(server.socket) as vmm:
        pci = NvmeHost(Bus(vmm)).pci  # type: ignore[arg-type]
        pci.write(0x10, ALL_ONES)
        pci.write(0x14, ALL_ONES)
        assert (pci.read(0x10), pci.read(0x14)) == (0xFFFFC004, ALL_ONES)
        pci.write(0x30, ALL_ONES)  # no ROM
        assert pci.read(0x30) == 0
        pci.write(0, 0)
        assert pci.read(0) == 0x76531234


def test_function_level_reset(server: Server) -> None:
    """It resets the controller and configuration space; data stay."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        assert host.reg_read(CSTS) & 1
        control = host.pci.capability(0x10) + 8
        host.pci.write(control, host.pci.read(control) | 1 << 15)
        assert host.reg_read(CC) == 0 and host.reg_read(CSTS) == 0
        assert host.pci.read(4) & 4 == 0
        host.enable()
        assert host.read(0, BLOCK) == pattern(1)
        vmm.call(RESET)
        assert host.reg_read(CC) == 0


# -- I/O and interrupts ------------------------------------------------------

def test_data(server: Server, image: Path) -> None:
    """What is written is read, over PRP lists too; a flush brings it to the
    image."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for i, size in enumerate((512, BLOCK, 3 * BLOCK, 16 * BLOCK)):
            host.write(64 * i, pattern(i, size))
        for i, size in enumerate((512, BLOCK, 3 * BLOCK, 16 * BLOCK)):
            assert host.read(64 * i, size) == pattern(i, size)
        host.flush()
        # The drive has it; its way to the image is not the host's business.
        stats = server.get("stats")
        assert stats["host_bytes_written"] > 0  # type: ignore[index]
        assert schema.faults("device", stats) == []
        text = json.loads(server.get("stats-text"))  # type: ignore[arg-type]
        assert schema.faults("device", text) == []
        assert text.keys() == stats.keys()  # type: ignore[attr-defined]
        server.end()
    with image.open("rb") as file:
        file.seek(3 * 64 * 512)
        assert file.read(16 * BLOCK) == pattern(3, 16 * BLOCK)


def test_trimmed_blocks_become_a_hole(server: Server, image: Path) -> None:
    """Trimmed blocks read as zeroes, and the host gets the space back."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for i in range(64):
            host.write(128 * i, pattern(i, 65536))
        host.flush()
        host.qtest.write(0x1100000, struct.pack("<IIQ", 0, 128 * 64, 0))
        host.check(host.io.run(9, prp1=0x1100000, cdw=(0, 4)))
        assert host.read(0, BLOCK) == bytes(BLOCK)
    server.end()
    assert image.stat().st_blocks * 512 < MIB


def test_message_interrupts(server: Server) -> None:
    """A completion writes the eventfd of its vector, while MSI-X is on."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        use_msix(host)
        queue = host.add_queue(2, 16, 0x1200000, 0x1210000, vector=2)
        queue.run(OP_WRITE, prp1=0x1100000, cdw=(0, 0, 0))
        assert vmm.interrupted(2)
        assert not vmm.interrupted(1, 0.05)
        use_msix(host, on=False)
        queue.run(OP_WRITE, prp1=0x1100000, cdw=(0, 0, 0))
        assert not vmm.interrupted(2, 0.05)


def test_message_waits_for_its_eventfd(server: Server) -> None:
    """One that came before its eventfd is sent when that is there."""
    with Vmm(server.socket, msix=False) as vmm:
        host = host_of(vmm)
        use_msix(host)
        queue = host.add_queue(2, 16, 0x1200000, 0x1210000, vector=2)
        queue.run(OP_WRITE, prp1=0x1100000, cdw=(0, 0, 0))
        vmm.call(SET_IRQS, irq_set(2, IRQ_TRIGGER | IRQ_EVENTFD, 0, QUEUES + 1),
                 vmm.eventfds)
        assert vmm.interrupted(2)


def test_pin(server: Server) -> None:
    """Without MSI-X the pin's eventfd is written, and again after the guest
    has unmasked it, as long as the level is high."""
    with Vmm(server.socket, msix=False) as vmm:
        vmm.call(SET_IRQS, irq_set(INTX, IRQ_TRIGGER | IRQ_EVENTFD, 0, 1),
                 vmm.eventfds[:1])
        host = host_of(vmm)
        queue = host.add_queue(2, 16, 0x1200000, 0x1210000, vector=0)
        vmm.interrupted(0)  # of the admin queue
        queue.push(OP_FLUSH)
        queue.ring()
        assert vmm.interrupted(0)
        assert not vmm.interrupted(0, 0.05)
        vmm.call(SET_IRQS, irq_set(INTX, IRQ_UNMASK | 1, 0, 1))
        assert vmm.interrupted(0)  # nobody has taken the completion
        queue.wait()
        vmm.call(SET_IRQS, irq_set(INTX, IRQ_UNMASK | 1, 0, 1))
        assert not vmm.interrupted(0, 0.05)


def test_idle_costs_nothing(server: Server) -> None:
    """With a client that has nothing to do, the process sleeps."""
    with Vmm(server.socket) as vmm:
        host_of(vmm).write(0, pattern(1))
        time.sleep(0.5)
        before = server.cpu_s()
        time.sleep(2)
        assert server.cpu_s() - before <= 0.02


# -- memory ------------------------------------------------------------------

def test_memory_that_is_not_there(server: Server) -> None:
    """A transfer to memory that the client did not share fails; the next one
    does not."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        done = host.io.run(OP_READ, prp1=MEMORY_BYTES + BLOCK, cdw=(0, 0, 0))
        assert done.status & 0x7FF == 4  # Data Transfer Error
        assert server.counts()["dma_refused"] > 0
        host.write(0, pattern(1))
        assert host.read(0, BLOCK) == pattern(1)


def test_memory_goes_during_transfers(server: Server) -> None:
    """A client takes back and gives memory while commands are in flight: each
    ends with its data or with an error, and no other memory is written."""
    rng = random.Random(7)
    with Vmm(server.socket, share=False) as vmm:
        half = MEMORY_BYTES // 2
        vmm.share(0, half)  # queues
        vmm.share(half, half)
        host = host_of(vmm)
        host.write(0, pattern(1, 65536))
        for _ in range(300):
            vmm.memory[half:half + 2 * BLOCK] = bytes(2 * BLOCK)
            host.io.push(OP_READ, prp1=half, cdw=(0, 0, 7))
            host.io.ring()
            if rng.random() < 0.5:
                time.sleep(rng.random() * 0.001)
            vmm.unshare(half, half)
            done = host.io.wait()
            got = vmm.memory[half:half + BLOCK]
            if done.status == 0:
                assert got == pattern(1, 65536)[:BLOCK]
            else:
                assert done.status & 0x7FF == 4
            assert vmm.memory[half + BLOCK:half + 2 * BLOCK] == bytes(BLOCK)
            vmm.share(half, half)
        assert host.read(0, BLOCK) == pattern(1, 65536)[:BLOCK]


def test_queues_lose_their_memory(server: Server) -> None:
    """All memory goes with commands in flight: the process survives, and after
    a reset all is well."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        host.io.push(OP_READ, prp1=0x1100000, cdw=(0, 0, 7))
        host.io.ring()
        vmm.unshare()
        time.sleep(0.05)
        host.reg_write(CC, 0)
        vmm.share()
        host.enable()
        assert host.read(0, BLOCK) == pattern(1)


def test_memory_file_becomes_shorter(server: Server) -> None:
    """An access beyond the end of a shared file raises SIGBUS; only the
    transfer fails."""
    with Vmm(server.socket, share=False) as vmm:
        half = MEMORY_BYTES // 2
        vmm.share(0, half)
        vmm.share(half, half)
        host = host_of(vmm)
        os.ftruncate(vmm.memfd, half)
        done = host.io.run(OP_READ, prp1=half + BLOCK, cdw=(0, 0, 7))
        assert done.status & 0x7FF == 4
        host.write(0, pattern(1))
        assert host.read(0, BLOCK) == pattern(1)


def test_read_only_memory(server: Server) -> None:
    """Memory that is shared for reading is not written."""
    with Vmm(server.socket, share=False) as vmm:
        half = MEMORY_BYTES // 2
        vmm.share(0, half)
        vmm.call(2, struct.pack("<IIQQQ", 32, 1, half, half, half), [vmm.memfd])
        host = host_of(vmm)
        assert host.io.run(OP_WRITE, prp1=half, cdw=(0, 0, 7)).status == 0
        assert host.io.run(OP_READ, prp1=half, cdw=(0, 0, 7)).status & 0x7FF == 4


def test_transfer_crosses_ranges(server: Server) -> None:
    """A transfer may begin in one range of memory and end in the next, which is
    another part of the file; one range goes and the others stay."""
    with Vmm(server.socket, share=False) as vmm:
        half = MEMORY_BYTES // 2
        vmm.share(0, half)
        vmm.call(DMA_MAP, dma_map(half, BLOCK, half + BLOCK), [vmm.memfd])
        host = host_of(vmm)
        vmm.memory[half - 512:half] = pattern(1, 512)
        vmm.memory[half + BLOCK:half + BLOCK + 512] = pattern(2, 512)
        assert host.io.run(OP_WRITE, prp1=half - 512, prp2=half,
                           cdw=(0, 0, 1)).status == 0
        assert host.read(0, 1024) == pattern(1, 512) + pattern(2, 512)
        vmm.call(DMA_MAP, dma_map(half + BLOCK, BLOCK, half), [vmm.memfd])
        vmm.unshare(half, BLOCK)
        vmm.memory[half:half + BLOCK] = pattern(3)
        assert host.io.run(OP_WRITE, prp1=half + BLOCK,
                           cdw=(0, 0, 7)).status == 0
        assert host.read(0, BLOCK) == pattern(3)
        assert host.io.run(OP_WRITE, prp1=half,
                           cdw=(0, 0, 7)).status & 0x7FF == 4


# -- clients that go ---------------------------------------------------------

def test_client_is_killed(server: Server) -> None:
    """In the middle of writes: what was acknowledged is there for the next
    client, which finds a controller that is off."""
    for round_ in range(20):
        vmm = Vmm(server.socket)
        host = host_of(vmm)
        host.write(8, pattern(round_))
        for i in range(20):
            host.io.push(OP_WRITE, prp1=0x1100000, cdw=(64 + 8 * i, 0, 7))
        host.io.ring()
        vmm.close()
        with Vmm(server.socket) as second:
            bus = Bus(second)
            assert bus.readl(BAR0 + CC) == 0
            assert host_of(second).read(8, BLOCK) == pattern(round_)
    assert server.counts()["clients"] == 40


def test_one_client_at_a_time(server: Server) -> None:
    """Another one waits until the first has gone."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        second = connect(server.socket)
        host.write(0, pattern(1))
        assert server.counts()["clients"] == 1
        second.close()
    with Vmm(server.socket):
        assert server.counts()["clients"] == 2


# -- power -------------------------------------------------------------------

def test_power_cut(tmp_path: Path, image: Path) -> None:
    """The function answers all ones; it comes back, with what was flushed."""
    with Server(tmp_path, image, "--power_return_ms", "300") as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        host.flush()
        host.write(8, pattern(2))
        server.put("power-cut", "running")
        assert host.reg_read(CSTS) == ALL_ONES and host.pci.read(0) == ALL_ONES
        assert server.get("powered") is False
        end = time.monotonic() + LIMIT_S
        while host.pci.read(0) == ALL_ONES:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert host.pci.read(4) & 7 == 0  # nothing is enabled
        host.enable()
        assert host.read(0, BLOCK) == pattern(1)
        assert host.read(8, BLOCK) in (pattern(2), bytes(BLOCK))
        assert server.get("powered") is True


def test_power_by_hand(server: Server) -> None:
    """powered=false lasts until powered=true, or a reset by the machine."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for switch_on in (lambda: server.put("powered", True),
                          lambda: vmm.call(RESET)):
            server.put("powered", False)
            assert host.reg_read(CSTS) == ALL_ONES
            switch_on()
            assert host.reg_read(CSTS) == 0
            host.enable()


def test_power_stays_off(tmp_path: Path, image: Path) -> None:
    """What is switched off by hand does not come back by itself."""
    with Server(tmp_path, image, "--power_return_ms", "50") as server:
        server.put("powered", False)
        time.sleep(0.2)
        assert server.get("powered") is False


def test_faults(server: Server) -> None:
    """Rules are added, listed, fire and are removed; the link fails and is
    back."""
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        server.put("fault-add", "cmd=write nth=1 -> status 2/80")
        assert host.io.run(OP_WRITE, prp1=0x1100000,
                           cdw=(0, 0, 0)).status & 0x7FF == 0x280
        rules = server.get("faults")
        assert isinstance(rules, list) and rules[0]["fired"] == 1
        server.put("fault-remove", rules[0]["id"])
        assert server.get("faults") == []
        server.put("fault-add", "ctrl -> link-down for 200ms")
        end = time.monotonic() + LIMIT_S
        while host.pci.read(0) != ALL_ONES:
            assert time.monotonic() < end
        while host.pci.read(0) == ALL_ONES:
            assert time.monotonic() < end
            time.sleep(0.01)
        host.enable()
        with pytest.raises(Exception, match="nonsense"):
            server.put("fault-add", "nonsense")


def test_machine_is_not_ours(server: Server) -> None:
    """What only the machine could do is refused."""
    with pytest.raises(Exception, match="allowed running"):
        server.put("power-cut", "reset")


# -- life --------------------------------------------------------------------

def test_state_is_kept(tmp_path: Path, image: Path) -> None:
    """SIGTERM saves the drive; the next server goes on with it."""
    state = ("--state", str(tmp_path / "drive.state"))
    with Server(tmp_path, image, *state) as server:
        with Vmm(server.socket) as vmm:
            host = host_of(vmm)
            for i in range(100):
                host.write(8 * (i % 50), pattern(i))
            host.flush()
            before = server.get("stats")
        assert server.end() == ""
    with Server(tmp_path, image, *state) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for i in range(50):
            assert host.read(8 * i, BLOCK) == pattern(50 + i)
        after = server.get("stats")
        assert isinstance(before, dict) and isinstance(after, dict)
        assert after["sim_ns"] > before["sim_ns"]
        server.ask("quit")
        assert server.proc.wait(LIMIT_S) == 0


def test_state_of_another_drive(tmp_path: Path, image: Path) -> None:
    """A second server is refused, also past a kill; then the state is free."""
    state = tmp_path / "drive.state"
    other = tmp_path / "other"
    other.mkdir()
    second = other / "disk.img"
    second.write_bytes(image.read_bytes())
    lock = tmp_path / "drive.state.vssd-lock"
    with Server(tmp_path, image, "--state", str(state)) as server:
        said = refused("--profile", str(PROJECT / "profiles/tiny.ini"),
                       "--image", str(second), "--socket",
                       str(other / "s.sock"), "--state", str(state))
        assert said == (f"vssd-server: --state {state}: in use by another drive"
                        f" (process {server.proc.pid})")
        server.proc.kill()
        server.proc.wait(LIMIT_S)
    assert lock.exists() and not state.exists()
    with Server(other, second, "--state", str(state)) as server:
        assert server.end() == ""
    assert state.exists() and not lock.exists()


def test_image_holds_data(tmp_path: Path, image: Path) -> None:
    """Data that were in the image are the drive's, in their place."""
    with image.open("r+b") as file:
        file.seek(MIB)
        file.write(pattern(1, MIB))
    with Server(tmp_path, image) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert host.read(MIB // 512, BLOCK) == pattern(1, MIB)[:BLOCK]
        assert host.read(0, BLOCK) == bytes(BLOCK)
        stats = server.get("stats")
        assert isinstance(stats, dict) and stats["nand"]["reads"] >= 1


def refused(*args: str) -> str:
    """The message of a server that does not start."""
    done = subprocess.run([os.environ["VSSD_SERVER"], *args],
                          capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)
    lines = done.stderr.splitlines()
    assert done.returncode in (1, 2) and len(lines) == 1, done.stderr
    return lines[0]


def test_bad_input_is_one_line(tmp_path: Path, image: Path,
                               server: Server) -> None:
    """Each mistake, before anything starts."""
    other = tmp_path / "other.img"
    other.write_bytes(bytes(MIB))
    qcow = tmp_path / "a.qcow2"
    qcow.write_bytes(b"QFI\xfb" + bytes(508))
    big = tmp_path / "big.img"
    big.touch()
    os.truncate(big, 1 << 40)
    good = {"--profile": str(PROJECT / "profiles/tiny.ini"),
            "--image": str(other), "--socket": str(tmp_path / "x.sock")}

    def with_(**changed: str) -> str:
        args = {**good, **{f"--{k}": v for k, v in changed.items()}}
        return refused(*[x for pair in args.items() for x in pair])

    assert "--profile is missing" in refused("--image", "x")
    assert "shipped profile" in with_(profile="none")
    assert "No such file" in with_(image="/none")
    assert "neither a file" in with_(image="/dev/null")
    assert "qemu-img convert" in with_(image=str(qcow))
    assert "larger profile" in with_(image=str(big))
    assert "smaller than one block" in with_(image=str(PROJECT / "vssd") if (
        PROJECT / "vssd").stat().st_size < 512 else str(_small(tmp_path)))
    assert "another program has the image open" in with_(image=str(image))
    assert "another process listens" in with_(socket=str(server.socket))
    assert "is no socket" in with_(socket=str(qcow))
    assert "longer than 107 bytes" in with_(socket="/tmp/" + 120 * "x")
    assert "No such file" in with_(socket="/none/x")
    assert "another process listens" in with_(qmp=str(server.control))
    assert "allowed 16.." in with_(set="nand.blocks=1")
    assert "no such option" in with_(set="nothing=1")
    assert r"no\x1b[2J\x07" in with_(set="no\x1b[2J\x07=1")
    assert "allowed 512, 4096" in with_(logical_block_size="1024")
    assert "state file" in with_(state=str(qcow))
    assert "unknown argument" in refused(*[
        x for pair in good.items() for x in pair], "more")


def _small(folder: Path) -> Path:
    path = folder / "small.img"
    path.write_bytes(bytes(100))
    return path


def test_socket_of_a_dead_server(tmp_path: Path, image: Path) -> None:
    """SIGKILL leaves a socket behind; the next server replaces it, and finds
    what the host has written to the image."""
    with Server(tmp_path, image) as server:
        with Vmm(server.socket) as vmm:
            host = host_of(vmm)
            host.write(0, pattern(1))
            host.flush()
        server.proc.kill()
    assert (tmp_path / "s.sock").is_socket()
    with Server(tmp_path, image) as server, Vmm(server.socket) as vmm:
        host_of(vmm)


def test_image_refuses_data(tmp_path: Path) -> None:
    """A file system that is full: writes fail or wait, and nothing ends."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(8 * MIB)
    # The process may not make the file longer than 1 MiB: as on a full disk.
    with Server(tmp_path, image) as server, Vmm(server.socket) as vmm:
        subprocess.run(["prlimit", f"--pid={server.proc.pid}",
                        f"--fsize={MIB}"], check=True)
        host = host_of(vmm)
        for i in range(32, 64):
            host.qtest.write(0x1100000, pattern(i, BLOCK))
            host.io.run(OP_WRITE, prp1=0x1100000, cdw=(8 * 32 * i, 0, 7))
        host.io.run(OP_FLUSH)
        host.write(0, pattern(1))
        assert host.read(0, BLOCK) == pattern(1)
        said = server.end(status=1).splitlines()
    assert len(said) == 1 and f"--image {image}: " in said[0], said
    assert "are lost: File too large" in said[0], said


def test_state_that_cannot_be_written(tmp_path: Path, image: Path) -> None:
    """The file and the reason are named, and the status is a failure's."""
    (tmp_path / "states").mkdir()
    state = tmp_path / "states/drive.state"
    with Server(tmp_path, image, "--state", str(state)) as server:
        subprocess.run(["prlimit", f"--pid={server.proc.pid}", "--fsize=4096"],
                       check=True)
        said = server.end(status=1).splitlines()
    assert len(said) == 1 and f"state file {state}: " in said[0], said
    assert "cannot be written: File too large" in said[0], said
    assert not list(state.parent.iterdir())

    with Server(tmp_path, image, "--state", str(state)) as server:
        shutil.rmtree(state.parent)
        said = server.end(status=1).splitlines()
    assert len(said) == 1 and f"state file {state}: " in said[0], said
    assert "No such file or directory" in said[0], said


def test_signals_while_a_client_works(tmp_path: Path, image: Path) -> None:
    """SIGTERM in the middle of writes: what was flushed is in the image."""
    with Server(tmp_path, image) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
        host.flush()
        for i in range(30):
            host.io.push(OP_WRITE, prp1=0x1100000, cdw=(64 + 8 * i, 0, 7))
        host.io.ring()
        host.reg_read(CSTS)  # the doorbell has been seen
        server.end(signal.SIGINT)
        entries = host.qtest.read(host.io.cq + 16 * host.io.head, 16 * 30)
        found = struct.unpack("<" + "14xH" * 30, entries)
        assert all(status == host.io.phase for status in found)
        with pytest.raises((ConnectionError, OSError, Refused)):
            host.reg_read(CSTS)
    with image.open("rb") as file:
        assert file.read(BLOCK) == pattern(1)
    assert not (tmp_path / "s.sock").exists()


def test_options_change(server: Server) -> None:
    """Those that may, at once; others are refused in one line."""
    def value() -> str:
        found = server.get("running-options")
        assert isinstance(found, dict) and "nand.dies" not in found
        return str(found["host.firmware"]["value"])

    before = value()
    server.put("set-option", "host.firmware=123us")
    assert before != value() == "123us"
    for text, error in (("nand.dies=3", "nand.dies: does not change while"),
                        ("host.firmware=1h", "host.firmware=1h: allowed"),
                        ("host.firmware", "not KEY=VALUE"), ("x=1", "x: no such option")):
        with pytest.raises(Exception, match=error):
            server.put("set-option", text)
    assert value() == "123us"
    with Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.write(0, pattern(1))
    stats = server.get("stats")
    assert isinstance(stats, dict) and stats["latency_ns"]["write"]["p50"] > 123000


def test_control_socket_is_bounded(server: Server) -> None:
    """Nonsense ends a connection, and no client of it stops the drive."""
    for data in (b"nonsense", b"[" * 100000, b'{"execute": "' + b"x" * 100000,
                 b'{"execute": 3}', b"[]", b'{"execute":"qom-get"}',
                 b'{"execute":"qom-set","arguments":[]}'):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(LIMIT_S)
            sock.connect(str(server.control))
            sock.recv(4096)
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(65536):
                    pass
            except OSError:
                pass
    with Vmm(server.socket) as vmm:
        host_of(vmm)


def test_idle_clients_shut_nobody_out(server: Server) -> None:
    """A new client takes the place of the one that was idle longest, whatever
    that one has begun; one that asks now and then stays."""
    busy = QEMUMonitorProtocol(str(server.control))
    busy.connect()
    files = server.open_files()
    idle = []
    for i in range(30):
        idle.append(connect(server.control))
        if i % 3 == 1:
            idle[-1].sendall(b'{"execute": ')
        elif i % 3 == 2:
            idle[-1].sendall(b'{"execute": "qmp_capabilities"}')
        busy.cmd("query-status")
        assert server.counts()["clients"] == 0
    assert server.open_files() <= files + 8
    for sock in idle[:20]:
        with contextlib.suppress(ConnectionError):
            while sock.recv(4096):
                pass
    busy.cmd("query-status")
    busy.close()
    for sock in idle:
        sock.close()
