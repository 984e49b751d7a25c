# SPDX-License-Identifier: GPL-2.0-or-later
"""The load of ./vssd streams: the built-in churn, a job file of fio, or a
command; and the guest's command line for it.

Each runs in or on $TARGET, with $STREAMS 1 or 0.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .ways import Way

JOB_FILE = "/run/vssd-streams.fio"
NO_JOB = "global"


@dataclass(frozen=True)
class Load:
    """What runs; one of fio and command, else the churn."""

    data_mib: int = 0  # of the churn
    write_mib: int = 0
    seed: int = 1
    fio: str = ""  # text of the job file
    command: str = ""
    rules: tuple[str, ...] = ()  # GLOB=STREAM, of files below the target

    @property
    def is_churn(self) -> bool:
        """Does it give streams by itself?"""
        return not self.fio and not self.command


def jobs(text: str) -> list[str]:
    """Names of the jobs of a fio file, each once."""
    names = re.findall(r"^\[([^\]]+)\]", text, re.MULTILINE)
    return list(dict.fromkeys(n for n in names if n != NO_JOB))


def rules_of_jobs(text: str, streams: int) -> tuple[str, ...]:
    """A stream for each job, in the order of the file."""
    names = jobs(text)
    if not names:
        raise UserError("--fio: the file has no job")
    if len(names) > streams:
        raise UserError(f"--fio: {len(names)} jobs and --streams {streams}: give"
                        " more streams, or --rule")
    return tuple(f"{name}.*={i}" for i, name in enumerate(names, 1))


def check_rules(rules: list[str], streams: int) -> None:
    """--rule GLOB=STREAM"""
    for rule in rules:
        glob, _, number = rule.rpartition("=")
        if not glob or not re.fullmatch(r"\d+", number):
            raise UserError(f"--rule {rule}: give GLOB=STREAM")
        if not 1 <= int(number) <= streams:
            raise UserError(f"--rule {rule}: allowed streams 1..{streams}"
                            " (--streams)")


def read_fio(path: Path) -> str:
    """The text of --fio FILE."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        said = e.strerror if isinstance(e, OSError) else "no text"
        raise UserError(f"--fio {path}: {said}") from e


def script(load: Load, way: Way, target: str, on: bool) -> str:
    """The guest's command for it, for one of the two drives."""
    if load.is_churn:
        method = way.method if on or way.by_itself else "none"
        return (f"streamchurn -m {method} -p {load.data_mib}"
                f" -w {load.write_mib} -s {load.seed} {target}")
    if load.fio:
        where = f"--filename={target}" if target.startswith("/dev/") \
            else f"--directory={target}"
        inner = f"fio {where} {JOB_FILE}"
    else:
        inner = load.command
    words = [f"TARGET={target}", f"STREAMS={int(on)}"]
    if on and way.rules and load.rules:
        words += ["streamrun", "-m", way.method]
        for rule in load.rules:
            words += ["-r", f"{target}/{rule}"]
        words.append("--")
    return shlex.join(["env", *words, "sh", "-c", inner])
