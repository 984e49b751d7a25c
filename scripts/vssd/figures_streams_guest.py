# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with a real store.

RocksDB in a guest of Debian's, on Debian 11's kernel, which turns write hints
into streams, in virtual time: the same work comes out whatever else the machine
does.  Six runs: without and with TRIM, three ways to give files to streams, and
a drive with so much room that it stays fresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import image, machine, model, qemu_build, rocksdb
from . import figures_streams as fs
from .errors import UserError
from .figures import Context, Panel, row
from .paths import find_profile
from .proc import log_file
from .rocksdb import Conditions, Run, Store
from .rundir import rundir
from .ui import Stage

TITLE = "The multi-streamed SSD with RocksDB in a guest (Kang 2014)"
PROFILE = "kang2014-guest"
# A drive of the model too: another one's I/O would take host time, and the
# virtual clock would go on meanwhile.
ROOT_PROFILE = "zero-latency"
SEED = 2014
SCALE = 410  # of capacity
MINUTE_S = 9
SUITE = "trixie"
KERNEL_SUITE = "bullseye"
SERIAL = "VSSD0001"
AGENT = "/usr/local/lib/vssd/vssd-agent"
MEMORY_MIB = 1024
STREAMS = 4  # what the kernel's driver asks for
FRESH = "fresh"
ROOM = 8  # times as many blocks: nothing is ever cleaned
BLOCKS = 160  # of a plane, in the profile

CONDITIONS = {
    FRESH: Conditions(),
    fs.OFF: Conditions(discard=False),
    fs.ON: Conditions(),
    fs.APP: Conditions(rules=("/mnt/db/*=1",)),
    fs.LOG: Conditions(rules=("/mnt/db/*.log=1", "/mnt/db/*.sst=2")),
    fs.DATA: Conditions(hints=True),
}


@dataclass(frozen=True)
class Guests:
    """What all runs are made of."""

    qemu: qemu_build.Qemu
    root: image.Image
    kernel: image.Image  # whose kernel is booted
    store: Store
    minutes: int


# ---- one run ----------------------------------------------------------------


def options(name: str) -> list[str]:
    """Of the drive, beyond the profile."""
    found = [f"seed={SEED}"]
    if CONDITIONS[name].streams:
        found += [f"streams.max={STREAMS}", "streams.gc=merge"]
    if name == FRESH:
        info = model.drive_info(find_profile(PROFILE), [])
        room = ROOM * info["raw_bytes"] / info["capacity_bytes"] - 1
        found += [f"nand.blocks={ROOM * BLOCKS}",
                  f"ftl.op_percent={100 * room:.3f}%"]
    return found


def _spec(guests: Guests, name: str, folder: Path) -> machine.Spec:
    sets = options(name)
    profile = find_profile(PROFILE)
    data = folder / "data.raw"
    with data.open("wb") as f:
        f.truncate(model.drive_info(profile, sets)["capacity_bytes"])
    root = folder / "root.qcow2"
    image.overlay(guests.qemu.img, guests.root.disk, root)
    conditions = CONDITIONS[name]
    return machine.Spec(
        guests.qemu.emulator, "tcg",
        [machine.Drive(root, "qcow2", "vssd", find_profile(ROOT_PROFILE)),
         machine.Drive(data, "raw", "vssd", profile, sets, serial=SERIAL)],
        mem_mib=MEMORY_MIB, network=False, icount=True, seed=SEED,
        kernel=guests.kernel.kernel, initrd=guests.kernel.initrd,
        append=f"root={guests.root.root} rw console=ttyS0 quiet panic=-1"
        f" mitigations=off init={AGENT}"
        f" nvme_core.streams={int(conditions.streams)}",
        command=rocksdb.script(guests.store, conditions, SERIAL,
                               guests.minutes, MINUTE_S),
        reboot_ends=True)


async def _run(guests: Guests, name: str, progress: Any) -> Run:
    """A guest's life: it ends with the command."""
    out = {"O": bytearray(), "E": bytearray()}

    def output(kind: str, data: bytes) -> None:
        out[kind] += data
        progress(name, out["O"].count(f"{rocksdb.MARK} minute".encode()))

    with rundir() as folder:
        async with machine.running(_spec(guests, name, folder)) as m:
            m.on_output = output
            assert m.exit_status
            await m.first(m.exit_status, m.ended)
            status = m.exit_status.result() if m.exit_status.done() else None
            said = m.last_console_lines(3)
    if status is None:
        raise UserError(f"{name}: the guest ended; its console said: {said}")
    log = log_file("rocksdb-" + name.replace(" ", "-"))
    log.write_bytes(out["O"] + out["E"])
    try:
        return rocksdb.parse(out["O"].decode(errors="replace"), status)
    except UserError as e:
        raise UserError(f"{name}: {e} (log: {log})") from e


# ---- all runs ---------------------------------------------------------------


async def _all(guests: Guests, names: tuple[str, ...], jobs: int,
               stage: Stage) -> dict[str, Run]:
    turn = asyncio.Semaphore(jobs)
    at: dict[str, int] = {}

    def progress(name: str, minute: int) -> None:
        at[name] = minute
        stage.step(sum(at.values()), len(names) * guests.minutes,
                   f"{name}: minute {minute}")

    async def one(name: str) -> Run:
        async with turn:
            return await _run(guests, name, progress)

    tasks = {n: asyncio.ensure_future(one(n)) for n in names}
    try:
        await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    return {n: t.result() for n, t in tasks.items()}


def play(jobs: int, minutes: int, store: Store,
         names: tuple[str, ...] = tuple(CONDITIONS)) -> dict[str, Run]:
    """The runs of these names, `jobs` at a time."""
    guests = Guests(qemu_build.ensure(),
                    image.ensure(suite=SUITE, more=rocksdb.PACKAGES),
                    image.ensure(suite=KERNEL_SUITE), store, minutes)
    with Stage("streams-guest: RocksDB in guests") as stage:
        return asyncio.run(_all(guests, names, jobs, stage))


def whole_minutes(runs: dict[str, Run]) -> int:
    """That all runs have."""
    return min(int((r.samples[-1].at_s - r.samples[0].at_s) / MINUTE_S + 0.01)
               for r in runs.values())


def _by_minute(run: Run, minutes: int) -> tuple[Any, Any, Any]:
    """Operations so far, pages by the host and by cleaning, at the end of each
    minute; what is known for other times is interpolated."""
    begin = run.samples[0]
    at = [s.at_s - begin.at_s for s in run.samples]
    ends = np.arange(1, minutes + 1) * MINUTE_S
    ops = np.cumsum([n for _, n in run.ops])
    return (np.interp(ends, [0, *(t for t, _ in run.ops)], [0, *ops]),
            np.interp(ends, at, [s.written - begin.written
                                 for s in run.samples]),
            np.interp(ends, at, [s.copied - begin.copied
                                 for s in run.samples]))


def series(runs: dict[str, Run], minutes: int) -> dict[str, fs.Series]:
    """As the panels want them.  The fresh level is that of the drive with room
    in the minutes that are judged: the store, too, slows down until its levels
    are full, which is not the drive's doing."""
    by_minute = {n: _by_minute(r, minutes) for n, r in runs.items()}
    fresh = float(np.mean(np.diff(by_minute[FRESH][0], prepend=0)
                          [fs.late(minutes)]))
    return {
        n: fs.Series(1 + float(copied[-1] / written[-1]),
                     np.diff(ops, prepend=0), fresh, written, copied,
                     [runs[n].quantile_us(p) / 1000 for p in fs.PERCENT])
        for n, (ops, written, copied) in by_minute.items()}


# ---- panels -----------------------------------------------------------------


def _inputs(runs: dict[str, Run], store: Store) -> list[str]:
    mb = {n: (r.samples[-1].written - r.samples[0].written) * fs.PAGE / 1e6
          for n, r in runs.items()}
    full = max(s.full for r in runs.values() for s in r.samples)
    return [
        f"RocksDB's db_bench of Debian {SUITE} on the kernel of {KERNEL_SUITE}"
        f", ext4: {store.records} records of {store.record_bytes} bytes loaded,"
        " then overwritten at random, compaction by levels; memtable and files"
        f" {store.memtable >> 10} KiB; files of the system"
        f" {store.system >> 20} MiB, of which {store.system_writes_s:g} parts"
        " of 4 KiB a second are written again; the file system is"
        f" {100 * full:.0f} % full at the most",
        f"drive: profile {PROFILE}, 1/{SCALE} of 60 GB; a minute is"
        f" {MINUTE_S} s of virtual time; MB written to it after the load: "
        + ", ".join(f"{n} {v:.0f}" for n, v in mb.items())]


def _used(runs: dict[str, Run], inputs: list[str]) -> Panel:
    """Where the bytes went."""
    name = "streams"
    rows = []
    for n, run in runs.items():
        first, last = run.samples[0], run.samples[-1]
        total = sum(last.by_stream.values()) - sum(first.by_stream.values())
        for stream, nbytes in sorted(last.by_stream.items()):
            share = (nbytes - first.by_stream.get(stream, 0)) / total
            rows.append(row(name, f"{n}: share of "
                            + (f"stream {stream}" if stream > 0 else
                               "what has none"), share, "", None))
    return Panel(name, "Shares of the bytes written after the load, by stream",
                 inputs, rows)


def _explain(panel: Panel, run: Run) -> Panel:
    """What is copied for Multi-Data, where it deviates because of copies."""
    first, last = run.samples[0], run.samples[-1]
    copied = {i: n - first.copied_of.get(i, 0)
              for i, n in last.copied_of.items()}
    total = max(sum(copied.values()), 1)
    text = "; of what is copied " + ", ".join(
        f"{100 * n / total:.0f} % is "
        + (f"of stream {i}" if i > 0 else "the system's, which has none")
        for i, n in sorted(copied.items(), key=lambda x: -x[1])[:2])
    for r in panel.rows:
        if r["why"] and r["point"] in (fs.DATA, f"{fs.DATA} / {fs.OFF}"):
            r["why"] += text
    return panel


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of its results, with a store in a guest."""
    store = Store()
    wanted = max(int(fs.MINUTES * ctx.scale), 4)
    runs = play(ctx.runner.jobs, wanted, store)
    minutes = min(wanted, whole_minutes(runs))
    inputs = _inputs(runs, store)
    found = series(runs, minutes)
    yield _explain(fs.throughput(found, minutes, inputs), runs[fs.DATA])
    yield _explain(fs.copies(found, minutes, inputs), runs[fs.DATA])
    yield fs.tails(found, inputs, "of db_bench's writes, one after the other"
                   " as fast as the store takes them: what is slow is the"
                   " store's own stop, for as long as both memtables are full",
                   log=True)
    yield _used(runs, inputs)
