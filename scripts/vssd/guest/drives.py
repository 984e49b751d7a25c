# SPDX-License-Identifier: GPL-2.0-or-later
"""Further drives of a guest: --drive PROFILE[,KEY=VALUE...] and their images.

Knows the text of the option and the files behind it; QEMU checks the options
of the model when it starts.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .. import paths, sizes
from ..errors import UserError
from ..nearest import hint
from . import used

MOST_FUNCTIONS = 24  # slots of the machine that are free
LEAST_BYTES = 1 << 20
MOST_BYTES = 1 << 50
BLOCK = 4096
MOST_NAMESPACES = 8  # with an image of their own
# Keys of --drive that are not options of the model.
IMAGES = ("image", *(f"image{n}" for n in range(2, MOST_NAMESPACES + 1)))
FILES = (*IMAGES, "state", "oplog", "trace")
WORDS = {"size": "a number of bytes, as 512M", "serial": "1 to 20 letters,"
         " digits and . _ -", "fill": ", ".join((used.AGED, *used.FILLS)),
         **dict.fromkeys(FILES, "a file")}
# Properties of the device, which are no options of the model: blocks, less one.
PROPERTIES = tuple(f"atomic.{name}" for name in (
    "awun", "awupf", "nawun", "nawupf", "nabsn", "nabspf", "nabo"))
MOST_BLOCKS = 65535
METAVAR = "PROFILE[,KEY=VALUE...][,aged]"


@dataclass
class Further:
    """What one --drive says."""

    text: str
    profile: Path
    size: int = 0  # bytes of an empty drive; 0: its capacity
    serial: str = ""
    used: str = ""  # how, of used.py; "": the drive is new, or of state=
    files: dict[str, Path] = field(default_factory=dict)  # by FILES
    sets: list[str] = field(default_factory=list)  # KEY=VALUE of the model
    properties: dict[str, int] = field(default_factory=dict)  # PROPERTIES

    @property
    def image(self) -> Path | None:
        """The data behind the drive; None: it is empty, and for this run."""
        return self.files.get("image")

    @property
    def images(self) -> list[Path]:
        """The same, and those of namespaces 2 and following."""
        return [self.files[name] for name in IMAGES if name in self.files]


def check_all(texts: list[str], functions: int) -> list[Further]:
    """All --drive options beside the first drive, which has so many PCI
    functions; UserError for what no run could do."""
    found = [parse(text) for text in texts]
    if len(found) > MOST_FUNCTIONS - functions:
        raise UserError(f"--drive: given {len(found)} times, allowed"
                        f" 0..{MOST_FUNCTIONS - functions} beside a first drive"
                        f" of {functions} controller(s)")
    for kind, names in _kinds():
        files = [d.files[name].resolve() for d in found for name in names
                 if name in d.files]
        for file in files:
            if files.count(file) > 1:
                two = "namespaces" if kind == "image" else "drives"
                raise UserError(f"--drive {kind}={file}: two {two} cannot share it")
    serials = [d.serial for d in found if d.serial]
    for one in serials:
        if serials.count(one) > 1:
            raise UserError(f"--drive serial={one}: two drives have it")
    return found


def _kinds() -> list[tuple[str, tuple[str, ...]]]:
    """Keys of files of one kind, by their common name."""
    return [("image", IMAGES), *((name, (name,)) for name in FILES
                                 if name not in IMAGES)]


def parse(text: str) -> Further:
    """One --drive; a comma within a value is doubled."""
    profile, *pairs = [part.replace("\0", ",") for part
                       in text.replace(",,", "\0").split(",")]
    if not profile or "=" in profile:
        raise UserError(f"--drive {text}: a profile comes first: {METAVAR}")
    drive = Further(text, paths.find_profile(profile))
    seen = set()
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if pair == used.AGED:
            key, equals, value = "fill", "=", used.AGED
        if not key or not equals or ";" in pair:
            raise UserError(f"--drive {text}: {pair!r} is no KEY=VALUE")
        if key in seen:
            raise UserError(f"--drive {text}: {key} is there twice")
        seen.add(key)
        if key in WORDS:
            _word(drive, key, value)
        elif key in PROPERTIES:
            drive.properties[key] = _property(key, value)
        elif "." not in key and (near := hint(key, (*WORDS, used.AGED))):
            raise UserError(f"--drive {text}: no key {key!r}{near}")
        else:
            drive.sets.append(pair)
    _check(drive)
    return drive


def _word(drive: Further, key: str, value: str) -> None:
    if not value:
        raise UserError(f"--drive {drive.text}: {key} takes {WORDS[key]}")
    if key == "size":
        drive.size = _bytes(value)
    elif key == "serial":
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,20}", value):
            raise UserError(f"--drive serial={value}: give {WORDS[key]}")
        drive.serial = value
    elif key == "fill":
        if value not in (used.AGED, *used.FILLS):
            raise UserError(f"--drive {drive.text}: fill={value}: allowed"
                            f" {WORDS[key]}{hint(value, used.FILLS)}")
        drive.used = value
    else:
        drive.files[key] = Path(value).expanduser()


def _property(key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) > MOST_BLOCKS:
        raise UserError(f"--drive {key}={value}: allowed 0..{MOST_BLOCKS},"
                        " blocks less one")
    return int(value)


def _bytes(text: str) -> int:
    found = sizes.read("--drive size=", text, LEAST_BYTES, MOST_BYTES)
    if found % BLOCK:
        raise UserError(f"--drive size={text}: allowed in steps of 4 KiB, as"
                        " 512M")
    return found


def _check(drive: Further) -> None:
    if drive.image and drive.size:
        raise UserError(f"--drive {drive.text}: image and size exclude each"
                        " other")
    for name, before in zip(IMAGES[1:], IMAGES):
        if name in drive.files and before not in drive.files:
            raise UserError(f"--drive {drive.text}: {name} needs {before}")
    for file in drive.images:
        if not file.is_file():
            raise UserError(f"--drive image={file}: no such file")
    if drive.used and "state" in drive.files:
        raise UserError(f"--drive {drive.text}: state=FILE says how used the"
                        " drive is: give it, or aged or fill=")
    for name in FILES:
        if name in drive.files and name not in IMAGES:
            paths.check_output(f"--drive {name}", drive.files[name])


def claim(drives: list[Further], keep: bool) -> list[int]:
    """One run at a time writes an image or a state."""
    held = []
    for drive in drives:
        held += [paths.claim("--drive image", file, shared=not keep)
                 for file in drive.images]
        if "state" in drive.files:
            held.append(paths.claim("--drive state", drive.files["state"]))
    return held


def refuse_used(drives: list[Further], option: str) -> None:
    """Where the copy of a state would not last as long as its drive."""
    for drive in drives:
        if drive.used:
            raise UserError(f"--drive {drive.text}: {drive.used} not with"
                            f" {option}: make a state by ./vssd age, and give"
                            " state=FILE")


def blank(drive: Further, path: Path) -> Path:
    """An empty image, sparse: of size=, else of the drive's capacity."""
    with open(path, "wb") as f:
        f.truncate(_nbytes(drive))
    return path


def kept(drive: Further, qemu_img: Path, path: Path) -> Path:
    """The same in qcow2, which takes snapshots; one that is there stays."""
    if not path.exists():
        done = subprocess.run(
            [str(qemu_img), "create", "-q", "-f", "qcow2", str(path),
             str(_nbytes(drive))], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"cannot make an image for --drive {drive.text}: "
                            + " ".join(done.stderr.split()))
    return path


def _nbytes(drive: Further) -> int:
    from ..build import model

    return drive.size or int(
        model.drive_info(drive.profile, drive.sets)["capacity_bytes"])


def add_option(parser: argparse.ArgumentParser) -> None:
    """--drive"""
    parser.add_argument(
        "--drive", action="append", default=[], metavar=METAVAR,
        help="one more drive, in a hot-plug slot: size=BYTES (default: the"
        " drive's capacity) or image=FILE, image2=FILE to image8=FILE (further"
        " namespaces), aged (in the steady state of GC), fill=HOW (preload, seq,"
        " random) or state=FILE, serial=TEXT, oplog=FILE, trace=FILE,"
        " atomic.NAME=N (docs/power.md), and options of the model; may be"
        " repeated (docs/machines.md)")
