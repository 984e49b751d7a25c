# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd run: boot a guest from a modelled drive."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import arch, detach, ending, paths, ranges, rundir, sizes
from ..errors import UserError, one_line
from ..guest import drives, foreign, image, links, served, used
from ..proc import log_file, together
from ..ui import Stage, say

if TYPE_CHECKING:
    from ..build import qemu_build
    from ..guest import control, hardware, machine

DEFAULT_PROFILE = "pm9a3"
MOST_VFS = 31
MOST_CPUS = 255
MOST_CONTROLLERS = drives.MOST_FUNCTIONS
OUTPUTS = ("stats", "oplog", "timeline", "trace", "state", "console", "qemu_log")
EPILOG = """\
Without --disk and --kernel the guest is a small Debian that is made once and
kept in the cache.  Its root needs no password.  The guest's writes are
dropped at the end of the run, unless --keep is given.  On the console,
Ctrl-A x ends the guest.  Arguments after -- go to QEMU as they are.

examples:
  ./vssd run
  ./vssd run --profile zero-latency --exec 'nvme smart-log /dev/nvme0'
  ./vssd run --drive pm9a3,size=4G --drive zero-latency,image=db.qcow2
  ./vssd run --disk server.qcow2 --firmware ovmf --mem 4G --keep
  ./vssd run --icount --seed 7 --exec 'fio ...' --stats run.json
  ./vssd run --print-command

SIGINT and SIGTERM end the guest as if its power went; statistics are shown and
written as at any end, and the exit status is 130 or 143.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "run", help="boot a guest from a modelled drive", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--profile", default=DEFAULT_PROFILE, metavar="P",
                   help="a profile's file, or the name of a shipped one"
                   " (default: %(default)s)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="override one option of the profile; may be repeated")
    p.add_argument("--state", type=Path, metavar="FILE",
                   help="continue with the drive saved in FILE (./vssd age makes"
                   " one; a new drive if there is none), and save it there at"
                   " the end")
    drives.add_option(p)
    p.add_argument("--suite", choices=tuple(image.SUITES), metavar="SUITE",
                   help="make the built-in guest of this suite of Debian: "
                   + "; ".join(f"{k}, {v}" for k, v in image.SUITES.items())
                   + f" (default: {image.SUITE})")
    p.add_argument("--packages", default="", metavar="P,Q",
                   help="make the built-in guest with these packages of Debian"
                   " too")
    p.add_argument("--arch", choices=tuple(arch.ALL), default=arch.X86_64.name,
                   help="the guest's processor; another than that of the default"
                   " runs under TCG, without systemd"
                   " (default: %(default)s; docs/architectures.md)")
    p.add_argument("--disk", type=Path, metavar="IMAGE",
                   help="boot this raw or qcow2 image through firmware")
    p.add_argument("--firmware", choices=("seabios", "ovmf"),
                   help="boot through this firmware (default with --disk:"
                   " seabios; without: the kernel is loaded directly)")
    p.add_argument("--kernel", metavar="K",
                   help="boot this kernel instead of the image's own: a file,"
                   " or the name of one that ./vssd kernel build made")
    p.add_argument("--initrd", type=Path, metavar="I",
                   help="the initial RAM disk of --kernel")
    p.add_argument("--append", default=None, metavar="ARGS",
                   help="the kernel's command line (default: the root of the"
                   " built-in guest, console on ttyS0)")
    p.add_argument("--param", action="append", default=[], metavar="ARG",
                   help="add one argument to the kernel's command line, as"
                   " nvme_core.streams=1; may be repeated")
    p.add_argument("--exec", metavar="COMMAND", dest="command",
                   help="run one shell command in the guest, show its output,"
                   " power off, exit with its status")
    p.add_argument("--wait-network", action="store_true",
                   help="with --exec: start the command when the system is up"
                   " and the network has an address")
    p.add_argument("--name", metavar="NAME",
                   help="how other commands find this run, by their --run NAME"
                   " (default: a name is made)")
    p.add_argument("--detach", action="store_true",
                   help="run in the background; show the run's name when QEMU has"
                   " started (docs/machines.md)")
    links.add_options(p)
    p.add_argument("--icount", action="store_true",
                   help="virtual time: one vCPU, no network, and two runs with"
                   " the same --seed give the same statistics")
    p.add_argument("--seed", type=int, default=1, metavar="N",
                   help="seed of everything random (default: 1)")
    p.add_argument("--stats", metavar="FILE",
                   help="write the drive's statistics as JSON (with --drive:"
                   " those of every drive); - is standard output")
    p.add_argument("--controllers", type=int, default=1, metavar="N",
                   help="the drive has so many controllers, each a PCI function"
                   " of its own: paths to one disk (default: 1;"
                   " docs/subsystem.md)")
    p.add_argument("--sriov-vfs", type=int, default=0, metavar="N",
                   help="the drive has so many virtual functions, in a slot of"
                   " its own (default: 0; docs/sriov.md)")
    p.add_argument("--oplog", type=Path, metavar="FILE",
                   help="write all that the drive does to FILE, for ./vssd"
                   " checklog (docs/oplog.md)")
    p.add_argument("--timeline", type=Path, metavar="FILE",
                   help="write the drive's commands, operations and GC to FILE"
                   " when QEMU ends, for Perfetto (docs/timeline.md)")
    p.add_argument("--timeline-from", metavar="TIME",
                   help="the timeline begins after this modelled time"
                   " (default: 0)")
    p.add_argument("--timeline-for", metavar="TIME",
                   help="the timeline is so long (default: to the end)")
    p.add_argument("--timeline-size", metavar="BYTES",
                   help="memory for the timeline, which keeps the newest events"
                   " (default: 64MiB)")
    p.add_argument("--trace", type=Path, metavar="FILE",
                   help="record the guest's commands to the drive in FILE, for"
                   " ./vssd sim replay (docs/traces.md)")
    p.add_argument("--console", metavar="FILE",
                   help="copy the output of the serial console to FILE")
    p.add_argument("--qemu-log", metavar="FILE",
                   help="write QEMU's messages (-- -trace 'vssd_*') to FILE"
                   " instead of standard error")
    p.add_argument("--mem", default="1G", metavar="SIZE",
                   help="the guest's memory (default: 1G)")
    p.add_argument("--smp", type=int, metavar="N",
                   help="the guest's CPUs (default: 2; with --icount 1)")
    p.add_argument("--keep", action="store_true",
                   help="keep the guest's writes: in IMAGE itself, or for"
                   " the built-in guest in a file of the cache")
    p.add_argument("--server", action="store_true",
                   help="the drive is in vssd-server, the guest in Debian's own"
                   " QEMU: none is built (docs/vfio-user.md)")
    p.add_argument("--device", choices=("vssd", "nvme"), default="vssd",
                   help="nvme: QEMU's own device, to compare with")
    p.add_argument("--timeout", type=float, metavar="SECONDS",
                   help="with --exec: end the guest after so long, status 124")
    p.add_argument("--print-command", action="store_true",
                   help="print QEMU's whole command line, for a shell, instead"
                   " of running it; its guest's writes are dropped, too,"
                   " unless --keep is given")
    p.add_argument("qemu", nargs="*", metavar="-- QEMU-ARGUMENT",
                   help=argparse.SUPPRESS)
    p.set_defaults(call=main, check_arguments=check)


def mebibytes(text: str) -> int:
    """--mem as QEMU takes it: MiB, or with a suffix."""
    mib, rest = divmod(sizes.read("--mem ", text, 64 << 20, 1 << 40, bare="M"),
                       1 << 20)
    if rest:
        raise UserError(f"--mem {text}: allowed in steps of 1 MiB, as 512M")
    return mib


def check(args: argparse.Namespace) -> None:
    """Errors that can be found before the run."""
    args.arch = arch.ALL[args.arch]
    if args.kernel:
        from ..build import kernel_build
        args.kernel = kernel_build.find(args.kernel)
        foreign.check_kernel(args.kernel, args.arch)
    if args.arch is not arch.X86_64:
        foreign.check(args)
    for name in ("disk", "initrd"):
        path = getattr(args, name)
        if path and not path.is_file():
            raise UserError(f"--{name} {path}: no such file")
    for name in ("suite", "packages"):
        if getattr(args, name) and args.disk:
            raise UserError(f"--{name} and --disk exclude each other")
    image.check_packages(args.packages)
    if args.param and (args.firmware or args.disk):
        raise UserError("--param needs a kernel that is loaded directly: not"
                        " --firmware or --disk")
    if args.initrd and not args.kernel:
        raise UserError("--initrd needs --kernel")
    if args.kernel and args.firmware:
        raise UserError("--kernel and --firmware exclude each other")
    if args.oplog and args.device != "vssd":
        raise UserError("--oplog needs --device vssd")
    if args.timeline and args.device != "vssd":
        raise UserError("--timeline needs --device vssd")
    for key in _timeline_options(args):
        if not args.timeline:
            raise UserError(f"--timeline-{key} needs --timeline")
    ranges.check("--controllers", args.controllers, 1, MOST_CONTROLLERS)
    if args.controllers > 1 and args.device != "vssd":
        raise UserError("--controllers: only with --device vssd")
    ranges.check("--sriov-vfs", args.sriov_vfs, 0, MOST_VFS)
    if args.sriov_vfs and args.device != "vssd":
        raise UserError("--sriov-vfs: only with --device vssd")
    if args.name is not None:
        rundir.check_name(args.name)
    links.check(args)
    _check_server(args)
    args.further = drives.check_all(args.drive, args.controllers)
    _check_ends(args)
    if args.smp is None:
        args.smp = 1 if args.icount else 2
    ranges.check("--smp", args.smp, 1, MOST_CPUS)
    if args.icount and args.smp != 1:
        raise UserError(f"--smp {args.smp}: with --icount only 1, since virtual"
                        " time has one CPU")
    ranges.check("--seed", args.seed, 0, ranges.MOST_SEED)
    if args.trace and args.device != "vssd":
        raise UserError("--trace: only with --device vssd")
    for one in args.set:
        if "=" not in one or ";" in one:
            raise UserError(f"--set {one}: give KEY=VALUE")
    mebibytes(args.mem)
    paths.find_profile(args.profile)
    for name in OUTPUTS:
        paths.check_output("--" + name.replace("_", "-"), getattr(args, name))


def _check_server(args: argparse.Namespace) -> None:
    """What only the device in QEMU has."""
    if not args.server:
        return
    for option, given in (
            ("--icount", args.icount), ("--drive", args.drive),
            ("--sriov-vfs", args.sriov_vfs),
            ("--device nvme", args.device != "vssd"),
            ("--print-command", args.print_command),
            ("-incoming", "-incoming" in args.qemu)):
        if given:
            raise UserError(f"{option}: not with --server (docs/vfio-user.md)")
    if args.disk:
        served.need_raw(args.disk, image_format(args.disk), "--disk")


def _timeline_options(args: argparse.Namespace) -> dict[str, str]:
    """Those that are given, by what follows timeline_ in the property."""
    given = {key: getattr(args, f"timeline_{key}")
             for key in ("from", "for", "size")}
    return {key: value for key, value in given.items() if value}


def _check_ends(args: argparse.Namespace) -> None:
    """Options of the course and the end of the run."""
    if args.command is not None and not args.command.strip():
        raise UserError("--exec: give a command")
    if args.wait_network and args.command is None:
        raise UserError("--wait-network: only with --exec; other runs wait")
    if args.wait_network and args.icount:
        raise UserError("--wait-network: not with --icount, whose guest has no"
                        " network")
    if args.timeout is not None and args.command is None:
        raise UserError("--timeout: only with --exec")
    if args.timeout is not None:
        ranges.check_seconds("--timeout", args.timeout)
    if args.detach:
        for option, given in (("--exec", args.command is not None),
                              ("--print-command", args.print_command),
                              ("--stats -", args.stats == "-")):
            if given:
                raise UserError(f"{option}: not with --detach, which leaves the"
                                " terminal; ./vssd exec runs commands")
    if args.print_command:
        for name in ("command", "stats", "console", "qemu_log", "name"):
            if getattr(args, name) is not None:
                option = {"command": "exec"}.get(name, name.replace("_", "-"))
                raise UserError(f"--{option}: not with --print-command, which"
                                " only prints how QEMU is started")
        drives.refuse_used(args.further, "--print-command")
        for one in args.further:
            if not one.image:
                raise UserError(f"--drive {one.text}: with --print-command,"
                                " give image=FILE")


def image_format(path: Path, option: str = "--disk") -> str:
    """raw or qcow2, by the first bytes of the file."""
    try:
        with open(path, "rb") as f:
            head = f.read(4)
    except OSError as e:
        raise UserError(f"{option} {path}: {e.strerror}") from e
    if head in (b"KDMV", b"vhdx", b"conectix"[:4], b"<<< "):
        raise UserError(f"{option} {path}: convert it first, with qemu-img"
                        " convert -O qcow2")
    return "qcow2" if head == b"QFI\xfb" else "raw"


@contextlib.contextmanager
def prepared(args: argparse.Namespace) -> Iterator[hardware.Spec]:
    """The machine's description; its files live as long as the context."""
    from ..guest import hardware, kvm

    qemu, built_in = _parts(args)
    with rundir.rundir() as folder, contextlib.ExitStack() as ends:
        if args.disk:
            backing, fmt = args.disk, image_format(args.disk)
        else:
            assert built_in
            backing, fmt = built_in.disk, "raw"
        held = claim_files(args, built_in)
        args.folder = folder
        first = _served if args.server else _first
        drive = ends.enter_context(first(args, qemu, built_in, backing, fmt))
        spec = hardware.Spec(
            qemu.emulator, "tcg" if args.icount else kvm.accelerator(qemu),
            [drive, *further(args, qemu, folder)], mebibytes(args.mem),
            args.smp, arch=args.arch, network=not args.icount,
            icount=args.icount, seed=args.seed, command=args.command,
            early=args.command is not None and not args.wait_network
            and not args.icount,
            serve=args.command is None and not args.print_command,
            ports=links.with_ports(args),
            reboot_ends=args.command is not None,
            pause_at_end=not args.print_command,
            extra=([] if args.print_command
                   else monitor(folder, rundir.VMM if args.server
                                 else rundir.MONITOR))
            + links.share_arguments(args.shares) + args.qemu,
            confined=links.confines(args.shares))
        _boot(args, spec, built_in, folder)
        args.setup = links.setup_script(
            args.shares, args.ssh is not None,
            links.START_SSH if args.arch is arch.X86_64 else foreign.START_SSH)
        if args.setup and args.command is not None:
            spec.command = f"{args.setup}\n{args.command}"
        try:
            yield spec
        finally:
            for fd in held:
                os.close(fd)


def _parts(args: argparse.Namespace) \
        -> tuple[qemu_build.Qemu, image.Image | None]:
    """QEMU, and the image of the built-in guest."""
    from ..build import emulator, packages, qemu_package

    def qemu() -> qemu_build.Qemu:
        return qemu_package.ensure_vfio_user() if args.server \
            else emulator.ensure(args.arch)

    if not args.server:
        emulator.check()
    if args.disk:
        return qemu(), None
    if not args.server and not emulator.is_made(args.arch):
        packages.ensure(*packages.setup_groups())  # in one go
    return together(qemu, lambda: _built_in(args))


def _built_in(args: argparse.Namespace) -> image.Image:
    """The image of the built-in guest."""
    more = image.check_packages(args.packages)
    if args.arch is not arch.X86_64:
        return foreign.ensure(args.arch, more)
    return image.ensure(suite=args.suite or image.SUITE, more=more)


def _sets(args: argparse.Namespace) -> list[str]:
    """Options of the model, with the seed."""
    sets = list(args.set)
    if not any(s.startswith("seed=") for s in sets):
        sets.append(f"seed={args.seed}")
    return sets


@contextlib.contextmanager
def _first(args: argparse.Namespace, qemu: qemu_build.Qemu,
           built_in: image.Image | None, backing: Path, fmt: str) \
        -> Iterator[hardware.Drive]:
    """The first drive, a device of QEMU."""
    from ..guest import hardware

    path = args.folder / "drive.qcow2"
    if args.keep:
        path, fmt = _kept(args, qemu, built_in, backing, fmt)
    elif args.print_command:
        path = backing.resolve()
    else:
        image.overlay(qemu.img, backing, path, fmt)
        fmt = "qcow2"
    yield hardware.Drive(path, fmt, args.device,
                        paths.find_profile(args.profile), _sets(args),
                        state=args.state, oplog=args.oplog,
                        timeline=args.timeline,
                        timeline_options=_timeline_options(args),
                        trace=args.trace, live=_live(args, args.folder, 0),
                        controllers=args.controllers,
                        sriov_vfs=args.sriov_vfs,
                        forget=args.print_command and not args.keep)


@contextlib.contextmanager
def _served(args: argparse.Namespace, _qemu: qemu_build.Qemu,
            built_in: image.Image | None, backing: Path, _fmt: str) \
        -> Iterator[hardware.Drive]:
    """The first drive, in a process of its own."""
    from ..build import vfio_server
    from ..guest import hardware

    program = vfio_server.ensure()
    if not args.keep:
        served.need_space(args.folder, backing)
        path = served.copy_image(backing, args.folder / "drive.raw")
    elif built_in:
        path = served.kept_image(_kept_file(built_in).with_suffix(".raw"),
                                 backing)
    else:
        path = args.disk.resolve()
    profile = paths.find_profile(args.profile)
    properties = {name: str(file.absolute())
                  for name in ("oplog", "timeline", "trace")
                  if (file := getattr(args, name))}
    properties["live"] = str(args.folder / f"{rundir.LIVE}ssd0")
    properties |= {f"timeline_{key}": text
                   for key, text in _timeline_options(args).items()}
    with served.serving(program, served.Options(
            profile, path, _sets(args), args.state, properties=properties,
            controllers=args.controllers), args.folder) as found:
        yield hardware.Drive(path, "raw", "vfio-user-pci", profile,
                            controllers=args.controllers, server=found)


def _image(file: Path, qemu: qemu_build.Qemu, overlay: Path, keep: bool) \
        -> tuple[Path, str]:
    """The file that takes the guest's writes, and its format."""
    fmt = image_format(file, "--drive image")
    if keep:
        return file.resolve(), fmt
    image.overlay(qemu.img, file, overlay, fmt)
    return overlay, "qcow2"


def _live(args: argparse.Namespace, folder: Path, i: int) -> Path | None:
    """The file by which ./vssd watch finds the drive; a command that is printed
    outlives the folder."""
    return None if args.print_command else folder / f"{rundir.LIVE}ssd{i}"


def further(args: argparse.Namespace, qemu: qemu_build.Qemu, folder: Path,
            first: int = 1) -> list[hardware.Drive]:
    """The drives of --drive, from ssd<first> on; each has a seed of its own."""
    from ..guest import hardware

    found = []
    for i, one in enumerate(args.further, first):
        path, fmt = folder / f"drive{i}.img", "raw"
        images = [_image(file, qemu, folder / hardware.node_of(f"drive{i}.img", nsid),
                         args.keep or args.print_command)
                  for nsid, file in enumerate(one.images, 1)]
        if images:
            path, fmt = images[0]
        else:
            drives.blank(one, path)
        state = one.files.get("state")
        if one.used:
            state = used.copy(one.profile, one.sets, one.used,
                              folder / f"drive{i}.state")
        sets = one.sets + ([] if any(s.startswith("seed=") for s in one.sets)
                           else [f"seed={args.seed + i}"])
        found.append(hardware.Drive(
            path, fmt, "vssd", one.profile, sets, more=images[1:],
            properties=one.properties,
            serial=one.serial, state=state, oplog=one.files.get("oplog"),
            trace=one.files.get("trace"), live=_live(args, folder, i), slot=True,
            forget=args.print_command and not args.keep))
    return found


def claim_files(args: argparse.Namespace, built_in: image.Image | None) \
        -> list[int]:
    """One run at a time writes an image or a state."""
    if args.print_command:
        return []
    held = drives.claim(args.further, args.keep)
    if args.disk:
        held.append(paths.claim("--disk", args.disk, shared=not args.keep))
    elif args.keep:
        assert built_in
        held.append(paths.claim("--keep", _kept_file(built_in)))
    if args.state:
        held.append(paths.claim("--state", args.state))
    return held


def _kept_file(built_in: image.Image) -> Path:
    return paths.cache_dir() / f"kept-{built_in.key}.qcow2"


def monitor(folder: Path, name: str = rundir.MONITOR) -> list[str]:
    """A monitor for ./vssd powercut, where a socket's name is not too long."""
    path = str(folder / name)
    if len(path) > 100:
        return []
    return ["-chardev", "socket,id=control,server=on,wait=off,path="
            + path.replace(",", ",,"), "-qmp", "chardev:control"]


def _kept(args: argparse.Namespace, qemu: qemu_build.Qemu,
          built_in: image.Image | None, backing: Path, fmt: str) \
        -> tuple[Path, str]:
    if built_in is None:
        if not os.access(backing, os.W_OK):
            raise UserError(f"--keep: {backing} cannot be written")
        return backing.resolve(), fmt
    path = _kept_file(built_in)
    if args.print_command:
        if not path.exists():
            raise UserError("--print-command makes no file, and --keep has"
                            " none yet: run once with --keep")
        return path, "qcow2"
    if not path.exists():
        part = path.with_suffix(".part")
        image.overlay(qemu.img, backing, part, fmt)
        part.rename(path)
    say(f"keeps the guest's writes in {path}")
    return path, "qcow2"


def _boot(args: argparse.Namespace, spec: hardware.Spec,
          built_in: image.Image | None, folder: Path) -> None:
    root = f"root={built_in.root} rw " if built_in else ""
    default = root + args.arch.kernel_command_line
    if args.command is not None:
        default += " panic=-1"
    spec.append = " ".join([default if args.append is None else args.append,
                            *args.param])
    if args.kernel:
        spec.kernel = Path(args.kernel).absolute()
        spec.initrd = args.initrd and args.initrd.absolute()
    elif args.firmware or args.disk:
        spec.firmware = args.firmware or "seabios"
        if spec.firmware == "ovmf" and not args.print_command:
            from ..guest import hardware

            spec.ovmf_vars = folder / "vars.fd"
            shutil.copy(hardware.find_ovmf_vars(), spec.ovmf_vars)
    else:
        assert built_in
        spec.kernel, spec.initrd = built_in.kernel, built_in.initrd


async def _execute(m: machine.Machine, timeout_s: float | None) -> int:
    """Run the guest that runs a command; the command's status."""
    def output(kind: str, data: bytes) -> None:
        stream = sys.stdout if kind == "O" else sys.stderr
        stream.buffer.write(data)
        stream.buffer.flush()

    m.on_output = output
    assert m.exit_status
    how = "in virtual time" if m.spec.icount else f"with {m.spec.accel.upper()}"
    with Stage(f"booting the guest {how}") as stage:
        m.on_console = lambda _: stage.note(m.last_console_lines()[:60])
        up = await m.first(m.greeted, m.ended, timeout_s=timeout_s or 900)
    if m.interrupted:
        return 128 + m.interrupted
    if m.end_reason == "QEMU ended":
        raise UserError(await m.why_it_ended())
    if not up or not m.greeted.is_set():
        raise UserError("the guest did not come up to run the command"
                        f" ({m.end_reason or 'time is up'}); its console said:"
                        f" {m.last_console_lines(3)}"
                        f" (all of it: {await m.keep_evidence()})")
    if not await m.first(m.exit_status, m.ended, m.restarted,
                         timeout_s=timeout_s):
        say(f"the command took longer than {timeout_s:g} s")
        return ending.TIMED_OUT
    if m.interrupted:
        return 128 + m.interrupted
    if m.end_reason == "QEMU ended" and not m.exit_status.done():
        raise UserError(await m.why_it_ended())
    if not m.exit_status.done() and not m.ended.is_set():
        raise UserError("the guest restarted before the command ended")
    if not m.exit_status.done():
        raise UserError(f"the guest ended ({m.end_reason}) before the command;"
                        f" its console said: {m.last_console_lines(3)}")
    await m.first(m.ended, timeout_s=120)
    return m.exit_status.result()


# What a terminal would obey, in bytes: a message may come in pieces.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


class Logs:
    """Where a run's streams go while it lasts."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.console_file = self._open("--console", args.console)
        self.qemu_file = self._open("--qemu-log", args.qemu_log)

    @staticmethod
    def _open(option: str, name: str | None) -> FileIO | None:
        try:
            return open(name, "wb", buffering=0) if name else None
        except OSError as e:
            raise UserError(f"{option} {name}: {e.strerror}") from e

    def console(self, data: bytes) -> None:
        """The output of the serial console."""
        if self.console_file:
            self.console_file = _written("--console", self.console_file, data)

    def qemu(self, data: bytes) -> None:
        """The messages of QEMU."""
        if self.qemu_file:
            self.qemu_file = _written("--qemu-log", self.qemu_file, data)
            return
        data = _CONTROL.sub(lambda c: b"\\x%02x" % c[0][0], data)
        if os.isatty(sys.stderr.fileno()):
            data = data.replace(b"\n", b"\r\n")  # it may be in raw mode
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


def _written(option: str, file: FileIO, data: bytes) -> FileIO | None:
    """The file; None when it takes no more, which is said once."""
    try:
        while data:
            data = data[file.write(data) or 0:]
        return file
    except OSError as e:
        say(f"{option} {file.name}: {e.strerror}; no more is written there")
        return None


def facts(args: argparse.Namespace, spec: hardware.Spec) -> dict[str, object]:
    """What the run says of itself to other commands (docs/machines.md)."""
    ssh = spec.ports[-1][0] if args.ssh is not None else None
    return {
        "name": args.name or args.folder.name, "pid": os.getpid(),
        "started": int(time.time()), "detached": args.detach,
        "arch": spec.arch.name,
        "accel": spec.accel, "icount": spec.icount, "smp": spec.smp,
        "keep": args.keep,
        "mem_mib": spec.mem_mib, "ssh_port": ssh,
        "ports": [list(pair) for pair in spec.ports],
        "shares": [[str(s.folder), s.at] for s in args.shares],
        "drives": [{"id": f"ssd{i}", "device": d.device,
                    "profile": d.profile.stem if d.profile else "",
                    "serial": d.serial or f"VSSD{i:04d}"}
                   for i, d in enumerate(spec.drives)],
        "log": str(detached_log(args.name or args.folder.name))
        if args.detach else ""}


def detached_log(name: str) -> Path:
    """Where a detached run's messages and summary go."""
    return log_file(f"run-{name}")


async def _session(args: argparse.Namespace, spec: hardware.Spec,
                   logs: Logs, started: Callable[[], None]) -> int:
    from ..guest import control, machine, report
    from ..watch import spare

    status = 0
    async with machine.running(spec, heed=True) as m:
        m.show_stderr(logs.qemu)
        rundir.describe(args.folder, facts(args, spec))
        served = control.Control(m, args.folder, args.setup) \
            if spec.serve else None

        def copy(data: bytes) -> None:
            logs.console(data)
            if served:
                served.console(data)

        m.console_copy = copy
        if served:
            await served.start()
        started()
        try:
            status = await _course(args, m, served)
        finally:
            if served:
                served.stop()
        if m.interrupted:
            status = 128 + m.interrupted
            say(f"ended by {m.end_reason}")
        elif m.end_reason == "QEMU ended":
            raise UserError(await m.why_it_ended())
        stats = await _last_stats(m)
    if problem := m.failure():
        say(problem)
        status = status or ending.FAILED
    if stats:
        if args.stats:
            report.write(report.as_one(stats), args.stats)
        say(report.summary_of_all(stats, spec.icount))
        if more := spare.advice(spec.drives, list(stats)):
            say(more)
    return status


async def _last_stats(m: machine.Machine) -> dict[str, dict[str, Any]]:
    from qemu.qmp import QMPError

    try:
        return await m.all_stats()
    except (QMPError, UserError, OSError) as e:
        if not m.interrupted:
            raise
        say(f"no statistics: QEMU was killed ({one_line(str(e))})")
        return {}


async def _course(args: argparse.Namespace, m: machine.Machine,
                  served: control.Control | None) -> int:
    """From the start of the guest to its end."""
    from ..guest import console

    if args.command is not None:
        return await _execute(m, args.timeout)
    assert served
    watch = asyncio.create_task(_watch_setup(served))
    if args.detach:
        await m.ended.wait()
    elif os.isatty(console.STDIN):
        say("the guest's console follows; Ctrl-A x ends the guest")
        await console.relay_terminal(m)
    else:
        await console.relay_pipe(m)
    watch.cancel()
    return 0


async def _watch_setup(served: control.Control) -> None:
    if problem := await served.set_up():
        say(f"--share or --ssh: the guest's set-up failed: {problem}")


def main(args: argparse.Namespace) -> int:
    """./vssd run"""
    if args.detach:
        return detach.run(lambda started: _run(args, started))
    return _run(args, lambda _name, _log: None)


def _run(args: argparse.Namespace, started: Callable[[str, Path], None]) -> int:
    with prepared(args) as spec:
        if args.print_command:
            from ..guest import hardware

            print(shlex.join([*hardware.command_line(spec), "-serial",
                              "mon:stdio"]))
            return 0
        name = args.name or args.folder.name
        return asyncio.run(_session(args, spec, Logs(args),
                                    lambda: started(name, detached_log(name))))
