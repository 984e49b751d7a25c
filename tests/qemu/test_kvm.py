# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest that tells whether KVM works here (guest/kvm.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vssd.build.qemu_build import Qemu
from vssd.guest import kvm

BMI2 = bytes.fromhex("c46269f7c2")
LIMIT_S = 120.0


def qemu() -> Qemu:
    """The built one."""
    return Qemu(Path(os.environ["VSSD_QEMU"]).parent)


def test_the_probe_runs_to_its_end() -> None:
    """With an accelerator that works, the answer is yes."""
    assert kvm.boots(qemu(), "tcg", limit_s=LIMIT_S)


@pytest.mark.parametrize("instead", [
    b"\x0f\x0b\x90\x90\x90",  # ud2: the guest resets, and QEMU ends
    b"\xf4\xeb\xfd\x90\x90"])  # it stops, as KVM stops a guest that it cannot run
def test_a_guest_that_fails_in_64_bit_mode(instead: bytes) -> None:
    """The answer is no; so the instruction is reached."""
    assert kvm.CODE.count(BMI2) == 1
    assert not kvm.boots(qemu(), "tcg", kvm.CODE.replace(BMI2, instead),
                         limit_s=10)
