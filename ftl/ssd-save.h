/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-save.h - the clock of a drive, saving, loading, copying and aging it. */
#ifndef VSSD_SSD_SAVE_H
#define VSSD_SSD_SAVE_H

#include <stdio.h>

#include "simtime.h"
#include "ssd.h"

/* ---- the clock ---------------------------------------------------------- */

/* Modelled time of the drive, and the newest version it has taken: where a
 * caller of a drive that was loaded, or aged, goes on. */
uint64_t ssd_now_ns(const Ssd *ssd);
uint64_t ssd_last_version(const Ssd *ssd);

/*
 * At rest: no command is in flight, every completion has been fetched, the
 * array does nothing.  The buffer may hold host data, and GC units that wait
 * for more.
 */
bool ssd_at_rest(const Ssd *ssd);

/* Let time pass until it is, at most so long.  false: that was not enough, or
 * there are completions to fetch. */
bool ssd_rest(Ssd *ssd, uint64_t most_ns);

/*
 * Set the drive's clock back, which counts picoseconds and ends at SIM_MAX_NS
 * (213 days): all instants that the drive knows become by_ns earlier, and
 * nothing else changes.  The drive may be at work.  The caller subtracts by_ns
 * from its own instants.  false, and nothing has changed: by_ns is above
 * ssd_rebase_most_ns(), the submission of the oldest command that has not been
 * fetched and of the oldest operation in the array.  That is 0 while a log or a
 * trace is written, which has instants of this clock.
 */
uint64_t ssd_rebase_most_ns(const Ssd *ssd);
bool ssd_rebase(Ssd *ssd, uint64_t by_ns);

/* By how much the clock of a drive was set back when it was loaded: a drive
 * whose clock stands beyond SSD_BASE_NS begins there. */
#define SSD_BASE_NS (2 * 3600 * NS_PER_S)
uint64_t ssd_rebased_ns(const Ssd *ssd);

/* ---- saving ------------------------------------------------------------- */

/*
 * Save a drive at rest, or load one, exactly: from then on both do the same at
 * the same calls.  docs/state-format.md has the format, docs/state.md the
 * options that may differ.  Loading checks every number. false or NULL: *error
 * names in one line the fault of "it", the stream.
 */
bool ssd_save(const Ssd *ssd, FILE *out, GError **error);
Ssd *ssd_load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
              FILE *in, GError **error);

/* The same of a drive behind which the file goes on; `in` is there then. */
Ssd *ssd_load_first(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                    FILE *in, GError **error);

/* The same with a file, which *error names.  Saving leaves the old file or the
 * whole new one, whatever happens meanwhile. */
bool ssd_save_file(const Ssd *ssd, const char *path, GError **error);
Ssd *ssd_load_file(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                   const char *path, GError **error);

/* The same of a file in which the caller has more, after the drive.  more()
 * writes it, or is NULL; *end: where it begins, or NULL: there may be no more.
 */
bool ssd_save_file_with(const Ssd *ssd, const char *path,
                        bool (*more)(void *opaque, FILE *out, GError **error),
                        void *opaque, GError **error);
Ssd *ssd_load_file_with(const SsdConfig *cfg, const SsdHostOps *host,
                        void *opaque, const char *path, uint64_t *end,
                        GError **error);

/* A copy of the drive as it is, commands in flight included; their completions
 * come from both.  host must be NULL if and only if the drive's is.  NULL: a
 * file of the configuration is gone. */
Ssd *ssd_clone(const Ssd *ssd, const SsdHostOps *host, void *opaque,
               GError **error);

/* ---- aging -------------------------------------------------------------- */

/*
 * Write n mapping units (lpn counts SsdInfo.unit_bytes), in this order, without
 * modelled time: allocation, GC and wear are as for writes of stream 0, and
 * the last page is filled up.  Each has a version of the drive's own: later
 * ones of the host must be above ssd_last_version().  For a drive at rest, and
 * units that its buffer does not hold.  -EBUSY: it is not, it does; -ENODEV: no
 * power; -EINVAL: beyond the capacity, or there is an operation log; -EROFS:
 * the drive takes no more, and earlier data has been written.
 */
int ssd_age(Ssd *ssd, const uint64_t *lpn, uint64_t n);

/*
 * A large drive gets the steady state of uniform random writes from a small
 * one.
 *
 * ssd_model() makes the small one, empty: a part of the planes, with blocks of
 * fewer pages.  NULL: the drive is small itself, or has an option that such a
 * part does not show (state/model.c).
 *
 * The caller writes all units of the model, then units at random until it is
 * steady (ssd_age()).  ssd_age_as() then lays out the drive, which is empty, as
 * copies of it, between which it writes the model on at random: all units are
 * written, wear is the model's, and statistics count nothing of it.  Versions
 * and -EROFS are as of ssd_age().  -EINVAL: the drive is not empty, or has an
 * operation log; the model is another drive's, is not at rest, or has units or
 * blocks that were never written.
 */
Ssd *ssd_model(const Ssd *ssd);
int ssd_age_as(Ssd *ssd, Ssd *model);

#endif
