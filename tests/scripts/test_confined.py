# SPDX-License-Identifier: GPL-2.0-or-later
"""The filter of system calls under which QEMU shares folders: what it refuses,
and what goes on, called in a child that has it."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import errno
import json
import os
import platform
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.guest import confined, hardware, links, machine
from vssd_lab.suites import target

OTHER = 54321  # a user and a group that nobody is
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
CAP_SETPCAP = 8
SETUP = """
import ctypes, json, os, stat, struct, sys
numbers, folder, other = json.loads(sys.argv[1])
os.chdir(folder)
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a)
            for a in args]
    if libc.syscall(ctypes.c_long(numbers[name]), *args) < 0:
        raise OSError(ctypes.get_errno(), name)
own = os.open("own", os.O_WRONLY | os.O_CREAT, 0o644)
AT, CREATE = -100, os.O_CREAT | os.O_WRONLY
FILE, CHR, BLK = stat.S_IFREG, stat.S_IFCHR, stat.S_IFBLK
said = {}
def tried(what):
    try:
        exec(what)
        said[what] = 0
    except OSError as e:
        said[what] = e.errno
"""
ANYWHERE = [  # call, the errno
    ('call("openat", AT, b"a1", CREATE, 0o4755)', errno.EPERM),
    ('call("openat", AT, b"a2", CREATE, 0o2755)', errno.EPERM),
    ('call("openat", AT, b".", os.O_TMPFILE | os.O_WRONLY, 0o4755)',
     errno.EPERM),
    ('call("openat", AT, b"a3", CREATE, 0o1644)', 0),
    ('call("openat", AT, b"own", os.O_RDONLY, 0o4755)', 0),
    ('call("openat2", AT, b"a4", b"", 0)', errno.ENOSYS),
    ('call("fchmod", own, 0o4755)', errno.EPERM),
    ('call("fchmod", own, 0o6755)', errno.EPERM),
    ('call("fchmod", own, FILE | 0o2755)', errno.EPERM),
    ('call("fchmod", own, 0o2755)', 0),  # as if done
    ('call("fchmod", own, FILE | 0o1755)', 0),
    ('call("fchmodat", AT, b"own", FILE | 0o4644)', errno.EPERM),
    ('call("fchmodat", AT, b"own", FILE | 0o640)', 0),
    ('call("fchmodat2", AT, b"own", FILE | 0o4755, 0)', errno.EPERM),
    ('call("mknodat", AT, b"m1", CHR | 0o666, os.makedev(1, 3))', errno.EPERM),
    ('call("mknodat", AT, b"m2", CHR | 0o666, 0)', errno.EPERM),
    ('call("mknodat", AT, b"m3", BLK | 0o666, os.makedev(7, 0))', errno.EPERM),
    ('call("mknodat", AT, b"m4", FILE | 0o4755, 0)', errno.EPERM),
    ('call("mknodat", AT, b"m5", FILE | 0o644, 0)', 0),
    ('call("mknodat", AT, b"m6", 0o644, 0)', 0),
    ('call("mknodat", AT, b"m7", stat.S_IFIFO | 0o644, 0)', 0),
    ('call("mknodat", AT, b"m8", stat.S_IFSOCK | 0o644, 0)', 0),
    ('call("fchown", own, other, -1)', errno.EPERM),
    ('call("fchown", own, -1, other)', errno.EPERM),
    ('call("fchown", own, os.geteuid(), os.getegid())', 0),
    ('call("fchown", own, -1, -1)', 0),
    ('call("fchownat", AT, b"own", other, other, 0)', errno.EPERM),
    ('call("fchownat", AT, b"own", -1, os.getegid(), 0)', 0),
    ('call("setxattr", b"own", b"security.capability", b"x", 1, 0)',
     errno.EOPNOTSUPP),
    ('call("lsetxattr", b"own", b"user.x", b"x", 1, 0)', errno.EOPNOTSUPP),
    ('call("fsetxattr", own, b"user.x", b"x", 1, 0)', errno.EOPNOTSUPP),
    ('call("setxattrat", AT, b"own", 0, b"user.x", b"", 16)',
     errno.EOPNOTSUPP),
    # The kernel drops the bits; Linux in a guest gives the second one.
    ('os.mkdir("d1", 0o6755)', 0),
    ('os.symlink("own", "l1")', 0),
    ('os.symlink("/nowhere/at all", "l2")', 0),
    ('os.chown("l1", other, other, follow_symlinks=False)', errno.EPERM),
    ('os.link("own", "l3")', 0),
    ('os.rename("l3", "l4")', 0),
    ('open("made on the host").close()', 0),
]
X86 = [
    ('call("open", b"x1", CREATE, 0o4755)', errno.EPERM),
    ('call("open", b"x2", CREATE, 0o644)', 0),
    ('call("creat", b"x3", 0o2755)', errno.EPERM),
    ('call("chmod", b"own", FILE | 0o4755)', errno.EPERM),
    ('call("chmod", b"own", FILE | 0o600)', 0),
    ('call("mknod", b"x4", CHR | 0o666, os.makedev(1, 3))', errno.EPERM),
    ('call("mknod", b"x5", stat.S_IFIFO | 0o666, 0)', 0),
    ('call("chown", b"own", other, -1)', errno.EPERM),
    ('call("lchown", b"own", -1, other)', errno.EPERM),
]


@pytest.fixture(params=["disk", "tmpfs"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """On the disk, and on a file system in memory."""
    if request.param == "disk":
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        assert target.filesystem(Path(name)) == "tmpfs"
        yield Path(name)


def in_child(script: str, folder: Path,
             confine: Callable[[], None] | None = None) -> str:
    """Run a script in a folder under the filter; its output."""
    calls = confined.CALLS[platform.machine()]
    given = json.dumps([calls.numbers, str(folder), OTHER])
    return subprocess.run(
        [sys.executable, "-c", SETUP + script, given], text=True, check=True,
        stdout=subprocess.PIPE,
        preexec_fn=confine or confined.installer()).stdout


def with_ambient() -> None:
    """As QEMU is started by a root whose programs inherit capabilities."""
    libc = ctypes.CDLL(None)
    header = struct.pack("=II", confined.CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    sets[2], sets[5] = sets[1], sets[4]
    libc.capset(header, sets)
    for capability in confined.CAPABILITIES:
        libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)
    machine._child_of_ours(True)()


def test_each_call(folder: Path) -> None:
    """Its errno; and nothing that gives rights is in the folder then."""
    (folder / "target").write_text("of the host")
    (folder / "made on the host").symlink_to("target")
    rows = ANYWHERE + X86 * (platform.machine() == "x86_64")
    script = "".join(f"tried({what!r})\n" for what, _ in rows)
    said = json.loads(in_child(script + "print(json.dumps(said))", folder))
    assert said == dict(rows)
    for path in folder.iterdir():
        found = path.lstat()
        assert not found.st_mode & 0o6000, path
        assert not stat.S_ISCHR(found.st_mode), path
        assert not stat.S_ISBLK(found.st_mode), path
        assert (found.st_uid, found.st_gid) == (os.geteuid(), os.getegid())
        assert path.is_symlink() or "security.capability" not in \
            os.listxattr(path)
    assert os.readlink(folder / "l1") == "own"
    assert os.readlink(folder / "l2") == "/nowhere/at all"


def test_set_gid_folder_of_the_host(folder: Path) -> None:
    """A guest's folder in it has the bit, as the host's have, and chmod to what
    Linux asks for does not fail."""
    folder.chmod(0o2755)
    in_child('os.mkdir("d", 0o2755); os.chmod("d", 0o2755)', folder)
    assert (folder / "d").stat().st_mode & 0o7777 == 0o2755


def test_set_uid_program_that_is_overwritten(folder: Path) -> None:
    """It has the bit no more, though root writes."""
    (folder / "own").write_text("of the host")
    (folder / "own").chmod(0o4755)
    in_child('os.write(own, b"of the guest")', folder)
    assert (folder / "own").read_text() == "of the guest"
    assert (folder / "own").stat().st_mode & 0o7777 == 0o755


def test_children_and_other_abis(tmp_path: Path) -> None:
    """A program that is started has the filter, and no set-uid program helps;
    system calls of another ABI do not exist."""
    in_child('assert os.system("chmod 4755 own 2>&-") != 0\n'
             'assert "NoNewPrivs:\\t1" in open("/proc/self/status").read()\n'
             'numbers["other"] = 0x40000000 + 39\n'
             'tried("call(\'other\')")\n'
             f'assert list(said.values()) == [{errno.ENOSYS}]', tmp_path)
    assert (tmp_path / "own").stat().st_mode & 0o7777 == 0o644


def answer(code: bytes, audit: int, number: int, *args: int) -> int:
    """Run the filter as the kernel does; what it returns."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *args, *[0] * (6 - len(args)))
    steps = list(struct.iter_unpack("=HBBI", code))
    at = value = 0
    while True:
        op, yes, no, k = steps[at]
        at += 1
        if op == confined.LOAD:
            value, = struct.unpack_from("<I", data, k)
        elif op == confined.AND:
            value &= k
        elif op == confined.JUMP:
            at += k
        elif op == confined.RETURN:
            return int(k)
        else:
            holds = {confined.EQUAL: value == k, confined.ABOVE: value >= k,
                     confined.ANY_BIT: value & k != 0}[op]
            at += yes if holds else no


HERE = (1 << 64) - 100  # AT_FDCWD
REFUSED = [  # name, arguments, errno
    ("openat", (HERE, 0, os.O_CREAT, 0o4755), errno.EPERM),
    ("openat", (HERE, 0, os.O_TMPFILE, 0o2755), errno.EPERM),
    ("openat2", (HERE, 0, 0, 24), errno.ENOSYS),
    ("fchmod", (3, 0o4755), errno.EPERM),
    ("fchmodat", (HERE, 0, 0o102755), errno.EPERM),
    ("fchmodat2", (HERE, 0, 0o6755, 0), errno.EPERM),
    ("mknodat", (HERE, 0, 0o104755, 0), errno.EPERM),
    ("mknodat", (HERE, 0, 0o20666, 0x103), errno.EPERM),
    ("mknodat", (HERE, 0, 0o60666, 0x700), errno.EPERM),
    ("fchown", (3, OTHER, (1 << 64) - 1), errno.EPERM),
    ("fchownat", (HERE, 0, (1 << 32) - 1, OTHER, 0), errno.EPERM),
    ("setxattr", (0, 0, 0, 0, 0), errno.EOPNOTSUPP),
    ("lsetxattr", (0, 0, 0, 0, 0), errno.EOPNOTSUPP),
    ("fsetxattr", (3, 0, 0, 0, 0), errno.EOPNOTSUPP),
    ("setxattrat", (HERE, 0, 0, 0, 0, 16), errno.EOPNOTSUPP),
]


@pytest.mark.parametrize("name", confined.CALLS)
def test_each_processor(name: str) -> None:
    """The filter refuses the same with each; a 32-bit program has no system
    call at all.  Only x86-64 has the old calls."""
    calls = confined.CALLS[name]
    code = confined.program(calls)
    assert len(code) // 8 <= 4096  # what the kernel takes
    assert ("chmod" in calls.numbers) == (name == "x86_64")
    for call, args, error in REFUSED:
        found = answer(code, calls.audit, calls.numbers[call], *args)
        assert found == confined.REFUSE | error, (call, args)
    for call, args in (("openat", (HERE, 0, os.O_CREAT, 0o1755)),
                       ("fchmod", (3, 0o101777)),
                       ("mknodat", (HERE, 0, 0o10666, 0)),
                       ("fchown", (3, os.geteuid(), os.getegid()))):
        assert answer(code, calls.audit, calls.numbers[call],
                      *args) == confined.ALLOW, call
    assert answer(code, calls.audit, calls.seccomp) == confined.ALLOW
    for other in (0x40000003, 0x40000028):  # i386, ARM
        assert answer(code, other, 1) == confined.REFUSE | errno.ENOSYS


def test_rights_to_bits_are_gone(tmp_path: Path) -> None:
    """From all sets, though they were inheritable and ambient; the child still
    ends with its parent.  No program takes from a user's bounding set."""
    lines = in_child("""
for line in open("/proc/self/status"):
    if line.startswith("Cap") and (os.geteuid() == 0 or "Bnd" not in line):
        said[line[:6]] = int(line.split()[1], 16)
print(json.dumps(said))
signal = ctypes.c_int()
libc.prctl(2, ctypes.byref(signal), 0, 0, 0)
print(signal.value)""", tmp_path, with_ambient).splitlines()
    bits = sum(1 << capability for capability in confined.CAPABILITIES)
    sets = json.loads(lines[0])
    assert {"CapInh", "CapPrm", "CapEff", "CapAmb"} <= set(sets)
    assert not any(value & bits for value in sets.values())
    assert lines[1] == "9"


def test_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused in one line, which says what to do."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    spec = hardware.Spec(Path("/bin/false"), "tcg", [], confined=True)
    with pytest.raises(UserError, match="^--share: vssd cannot confine a guest"
                       " on riscv64 hosts; give --share DIR,raw"):
        asyncio.run(machine.Machine(spec).start())


def test_a_kernel_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused in one line; QEMU does not start without the filter."""
    monkeypatch.setitem(
        confined.CALLS, platform.machine(),
        confined.Calls(0, 1 << 20, {}))  # no such system call
    spec = hardware.Spec(Path("/bin/false"), "tcg", [], confined=True)
    with pytest.raises(UserError, match="^--share: QEMU's rights cannot be"
                       ) as e:
        asyncio.run(machine.Machine(spec).start())
    assert "\n" not in str(e.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="a root without CAP_SETPCAP")
def test_root_that_keeps_its_rights(tmp_path: Path) -> None:
    """The child does not start when CAP_FSETID cannot be dropped."""
    def without() -> None:
        libc = ctypes.CDLL(None)
        header = struct.pack("=II", confined.CAPABILITY_VERSION, 0)
        sets = (ctypes.c_uint32 * 6)()
        libc.capget(header, sets)
        sets[0] &= ~(1 << CAP_SETPCAP)
        libc.capset(header, sets)
        confined.installer()()

    with pytest.raises(subprocess.SubprocessError):
        in_child("", tmp_path, without)


def test_shares_of_suites(monkeypatch: pytest.MonkeyPatch,
                          tmp_path: Path) -> None:
    """Read only, and under the filter."""
    found: list[hardware.Spec] = []

    def guest(spec: hardware.Spec) -> MagicMock:
        found.append(spec)
        return MagicMock()

    for name in ("emulator", "image", "kvm"):
        monkeypatch.setattr(target, name, MagicMock())
    monkeypatch.setattr(target, "Guest", guest)
    for share in (tmp_path, None):
        setup = target.Setup("vssd", tmp_path, 1 << 20, Path("p"), share=share)
        target.Target(setup, tmp_path).restart()
    assert [spec.confined for spec in found] == [True, False]
    assert f"local,id=suite,path={tmp_path},security_model=none,readonly=on" \
        in found[0].extra


def parsed(*folders: str) -> argparse.Namespace:
    """The options of a run with these folders."""
    args = cli.parser().parse_args(
        ["run", *(x for name in folders for x in ("--share", name))])
    links.check(args)
    return args


def test_raw_by_name(monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:
    """Without the filter, with a warning for root; not beside a folder that
    relies on it."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert links.confines(parsed("/etc").shares)
    assert links.confines(parsed("/etc,ro").shares)
    assert not links.confines(parsed().shares)
    share, = parsed("/etc:/x,raw").shares
    assert (share.folder, share.at, share.raw) == (Path("/etc"), "/x", True)
    assert not links.confines([share])
    assert not links.confines(parsed("/etc,raw", "/usr,ro").shares)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    parsed("/etc,raw")
    assert "warning: --share /etc,raw as root" in capsys.readouterr().err
    with pytest.raises(UserError, match="^--share /etc,raw: raw holds for"):
        parsed("/usr", "/etc,raw")
