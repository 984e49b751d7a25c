/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.h - drives that look like one: one drive, RAID 0, or RAID with
 * redundancy (raid.h).
 *
 * RAID 0: stripe k of the array is on drive k modulo n, as its stripe k / n.
 * The calls are those of ssd.h, with its contracts; an array of one drive
 * passes them on as they are.
 */
#ifndef VSSD_SIM_ARRAY_H
#define VSSD_SIM_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raid.h"
#include "ssd.h"
#include "ssd-report.h"

#define ARRAY_MAX_DRIVES RAID_MAX_DRIVES

typedef struct Array Array;

/*
 * n drives of one configuration, n in 1..ARRAY_MAX_DRIVES, which outlive the
 * array and have no scripted faults if n is above 1.  stripe_bytes is a multiple
 * of a block and no larger than a drive; with one drive it is not used.
 */
Array *array_new(Ssd *const *drive, unsigned n, uint64_t stripe_bytes);
void array_free(Array *a);

/* The same with redundancy: layout->n_drives drives, hot spares at the end. The
 * array owns the layout. */
Array *array_new_raid(Ssd *const *drive, RaidLayout *layout,
                      const RaidConfig *cfg);
const Raid *array_raid(const Array *a); /* NULL: there is no redundancy */

/* The run that is measured begins: scheduled failures count from here. */
void array_begin(Array *a, uint64_t now_ns);

/* A rebuild is under way, with or without commands. */
bool array_rebuilding(const Array *a);

unsigned array_n_drives(const Array *a);
uint64_t array_stripe_bytes(const Array *a);
Ssd *array_drive(const Array *a, unsigned i); /* owned by the caller of new */

/* Of the whole; queue_depth is that of a drive. */
const SsdInfo *array_info(const Array *a);

/* As ssd_rebase_most_ns() and ssd_rebase(), of all drives.  by_ns is at most
 * that, and every completion has been fetched. */
uint64_t array_rebase_most_ns(const Array *a);
void array_rebase(Array *a, uint64_t by_ns);

uint64_t array_now_ns(const Array *a);
uint64_t array_last_version(const Array *a);
void array_expect_full(Array *a);
void array_preload(Array *a); /* all of it */
void array_reset_stats(Array *a);
/* Sums over the drives; SsdWritten.victim_valid is their mean. */
void array_get_written(const Array *a, SsdWritten *w);

/* Drives that had nothing to do are behind: all run up to now_ns, which is no
 * instant before one that the array has seen.  Nothing completes. */
void array_catch_up(Array *a, uint64_t now_ns);

/* As ssd_hint(). */
void array_hint(const Array *a, uint64_t lba, SsdHint hint);

/*
 * As ssd_submit(); cmd->tag is below queue_depth.  A command ends when the last
 * of its parts, at most one for each drive, has ended; a flush goes to all.
 */
int array_submit(Array *a, uint64_t now_ns, const SsdCmd *cmd);

/* As ssd_wait(); of several drives, it runs none. */
uint64_t array_wait(Array *a, uint64_t until_ns);
size_t array_advance(Array *a, uint64_t now_ns, SsdCompletion *done,
                     size_t max);

bool array_powered(const Array *a);
void array_power_on(Array *a, uint64_t now_ns);

#endif
