# SPDX-License-Identifier: GPL-2.0-or-later
"""Cassandra, YCSB and their libraries as a file system for a guest: made once,
kept in the cache.

Maven gets the jars, from where it is set up to get them; javac builds the two
classes of guest-tools/cassandra; mke2fs makes the file system, without root.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from vssd.build import packages
from vssd.errors import UserError
from vssd.paths import (
    PROJECT,
    cache_dir,
    file_bytes,
    key_of,
    locked,
    need_space,
)
from vssd.proc import run_logged
from vssd.ui import Stage

VERSION = "4.1.7"  # of Cassandra: the last line that runs on Java 11 and 5.10
YCSB = "0.17.0"
JAVA = "11"  # version of the classes
SOURCES = ("guest-tools/cassandra/StoreLoad.java",
           "guest-tools/cassandra/StreamedSizeTiered.java")
LOGBACK = "guest-tools/cassandra/logback.xml"
BYTES = 96 << 20  # of the file system: jars take half
POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>vssd</groupId>
  <artifactId>store</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>{cassandra}</version>
    </dependency>
    <dependency>
      <groupId>site.ycsb</groupId>
      <artifactId>core</artifactId>
      <version>{ycsb}</version>
    </dependency>
  </dependencies>
</project>
"""


def _path(version: str) -> Path:
    key = key_of("cassandra-1", version, YCSB, JAVA, POM, BYTES,
                 file_bytes(*SOURCES, LOGBACK))
    return cache_dir() / f"cassandra-{key}.ext4"


def ensure(version: str = VERSION) -> Path:
    """The file system, raw: jars/, classes/ and logback.xml."""
    path = _path(version)
    if path.exists():
        return path
    with locked("cassandra"):
        if path.exists():
            return path
        packages.ensure(packages.CASSANDRA)
        need_space(cache_dir(), 4 * BYTES, "getting Cassandra")
        part = path.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        (part / "root").mkdir(parents=True)
        try:
            with Stage(f"getting Cassandra {version} (once)") as stage:
                _fill(part, version, stage)
            (part / "disk.ext4").rename(path)
        except OSError as e:
            raise UserError(f"cannot get Cassandra: {e}") from e
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return path


def _fill(part: Path, version: str, stage: Stage) -> None:
    root, pom = part / "root", part / "pom.xml"
    pom.write_text(POM.format(cassandra=version, ycsb=YCSB), encoding="utf-8")
    stage.note("jars, by Maven")
    run_logged(["mvn", "--batch-mode", "--quiet", "-Dstyle.color=never",
                "--file", pom,
                "dependency:copy-dependencies", "-DincludeScope=runtime",
                f"-DoutputDirectory={root / 'jars'}"], "maven",
               f"getting Cassandra {version} by Maven")
    stage.note("classes")
    run_logged(["javac", "--release", JAVA, "-cp", f"{root / 'jars'}/*",
                "-d", root / "classes", *(PROJECT / s for s in SOURCES)],
               "javac", "building the store's classes")
    shutil.copy(PROJECT / LOGBACK, root)
    stage.note("file system")
    run_logged(["/sbin/mke2fs", "-q", "-t", "ext4", "-O", "^has_journal",
                "-d", root, part / "disk.ext4", f"{BYTES >> 10}k"], "mke2fs",
               "making the file system of the store's programs")
