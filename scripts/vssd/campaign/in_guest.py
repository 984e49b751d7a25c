# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in the guests of a campaign, with the standard library alone.

    in_guest.py record PLAN     make the file system, start the writer, note
                                each line that it prints
    in_guest.py check PLAN      each drive in turn: mount, check, fsck

PLAN is JSON (plan.guest_plan()).  The notes are bytes of a drive of their own,
from its first block on, so their instants are those of its log; a NUL ends
them.
"""

from __future__ import annotations

import glob
import json
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PLACE = "/mnt/vssd"
NOTES = "/run/vssd-notes"
BLOCK = 4096
BEGIN, END = b"\x01begin\n", b"\x02end\n"
MOST_TEXT = 2000
MKFS = {"ext4": "mkfs.ext4 -q -F", "xfs": "mkfs.xfs -q -f",
        "f2fs": "mkfs.f2fs -q -f", "btrfs": "mkfs.btrfs -q -f"}
MOUNT = {"btrfs": "udevadm settle; btrfs device scan --forget; mount"}
FSCK = {"ext4": "e2fsck -fn", "xfs": "xfs_repair -n",
        "f2fs": "fsck.f2fs --dry-run", "btrfs": "btrfs check --readonly"}


def device(serial: str) -> str:
    """The drive of a serial number, once it is there."""
    for _ in range(600):
        for path in glob.glob("/sys/block/nvme*/device/serial"):
            if Path(path).read_text().strip() == serial:
                name = path.split("/")[3]
                if int(Path(f"/sys/block/{name}/size").read_text()) > 0 and \
                        os.path.exists(f"/dev/{name}"):
                    return f"/dev/{name}"
        time.sleep(0.1)
    raise SystemExit(f"there is no drive {serial}")


def shell(command: str) -> None:
    """Run it; an error ends the program."""
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {tail(done.stderr)}"
                         f" (status {done.returncode})")


def tail(text: str) -> str:
    """The end of an output, on one line."""
    return " ".join(text[-MOST_TEXT:].split())


class Notes:
    """Appends to a raw drive, past every cache."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_DSYNC)
        self.buf = mmap.mmap(-1, BLOCK)
        self.at = 0

    def append(self, data: bytes) -> None:
        """These bytes follow."""
        while data:
            offset = self.at % BLOCK
            if offset == 0:
                self.buf[:] = bytes(BLOCK)
            n = min(len(data), BLOCK - offset)
            self.buf[offset:offset + n] = data[:n]
            os.pwrite(self.fd, self.buf, self.at - offset)
            self.at += n
            data = data[n:]


def environment(plan: dict[str, Any], dev: str) -> dict[str, str]:
    """What the commands of the user find."""
    return {**os.environ, "VSSD_DEVICE": dev, "VSSD_NOTES": NOTES,
            "VSSD_FILES": plan["files"], "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": "/root"}


def user(command: str, plan: dict[str, Any], dev: str, **more: Any) \
        -> subprocess.Popen[Any]:
    """Start a command of the user, in the file system."""
    return subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.DEVNULL,
        cwd=PLACE if plan["fs"] != "none" else "/",
        env=environment(plan, dev), start_new_session=True, **more)


def plug_again(dev: str, serial: str) -> str:
    """Shut the controller down and take it up again, so that all that was
    written is durable; its device."""
    name = Path(dev).name
    address = Path(f"/sys/block/{name}/device/device").resolve().name
    for what in ("unbind", "bind"):
        Path(f"/sys/bus/pci/drivers/nvme/{what}").write_text(address)
    return device(serial)


def record(plan: dict[str, Any]) -> None:
    """The run of the writer."""
    os.makedirs(PLACE, exist_ok=True)
    serial = plan["serials"][0]
    dev, fs = device(serial), plan["fs"]
    if fs != "none":
        shell(f"{MKFS[fs]} {dev}")
    if plan["setup"]:
        if fs != "none":
            shell(f"mount {dev} {PLACE}")
        done = user(plan["setup"], plan, dev, stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, text=True)
        said = done.communicate()[1]
        if done.returncode:
            raise SystemExit(f"--setup ended with status {done.returncode}:"
                             f" {tail(said)}")
        if fs != "none":
            shell(f"umount {PLACE}")
    os.sync()
    dev = plug_again(dev, serial)
    if fs != "none":
        shell(f"mount {dev} {PLACE}")
    notes = Notes(device(plan["notes"]))
    notes.append(BEGIN)
    status, said = write(plan, dev, notes)
    notes.append(END)
    print(json.dumps({"status": status, "text": tail(said)}), flush=True)


def write(plan: dict[str, Any], dev: str, notes: Notes) -> tuple[int, str]:
    """Run the writer until its end or the limit; 0 for both."""
    messages = Path("/run/vssd-writer")
    with messages.open("wb") as err:
        done = user(plan["write"], plan, dev, stdout=subprocess.PIPE,
                    stderr=err)
    assert done.stdout
    ended = False

    def stop(*_: object) -> None:
        nonlocal ended
        ended = True
        os.killpg(done.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, plan["seconds"])
    while data := os.read(done.stdout.fileno(), 1 << 16):
        notes.append(data.replace(b"\0", b"?"))
        if notes.at > plan["most_notes"]:
            stop()
            raise SystemExit("the write command prints too much: more than"
                             f" {plan['most_notes']} bytes")
    status = done.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 0 if ended else status, messages.read_text(errors="replace")


def checks(plan: dict[str, Any]) -> None:
    """Each drive, and a line of JSON before and after it."""
    os.makedirs(PLACE, exist_ok=True)
    notes = Path(plan["all_notes"]).read_bytes()
    for serial, n in zip(plan["serials"], plan["notes_of"]):
        print(json.dumps({"begins": serial}), flush=True)
        Path(NOTES).write_bytes(notes[:n])
        status, said = check(plan, device(serial))
        print(json.dumps({"ends": serial, "status": status,
                          "text": tail(said)}), flush=True)


def check(plan: dict[str, Any], dev: str) -> tuple[int, str]:
    """Status and words of the check of one drive."""
    fs = plan["fs"]
    if fs != "none":
        status, said = run(f"{MOUNT.get(fs, 'mount')} {dev} {PLACE}", plan)
        if status:
            return status, f"the file system cannot be mounted: {said}"
    done = user(plan["check"], plan, dev, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        said = done.communicate(timeout=plan["check_seconds"])[0]
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)
        said = done.communicate()[0]
        said += f" (took longer than {plan['check_seconds']:g} s)"
    if fs != "none":
        status, why = run(f"umount {PLACE}", plan)
        if status and not done.returncode:
            run(f"umount -l {PLACE}", plan)
            return status, why
        if not done.returncode and plan["fsck"]:
            status, why = run(f"{FSCK[fs]} {dev}", plan)
            if status:
                return status, f"{FSCK[fs].split()[0]}: {why}"
    return done.returncode, said


def run(command: str, plan: dict[str, Any]) -> tuple[int, str]:
    """A command of ours with a limit of time."""
    try:
        done = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=plan["check_seconds"], check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, f"{command}: took longer than {plan['check_seconds']:g} s"


def main(args: list[str]) -> int:
    """See the head of this file."""
    plan = json.loads(Path(args[1]).read_text(encoding="utf-8"))
    record(plan) if args[0] == "record" else checks(plan)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
