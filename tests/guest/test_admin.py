# SPDX-License-Identifier: GPL-2.0-or-later
"""Admin commands as a guest's nvme-cli sends them."""

from __future__ import annotations

import json
import re
import struct
import time
import zlib

from vssd.guest.guest import Guest


def as_json(guest: Guest, command: str) -> dict[str, object]:
    """What a command of nvme-cli prints."""
    text = guest.run(f"nvme {command} -o json")
    found: dict[str, object] = json.loads(text[text.index("{"):])
    return found


def test_supported(guest: Guest, disks: list[str]) -> None:
    """Pages, commands, features, command sets, sets and groups."""
    pages = guest.run(f"nvme supported-log-pages {disks[1]}")
    for name in ("Persistent Event", "Telemetry", "Self-test"):
        assert name.lower() in pages.lower(), pages
    effects = guest.run(f"nvme effects-log {disks[1]} --csi=0")
    assert "Firmware Commit" in effects or "Commit" in effects, effects
    assert guest.run(f"nvme fid-support-effects-log {disks[1]}")
    assert guest.run(f"nvme id-iocs {disks[1]}")
    assert guest.run(f"nvme id-nvmset {disks[1]}")
    assert guest.run(f"nvme endurance-log {disks[1]} -g 1")
    assert as_json(guest, f"id-ctrl {disks[1]}")["ver"] == 0x20000


def test_self_test(guest: Guest, disks: list[str]) -> None:
    """A short and an extended test end without an error."""
    def wait() -> dict[str, object]:
        while True:
            log = as_json(guest, f"self-test-log {disks[1]}")
            if log["Current Device Self-Test Operation"] == 0:
                return log
            time.sleep(0.2)

    for code in (1, 2):
        guest.run(f"nvme device-self-test {disks[1]} -n 0xffffffff -s {code}")
        results = wait()["List of Valid Reports"]
        assert isinstance(results, list)
        assert results[0]["Self test result"] == 0
        assert results[0]["Self test code"] == code


def test_firmware(guest: Guest, disks: list[str]) -> None:
    """An image is downloaded and runs, without a reset."""
    content = bytes(20000)
    head = struct.pack("<8s8sIII36x", b"VSSDFW01", b"guest2.0",
                       64 + len(content), zlib.crc32(content), 0)
    text = "".join(f"\\0{b:03o}" for b in head)
    guest.run(f"printf '%b' '{text}' > /root/new.fw;"
              " truncate -s 20064 /root/new.fw")
    guest.run(f"nvme fw-download {disks[1]} -f /root/new.fw")
    guest.run(f"nvme fw-commit {disks[1]} -s 2 -a 3")
    assert as_json(guest, f"id-ctrl {disks[1]}")["fr"] == "guest2.0"
    log = guest.run(f"nvme fw-log {disks[1]}")
    assert "guest2.0" in log
    assert "afi  : 0x2" in log, log
    guest.run(f"nvme fw-commit {disks[1]} -s 1 -a 2; nvme reset {disks[1]}")
    assert str(as_json(guest, f"id-ctrl {disks[1]}")["fr"]).startswith("vssd")


def test_telemetry(guest: Guest, disks: list[str]) -> None:
    """nvme-cli reads all blocks of the three areas."""
    guest.run(f"nvme telemetry-log {disks[1]} --output-file=/root/t.bin")
    size = int(guest.run("stat -c %s /root/t.bin"))
    assert size > 4096
    assert size % 512 == 0
    assert "waf" in guest.run("strings /root/t.bin 2>/dev/null"
                              " || tr -cd '[:print:]' < /root/t.bin")


def test_persistent_events(guest: Guest, disks: list[str]) -> None:
    """A context is established, read and released."""
    log = f"nvme persistent-event-log {disks[1]}"
    guest.run(f"{log} -a 1 -l 0")
    text = guest.run(f"{log} -a 0")
    guest.run(f"{log} -a 2")
    for event in ("Power-on or Reset", "SMART", "Timestamp Change"):
        assert event.lower() in text.lower(), text


def test_saved_feature(guest: Guest, disks: list[str]) -> None:
    """A saved value survives a reset of the controller."""
    get = f"nvme get-feature {disks[1]} -f 8"
    assert "saveable" in guest.run(f"{get} -s 3 -H").lower()
    guest.run(f"nvme set-feature {disks[1]} -f 8 --value=0x0203 --save")
    guest.run(f"nvme reset {disks[1]}")
    assert "203" in guest.run(get)
    assert "203" in guest.run(f"{get} -s 2")
    guest.run(f"nvme set-feature {disks[1]} -f 8 --value=0 --save")


def sanitize_log(guest: Guest, disk: str) -> tuple[int, int]:
    """Progress and status of log page 81h."""
    assert "SPROG" in guest.run(f"nvme sanitize-log {disk}").upper()
    progress, status = guest.run(
        f"nvme get-log {disk} --log-id=0x81 --log-len=512 --raw-binary"
        " | od -An -tu2 -N4").split()
    return int(progress), int(status)


def test_format(guest: Guest, disks: list[str]) -> None:
    """With an erase, and with a new key: nothing is left."""
    disk = disks[1]
    for erase in (1, 2):
        guest.run(f"yes marker | dd of={disk}n1 bs=1M count=4 oflag=direct"
                  " iflag=fullblock 2>/dev/null")
        guest.run(f"nvme format {disk}n1 --ses={erase} --force")
        text = guest.run(f"dd if={disk}n1 bs=1M count=4 iflag=direct"
                         " 2>/dev/null | grep -c marker || true")
        assert text.strip() == "0"


def test_sanitize(guest: Guest, disks: list[str]) -> None:
    """Block Erase and Crypto Erase end with success, Overwrite leaves its
    pattern if it is to stay."""
    disk = disks[1]

    def wait() -> int:
        while True:
            progress, status = sanitize_log(guest, disk)
            if status & 7 != 2:
                return status & 7
            assert progress < 0xffff
            time.sleep(0.2)

    for options, left in (("-a 2", 0), ("-a 4", 0),
                          ("-a 3 -n 1 -p 0x5a5a5a5a -d", 0x5a)):
        guest.run(f"yes marker | dd of={disk}n1 bs=1M count=4 oflag=direct"
                  " iflag=fullblock 2>/dev/null")
        guest.run(f"nvme sanitize {disk} {options}")
        assert wait() == 1
        first = guest.run(f"dd if={disk}n1 bs=4096 count=1 iflag=direct"
                          " 2>/dev/null | od -An -tx1 -N1")
        assert int(first, 16) == left
    guest.run(f"nvme sanitize {disk} -a 2")
    assert wait() == 1


def test_lba_status(guest: Guest, disks: list[str]) -> None:
    """Blocks of Write Uncorrectable are reported."""
    disk = disks[1]
    guest.run(f"nvme write-uncor {disk}n1 -s 64 -c 7")
    text = guest.run(f"nvme get-lba-status {disk}n1 -n 1 -s 0 -m 1023"
                     " -a 0x11 -l 0")
    assert re.search(r"0*40\b", text), text
    assert guest.run(f"nvme lba-status-log {disk}")
    guest.run(f"nvme write-zeroes {disk}n1 -s 64 -c 7")
