# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd drive: what it asks the guest's monitor, and what it refuses."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from vssd import rundir
from vssd.cli import drive
from vssd.errors import UserError


class Monitor:
    """A machine with two drives; `refused` is a property that cannot be set."""

    def __init__(self, refused: str = "") -> None:
        self.refused = refused
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def cmd(self, name: str, **args: Any) -> Any:
        """As QEMU would answer."""
        from qemu.qmp import ExecuteError
        from qemu.qmp.message import Message
        from qemu.qmp.models import ErrorResponse

        if name == "qom-list":
            return [{"name": d, "type": "child<vssd>"} for d in ("ssd0", "ssd1")]
        self.asked.append((name, args))
        if args.get("property") == self.refused:
            answer = {"error": {"class": "GenericError", "desc": "vssd: not so"}}
            raise ExecuteError(ErrorResponse(answer), Message({"execute": name}),
                               Message(answer))
        return "disk1n2" if name == "qom-get" else None


def args_of(*words: str) -> argparse.Namespace:
    """As the command's parser makes them."""
    parser = argparse.ArgumentParser()
    drive.add_parser(parser.add_subparsers())
    return parser.parse_args(["drive", *words])


@pytest.fixture
def run(tmp_path: Path) -> rundir.Run:
    """A guest of --keep."""
    (tmp_path / rundir.FACTS).write_text(json.dumps({"keep": True}))
    return rundir.Run(tmp_path)


@pytest.mark.parametrize("words, why", [
    (("remove", "ssd1", "--namespace", "0"), "--namespace 0: allowed 1..8"),
    (("remove", "ssd1", "--namespace", "9"), "--namespace 9: allowed 1..8"),
    (("return", "ssd1", "--namespace", "2"), "Give --image FILE"),
    (("return", "ssd1", "--image", "x"), "--image goes with return and --namespace"),
    (("remove", "ssd1", "--namespace", "2", "--image", "x"), "--image goes with return"),
    (("remove", "ssd1", "--namespace", "2", "--identity", "new"), "--identity goes with"),
    (("return", "ssd1", "--namespace", "2", "--image", "/nowhere/x"), "no such file"),
])
def test_refused(words: tuple[str, ...], why: str) -> None:
    """In one line, before any guest is asked."""
    with pytest.raises(UserError, match=why) as e:
        drive.check(args_of(*words))
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("action", ["remove", "return"])
def test_slot(run: rundir.Run, action: str) -> None:
    """The drive loses its power for good, and gets it back."""
    qmp = Monitor()
    drive.act(qmp, run, args_of(action, "ssd1"))
    assert qmp.asked == [("qom-set", {
        "path": "/machine/peripheral/ssd1", "property": "powered",
        "value": action == "return"})]


def test_a_drive_that_is_not_there(run: rundir.Run) -> None:
    """The others are named."""
    with pytest.raises(UserError, match="drive ssd7: the guest has ssd0, ssd1"):
        drive.act(Monitor(), run, args_of("remove", "ssd7"))


def test_remove_namespace(run: rundir.Run) -> None:
    """The node of the image goes with it."""
    qmp = Monitor()
    drive.act(qmp, run, args_of("remove", "ssd1", "--namespace", "2"))
    assert [(name, args.get("property"), args.get("value", args.get("node-name")))
            for name, args in qmp.asked] == [
        ("qom-get", "drive2", None), ("qom-set", "namespace-remove", 2),
        ("blockdev-del", None, "disk1n2")]


@pytest.mark.parametrize("identity", ["keep", "new"])
def test_return_namespace(run: rundir.Run, identity: str) -> None:
    """With --keep the image itself takes the writes."""
    image = run.folder / "new.raw"
    image.write_bytes(bytes(4096))
    qmp = Monitor()
    words = ["return", "ssd1", "--namespace", "2", "--image", str(image)]
    if identity == "new":
        words += ["--identity", "new"]
    drive.act(qmp, run, args_of(*words))
    (add, node), (put, given) = qmp.asked
    assert (add, node["driver"], node["file"]["filename"]) == \
        ("blockdev-add", "raw", str(image))
    assert (put, given["property"], given["value"]) == \
        ("qom-set", "namespace-insert", f"2={node['node-name']};identity={identity}")


def test_a_refused_image_is_free_again(run: rundir.Run) -> None:
    """Its node goes; the reason is the drive's."""
    image = run.folder / "new.raw"
    image.write_bytes(bytes(4096))
    qmp = Monitor("namespace-insert")
    with pytest.raises(UserError, match="^not so$"):
        drive.act(qmp, run, args_of("return", "ssd1", "--namespace", "2", "--image",
                                    str(image)))
    assert qmp.asked[-1] == ("blockdev-del", {
        "node-name": qmp.asked[0][1]["node-name"]})


def test_a_server_has_one_image(run: rundir.Run) -> None:
    """That of ./vssd run --server."""
    (run.folder / rundir.VMM).touch()
    with pytest.raises(UserError, match="has one image"):
        drive.act(Monitor(), run, args_of("remove", "ssd0", "--namespace", "1"))
