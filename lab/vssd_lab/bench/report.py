# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench --report: what was measured, where and of which versions, as one
Markdown file that can be attached to an issue.

Knows rows, this machine and what is built on it; measures nothing.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from vssd import origin, paths
from vssd.build import emulator
from vssd.errors import UserError
from vssd.guest import image, kvm

GIB = 1 << 30
KERNEL_TEXT_AT = 0x20e  # in a bzImage: the place of its version, less 200h
UNKNOWN = "not known"


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


def text(command: str, where: dict[str, str], rows: list[list[str]],
         lost: dict[str, str]) -> str:
    """The file.  rows: cells of what, ours, peer, ratio, unit, note; lost: why
    a benchmark has none."""
    parts = [f"# {origin.version_text()}: benchmarks\n", f"    {command}\n",
             _table(["host", ""], [list(x) for x in where.items()]),
             _table(["version", ""], [list(x) for x in versions().items()]),
             _table(["what", "ours", "peer", "ratio", "unit", "note"], rows)]
    if lost:
        parts.append(_table(["not measured", "why"],
                            [list(x) for x in lost.items()]))
    return "\n".join(parts)


def write(path: Path, *args: Any) -> None:
    """Replace the file with text()."""
    try:
        with paths.replacing(path) as f:
            f.write(text(*args).encode())
    except OSError as e:
        raise UserError(f"--report {path}: {e.strerror}") from e
