/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.c - the overlay: user data that the store does not hold yet.
 *
 * One entry is the data of one WRITE in one mapping unit; a bit per logical
 * block says which of them the entry has.  The entries of a unit form a chain
 * from the newest to the oldest, found through a hash of the unit's number.
 *
 *   DIRTY    in the drive's volatile buffer: a power cut drops it
 *   LATE     programmed, and a power cut drops it all the same (tears.c)
 *   READY    programmed: waits for its turn at the store
 *   STALLED  the same, and something older at the store is in its way
 *   WRITING  the store is at it
 *   FAILED   the store refused it: kept, tried again at the next barrier
 *
 * A TRIM (trims.c) ends entries.  One that is dead nobody reads; it is still
 * there because the store has it, or a barrier waits for it.
 *
 * Knows the contents of a block, also after a power cut; knows nothing of
 * commands, guest memory or NVMe.  How data gets to the store is destage.c's
 * business.
 */
#include "payload-internal.h"
#include "ssd-save.h"

#include <errno.h>
#include <string.h>

/* ---- reports of the drive --------------------------------------------- */

static void look(Payload *p, uint64_t lpn)
{
    if (p->trims_done) {
        payload_chain_look(p, lpn);
    }
}

static PayloadEntry *chain_find(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e;

    look(p, lpn);
    e = chain_newest(p, lpn);
    while (e && e->version != version) {
        e = e->older;
    }
    return e;
}

void payload_programmed(Payload *p, uint64_t now_ns, uint64_t lpn,
                        uint64_t version)
{
    PayloadEntry *e = chain_find(p, lpn, version);

    if (!e || e->state != ENTRY_DIRTY) {
        return; /* trimmed meanwhile */
    }
    payload_entry_programmed(p, e, now_ns);
}

void payload_superseded(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e = chain_find(p, lpn, version);

    if (!e || e->state != ENTRY_DIRTY) {
        return;
    }
    if (e->newer && e->newer->state == ENTRY_DIRTY &&
        !payload_trim_between(p, lpn, e->version, e->newer->version)) {
        payload_merge(p, e, e->newer);
        e->newer->on_zeroes |= e->on_zeroes;
    }
    payload_entry_drop(p, e);
}

/* ---- writes ------------------------------------------------------------- */

PayloadEntry *payload_write_new(Payload *p, uint64_t lba, uint32_t nblocks)
{
    PayloadEntry *list = NULL;
    PayloadEntry **tail = &list;

    while (nblocks) {
        PayloadEntry *e = payload_entry_alloc(p, lba / p->unit_blocks);

        e->first = lba % p->unit_blocks;
        e->count = MIN(nblocks, p->unit_blocks - e->first);
        entry_add(e, e->first, e->count);
        if (p->meta_bytes) {
            memset(e->meta + meta_of(p, e->first), 0,
                   (size_t)meta_of(p, e->count));
        }
        lba += e->count;
        nblocks -= e->count;
        p->command_units++;
        *tail = e;
        tail = &e->next;
    }
    return list;
}

uint8_t *payload_write_piece(Payload *p, PayloadEntry **cursor, size_t *bytes)
{
    PayloadEntry *e = *cursor;

    if (!e) {
        return NULL;
    }
    *cursor = e->next;
    *bytes = (size_t)e->count * p->block_bytes;
    return e->data + (size_t)e->first * p->block_bytes;
}

uint8_t *payload_write_meta(Payload *p, PayloadEntry **cursor, size_t *bytes)
{
    PayloadEntry *e = *cursor;

    g_assert(p->meta_bytes);
    if (!e) {
        return NULL;
    }
    *cursor = e->next;
    *bytes = (size_t)meta_of(p, e->count);
    return e->meta + meta_of(p, e->first);
}

void payload_write_drop(Payload *p, PayloadEntry *list)
{
    while (list) {
        PayloadEntry *next = list->next;

        p->command_units--;
        payload_entry_free(p, list);
        list = next;
    }
}

static const PayloadEntry *newest_alive(const PayloadEntry *e)
{
    while (e && e->dead) {
        e = e->older;
    }
    return e;
}

/* Does a unit without entries read as zeroes, whatever the store may hold? */
static bool reads_as_zeroes(const Payload *p, uint64_t lpn)
{
    return payload_zeroes_cover(p, lpn, lpn) ||
           !ssd_mapped(p->ssd, lpn * p->unit_blocks, NULL);
}

void payload_write_commit(Payload *p, PayloadEntry *list, uint64_t version)
{
    p->last_version = version;
    while (list) {
        PayloadEntry *e = list;

        list = e->next;
        e->next = NULL;
        e->version = version;
        look(p, e->lpn);
        e->trim_seq = p->trim_seq;
        e->on_zeroes = !newest_alive(chain_newest(p, e->lpn)) &&
                       reads_as_zeroes(p, e->lpn);
        if (e->on_zeroes) {
            payload_fill_with_zeroes(p, e);
        }
        payload_chain_push(p, e);
    }
}

/* The entry below it goes, and the blocks below that read as zeroes. */
static void now_on_zeroes(Payload *p, PayloadEntry *e)
{
    if (e && e->state == ENTRY_DIRTY && !e->dead) {
        e->on_zeroes = true;
        payload_fill_with_zeroes(p, e);
    }
}

void payload_write_failed(Payload *p, uint64_t lba, uint32_t nblocks,
                          uint64_t version)
{
    uint64_t last = (lba + nblocks - 1) / p->unit_blocks;

    for (uint64_t lpn = lba / p->unit_blocks; lpn <= last; lpn++) {
        PayloadEntry *e = chain_find(p, lpn, version);
        uint64_t newest = 0;
        bool taken = ssd_mapped(p->ssd, lpn * p->unit_blocks, &newest) &&
                     newest == version;

        /* A drive that has failed keeps the data that it took, and the
         * contents of the unit are here.  Blocks of others that it took over
         * must not go. */
        if (e && e->state == ENTRY_DIRTY && !e->absorbed && !taken) {
            if (e->on_zeroes) {
                now_on_zeroes(p, e->newer);
            }
            payload_entry_drop(p, e);
        }
    }
}

/* ---- reads -------------------------------------------------------------- */

static const PayloadEntry *find_block(const PayloadEntry *e, unsigned block)
{
    while (e && (e->dead || !entry_has(e, block))) {
        e = e->older;
    }
    return e;
}

static void note_mark(PayloadRead *rd, uint64_t lba)
{
    rd->bad_lba = rd->marked ? MIN(rd->bad_lba, lba) : lba;
    rd->marked = true;
    rd->ret = -EIO;
}

static void look_for_marks(PayloadRead *rd, uint64_t lba, unsigned block,
                           uint32_t n, const PayloadEntry *e)
{
    for (uint32_t i = 0; i < n; i++) {
        if (bitmap_test(e->marked, block + i)) {
            note_mark(rd, lba + i);
        }
    }
}

/* Metadata of n blocks, from the i-th of the read on; of an entry, or zeroes.
 */
static void read_meta(const Payload *p, const PayloadRead *rd, uint32_t i,
                      unsigned block, uint32_t n, const PayloadEntry *e)
{
    uint8_t *to = rd->meta + meta_of(p, i);

    if (e) {
        memcpy(to, e->meta + meta_of(p, block), (size_t)meta_of(p, n));
    } else {
        memset(to, 0, (size_t)meta_of(p, n));
    }
}

/* Blocks [i, i+count) of the read are in one unit.  Returns how many at the
 * start of them have one source, and says whether that is the store. */
static uint32_t read_piece(Payload *p, PayloadRead *rd, uint32_t i,
                           uint32_t count, bool *from_store)
{
    uint64_t lpn = (rd->lba + i) / p->unit_blocks;
    unsigned block = (rd->lba + i) % p->unit_blocks;
    uint8_t *to = rd->buf + (size_t)i * p->block_bytes;
    const PayloadEntry *newest;
    const PayloadEntry *e;
    uint32_t n = count;

    look(p, lpn);
    *from_store = false;
    newest = newest_alive(chain_newest(p, lpn));
    e = find_block(newest, block);
    if (newest) {
        for (n = 1; n < count && find_block(newest, block + n) == e; n++) {
        }
    }
    /* The drive may have trimmed a programmed unit, and not reported that yet.
     */
    if (e && (newest->state == ENTRY_DIRTY ||
              ssd_mapped(p->ssd, lpn * p->unit_blocks, NULL))) {
        memcpy(to, e->data + (size_t)block * p->block_bytes,
               (size_t)n * p->block_bytes);
        if (rd->meta) {
            read_meta(p, rd, i, block, n, e);
        }
        if (e->has_marks) {
            look_for_marks(rd, rd->lba + i, block, n, e);
        }
    } else if (e || reads_as_zeroes(p, lpn)) {
        memset(to, 0, (size_t)n * p->block_bytes);
        if (rd->meta) {
            read_meta(p, rd, i, block, n, NULL);
        }
    } else {
        uint64_t lba;

        *from_store = true;
        if (payload_marks_find(p, rd->lba + i, n, &lba)) {
            note_mark(rd, lba);
        }
    }
    return n;
}

bool payload_read(Payload *p, PayloadRead *rd)
{
    uint32_t store_blocks = 0; /* that end at i and have not been asked for */
    uint32_t i = 0;

    rd->in_flight = 1;
    rd->ret = 0;
    rd->marked = false;
    while (i < rd->nblocks) {
        uint32_t in_unit = p->unit_blocks - (rd->lba + i) % p->unit_blocks;
        bool from_store;
        uint32_t n =
            read_piece(p, rd, i, MIN(in_unit, rd->nblocks - i), &from_store);

        if (!from_store && store_blocks) {
            payload_read_from_store(p, rd, i - store_blocks, store_blocks);
            store_blocks = 0;
        } else if (from_store) {
            store_blocks += n;
        }
        i += n;
    }
    if (store_blocks) {
        payload_read_from_store(p, rd, i - store_blocks, store_blocks);
    }
    if (--rd->in_flight == 0) {
        return true;
    }
    payload_read_waits(p, rd);
    return false;
}

/* ---- life --------------------------------------------------------------- */

void payload_power_cut(Payload *p)
{
    while (p->trims_done) {
        payload_sweep(p);
    }
    for (size_t i = 0; i < (size_t)1 << p->hash_bits; i++) {
        PayloadEntry *chain;

        for (PayloadEntry *e = p->hash[i]; e; e = chain) {
            PayloadEntry *older;

            chain = e->hnext;
            for (; e; e = older) {
                older = e->older;
                if (e->state == ENTRY_DIRTY || e->state == ENTRY_LATE) {
                    payload_entry_drop(p, e);
                }
            }
        }
    }
}

Payload *payload_new(const NvmeStore *store, void *store_opaque,
                     const PayloadClient *client, void *client_opaque)
{
    Payload *p = g_new0(Payload, 1);

    p->store = store;
    p->store_opaque = store_opaque;
    p->client = client;
    p->client_opaque = client_opaque;
    p->hash_bits = 10;
    p->sweep_bits = p->hash_bits;
    p->hash = g_new0(PayloadEntry *, (size_t)1 << p->hash_bits);
    p->slabs = g_array_new(FALSE, FALSE, sizeof(Slab));
    p->zeroes = g_sequence_new(NULL);
    p->store_dirty = true; /* an earlier process may have left things so */
    return p;
}

void payload_attach(Payload *p, const Ssd *ssd, uint64_t nblocks)
{
    const SsdInfo *info = ssd_info(ssd);

    p->ssd = ssd;
    p->last_version = ssd_last_version(ssd);
    p->nblocks = nblocks;
    p->block_bytes = info->block_bytes;
    p->unit_bytes = info->unit_bytes;
    p->unit_blocks = info->unit_bytes / info->block_bytes;
    g_assert(p->unit_blocks <= MASK_WORDS * 64);
}

void payload_set_metadata(Payload *p, uint32_t bytes, uint64_t base)
{
    g_assert(!p->slabs->len && base >= p->nblocks * p->block_bytes);
    p->meta_bytes = bytes;
    p->meta_base = base;
}

void payload_free(Payload *p)
{
    g_assert(p->in_flight == 0);
    payload_free_jobs(p);
    payload_zeroes_free(p);
    payload_marks_free(p);
    payload_entries_free(p);
    payload_bufs_free(p);
    g_free(p->hash);
    g_free(p);
}

uint64_t payload_units_failed(const Payload *p)
{
    return p->stats.units_failed;
}

void payload_get_stats(const Payload *p, PayloadStats *stats)
{
    *stats = p->stats;
    stats->zero_ranges = p->nzeroes;
    stats->backlog_bytes = payload_backlog_bytes(p);
    stats->backlog_peak_bytes =
        MAX(stats->backlog_peak_bytes, stats->backlog_bytes);
}
