# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench: figures of speed, each as a ratio measured in one run.

Benchmarks are not tests: they report, and fail nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import paths
from .errors import UserError, one_line
from .ui import Stage, table

LOGIN_S = 1800


def add_parser(sub: "argparse._SubParsersAction[argparse.ArgumentParser]") \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "bench", help="measure speed, lateness, idle CPU, start-up",
        description="Measures: " + ", ".join(
            f"{k} ({v.__doc__ or ''})" for k, v in BENCHES.items()),
        epilog="Without NAME: all but those that are marked as slow.")
    p.add_argument("names", nargs="*", metavar="NAME",
                   help="one of " + ", ".join(BENCHES))
    p.add_argument("--json", action="store_true",
                   help="rows as JSON on standard output")
    p.add_argument("--repeat", type=int, default=3, metavar="N",
                   help="runs of each, in turns; the median is told"
                   " (default: 3)")
    p.add_argument("--runtime", type=int, default=3, metavar="SECONDS",
                   help="of each fio run (default: 3)")
    p.set_defaults(call=main)


def _fio(args: argparse.Namespace) -> list[dict[str, Any]]:
    """4 KiB random I/O in a guest, against QEMU's nvme"""
    from . import bench_guest, bench_vm

    drives = [bench_vm.null_drive("vssd", bench_guest.OURS, "zero-latency"),
              bench_vm.null_drive("nvme", bench_guest.PEER)]
    with bench_vm.booted(*drives) as guest, \
            Stage("fio: vssd and nvme in turns"):
        return bench_guest.speed(guest, args.repeat, args.runtime)


def _lateness(args: argparse.Namespace) -> list[dict[str, Any]]:
    """how well real time keeps to modelled time"""
    from . import bench_guest, bench_vm

    drives = [bench_vm.null_drive("vssd", bench_guest.OURS, "zero-latency"),
              bench_vm.null_drive("vssd", bench_guest.READ40, "read-40us")]
    with bench_vm.booted(*drives) as guest, Stage("fio: lateness"):
        bench_vm.reset_stats(guest, 2)
        return bench_guest.lateness(guest, 2, args.repeat, args.runtime)


def _idle(args: argparse.Namespace) -> list[dict[str, Any]]:
    """CPU time while the guest idles"""
    from . import bench_vm

    return bench_vm.idle(args.repeat)


def _icount(_args: argparse.Namespace) -> list[dict[str, Any]]:
    """lateness in virtual time"""
    from .bench_vm import row

    with tempfile.TemporaryDirectory(prefix="vssd-bench-") as name:
        stats = Path(name) / "stats.json"
        with Stage("a guest in virtual time"):
            done = subprocess.run(
                [str(paths.PROJECT / "vssd"), "run", "--icount", "--profile",
                 "read-40us", "--exec", "fio --name=i --filename=/dev/nvme0n1"
                 " --readonly --rw=randread --bs=4k --number_ios=5000"
                 " --ioengine=libaio --direct=1 --output=/dev/null",
                 "--stats", str(stats)], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(one_line(done.stderr.splitlines()[-1]))
        late = json.loads(stats.read_text())["lateness_ns"]
    return [row("icount_lateness_max", late["max"] / 1000, None, "us",
                "aim: 0")]


def _sim(args: argparse.Namespace) -> list[dict[str, Any]]:
    """requests a second, memory and start-up of vssd-sim"""
    from . import bench_sim

    return bench_sim.rows(args)


def _buffer(args: argparse.Namespace) -> list[dict[str, Any]]:
    """requests for each second of processor time with each buffer policy"""
    from . import bench_buffer

    with Stage("vssd-sim: buffer policies in turns"):
        return bench_buffer.measure(args.repeat)


def _maps(args: argparse.Namespace) -> list[dict[str, Any]]:
    """mapping schemes: requests for each second of processor time, memory"""
    from . import bench_maps

    return bench_maps.measure(args.repeat)


def _nand(_args: argparse.Namespace) -> list[dict[str, Any]]:
    """speed of the array's model, and what each of its features costs"""
    from . import bench_nand

    with Stage("the array's model, with each feature and without"):
        return bench_nand.speed()


def _scaling(_args: argparse.Namespace) -> list[dict[str, Any]]:
    """modelled throughput, channels x dies; peer: one die, times their number"""
    from . import bench_nand

    with Stage("throughput by channels and dies"):
        return bench_nand.scaling()


def _seconds_to_login(command: Path, env: dict[str, str]) -> float:
    begin = time.monotonic()
    proc = subprocess.Popen(
        [str(command), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=dict(os.environ, **env))
    assert proc.stdin and proc.stdout
    try:
        seen = b""
        while b"login: " not in seen:
            data = os.read(proc.stdout.fileno(), 65536)
            if not data or time.monotonic() - begin > LOGIN_S:
                raise UserError("./vssd run showed no login prompt")
            seen = seen[-64:] + data
        return time.monotonic() - begin
    finally:
        proc.terminate()
        proc.stdout.close()
        proc.stdin.close()
        proc.wait()


def _warm(args: argparse.Namespace) -> list[dict[str, Any]]:
    """seconds from ./vssd run to the login prompt"""
    from .bench_vm import row

    _seconds_to_login(paths.PROJECT / "vssd", {})
    with Stage("./vssd run to the login prompt"):
        runs = [_seconds_to_login(paths.PROJECT / "vssd", {})
                for _ in range(args.repeat)]
    return [row("login_warm", statistics.median(runs), None,
                "s", "median of " + ", ".join(f"{r:.1f}" for r in runs))]


def _cold(_args: argparse.Namespace) -> list[dict[str, Any]]:
    """slow: the same in a fresh clone with an empty cache"""
    from .bench_vm import row

    with tempfile.TemporaryDirectory(prefix="vssd-cold-") as name:
        clone, cache = Path(name) / "clone", Path(name) / "cache"
        done = subprocess.run(
            ["git", "clone", "-q", str(paths.PROJECT), str(clone)],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError("git clone: " + one_line(done.stderr))
        with Stage("./vssd run in a fresh clone, empty cache"):
            took = _seconds_to_login(clone / "vssd",
                                     {"VSSD_CACHE": str(cache)})
    return [row("login_cold", took, None, "s",
                "Debian packages that were there already are not counted")]


BENCHES: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]]]] = {
    "fio": _fio,
    "lateness": _lateness,
    "icount": _icount,
    "idle": _idle,
    "sim": _sim,
    "buffer": _buffer,
    "maps": _maps,
    "nand": _nand,
    "scaling": _scaling,
    "warm": _warm,
    "cold": _cold,
}
SLOW = ("cold",)


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def main(args: argparse.Namespace) -> int:
    """./vssd bench"""
    unknown = [n for n in args.names if n not in BENCHES]
    if unknown:
        raise UserError(f"no benchmark {unknown[0]!r}: one of "
                        + ", ".join(BENCHES))
    if args.repeat < 1 or args.runtime < 1:
        raise UserError("--repeat and --runtime: 1 or more")
    rows: list[dict[str, Any]] = []
    for name in args.names or [n for n in BENCHES if n not in SLOW]:
        rows += BENCHES[name](args)
    if args.json:
        json.dump(rows, sys.stdout, indent=2)
        print()
        return 0
    table("vssd bench", ["what", "ours", "peer", "ratio", "unit", "note"],
          [[r["name"], _cell(r["ours"]), _cell(r["peer"]), _cell(r["ratio"]),
            r["unit"], r["note"]] for r in rows])
    return 0
