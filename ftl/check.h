/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - how the members of a drive are checked (Component.check). */
#ifndef VSSD_FTL_CHECK_H
#define VSSD_FTL_CHECK_H

#include "lazymem.h"
#include "options.h"
#include "simtime.h"
#include "ssd-internal.h"

/* Busy until then, of a drive at rest: not for long. */
#define MOST_BUSY_PS (PS_PER_NS * NS_PER_S * 3600)

/* Leave a function that has a GError **error: false, and the fault in one line
 * (a format and its arguments). */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, __VA_ARGS__);       \
            return false;                                                      \
        }                                                                      \
    } while (0)

/* A pool's free list goes through all of its n entries, each once. */
#define CHECK_POOL(head, n, entries, ok)                                       \
    do {                                                                       \
        uint32_t at = (head);                                                  \
        uint32_t seen = 0;                                                     \
                                                                               \
        for (; seen < (n) && at < (n) && (ok); seen++) {                       \
            at = (entries)[at].next;                                           \
        }                                                                      \
        CHECK(seen == (n) && at == NONE, "a list of free entries");            \
    } while (0)

static inline bool none_or(uint32_t i, uint32_t n)
{
    return i == NONE || i < n;
}

static inline bool in_plane(const Ssd *ssd, uint32_t block, uint32_t plane)
{
    return block < ssd->geo->n_blocks && block_plane(ssd, block) == plane;
}

/* How many events of the kind are to come. */
static inline uint32_t events_of(const Ssd *ssd, unsigned kind)
{
    uint32_t n = 0;

    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        n += event_kind(eventq_get(&ssd->events, i)) == kind;
    }
    return n;
}

/* Are all elements good?  An element that is 0 is. */
static inline bool all_numbers(const Ssd *ssd, const NumTable *t,
                               bool (*ok)(const Ssd *ssd, uint64_t i))
{
    bool good = true;
    LazyWalk w;

    numtable_walk(t, &w);
    for (uint64_t i = numtable_next(t, &w, 0); i < t->n && good;
         i = numtable_next(t, &w, i + 1)) {
        good = ok(ssd, i);
    }
    lazy_walk_end(&w);
    return good;
}

#endif
