# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with the paper's own
store, Cassandra, under a load of YCSB's in a guest of Debian 11's, whose kernel
turns write hints into streams.  streams_guest.py runs it."""

from __future__ import annotations

from collections.abc import Iterator

from ..guest import cassandra, cassandra_files
from ..guest.cassandra import Store
from ..guest.store import Conditions
from . import streams as fs
from . import streams_guest
from .figure import Context, Panel

TITLE = "The multi-streamed SSD with Cassandra in a guest (Kang 2014)"
SUITE = "bullseye"
MEMORY_MIB = 2048
SHIFT = 1  # a processor so fast that the store waits for the drive
LOG_RULE = "/mnt/db/commitlog/*=1"
TABLE_RULE = "/mnt/db/data/*=2"
CONDITIONS = {
    streams_guest.FRESH: Conditions(),
    fs.OFF: Conditions(discard=False),
    fs.ON: Conditions(),
    fs.APP: Conditions(rules=("/mnt/db/*=1",)),
    fs.LOG: Conditions(rules=(LOG_RULE, TABLE_RULE)),
    # Beyond the rules, the store's own hints: merged tables are 3 and 4.
    fs.DATA: Conditions(rules=(LOG_RULE, TABLE_RULE), hints=True),
}


def setting(store: Store) -> streams_guest.Setting:
    """The runs."""
    return streams_guest.Setting(
        "streams-cassandra", store, CONDITIONS, SUITE, cassandra.PACKAGES,
        MEMORY_MIB, SHIFT, True, cassandra_files.ensure(),
        cassandra.FILES_SERIAL)


def _text(store: Store) -> str:
    return (
        f"Cassandra {cassandra_files.VERSION} under YCSB"
        f" {cassandra_files.YCSB} of {store.clients} clients in a guest of"
        f" {SUITE}, ext4: {store.records} records of {store.record_bytes} bytes"
        " loaded, then updated by Zipf, size-tiered compaction; memtables"
        f" {store.memtables} MiB of heap, commit log {store.log} MiB; files of"
        f" the system {store.system >> 20} MiB, of which"
        f" {store.system_writes_s:g} parts of 4 KiB a second are written again")


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of its results, with the paper's store."""
    store = Store()
    yield from streams_guest.panels(
        ctx, setting(store), _text(store), "of YCSB's updates, as fast as the"
        " store takes them: what is slow is the wait for a memtable or for"
        " merges")
