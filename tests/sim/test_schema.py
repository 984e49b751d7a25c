# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/schema/: generated from the tables of the statistics.  VSSD_WRITE_DOCS=1
writes them."""

import os
import pathlib
import subprocess
import unittest

import schemas

ROWS = os.environ["VSSD_RESULTS_ROWS"]
FOLDER = pathlib.Path(os.environ["VSSD_ROOT"]) / "docs/schema"


class Schemas(unittest.TestCase):
    def test_files(self) -> None:
        done = subprocess.run([ROWS], capture_output=True, text=True,
                              check=True)
        for name, schema in schemas.build(done.stdout.splitlines()).items():
            path = FOLDER / f"{name}.json"
            if os.environ.get("VSSD_WRITE_DOCS"):
                path.write_text(schemas.text(schema))
            self.assertEqual(path.read_text(), schemas.text(schema),
                             f"{path.name} is out of date: run this test with"
                             " VSSD_WRITE_DOCS=1")


if __name__ == "__main__":
    unittest.main()
