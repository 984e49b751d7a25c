# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest does to a shared folder gives nobody on the host more rights.

QEMU serves 9p with security_model=none, since its mapped models do not follow
links that the host made.  A filter of system calls (seccomp) then keeps from the
host: set-uid and set-gid bits, device nodes, foreign owners and groups, and file
capabilities with all other extended attributes.  The filter holds for the whole
of QEMU and its children.

- QEMU's 9p makes these system calls itself; io_uring, which no filter sees, is
  only for images there, and a guest does not choose a ring's operations.
- Writes into a set-uid program take the bit, since CAP_FSETID is dropped.
- mkdir(2) takes no set-uid or set-gid bit from its mode; it is not filtered.
- QEMU ignores that a new file's owner cannot be set.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import UserError

Code = list[bytes]  # instructions of classic BPF

LOAD, AND, JUMP, EQUAL, ABOVE, ANY_BIT, RETURN = \
    0x20, 0x54, 0x05, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7fff0000, 0x00050000  # with errno; 0: as if done
NR, ARCH, ARGS = 0, 4, 16  # offsets in struct seccomp_data
X32 = 0x40000000  # numbers from here on are another ABI's
PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 24, 38
SET_MODE_FILTER, SPEC_ALLOW = 1, 4  # without what slows the process down
NOBODY = 0xffffffff  # an owner that stays
MOST_GROUPS = 256
SET_ID = stat.S_ISUID | stat.S_ISGID
CREATES = os.O_CREAT | 0o20000000  # __O_TMPFILE
DEVICE_BITS, DEVICE = 0o130000, stat.S_IFCHR  # S_IFBLK has them, too
# CAP_CHOWN, CAP_FSETID, CAP_MKNOD, CAP_SETFCAP.  With CAP_FSETID, writes into a
# set-uid program would leave the bit.
CAPABILITIES = (0, 4, 27, 31)
CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Calls:
    """The system calls of a processor."""

    audit: int         # AUDIT_ARCH_*
    seccomp: int
    numbers: dict[str, int]


LATER = {"openat2": 437, "fchmodat2": 452, "setxattrat": 463}
CALLS = {
    "x86_64": Calls(0xc000003e, 317, {
        "open": 2, "creat": 85, "chmod": 90, "fchmod": 91, "chown": 92,
        "fchown": 93, "lchown": 94, "mknod": 133, "setxattr": 188,
        "lsetxattr": 189, "fsetxattr": 190, "openat": 257, "mknodat": 259,
        "fchownat": 260, "fchmodat": 268, **LATER}),
    "aarch64": Calls(0xc00000b7, 277, {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "mknodat": 33,
        "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55,
        "openat": 56, **LATER}),
}


def _op(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, k)


def _arg(i: int) -> bytes:
    """Load the lower half of an argument; the processors are little-endian."""
    return _op(LOAD, ARGS + 8 * i)


def _refuse(number: int) -> bytes:
    return _op(RETURN, REFUSE | number)


def _mode(i: int) -> Code:
    return [_arg(i), _op(ANY_BIT, SET_ID, 0, 1), _refuse(errno.EPERM),
            _op(RETURN, ALLOW)]


def _open(flags: int, mode: int) -> Code:
    return [_arg(flags), _op(ANY_BIT, CREATES, 1), _op(RETURN, ALLOW),
            *_mode(mode)]


def _chmod(i: int) -> Code:
    """Linux in a guest asks for the set-gid bit of a new directory when the
    folder above it has the bit, and QEMU removes the directory when chmod fails.
    The host has set the bit then, so this is as if done.  A guest's own chmod has
    the file's type in its mode, and fails."""
    return [_arg(i), _op(ANY_BIT, SET_ID, 1), _op(RETURN, ALLOW),
            _op(ANY_BIT, stat.S_ISUID | 0o170000, 0, 1), _refuse(errno.EPERM),
            _refuse(0)]


def _mknod(i: int) -> Code:
    return [_arg(i), _op(ANY_BIT, SET_ID, 2), _op(AND, DEVICE_BITS),
            _op(EQUAL, DEVICE, 0, 1), _refuse(errno.EPERM), _op(RETURN, ALLOW)]


def _chown(i: int) -> Code:
    code = [_arg(i), _op(EQUAL, NOBODY, 2), _op(EQUAL, os.geteuid(), 1),
            _refuse(errno.EPERM), _arg(i + 1)]
    for group in (NOBODY, os.getegid(), *os.getgroups()[:MOST_GROUPS]):
        code += [_op(EQUAL, group, 0, 1), _op(RETURN, ALLOW)]
    return [*code, _refuse(errno.EPERM)]


def _rules() -> dict[str, Code]:
    """What becomes of each call; all others are allowed."""
    return {
        "open": _open(1, 2), "openat": _open(2, 3), "creat": _mode(1),
        "openat2": [_refuse(errno.ENOSYS)],  # its mode is in memory
        "chmod": _chmod(1), "fchmod": _chmod(1), "fchmodat": _chmod(2),
        "fchmodat2": _chmod(2), "mknod": _mknod(1), "mknodat": _mknod(2),
        "chown": _chown(1), "lchown": _chown(1), "fchown": _chown(1),
        "fchownat": _chown(2),
        **{name: [_refuse(errno.EOPNOTSUPP)] for name in
           ("setxattr", "lsetxattr", "fsetxattr", "setxattrat")}}


def program(calls: Calls) -> bytes:
    """The filter, for this process's user and groups."""
    code = [_op(LOAD, ARCH), _op(EQUAL, calls.audit, 1),
            _refuse(errno.ENOSYS), _op(LOAD, NR),
            _op(ABOVE, X32, 0, 1), _refuse(errno.ENOSYS)]
    for name, rule in _rules().items():
        if name in calls.numbers:
            code += [_op(EQUAL, calls.numbers[name], 1), _op(JUMP, len(rule)),
                     *rule]
    return b"".join([*code, _op(RETURN, ALLOW)])


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("instructions", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _drop(libc: ctypes.CDLL) -> None:
    """What this process executes has none of the capabilities.  They come from
    the bounding set, if it is root, and from the inheritable and ambient sets."""
    for capability in CAPABILITIES:
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        if os.geteuid() == 0 and libc.prctl(PR_CAPBSET_READ, capability, 0, 0, 0):
            raise PermissionError(errno.EPERM, "no CAP_SETPCAP")
    header = struct.pack("=II", CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    sets[2] &= ~sum(1 << capability for capability in CAPABILITIES)
    if libc.capset(header, sets):  # takes them from the ambient set, too
        raise OSError(ctypes.get_errno(), "capset")


def installer() -> Callable[[], None]:
    """What a child calls before it starts QEMU.  UserError where there is no
    filter."""
    calls = CALLS.get(platform.machine())
    if not calls or sys.maxsize < 1 << 32:
        raise UserError(
            f"--share: vssd cannot confine a guest on {platform.machine()}"
            " hosts; give --share DIR,raw to share without")
    code = program(calls)
    whole = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    number = calls.seccomp

    def install() -> None:
        _drop(libc)
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
                libc.syscall(number, SET_MODE_FILTER, SPEC_ALLOW,
                             ctypes.byref(whole)):
            raise OSError(ctypes.get_errno(), "seccomp")

    return install
