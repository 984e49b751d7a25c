# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with a real store in a
guest: the runs, and their panels.

Six runs: without and with TRIM, three ways to give files to streams, and a
drive with so much room that it stays fresh.  They take place in virtual time,
so the same work comes out whatever else the machine does; or, where a store asks
for it and it works, with KVM.  A run that came to its end is kept in the folder
of the report, and not repeated.  Knows nothing of which store it is: Setting.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vssd.build import emulator, kernel_build, model, qemu_build
from vssd.build.kernel_source import Wanted
from vssd.errors import UserError
from vssd.guest import hardware, image, kvm, machine
from vssd.guest import store as guest_store
from vssd.guest.store import FADVISE, Conditions, Run, Store
from vssd.paths import find_profile, key_of
from vssd.proc import log_file
from vssd.rundir import rundir
from vssd.ui import Stage

from . import judge
from . import streams_claims as fs
from .figure import Context, Panel

PROFILE = "kang2014-guest"
# A drive of the model too: another one's I/O would take host time, and the
# virtual clock would go on meanwhile.
ROOT_PROFILE = "zero-latency"
SEED = 2014
SCALE = 410  # of capacity
MINUTE_S = 9
GC = "merge"  # streams.gc, as in the model (streams.py)
HINT_SUITE = "bullseye"  # whose kernel makes write hints streams
SERIAL = "VSSD0001"
AGENT = "/usr/local/lib/vssd/vssd-agent"
STREAMS = 4  # requests of the kernel's driver
FRESH = "fresh"
ROOM = 8  # times as many blocks: GC never runs
BLOCKS = 160  # of a plane, in the profile
BLOCK_KIB = 256  # the same
FILL = "files of the system, MiB"  # the paper names nothing beside the store
UNIT = "erase unit"  # nor its size, nor that of a flush


@dataclass(frozen=True)
class Setting:
    """A store, and the parts of its guest."""

    name: str  # of the figure
    store: Store
    conditions: dict[str, Conditions]  # of each run
    suite: str  # of the guest's programs
    packages: tuple[str, ...]
    method: str = FADVISE  # so which kernel
    memory_mib: int = 1024
    shift: int = 3  # an instruction takes 2^shift ns of virtual time
    kvm: bool = False  # where it works, instead of virtual time
    files: Path | None = None  # a file system with more programs
    files_serial: str = ""
    fills: tuple[int, ...] = ()  # values of FILL that are swept
    unit: int = 1  # planes of an erase unit: superblock.width
    units: tuple[int, ...] = ()  # others that are swept

    def of(self, **changes: int) -> Setting:
        """With changes of the store."""
        return dataclasses.replace(
            self, store=dataclasses.replace(self.store, **changes))


@dataclass(frozen=True)
class Kernel:
    """What is booted."""

    kernel: Path
    initrd: Path | None = None  # ours has none


@dataclass(frozen=True)
class Guests:
    """Parts of all runs."""

    setting: Setting
    qemu: qemu_build.Qemu
    root: image.Image
    kernel: Kernel
    minutes: int
    accel: str
    kept: Path | None = None  # where the output of finished runs is


# ---- one run ----------------------------------------------------------------


def options(name: str, conditions: Conditions, seed: int = SEED,
            unit: int = 1) -> list[str]:
    """Of the drive, beyond the profile; unit: planes of an erase unit."""
    found = [f"seed={seed}"]
    if unit > 1:
        found.append(f"superblock.width={unit}")
    if conditions.streams:
        found += [f"streams.max={STREAMS}", f"streams.gc={GC}"]
    if name == FRESH:
        info = model.drive_info(find_profile(PROFILE), [])
        room = ROOM * info["raw_bytes"] / info["capacity_bytes"] - 1
        found += [f"nand.blocks={ROOM * BLOCKS}",
                  f"ftl.op_percent={100 * room:.3f}%"]
    return found


def _drives(guests: Guests, name: str, folder: Path) -> list[hardware.Drive]:
    """The guest's root, the drive that is looked at, and more programs."""
    setting = guests.setting
    sets = options(name, setting.conditions[name], setting.store.seed,
                   setting.unit)
    profile = find_profile(PROFILE)
    data = folder / "data.raw"
    with data.open("wb") as f:
        f.truncate(model.drive_info(profile, sets)["capacity_bytes"])
    root = folder / "root.qcow2"
    image.overlay(guests.qemu.img, guests.root.disk, root)
    drives = [hardware.Drive(root, "qcow2", "vssd", find_profile(ROOT_PROFILE)),
              hardware.Drive(data, "raw", "vssd", profile, sets, serial=SERIAL)]
    if setting.files:
        files = folder / "files.qcow2"
        image.overlay(guests.qemu.img, setting.files, files)
        drives.append(hardware.Drive(files, "qcow2", "vssd",
                                    find_profile(ROOT_PROFILE),
                                    serial=setting.files_serial))
    return drives


def _spec(guests: Guests, name: str, folder: Path) -> hardware.Spec:
    setting = guests.setting
    conditions = setting.conditions[name]
    return hardware.Spec(
        guests.qemu.emulator, guests.accel, _drives(guests, name, folder),
        mem_mib=setting.memory_mib, network=False,
        icount=guests.accel == "tcg", icount_shift=setting.shift,
        seed=setting.store.seed,
        kernel=guests.kernel.kernel, initrd=guests.kernel.initrd,
        append=f"root={guests.root.root} rw {hardware.KERNEL_ARGS} quiet"
        " panic=-1"
        f" mitigations=off init={AGENT}"
        f" nvme_core.streams={int(conditions.streams)}",
        command=setting.store.script(conditions, SERIAL, guests.minutes,
                                     MINUTE_S),
        reboot_ends=True)


def _kept(guests: Guests, name: str) -> Path | None:
    """Where the output of a finished run is kept: by all that it depends on."""
    if guests.kept is None:
        return None
    setting = guests.setting
    conditions = setting.conditions[name]
    key = key_of("streams-run-1", str(guests.qemu.emulator.resolve()),
                 guests.accel, str(guests.root.folder),
                 guests.kernel.kernel.read_bytes(),
                 find_profile(PROFILE).read_bytes(), str(setting.shift),
                 *options(name, conditions, setting.store.seed, setting.unit),
                 setting.store.script(conditions, SERIAL, guests.minutes,
                                      MINUTE_S))
    return guests.kept / (f"{setting.name}-{name.replace(' ', '-')}"
                          f"-{setting.store.seed}-{key}.txt")


async def _run(guests: Guests, name: str, progress: Any) -> Run:
    """A run: kept from before, or of a guest."""
    kept = _kept(guests, name)
    if kept and kept.is_file():
        progress(name, guests.minutes)
        return guests.setting.store.parse(kept.read_text(errors="replace"))
    return await _live(guests, name, progress, kept)


async def _live(guests: Guests, name: str, progress: Any,
                kept: Path | None) -> Run:
    """A guest's life: it ends with the command."""
    out = {"O": bytearray(), "E": bytearray()}

    def output(kind: str, data: bytes) -> None:
        out[kind] += data
        progress(name, out["O"].count(f"{guest_store.MARK} minute".encode()))

    with rundir() as folder:
        async with machine.running(_spec(guests, name, folder)) as m:
            m.on_output = output
            assert m.exit_status
            await m.first(m.exit_status, m.ended)
            status = m.exit_status.result() if m.exit_status.done() else None
            said = m.last_console_lines(3)
    if status is None:
        raise UserError(f"{name}: the guest ended; its console said: {said}")
    log = log_file(f"{guests.setting.name}-{name.replace(' ', '-')}")
    log.write_bytes(out["O"] + out["E"])
    try:
        run = guests.setting.store.parse(out["O"].decode(errors="replace"),
                                         status)
    except UserError as e:
        raise UserError(f"{name}: {e} (log: {log})") from e
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(out["O"])
    return run


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


def check_memory(jobs: int, guest_mib: int, free_mib: int) -> None:
    """UserError if so many guests at a time do not fit."""
    if jobs * guest_mib > free_mib:
        raise UserError(f"{jobs} guests of {guest_mib} MiB at a time, and"
                        f" {free_mib} MiB of memory are free: --jobs"
                        f" {max(free_mib // guest_mib, 1)}, or make room")


def _free_mib() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    raise UserError("/proc/meminfo has no MemAvailable")


def accelerator(setting: Setting) -> str:
    """kvm is real time, tcg virtual time."""
    return kvm.accelerator(emulator.ensure()) if setting.kvm else "tcg"


def kernel_of(method: str) -> Kernel:
    """The kernel that has the interface; built or fetched when missing."""
    if method == FADVISE:
        return Kernel(kernel_build.ensure(Wanted()).image)
    stock = image.ensure(suite=HINT_SUITE)
    return Kernel(stock.kernel, stock.initrd)


def play(setting: Setting, jobs: int, minutes: int,
         names: tuple[str, ...] = (), kept: Path | None = None) \
        -> dict[str, Run]:
    """The runs of these names, else all, `jobs` at a time; kept is the folder
    of finished ones."""
    names = names or tuple(setting.conditions)
    qemu = emulator.ensure()
    accel = accelerator(setting)
    # In real time, other load on the machine would show.
    jobs = 1 if accel == "kvm" else min(jobs, len(names))
    check_memory(jobs, setting.memory_mib, _free_mib())
    root = image.ensure(suite=setting.suite, more=setting.packages)
    guests = Guests(setting, qemu, root, kernel_of(setting.method), minutes,
                    accel, kept)
    with Stage(f"{setting.name}: a store in guests") as stage:
        return asyncio.run(_all(guests, names, jobs, stage))


def whole_minutes(runs: dict[str, Run]) -> int:
    """That all runs have."""
    return min(int((r.samples[-1].at_s - r.samples[0].at_s) / MINUTE_S + 0.01)
               for r in runs.values())


def _by_minute(run: Run, minutes: int) -> tuple[Any, Any, Any]:
    """Operations so far, pages by the host and by GC, at the end of each
    minute; values of other times are interpolated."""
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


def _inputs(runs: dict[str, Run], store: str, virtual: bool) -> list[str]:
    mb = {n: (r.samples[-1].written - r.samples[0].written) * fs.PAGE / 1e6
          for n, r in runs.items()}
    full = max(s.full for r in runs.values() for s in r.samples)
    return [
        f"{store}; the file system is {100 * full:.0f} % full at the most",
        f"drive: profile {PROFILE}, 1/{SCALE} of 60 GB; a minute is"
        f" {MINUTE_S} s of {'virtual' if virtual else 'real'} time; MB written"
        " to it after the load: " + ", ".join(f"{n} {v:.0f}" for n, v in mb.items())]


def _used(runs: dict[str, Run], inputs: list[str]) -> Panel:
    """Where the bytes went."""
    name = "streams"
    rows = []
    for n, run in runs.items():
        first, last = run.samples[0], run.samples[-1]
        total = sum(last.by_stream.values()) - sum(first.by_stream.values())
        for stream, nbytes in sorted(last.by_stream.items()):
            share = (nbytes - first.by_stream.get(stream, 0)) / total
            rows.append(judge.shown(name, f"{n}: share of " + (
                f"stream {stream}" if stream > 0 else "what has none"), share,
                "of the first seed"))
    return Panel(name, "Shares of the bytes written after the load, by stream",
                 inputs, rows)


def explain(panel: Panel, run: Run) -> Panel:
    """Copies of Multi-Data, where it deviates because of them."""
    first, last = run.samples[0], run.samples[-1]
    copied = {i: n - first.copied_of.get(i, 0)
              for i, n in last.copied_of.items()}
    total = max(sum(copied.values()), 1)
    text = "; of what is copied " + ", ".join(
        f"{100 * n / total:.0f} % is "
        + (f"of stream {i}" if i > 0 else "the system's, which has none")
        for i, n in sorted(copied.items(), key=lambda x: -x[1])[:2])
    for r in panel.rows:
        if r["why"] and r["verdict"] and r["point"].startswith(fs.DATA):
            r["why"] += text
    return panel


def beside(panel: Panel, note: str) -> Panel:
    """The panel of a second set of runs: all of it is shown, nothing
    counted."""
    panel.rows = [judge.shown(r["panel"], r["point"], r["samples"] or None,
                              note, r["paper"]) for r in panel.rows]
    return panel


def _all_seeds(ctx: Context, setting: Setting, minutes: int) \
        -> list[dict[str, Run]]:
    """The runs of each seed, one seed after the other."""
    return [play(setting.of(seed=seed), ctx.runner.jobs, minutes,
                 kept=ctx.out and ctx.out / "guests")
            for seed in ctx.seeds(SEED)]


def _sweep(ctx: Context, setting: Setting, rows: list[judge.Row], minutes: int,
           base: list[dict[str, Run]]) -> None:
    """Add to each claim what it gives for other values of FILL and of UNIT;
    base are the judged runs, by seed."""
    used = setting.store.system >> 20
    if setting.fills:
        _sweep_of(ctx, FILL, {
            str(fill): setting.of(system=fill << 20)
            for fill in sorted({*setting.fills, used})}, str(used), rows,
            minutes, base)
    if setting.units:
        _sweep_of(ctx, UNIT, {
            _unit_text(n): dataclasses.replace(setting, unit=n)
            for n in sorted({*setting.units, setting.unit})},
            _unit_text(setting.unit), rows, minutes, base)


def _unit_text(planes: int) -> str:
    """Bytes of an erase unit of so many planes."""
    return f"{planes * BLOCK_KIB} KiB"


def _sweep_of(ctx: Context, parameter: str, values: dict[str, Setting],
              used: str, rows: list[judge.Row], minutes: int,
              base: list[dict[str, Run]]) -> None:
    """The same of one parameter."""
    claims = {(r["panel"], r["point"]): r for r in rows
              if r["kind"] == "claim"}
    found: dict[str, list[fs.Played]] = {}
    whole = {}
    for value, setting in values.items():
        seeds = ctx.sweep_seeds(SEED)
        runs = base[:len(seeds)] if value == used else [
            play(setting.of(seed=seed), ctx.runner.jobs, minutes,
                 kept=ctx.out and ctx.out / "guests") for seed in seeds]
        whole[value] = min(minutes, *map(whole_minutes, runs))
        found[value] = [series(one, whole[value]) for one in runs]
    for s in fs.STATEMENTS:
        judge.swept(claims[s.panel, s.point], parameter, {
            value: s.samples(some, whole[value])
            for value, some in found.items()}, used)


def panels(ctx: Context, setting: Setting, store: str,
           tail: str) -> Iterator[Panel]:
    """The figures of the paper's results; `store` names the store, `tail` its
    latencies."""
    wanted = max(int(fs.MINUTES * ctx.scale), 4)
    virtual = accelerator(setting) == "tcg"
    seeds = _all_seeds(ctx, setting, wanted)
    minutes = min(wanted, *(whole_minutes(runs) for runs in seeds))
    inputs = _inputs(seeds[0], store, virtual)
    found = [series(runs, minutes) for runs in seeds]
    some = [explain(fs.throughput(found, minutes, inputs), seeds[0][fs.DATA]),
            explain(fs.copies(found, minutes, inputs), seeds[0][fs.DATA]),
            fs.tails(found, minutes, inputs, tail, log=True),
            _used(seeds[0], inputs)]
    if ctx.sweeps:
        _sweep(ctx, setting, [r for p in some for r in p.rows], wanted, seeds)
    if setting.method != FADVISE:
        some = [beside(p, f"by {setting.method}s of the stock kernel of"
                       f" {HINT_SUITE}, beside the paper's interface")
                for p in some]
    yield from some
