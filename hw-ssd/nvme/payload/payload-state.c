/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload-state.c - the overlay as a stream of bytes, and back.
 *
 * At rest it holds data that the drive has not programmed (DIRTY) and data
 * that the store refused (FAILED); nothing is on its way.  Units go chain by
 * chain, the oldest entry of a chain first, each with all of its bytes.  Ranges
 * that the store has not zeroed yet follow: where the drive is loaded they are
 * still to be zeroed.
 */
#include "payload-internal.h"

#include <inttypes.h>

#define VALUE(m) STATE_NUMBER_ROW(Payload, m)
#define KEPT(m)  STATE_UNSAVED_ROW(Payload, m)

static const StateRow payload_rows[] = {
    KEPT(store),
    KEPT(store_opaque),
    KEPT(client),
    KEPT(client_opaque),
    KEPT(watched), /* of this process */
    KEPT(ssd),
    KEPT(nblocks),
    KEPT(block_bytes),
    KEPT(unit_bytes),
    KEPT(unit_blocks),
    KEPT(meta_bytes), /* the controller's stream says it */
    KEPT(meta_base),
    KEPT(hash), /* records */
    KEPT(hash_bits),
    KEPT(nchains),
    KEPT(free_entries),
    KEPT(slabs),
    KEPT(free_bufs),
    KEPT(nfree_bufs),
    KEPT(free_jobs),
    KEPT(late), /* the following are empty at rest, but failed */
    KEPT(tear_prng),
    KEPT(ready),
    KEPT(stalled),
    KEPT(failed),
    KEPT(ndead),
    KEPT(due),
    KEPT(next_seq), /* of due entries */
    KEPT(last_version),
    KEPT(zeroes), /* records */
    KEPT(nzeroes),
    KEPT(due_zeroes),
    KEPT(failed_zeroes),
    KEPT(nlost),
    KEPT(next_lazy),
    KEPT(trims),
    KEPT(ntrims),
    KEPT(trims_used),
    KEPT(trims_done),
    KEPT(trim_seq),
    KEPT(sweep_at),
    KEPT(sweep_bits),
    KEPT(reads),
    KEPT(writes),
    KEPT(nwrites),
    KEPT(nzeroing),
    KEPT(nlazy),
    KEPT(marks), /* records */
    KEPT(nmarks),
    KEPT(in_flight),
    KEPT(held),
    KEPT(barriers),
    KEPT(flush_next),
    KEPT(flushing),
    KEPT(flushed),
    KEPT(flush_in_flight),
    VALUE(store_dirty),
    KEPT(limit_bytes),
    KEPT(command_units), /* at rest nothing waits */
    KEPT(kept_bytes),
    KEPT(nreads),
    KEPT(read_bytes),
    VALUE(stats),
};

#undef VALUE
#undef KEPT

static const StateStruct payload_struct = {
    "Payload", payload_rows, G_N_ELEMENTS(payload_rows), sizeof(Payload)};

const StateStruct *payload_state_struct(unsigned i)
{
    return i == 0 ? &payload_struct : NULL;
}

bool payload_at_rest(const Payload *p)
{
    return p->in_flight == 0 && !p->late.head && !p->due.head && !p->ntrims &&
           !p->reads.head && !p->writes.head && !p->barriers.head &&
           !p->flush_next.head && !p->flushing.head && !p->flushed.head;
}

/* ---- units --------------------------------------------------------------- */

typedef struct Unit {
    uint64_t lpn;
    uint64_t version;
    uint64_t failed;   /* else DIRTY */
    uint64_t absorbed;
    uint64_t valid[MASK_WORDS];
    uint64_t marked[MASK_WORDS];
} Unit;

static bool save_entry(State *s, const Payload *p, const PayloadEntry *e)
{
    Unit u = {
        .lpn = e->lpn,
        .version = e->version,
        .failed = e->state == ENTRY_FAILED,
        .absorbed = e->absorbed,
    };

    g_assert(e->state == ENTRY_FAILED || e->state == ENTRY_DIRTY);
    memcpy(u.valid, e->valid, sizeof(u.valid));
    memcpy(u.marked, e->marked, sizeof(u.marked));
    return state_record(s, &u, sizeof(u)) &&
           state_bytes(s, e->data, p->unit_bytes) &&
           (!p->meta_bytes ||
            state_bytes(s, e->meta, (size_t)meta_of(p, p->unit_blocks)));
}

static bool save_units(State *s, const Payload *p)
{
    uint64_t n = p->stats.units;

    state_u64(s, &n);
    for (size_t i = 0; i < (size_t)1 << p->hash_bits; i++) {
        for (const PayloadEntry *chain = p->hash[i]; chain;
             chain = chain->hnext) {
            const PayloadEntry *e = chain;

            while (e->older) {
                e = e->older;
            }
            for (; e; e = e->newer) {
                save_entry(s, p, e);
            }
        }
    }
    return !s->error;
}

/* Only blocks that the unit has, and at least one; marks only of those. */
static bool mask_ok(const Payload *p, const Unit *u)
{
    uint32_t nblocks = blocks_of_unit(p, u->lpn);
    bool any = false;

    for (unsigned w = 0; w < MASK_WORDS; w++) {
        if (u->marked[w] & ~u->valid[w]) {
            return false;
        }
    }
    for (unsigned b = 0; b < MASK_WORDS * BITMAP_WORD; b++) {
        if (bitmap_test(u->valid, b)) {
            any = true;
            if (b >= nblocks) {
                return false;
            }
        }
    }
    return any;
}

static bool unit_ok(const Payload *p, const Unit *u)
{
    uint64_t units = (p->nblocks + p->unit_blocks - 1) / p->unit_blocks;
    const PayloadEntry *newest;

    if (u->lpn >= units || u->failed > 1 || u->absorbed > 1 ||
        !mask_ok(p, u)) {
        return false;
    }
    newest = chain_newest(p, u->lpn);
    return !newest || newest->version < u->version;
}

static bool load_unit(State *s, Payload *p)
{
    PayloadEntry *e;
    Unit u;

    if (!state_record(s, &u, sizeof(u))) {
        return false;
    }
    if (!unit_ok(p, &u)) {
        return state_fail(s, "it is damaged: data on its way");
    }
    e = payload_entry_alloc(p, u.lpn);
    if (!state_bytes(s, e->data, p->unit_bytes) ||
        (p->meta_bytes &&
         !state_bytes(s, e->meta, (size_t)meta_of(p, p->unit_blocks)))) {
        payload_entry_free(p, e);
        return false;
    }
    e->version = u.version;
    e->absorbed = u.absorbed;
    memcpy(e->valid, u.valid, sizeof(e->valid));
    for (unsigned w = 0; w < MASK_WORDS; w++) {
        e->nvalid += __builtin_popcountll(e->valid[w]);
        e->marked[w] = u.marked[w];
        e->has_marks |= u.marked[w] != 0;
    }
    payload_chain_push(p, e);
    if (u.failed) {
        e->state = ENTRY_FAILED;
        p->stats.units_failed++;
        g_queue_push_tail_link(&p->failed, &e->turn);
    }
    return true;
}

/* ---- ranges -------------------------------------------------------------- */

/* Range of units that reads as zeroes; durable: of Write Zeroes, and refused. */
typedef struct Range {
    uint64_t lpn;
    uint64_t nunits;
    uint64_t durable;
} Range;

static bool save_ranges(State *s, const Payload *p)
{
    uint64_t n = p->nzeroes;

    state_u64(s, &n);
    for (GSequenceIter *at = g_sequence_get_begin_iter(p->zeroes);
         !g_sequence_iter_is_end(at); at = g_sequence_iter_next(at)) {
        const ZeroRange *z = g_sequence_get(at);
        Range r = {z->lpn, z->nunits, z->durable};

        state_bytes(s, &r, sizeof(r));
    }
    return !s->error;
}

/* In order, and of whole units. */
static bool load_ranges(State *s, Payload *p)
{
    uint64_t end = 0;
    uint64_t n = 0;

    state_u64(s, &n);
    for (uint64_t i = 0; !s->error && i < n; i++) {
        Range r;

        if (!state_bytes(s, &r, sizeof(r))) {
            return false;
        }
        if (r.lpn < end || r.lpn > p->nblocks / p->unit_blocks || !r.nunits ||
            r.nunits > p->nblocks / p->unit_blocks - r.lpn || r.durable > 1) {
            return state_fail(s, "it is damaged: data on its way");
        }
        end = r.lpn + r.nunits;
        payload_zeroes_load(p, r.lpn, r.nunits, r.durable);
    }
    return !s->error;
}

/* ---- marks --------------------------------------------------------------- */

/* Uncorrectable blocks in the store, as runs. */
typedef struct Run {
    uint64_t lba;
    uint64_t nblocks;
} Run;

static bool next_run(const Payload *p, uint64_t from, Run *run)
{
    uint64_t end;

    if (!payload_marks_find(p, from, p->nblocks - from, &run->lba)) {
        return false;
    }
    for (end = run->lba; end < p->nblocks && bitmap_test(p->marks, end);
         end++) {
    }
    run->nblocks = end - run->lba;
    return true;
}

static bool save_marks(State *s, const Payload *p)
{
    uint64_t n = 0;
    Run run = {0, 0};

    while (next_run(p, run.lba + run.nblocks, &run)) {
        n++;
    }
    state_u64(s, &n);
    run = (Run){0, 0};
    while (next_run(p, run.lba + run.nblocks, &run)) {
        state_bytes(s, &run, sizeof(run));
    }
    return !s->error;
}

static bool load_marks(State *s, Payload *p)
{
    uint64_t end = 0;
    uint64_t n = 0;

    state_u64(s, &n);
    for (uint64_t i = 0; !s->error && i < n; i++) {
        Run run;

        if (!state_bytes(s, &run, sizeof(run))) {
            return false;
        }
        if (run.lba < end || run.lba >= p->nblocks || !run.nblocks ||
            run.nblocks > p->nblocks - run.lba) {
            return state_fail(s, "it is damaged: uncorrectable blocks");
        }
        end = run.lba + run.nblocks;
        for (uint64_t lba = run.lba; lba < end; lba++) {
            payload_marks_put(p, lba, true);
        }
    }
    return !s->error;
}

bool payload_marks_state(Payload *p, State *s)
{
    return s->loading ? load_marks(s, p) : save_marks(s, p);
}

bool payload_state(Payload *p, State *s)
{
    uint64_t n = 0;
    uint8_t dirty;

    if (!state_values(s, &payload_struct, p)) {
        return false;
    }
    if (!s->loading) {
        return save_units(s, p) && save_ranges(s, p) && save_marks(s, p);
    }
    memcpy(&dirty, &p->store_dirty, 1);
    if (dirty > 1) {
        p->store_dirty = true;
        return state_fail(s, "it is damaged: data on its way");
    }
    p->stats.units = 0; /* counted as they come */
    p->stats.units_failed = 0;
    state_u64(s, &n);
    for (uint64_t i = 0; !s->error && i < n; i++) {
        load_unit(s, p);
    }
    return !s->error && load_ranges(s, p) && load_marks(s, p);
}
