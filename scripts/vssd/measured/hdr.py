# SPDX-License-Identifier: GPL-2.0-or-later
"""Latency histograms that vssd-sim --histograms writes, read.

Knows the log format of HdrHistogram (1.3, encoding V2, uncompressed).
"""

from __future__ import annotations

import base64
import struct
import zlib

Counts = list[tuple[int, int]]  # ascending: highest value of a bucket, count


def _numbers(data: bytes) -> list[int]:
    """Zigzag LEB128; the ninth byte has eight bits."""
    out, i = [], 0
    while i < len(data):
        value = shift = 0
        for k in range(9):
            byte = data[i]
            i += 1
            if k == 8:
                value |= byte << shift
                break
            value |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                break
        out.append((value >> 1) ^ -(value & 1))
    return out


def _counts(blob: bytes) -> Counts:
    if blob[:3] == b"\x1c\x84\x93" and blob[3] & 0xf == 4:
        blob = zlib.decompress(blob[8:])
    _, length, _, digits, low, _, _ = struct.unpack_from(">iiiiqqd", blob)
    largest = 2 * 10 ** digits
    magnitude = max((largest - 1).bit_length(), 1)
    half = 1 << (magnitude - 1)
    unit = max(low, 1).bit_length() - 1
    out, at = [], 0
    for number in _numbers(blob[40:40 + length]):
        if number < 0:
            at -= number
            continue
        if number:
            bucket = (at >> (magnitude - 1)) - 1
            sub = (at & (half - 1)) + half
            if bucket < 0:
                bucket, sub = 0, sub - half
            shift = bucket + unit
            out.append((((sub + 1) << shift) - 1, number))
        at += 1
    return out


def read(text: str) -> dict[str, Counts]:
    """By the kind of request."""
    found = {}
    for line in text.splitlines():
        if line.startswith("Tag="):
            tag, *_, blob = line.split(",")
            found[tag[4:]] = _counts(base64.b64decode(blob))
    return found


def percentile(counts: Counts, percent: float) -> int:
    """The value of the bucket that the percentile is in."""
    total = sum(n for _, n in counts)
    need = max(1.0, total * percent / 100)
    seen = 0
    for value, n in counts:
        seen += n
        if seen >= need - 1e-9:
            return value
    return 0
