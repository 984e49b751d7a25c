# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU device, with the test in the place of the guest."""

from __future__ import annotations

import json
import re
import struct
import time
from pathlib import Path

import pytest
import results_page
import schema

from machine import LIMIT_S, PROFILES, Machine, drive_args
from nvme_host import BAR0, BUFFER, CC, CSTS, CSTS_RDY, MSI_TARGET, OP_READ, OP_WRITE, VS, NvmeHost

KIB = 1 << 10
MIB = 1 << 20
NULL_NODE = "driver=null-co,read-zeroes=on,size=8388608"
MSIX_TABLE, MSIX_PBA = BAR0 + 0x2000, BAR0 + 0x3000


def pattern(seed: int, nbytes: int) -> bytes:
    """Bytes that differ from block to block."""
    return b"".join(struct.pack("<QQ", seed, i) for i in range(nbytes // 16))


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def stats_of(machine: Machine) -> dict:
    """The drive's statistics."""
    stats = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                        property="stats")
    assert isinstance(stats, dict)
    return stats


# ---- PCI --------------------------------------------------------------------

def test_pci_identity(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = NvmeHost(machine.qtest)
        assert host.pci.read(8) >> 8 == 0x010802
        assert host.pci.capability(0x01), "power management"
        assert host.pci.capability(0x10), "PCI Express"
        msix = host.pci.capability(0x11)
        assert msix, "MSI-X"
        assert (host.pci.read(msix) >> 16 & 0x7FF) + 1 == 17
        host.pci.enable()
        assert host.reg_read(VS) >= 0x10400


def test_conventional_bus(image: Path) -> None:
    """Behind a PCI bridge there is no PCI Express capability."""
    args = drive_args("tiny", image)
    args[-1] = args[-1].replace("addr=4", "bus=b,addr=1")
    with Machine("-device", "pcie-pci-bridge,id=b,addr=5", *args) as machine:
        assert machine.quit() == 0


# ---- payload ----------------------------------------------------------------

@pytest.mark.parametrize("block", [512, 4096])
def test_write_read(image: Path, block: int) -> None:
    with Machine(*drive_args("tiny", image, logical_block_size=str(block))
                 ) as machine:
        host = host_of(machine)
        data = pattern(1, 64 * KIB)
        host.write(8, data, block)
        assert host.read(8, len(data), block) == data
        assert host.read(8 + len(data) // block, block, block) == bytes(block)
        namespace = host.identify(0, 1)
        assert struct.unpack_from("<Q", namespace)[0] == 8 * MIB // block


def test_shutdown_reaches_the_image(image: Path) -> None:
    data = pattern(2, 32 * KIB)
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.write(64, data)
        host.shutdown()
        assert machine.quit() == 0
    with image.open("rb") as file:
        file.seek(64 * 512)
        assert file.read(len(data)) == data


def test_flush_reaches_the_image_and_quit_does_not(image: Path) -> None:
    kept, lost = pattern(3, 4 * KIB), pattern(4, 4 * KIB)
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.write(0, kept)
        host.flush()
        host.write(1024, lost)
        assert host.read(1024, len(lost)) == lost
        assert machine.quit() == 0
    content = image.read_bytes()
    assert content[:len(kept)] == kept
    assert content[1024 * 512:][:len(lost)] == bytes(len(lost))


def test_image_content_is_on_the_drive(image: Path) -> None:
    data = pattern(5, 1 * MIB)
    with image.open("r+b") as file:
        file.seek(2 * MIB)
        file.write(data)
    with Machine(*drive_args("tiny", image)) as machine:
        assert stats_of(machine)["gc"]["mapped_units"] == 256
        host = host_of(machine)
        assert host.read(2 * MIB // 512, 128 * KIB) == data[:128 * KIB]
        assert host.read(0, 4096) == bytes(4096)
        assert stats_of(machine)["nand"]["by_cause"]["host"]["reads"] > 0


def test_block_error_is_a_command_error(image: Path) -> None:
    """A host disk that fails gives an NVMe status, and the drive goes on."""
    node = (f"driver=blkdebug,image.driver=file,image.filename={image},"
            "inject-error.0.event=none,inject-error.0.sector=0,"
            "inject-error.0.errno=5,inject-error.0.iotype=read")
    with image.open("r+b") as file:
        file.write(pattern(6, 64 * KIB))
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        done = host.io.run(OP_READ, prp1=BUFFER, cdw=(0, 0, 0))
        assert done.status & 0x7FF == 0x281, "unrecovered read error"
        stats = machine.cmd("query-blockstats")
        assert stats[0]["stats"]["failed_rd_operations"] == 1
        assert host.read(64, 512) == pattern(6, 64 * KIB)[64 * 512:][:512]


# ---- time -------------------------------------------------------------------

def test_read_takes_exactly_its_modelled_time(image: Path) -> None:
    """read-40us: tR of 40 us and nothing else."""
    with image.open("r+b") as file:
        file.write(pattern(7, 4 * KIB))
    with Machine(*drive_args("read-40us", image)) as machine:
        host = host_of(machine)
        host.io.push(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        host.io.ring()
        host.qtest.clock_step(39_999)
        time.sleep(0.2)
        assert host.io.poll() is None
        host.qtest.clock_step(1)
        NvmeHost.check(host.io.wait())
        stats = stats_of(machine)
        assert stats["latency_ns"]["read"]["max"] == 40_000
        assert stats["lateness_ns"]["max"] == 0


def test_stopped_machine_stops_the_drive(image: Path) -> None:
    with image.open("r+b") as file:
        file.write(pattern(8, 4 * KIB))
    with Machine(*drive_args("read-40us", image)) as machine:
        host = host_of(machine)
        host.io.push(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        host.io.ring()
        machine.cmd("stop")
        host.qtest.clock_step(1_000_000)
        assert host.io.poll() is None
        machine.cmd("cont")
        assert host.io.poll() is None
        host.qtest.clock_step(1_000_000)
        NvmeHost.check(host.io.wait())


# ---- interrupts -------------------------------------------------------------

def test_msix_message(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        qtest = host.qtest
        cap = host.pci.capability(0x11)
        for word, value in enumerate((MSI_TARGET, 0, 0x1234, 0)):
            qtest.writel(MSIX_TABLE + 4 * word, value)
        host.pci.write(cap, host.pci.read(cap) | 1 << 31)
        host.write(0, pattern(9, 512))
        assert qtest.readl(MSI_TARGET) == 0x1234


def test_masked_vector_is_pending(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        qtest = host.qtest
        cap = host.pci.capability(0x11)
        for word, value in enumerate((MSI_TARGET, 0, 0x77, 1)):
            qtest.writel(MSIX_TABLE + 4 * word, value)
        host.pci.write(cap, host.pci.read(cap) | 1 << 31)
        host.write(0, pattern(9, 512))
        assert qtest.readl(MSI_TARGET) == 0
        assert qtest.readl(MSIX_PBA) & 1
        qtest.writel(MSIX_TABLE + 12, 0)
        assert qtest.readl(MSI_TARGET) == 0x77
        assert not qtest.readl(MSIX_PBA) & 1


@pytest.mark.parametrize("irqfd", ["auto", "on"])
def test_no_bus_master_holds_the_message_back(image: Path, irqfd: str) -> None:
    """A message that is due without bus mastering comes with it: the
    completion is there already, and the driver would wait for it."""
    with Machine(*drive_args("tiny", image, irqfd=irqfd)) as machine:
        host = host_of(machine)
        qtest = host.qtest
        cap = host.pci.capability(0x11)
        for word, value in enumerate((MSI_TARGET, 0, 0x55, 0)):
            qtest.writel(MSIX_TABLE + 16 + 4 * word, value)
        host.pci.write(cap, host.pci.read(cap) | 1 << 31)
        late = host.add_queue(2, 16, 0x1030000, 0x1031000, vector=1)
        coalesce = 100 << 8 | 7  # 10 ms, 8 completions
        NvmeHost.check(host.admin.run(9, nsid=0, cdw=(8, coalesce)))
        late.push(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
        late.ring()
        end = time.monotonic() + LIMIT_S
        while not qtest.readl(late.cq + 12) >> 16 & 1:
            assert time.monotonic() < end, "no completion"
            qtest.clock_step(100_000)
        assert qtest.readl(MSI_TARGET) == 0
        host.pci.write(4, 0x2)
        qtest.clock_step(20_000_000)
        assert qtest.readl(MSIX_PBA) & 2
        assert qtest.readl(MSI_TARGET) == 0
        host.pci.write(4, 0x6)
        assert qtest.readl(MSI_TARGET) == 0x55
        assert not qtest.readl(MSIX_PBA) & 2
        NvmeHost.check(late.wait())


def test_pin_interrupt(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        for _ in range(2):
            host.io.push(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
            host.io.ring()
            end = time.monotonic() + LIMIT_S
            while not host.pci.read(4) >> 16 & 1 << 3:
                assert time.monotonic() < end, "no interrupt"
                host.qtest.clock_step(100_000)
            NvmeHost.check(host.io.wait())
            assert not host.pci.read(4) >> 16 & 1 << 3


def test_pin_falls_for_entries_that_are_left(image: Path) -> None:
    """A driver that takes one of two entries is interrupted again, by an
    interrupt controller that looks at edges, too."""
    with Machine(*drive_args("tiny", image), "-trace", "vssd_irq_pin",
                 "-trace", "vssd_doorbell") as machine:
        host = host_of(machine)
        for _ in range(2):
            host.io.push(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
        host.io.ring()
        last = host.io.cq + 16 * (host.io.head + 1) + 12
        end = time.monotonic() + LIMIT_S
        while host.qtest.readl(last) >> 16 & 1 != host.io.phase:
            assert time.monotonic() < end, "no completion"
            host.qtest.clock_step(100_000)
        for _ in range(2):
            NvmeHost.check(host.io.wait())
        machine.cmd("quit")
        said = machine.wait()[1]
    since = said[said.rindex(" tail "):]
    assert re.findall(r"vssd_irq_pin .*level (\d)", since) == ["1", "0", "1", "0"]


# ---- nonsense from the guest ------------------------------------------------

def test_dma_into_registers_is_an_error(image: Path) -> None:
    """PRPs that point at the drive's own BAR, or at nothing."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        for target in (BAR0 + 0x1000, 0xFFFF_FFFF_F000, 0x7FFF_0000):
            done = host.io.run(OP_WRITE, prp1=target, cdw=(0, 0, 7))
            assert done.status & 0x7FF == 4, "data transfer error"
        host.write(0, pattern(10, 512))


def test_bus_master_off(image: Path) -> None:
    """No DMA without bus mastering; the machine runs on."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.pci.write(4, 0x2)
        host.io.push(OP_WRITE, prp1=BUFFER, cdw=(0, 0, 0))
        host.io.ring()
        host.qtest.clock_step(10_000_000)
        host.pci.write(4, 0x6)
        host.enable()
        host.write(0, pattern(11, 512))
        assert machine.quit() == 0


def test_every_register_size_and_offset(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        for offset in [*range(0x60), *range(0xFF8, 0x1010), 0x1FF8, 0x1FFF]:
            for letter, size in (("b", 1), ("w", 2), ("l", 4), ("q", 8)):
                if offset + size <= 0x2000:
                    host.qtest.call(f"read{letter} {BAR0 + offset:#x}")
                    host.qtest.call(
                        f"write{letter} {BAR0 + offset:#x} 0x5a5a5a5a")
        host.enable()
        host.write(0, pattern(12, 512))


# ---- life -------------------------------------------------------------------

def test_machine_reset_keeps_the_buffer(image: Path) -> None:
    data = pattern(13, 16 * KIB)
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.write(16, data)
        machine.cmd("system_reset")
        host.pci.enable()
        assert host.reg_read(CC) == 0
        assert not host.reg_read(CSTS) & CSTS_RDY
        host.enable()
        assert host.read(16, len(data)) == data


def test_function_level_reset(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        cap = host.pci.capability(0x10)
        assert host.pci.read(cap + 4) & 1 << 28, "FLR in device capabilities"
        host.pci.write(cap + 8, host.pci.read(cap + 8) & 0xFFFF | 1 << 15)
        host.pci.enable()
        assert host.reg_read(CC) == 0
        host.enable()


def slow_node(image: Path) -> list[str]:
    """A block node that answers ten times a second."""
    return ["-object", "throttle-group,id=slow,x-iops-total=10",
            "-blockdev", f"driver=file,filename={image},node-name=f0",
            "-blockdev",
            "driver=throttle,throttle-group=slow,file=f0,node-name=d0",
            "-device", f"vssd,id=ssd,drive=d0,addr=4,"
            f"profile={PROFILES / 'zero-latency.ini'}"]


def flood(host: NvmeHost, count: int = 20) -> None:
    """Reads of different places, without waiting for them."""
    for i in range(count):
        host.io.push(OP_READ, prp1=BUFFER + 4096 * i, cdw=(8 * i, 0, 7))
    host.io.ring()


@pytest.fixture
def full_image(image: Path) -> Path:
    """An image that holds data everywhere."""
    image.write_bytes(pattern(14, 8 * MIB))
    return image


def test_quit_with_requests_in_flight(full_image: Path) -> None:
    with Machine(*slow_node(full_image)) as machine:
        flood(host_of(machine))
        assert machine.quit() == 0


def test_reset_with_requests_in_flight(full_image: Path) -> None:
    with Machine(*slow_node(full_image)) as machine:
        flood(host_of(machine))
        machine.cmd("system_reset")
        machine.cmd("qom-set", path="/objects/slow", property="limits",
                    value={"iops-total": 0})
        host = host_of(machine)
        assert host.read(8, 4096) == pattern(14, 8 * MIB)[4096:8192]


def test_controller_disabled_with_requests_in_flight(full_image: Path) -> None:
    with Machine(*slow_node(full_image)) as machine:
        host = host_of(machine)
        flood(host)
        host.reg_write(CC, 0)
        machine.cmd("qom-set", path="/objects/slow", property="limits",
                    value={"iops-total": 0})
        host.enable()
        assert host.read(8, 4096) == pattern(14, 8 * MIB)[4096:8192]


def test_drained_section(full_image: Path, tmp_path: Path) -> None:
    """A snapshot drains the node while commands come in."""
    data = pattern(15, 4 * KIB)
    with Machine(*drive_args("zero-latency", full_image)) as machine:
        host = host_of(machine)
        for i in range(5):
            flood(host, 16)
            machine.cmd("blockdev-snapshot-sync", **{
                "node-name": f"d{i}", "snapshot-node-name": f"d{i + 1}",
                "snapshot-file": str(tmp_path / f"top{i}.qcow2")})
            for _ in range(16):
                NvmeHost.check(host.io.wait(100_000))
            host.write(8 * i, data)
            host.flush()
        assert host.read(8, 4096) == data
        assert machine.quit() == 0


def unplug(machine: Machine) -> None:
    """device_del, and the guest's consent: ACPI's eject register."""
    machine.cmd("device_del", id="ssd")
    assert machine.qmp and machine.qtest
    machine.qtest.outl(0xAE08, 1 << 4)
    end = time.monotonic() + LIMIT_S
    while True:
        event = machine.qmp.pull_event(wait=LIMIT_S)
        assert event and time.monotonic() < end
        if event["event"] == "DEVICE_DELETED" and \
                event["data"].get("device") == "ssd":
            return


@pytest.mark.parametrize("busy", [False, True])
def test_hot_unplug_and_plug(full_image: Path, busy: bool) -> None:
    args = (slow_node(full_image) if busy
            else drive_args("tiny", full_image))
    with Machine("-machine", "pc", *args) as machine:
        host = host_of(machine)
        if busy:
            flood(host)
        for _ in range(3):
            unplug(machine)
            machine.cmd("device_add", driver="vssd", id="ssd", drive="d0",
                        addr="4", profile=str(PROFILES / "tiny.ini"))
            if busy:
                machine.cmd("qom-set", path="/objects/slow",
                            property="limits", value={"iops-total": 0})
            host = host_of(machine)
            assert host.read(8, 4096) == pattern(14, 8 * MIB)[4096:8192]
        assert machine.quit() == 0


def test_resize_is_refused(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        assert machine.qmp
        answer = machine.qmp.cmd_obj({
            "execute": "block_resize",
            "arguments": {"node-name": "d0", "size": 16 * MIB}})
        assert "error" in answer
        host_of(machine).write(0, pattern(16, 512))


def test_two_drives_and_an_iothread(image: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.img"
    other.write_bytes(bytes(4 * MIB))
    with Machine("-object", "iothread,id=io0",
                 *drive_args("tiny", image, iothread="io0"),
                 "-blockdev", f"driver=file,filename={other},node-name=d1",
                 "-device", f"vssd,id=two,drive=d1,addr=5,iothread=io0,"
                 f"profile={PROFILES / 'read-40us.ini'}") as machine:
        host = host_of(machine)
        host.write(0, pattern(17, 4096))
        assert host.read(0, 4096) == pattern(17, 4096)
        assert machine.quit() == 0


# ---- statistics -------------------------------------------------------------

def test_statistics(image: Path) -> None:
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        for i in range(10):
            host.write(8 * i, pattern(i, 4096))
        host.read(0, 4096)
        stats = stats_of(machine)
        assert stats["schema_version"] == 1
        assert stats["profile"]
        assert stats["latency_ns"]["write"]["count"] == 10
        assert stats["latency_ns"]["read"]["count"] == 1
        assert stats["host_bytes_written"] == 40960
        assert schema.faults("device", stats) == []
        assert stats["options"]["nand.channels"] == 2
        options = {p for p in results_page.paths(stats)
                   if p.startswith("options.")}
        without_row, without_member = results_page.differences(
            results_page.paths(stats) - options, "qemu", "about", "drive")
        assert without_row == []
        # Of what this drive has switched off.
        off = ("recovery.", "thermal.", "power.", "slc.", "counters.")
        assert [r for r in without_member if not r.startswith(off)] == []
        machine.cmd("qom-set", path="/machine/peripheral/ssd",
                    property="reset-stats", value=True)
        stats = stats_of(machine)
        assert stats["latency_ns"]["write"]["count"] == 0
        assert stats["lateness_ns"]["count"] == 0


def without_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object in which no name is there twice."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def test_statistics_as_text(image: Path) -> None:
    """The text is the object: drive, controller, vssd and options, once each."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        host.write(0, pattern(1, 4096))
        machine.cmd("stop")  # the drive's clock stands
        text = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                           property="stats-text")
        assert isinstance(text, str)
        found = json.loads(text, object_pairs_hook=without_twice)
        assert found == stats_of(machine)
        assert schema.faults("device", found) == []
        assert {"commands_io", "nand", "vssd", "options"} <= found.keys()


# ---- identity ---------------------------------------------------------------

def identity(machine: Machine, slot: int) -> tuple[str, str, int, bytes]:
    """Serial number, subsystem, controller identifier, descriptors."""
    assert machine.qtest
    host = NvmeHost(machine.qtest, slot)
    host.enable()
    ctrl = host.identify(1)
    names = host.identify(3, 1)
    return (ctrl[4:24].decode().strip(), ctrl[768:1024].decode().strip("\0 "),
            int.from_bytes(ctrl[78:80], "little"), names[:24])


def test_two_drives_are_told_apart(image: Path, tmp_path: Path) -> None:
    """Without serial=; and at the next start each is what it was."""
    other = tmp_path / "other.img"
    other.write_bytes(bytes(4 * MIB))
    found = []
    for _ in range(2):
        with Machine(*drive_args("tiny", image), "-blockdev",
                     f"driver=file,filename={other},node-name=d1",
                     "-device", "vssd,id=two,drive=d1,addr=6,"
                     f"profile={PROFILES / 'tiny.ini'}") as machine:
            first = identity(machine, 4)
            NvmeHost(machine.qtest).pci.write(4, 0)  # both at one address
            found.append((first, identity(machine, 6)))
    assert found[0] == found[1]
    assert found[0][0][0] == "vssd-04.0" and found[0][1][0] == "vssd-06.0"
    assert all(a != b for a, b in zip(*found[0]))


@pytest.mark.parametrize("cache", ["on", "off"])
def test_write_cache(image: Path, cache: str) -> None:
    data = pattern(18, 4 * KIB)
    with Machine(*drive_args("tiny", image, write__cache=cache)) as machine:
        host = host_of(machine)
        got = NvmeHost.check(host.admin.run(0x0A, cdw=(6,))).result
        assert got == (1 if cache == "on" else 0)
        host.write(0, data)
        machine.cmd("qom-set", path="/machine/peripheral/ssd",
                    property="power-cut", value="running")
    assert (image.read_bytes()[:4 * KIB] == data) == (cache == "off")


def test_block_statistics(image: Path) -> None:
    """query-blockstats counts what the guest asked for."""
    with Machine(*drive_args("tiny", image)) as machine:
        host = host_of(machine)
        for i in range(3):
            host.write(8 * i, pattern(i, 4 * KIB))
        host.read(0, 8 * KIB)
        host.flush()
        host.qtest.write(BUFFER, struct.pack("<IIQ", 0, 16, 0))
        NvmeHost.check(host.io.run(9, prp1=BUFFER, cdw=(0, 4)))
        assert host.io.run(OP_READ, prp1=BUFFER, cdw=(1 << 30, 0, 7)).status
        stats = machine.cmd("query-blockstats")
        assert isinstance(stats, list)
        count = stats[0]["stats"]
        assert stats[0]["qdev"] == "ssd"
        got = {key: count[key] for key in (
            "wr_operations", "wr_bytes", "rd_operations", "rd_bytes",
            "flush_operations", "unmap_operations", "unmap_bytes",
            "invalid_rd_operations", "failed_rd_operations")}
        assert got == {
            "wr_operations": 3, "wr_bytes": 12 * KIB, "rd_operations": 1,
            "rd_bytes": 8 * KIB, "flush_operations": 1, "unmap_operations": 1,
            "unmap_bytes": 8 * KIB, "invalid_rd_operations": 1,
            "failed_rd_operations": 0}
        assert count["wr_total_time_ns"] > 0


def test_null_node() -> None:
    with Machine(*drive_args("zero-latency", NULL_NODE)) as machine:
        host = host_of(machine)
        assert host.read(0, 128 * KIB) == bytes(128 * KIB)
