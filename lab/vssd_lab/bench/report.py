# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench --report and --write: what was measured, where and of which
versions, as one Markdown file that can be attached to an issue, or as a page.

Knows rows, this machine and what is built on it; measures nothing.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from vssd import origin, paths
from vssd.build import emulator
from vssd.errors import UserError
from vssd.guest import image, kvm

GIB = 1 << 30
KERNEL_TEXT_AT = 0x20e  # in a bzImage: the place of its version, less 200h
UNKNOWN = "not known"
PAGE_HEAD = """\
# Measured speed of the simulator and of the device

**Readers:** developers who change the model or the device. **Afterwards you can** compare a
measurement of yours with these, and know their machine.

`./vssd bench --write` makes this page: all rows are of one run. A ratio is ours divided by the
peer's; for a row whose note says so, the peer is an aim or a bound.
[lab/performance.md](../lab/performance.md) says how each is measured.
"""


def kernel_version(path: Path) -> str:
    """The version of a kernel for x86, by the head of its file."""
    try:
        data = path.read_bytes()
    except OSError:
        return UNKNOWN
    at = int.from_bytes(data[KERNEL_TEXT_AT:KERNEL_TEXT_AT + 2], "little") + 0x200
    return data[at:at + 200].split(b"\0")[0].decode(errors="replace") \
        .split(" ")[0] or UNKNOWN


def _accelerator() -> str:
    try:
        used = kvm.accelerator(emulator.made())
    except UserError:
        used = ""
    if used == "kvm":
        return "works"
    device = "/dev/kvm is there" if os.path.exists("/dev/kvm") \
        else "no /dev/kvm"
    return f"{device}; guests run with TCG" if used else f"{device}; not tried"


def host() -> dict[str, str]:
    """This machine."""
    said = origin.origin()["host"]
    memory = re.search(r"^MemTotal: *(\d+)", Path("/proc/meminfo").read_text(
        encoding="ascii"), re.M)
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        flags, system = "", "Linux"
    return {
        "processor": said["processor"] or platform.machine(),
        "cores": str(said["cores"]),
        "machine": "virtual" if re.search(r"^flags.*\bhypervisor\b", flags, re.M)
                   else "real",
        "KVM": _accelerator(),
        "memory": f"{int(memory[1]) * 1024 / GIB:.1f} GiB" if memory else UNKNOWN,
        "kernel": said["kernel"],
        "system": system,
        "load at the start": f"{os.getloadavg()[0]:.1f}",
    }


def versions() -> dict[str, str]:
    """What was measured."""
    try:
        said = subprocess.run([emulator.made().emulator, "--version"], text=True,
                              capture_output=True, check=False).stdout
        qemu = said.split("version", 1)[-1].split("\n")[0].strip() or UNKNOWN
    except UserError:
        qemu = "not made"
    made = paths.find_made(image.image_name(image.SUITE), "image.json")
    return {"vssd": origin.version_text(), "QEMU": qemu,
            "guest's kernel": kernel_version(image.Image(made).packed_kernel) if made
            else "not made"}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(c.replace("|", "\\|") for c in line) + " |\n"
                   for line in lines)


def _tables(command: str, where: dict[str, str], rows: list[list[str]],
            lost: dict[str, str]) -> list[str]:
    parts = [f"    {command}\n",
             _table(["host", ""], [list(x) for x in where.items()]),
             _table(["version", ""], [list(x) for x in versions().items()]),
             _table(["row", "ours", "peer", "ratio", "unit", "note"], rows)]
    if lost:
        parts.append(_table(["not measured", "why"],
                            [list(x) for x in lost.items()]))
    return parts


def text(command: str, where: dict[str, str], rows: list[list[str]],
         lost: dict[str, str]) -> str:
    """The file.  rows: cells of what, ours, peer, ratio, unit, note; lost: why
    a benchmark has none."""
    return "\n".join([f"# {origin.version_text()}: benchmarks\n",
                      *_tables(command, where, rows, lost)])


def page(command: str, where: dict[str, str], rows: list[list[str]],
         lost: dict[str, str]) -> str:
    """The same as a page of the documents."""
    return "\n".join([PAGE_HEAD, *_tables(command, where, rows, lost)])


def write(path: Path, content: str) -> None:
    """Replace the file."""
    try:
        with paths.replacing(path) as f:
            f.write(content.encode())
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
