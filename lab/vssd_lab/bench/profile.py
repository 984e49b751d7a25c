# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a request goes, by part of the program, and as a flame
graph.

vssd-sim is built with all its functions apart, so that each has a name; it is
slower than the fast build, and shares are of this build.  For the device, perf
looks at the QEMU that runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import model
from vssd.build.inputs import INPUTS, Input
from vssd.errors import UserError
from vssd.ui import Stage, say

from . import flame, sampling
from .rows import row

REQUESTS = 3_000_000
TRACE = "_trace"
# fio's load: rw=, bs=, iodepth=.
DEVICES = {"device": ("randread", "4k", 32), "device_128k": ("read", "128k", 8)}
NAMES = (*(i.name for i in INPUTS), *(i.name + TRACE for i in INPUTS), *DEVICES)
# Only what is called by this counts: not the filling of the drive.
RUN = "player_run"
# A file's part is the first that fits it.
PARTS = [(name, re.compile(pattern)) for name, pattern in (
    ("parsing", r"sim/(trace|input|fields|remap)"),
    ("generator", r"sim/(workload|arrivals|spread|source|job)|core/prng"),
    ("player", r"sim/"),
    ("event queue", r"core/eventq"),
    ("statistics", r"core/(hist|stats)|ftl/inspect/"),
    ("buffer", r"ftl/buffer/"),
    ("map", r"ftl/map/"),
    ("placement", r"ftl/placement/"),
    ("blocks", r"ftl/media/"),
    ("GC", r"ftl/gc/"),
    ("host path", r"ftl/"),
    ("NAND", r"nand/"),
    ("controller", r"hw-ssd/(nvme|rules)/"),
    ("QEMU device", r"hw-ssd/qemu/"),
    ("tables", r"core/"),
)]
KERNEL, OTHER, GUEST = "kernel", "libraries", "guest code"
DEFINITION = re.compile(r"^[A-Za-z][\w \t]*?[\s*](\w+)\(", re.M)


def part_of(frame: sampling.Frame) -> str:
    """The part of the program that a function belongs to."""
    if frame.name == sampling.KERNEL:
        return KERNEL
    if frame.name == GUEST:
        return GUEST
    for name, pattern in PARTS:
        if pattern.match(frame.file):
            return name
    return OTHER


def of_run(stacks: sampling.Stacks) -> sampling.Stacks:
    """Those of the run alone, from its call on."""
    found: sampling.Stacks = Counter()
    for stack, n in stacks.items():
        for i, frame in enumerate(stack):
            if frame.name == RUN:
                found[stack[i:]] += n
                break
    return found


def part_rows(name: str, stacks: sampling.Stacks, ns: float, what: str) \
        -> list[dict[str, Any]]:
    """A row for each part; ns: of a request in all."""
    total = sum(stacks.values())
    by_part: Counter[str] = Counter()
    for stack, n in stacks.items():
        by_part[part_of(stack[-1])] += n
    rows = [row(f"profile_{name}", ns, None, f"ns/{what}",
                f"CPU time in all; {total} samples")]
    for part, n in by_part.most_common():
        rows.append(row(f"profile_{name}_{part.replace(' ', '_').lower()}",
                        ns * n / total, ns, f"ns/{what}",
                        "peer: all; in functions of this part themselves"))
    return rows


def write(output: Path, title: str, stacks: sampling.Stacks, ns: float,
          what: str) -> None:
    """The picture, as a file."""
    boxes = Counter({tuple((f.name, part_of(f)) for f in stack): n
                     for stack, n in stacks.items()})
    output.write_text(flame.svg(
        title, boxes,
        lambda share: f"{100 * share:.1f} %, {ns * share:.0f} ns a {what}"),
        encoding="utf-8")
    say(f"flame graph: {output}")


# ---- the simulator -----------------------------------------------------------

def _args(one: Input, trace: Path | None) -> list[str]:
    common = ["--json", "--profile", str(paths.find_profile(one.profile)),
              "--fill", one.fill]
    if trace:
        return ["replay", str(trace), "--format", "ssdsim", *common]
    return ["run", "--workload", one.workload(REQUESTS), *common]


def _simulator(name: str, output: Path) -> list[dict[str, Any]]:
    one = next(i for i in INPUTS if i.name == name.removesuffix(TRACE))
    program = model.ensure(model.SAMPLED, model.SIM) / model.SIM
    with tempfile.TemporaryDirectory(prefix="vssd-profile-") as folder:
        trace = None
        if name.endswith(TRACE):
            trace = Path(folder) / "requests.txt"
            with Stage(f"{name}: writing requests as text"):
                one.write(trace, REQUESTS)
        with Stage(f"{name}: sampling {REQUESTS / 1e6:g} million requests"):
            stacks, text = sampling.sample(program, _args(one, trace))
    stacks = of_run(stacks)
    if not stacks:
        raise UserError(f"bench profile {name}: no sample of the run")
    ns = 1e9 / float(json.loads(text)["requests_per_s_cpu"])
    write(output, f"vssd-sim, {name}", stacks, ns, "request")
    return part_rows(name, stacks, ns, "request")


# ---- the device --------------------------------------------------------------

def functions() -> dict[str, str]:
    """The file of each function of the device and the model; of those whose names
    are in several files, one."""
    found: dict[str, str] = {}
    for folder in ("core", "nand", "ftl", "hw-ssd"):
        for path in sorted((paths.PROJECT / folder).rglob("*.c")):
            file = str(path.relative_to(paths.PROJECT))
            for m in DEFINITION.finditer(path.read_text(encoding="utf-8")):
                found.setdefault(m[1], file)
    return found


def device_stacks(text: str, files: dict[str, str]) -> sampling.Stacks:
    """Of `perf script -F comm,ip,sym`: thread and function.  What has no name is
    code of the guest that QEMU has translated."""
    found: sampling.Stacks = Counter()
    for line in text.splitlines():
        words = line.split()
        at = next((i for i, w in enumerate(words)
                   if re.fullmatch(r"[0-9a-f]{4,16}", w)), None)
        if at is None or at + 1 >= len(words):
            continue
        name = sampling.plain(words[at + 1])
        if int(words[at], 16) >> 63:
            frame = sampling.Frame(sampling.KERNEL)
        elif name == sampling.UNKNOWN:
            frame = sampling.Frame(GUEST)
        else:
            frame = sampling.Frame(name, files.get(name, ""))
        thread = sampling.Frame(" ".join(words[:at]) or "thread")
        found[(thread, frame)] += 1
    return found


def _device(name: str, output: Path, seconds: float) -> list[dict[str, Any]]:
    from .fio import device_of, fio
    from .idle import cpu_s
    from .vm import OURS, booted, null_drive

    workload, size, depth = DEVICES[name]
    why = sampling.perf_works()
    if why:
        raise UserError(f"bench profile {name}: needs perf (linux-perf): {why}")
    with booted(null_drive("vssd", OURS, "zero-latency")) as guest, \
            tempfile.TemporaryDirectory(prefix="vssd-profile-") as folder:
        pid, data = guest.pid, Path(folder) / "data"
        device = device_of(guest, OURS)
        result: list[float] = []
        # Blocks that were never written are not read from the array.
        guest.run(f"dd if=/dev/zero of={device} bs=128k count=2048 oflag=direct")
        load = threading.Thread(target=lambda: result.append(
            fio(guest, device, workload, depth, seconds + 4, "libaio",
                f"--bs={size}").iops))
        load.start()
        time.sleep(3)
        with Stage("fio: sampling QEMU"):
            before, begin = cpu_s(pid), time.monotonic()
            done = subprocess.run(
                ["perf", "record", "-q", "-F", str(sampling.HERTZ), "-p", str(pid),
                 "-o", str(data), "--", "sleep", f"{seconds:g}"],
                capture_output=True, text=True, check=False)
            used = (cpu_s(pid) - before) / (time.monotonic() - begin)
        load.join()
        if done.returncode != 0 or not result:
            raise UserError(f"bench profile {name}: perf cannot sample QEMU")
        stacks = device_stacks(sampling.perf_script(data, "comm,ip,sym"),
                               functions())
    ns = 1e9 * used / result[0]
    write(output, f"QEMU with vssd on null-co, fio {workload} {size} depth {depth}",
          stacks, ns, "request")
    return part_rows(name, stacks, ns, "request")


def measure(name: str, output: Path, seconds: float) -> list[dict[str, Any]]:
    """The rows of one; writes its flame graph."""
    if name in DEVICES:
        return _device(name, output, seconds)
    return _simulator(name, output)
