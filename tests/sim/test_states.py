# SPDX-License-Identifier: GPL-2.0-or-later
"""A saved state has nothing in it but the drive: the same run gives the same
bytes, whatever the heap held before.

Results are kept by the bytes of a state (./vssd figures blackbox), and states
are passed on to others.  MALLOC_PERTURB_ of glibc fills new memory; the address
sanitizer has options of its own for that.  Of builds by GCC only: clang leaves
padding of structs as it was.
"""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SIM = os.environ["VSSD_SIM"]
PROFILES = Path(os.environ["VSSD_ROOT"], "profiles")
RUN = ("--workload", "rw=randrw bs=4k iodepth=16 number_ios=3000 size=16m")
PARTS = ("media.errors=on", "media.retry_levels=on",
         "media.retry_memory=block", "superblock.row=8",
         "ftl.recovery=checkpoint", "host.cores=4", "host.read_ahead=128KiB",
         "nand.async_reads=on", "thermal.resistance=5", "power.active=2000")


def state(path: Path, fill: int, profile: str, *sets: str) -> bytes:
    """After a run in which new memory has this byte."""
    options = os.environ.get("ASAN_OPTIONS", "")
    env = dict(os.environ, MALLOC_PERTURB_=str(fill),
               ASAN_OPTIONS=f"{options}:malloc_fill_byte={fill}"
               ":max_malloc_fill_size=1000000000".lstrip(":"))
    args = [word for one in sets for word in ("--set", one)]
    subprocess.run([SIM, "run", "--profile", PROFILES / f"{profile}.ini", *RUN,
                    *args, "--save-state", path], env=env, check=True,
                   capture_output=True, timeout=100)
    return path.read_bytes()


class States(unittest.TestCase):
    def same(self, profile: str, *sets: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "state")
            one, other = (state(path, fill, profile, *sets)
                          for fill in (1, 200))
        self.assertEqual(len(one), len(other))
        apart = [i for i, (a, b) in enumerate(zip(one, other)) if a != b]
        self.assertEqual(apart, [], f"of {len(one)} bytes")

    def test_page_map(self) -> None:
        self.same("tiny")

    def test_log_blocks(self) -> None:
        self.same("huang2011-s")

    def test_cached_map(self) -> None:
        self.same("c4", "ftl.map=dftl")

    def test_cache(self) -> None:
        self.same("c4", "buffer.policy=cflru")

    def test_zones(self) -> None:
        self.same("tiny", "zones.enabled=on", "ftl.alloc=in-order",
                  "buffer.plp=on", "ftl.op_percent=0%")

    def test_all_parts(self) -> None:
        self.same("980-pro", *PARTS)


if __name__ == "__main__":
    unittest.main()
