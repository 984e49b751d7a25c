# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways by which a guest's data gets streams, and where each of them exists.

Knows kernels, file systems and options of drives; does not know the load.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UserError

FILE_SYSTEMS = ("ext4", "xfs", "f2fs", "raw")
MOST_STREAMS = 63
LEAST_STREAMS = 3  # hot, warm and cold data


@dataclass(frozen=True)
class Way:
    """One of --by."""

    name: str
    fs: tuple[str, ...]  # where it works
    option: str  # of the drive, with the number of streams
    method: str  # of streamchurn
    kernel: str  # the one that has it
    param: str = ""  # for the kernel's command line
    rules: bool = False  # streamrun gives files of any program streams by it
    by_itself: bool = False  # the file system places data, asked or not


WAYS = {w.name: w for w in (
    Way("fadvise", ("ext4", "xfs", "raw"), "streams.max", "fadvise",
        "./vssd kernel build, then --kernel streams", rules=True),
    Way("ioctl", ("xfs",), "streams.max", "ioctl",
        "./vssd kernel build, then --kernel streams", rules=True),
    Way("hint", ("ext4", "xfs"), "streams.max", "hint",
        "--suite bullseye", " nvme_core.streams=1", rules=True),
    Way("uring", ("raw",), "fdp.ruhs", "uring", "--suite trixie-backports"),
    Way("fdp-f2fs", ("f2fs",), "fdp.ruhs", "temperature",
        "--suite trixie-backports", by_itself=True),
)}


def usual(kernel: str | None, suite: str | None, fs: str) -> Way:
    """The way of a kernel and a file system, without --by."""
    if fs == "f2fs":
        return WAYS["fdp-f2fs"]
    if suite == "bullseye":
        return WAYS["hint"]
    return WAYS["uring" if fs == "raw" and not kernel else "fadvise"]


def check(way: Way, fs: str, streams: int) -> None:
    """Refuse what no kernel has."""
    if fs not in way.fs:
        raise UserError(f"--fs {fs}: {way.name} gives no streams there; allowed"
                        f" {', '.join(way.fs)}")
    if way.name == "hint" and streams < 4:
        raise UserError(f"--streams {streams}: Linux uses no drive with fewer"
                        " than 4 by hint")


def drives(way: Way, streams: int) -> tuple[str, str]:
    """Options of the two drives: without streams, with them.  They are one and
    the same, but where the file system would place data by itself."""
    option = f"{way.option}={streams}"
    return ("fdp.ruhs=1" if way.by_itself else option, option)
