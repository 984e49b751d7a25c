/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-running.h - a drive in the hands of somebody who watches it: a gate that
 * modelled time passes through, and options that change while the drive runs.
 */
#ifndef VSSD_SSD_RUNNING_H
#define VSSD_SSD_RUNNING_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "json.h"
#include "ssd.h"

/* ---- the gate ------------------------------------------------------------ */

/* What has happened before the next event. */
typedef struct SsdMoment {
    uint64_t at_ns;    /* of that event, by the drive's clock */
    uint64_t commands; /* completed, since the last reset of statistics */
    uint64_t victims;  /* of GC, likewise */
    uint64_t power_cuts;
} SsdMoment;

/*
 * pass is called before each event of the drive, and may take any time: the
 * drive stands still meanwhile.  It may call ssd_set_option() and those calls
 * that let no time pass, as ssd_live_update().  NULL: there is no gate.  What
 * the drive does is the same with a gate and without one.
 */
typedef void SsdGateFn(void *opaque, const SsdMoment *next);
void ssd_set_gate(Ssd *ssd, SsdGateFn *pass, void *opaque);

/* ---- options ------------------------------------------------------------- */

/*
 * From the drive's present instant (ssd_now_ns()) on, the option has this
 * value, as if the drive had been made with it and were in its present state.
 * false: *error is one line that begins with the key.  The option shapes the
 * drive, the value is out of its range or does not fit the others, the drive is
 * off or recovers, or a log that names the options is being written.  Nothing
 * has changed then.
 */
bool ssd_set_option(Ssd *ssd, const char *key, const char *value,
                    GError **error);

/* The value of any option, as a user would type it (g_free), or NULL with
 * *error: no such option. */
char *ssd_get_option(const Ssd *ssd, const char *key, GError **error);

/* An object: of each option that may change, its key, with value, range and
 * help. */
void ssd_running_options_json(const Ssd *ssd, JsonWriter *w, const char *name);

#endif
