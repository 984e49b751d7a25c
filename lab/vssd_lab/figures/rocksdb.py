# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB's db_bench in a guest: its options and its results.

Knows db_bench's options; the rest of the script is store.py's.
"""

from __future__ import annotations

from dataclasses import dataclass

from vssd.errors import UserError
from vssd.guest import store as guest_store
from vssd.guest.store import Conditions, Run

PACKAGES = ("rocksdb-tools",)


@dataclass(frozen=True)
class Store(guest_store.Store):
    """A store that is loaded in order of the keys, then overwritten at random
    places.  The sizes fit a drive of 147 MB."""

    records: int = 44000
    record_bytes: int = 1000
    key_bytes: int = 16
    memtable: int = 512 << 10
    table: int = 512 << 10  # a file of a level
    base: int = 2 << 20  # the first level, at most
    times: int = 4  # as much in each further one; the last holds nearly all
    debt: int = 12 << 20  # of compaction, from which on writes are slowed down

    def options(self) -> list[str]:
        """Of db_bench."""
        given = {
            "db": "/mnt/db", "num": self.records, "seed": self.seed,
            "key_size": self.key_bytes, "value_size": self.record_bytes,
            "compression_type": "none", "checksum_type": 0, "open_files": -1,
            "write_buffer_size": self.memtable,
            "target_file_size_base": self.table,
            "max_bytes_for_level_base": self.base,
            "max_bytes_for_level_multiplier": self.times,
            "level_compaction_dynamic_level_bytes": "true",
            "level0_file_num_compaction_trigger": 4,
            "level0_slowdown_writes_trigger": 8,
            "level0_stop_writes_trigger": 12,
            "soft_pending_compaction_bytes_limit": self.debt,
            "hard_pending_compaction_bytes_limit": 2 * self.debt,
            "max_background_jobs": 3}
        return [f"--{k}={v}" for k, v in given.items()]

    def script(self, conditions: Conditions, serial: str, minutes: int,
               minute_s: int) -> str:
        return guest_store.fill(
            guest_store.HEAD + LOAD + guest_store.MEANWHILE + WRITE
            + guest_store.TAIL + SAY,
            {**self.given(conditions, serial, minutes, minute_s),
             "options": " ".join(self.options())})

    def parse(self, text: str, status: int = 0) -> Run:
        if guest_store.FULL in text:
            raise UserError("db_bench: the file system is full")
        if status == guest_store.TIMED_OUT:
            raise UserError("db_bench waits for ever, as RocksDB does when the"
                            " file system is full")
        if status:
            raise UserError(f"db_bench ended with status {status}")
        return guest_store.run_of(text, "db_bench")


LOAD = r"""@run@db_bench @options@ --benchmarks=fillseq >/run/load 2>&1 ||
    fail "$(tail -n 3 /run/load)"
"""
WRITE = r"""timeout @limit@ @run@db_bench @options@ --use_existing_db=1 --benchmarks=overwrite \
    --duration=@duration@ --histogram=1 --report_interval_seconds=@minute@ \
    --report_file=/run/report >/run/out 2>&1
status=$?
"""
SAY = r"""mark out; tr '\r' '\n' </run/out | grep -v '^\.\.\. finished'
exit $status
"""
