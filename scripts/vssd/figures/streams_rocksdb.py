# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with RocksDB of
Debian's in a guest, on Debian 11's kernel, which turns write hints into
streams.  streams_guest.py runs it."""

from __future__ import annotations

from collections.abc import Iterator

from ..guest import rocksdb
from ..guest.rocksdb import Store
from ..guest.store import Conditions
from . import streams as fs
from . import streams_guest
from .figure import Context, Panel

TITLE = "The multi-streamed SSD with RocksDB in a guest (Kang 2014)"
SUITE = "trixie"
CONDITIONS = {
    streams_guest.FRESH: Conditions(),
    fs.OFF: Conditions(discard=False),
    fs.ON: Conditions(),
    fs.APP: Conditions(rules=("/mnt/db/*=1",)),
    fs.LOG: Conditions(rules=("/mnt/db/*.log=1", "/mnt/db/*.sst=2")),
    fs.DATA: Conditions(hints=True),
}


def setting(store: Store) -> streams_guest.Setting:
    """The runs."""
    return streams_guest.Setting("streams-guest", store, CONDITIONS, SUITE,
                                 rocksdb.PACKAGES)


def _text(store: Store) -> str:
    return (
        f"RocksDB's db_bench of Debian {SUITE} on the kernel of"
        f" {streams_guest.KERNEL_SUITE}"
        f", ext4: {store.records} records of {store.record_bytes} bytes loaded,"
        " then overwritten at random, compaction by levels; memtable and files"
        f" {store.memtable >> 10} KiB; files of the system"
        f" {store.system >> 20} MiB, of which {store.system_writes_s:g} parts"
        " of 4 KiB a second are written again")


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of its results, with a store in a guest."""
    store = Store()
    yield from streams_guest.panels(
        ctx, setting(store), _text(store), "of db_bench's writes, one after the"
        " other as fast as the store takes them: what is slow is the store's"
        " own stop, for as long as both memtables are full")
