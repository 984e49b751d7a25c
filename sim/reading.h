/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading.h - which requests of traces are read: a window, a sample, passes.
 *
 * Knows no files; traces.h reads them.
 */
#ifndef VSSD_SIM_READING_H
#define VSSD_SIM_READING_H

#include "trace.h"

/* All 0: every request, once. */
typedef struct ReadingConfig {
    /* Since the first request of all traces, by their own clock: requests
     * before are left out, and times count from here. */
    uint64_t from_ns;
    /* Passes over the traces; each begins when the one before ended.  0 is 1.
     */
    uint32_t repeat;
    /*
     * Of the addresses, in parts of a million; 0: all.  A hash of the device
     * and of the chunk of READING_CHUNK_BYTES where a request begins decides,
     * so that all requests of a chunk are in the sample or none is, and a
     * smaller sample is part of a larger one (C. Waldspurger et al., "Efficient
     * MRC construction with SHARDS", FAST 2015).  Flushes have no address:
     * their number decides.
     */
    uint32_t sample_ppm;
} ReadingConfig;

#define READING_CHUNK_BYTES 4096

bool reading_is_whole(const ReadingConfig *cfg);

/* Is it in the sample?  device: the trace's own number; *n_flushes: of the
 * trace, 0 at first. */
bool reading_samples(const ReadingConfig *cfg, uint64_t device,
                     const Request *req, uint64_t *n_flushes);

#endif
