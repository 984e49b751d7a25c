# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library: its header as CFFI reads it, the library, and its errors."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any

from cffi import FFI

HERE = Path(__file__).parent
LIBRARY = "libvssd.so.1"  # beside this file, else of the system
HEADERS = ("vssd-policy.h", "vssd.h")
MESSAGE_BYTES = 1024


class VssdError(Exception):
    """An error of the library: its one line, and errno."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.errno = number


def declarations(header: str) -> str:
    """What CFFI parses of a header: no comments, no preprocessor; numbers in
    place of the macros that stand for them."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r'#ifdef __cplusplus.*?#endif', "", text, flags=re.S)
    macros = dict(re.findall(r"^#define (VSSD_\w+)\s+(\w+)$", text, flags=re.M))
    text = re.sub(r"^#(?:.*\\\n)*.*$|^__attribute__.*$", "", text, flags=re.M)
    for name, value in macros.items():
        number = value.removesuffix("ULL").removesuffix("U")
        if number.isdigit():
            text = re.sub(rf"\b{name}\b", number, text)
    return text


def _header(name: str) -> str:
    for path in (HERE / name, Path("/usr/include/vssd") / name,
                 Path("/usr/local/include/vssd") / name):
        if path.exists():
            return path.read_text(encoding="utf-8")
    raise ImportError(f"libvssd: there is no {name}: install the wheel, or the"
                      " headers of the library")


def _open() -> tuple[FFI, Any]:
    ffi = FFI()
    ffi.cdef("\n".join(declarations(_header(name)) for name in HEADERS))
    beside = HERE / LIBRARY
    return ffi, ffi.dlopen(str(beside) if beside.exists() else LIBRARY)


ffi, lib = _open()


def text(pointer: Any) -> str:
    """A string of the library that stays the library's."""
    return str(ffi.string(pointer).decode(errors="replace"))


def taken(pointer: Any) -> str | None:
    """A string of the library that is the caller's; None: NULL."""
    if pointer == ffi.NULL:
        return None
    try:
        return text(pointer)
    finally:
        lib.vssd_free(pointer)


def failure(number: int, message: str) -> VssdError:
    """An error by what the library returned."""
    return VssdError(-number, message or os.strerror(-number))


def is_again(number: int) -> bool:
    """Is it the error of a full queue?"""
    return number == -errno.EAGAIN
