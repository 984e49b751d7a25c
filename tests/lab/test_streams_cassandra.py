# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd figures streams-cassandra: what needs no guest."""

from __future__ import annotations

import os
import subprocess
import types
from pathlib import Path

import pytest

from vssd.build import packages, venv
from vssd.errors import UserError
from vssd.guest import hardware
from vssd.guest.store import FADVISE, HINT, Conditions
from vssd_lab.figures import cassandra_files, rocksdb
from vssd_lab.figures.cassandra import STREAMED, TIERED, Store

venv.extra("figures")
pytest.importorskip("numpy")
from vssd_lab.figures import streams_cassandra as fc  # noqa: E402
from vssd_lab.figures import streams_claims as fs  # noqa: E402
from vssd_lab.figures import streams_guest as sg  # noqa: E402
from vssd_lab.figures import streams_rocksdb as fg  # noqa: E402

HEAD = ("stream    id  open      host_bytes   host_units    padded     copied"
        "   erases  victims victim_valid     waf")
TEXT = f"""\
==vssd== loaded 40.00
 90 100
{HEAD}
     0     -     4         4096000         1000         0          0        0        0            0   1.000
==vssd== minute 49.00
 91 100
{HEAD}
     0     -     4         8192000         2000         0        500        0        0            0   1.250
==vssd== ended 58.00
 92 100
{HEAD}
     0     -     4        12288000         3000         0       1500        0        0            0   1.500
==vssd== report 58.10
9.001,900
18.000,700
==vssd== out 58.20
loaded
[ 20, 21 ] 900
[ 100, 200 ] 700
"""


def test_parse() -> None:
    """Samples, operations, latencies of StoreLoad."""
    run = Store().parse(TEXT)
    assert [(s.written, s.copied, s.full) for s in run.samples] == [
        (1000, 0, .9), (2000, 500, .91), (3000, 1500, .92)]
    assert run.ops == [(9.001, 900), (18, 700)]
    assert run.quantile_us(50) == pytest.approx(20 + 800 / 900)
    assert run.quantile_us(100) == 200


@pytest.mark.parametrize("text,status,word", [
    ("", 0, "nothing"), (TEXT, 3, "status 3"), (TEXT, 124, "waits for ever"),
    (TEXT.split("==vssd== out")[0], 0, "no results"),
    (TEXT + "java.io.IOException: No space left on device\n", 1, "is full")],
    ids=("nothing", "status", "waits", "no report", "full"))
def test_no_results(text: str, status: int, word: str) -> None:
    """A run that came to nothing says why."""
    with pytest.raises(UserError, match=word):
        Store().parse(text, status)


@pytest.mark.parametrize("method", (FADVISE, HINT))
@pytest.mark.parametrize("name", fc.conditions(FADVISE))
def test_script(name: str, method: str) -> None:
    """Each is a script, complete, and says what its conditions are."""
    conditions = fc.conditions(method)[name]
    text = Store().script(conditions, "SERIAL", 4, 9)
    done = subprocess.run(["sh", "-n"], input=text, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "@" not in text
    assert ("noatime,discard" in text) == conditions.discard
    assert ("streams)\" = Y" in text) == conditions.streams
    assert (STREAMED in text, TIERED in text) == (name == fs.DATA,
                                                  name != fs.DATA)
    assert (f"streamrun -m {method} -H" in text) == (name in (fs.APP, fs.LOG))
    own = "-T " if method == FADVISE else ""
    assert (f"streamrun -m {method} {own}-r" in text) == (name == fs.DATA)
    assert f"-Dvssd.streams={method}" in text
    assert text.count("maxexecutiontime=36") == 1


def test_the_class_is_there() -> None:
    """What the table names is what is built."""
    names = {Path(s).stem for s in cassandra_files.SOURCES}
    assert STREAMED.rsplit(".", 1)[1] in names
    source = (cassandra_files.PROJECT / cassandra_files.SOURCES[1]).read_text()
    assert f"package {STREAMED.rsplit('.', 1)[0]};" in source
    assert Conditions(rules=("/a=1",)).streamrun == \
        "streamrun -m fadvise -H -r /a=1 -- "
    assert "posix_fadvise(fd, stream, 0, POSIX_FADV_STREAMID)" in source


@pytest.mark.parametrize("said,word", [
    ("[ERROR] Failed to execute goal: Could not find artifact"
     " org.apache.cassandra:cassandra-all:jar:9.9", "Could not find artifact"),
    ("\x1b[0m[ERROR] Unknown host repo", "failed: .ERROR. Unknown host")],
    ids=("no version", "no network"))
def test_refusals(said: str, word: str, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that is not there, and no network: one line of Maven's; what
    was begun is gone."""
    tool = tmp_path / "mvn"
    tool.write_text(f"#!/bin/sh\necho '{said}'\necho '[ERROR] '\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "ensure", lambda *groups: None)
    with pytest.raises(UserError, match=word) as e:
        cassandra_files.ensure("9.9")
    assert "\n" not in str(e.value)
    assert "Cassandra 9.9" in str(e.value)
    left = {p.name for p in (tmp_path / "cache").iterdir()}
    assert left == {"cassandra.lock", "logs"}


@pytest.mark.parametrize("accel", ["kvm", "tcg"])
def test_time(accel: str, monkeypatch: pytest.MonkeyPatch,
              tmp_path: Path) -> None:
    """With KVM a guest runs in real time; without, and with a store that does
    not ask for it, in virtual time on one processor of the store's speed."""
    monkeypatch.setattr(cassandra_files, "ensure", lambda: tmp_path / "files")
    monkeypatch.setattr(sg.kvm, "accelerator", lambda qemu: accel)
    monkeypatch.setattr(sg.emulator, "ensure", lambda: None)
    monkeypatch.setattr(sg, "_drives", lambda *given: [])
    paths = types.SimpleNamespace(emulator=Path("qemu"), kernel=Path("k"),
                                  initrd=None, root="UUID=1")
    for setting, found in ((fc.setting(Store()), accel),
                           (fg.setting(rocksdb.Store()), "tcg")):
        assert sg.accelerator(setting) == found
        line = hardware.command_line(sg._spec(
            sg.Guests(setting, paths, paths, paths, 4, found), fs.ON,
            tmp_path))
        shift = f"shift={setting.shift},sleep=off"
        assert (shift in line) == (found == "tcg")
        assert line[line.index("-accel") + 1] == found
