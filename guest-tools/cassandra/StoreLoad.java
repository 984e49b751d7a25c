/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * StoreLoad.java - Cassandra and a client of YCSB's in one process.
 *
 * Starts the server's daemon, loads the records of YCSB's core workload, says
 * so, waits for a word, and then plays its transactions for so many seconds.
 * Knows YCSB's properties (recordcount, requestdistribution and so on, from a
 * file) and CQL; knows nothing of streams.
 *
 * Why one process: what a client and a server say to each other costs more of
 * an emulated processor than the store's own work, and none of it reaches the
 * drive.  A statement takes the way of a replica that gets it from a
 * coordinator: commit log, then memtable.
 */
package vssd;

import java.io.FileInputStream;
import java.io.FileWriter;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import com.google.common.util.concurrent.Uninterruptibles;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.service.CassandraDaemon;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

public final class StoreLoad extends DB {
    private static final String KEYSPACE = "ycsb";
    private static final long US = 1000;
    private static final long LONGEST_US = 3_600_000_000L;
    private static final Histogram LATENCY_US =
        new ConcurrentHistogram(LONGEST_US, 3);
    private static final AtomicLong DONE = new AtomicLong();

    private final String statement;
    private final ColumnFamilyStore store;
    private final int most;
    private final int waitMs;

    private StoreLoad(String table, int most, int waitMs) {
        this.statement = "UPDATE " + KEYSPACE + "." + table
            + " SET field0 = ? WHERE y_id = ?";
        this.store = Keyspace.open(KEYSPACE).getColumnFamilyStore(table);
        this.most = most;
        this.waitMs = waitMs;
    }

    /*
     * Cassandra takes writes however far its merges are behind; tables would
     * pile up until a small drive is full.  So a client that finds more than
     * `most` tables waits so many milliseconds for each of the rest.
     */
    private void keepPace() {
        int more = store.getLiveSSTables().size() - most;

        if (more > 0) {
            Uninterruptibles.sleepUninterruptibly((long) more * waitMs,
                                                  TimeUnit.MILLISECONDS);
        }
    }

    /* ---- YCSB's binding -------------------------------------------------- */

    @Override
    public Status insert(String table, String key,
                         Map<String, ByteIterator> values) {
        return update(table, key, values);
    }

    @Override
    public Status update(String table, String key,
                         Map<String, ByteIterator> values) {
        ByteIterator value = values.values().iterator().next();
        long begin = System.nanoTime();
        keepPace();
        QueryProcessor.executeInternal(
            statement, ByteBuffer.wrap(value.toArray()), key);
        LATENCY_US.recordValue(Math.min((System.nanoTime() - begin) / US,
                                        LONGEST_US));
        DONE.incrementAndGet();
        return Status.OK;
    }

    @Override
    public Status read(String table, String key, Set<String> fields,
                       Map<String, ByteIterator> result) {
        QueryProcessor.executeInternal(
            "SELECT * FROM " + KEYSPACE + "." + table + " WHERE y_id = ?",
            key);
        return Status.OK;
    }

    @Override
    public Status scan(String table, String start, int count,
                       Set<String> fields,
                       Vector<HashMap<String, ByteIterator>> result) {
        return Status.BAD_REQUEST; // keys are hashed: there is no order
    }

    @Override
    public Status delete(String table, String key) {
        QueryProcessor.executeInternal(
            "DELETE FROM " + KEYSPACE + "." + table + " WHERE y_id = ?", key);
        return Status.OK;
    }

    /* ---- a run ----------------------------------------------------------- */

    private static void makeTable(String table, String compaction) {
        QueryProcessor.process(
            "CREATE KEYSPACE " + KEYSPACE + " WITH replication = {'class':"
            + " 'SimpleStrategy', 'replication_factor': 1}",
            ConsistencyLevel.ONE);
        QueryProcessor.process(
            "CREATE TABLE " + KEYSPACE + "." + table
            + " (y_id text PRIMARY KEY, field0 blob)"
            + " WITH compression = {'enabled': false}"
            + " AND compaction = " + compaction,
            ConsistencyLevel.ONE);
    }

    private static void play(CoreWorkload workload, Properties properties,
                             StoreLoad db, int threads, double seconds,
                             double interval, String report) throws Exception {
        long begin = System.nanoTime();
        long end = begin + (long) (seconds * 1e9);
        Thread[] clients = new Thread[threads];

        LATENCY_US.reset();
        DONE.set(0);
        for (int i = 0; i < threads; i++) {
            Object state = workload.initThread(properties, i, threads);
            clients[i] = new Thread(() -> {
                while (System.nanoTime() < end) {
                    workload.doTransaction(db, state);
                }
            });
            clients[i].start();
        }
        try (PrintWriter out = new PrintWriter(new FileWriter(report), true)) {
            long before = 0;
            for (long next = begin; next < end;) {
                next = Math.min(next + (long) (interval * 1e9), end);
                while (System.nanoTime() < next) {
                    Thread.sleep((next - System.nanoTime()) / 1_000_000 + 1);
                }
                long now = DONE.get();
                out.printf("%.3f,%d%n", (System.nanoTime() - begin) / 1e9,
                           now - before);
                before = now;
            }
        }
        for (Thread client : clients) {
            client.join();
        }
    }

    private static void run(String properties) throws Exception {
        Properties given = new Properties();
        try (FileInputStream in = new FileInputStream(properties)) {
            given.load(in);
        }
        new CassandraDaemon(true).activate();
        String table = given.getProperty("table", "usertable");
        makeTable(table, given.getProperty("vssd.compaction"));

        Measurements.setProperties(given);
        CoreWorkload workload = new CoreWorkload();
        workload.init(given);
        StoreLoad db = new StoreLoad(
            table, Integer.parseInt(given.getProperty("vssd.tables")),
            Integer.parseInt(given.getProperty("vssd.wait_ms")));
        Object state = workload.initThread(given, 0, 1);
        System.out.println("started");
        long records = Long.parseLong(given.getProperty("recordcount"));
        for (long i = 0; i < records; i++) {
            workload.doInsert(db, state);
        }
        System.out.println("loaded");
        System.in.read();

        play(workload, given, db,
             Integer.parseInt(given.getProperty("threadcount", "1")),
             Double.parseDouble(given.getProperty("maxexecutiontime")),
             Double.parseDouble(given.getProperty("vssd.interval")),
             given.getProperty("vssd.report"));
        for (HistogramIterationValue v : LATENCY_US.recordedValues()) {
            System.out.printf("[ %d, %d ] %d%n",
                              LATENCY_US.lowestEquivalentValue(
                                  v.getValueIteratedTo()),
                              LATENCY_US.nextNonEquivalentValue(
                                  v.getValueIteratedTo()),
                              v.getCountAddedInThisIterationStep());
        }
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            run(args[0]);
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        /* The server's threads would go on. */
        System.out.flush();
        Runtime.getRuntime().halt(status);
    }
}
