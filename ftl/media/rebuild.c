/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rebuild.c - data that cannot be read, even with retries and soft decoding,
 * from the rest of its stripe (superblock.parity).
 *
 * The same parts of all other pages of the stripe that are in NAND are read at
 * once, as any read is, with errors of their own; the XOR of them is the data.
 * A part that one of them has lost, too, stays lost.  The owner of the read
 * sees the end of the last of them as its end, and the time as time of ECC.
 *
 * Knows reads and stripes; does not know who reads, nor why.
 */
#include "media/rebuild.h"

#include "controller/controller.h"
#include "inspect/inspect.h"
#include "media/faulty.h"
#include "media/parity.h"
#include "pool.h"
#include "ssd-internal.h"

#define MOST_OTHERS 32

static IlistLinks chain(const Rebuilds *r)
{
    return ILIST_CHAIN(r->rebuild, Rebuild, next);
}

static void count_end(Ssd *ssd, const NandOp *op)
{
    ssd->inspect.count.parity_rebuilt += op->bad_parts == 0;
    ssd->inspect.count.parity_lost += op->bad_parts != 0;
}

/* The read ends now, with what has been rebuilt of it. */
static void end(Ssd *ssd, NandOp *op, uint64_t lost)
{
    uint64_t spent_ps = 0;
    uint64_t all_ps = ssd->now_ps - op->submit_ps; /* modulo 2^64 */

    for (int i = 0; i < NAND_N_TIMES; i++) {
        spent_ps += op->time_ps[i];
    }
    invariant(all_ps >= spent_ps && all_ps < SIM_NEVER / 2);
    op->time_ps[NAND_TIME_ECC] += all_ps - spent_ps;
    op->bad_parts &= lost;
    op->status = op->bad_parts ? NAND_UNCORRECTABLE : NAND_OK;
    count_end(ssd, op);
}

static void read_other(Ssd *ssd, uint32_t i, uint64_t page)
{
    const NandOp *failed = &ssd->media->rebuilds.rebuild[i].op;
    NandOp op = {
        .kind = NAND_READ,
        .cause = failed->cause,
        .ppa = {page},
        .bytes = failed->bytes,
        .parts = failed->bad_parts,
        .cookie = REBUILD_COOKIE | i,
    };

    ssd->inspect.count.parity_rebuild_reads++;
    faulty_submit(ssd, &op);
}

void rebuild_init(Ssd *ssd)
{
    invariant(!ssd->media->rebuilds.rebuild);
    ssd->media->rebuilds.free = NONE;
}

bool rebuild_begin(Ssd *ssd, NandOp *op)
{
    Rebuilds *r = &ssd->media->rebuilds;
    uint64_t other[MOST_OTHERS];
    uint32_t n;
    uint32_t i;

    invariant(op->status == NAND_UNCORRECTABLE && op->bad_parts);
    invariant(ssd->l.parity_dies <= MOST_OTHERS);
    if (!parity_others(ssd, op->ppa.page, other, &n)) {
        count_end(ssd, op);
        return false;
    }
    if (n == 0) { /* all of it is in memory */
        end(ssd, op, 0);
        return false;
    }
    r->rebuild = pool_grow(r->rebuild, chain(r), &r->free, &r->n, 16);
    i = pool_take(chain(r), &r->free);
    r->rebuild[i] = (Rebuild){.op = *op, .reads = n, .next = NONE};
    r->under_way++;
    for (uint32_t k = 0; k < n; k++) {
        read_other(ssd, i, other[k]);
    }
    return true;
}

bool rebuild_read_done(Ssd *ssd, NandOp *op)
{
    Rebuilds *r = &ssd->media->rebuilds;
    uint32_t i = (uint32_t)(op->cookie & (REBUILD_COOKIE - 1));
    Rebuild *b = &r->rebuild[i];

    invariant(i < r->n && b->reads > 0);
    b->lost |= op->bad_parts;
    dram_share(ssd, op->bytes);
    if (--b->reads > 0) {
        return false;
    }
    *op = b->op;
    end(ssd, op, b->lost);
    pool_give(chain(r), &r->free, i);
    r->under_way--;
    return true;
}

void rebuild_rebase(Ssd *ssd, uint64_t by_ps)
{
    for (uint32_t i = 0; i < ssd->media->rebuilds.n; i++) {
        ssd->media->rebuilds.rebuild[i].op.submit_ps -= by_ps;
    }
}

void rebuild_forget(Ssd *ssd)
{
    g_free(ssd->media->rebuilds.rebuild);
    ssd->media->rebuilds = (Rebuilds){.free = NONE};
}
