/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filelock.h - a file that one drive writes, and no other meanwhile. */
#ifndef VSSD_CORE_FILELOCK_H
#define VSSD_CORE_FILELOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * The lock is flock() of a file PATH.vssd-lock beside the file, behind all
 * links.
 * - A state is replaced by rename, and is not there before the first save: a
 *   lock on the file itself would be lost, or would have to make it.
 * - It is where the file is, so it holds whatever cache, user or program the
 *   other drive has; Linux passes flock() on to an NFS server, too.
 * - The kernel drops the lock of a process that is gone.  The file then stays;
 *   the next drive takes it.  Else it goes with the lock.
 * - Two drives in one process exclude each other, and a fork keeps the lock:
 *   neither holds for the record locks of POSIX.
 * - It is made 0600, links are not followed, and a file that is no lock is left
 *   alone.  Another user's lock cannot be judged, and counts as held.
 * A file that is there is locked itself as well, which holds for hard links.
 * For one that is written in place that is enough where its folder cannot be
 * written.  A file system without locks has neither, and a warning.
 */
typedef struct FileLock FileLock;

/* Told of each file that cannot be locked: a line that begins with the path.
 * Without it nobody is told. */
typedef void FileLockWarn(const char *line);
void filelock_warn_by(FileLockWarn *warn);

/* For a file that replace_file() writes.  *lock is NULL for a pipe, a device,
 * and where there are no locks.  false: *error is one line that begins with the
 * path. */
bool filelock_take(const char *path, FileLock **lock, GError **error);

/* Open a file that is written from its beginning, and take its lock; before
 * that it keeps its contents.  NULL: *error as above. */
FILE *filelock_open(const char *path, FileLock **lock, GError **error);

/* After the last byte; NULL is none.  In a fork it does nothing for the parent:
 * that one holds the lock. */
void filelock_release(FileLock *lock);

#endif
