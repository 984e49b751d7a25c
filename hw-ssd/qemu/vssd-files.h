/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-files.h - files beside the image: the saved drive, those that are the
 * drive's alone, logs and traces (state.c, file-lock.c, oplog.c, durable.c,
 * live.c, timeline.c, recording.c).
 */
#ifndef VSSD_QEMU_FILES_H
#define VSSD_QEMU_FILES_H

#include "qemu/osdep.h"
#include "qemu/notify.h"
#include "qemu/timer.h"
#include "system/runstate.h"

#include "filelock.h"
#include "ssd.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

typedef struct VssdFiles {
    VMChangeStateEntry *vm_change;
    Notifier exit_notifier;
    bool state_saved;
    bool state_lost;    /* it could not be saved, and nothing has run since */
    uint64_t state_end; /* where the drive ends in the file that was loaded; 0:
                           none was */

    /* file-lock.c */
    FileLock *state_lock; /* NULL: it is elsewhere, or there is no file */
    FileLock *pmr_lock;
    unsigned lock_tries; /* to take them back */
    QEMUTimer *lock_timer;
    VMChangeStateEntry *lock_change;
    Notifier lock_exit;

    QEMUTimer *live_timer; /* live.c; NULL: there is no view */

    /* oplog.c, durable.c, live.c, timeline.c, recording.c: QEMU ends, so
     * complete the file. */
    Notifier oplog_exit;
    Notifier durable_exit;
    Notifier live_exit;
    Notifier timeline_exit;
    Notifier trace_exit;
} VssdFiles;

/* ---- state.c ------------------------------------------------------------ */

/* It has not come yet, or has gone to another QEMU. */
bool vssd_is_elsewhere(const VssdDev *s);

/* The drive of state=FILE, if the file is there, with its power on. */
bool vssd_state_exists(const VssdDev *s);
Ssd *vssd_state_load(VssdDev *s, const SsdConfig *cfg, GError **error);
/* Once the controller has its drive: what it keeps without power. */
bool vssd_state_load_kept(VssdDev *s, GError **error);
void vssd_state_set_clock(VssdDev *s);

/* Save it when the machine ends; when the device is unplugged, and the serving
 * has ended. */
void vssd_state_init(VssdDev *s);
void vssd_state_stop(VssdDev *s);

/* ---- file-lock.c -------------------------------------------------------- */

/* Nobody else may use the files that go with the drive; it is
 * so already, or there are none: true. */
bool vssd_files_lock(VssdDev *s, GError **error);
void vssd_files_unlock(VssdDev *s);
void vssd_files_pass(VssdDev *s); /* the drive goes to another QEMU, perhaps */
void vssd_files_init(VssdDev *s);
void vssd_files_stop(VssdDev *s);

/* ---- oplog.c ------------------------------------------------------------ */

/* Before the drive is told of any data. */
bool vssd_oplog_open(VssdDev *s, Error **errp);
void vssd_oplog_init(VssdDev *s);
void vssd_oplog_stop(VssdDev *s);

/* ---- durable.c ---------------------------------------------------------- */

/* Before the first command; false: the file of durable_log= cannot be written.
 */
bool vssd_durable_open(VssdDev *s, Error **errp);
void vssd_durable_init(VssdDev *s);
void vssd_durable_stop(VssdDev *s);

/* ---- live.c ------------------------------------------------------------- */

/* The controller has its drive; false: the file of live= cannot be written. */
bool vssd_live_open(VssdDev *s, Error **errp);
/* Pictures from now on. */
void vssd_live_init(VssdDev *s);
void vssd_live_stop(VssdDev *s);

/* ---- timeline.c --------------------------------------------------------- */

/* After vssd_oplog_open(): not both. */
bool vssd_timeline_open(VssdDev *s, Error **errp);
void vssd_timeline_init(VssdDev *s);
void vssd_timeline_stop(VssdDev *s);

/* ---- recording.c -------------------------------------------------------- */

/* The drive is new; false: the file of trace= cannot be written. */
bool vssd_recording_begin(VssdDev *s, Error **errp);
void vssd_recording_flush(VssdDev *s);
void vssd_recording_end(VssdDev *s); /* nothing runs the controller */

#endif
