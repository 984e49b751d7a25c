# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd fault: what it asks the guest's monitor, and what it refuses."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from vssd.cli import fault
from vssd.errors import UserError


class Monitor:
    """A machine with drives, whose rules are a list."""

    def __init__(self, *drives: str) -> None:
        self.drives = drives
        self.rules: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []

    def cmd(self, name: str, **args: Any) -> Any:
        """As QEMU would answer."""
        if name == "qom-list":
            return [{"name": d, "type": "child<vssd>"} for d in self.drives]
        self.asked.append(args)
        if args["property"] == "fault-add":
            self.rules.append({"id": len(self.rules) + 1,
                               "rule": args["value"], "matched": 0,
                               "fired": 0, "lasts": False})
        return self.rules


def args_of(*words: str) -> argparse.Namespace:
    """As the command's parser makes them."""
    parser = argparse.ArgumentParser()
    fault.add_parser(parser.add_subparsers())
    return parser.parse_args(["fault", *words])


@pytest.mark.parametrize("words, why", [
    (("add",), "a rule must follow"),
    (("add", ""), "a rule must follow"),
    (("remove",), "a rule's number must follow"),
    (("remove", "x"), "a rule's number must follow"),
    (("remove", "-1"), "a rule's number must follow"),
    (("list", "1"), "It takes nothing"),
    (("add", "ctrl -> cfs", "--json"), "--json goes with fault list only"),
])
def test_refused(words: tuple[str, ...], why: str) -> None:
    """In one line, before any guest is asked."""
    args = args_of(*words) if "-1" not in words else argparse.Namespace(
        action="remove", what="-1", json=False)
    with pytest.raises(UserError, match=why) as e:
        fault.check(args)
    assert "\n" not in str(e.value)


def test_several_drives() -> None:
    """One has to be named, and to be there."""
    two = Monitor("ssd0", "ssd1")
    with pytest.raises(UserError, match="--drive ssd0 or ssd1"):
        fault.act(two, args_of("list"))
    with pytest.raises(UserError, match="--drive ssd7: the guest has ssd0"):
        fault.act(two, args_of("list", "--drive", "ssd7"))
    fault.act(two, args_of("add", "ctrl -> cfs", "--drive", "ssd1"))
    assert two.asked[0] == {"path": "/machine/peripheral/ssd1",
                            "property": "fault-add", "value": "ctrl -> cfs"}


def test_add_list_remove(capsys: pytest.CaptureFixture[str]) -> None:
    """The number is shown, and goes back."""
    one = Monitor("ssd0")
    fault.act(one, args_of("add", "cmd=read -> drop"))
    assert "ssd0: rule 1" in capsys.readouterr().err
    fault.act(one, args_of("list"))
    assert capsys.readouterr().out == \
        "1: cmd=read -> drop  (matched 0, fired 0)\n"
    fault.act(one, args_of("list", "--json"))
    assert capsys.readouterr().out.startswith('[{"id": 1')
    fault.act(one, args_of("remove", "1"))
    assert one.asked[-1]["property"] == "fault-remove"
    assert one.asked[-1]["value"] == 1
