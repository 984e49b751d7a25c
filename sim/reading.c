/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reading.c - choose requests of a trace. */
#include "reading.h"

bool reading_is_whole(const ReadingConfig *cfg)
{
    return !cfg->from_ns && cfg->repeat <= 1 && !cfg->sample_ppm;
}

/* The last step of splitmix64: each bit of the result depends on all of x. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

bool reading_samples(const ReadingConfig *cfg, uint64_t device,
                     const Request *req, uint64_t *n_flushes)
{
    bool is_flush = req->op == SSD_OP_FLUSH;
    uint64_t what =
        is_flush ? (*n_flushes)++ : req->offset / READING_CHUNK_BYTES;
    uint64_t kind = 2 * device + is_flush;

    return !cfg->sample_ppm ||
           mix(what + mix(kind + 0x9e3779b97f4a7c15ULL)) % 1000000 <
               cfg->sample_ppm;
}
