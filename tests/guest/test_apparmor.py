# SPDX-License-Identifier: GPL-2.0-or-later
"""AppArmor confines a domain that ./vssd libvirt prints, and libvirt's daemon.

This machine's kernel may have no AppArmor, so all of that runs in a guest, on
the files of this machine (apparmor.sh).  The domain is a guest in the guest.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Env, drive, vssd
from test_libvirt import ANONYMOUS, IMAGE, PAGE, PLUGIN, PROFILE, page_domain, unmodified
from vssd import paths
from vssd.build import aptsrc, emulator, packages, qemu_plugin
from vssd.guest import links
from vssd.guest.guest import Guest
from vssd.guest.machine import Result

NAME = "vssd-confined"
OF_PAGE = "vssd-page"
EMULATOR = "/usr/bin/qemu-system-x86_64"
INSTALLED = Path("/etc/apparmor.d/libvirt/TEMPLATE.qemu")
# Has the rules in Debian 12.  It is unpacked, since it would start a daemon if
# it were installed.
PACKAGE = "libvirt-daemon-system"
SCRIPT = Path(__file__).with_name("apparmor.sh")
# Enough for the agent: no logins, timers or modules of further devices.
BOOT = " systemd.unit=vssd-agent.service systemd.mask=systemd-udev-trigger.service"
UP_S = 900
DAEMON = "usr.sbin.libvirtd"
DOMAIN = "abstractions/libvirt-qemu"


@dataclass
class Confined:
    """The guest with the daemon, and files of the domain, which both have."""

    guest: Guest
    folder: Path
    emulator: str
    img: str  # qemu-img

    def result(self, command: str) -> Result:
        """Of a command where the daemon is."""
        return self.guest.result("nsenter -m -t $(pidof libvirtd) sh -c "
                                 + shlex.quote(command))

    def run(self, command: str) -> str:
        """The output of such a command, which must succeed."""
        done = self.result(command)
        assert done.status == 0, (command, done.out, done.err)
        return done.out.decode()

    def virsh(self, *args: str) -> Result:
        """The result of virsh."""
        return self.result(shlex.join(["virsh", "-c", "qemu:///system", *args]))

    def permit(self, name: str, rules: str = "") -> None:
        """Add a file of the folder, which ./vssd libvirt has printed, to rules of
        the daemon or the domain, by the commands of docs/libvirt.md."""
        place = f"/etc/apparmor.d/local/{name}"
        self.run(f"cat {self.folder}/{rules or Path(name).name} >>{place}")
        if name == DAEMON:
            self.run(f"apparmor_parser -r /etc/apparmor.d/{DAEMON}")

    def denied(self, profile: str) -> list[str]:
        """What AppArmor has denied to a profile since the last call."""
        said = self.guest.run("dmesg --read-clear")
        return [x for x in said.splitlines() if 'apparmor="DENIED"' in x
                and f'profile="{profile}"' in x]

    def stats(self, name: str) -> dict[str, Any]:
        """A drive's statistics, as docs/libvirt.md reads them."""
        return self.stats_at(NAME, f"/machine/peripheral/{name}")

    def stats_at(self, domain: str, path: str) -> dict[str, Any]:
        """Those of the device at this place of QEMU's tree."""
        done = self.virsh("qemu-monitor-command", domain, json.dumps(
            {"execute": "qom-get",
             "arguments": {"path": path, "property": "stats"}}))
        assert done.status == 0, done.err
        found: dict[str, Any] = json.loads(done.out)["return"]
        return found


def _rules(folder: Path) -> str:
    """The folder of libvirt's rules; empty: this machine has them."""
    if INSTALLED.exists():
        return ""
    apt = aptsrc.PrivateApt.updated(folder / "apt", aptsrc.machine_sources(),
                                    "deb")
    apt.get("download", PACKAGE, cwd=folder, what=f"fetching {PACKAGE}")
    deb, = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", deb, folder / PACKAGE], check=True)
    return str(folder / PACKAGE / "etc/apparmor.d")


def _print_domain(folder: Path) -> None:
    """The domain and its rules, to files."""
    drives = ["--profile", "zero-latency", "--mem", "128M", "--smp", "1",
              "--drive", f"tiny,size=8M,state={folder / 'second.state'}"]
    for name, option in (("domain.xml", []), (Path(DOMAIN).name, ["--apparmor"]),
                         (DAEMON, ["--apparmor-daemon"])):
        made = vssd("libvirt", NAME, *drives, *option)
        assert made.returncode == 0, made.stderr
        (folder / name).write_text(made.stdout)


def _page_of(folder: Path) -> None:
    """The domain of docs/your-qemu.md and its rules, to files, unless QEMU is one
    that has the device."""
    if emulator.is_built():
        return
    unmodified(folder)
    (folder / "page.xml").write_text(page_domain(OF_PAGE, EMULATOR))
    rules = PAGE.read_text().partition(f"```\n{PLUGIN} rm,\n")
    (folder / "page.rules").write_text(
        f"{PLUGIN} rm,\n" + rules[2].partition("```")[0])


def _wait_for_daemon(confined: Confined) -> None:
    end = time.monotonic() + UP_S
    while (done := confined.virsh("list")).status:
        assert time.monotonic() < end, done.err
        time.sleep(1)


@pytest.fixture(scope="module", name="confined")
def _confined(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Confined]:
    """The daemon is up, and confined; no rules for the domain yet."""
    if "VSSD_LONG" not in os.environ:
        pytest.skip("with --long only: a minute of CPU time")
    packages.ensure(packages.LIBVIRT)
    folder = tmp_path_factory.mktemp("apparmor")
    try:
        _print_domain(folder)
        _page_of(folder)
        share = links.Share(Path("/"), "", True)
        spec = env.spec([drive(env.overlay(folder))],
                        network=False, extra=links.share_arguments([share]))
        spec.append += BOOT
        with Guest(spec) as guest:
            assert guest.run("cat /sys/module/apparmor/parameters/enabled") \
                == "Y\n"
            guest.run(f"cat >/run/apparmor.sh <<'EOF'\n{SCRIPT.read_text()}EOF\n"
                      f"sh /run/apparmor.sh share0 '{_rules(folder)}'")
            found = Confined(guest, folder, str(env.qemu.emulator), str(env.qemu.img))
            _wait_for_daemon(found)
            yield found
    finally:
        for path in env.image.folder.parent.glob(f"libvirt-{NAME}-*"):
            path.unlink()


def test_confined(confined: Confined) -> None:
    """The daemon needs its rule, then the domain its rules; then that of the page
    needs its own."""
    _daemon_needs_its_rule(confined)
    _domain_needs_its_rules(confined)
    if not emulator.is_built():
        _domain_of_the_page(confined)


def _daemon_needs_its_rule(confined: Confined) -> None:
    """Without, it cannot ask the emulator what it can do."""
    label = confined.run("cat /proc/$(pidof libvirtd)/attr/current")
    assert label == "libvirtd (enforce)\n"
    define = "define", str(confined.folder / "domain.xml")
    assert confined.virsh(*define).status != 0
    named = f'name="{confined.emulator}"'
    assert named in "".join(confined.denied("libvirtd"))
    confined.permit(DAEMON)
    done = confined.virsh(*define)
    assert done.status == 0, done.err
    assert named not in "".join(confined.denied("libvirtd"))


def _domain_needs_its_rules(confined: Confined) -> None:
    """Without, it does not start; with them it starts, has its files open,
    answers, reads its first drive, and saves the state of the second one, and
    nothing is denied."""
    uuid = confined.virsh("domuuid", NAME).out.decode().strip()
    profile = f"libvirt-{uuid}"
    assert confined.virsh("start", NAME).status != 0
    assert f'name="{confined.emulator}"' in "".join(confined.denied(profile))
    confined.permit(DOMAIN)
    done = confined.virsh("start", NAME)
    assert done.status == 0, done.err
    pid = confined.run(f"cat /run/libvirt/qemu/{NAME}.pid").strip()
    label = confined.run(f"cat /proc/{pid}/attr/current")
    assert label == profile + " (enforce)\n"
    files = confined.run(f"readlink /proc/{pid}/fd/* || true")
    for part in ("disk.raw", f"libvirt-{NAME}-ssd1.qcow2"):
        assert f"{part}\n" in files
    assert confined.stats("ssd1")["profile"] == "tiny"
    _wait_for_reads(confined)
    state = confined.folder / "second.state"
    assert confined.result(f"test -e {state}").status == 1
    assert confined.virsh("destroy", NAME).status == 0
    assert int(confined.run(f"stat -c %s {state}")) > 0
    assert not state.exists()  # on this machine
    assert confined.denied(profile) == []


def _wait_for_reads(confined: Confined) -> None:
    """The firmware of the guest in the guest reads the first drive."""
    end = time.monotonic() + UP_S
    while confined.stats("ssd0")["requests"] == 0:
        assert time.monotonic() < end
        time.sleep(1)


def _domain_of_the_page(confined: Confined) -> None:
    """As it is printed, with the files where packages have them and an unmodified
    emulator; the rules above permit what that is started with."""
    for source, to in ((confined.folder / Path(EMULATOR).name, EMULATOR),
                       (Path(confined.emulator).with_name(qemu_plugin.NAME), PLUGIN),
                       (paths.find_profile(Path(PROFILE).stem), PROFILE)):
        confined.run(f"install -D {source} {to}")
    confined.run(f"mkdir -p $(dirname {IMAGE}); "
                 f"{confined.img} create -q -f qcow2 {IMAGE} 64M")
    confined.run(f"virsh -c qemu:///system define {confined.folder}/page.xml")
    uuid = confined.run(f"virsh -c qemu:///system domuuid {OF_PAGE}").strip()
    assert confined.virsh("start", OF_PAGE).status != 0
    assert f'name="{IMAGE}"' in "".join(confined.denied(f"libvirt-{uuid}"))
    confined.permit(DOMAIN, "page.rules")
    done = confined.virsh("start", OF_PAGE)
    assert done.status == 0, done.err
    assert confined.stats_at(OF_PAGE, ANONYMOUS)["profile"] == Path(PROFILE).stem
    assert confined.virsh("destroy", OF_PAGE).status == 0
    assert confined.denied(f"libvirt-{uuid}") == []
