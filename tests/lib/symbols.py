# SPDX-License-Identifier: GPL-2.0-or-later
"""libvssd exports the versioned symbols of lib/libvssd.abi and no others, and
the structs of its header are laid out as it says.

A line that goes or changes there breaks programs: the soname has to change.
`python3 symbols.py --write` writes the file.
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
ABI = ROOT / "lib/libvssd.abi"
LIBRARY = os.environ["VSSD_LIB"]


def printed(*args: str) -> str:
    return subprocess.run(args, check=True, capture_output=True,
                          text=True).stdout


def symbols() -> list[str]:
    """Name and version of each exported symbol; versions themselves left out."""
    found = []
    for line in printed("nm", "-D", "--defined-only", LIBRARY).splitlines():
        *_, kind, name = line.split()
        if kind != "A":
            found.append(name.replace("@@", " "))
    return sorted(found)


def layouts() -> list[str]:
    return printed(os.environ["VSSD_LIB_LAYOUT"]).splitlines()


def wanted() -> list[str]:
    return [line for line in ABI.read_text().splitlines()
            if line and not line.startswith("#")]


class Abi(unittest.TestCase):
    def test_as_committed(self) -> None:
        self.assertEqual(symbols() + layouts(), wanted())

    def test_only_versioned_ones(self) -> None:
        found = symbols()
        self.assertGreater(len(found), 20)
        for name in found:
            self.assertRegex(name, r"^vssd_\w+ VSSD_\d+\.\d+$")

    def test_the_header_declares_each(self) -> None:
        header = (ROOT / "lib/vssd.h").read_text()
        declared = set(re.findall(r"\b(vssd_\w+)\(", re.sub(
            r"/\*.*?\*/", "", header, flags=re.S)))
        self.assertEqual({s.split()[0] for s in symbols()}, declared)

    def test_soname(self) -> None:
        self.assertRegex(printed("readelf", "-d", LIBRARY),
                         r"SONAME.*\[libvssd\.so\.1\]")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        ABI.write_text("# Symbols of libvssd.so.1 and layouts of vssd.h:"
                       " tests/lib/symbols.py\n"
                       + "\n".join(symbols() + layouts()) + "\n")
    else:
        unittest.main()
