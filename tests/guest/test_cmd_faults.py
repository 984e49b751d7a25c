# SPDX-License-Identifier: GPL-2.0-or-later
"""What Linux does with scripted faults of commands, interrupts and controllers.

One guest; its second drive is in a hot-plug slot, and has the rules.  Timeouts are
short (nvme_core.io_timeout).  Each test prints the lines that the kernel logged:
the tables of docs/faults.md are made of these.  With --long the same for the
kernels of other suites, on the root of the built-in guest.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from long_form import DEVICE, LONG, of_part

from conftest import MIB, Env, blank, drive
from test_power import FIND
from vssd.errors import UserError
from vssd.guest import image, suite_kernel
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE, "tests/guest/test_power.py", "scripts/vssd/cli/fault.py")
OTHERS = ("bullseye", "bookworm", "trixie-backports")
TIMEOUT_S = 4
PANIC_S = 120
PATH = "/machine/peripheral/ssd1"
LINES = re.compile(r"nvme|pcieport|pciehp|AER|blk_update|irq|critical|I/O error",
                   re.I)


class Faulty:
    """The guest, and the drive that has rules."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def rules(self) -> list[dict[str, Any]]:
        """The drive's rules."""
        found: list[dict[str, Any]] = self.guest.qmp(
            "qom-get", path=PATH, property="faults")
        return found

    def add(self, rule: str) -> int:
        """Add a rule; its number.  The kernel's log is emptied."""
        self.guest.run("dmesg -C")
        self.guest.qmp("qom-set", path=PATH, property="fault-add", value=rule)
        return int(max(r["id"] for r in self.rules()))

    def clear(self) -> None:
        """Remove all rules."""
        for r in self.rules():
            self.guest.qmp("qom-set", path=PATH, property="fault-remove",
                           value=r["id"])

    def log(self) -> str:
        """The kernel's lines since add(), which are printed, too."""
        found = "\n".join(line for line in self.guest.run("dmesg").splitlines()
                          if LINES.search(line))
        print(found)
        return found

    def wait_log(self, text: str, seconds: float = 240) -> str:
        """Until the kernel has said this."""
        end = time.monotonic() + seconds
        while not re.search(text, self.guest.run("dmesg")):
            assert time.monotonic() < end, self.log()
            time.sleep(1)
        return self.log()

    def device(self) -> str:
        """The drive's block device; its name may change."""
        return self.guest.run(FIND).strip()

    def controller(self) -> str:
        """Its controller, as nvme1."""
        return re.sub(r"n\d+$", "", Path(self.device()).name)

    def counts_uses(self) -> bool:
        """Has the driver a count in its command identifiers, so that it finds
        out a second completion?  From 5.15 on."""
        release = self.guest.run("uname -r").split(".")
        return (int(release[0]), int(release[1])) >= (5, 15)

    def read(self) -> int:
        """Status of a direct read of one page, by queue 1, that of CPU 0."""
        return self.guest.result(
            f"taskset -c 0 dd if={self.device()} of=/dev/null bs=4k count=1 iflag=direct"
            ).status

    def write(self) -> int:
        """Status of a direct write of one page."""
        return self.guest.result(
            f"dd if=/dev/zero of={self.device()} bs=4k count=1 oflag=direct"
            " conv=nocreat").status


@contextlib.contextmanager
def booted(env: Env, folder: Path, suite: str) -> Iterator[Guest]:
    """A guest with short timeouts; of a suite's kernel."""
    data = drive(blank(folder / "data.raw", 64 * MIB), "raw")
    data.slot = True
    spec = env.lean([drive(env.overlay(folder)), data])
    spec.append += (f" nvme_core.io_timeout={TIMEOUT_S}"
                    f" nvme_core.admin_timeout={TIMEOUT_S}"
                    " nvme_core.shutdown_timeout=5")
    if suite != image.SUITE:
        found = suite_kernel.ensure(suite)
        spec.kernel = found.kernel
        spec.initrd = found.initrd(env.image.initrd, folder / "initrd.img")
        # The timer's check of Linux 5.10 fails on a busy machine.
        spec.append += " no_timer_check"
    with Guest(spec) as running:
        running.wait_agent()
        print(running.run("uname -r"))
        yield running


@pytest.fixture(scope="module", params=[
    image.SUITE, *(pytest.param(suite, marks=LONG) for suite in OTHERS)])
def faulty_guest(env: Env, tmp_path_factory: pytest.TempPathFactory,
                 request: pytest.FixtureRequest) -> Iterator[Guest]:
    """The guest of the tests of one kernel."""
    with booted(env, tmp_path_factory.mktemp("faults"), request.param) as guest:
        yield guest


@pytest.fixture
def faulty(faulty_guest: Guest) -> Iterator[Faulty]:
    """The drive without rules, before and after."""
    f = Faulty(faulty_guest)
    f.clear()
    yield f
    f.clear()


def test_status(faulty: Faulty) -> None:
    """Media errors end; others are tried again, but for DNR."""
    faulty.add("cmd=read -> status 2/81 dnr")
    assert faulty.read() != 0
    assert re.search("critical medium error", faulty.log())
    faulty.clear()
    rule = faulty.add("cmd=read -> status 0/6 2 times")
    assert faulty.read() == 0
    faulty.log()
    assert next(r for r in faulty.rules() if r["id"] == rule)["fired"] == 2
    faulty.clear()
    faulty.add("cmd=read -> status 0/6 dnr once")
    assert faulty.read() != 0
    faulty.log()


@pytest.mark.parametrize("action", [
    "drop", *(pytest.param(action, marks=LONG)
              for action in ("drop-completion", "wrong-cid", "bad-phase"))])
def test_never_completes(faulty: Faulty, action: str) -> None:
    """Abort finds nothing; the second timeout resets the controller; the write
    is sent again."""
    faulty.add(f"cmd=write -> {action} once")
    assert faulty.write() == 0
    log = faulty.log()
    assert re.search("timeout, abort", log)
    assert re.search("timeout, reset controller", log)
    assert faulty.read() == 0


def test_delay(faulty: Faulty) -> None:
    """Longer than the timeout: Abort ends the command, which is sent again."""
    faulty.add("cmd=write -> delay 100s once")
    assert faulty.write() == 0
    log = faulty.log()
    assert re.search("timeout, abort", log)
    assert re.search("Abort status: 0x0", log)
    assert not re.search("reset controller", log)


@pytest.mark.parametrize("action", ["duplicate", "wrong-sqhd"])
def test_odd_entry(faulty: Faulty, action: str) -> None:
    """A second entry for a tag is found out, or not; nothing stops."""
    if action == "duplicate" and not faulty.counts_uses():
        pytest.skip("the kernel would end: test_duplicate_ends_old_kernel")
    faulty.add(f"cmd=write -> {action} once")
    assert faulty.write() == 0
    log = faulty.log()
    assert not re.search("reset controller", log)
    assert faulty.read() == 0


@LONG
def test_duplicate_ends_old_kernel(env: Env, tmp_path: Path) -> None:
    """Linux 5.10 puts the request into the list of those that have ended, twice
    in one interrupt, and panics."""
    with booted(env, tmp_path, "bullseye") as guest:
        faulty = Faulty(guest)
        assert not faulty.counts_uses()
        faulty.add("cmd=write -> duplicate once")
        with pytest.raises(UserError):
            guest.result(f"dd if=/dev/zero of={faulty.device()} bs=4k count=1"
                         " oflag=direct conv=nocreat", timeout_s=PANIC_S)
        print(guest.console[-6000:])
        assert re.search(r"(?s)list_add double add.*kernel BUG at"
                         r" lib/list_debug\.c.*nvme_process_cq.*Kernel panic",
                         guest.console)


def test_irq_drop(faulty: Faulty) -> None:
    """The timeout finds the completion."""
    faulty.add("irq vector=1 -> drop once")
    assert faulty.read() == 0
    assert re.search("completion polled", faulty.log())


def test_irq_spurious(faulty: Faulty) -> None:
    """Nobody minds one."""
    faulty.add("irq -> spurious once")
    assert faulty.read() == 0
    assert not re.search("nobody cared", faulty.log())


def test_irq_storm(faulty: Faulty) -> None:
    """The guest goes on."""
    faulty.add("irq vector=1 -> storm 20000 once")
    assert faulty.read() == 0
    end = time.monotonic() + 300
    while faulty.rules()[0]["lasts"]:
        assert time.monotonic() < end
        time.sleep(1)
    faulty.log()
    assert faulty.read() == 0


def test_fatal_status(faulty: Faulty) -> None:
    """Seen when a command times out; a reset helps."""
    faulty.add("ctrl -> cfs")
    assert faulty.read() == 0
    assert re.search("controller is down; will reset: CSTS=0x3", faulty.log())


def test_stuck_rdy(faulty: Faulty) -> None:
    """A reset waits for RDY, as long as CAP.TO says."""
    controller = faulty.controller()
    faulty.add("ctrl -> stuck-rdy for 10s")
    faulty.guest.run(f"echo 1 > /sys/class/nvme/{controller}/reset_controller",
                     check=False)
    assert faulty.read() == 0
    faulty.log()


def test_stuck_shst(faulty: Faulty) -> None:
    """A shutdown waits, and goes on without."""
    controller = faulty.controller()
    faulty.add("ctrl -> stuck-shst")
    faulty.guest.run(f"echo 1 > /sys/class/nvme/{controller}/device/remove")
    log = faulty.log()
    faulty.clear()
    faulty.guest.run("echo 1 > /sys/bus/pci/rescan")
    assert re.search("aborting shutdown, CSTS=0x1"
                     "|Device shutdown incomplete; abort shutdown", log)
    assert faulty.read() == 0


def test_event(faulty: Faulty) -> None:
    """Persistent Internal Error: from 5.18 on Linux resets the controller; 6.1
    words it otherwise."""
    faulty.add("aer 0/3")
    faulty.wait_log("resetting controller due to "
                    "(AER|persistent internal error)")
    assert faulty.read() == 0


def test_temperature(faulty: Faulty) -> None:
    """As the SMART log has it."""
    controller = faulty.controller()
    faulty.add("temperature 95")
    smart = faulty.guest.run(f"nvme smart-log /dev/{controller} -o json")
    faulty.log()
    assert '"temperature":368' in smart.replace(" ", "")
    assert re.search(r'"critical_warning":2\b', smart.replace(" ", ""))


@pytest.mark.parametrize("what", ["surprise-remove", "link-down"])
def test_gone(faulty: Faulty, what: str) -> None:
    """The slot reports it; the driver lets go; it comes back."""
    faulty.device()
    faulty.add(f"ctrl -> {what} for 3s")
    faulty.wait_log(r"Link Down|Card not present")
    faulty.wait_log(r"(?s)(Link Down|Card not present).*"
                    r"(Link Up|Card present|Attention button).*nvme")
    assert faulty.read() == 0
    faulty.log()


def test_pcie_error(faulty: Faulty) -> None:
    """A corrected error of the slot's port, by QEMU's monitor."""
    faulty.guest.run("dmesg -C")
    said = faulty.guest.qmp(
        "human-monitor-command",
        **{"command-line": "pcie_aer_inject_error slot1 RCVR"})
    print(said)
    faulty.wait_log("AER: Correct.*[Ee]rror")
    assert faulty.read() == 0
