# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of a campaign: one that runs the writer, and those that check."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import paths
from ..build import emulator, qemu_build
from ..errors import UserError
from ..guest import drives as drive_options
from ..guest import hardware, kvm, machine
from ..guest import image as image_module
from ..proc import together
from .plan import DRIVE_BYTES, PACKAGES, REFUSED, Plan

IN_GUEST = Path(__file__).with_name("in_guest.py")
FOLDER = "/run/vssd-campaign"
MOST_COMMAND = 128 << 10  # one argument of a program (MAX_ARG_STRLEN of Linux)
MOST_FILES = 256 << 20
FILES_DRIVE = "/dev/vda"  # has what is too large for a command, as a tar archive
NOTES_BYTES = 64 << 20
MOST_NOTES = 8 << 20
SERIAL, NOTES_SERIAL = "VSSDCUT", "VSSDNOTES"
GUEST_LIMIT_S = 3600.0  # of this machine's time; a guest that hangs
ICOUNT_LIMIT = "the guest did not end in an hour"


@dataclass
class Parts:
    """What every guest of the campaign is made of."""

    plan: Plan
    qemu: qemu_build.Qemu
    image: image_module.Image
    drive: drive_options.Further

    @property
    def size(self) -> int:
        """Bytes of the drive."""
        return self.drive.size or DRIVE_BYTES


@dataclass
class Outcome:
    """How a guest ended."""

    status: int | None  # of its command; None: it ended before
    out: str
    err: str
    reason: str


def check_drive(plan: Plan) -> drive_options.Further:
    """The drive of --drive; UserError for one that has no such campaign."""
    drive = drive_options.parse(plan.drive)
    for key in ("image", "state", "oplog", "trace"):
        if key in drive.files:
            raise UserError(f"--drive {key}=: the drive of a campaign is new")
    for pair in drive.sets:
        key, _, value = pair.partition("=")
        if value in REFUSED.get(key, ()):
            raise UserError(f"--drive {pair}: a cut then destroys data that was"
                            " durable, which a recorded run cannot tell; use"
                            " ./vssd powercut")
    return drive


def prepare(plan: Plan) -> Parts:
    """Build what is not built."""
    drive = check_drive(plan)
    names = ",".join(filter(None, (plan.packages, PACKAGES.get(plan.fs, ""))))
    more = image_module.check_packages(names)
    _payload(plan, "record", {}, {})  # too large?
    qemu, image = together(emulator.ensure,
                           lambda: image_module.ensure(more=more))
    return Parts(plan, qemu, image, drive)


@dataclass
class Payload:
    """The command of a guest, and a drive with what is too large for that."""

    command: str
    packed: bytes = b""

    def drive(self, path: Path) -> list[str]:
        """QEMU's arguments for it."""
        if not self.packed:
            return []
        path.write_bytes(self.packed)
        return ["-blockdev", json.dumps({
            "driver": "raw", "node-name": "files", "read-only": True,
            "file": {"driver": "file", "filename": str(path)}}),
                "-device", "virtio-blk-pci,drive=files"]


def _spec(parts: Parts, folder: Path, name: str, payload: Payload,
          more: list[hardware.Drive]) -> hardware.Spec:
    root = folder / f"{name}.qcow2"
    root.unlink(missing_ok=True)
    image_module.overlay(parts.qemu.img, parts.image.disk, root)
    seed = parts.plan.seed
    first = hardware.Drive(root, "qcow2", "vssd",
                          paths.find_profile("zero-latency"), [f"seed={seed}"])
    return hardware.Spec(
        parts.qemu.emulator,
        "tcg" if parts.plan.icount else kvm.accelerator(parts.qemu),
        [first, *more], kernel=parts.image.kernel, initrd=parts.image.initrd,
        append=f"root={parts.image.root} rw console=ttyS0 panic=-1",
        network=False, icount=parts.plan.icount, seed=seed, command=payload.command,
        reboot_ends=True, extra=payload.drive(folder / f"{name}.files"))


def recording(parts: Parts, folder: Path, log: Path, notes: Path) \
        -> hardware.Spec:
    """The machine that runs the writer; it writes both logs."""
    images = []
    for name, size in (("data", parts.size), ("notes", NOTES_BYTES)):
        images.append(folder / f"{name}.img")
        with images[-1].open("wb") as f:
            f.truncate(size)
    seed = parts.plan.seed + 1
    sets = parts.drive.sets + ([] if any(
        s.startswith("seed=") for s in parts.drive.sets) else [f"seed={seed}"])
    plan = {**_common(parts.plan), "serials": [SERIAL], "notes": NOTES_SERIAL,
            "setup": parts.plan.setup, "write": parts.plan.write,
            "seconds": parts.plan.seconds, "most_notes": MOST_NOTES}
    return _spec(parts, folder, "record",
                 _payload(parts.plan, "record", plan, {}), [
        hardware.Drive(images[0], "raw", "vssd", parts.drive.profile, sets,
                      properties=parts.drive.properties, serial=SERIAL, durable_log=log),
        hardware.Drive(images[1], "raw", "vssd",
                      paths.find_profile("zero-latency"),
                      ["buffer.plp=on", f"seed={seed + 1}"],
                      serial=NOTES_SERIAL, durable_log=notes)])


def checking(parts: Parts, folder: Path, name: str,
             cuts: list[tuple[Path, bytes]]) -> hardware.Spec:
    """The machine that checks these images, each with its notes."""
    serials = [f"{SERIAL}{i}" for i in range(len(cuts))]
    # All cuts are of one run: notes of an earlier one are the head of a later
    # one's, and are sent once.
    longest = max((notes for _, notes in cuts), key=len)
    assert all(longest.startswith(notes) for _, notes in cuts)
    files = {"notes": longest}
    plan = {**_common(parts.plan), "serials": serials,
            "all_notes": f"{FOLDER}/notes",
            "notes_of": [len(notes) for _, notes in cuts],
            "check": parts.plan.check, "fsck": parts.plan.fsck,
            "check_seconds": parts.plan.check_seconds}
    return _spec(parts, folder, name,
                 _payload(parts.plan, "check", plan, files), [
        hardware.Drive(image, "raw", "vssd", paths.find_profile("zero-latency"),
                      ["seed=1"], serial=serial)
        for serial, (image, _) in zip(serials, cuts)])


def _common(plan: Plan) -> dict[str, Any]:
    return {"fs": plan.fs, "files": f"{FOLDER}/files",
            "check_seconds": plan.check_seconds}


def _payload(plan: Plan, what: str, text: dict[str, Any],
             files: dict[str, bytes]) -> Payload:
    """The command of a guest, with all files that it needs."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w",
                      format=tarfile.GNU_FORMAT) as tar:
        _add(tar, "in_guest.py", IN_GUEST.read_bytes())
        _add(tar, "plan.json", json.dumps(text).encode())
        for name, data in files.items():
            _add(tar, name, data)
        for path in plan.files:
            tar.add(path.resolve(), f"files/{path.resolve().name}",
                    filter=_plain)
    begin, end = f"mkdir -p {FOLDER}/files && cd {FOLDER} &&", \
        f"exec python3 in_guest.py {what} plan.json\n"
    coded = base64.encodebytes(
        gzip.compress(packed.getvalue(), mtime=0)).decode()
    command = (f"{begin} base64 -d >all.tar.gz <<'END_OF_FILES' &&"
               f" tar xzf all.tar.gz && {end}{coded}END_OF_FILES\n")
    if len(command) < MOST_COMMAND:
        return Payload(command)
    if len(packed.getvalue()) > MOST_FILES:
        raise UserError(f"--files: {len(packed.getvalue())} bytes, allowed {MOST_FILES}")
    return Payload(f"{begin} modprobe virtio_blk && tar xf {FILES_DRIVE} && {end}",
                   packed.getvalue())


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Equal for equal contents; no devices, sockets or caches."""
    if not (info.isfile() or info.isdir() or info.issym()) \
            or "__pycache__" in info.name:
        return None
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


async def run(spec: hardware.Spec, limit_s: float = GUEST_LIMIT_S) -> Outcome:
    """Boot it, and wait until its command and the guest have ended."""
    out: dict[str, bytearray] = {"O": bytearray(), "E": bytearray()}
    async with machine.running(spec) as m:
        assert m.exit_status
        m.on_output = lambda kind, data: out[kind].extend(data)
        if not await m.first(m.exit_status, m.ended, timeout_s=limit_s):
            reason = f"{ICOUNT_LIMIT}; its console said: " \
                     + m.last_console_lines(3)
        else:
            await m.first(m.ended, timeout_s=300)
            reason = f"the guest ended ({m.end_reason}); its console said: " \
                     + m.last_console_lines(3)
        status = m.exit_status.result() if m.exit_status.done() else None
        if m.end_reason == "QEMU ended" and status is None:
            raise UserError(await m.why_it_ended())
    return Outcome(status, out["O"].decode(errors="replace"),
                   out["E"].decode(errors="replace"), reason)
