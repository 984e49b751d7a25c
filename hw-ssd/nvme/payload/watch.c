/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.c - reports of the data that a power cut would leave.
 *
 * Knows when the content of a block becomes durable: the drive has programmed
 * it, or has done a TRIM.  Does not know who wants the reports.
 */
#include "payload-internal.h"

void payload_watch(Payload *p)
{
    g_assert(p->client->durable);
    p->watched = true;
}

/* The runs of blocks that the entry has. */
void payload_watch_entry(Payload *p, uint64_t at_ns, const PayloadEntry *e)
{
    unsigned b = 0;

    while (b < p->unit_blocks) {
        unsigned first = b;

        while (b < p->unit_blocks && entry_has(e, b)) {
            b++;
        }
        if (b > first) {
            p->client->durable(p->client_opaque, at_ns,
                               e->lpn * p->unit_blocks + first, b - first,
                               e->data + (size_t)first * p->block_bytes);
        } else {
            b++;
        }
    }
}

/* Data of a chain that the drive programmed during the TRIM, and that is newer:
 * the oldest first. */
static void watch_newer(Payload *p, uint64_t at_ns, uint64_t lpn,
                        uint64_t version)
{
    const PayloadEntry *e = chain_newest(p, lpn);

    while (e && e->older) {
        e = e->older;
    }
    for (; e; e = e->newer) {
        if (e->version > version && e->state != ENTRY_DIRTY &&
            e->state != ENTRY_LATE && !e->dead) {
            payload_watch_entry(p, at_ns, e);
        }
    }
}

/* TRIMs are as large as the drive: look at the fewer of units and chains. */
void payload_watch_trim(Payload *p, uint64_t at_ns, const Trim *t)
{
    size_t buckets = (size_t)1 << p->hash_bits;

    p->client->durable(
        p->client_opaque, at_ns, t->lpn * p->unit_blocks,
        MIN(t->nunits * p->unit_blocks, p->nblocks - t->lpn * p->unit_blocks),
        NULL);
    if (t->nunits < buckets) {
        for (uint64_t i = 0; p->nchains && i < t->nunits; i++) {
            watch_newer(p, at_ns, t->lpn + i, t->version);
        }
        return;
    }
    for (size_t i = 0; i < buckets; i++) {
        for (const PayloadEntry *e = p->hash[i]; e; e = e->hnext) {
            if (e->lpn - t->lpn < t->nunits) {
                watch_newer(p, at_ns, e->lpn, t->version);
            }
        }
    }
}
