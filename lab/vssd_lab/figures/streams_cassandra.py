# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014), with the paper's own
store, Cassandra, under a load of YCSB's in a guest, and with its interface:
posix_fadvise() with a stream, on our patched kernel.  streams_guest.py runs
it."""

from __future__ import annotations

from collections.abc import Iterator

from vssd.guest.store import FADVISE, Conditions

from . import cassandra, cassandra_files, streams_guest
from . import streams_claims as fs
from .cassandra import Store
from .figure import Context, Panel

TITLE = "The multi-streamed SSD with Cassandra in a guest (Kang 2014)"
SUITE = "bullseye"
MEMORY_MIB = 2048
FILLS = (30, 65)  # MiB of files of the system, beside the store's 100
UNITS = (2, 4)  # planes of an erase unit: 1/4 and 1/2 of a flush, beside 1/8
SHIFT = 1  # a processor so fast that the store waits for the drive
LOG_RULE = "/mnt/db/commitlog/*=1"
TABLE_RULE = "/mnt/db/data/*=2"


def conditions(method: str) -> dict[str, Conditions]:
    """Of each run."""
    return {
        streams_guest.FRESH: Conditions(method=method),
        fs.OFF: Conditions(discard=False, method=method),
        fs.ON: Conditions(method=method),
        fs.APP: Conditions(rules=("/mnt/db/*=1",), method=method),
        fs.LOG: Conditions(rules=(LOG_RULE, TABLE_RULE), method=method),
        # Beyond the rules, the store's own: merged tables are 3 and 4.
        fs.DATA: Conditions(rules=(LOG_RULE, TABLE_RULE), own=True,
                            method=method),
    }


def setting(store: Store, method: str = FADVISE) -> streams_guest.Setting:
    """The runs."""
    name = "streams-cassandra" + ("" if method == FADVISE else f"-{method}s")
    return streams_guest.Setting(
        name, store, conditions(method), SUITE, cassandra.PACKAGES, method,
        MEMORY_MIB, SHIFT, True, cassandra_files.ensure(),
        cassandra.FILES_SERIAL, FILLS if method == FADVISE else (),
        units=UNITS if method == FADVISE else ())


def _text(store: Store, method: str) -> str:
    return (
        f"Cassandra {cassandra_files.VERSION} under YCSB"
        f" {cassandra_files.YCSB} of {store.clients} clients in a guest of"
        f" {SUITE}, streams by {method}, ext4: {store.records} records of"
        f" {store.record_bytes} bytes"
        " loaded, then updated by Zipf, size-tiered compaction; memtables"
        f" {store.memtables} MiB of heap, commit log {store.log} MiB; files of"
        f" the system {store.system >> 20} MiB, of which"
        f" {store.system_writes_s:g} parts of 4 KiB a second are written again")


def panels(ctx: Context, method: str = FADVISE) -> Iterator[Panel]:
    """The figures of its results, with the paper's store."""
    store = Store()
    yield from streams_guest.panels(
        ctx, setting(store, method), _text(store, method), "of YCSB's updates,"
        " as fast as the store takes them: what is slow is the wait for a"
        " memtable or for merges")
