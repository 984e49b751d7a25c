# SPDX-License-Identifier: GPL-2.0-or-later
"""A real libvirt daemon runs a domain that ./vssd libvirt prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from long_form import LONG, START, of_part

from conftest import Env, vssd
from vssd import paths
from vssd.build import emulator as emulators
from vssd.build import packages, qemu_package, qemu_plugin
from vssd.guest import hardware

NAME = "vssd-test"
START_S = 300
LOGIN_S = 1500
BOOTED = b"multi-user.target"
Virsh = Callable[..., str]
PAGE = paths.PROJECT / "docs/your-qemu.md"
# What the page's domain has in place of "...".
REST = """<name>{name}</name><memory unit='MiB'>512</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type>{kernel}</os>
  <features><acpi/></features><cpu mode='maximum'/>
  <devices><emulator>{emulator}</emulator><serial type='pty'/>
    <memballoon model='none'/></devices>
  <seclabel type='static' model='dac' relabel='no'><label>+0:+0</label></seclabel>"""
PLUGIN = f"/usr/lib/x86_64-linux-gnu/vssd/{qemu_plugin.NAME}"
PROFILE = "/usr/share/vssd/profiles/pm9a3.ini"
IMAGE = "/var/lib/libvirt/images/disk.qcow2"
ANONYMOUS = "/machine/peripheral-anon/device[0]"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """One in a mount namespace of its own.  It looks for emulators in PATH;
    virt-install makes no domain if there is none."""
    if os.geteuid() != 0:
        pytest.skip("a daemon of one's own needs root")
    packages.ensure(packages.LIBVIRT)
    script = Path(__file__).with_name("libvirtd.sh")
    emulator = emulators.ensure().emulator
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / emulator.name).symlink_to(emulator)
    daemon = subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "sh", str(script)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}"))

    try:
        _wait_until_up(daemon, virsh_of(daemon))
        yield daemon
    finally:
        daemon.terminate()
        daemon.communicate(timeout=120)


@pytest.fixture
def virsh(daemon: subprocess.Popen[str]) -> Virsh:
    """To talk to it."""
    return virsh_of(daemon)


def virsh_of(daemon: subprocess.Popen[str]) -> Virsh:
    """virsh where the daemon is."""
    def call(*args: str, text: str = "") -> str:
        done = subprocess.run(
            ["nsenter", "-m", "-t", str(daemon.pid), "virsh", "-c",
             "qemu:///system", *args], input=text, capture_output=True,
            text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"virsh {args}: {done.stderr}")
        return done.stdout

    return call


def _wait_until_up(daemon: subprocess.Popen[str], call: Virsh) -> None:
    end = time.monotonic() + START_S
    while True:
        if daemon.poll() is not None:
            assert daemon.stderr
            text = daemon.stderr.read()
            if "unshare failed" in text or "permission denied" in text:
                pytest.skip("no mount namespaces here")
            raise AssertionError(f"libvirtd ended: {text}")
        try:
            call("list")
            return
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def read_until(path: str, wanted: bytes, seconds: float) -> bytes:
    """Read a terminal until it shows something."""
    fd = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    seen = b""
    end = time.monotonic() + seconds
    try:
        while wanted not in seen and time.monotonic() < end:
            try:
                seen += os.read(fd, 65536)
            except BlockingIOError:
                time.sleep(0.2)
    finally:
        os.close(fd)
    return seen


def stats(virsh: Virsh, drive: str = "ssd0") -> dict[str, Any]:
    """A drive's statistics, as docs/libvirt.md reads them."""
    return stats_at(virsh, f"/machine/peripheral/{drive}")


def stats_at(virsh: Virsh, path: str) -> dict[str, Any]:
    """Those of the device at this place of QEMU's tree."""
    answer = json.loads(virsh(
        "qemu-monitor-command", NAME, json.dumps(
            {"execute": "qom-get",
             "arguments": {"path": path, "property": "stats"}})))
    found = answer["return"]
    assert isinstance(found, dict)
    return found


def unmodified(folder: Path) -> Path:
    """An emulator without the device; the domain loads that."""
    if emulators.is_built():
        pytest.skip("this QEMU has the device built in")
    package = qemu_plugin.package()
    path = folder / package.arch.emulator
    return qemu_package.write_start(path, package.start(path.name))


def page_domain(name: str, emulator: str, kernel: str = "") -> str:
    """The domain of docs/your-qemu.md."""
    text = PAGE.read_text()
    start = text.index("<domain ")
    found = text[start:text.index("```", start)]
    assert found.count("...") == 1
    return found.replace("...", REST.format(name=name, emulator=emulator,
                                            kernel=kernel))


@LONG
def test_the_domain_of_the_page(virsh: Virsh, daemon: subprocess.Popen[str],
                                env: Env, tmp_path: Path) -> None:
    """An unmodified emulator, the plug-in and a drive by qemu:commandline, with the
    files of this machine: the guest boots from it."""
    made = subprocess.run(
        ["nsenter", "-m", "-t", str(daemon.pid), "sh", "-ec",
         f'mkdir -p "$(dirname {IMAGE})"; "$@"', "sh", str(env.qemu.img), "create",
         "-q", "-f", "qcow2", "-F", "raw", "-b", str(env.image.disk), IMAGE],
        capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    kernel = (f"<kernel>{env.image.kernel}</kernel><initrd>{env.image.initrd}</initrd>"
              f"<cmdline>root={env.image.root} rw {hardware.KERNEL_ARGS}</cmdline>")
    text = page_domain(NAME, str(unmodified(tmp_path)), kernel)
    for old, new in ((PLUGIN, env.qemu.build / qemu_plugin.NAME),
                     (PROFILE, paths.find_profile(Path(PROFILE).stem))):
        assert text.count(old) == 1
        text = text.replace(old, str(new))
    virsh("define", "/dev/stdin", text=text)
    virsh("start", NAME)
    shown = read_until(virsh("ttyconsole", NAME).strip(), BOOTED, LOGIN_S)
    assert BOOTED in shown, shown[-2000:]
    found = stats_at(virsh, ANONYMOUS)
    assert found["profile"] == Path(PROFILE).stem
    assert found["requests"] > 100
    virsh("destroy", NAME)
    virsh("undefine", NAME)


@pytest.fixture
def no_images(env: Env) -> Iterator[None]:
    """The images of the domain go at the end."""
    yield
    for path in env.image.folder.parent.glob(f"libvirt-{NAME}-*"):
        path.unlink()


@of_part(*START, "scripts/vssd/cli/libvirt.py", "scripts/vssd/cli/parsing.py")
@pytest.mark.usefixtures("no_images")
def test_a_domain_from_define_to_undefine(virsh: Virsh) -> None:
    """Two drives in slots: log in, read statistics, plug a device, snapshot,
    save and start, destroy, undefine."""
    made = vssd("libvirt", NAME, "--profile", "zero-latency",
                "--drive", "tiny,size=8M,serial=SECOND")
    assert made.returncode == 0, made.stderr
    assert NAME in virsh("define", "/dev/stdin", text=made.stdout)
    virsh("start", NAME)
    console = virsh("ttyconsole", NAME).strip()
    shown = read_until(console, b"vssd login: ", LOGIN_S)
    assert b"GNU GRUB" in shown
    assert b"vssd login: " in shown, shown[-2000:]
    first = stats(virsh)
    assert first["requests"] > 100
    assert first["profile"] == "zero-latency"
    assert stats(virsh, "ssd1")["profile"] == "tiny"
    _plug_a_device(virsh)
    _snapshot(virsh)
    _managed_save(virsh)
    assert "running" in virsh("domstate", NAME)
    virsh("destroy", NAME)
    virsh("undefine", NAME)
    assert NAME not in virsh("list", "--all")


def _plug_a_device(virsh: Virsh) -> None:
    """libvirt has ports for devices that come later."""
    device = "<rng model='virtio'><backend model='random'>/dev/urandom" \
        "</backend></rng>"
    virsh("attach-device", NAME, "/dev/stdin", "--live", text=device)
    assert "virtio-rng" in virsh("qemu-monitor-command", "--hmp", NAME,
                                 "info qtree")


def _snapshot(virsh: Virsh) -> None:
    """One of QEMU's own: memory, drives and their images."""
    def hmp(line: str) -> str:
        return virsh("qemu-monitor-command", "--hmp", NAME, line)

    before = stats(virsh)["requests"]
    assert "rror" not in hmp("savevm before")
    assert "before" in hmp("info snapshots")
    assert "rror" not in hmp("loadvm before")
    assert stats(virsh)["requests"] >= before
    hmp("delvm before")


def _managed_save(virsh: Virsh) -> None:
    """Guest and drives go to a file; the next start continues from it."""
    both = ("ssd0", "ssd1")
    virsh("managedsave", NAME)
    assert "shut off" in virsh("domstate", NAME)
    assert re.search(r"Managed save: +yes", virsh("dominfo", NAME))
    # A drive that was made new would have no request yet.
    virsh("start", NAME, "--paused")
    after = [stats(virsh, drive) for drive in both]
    assert [one["profile"] for one in after] == ["zero-latency", "tiny"]
    assert after[0]["requests"] > 100
    assert after[1]["requests"] > 0
    virsh("resume", NAME)
    end = time.monotonic() + START_S
    while stats(virsh)["sim_ns"] <= after[0]["sim_ns"]:
        assert time.monotonic() < end
        time.sleep(0.5)
    assert re.search(r"Managed save: +no", virsh("dominfo", NAME))


@pytest.mark.usefixtures("no_images")
def test_a_second_define_updates(virsh: Virsh,
                                 daemon: subprocess.Popen[str]) -> None:
    """The same domain, with what is new."""
    found = []
    for mem in ("512M", "768M"):
        done = subprocess.run(
            ["nsenter", "-m", "-t", str(daemon.pid),
             str(paths.PROJECT / "vssd"), "libvirt", NAME, "--mem", mem,
             "--define"], text=True, capture_output=True, check=False,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, LIBVIRT_DEFAULT_URI="qemu:///system"))
        assert done.returncode == 0, done.stderr
        found.append((virsh("domuuid", NAME), virsh("dumpxml", NAME)))
    assert found[0][0] == found[1][0]
    assert "786432</memory>" in found[1][1]
    virsh("undefine", NAME)


@LONG
@pytest.mark.usefixtures("no_images")
def test_virt_install(virsh: Virsh, daemon: subprocess.Popen[str]) -> None:
    """The printed command makes a domain and starts it; its guest boots from
    the first drive, both are in slots, and another device can be plugged."""
    made = vssd("libvirt", NAME, "--profile", "zero-latency", "--set",
                "nand.read=3us", "--drive", "tiny,size=8M,serial=SECOND",
                "--virt-install")
    assert made.returncode == 0, made.stderr
    done = subprocess.run(
        ["nsenter", "-m", "-t", str(daemon.pid), "sh", "-c",
         made.stdout.strip() + " --rng /dev/urandom"], text=True,
        capture_output=True, check=False, stdin=subprocess.DEVNULL,
        env=dict(os.environ, LIBVIRT_DEFAULT_URI="qemu:///system"))
    assert done.returncode == 0, done.stderr + done.stdout
    shown = read_until(virsh("ttyconsole", NAME).strip(), b"vssd login: ",
                       LOGIN_S)
    assert b"vssd login: " in shown, shown[-2000:]
    assert stats(virsh)["profile"] == "zero-latency"
    assert stats(virsh, "ssd1")["requests"] > 0
    again = vssd("libvirt", NAME).stdout
    uuid = re.search("<uuid>(.*)</uuid>", again)
    assert uuid and uuid[1] == virsh("domuuid", NAME).strip()
    virsh("destroy", NAME)
    virsh("undefine", NAME)


@pytest.mark.usefixtures("no_images")
def test_apparmor_takes_the_rules(tmp_path: Path, env: Env) -> None:
    """In a profile, by AppArmor's own compiler."""
    packages.ensure(packages.LIBVIRT)
    made = vssd("libvirt", NAME, "--apparmor", "--drive",
                "tiny,size=8M,state=" + str(tmp_path / "a b"))
    assert made.returncode == 0, made.stderr
    assert str(env.image.disk) in made.stdout
    profile = tmp_path / "profile"
    profile.write_text("profile vssd-test {\n" + made.stdout + "}\n")
    done = subprocess.run(
        ["apparmor_parser", "--skip-kernel-load", "--skip-cache", str(profile)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_define_needs_virsh(env: Env, tmp_path: Path) -> None:
    """Without virsh: what to install."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("env", "sh", "dirname", "readlink", "id", "uname", "cat",
                 "dpkg-query", "ninja", "git"):
        for folder in ("/usr/bin", "/bin"):
            if Path(folder, name).exists():
                (tools / name).symlink_to(Path(folder, name))
                break
    done = vssd("libvirt", NAME, "--define", env={"PATH": str(tools)})
    for path in env.image.folder.parent.glob(f"libvirt-{NAME}-*"):
        path.unlink()
    assert done.returncode == 1
    assert "libvirt-clients" in done.stderr


def page_swap(folder: Path) -> list[str]:
    """The QMP commands of docs/libvirt.md by which a namespace gets another image, with
    images and a profile of ours."""
    text = (paths.PROJECT / "docs/libvirt.md").read_text()
    start = text.index("## Another image")
    found = re.findall(r"^    virsh qemu-monitor-command NAME '(.*)'$",
                       text[start:text.index("##", start + 2)], re.M)
    assert len(found) == 7
    return [command.replace("/images", str(folder)).replace(
        "/usr/share/vssd/profiles", str(paths.PROJECT / "profiles")) for command in found]


@of_part(*START, "scripts/vssd/cli/libvirt.py", "hw-ssd/qemu/", "docs/libvirt.md")
@pytest.mark.usefixtures("no_images")
def test_a_namespace_gets_another_image(virsh: Virsh, env: Env, tmp_path: Path) -> None:
    """The commands of the page, in their order: the old image is free in the middle,
    and the new one is in use at the end."""
    images = [tmp_path / f"{name}.raw" for name in ("one", "two", "new")]
    for path in images:
        path.write_bytes(bytes(8 << 20))
    made = vssd("libvirt", NAME)
    assert made.returncode == 0, made.stderr
    virsh("define", "/dev/stdin", text=made.stdout)
    virsh("start", NAME)

    def in_use() -> list[bool]:
        return [subprocess.run(
            [str(env.qemu.img.with_name("qemu-io")), "-f", "raw", "-c", "length", str(path)],
            check=False, capture_output=True).returncode != 0 for path in images]

    seen = []
    try:
        for command in page_swap(tmp_path):
            answer = json.loads(virsh("qemu-monitor-command", NAME, command))
            assert "error" not in answer, (command, answer)
            seen.append(in_use())
        assert "running" in virsh("domstate", NAME)
    finally:
        virsh("destroy", NAME)
        virsh("undefine", NAME)
    assert seen[2:] == [[True, True, False], *[[True, False, False]] * 3,
                        [True, False, True]]
