# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-qemu.so, the device for an unmodified QEMU: what it refuses, and what
works though QEMU loads it late.  All other tests of guests run on it."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from vssd import paths
from vssd.build import emulator, model, qemu_package, qemu_plugin, venv
from vssd.build.qemu_build import Qemu
from vssd.build.qemu_plugin import package

TINY = paths.find_profile("tiny")
QUIT = '{"execute": "qmp_capabilities"}\n{"execute": "quit"}\n'


@pytest.fixture(name="qemu", scope="module")
def _qemu() -> Qemu:
    if emulator.is_built():
        pytest.skip("this QEMU has the device built in")
    return emulator.ensure()


def start(tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The unmodified emulator, to its end."""
    script = qemu_package.write_start(
        tmp_path / "qemu", package().start(package().arch.emulator))
    return subprocess.run([script, "-nodefaults", "-display", "none", *args],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=60)


def preloaded(tmp_path: Path, plugin: Path, *args: str, text: str = "") \
        -> subprocess.CompletedProcess[str]:
    """The unmodified emulator, with the plug-in in it before it starts."""
    script = qemu_package.write_start(tmp_path / "qemu", package().start(
        package().arch.emulator, preload=plugin))
    return subprocess.run([script, "-nodefaults", "-display", "none", *args],
                          capture_output=True, text=True, check=False, input=text,
                          timeout=60)


def variant(tmp_path: Path, old: str, new: str) -> Path:
    """The plug-in whose plugin.c has another config-host.h."""
    qemu_plugin.build_plugin("release", package())
    build = model.build_dir("release")
    config = (build / qemu_plugin.TARGET).with_name("config-host.h").read_text()
    assert old in config
    (tmp_path / "config-host.h").write_text(config.replace(old, new))
    commands = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", qemu_plugin.TARGET],
        capture_output=True, text=True, check=True).stdout.splitlines()
    compiles = shlex.split(next(x for x in commands if "plugin.c.o -c" in x))
    made = str(tmp_path / "plugin.o")
    compiles = [compiles[0], "-iquote", str(tmp_path), *compiles[1:]]
    compiles[compiles.index("-MF") + 1] = f"{made}.d"
    compiles[compiles.index("-o") + 1] = made
    links = [made if x.endswith("/plugin.c.o") else x
             for x in shlex.split(commands[-1])]
    links[links.index("-o") + 1] = str(tmp_path / qemu_plugin.NAME)
    for command in (compiles, links):
        subprocess.run(command, cwd=build, check=True,
                       env=venv.path_env() | {"CCACHE_DISABLE": "1"})
    return tmp_path / qemu_plugin.NAME


VARIANTS = pytest.mark.parametrize("old, new, said", [
    ("QEMU_VERSION_MICRO ", "QEMU_VERSION_MICRO 9",
     "vssd-qemu.so is for QEMU "),
    ("#define CONFIG_POSIX", "#define CONFIG_POSIX\n#define CONFIG_DEBUG_MUTEX",
     "vssd-qemu.so: QemuMutex has another layout"),
], ids=["version", "layout"])


@VARIANTS
def test_refuses(qemu: Qemu, tmp_path: Path, old: str, new: str,
                 said: str) -> None:
    """An emulator that the headers are not of: one line, before any machine."""
    assert qemu.emulator.exists()
    plugin = variant(tmp_path, old, new)
    done = start(tmp_path, "-plugin", str(plugin), "-M", "none", "-S")
    assert done.returncode == 1, done
    assert said in done.stderr
    assert done.stderr.count("\n") == 2, done.stderr  # and QEMU's own


@VARIANTS
def test_refuses_preloaded(qemu: Qemu, tmp_path: Path, old: str, new: str,
                           said: str) -> None:
    """The same before QEMU starts: one line, then QEMU's own: it has no device."""
    assert qemu.emulator.exists()
    done = preloaded(tmp_path, variant(tmp_path, old, new), "-device", "vssd,help")
    first, second = done.stderr.splitlines()
    assert said in first
    assert second.endswith("Device 'vssd' not found")


def test_refuses_an_argument(qemu: Qemu, tmp_path: Path) -> None:
    """It has none."""
    plugin = qemu.build / qemu_plugin.NAME
    done = start(tmp_path, "-plugin", f"{plugin},x=1", "-M", "none", "-S")
    assert done.returncode == 1
    assert "vssd-qemu.so has no argument x" in done.stderr


def test_preloaded(qemu: Qemu, tmp_path: Path) -> None:
    """Before QEMU starts, it is as if it were built in: help answers."""
    done = preloaded(tmp_path, qemu.build / qemu_plugin.NAME, "-device", "vssd,help")
    assert "  power_return_ms=<uint32>" in done.stdout, done


def test_preloaded_and_loaded(qemu: Qemu, tmp_path: Path) -> None:
    """The device is registered once."""
    plugin = qemu.build / qemu_plugin.NAME
    done = preloaded(tmp_path, plugin, "-plugin", str(plugin), "-M", "none", "-S",
                     "-qmp", "stdio", text=QUIT)
    assert done.returncode == 0, done


@pytest.mark.parametrize("pattern", ["vssd_*", "enable=vssd_realize"])
def test_trace(qemu: Qemu, tmp_path: Path, pattern: str) -> None:
    """-trace means events that QEMU did not know when it read it."""
    (tmp_path / "d.raw").write_bytes(bytes(1 << 20))
    node = {"driver": "raw", "node-name": "d", "file": {
        "driver": "file", "filename": str(tmp_path / "d.raw")}}
    with subprocess.Popen(
            [qemu.emulator, "-nodefaults", "-display", "none", "-M", "q35", "-S",
             "-trace", pattern, "-blockdev", json.dumps(node), "-device",
             f"vssd,drive=d,profile={TINY}", "-qmp", "stdio"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True) as running:
        _, said = running.communicate(QUIT, timeout=60)
    assert "vssd_realize dev " in said
    assert ("vssd_reset dev " in said) == (pattern == "vssd_*")
