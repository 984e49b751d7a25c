# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign of power cuts: record one run of the writer, make the image of
each cut, and have guests check them."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..rundir import rundir
from ..ui import Stage
from . import guests
from .durable import END, START, Log, Replayer
from .in_guest import BEGIN
from .in_guest import END as NOTES_END
from .plan import LOG, NOTES, Plan, choose

DRIVES = 16        # of one guest that checks
COMMANDS_SHOWN = 12


@dataclass
class Cut:
    """One power cut and its verdict."""

    number: int
    at_ns: int           # since the drive was made
    notes: bytes
    state: tuple[int, int]  # equal for equal images and notes
    ok: bool = True
    text: str = ""

    @property
    def promises(self) -> int:
        """Lines that had been printed before the cut."""
        return self.notes.count(b"\n")


@dataclass
class Result:
    """What a campaign found."""

    plan: Plan
    begin_ns: int        # of the write command, since the drive was made
    end_ns: int
    promises: int = 0    # lines that the write command printed
    first_ns: int = 0    # of the first of them, since begin_ns
    cuts: list[Cut] = field(default_factory=list)
    states: int = 0      # different ones
    folder: Path | None = None  # with the logs and the image of the first violation

    @property
    def violations(self) -> list[Cut]:
        """The cuts that were not survived."""
        return [cut for cut in self.cuts if not cut.ok]

    @property
    def checked(self) -> int:
        """The promises that had been made before a cut, each counted once."""
        return max((cut.promises for cut in self.cuts), default=0)

    def nothing_checked(self) -> str:
        """Why the campaign says nothing of the program; empty: it does."""
        if self.checked or self.violations:
            return ""
        if not self.promises:
            return ("--write: it printed no line before it ended or was killed,"
                    " so no promise was checked: let it print a line for each"
                    " durable step, flush standard output, or give more"
                    " --seconds")
        return (f"--at: no cut came after the first of {self.promises} promises"
                f" ({self.first_ns / 1e9:.9f} s), so none was checked: give a"
                " later --at, more --cuts or more --seconds")

    def rows(self) -> list[dict[str, Any]]:
        """For JSON."""
        return [{"cut": cut.number, "instant_ns": cut.at_ns - self.begin_ns,
                 "ok": cut.ok, "notes": cut.promises,
                 "text": cut.text,
                 "replay": self.plan.command(cut.at_ns - self.begin_ns)}
                for cut in self.cuts]


class NotesLog:
    """The writer's output over time, out of the log of its drive."""

    def __init__(self, path: Path) -> None:
        log = Log(path)
        self.steps: list[tuple[int, bytes]] = []  # instant, all bytes so far
        self.begin_ns = self.end_ns = -1
        text = bytearray()
        for r in log.records:
            if not r.changes:
                continue
            data = log.data(r).rstrip(b"\0") if r.nblocks and r.kind == 1 \
                else b""
            del text[r.lba * log.block:]
            text += data
            if self.begin_ns < 0 and text.startswith(BEGIN):
                self.begin_ns = r.at_ns
            if self.begin_ns >= 0:
                self.steps.append((r.at_ns, bytes(text[len(BEGIN):])))
            if text.endswith(NOTES_END):
                self.end_ns = r.at_ns
        log.close()
        if self.begin_ns < 0 or self.end_ns < 0:
            raise UserError(f"{path}: the write command did not begin and end")

    def at(self, at_ns: int) -> bytes:
        """The whole lines that had been printed."""
        found = b""
        for when, text in self.steps:
            if when > at_ns:
                break
            found = text
        found = found.removesuffix(NOTES_END)
        return found[:found.rfind(b"\n") + 1]

    def first_ns(self) -> int:
        """When the first whole line had been printed; 0: never."""
        return next((when for when, _ in self.steps if self.at(when)), 0)


def run(plan: Plan, folder: Path) -> Result:
    """All of it; files are left in the folder."""
    plan.validate()
    parts = guests.prepare(plan)
    with rundir() as scratch:
        source = plan.recorded or folder
        if not plan.recorded:
            _record(parts, scratch, folder)
        log = Log(source / LOG)
        try:
            return _judge(parts, scratch, folder, log, NotesLog(source / NOTES))
        finally:
            log.close()


def _record(parts: guests.Parts, scratch: Path, folder: Path) -> None:
    spec = guests.recording(parts, scratch, folder / LOG, folder / NOTES)
    with Stage("recording the write command in a guest"):
        outcome = asyncio.run(guests.run(spec))
    if outcome.status != 0:
        said = " ".join(outcome.err.split())[-500:] or outcome.reason
        raise UserError(f"the run of the write command failed: {said}")
    told = json.loads(outcome.out.strip().splitlines()[-1])
    if told["status"] != 0:
        raise UserError(f"the write command ended with status"
                        f" {told['status']}: {told['text'] or 'no message'}")


def _judge(parts: guests.Parts, scratch: Path, folder: Path, log: Log,
           notes: NotesLog) -> Result:
    plan = parts.plan
    result = Result(plan, notes.begin_ns, notes.end_ns,
                    notes.at(notes.end_ns).count(b"\n"),
                    notes.first_ns() - notes.begin_ns)
    first: dict[tuple[int, int], Cut] = {}  # of each state
    images: dict[int, Path] = {}
    replayer = Replayer(log, scratch / "now.img", parts.size)
    chosen = choose(plan, log, notes.begin_ns, notes.end_ns)
    with Stage("making the images of the cuts") as stage:
        for number, at_ns in enumerate(chosen, 1):
            replayer.advance(at_ns)
            said = notes.at(at_ns)
            cut = Cut(number, at_ns, said, (replayer.changes, len(said)))
            result.cuts.append(cut)
            if cut.state not in first:
                first[cut.state] = cut
                images[number] = scratch / f"cut{number}.img"
                copy_sparse(replayer.path, images[number])
            stage.step(number, len(chosen))
    result.states = len(first)
    with Stage("checking in guests") as stage:
        asyncio.run(_check_all(parts, scratch, [
            (cut, images[cut.number]) for cut in first.values()], stage))
    for cut in result.cuts:
        same = first[cut.state]
        cut.ok, cut.text = same.ok, same.text
    if result.violations:
        worst = result.violations[0]
        copy = Replayer(log, folder / f"cut{worst.number}.img", parts.size)
        copy.advance(worst.at_ns)
    return result


def copy_sparse(source: Path, to: Path) -> None:
    """Data only; holes stay holes."""
    import os

    with source.open("rb") as a, to.open("wb") as b:
        size = os.fstat(a.fileno()).st_size
        b.truncate(size)
        at = 0
        while at < size:
            try:
                at = os.lseek(a.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(a.fileno(), at, os.SEEK_HOLE)
            a.seek(at)
            b.seek(at)
            while at < end:
                data = a.read(min(end - at, 1 << 20))
                b.write(data)
                at += len(data)


async def _check_all(parts: guests.Parts, scratch: Path,
                     left: list[tuple[Cut, Path]], stage: Stage) -> None:
    """In parallel guests of a few drives each."""
    each = min(DRIVES, -(-len(left) // parts.plan.jobs))
    batches = [left[i:i + each] for i in range(0, len(left), each)]
    free = asyncio.Semaphore(parts.plan.jobs)

    async def one(number: int, batch: list[tuple[Cut, Path]]) -> None:
        async with free:
            boots = 0
            while batch:
                boots += 1
                name = f"check{number}-{boots}"
                done = await _check_some(parts, scratch, name, batch)
                for _, image in batch[:done]:
                    image.unlink()
                    stage.add(len(left))
                batch = batch[done:]

    await asyncio.gather(*(one(i, batch) for i, batch in enumerate(batches)))


async def _check_some(parts: guests.Parts, scratch: Path, name: str,
                      batch: list[tuple[Cut, Path]]) -> int:
    """Boot a guest for these; how many have a verdict: one at least.  A guest
    that ends in a check is the verdict of that check."""
    spec = guests.checking(parts, scratch, name,
                           [(image, cut.notes) for cut, image in batch])
    outcome = await guests.run(spec)
    done, begun = 0, False
    for line in outcome.out.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if "ends" in told:
            cut = batch[done][0]
            cut.ok, cut.text = told["status"] == 0, told["text"]
            done += 1
        begun = "begins" in told
    if outcome.status == 0 and done == len(batch):
        return done
    if not begun or done == len(batch):
        said = " ".join(outcome.err.split())[-500:] or outcome.reason
        raise UserError(f"the guest of the check command failed: {said}")
    cut = batch[done][0]
    cut.ok, cut.text = False, outcome.reason
    return done + 1


def trace_lines(folder: Path, result: Result, cut: Cut) -> list[str]:
    """The last commands that the drive had seen at a cut."""
    log = Log(folder / LOG)
    found = [r.text(result.begin_ns) for r in log.records
             if r.kind in (START, END) and r.at_ns <= cut.at_ns]
    log.close()
    return found[-COMMANDS_SHOWN:]


def remove(folder: Path) -> None:
    """The files of a campaign that found nothing."""
    shutil.rmtree(folder, ignore_errors=True)
