# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with RocksDB of
Debian's in a guest, and with its interface: posix_fadvise() with a stream, on
our patched kernel.  streams_guest.py runs it."""

from __future__ import annotations

from collections.abc import Iterator

from vssd.guest.store import FADVISE, Conditions

from . import rocksdb, streams_guest
from . import streams_claims as fs
from .figure import Context, Panel
from .rocksdb import Store

TITLE = "The multi-streamed SSD with RocksDB in a guest (Kang 2014)"
SUITE = "trixie"
FILLS = (14, 29)  # MiB of files of the system, beside the store's 44


def conditions(method: str) -> dict[str, Conditions]:
    """Of each run."""
    return {
        streams_guest.FRESH: Conditions(method=method),
        fs.OFF: Conditions(discard=False, method=method),
        fs.ON: Conditions(method=method),
        fs.APP: Conditions(rules=("/mnt/db/*=1",), method=method),
        fs.LOG: Conditions(rules=("/mnt/db/*.log=1", "/mnt/db/*.sst=2"),
                           method=method),
        # A path does not show a table's level: the store's own hints do.
        fs.DATA: Conditions(own=True, method=method),
    }


def setting(store: Store, method: str = FADVISE) -> streams_guest.Setting:
    """The runs."""
    name = "streams-guest" + ("" if method == FADVISE else f"-{method}s")
    return streams_guest.Setting(name, store, conditions(method), SUITE,
                                 rocksdb.PACKAGES, method,
                                 fills=FILLS if method == FADVISE else ())


def _text(store: Store, method: str) -> str:
    return (
        f"RocksDB's db_bench of Debian {SUITE}, streams by {method}"
        f", ext4: {store.records} records of {store.record_bytes} bytes loaded,"
        " then overwritten at random, compaction by levels; memtable and files"
        f" {store.memtable >> 10} KiB; files of the system"
        f" {store.system >> 20} MiB, of which {store.system_writes_s:g} parts"
        " of 4 KiB a second are written again")


def panels(ctx: Context, method: str = FADVISE) -> Iterator[Panel]:
    """The figures of its results, with a store in a guest."""
    store = Store()
    yield from streams_guest.panels(
        ctx, setting(store, method), _text(store, method), "of db_bench's"
        " writes, one after the other as fast as the store takes them: what is"
        " slow is the store's own stop, for as long as both memtables are full")
