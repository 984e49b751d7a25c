# SPDX-License-Identifier: GPL-2.0-or-later
"""Does io_uring work here, in the host's kernel and in this QEMU?

QEMU's default gives each request on an image to a pool of threads.  By io_uring
what the page cache has is there at once, without a thread that is woken.  A
kernel may lack it or forbid it (sysctl kernel.io_uring_disabled, containers),
and so may a build of QEMU; a block node that asks for it does not open then.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from pathlib import Path

SETUP = 425  # of all architectures
ENTRIES = 128  # as QEMU asks for
PARAMS_BYTES = 120  # struct io_uring_params
LIBRARY = b"liburing.so"  # that the program needs


@functools.cache
def kernel_has() -> bool:
    """May this process have a ring?"""
    params = ctypes.create_string_buffer(PARAMS_BYTES)
    fd = ctypes.CDLL(None, use_errno=True).syscall(SETUP, ENTRIES, params)
    if fd < 0:
        return False
    os.close(fd)
    return True


@functools.cache
def program_has(emulator: Path) -> bool:
    """Is this program linked with it?"""
    try:
        with emulator.open("rb") as file, \
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(LIBRARY) >= 0
    except (OSError, ValueError):  # an empty file
        return False


def works(emulator: Path) -> bool:
    """May its block nodes of files have aio=io_uring?"""
    return kernel_has() and program_has(emulator)
