# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd vng: trees that are refused, and virtme-ng's command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from vssd import rundir
from vssd.build import packages, venv
from vssd.build.qemu_build import Qemu
from vssd.cli import main as cli
from vssd.cli import vng as cmd_vng
from vssd.errors import UserError
from vssd.guest import kvm, vng


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of Linux with a kernel, entered."""
    tree = tmp_path / "linux"
    (tree / vng.KERNEL).parent.mkdir(parents=True)
    for name in (*vng.TREE, str(vng.KERNEL)):
        (tree / name).touch()
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    monkeypatch.chdir(tree)
    return tree


def run(*args: str) -> int:
    """The command in this process."""
    args_found = cli.parser().parse_args(["vng", *args])
    return cmd_vng.main(args_found)


@pytest.mark.parametrize("args, says", [
    (["--set", "x"], "--set x: give KEY=VALUE"),
    (["--seed", "-1"], "--seed -1: allowed"),
    (["--profile", "none"], "no profile 'none'"),
    (["--drive", "tiny,size=3"], "--drive size=3"),
    (["--name", "a/b"], "--name a/b"),
    (["--", "--qemu", "x"], "--qemu: ./vssd vng gives"),
    (["--", "--qemu=x"], "--qemu: ./vssd vng gives"),
])
@pytest.mark.usefixtures("tree")
def test_refusals(args: list[str], says: str) -> None:
    """Before anything is made."""
    with pytest.raises(UserError, match=re.escape(says)):
        run(*args)


def test_trees(tree: Path) -> None:
    """A tree needs a kernel, unless virtme-ng is told of another one."""
    vng.check(tree, [])
    (tree / vng.KERNEL).unlink()
    with pytest.raises(UserError, match="has no built kernel"):
        vng.check(tree, ["--exec", "true"])
    for words in (["-r", "v6.12"], ["--run=v6.12"], ["-rv6.12"], ["--build"],
                  ["--help"]):
        vng.check(tree, words)
    (tree / ".config").write_text("# CONFIG_BLK_DEV_NVME is not set\n")
    vng.check(tree, ["--kconfig"])
    (tree / vng.KERNEL).touch()
    with pytest.raises(UserError, match="has no CONFIG_BLK_DEV_NVME"):
        vng.check(tree, [])
    (tree / ".config").write_text("CONFIG_BLK_DEV_NVME=m\n")
    vng.check(tree, [])
    (tree / "Kbuild").unlink()
    with pytest.raises(UserError, match="is no tree of Linux's sources"):
        vng.check(tree, [])


@pytest.mark.parametrize("words, ours", [
    (["--kconfig"], True), (["-k"], True), (["--build"], True), (["-bv"], True),
    (["--exec", "true"], False), (["-r", "v6.12"], False)])
def test_configuration(words: list[str], ours: bool) -> None:
    """A configuration that virtme-ng makes has the drive's driver."""
    made = vng.command(Path("/vng"), Path("/q"), "tcg", [], [], words)
    assert ("CONFIG_BLK_DEV_NVME=y" in made) == ours
    assert made[-len(words):] == words


def test_command(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """QEMU's arguments pass two shells unchanged; the run has a name and its
    facts while it lasts, and the status is virtme-ng's."""
    program = tree / "vng"
    program.write_text(
        "#!/bin/sh\n"
        'printf "%s\\n" "$@" >said; cp "$VSSD_CACHE"/runs/run-*/run.json .\n'
        "exit 7\n")
    program.chmod(0o755)
    monkeypatch.setattr(packages, "ensure", lambda *_: None)
    monkeypatch.setattr(venv, "extra", lambda _: None)
    monkeypatch.setattr(venv, "tool", lambda _: program)
    monkeypatch.setattr(kvm, "accelerator", lambda _: "tcg")
    monkeypatch.setattr("vssd.build.emulator.ensure",
                        lambda *_: Qemu(Path("/q")))
    monkeypatch.setattr("vssd.build.model.drive_info",
                        lambda *_: {"capacity_bytes": 1 << 20})
    assert run("--set", "nand.read=9us", "--name", "mine", "--drive",
               "tiny,size=2M,serial=X1", "--", "--cpus", "4") == 7
    said = (tree / "said").read_text().splitlines()
    assert said[:4] == ["--qemu", "/q/qemu-system-x86_64", "--disable-microvm",
                        "--disable-kvm"]
    assert said[-2:] == ["--cpus", "4"]
    options = shlex.split(said[4].removeprefix("--qemu-opts="))
    devices = [x for x in options if '"driver": "vssd"' in x]
    assert len(devices) == 2
    assert "nand.read=9us;seed=1" in devices[0] and "X1" in devices[1]
    assert '"name": "mine"' in (tree / "run.json").read_text()
    assert rundir.running() == []
