# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs are the same with the short way and without it (core/short-way.h).

Each run's operation log and latencies are compared, as digests, with those in
short-way.txt.  Builds of both kinds play this test: that of the group clang has
the general path alone.

    python3 tests/sim/test_short_way.py --write      after a change of the model
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).with_name("short-way.txt")
MIX = "rw=randrw rwmixread=30 iodepth=16"
# Name, profile, workload, options: what takes the short way, and beside it what
# must not (programs that wait for each other, suspended dies, a full buffer, a
# cache, a map in NAND, slots that are free early, writes that enter as a whole,
# forced units of a dealt row, errors).
RUNS: list[tuple[str, str, str, list[str]]] = [
    ("reads", "c4", "rw=randread bs=4k interval=3us number_ios=20000",
     ["nand.channels=1"]),
    ("writes", "c4", "rw=randwrite bs=4k size=340m interval=60us"
     " number_ios=140000", ["nand.channels=1"]),
    ("crowd", "c4", MIX + " bs=4k size=300m number_ios=30000",
     ["nand.channels=1", "buffer.size=128KiB"]),
    ("cache", "c4", MIX + " bs=4k size=64m number_ios=30000",
     ["nand.channels=1", "buffer.policy=lru", "host.complete_at=buffer"]),
    ("dftl", "c4", MIX + " bs=4k size=200m number_ios=20000",
     ["nand.channels=1", "ftl.map=dftl", "ftl.map_cache=16KiB"]),
    ("early", "c4", MIX + " bs=4k size=300m number_ios=30000",
     ["nand.channels=1", "buffer.size=64KiB", "buffer.free_at=data-in",
      "host.complete_at=buffer"]),
    ("whole", "pm9a3", "rw=randwrite bssplit=4k/70:32k/30 iodepth=32 size=300m"
     " number_ios=30000", ["nand.blocks=86", "buffer.size=1MiB",
                           "buffer.atomic=32KiB", "host.max_iops=0"]),
    ("rows", "pm9a3", MIX + " bssplit=4k/60:16k/20:512/20 size=330m"
     " number_ios=40000", ["nand.blocks=86", "buffer.size=4MiB"]),
    ("dealt", "pm9a3", MIX + " bs=4k size=200m fsync=50 number_ios=20000",
     ["nand.blocks=86", "buffer.plp=off", "host.complete_at=program"]),
    ("suspend", "pm9a3", "rw=randrw rwmixread=80 bs=4k iodepth=64 size=300m"
     " number_ios=30000", ["nand.blocks=86", "buffer.size=1MiB"]),
    ("errors", "tlc-generic", MIX + " bssplit=4k/70:64k/30 number_ios=8000",
     ["nand.blocks=160", "media.errors=on", "superblock.width=die"]),
    ("copyback", "c4", "rw=randwrite bs=4k size=340m iodepth=8"
     " number_ios=130000", ["nand.channels=1", "nand.copyback=on"]),
]


def digest(sim: str, profile: Path, workload: str, sets: list[str]) -> str:
    """The run's operations and latencies."""
    with tempfile.TemporaryDirectory(prefix="vssd-short-") as folder:
        log = Path(folder) / "oplog"
        args = [sim, "run", "--profile", str(profile), "--fill", "none",
                "--json", "--seed", "7", "--oplog", str(log), "--workload",
                workload]
        for one in sets:
            args += ["--set", one]
        done = subprocess.run(args, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(args)}: {done.stderr}")
        latency = json.loads(done.stdout)["latency_ns"]["all"]
        found = hashlib.sha256(log.read_bytes())
    found.update(json.dumps([latency["count"], latency["min"], latency["max"],
                             latency["p99"]]).encode())
    return found.hexdigest()[:16]


def main() -> int:
    """Compare all runs, or write the table."""
    sim = os.environ["VSSD_SIM"]
    root = Path(os.environ.get("VSSD_ROOT", Path(__file__).parents[2]))
    found = {name: digest(sim, root / "profiles" / f"{profile}.ini", load, sets)
             for name, profile, load, sets in RUNS}
    if "--write" in sys.argv:
        TABLE.write_text("".join(f"{k} {v}\n" for k, v in found.items()))
        return 0
    wanted = dict(line.split() for line in TABLE.read_text().splitlines())
    wrong = [name for name in found if found[name] != wanted.get(name)]
    for name in wrong:
        print(f"{name}: {found[name]}, {TABLE.name} has {wanted.get(name)}")
    if wanted.keys() != found.keys():
        print(f"{TABLE.name} has {', '.join(wanted)}")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
