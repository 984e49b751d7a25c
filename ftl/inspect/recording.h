/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - the host's commands to a drive as a file: the project's own
 * trace format (docs/traces.md).
 *
 * The constants are the format, for who writes it (recording.c) and who reads
 * it (sim/recorded.c).  A drive without a recording pays one branch at each
 * place.
 */
#ifndef VSSD_FTL_RECORDING_H
#define VSSD_FTL_RECORDING_H

#include "ssd.h"

#define RECORDING_SIGNATURE    "vssdTRC1"
#define RECORDING_HEADER_BYTES 32

/* Of the header: the drive had been used when the recording began, so only the
 * drive itself has its former data. */
#define RECORDING_USED 1

typedef enum RecordingType {
    RECORDING_CMD = 1,   /* ssd_submit() took a command */
    RECORDING_DONE,      /* a command has ended */
    RECORDING_ABORT,     /* ssd_abort() was granted */
    RECORDING_POWER_CUT, /* ssd_power_cut() */
    RECORDING_POWER_ON,  /* ssd_power_on() */
    RECORDING_CLOSE,     /* ssd_stream_close() */
    RECORDING_PRELOAD,   /* ssd_preload() */
    RECORDING_END,       /* the last record */
    RECORDING_SETTING,   /* power state, idle rule, thermal limits */
    RECORDING_N_TYPES,
} RecordingType;

/* The upper half of a record's first byte. */
#define RECORDING_FLAG_SHIFT 4
#define RECORDING_FUA 8 /* RECORDING_CMD: with SsdOp in the bits below */
#define RECORDING_ENDS 8 /* the same bit of a FLUSH: with close */
#define RECORDING_INTERNAL   8 /* and of a READ */

/* In place of SsdOp: a READ or WRITE whose data stays in the drive. */
#define RECORDING_INSIDE_READ  SSD_N_OPS
#define RECORDING_INSIDE_WRITE (SSD_N_OPS + 1)

/* RECORDING_SETTING: flags, and the meaning of its three numbers. */
typedef enum RecordingSetting {
    RECORDING_POWER_STATE, /* ssd_set_power_state(): state, 0, 0 */
    RECORDING_IDLE_RULE,   /* ssd_set_idle_rules(): of a state, next state, ns;
                              one for each state, in order */
    RECORDING_OWN_RULES,   /* the same with NULL: 0, 0, 0 */
    RECORDING_LIMITS,      /* ssd_set_heat_limits(): both, 0 */
    RECORDING_HOST_MEMORY, /* ssd_set_host_memory(): 0, 0, bytes */
    RECORDING_WINDOW,      /* ssd_set_window(): window, 0, 0 */
    RECORDING_N_SETTINGS,
} RecordingSetting;

typedef struct Recording Recording;

/* Begin a file: ssd_trace_open(), with the text of its header. */
bool recording_open(Ssd *ssd, const char *path, const GString *text,
                    GError **error);

/* Each call at the instant of the call that it records, which is the drive's
 * now.  serial counts the commands that the drive took. */
void recording_cmd(Recording *r, const SsdCmd *cmd, uint64_t now_ns);
void recording_done(Recording *r, uint64_t serial, const SsdCompletion *c,
                    uint64_t lba);
void recording_abort(Recording *r, uint64_t serial, uint64_t now_ns);
void recording_close(Recording *r, uint32_t stream, uint64_t now_ns);
void recording_power(Recording *r, bool on, uint64_t now_ns);
void recording_setting(Recording *r, RecordingSetting what,
                       const uint64_t number[3], uint64_t now_ns);
void recording_preload(Recording *r, uint64_t lba, uint64_t nblocks);

#endif
