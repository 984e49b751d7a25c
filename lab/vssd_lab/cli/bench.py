# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench: figures of speed, each as a ratio measured in one run.

Benchmarks are not tests: they report, and fail nothing.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from vssd import origin, paths, ranges
from vssd.errors import UserError
from vssd.nearest import hint
from vssd.ui import say, table

Row = dict[str, Any]
Rows = list[Row]


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "bench", help="measure speed, lateness, idle CPU, start-up",
        description="Measures: " + ", ".join(
            f"{k} ({v.__doc__ or ''})" for k, v in BENCHES.items()),
        epilog="Without NAME: all but peer and those that are marked as slow."
        "  'profile ROW' samples one load and writes a flame graph; ROW is one of "
        + ", ".join(PROFILES) + ".")
    p.add_argument("names", nargs="*", metavar="NAME",
                   help="one of " + ", ".join(BENCHES)
                   + "; or profile ROW")
    p.add_argument("--json", action="store_true",
                   help="origin and rows as JSON on standard output")
    p.add_argument("--report", type=Path, metavar="FILE",
                   help="write rows, host and versions to FILE, Markdown to"
                   " attach to an issue; without NAME: of " + ", ".join(REPORTED))
    p.add_argument("--repeat", type=int, default=3, metavar="N",
                   help="runs of each, in turns; the median is told"
                   " (default: 3)")
    p.add_argument("--runtime", type=int, default=3, metavar="SECONDS",
                   help="of each fio run (default: 3)")
    p.add_argument("--write", action="store_true",
                   help="write this machine's figures to " + PAGE + ": of "
                   + ", ".join(WRITTEN) + ", of the server and of the peers")
    p.add_argument("--peer", action="append", default=[], metavar="NAME=PATH",
                   help="femu (a qemu-system-x86_64 with the device femu): with"
                   " fio, the rows of peer, too; mqsim (MQSim's program): of sim;"
                   " may be repeated")
    p.add_argument("--server", action="store_true",
                   help="of fio, idle, warm, cold: measure vssd-server, in fio"
                   " against the device in QEMU (docs/vfio-user.md)")
    p.add_argument("--suite", action="append", default=[],
                   metavar="NAME[=CHECKOUT]",
                   help="of conformance: this suite, of Debian's source package"
                   " or of a checkout; may be repeated (default: all that"
                   " Debian has)")
    p.add_argument("--output", metavar="FILE",
                   help="of profile: the flame graph, SVG"
                   " (default: profile-ROW.svg)")
    p.set_defaults(call=main, check_arguments=check)


def _fio(args: argparse.Namespace) -> Iterable[Row]:
    """I/O in a guest, against QEMU's nvme and null_blk"""
    from ..bench import fio, server

    if args.server:
        yield from server.speed(args.repeat, args.runtime)
        return
    yield from fio.measure(args.repeat, args.runtime)


def _peer(args: argparse.Namespace) -> Iterable[Row]:
    """IOPS, lateness and CPU against FEMU; with --peer femu=PATH only"""
    from ..bench import peer

    yield from peer.measure(_peers(args)[FEMU], args.repeat, args.runtime)


def _lateness(args: argparse.Namespace) -> Iterable[Row]:
    """how well real time keeps to modelled time"""
    from ..bench import lateness

    return lateness.measure(args.repeat, args.runtime)


def _idle(args: argparse.Namespace) -> Rows:
    """CPU time while the guest idles"""
    from ..bench import idle, server

    if args.server:
        return server.idle(args.repeat)
    return idle.measure(args.repeat)


def _watch(args: argparse.Namespace) -> Rows:
    """IOPS of a guest while its statistics are read at 10 Hz"""
    from ..bench import watch

    return watch.measure(args.repeat, args.runtime)


def _icount(_args: argparse.Namespace) -> Rows:
    """lateness in virtual time"""
    from ..bench import icount

    return icount.measure()


def _sim(args: argparse.Namespace) -> Rows:
    """requests a second, memory and start-up of vssd-sim"""
    from ..bench import sim

    return sim.measure(args.repeat, _peers(args).get(MQSIM))


def _buffer(args: argparse.Namespace) -> Rows:
    """requests for each second of processor time with each buffer policy"""
    from ..bench import buffer

    return buffer.measure(args.repeat)


def _maps(args: argparse.Namespace) -> Rows:
    """mapping schemes: requests for each second of processor time, memory"""
    from ..bench import maps

    return maps.measure(args.repeat)


def _nand(_args: argparse.Namespace) -> Rows:
    """speed of the array's model, and the cost of each of its features"""
    from ..bench import nand

    return nand.speed()


def _scaling(_args: argparse.Namespace) -> Rows:
    """modelled throughput, channels x dies; peer: one die, times their number"""
    from ..bench import nand

    return nand.scaling()


def _warm(args: argparse.Namespace) -> Rows:
    """seconds from ./vssd run to the login prompt"""
    from ..bench import login

    return login.warm(args.repeat, _served(args))


def _cold(args: argparse.Namespace) -> Rows:
    """slow: the same in a fresh clone with an empty cache"""
    from ..bench import login

    return login.cold(_served(args))


def _served(args: argparse.Namespace) -> list[str]:
    """The option for ./vssd run."""
    return ["--server"] if args.server else []


def _conformance(args: argparse.Namespace) -> Rows:
    """slow: tests of other projects on the drive, against QEMU's nvme"""
    from ..bench import conformance

    return conformance.measure(args.suite)


BENCHES: dict[str, Callable[[argparse.Namespace], Iterable[Row]]] = {
    "fio": _fio,
    "peer": _peer,
    "lateness": _lateness,
    "watch": _watch,
    "icount": _icount,
    "idle": _idle,
    "sim": _sim,
    "buffer": _buffer,
    "maps": _maps,
    "nand": _nand,
    "scaling": _scaling,
    "warm": _warm,
    "cold": _cold,
    "conformance": _conformance,
}
SERVED = ("fio", "idle", "warm", "cold")
SLOW = ("cold", "conformance")
PEER = "peer"  # with --peer femu=PATH
FEMU, MQSIM = "femu", "mqsim"
PEERS = {FEMU: ("fio", PEER), MQSIM: ("sim",)}  # what each goes with
# Of --report without NAME: those in which a guest's accelerator counts, and the
# simulator as a measure of the processor.
REPORTED = ("sim", "warm", "fio", "lateness", "idle")
PAGE = "docs/results/performance.md"
PAGE_FILE = paths.PROJECT / PAGE
WRITTEN = ("sim", "buffer", "maps", "nand", "scaling", "warm", "fio", "lateness",
           "watch", "icount", "idle")
PROFILE = "profile"
PROFILES = ("read", "write", "gc", "read_trace", "write_trace", "gc_trace",
            "device", "device_128k")


def _cell(value: float | str | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _peers(args: argparse.Namespace) -> dict[str, Path]:
    """The programs of --peer, by name."""
    found = {}
    for text in args.peer:
        name, _, path = text.partition("=")
        if name not in PEERS or not path:
            raise UserError(f"--peer {text}: allowed "
                            + ", ".join(f"{n}=PATH" for n in PEERS))
        found[name] = Path(path)
    return found


def _profile(args: argparse.Namespace) -> Rows:
    from ..bench import profile

    allowed = ", ".join(profile.NAMES)
    if len(args.names) != 2:
        raise UserError(f"bench profile: name one load: {allowed}")
    name = args.names[1]
    if name not in profile.NAMES:
        raise UserError(f"bench profile: no load {name!r}: one of {allowed}")
    output = args.output or f"profile-{name}.svg"
    paths.check_output("--output", output)
    return profile.measure(name, Path(output), args.runtime)


def _cells(rows: Rows) -> list[list[str]]:
    return [[r["name"], _cell(r["ours"]), _cell(r["peer"]), _cell(r["ratio"]),
             r["unit"], r["note"]] for r in rows]


def _show(rows: Rows, as_json: bool) -> int:
    measured = sum(r["ours"] is not None for r in rows)
    if as_json:
        origin.write({"measured": measured, "rows": rows})
        return 0
    table(f"{origin.version_text()} bench", ["what", "ours", "peer", "ratio", "unit", "note"],
          _cells(rows))
    print(f"measured: {measured} of {len(rows)} rows")
    return 0


def _judge(rows: Rows, names: list[str]) -> int:
    """No benchmark may end well without a figure."""
    if not any(r["ours"] is not None for r in rows):
        raise UserError(f"bench {' '.join(names)}: nothing was measured; see"
                        " the notes of its rows, or give other names")
    return 0


def check(args: argparse.Namespace) -> None:
    """Names and options that do not go together."""
    if args.names[:1] == [PROFILE]:
        ranges.check("--runtime", args.runtime, 1)
        if args.report:
            raise UserError("--report: not with profile")
        return
    if args.output:
        raise UserError("--output: only with profile")
    paths.check_output("--report", args.report)
    unknown = [n for n in args.names if n not in BENCHES]
    if unknown:
        raise UserError(f"no benchmark {unknown[0]!r}"
                        f"{hint(unknown[0], BENCHES)}: one of " + ", ".join(BENCHES))
    ranges.check("--repeat", args.repeat, 1)
    ranges.check("--runtime", args.runtime, 1)
    if args.suite and "conformance" not in args.names:
        raise UserError("--suite: only with conformance")
    if args.write and (args.names or args.report or args.server):
        raise UserError("--write: not with NAME, --report or --server")
    names = _chosen(args)
    _check_peers(args, names)
    if args.server and not set(names) <= set(SERVED):
        raise UserError("--server: only with " + ", ".join(SERVED))


def _check_peers(args: argparse.Namespace, names: list[str]) -> None:
    peers = _peers(args)
    for name in peers:
        if not set(PEERS[name]) & set(names) or args.server:
            raise UserError(f"--peer {name}=PATH: only with "
                            + " and ".join(PEERS[name]) + ", and not with --server")
    if PEER in names and FEMU not in peers:
        raise UserError("bench peer: needs --peer femu=PATH, FEMU's emulator")


def _start_peers(args: argparse.Namespace) -> None:
    """Refuse programs that do not start."""
    from ..bench import mqsim, peer

    for name, path in _peers(args).items():
        (peer if name == FEMU else mqsim).check(path)


def _chosen(args: argparse.Namespace) -> list[str]:
    if args.write:
        return list(WRITTEN)
    if args.report and not args.names:
        return list(REPORTED)
    return args.names or [n for n in BENCHES if n not in (*SLOW, PEER)]


def main(args: argparse.Namespace) -> int:
    """./vssd bench"""
    check(args)
    if args.names[:1] == [PROFILE]:
        rows = _profile(args)
        _show(rows, args.json)
        return _judge(rows, args.names)
    names = _chosen(args)
    _start_peers(args)
    if FEMU in _peers(args) and PEER not in names:
        names = [*names, PEER]
    if args.report or args.write:
        return _report(args, names)
    rows = []
    try:
        for name in names:
            for one in BENCHES[name](args):
                rows.append(one)
    finally:
        if rows:
            _show(rows, args.json)
    return _judge(rows, names)


def _command(args: argparse.Namespace, names: list[str]) -> str:
    """The command line, without folders."""
    peers = [word for name, path in _peers(args).items()
             for word in ("--peer", f"{name}={path.name}")]
    return shlex.join(["./vssd", "bench", *(["--write"] if args.write else names),
                       *_served(args), "--repeat", str(args.repeat),
                       "--runtime", str(args.runtime), *peers])


def _report(args: argparse.Namespace, names: list[str]) -> int:
    """The rows in a file, which is written again after each benchmark; one that
    fails does not end the others."""
    from ..bench import report

    rows: Rows = []
    lost: dict[str, str] = {}
    path, kind = (PAGE_FILE, report.page) if args.write \
        else (args.report, report.text)
    where = report.host()
    served = argparse.Namespace(**{**vars(args), "server": True})
    runs = [(name, args, name) for name in names]
    if args.write:
        runs += [(n, served, n + " --server") for n in names if n in SERVED]
    for name, how, title in runs:
        try:
            for one in BENCHES[name](how):
                rows.append(one)
        except UserError as e:
            lost[title] = str(e)
        report.write(path, kind(_command(args, names), where, _cells(rows), lost))
    _show(rows, args.json)
    if args.report:
        say(f"{args.report} can be attached to an issue")
    return _judge(rows, names)
