/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * StreamedSizeTiered.java - size-tiered compaction that tells the kernel which
 * tier it writes.
 *
 * What it merges, and when, is Cassandra's SizeTieredCompactionStrategy's.
 * Only the files of a merge get a stream as soon as they are there, before
 * anything is written to them: that of the first tier when all that is merged
 * comes from memtables, else that of the second.  Kang et al. (HotStorage 2014)
 * changed the store to the same end (slides 16 to 20: compaction data is 3 and 4).
 *
 * The property vssd.streams says how the kernel is told: "fadvise" is the
 * paper's way (posix_fadvise with the stream, slide 21), on our kernel; "hint"
 * is the write hint of Linux 4.13 to 5.17.
 *
 * In the package of the strategy, because the transaction of a task is known
 * only there.
 */
package org.apache.cassandra.db.compaction;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Directories;
import org.apache.cassandra.db.compaction.writers.CompactionAwareWriter;
import org.apache.cassandra.db.compaction.writers.DefaultCompactionWriter;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.io.sstable.Component;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableReader;

public final class StreamedSizeTiered extends SizeTieredCompactionStrategy {
    private static final int FIRST = 3;
    private static final int SECOND = 4;
    /* Tables that merges made; those of memtables are not in here. */
    private static final Set<Descriptor> MERGED =
        ConcurrentHashMap.newKeySet();

    public StreamedSizeTiered(ColumnFamilyStore cfs,
                              Map<String, String> options) {
        super(cfs, options);
    }

    @Override
    public AbstractCompactionTask getNextBackgroundTask(int gcBefore) {
        AbstractCompactionTask task = super.getNextBackgroundTask(gcBefore);
        return task == null ? null : new Task(cfs, task.transaction, gcBefore);
    }

    @Override
    public synchronized void removeSSTable(SSTableReader table) {
        super.removeSSTable(table);
        MERGED.remove(table.descriptor);
    }

    /* A merge. */
    private static final class Task extends CompactionTask {
        Task(ColumnFamilyStore cfs, LifecycleTransaction transaction,
             int gcBefore) {
            super(cfs, transaction, gcBefore);
        }

        @Override
        public CompactionAwareWriter getCompactionAwareWriter(
                ColumnFamilyStore cfs, Directories directories,
                LifecycleTransaction transaction,
                Set<SSTableReader> tables) {
            boolean again = tables.stream().anyMatch(
                t -> MERGED.contains(t.descriptor));
            return new Writer(cfs, directories, transaction, tables,
                              again ? SECOND : FIRST);
        }
    }

    /* Of its result. */
    private static final class Writer extends DefaultCompactionWriter {
        private final int stream;

        Writer(ColumnFamilyStore cfs, Directories directories,
               LifecycleTransaction transaction, Set<SSTableReader> tables,
               int stream) {
            super(cfs, directories, transaction, tables);
            this.stream = stream;
        }

        @Override
        public void switchCompactionLocation(
                Directories.DataDirectory directory) {
            super.switchCompactionLocation(directory);
            Descriptor made =
                Descriptor.fromFilename(sstableWriter.currentWriter()
                                        .getFilename());
            MERGED.add(made);
            Streams.set(made.filenameFor(Component.DATA), stream);
            Streams.set(made.filenameFor(Component.PRIMARY_INDEX), stream);
        }
    }

    /* The system calls, by the JNA that Cassandra brings. */
    private static final class Streams {
        private static final String METHOD =
            System.getProperty("vssd.streams", "fadvise");
        private static final int POSIX_FADV_STREAMID = 8;
        private static final int F_SET_RW_HINT = 1024 + 12;
        /* RWH_WRITE_LIFE_SHORT is 2, and the first stream of the kernel. */
        private static final int BEFORE_FIRST = 1;

        static {
            if (!METHOD.equals("fadvise") && !METHOD.equals("hint")) {
                throw new IllegalArgumentException(
                    "vssd.streams=" + METHOD + ": fadvise or hint");
            }
            Native.register(Streams.class, "c");
        }

        private static native int open(String path, int flags)
            throws LastErrorException;
        /* Returns the error; the stream is in the place of the offset. */
        private static native int posix_fadvise(int fd, long stream,
                                                long length, int advice);
        private static native int fcntl(int fd, int command, long[] hint)
            throws LastErrorException;
        private static native int close(int fd) throws LastErrorException;

        static void set(String path, int stream) {
            int fd = open(path, 0);
            try {
                if (METHOD.equals("hint")) {
                    fcntl(fd, F_SET_RW_HINT,
                          new long[] {BEFORE_FIRST + stream});
                    return;
                }
                int error = posix_fadvise(fd, stream, 0, POSIX_FADV_STREAMID);
                if (error != 0) {
                    throw new IllegalStateException(
                        path + ": posix_fadvise: error " + error);
                }
            } finally {
                close(fd);
            }
        }
    }
}
