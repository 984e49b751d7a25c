# SPDX-License-Identifier: GPL-2.0-or-later
"""Cassandra in a guest, under a load of YCSB's: its configuration and its
results.

Knows Cassandra's and YCSB's settings and Java's options; cassandra_files.py
makes the file system with the programs, store.py the rest of the script.
"""

from __future__ import annotations

from dataclasses import dataclass

from vssd.errors import UserError
from vssd.guest import store as guest_store
from vssd.guest.store import Conditions, Run

PACKAGES = ("openjdk-11-jre-headless",)  # the Java version of Cassandra 4.1
FILES_SERIAL = "VSSDFILES"
PACKAGE = "org.apache.cassandra.db.compaction."
TIERED = PACKAGE + "SizeTieredCompactionStrategy"
STREAMED = PACKAGE + "StreamedSizeTiered"  # guest-tools/cassandra
# Modules of Java's that Cassandra looks into.
EXPORTS = ("java.base/jdk.internal.misc", "java.base/jdk.internal.ref",
           "java.base/sun.nio.ch", "java.rmi/sun.rmi.registry",
           "java.rmi/sun.rmi.server", "java.sql/java.sql",
           "java.management.rmi/com.sun.jmx.remote.internal.rmi")
OPENS = ("java.base/java.lang.module", "java.base/jdk.internal.loader",
         "java.base/jdk.internal.ref", "java.base/jdk.internal.reflect",
         "java.base/jdk.internal.math", "java.base/jdk.internal.module",
         "java.base/jdk.internal.util.jar",
         "jdk.management/com.sun.management.internal")
START_S = 900  # Cassandra has not started and loaded by then: it never will


@dataclass(frozen=True)
class Store(guest_store.Store):
    """A store that is loaded, then updated by Zipf as YCSB's core workload
    does.  Records are the paper's; so is their share of the drive of 147 MB
    (1 GB of 60), and files of the system are the rest of what is in use."""

    records: int = 2440
    record_bytes: int = 1000
    clients: int = 4
    memtables: int = 4  # MiB of heap for all
    flush: float = 0.5  # share of it at which the largest memtable is written
    log: int = 6  # MiB of the commit log, in segments of one
    log_sync_ms: int = 1500
    tables: int = 14  # from which on clients wait...
    wait_ms: int = 4  # for each more
    heap: int = 256  # MiB
    system: int = 100 << 20

    def server(self) -> str:
        """cassandra.yaml"""
        return "\n".join((
            "cluster_name: vssd", "num_tokens: 1",
            "partitioner: org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch: SimpleSnitch",
            "seed_provider: [{class_name:"
            " org.apache.cassandra.locator.SimpleSeedProvider,"
            " parameters: [{seeds: 127.0.0.1}]}]",
            "listen_address: 127.0.0.1", "rpc_address: 127.0.0.1",
            "start_native_transport: false", "hinted_handoff_enabled: false",
            "data_file_directories: [/mnt/db/data]",
            "commitlog_directory: /mnt/db/commitlog",
            "saved_caches_directory: /run/cassandra/caches",
            "hints_directory: /run/cassandra/hints",
            "cdc_raw_directory: /run/cassandra/cdc",
            "commitlog_sync: periodic",
            f"commitlog_sync_period: {self.log_sync_ms}ms",
            "commitlog_segment_size: 1MiB",
            f"commitlog_total_space: {self.log}MiB",
            f"memtable_heap_space: {self.memtables}MiB",
            "memtable_offheap_space: 1MiB",
            f"memtable_cleanup_threshold: {self.flush}",
            "memtable_allocation_type: unslabbed_heap_buffers",
            "memtable_flush_writers: 1", "concurrent_compactors: 2",
            "compaction_throughput: 0MiB/s",
            # Else nothing is merged on a drive with less than 50 MiB free.
            "min_free_space_per_drive: 2MiB",
            # A table is read from when it is whole, and has a stream by then.
            "sstable_preemptive_open_interval: null",
            "disk_access_mode: standard", "file_cache_size: 8MiB",
            "key_cache_size: 0MiB", "counter_cache_size: 0MiB",
            "auto_snapshot: false",
            "disk_failure_policy: die", "commit_failure_policy: die"))

    def load(self, strategy: str, seconds: int, interval: int) -> str:
        """YCSB's properties, and StoreLoad's own."""
        return "\n".join((
            f"recordcount={self.records}", "operationcount=0",
            "fieldcount=1", f"fieldlength={self.record_bytes}",
            "readproportion=0", "updateproportion=1", "scanproportion=0",
            "insertproportion=0", "requestdistribution=zipfian",
            "writeallfields=true", f"threadcount={self.clients}",
            f"maxexecutiontime={seconds}", f"vssd.interval={interval}",
            "vssd.report=/run/report", f"vssd.tables={self.tables}",
            f"vssd.wait_ms={self.wait_ms}",
            f"vssd.compaction={{'class': '{strategy}',"
            " 'min_sstable_size': 0}"))

    def java(self, method: str) -> str:
        """The command that runs both."""
        options = [f"--add-exports={x}=ALL-UNNAMED" for x in EXPORTS]
        options += [f"--add-opens={x}=ALL-UNNAMED" for x in OPENS]
        options += [f"-Xms{self.heap}m", f"-Xmx{self.heap}m",
                    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-XX:-UsePerfData", "-XX:-BytecodeVerificationRemote",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-javaagent:$(echo /opt/jars/jamm-*.jar)"]
        options += [f"-D{x}" for x in (
            "cassandra-foreground=yes", "cassandra.storagedir=/mnt/db",
            "cassandra.config=file:///run/cassandra/cassandra.yaml",
            "logback.configurationFile=/opt/logback.xml",
            "cassandra.ring_delay_ms=0", "cassandra.unsafesystem=true",
            "cassandra.skip_wait_for_gossip_to_settle=0",
            "cassandra.approximate_time_precision_ms=20",
            f"vssd.streams={method}")]
        return " ".join(("java", *options, "-cp '/opt/classes:/opt/jars/*'",
                         "vssd.StoreLoad /run/cassandra/load"))

    def script(self, conditions: Conditions, serial: str, minutes: int,
               minute_s: int) -> str:
        return guest_store.fill(
            guest_store.HEAD + START + guest_store.MEANWHILE + WRITE
            + guest_store.TAIL + SAY,
            {**self.given(conditions, serial, minutes, minute_s),
             "files": FILES_SERIAL, "start": START_S, "server": self.server(),
             "java": self.java(conditions.method),
             "load": self.load(STREAMED if conditions.own else TIERED,
                               minutes * minute_s, minute_s)})

    def parse(self, text: str, status: int = 0) -> Run:
        if guest_store.FULL in text:
            raise UserError("Cassandra: the file system is full")
        if status == guest_store.TIMED_OUT:
            raise UserError("Cassandra waits for ever")
        if status:
            raise UserError(f"Cassandra ended with status {status}")
        return guest_store.run_of(text, "Cassandra")


START = r"""ip link set lo up
mount -t ext4 -o ro $(drive @files@) /opt || fail "no drive @files@"
mkdir -p /mnt/db/data /mnt/db/commitlog /run/cassandra && mkfifo /run/go
cat >/run/cassandra/cassandra.yaml <<'END'
@server@
END
cat >/run/cassandra/load <<'END'
@load@
END
timeout $((@start@ + @limit@)) @run@@java@ </run/go >/run/out 2>/run/log &
java=$!
exec 9>/run/go
until grep -q '^loaded' /run/out; do
    kill -0 $java 2>/dev/null || { cat /run/out; tail -n 40 /run/log; exit 1; }
    sleep 1
done
"""
WRITE = r"""echo >&9
wait $java
status=$?
"""
SAY = r"""mark out; cat /run/out
[ $status = 0 ] || tail -n 40 /run/log
exit $status
"""
