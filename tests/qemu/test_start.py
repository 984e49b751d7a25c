# SPDX-License-Identifier: GPL-2.0-or-later
"""What QEMU refuses to start with, in one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from machine import PROFILES, Machine, drive_args, start_and_fail


def refuse(*args: str) -> str:
    """The one line that QEMU prints."""
    text = start_and_fail(*args)
    assert len(text.splitlines()) == 1, text
    return text


@pytest.mark.parametrize("device, words", [
    ({"options": "nand.colour=red"}, ["nand.colour"]),
    ({"options": "nand.channels=99999"}, ["nand.channels=99999", ".."]),
    ({"options": "nand.channels"}, ["nand.channels"]),
    ({"logical_block_size": "1024"}, ["logical_block_size=1024", "4096"]),
    ({"num_queues": "0"}, ["num_queues=0", "1..64"]),
    ({"num_queues": "65"}, ["num_queues=65", "1..64"]),
    ({"atomic.awupf": "7"}, ["atomic.awupf=7", "a power cut leaves whole"]),
    ({"atomic.nawun": "3"}, ["atomic.nawun=3", "not be less than"]),
    ({"num_vectors": "66"}, ["num_vectors=66", "0..65"]),
    ({"queue_size": "1"}, ["queue_size", "2..65536"]),
    ({"mdts": "0"}, ["mdts", "1..10"]),
    ({"backlog": "1023K"}, ["backlog=1023KiB", "1MiB.."]),
    ({"backlog": "2T"}, ["backlog=2TiB", "..1TiB"]),
    ({"fw_slots": "8"}, ["fw_slots=8", "1..7"]),
    ({"fw_activation_ms": "60001"}, ["fw_activation_ms=60001", "..60000"]),
    ({"spin_cpu": "101"}, ["spin_cpu=101", "0..100"]),
    ({"doorbell_threads": "9", "ioeventfd": "on"},
     ["doorbell_threads=9", "0..8"]),
    ({"doorbell_threads": "1"}, ["doorbell_threads=1", "ioeventfd=on"]),
    ({"poll_max_us": "1001"}, ["poll_max_us=1001", "0..1000"]),
    ({"ioeventfd": "maybe"}, ["ioeventfd", "maybe"]),
    ({"irq_hold_us": "10001"}, ["irq_hold_us=10001", "0..10000"]),
    ({"serial": "x" * 21}, ["serial", "20"]),
    ({"iothread": "nobody"}, ["nobody"]),
])
def test_bad_property(image: Path, device: dict[str, str],
                      words: list[str]) -> None:
    text = refuse(*drive_args("tiny", image, **device))
    for word in words:
        assert word in text


def test_missing_profile(image: Path) -> None:
    text = refuse(*drive_args("/nowhere/x.ini", image))
    assert "/nowhere/x.ini" in text and "No such file" in text


def test_malformed_profile(image: Path, tmp_path: Path) -> None:
    profile = tmp_path / "bad.ini"
    profile.write_text("[nand]\nread = soon\n")
    text = refuse(*drive_args(str(profile), image))
    assert "nand.read=soon" in text and "bad.ini" in text


def test_no_profile(image: Path) -> None:
    text = refuse("-blockdev", f"driver=file,filename={image},node-name=d0",
                  "-device", "vssd,drive=d0")
    assert "profile=FILE" in text


def test_no_drive() -> None:
    text = refuse("-device", f"vssd,profile={PROFILES / 'tiny.ini'}")
    assert "drive=ID" in text


def test_image_too_large(tmp_path: Path) -> None:
    image = tmp_path / "large.img"
    with image.open("wb") as file:
        file.truncate(1 << 30)
    text = refuse(*drive_args("tiny", image))
    assert str(1 << 30) in text and "nand.blocks" in text


def test_image_too_small(tmp_path: Path) -> None:
    image = tmp_path / "empty.img"
    image.write_bytes(b"")
    assert "smaller than one block" in refuse(*drive_args("tiny", image))


def test_read_only_image(image: Path) -> None:
    text = refuse("-blockdev",
                  f"driver=raw,read-only=on,file.driver=file,"
                  f"file.filename={image},node-name=d0", "-device",
                  f"vssd,drive=d0,profile={PROFILES / 'tiny.ini'}")
    assert "read-only" in text


def test_image_in_use(image: Path) -> None:
    first, second = drive_args("tiny", image), drive_args("tiny", image)
    second[-1] = second[-1].replace("addr=4", "addr=5").replace(
        "id=ssd", "id=ssd2")
    assert "d0" in refuse(*first, *second[2:])


def test_every_failure_leaves_the_machine_usable(image: Path) -> None:
    """device_add that fails at each step, then one that works."""
    with Machine("-machine", "pc", "-blockdev",
                 f"driver=raw,file.driver=file,"
                 f"file.filename={image},node-name=d0") as machine:
        assert machine.qmp
        tiny = str(PROFILES / "tiny.ini")
        bad: list[dict[str, object]] = [
            {"profile": "/nowhere"}, {"profile": tiny, "num_queues": 0},
            {"profile": tiny, "serial": "x" * 21},
            {"profile": tiny, "options": "nand.blocks=4"},
            {"profile": tiny, "options": "a=b"}]
        for props in bad:
            answer = machine.qmp.cmd_obj({
                "execute": "device_add",
                "arguments": {"driver": "vssd", "drive": "d0", **props}})
            assert "error" in answer, props
        machine.cmd("device_add", driver="vssd", drive="d0", profile=tiny,
                    id="good")
        assert machine.quit() == 0
