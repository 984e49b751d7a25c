# SPDX-License-Identifier: GPL-2.0-or-later
"""The library as `meson install` puts it: headers, pkg-config file, soname.  The
examples are compiled against it alone, and run."""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["VSSD_BUILD"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
SANITIZE = os.environ["VSSD_SANITIZE"]


def run(args, **more):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True,
                          check=False, **more)


def meson():
    found = shutil.which("meson")
    if found:
        return [found]
    info = run(["ninja", "-C", BUILD, "-t", "commands", "reconfigure"])
    return [w for w in shlex.split(info.stdout) if w.endswith("meson")][:1]


class Installed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        done = run([*meson(), "install", "-C", BUILD, "--no-rebuild", "--tags",
                    "lib,devel", "--destdir", self.root])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def flags(self, *what):
        config = next(self.root.rglob("libvssd.pc"))
        done = run(["pkg-config", *what, "libvssd"],
                   env=dict(os.environ, PKG_CONFIG_LIBDIR=str(config.parent),
                            PKG_CONFIG_SYSROOT_DIR=str(self.root)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return shlex.split(done.stdout)

    def compiled(self, source):
        program = self.root / source.stem
        sanitize = [] if SANITIZE == "none" else [f"-fsanitize={SANITIZE}"]
        done = run([*shlex.split(os.environ["CC"]), "-std=c99", "-Wall",
                    "-Wextra", "-Wpedantic", "-Werror", *sanitize, source, "-o",
                    program, *self.flags("--cflags", "--libs")])
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def test_files(self):
        names = {p.name for p in self.root.rglob("*") if not p.is_dir()}
        self.assertLessEqual({"libvssd.so", "libvssd.so.1", "libvssd.so.1.0.0",
                              "libvssd.pc", "vssd.h"}, names)
        self.assertEqual([n for n in names if n.endswith(".a")], [])

    def test_example(self):
        program = self.compiled(ROOT / "lib/examples/play.c")
        library = next(self.root.rglob("libvssd.so.1"))
        env = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
        done = run([program, ROOT / "profiles/tiny.ini"], env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("10000 random reads took", done.stdout)
        self.assertIn('loaded drive: {"vssd":', done.stdout)
        done = run([program, "no-such-profile"], env=env)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
