/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-internal.h - the drive of libvssd; private to lib/. */
#ifndef VSSD_LIB_INTERNAL_H
#define VSSD_LIB_INTERNAL_H

#include "simtime.h"
#include "ssd-live.h"
#include "ssd.h"
#include "vssd.h"
#include "zoned.h"

#define LIB_EXPORT __attribute__((visibility("default")))

/* Of a drive and its clones. */
typedef struct LibConfig {
    SsdConfig *cfg;
    int users; /* atomic: drives may have threads of their own */
} LibConfig;

/* A command of a drive with zones, in flight. */
typedef struct LibZoneCmd {
    uint64_t tag;
    uint64_t lba;    /* of an append */
    uint32_t number; /* of zoned_given() */
} LibZoneCmd;

/* The live view of a drive: live.c. */
typedef struct LibLive {
    SsdLiveHost host;
    uint64_t (*monotonic_ns)(void);
    uint64_t host_ns; /* when it was last read */
    unsigned left;    /* steps until it is read again */
} LibLive;

struct VssdDrive {
    Ssd *ssd;
    LibConfig *cfg;
    uint64_t last_version; /* of the writes so far */
    uint64_t in_flight;    /* commands whose completion was not fetched */
    Zoned *zones;          /* NULL: none */
    GHashTable *zone_cmds; /* with zones: LibZoneCmd by tag, in flight */
    bool keeps_versions;
    bool used; /* it is too late for vssd_preload() */
    char *message;
    LibLive *live; /* NULL: none */
};

/* Keep one line about an error.  Returns err, a negative errno. */
int lib_fail(VssdDrive *d, int err, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* The same of *error, which is freed. */
int lib_fail_error(VssdDrive *d, int err, GError **error);

/* Is the instant one that the drive may be taken to?  Else -EINVAL. */
int lib_check_instant(VssdDrive *d, uint64_t now_ns);

/* ---- live.c -------------------------------------------------------------- */

/* Time has passed in the drive; the second one is for many small steps. */
void lib_live_look(VssdDrive *d);

static inline void lib_live_passed(VssdDrive *d)
{
    if (G_UNLIKELY(d->live) && d->live->left-- == 0) {
        lib_live_look(d);
    }
}

/* Begin a view of a drive that has none.  false: *error. */
bool lib_live_begin(VssdDrive *d, const char *path,
                    uint64_t (*monotonic_ns)(void), GError **error);

/* End the view, if there is one.  false: not all pictures could be written. */
bool lib_live_end(VssdDrive *d, GError **error);

#endif
