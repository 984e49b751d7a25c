/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known.c - see known.h. */
#include "journal/journal.h"
#include "journal/known.h"
#include "journal/saved.h"
#include "ssd-internal.h"

void known_begin(const Ssd *ssd, KnownWalk *w)
{
    const Journal *j = ssd->journal;
    uint64_t n = saved_map_units(ssd);

    numtable_walk(&ssd->l2p.entry, &w->table[0]);
    lazy_walk_begin(&w->table[1], j->floor, n * sizeof(*j->floor));
    lazy_walk_begin(&w->table[2], j->saved, n * sizeof(*j->saved));
    w->bytes[0] = numtable_bytes(&ssd->l2p.entry);
    w->bytes[1] = sizeof(*j->floor);
    w->bytes[2] = sizeof(*j->saved);
    for (int i = 0; i < 3; i++) {
        w->next[i] = lazy_walk_index(&w->table[i], 0, w->bytes[i]);
    }
}

uint64_t known_next(KnownWalk *w, uint64_t lpn)
{
    for (int i = 0; i < 3; i++) {
        if (w->next[i] < lpn) {
            w->next[i] = lazy_walk_index(&w->table[i], lpn, w->bytes[i]);
        }
    }
    return MIN(w->next[0], MIN(w->next[1], w->next[2]));
}

void known_end(KnownWalk *w)
{
    for (int i = 0; i < 3; i++) {
        lazy_walk_end(&w->table[i]);
    }
}
