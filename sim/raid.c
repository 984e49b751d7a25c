/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid.c - an array with redundancy: time, failures, rebuild, commands.
 *
 * All drives are run up to the same instant, event by event, so a write follows
 * its reads at the instant at which they end.  Operations on stripes are in
 * raid-op.c, places in raid-layout.c, reads and writes of a stripe in
 * raid-plan.c.
 */
#include "raid-internal.h"

#include <string.h>
#include <glib.h>

#include "pool.h"
#include "simtime.h"
#include "ssd-save.h"

/* ---- set-up -------------------------------------------------------------- */

Raid *raid_new(Ssd *const *drive, RaidLayout *layout, const RaidConfig *cfg)
{
    Raid *r = g_new0(Raid, 1);
    const SsdInfo *info = ssd_info(drive[0]);

    r->layout = layout;
    r->cfg = *cfg;
    r->fault = g_new0(RaidFault, cfg->n_faults);
    for (unsigned i = 0; i < cfg->n_faults; i++) {
        r->fault[i] = (RaidFault){cfg->fault[i].drive, SSD_TIME_NEVER};
    }
    r->cfg.fault = g_memdup2(cfg->fault, cfg->n_faults * sizeof(*cfg->fault));
    for (uint32_t i = 0; i < layout->n_drives; i++) {
        r->member[i] = (Member){.ssd = drive[i], .waiting = IFIFO_EMPTY};
        r->now_ns = MAX(r->now_ns, ssd_now_ns(drive[i]));
        r->version = MAX(r->version, ssd_last_version(drive[i]));
        raid_note_member(r, &r->member[i]);
    }
    r->queue_depth = info->queue_depth;
    r->block_bytes = info->block_bytes;
    r->locks = g_hash_table_new(NULL, NULL);
    r->ops = g_ptr_array_new_with_free_func(raid_free_op);
    r->free_part = ILIST_NONE;
    r->whole = g_new0(Whole, r->queue_depth);
    r->ready = g_new0(SsdCompletion, r->queue_depth);
    return r;
}

void raid_free(Raid *r)
{
    if (r) {
        g_ptr_array_unref(r->ops);
        g_hash_table_unref(r->locks);
        raid_layout_free(r->layout);
        g_free((RaidFault *)r->cfg.fault);
        g_free(r->fault);
        g_free(r->part);
        g_free(r->whole);
        g_free(r->ready);
        g_free(r);
    }
}

const RaidLayout *raid_layout(const Raid *r)
{
    return r->layout;
}

void raid_begin(Raid *r, uint64_t now_ns)
{
    r->stats = (RaidStats){.n_failed = 0};
    r->rebuild_begun_ns = now_ns;
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        r->fault[i].at_ns = now_ns + r->cfg.fault[i].at_ns;
    }
}

RaidStats raid_stats(const Raid *r)
{
    RaidStats s = r->stats;

    s.rebuilding = r->rebuilding;
    if (r->rebuilding) {
        s.rebuild_ns += r->now_ns - r->rebuild_begun_ns;
    }
    return s;
}

bool raid_rebuilding(const Raid *r)
{
    return r->rebuilding;
}

bool raid_failed(const Raid *r, uint32_t drive)
{
    return r->member[drive].failed;
}

/* ---- failures ------------------------------------------------------------ */

static void begin_rebuild(Raid *r)
{
    if (!r->rebuilding) {
        r->rebuilding = true;
        r->rebuild_begun_ns = r->now_ns;
        r->pace_ns = r->now_ns;
    }
}

static void fail(Raid *r, uint32_t drive)
{
    Member *m = &r->member[drive];

    if (m->failed) {
        return;
    }
    m->failed = true;
    r->stats.n_failed++;
    r->failure[r->n_failures++] = (RaidFailure){.drive = drive};
    raid_lose_parts(r, drive);
    raid_note_member(r, m);
    begin_rebuild(r);
}

static void due_faults(Raid *r)
{
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        if (r->fault[i].at_ns <= r->now_ns) {
            r->fault[i].at_ns = SSD_TIME_NEVER;
            fail(r, r->fault[i].drive);
        }
    }
}

/* ---- rebuild ------------------------------------------------------------- */

/* The chunk of a row that was on the drive when it failed.  false: none that is
 * in use. */
static bool lost_chunk(const Raid *r, uint64_t row, uint32_t *group,
                       uint32_t *role)
{
    uint32_t drive = r->failure[r->current].drive;

    for (*group = 0; *group < r->layout->n_groups; (*group)++) {
        for (*role = 0; *role < r->layout->width; (*role)++) {
            if (raid_layout_place(r->layout, r->failure, r->current, row,
                                  *group, *role) == drive) {
                return true;
            }
        }
    }
    return false;
}

static void rebuild_row(Raid *r)
{
    uint64_t row = r->failure[r->current].n_rebuilt++;
    uint32_t group, role, to;
    Op *op;

    if (!lost_chunk(r, row, &group, &role)) {
        return;
    }
    to = raid_layout_place(r->layout, r->failure, r->current + 1, row, group,
                           role);
    if (to == RAID_NO_DRIVE) {
        r->stats.unspared_chunks++;
        return;
    }
    op = raid_new_op(r, OP_REBUILD, NO_TAG);
    op->row = row;
    op->group = group;
    op->role = role;
    r->rebuilds[r->n_rebuilds++] = row;
    if (r->cfg.rebuild_bytes_s) {
        uint64_t bytes = (uint64_t)r->layout->chunk_blocks * r->block_bytes;

        r->pace_ns = MAX(r->pace_ns, r->now_ns) +
                     bytes * NS_PER_S / r->cfg.rebuild_bytes_s;
    }
    raid_make_runnable(r, op);
}

static bool wants_row(const Raid *r)
{
    return r->current < r->n_failures &&
           r->failure[r->current].n_rebuilt < r->layout->n_rows &&
           r->n_rebuilds < r->cfg.rebuild_depth;
}

/* A row can begin at once, or the rebuild of a failure, or of all, has ended.
 */
static bool rebuild_is_due(const Raid *r)
{
    return r->rebuilding &&
           (wants_row(r) ? r->pace_ns <= r->now_ns : r->n_rebuilds == 0);
}

/* One failure after the other; without spare chunks there is nothing to do. */
static void continue_rebuild(Raid *r)
{
    while (r->current < r->n_failures) {
        RaidFailure *f = &r->failure[r->current];

        if (r->layout->n_spares == 0 && f->n_rebuilt < r->layout->n_rows) {
            r->stats.unspared_chunks += r->layout->n_rows;
            f->n_rebuilt = r->layout->n_rows;
        }
        while (wants_row(r) && r->pace_ns <= r->now_ns) {
            rebuild_row(r);
        }
        if (f->n_rebuilt < r->layout->n_rows || r->n_rebuilds > 0) {
            return;
        }
        r->current++;
    }
    if (r->rebuilding) {
        r->rebuilding = false;
        r->stats.rebuild_ns += r->now_ns - r->rebuild_begun_ns;
    }
}

/* ---- time ---------------------------------------------------------------- */

/* A drive refused a write: it is worn out, or its media failed. */
static bool refused_write(const SsdCompletion *c, const Part *part)
{
    return c->status != SSD_STATUS_OK && part->cmd.op != SSD_OP_READ;
}

static void part_ended(Raid *r, const SsdCompletion *c)
{
    Part part = r->part[c->tag];
    Member *m = &r->member[part.drive];
    Op *op = part.op;

    r->part[c->tag].op = NULL;
    pool_give(raid_part_links(r), &r->free_part, (uint32_t)c->tag);
    m->n_in_flight--;
    if (op) {
        op->last = c->cost;
        if (part.cmd.op == SSD_OP_READ && c->status != SSD_STATUS_OK) {
            op->unreadable |= 1ULL << part.role;
            op->again = true;
        }
        raid_part_left(r, op);
    }
    if (refused_write(c, &part)) {
        fail(r, part.drive);
    }
    if (!m->failed) {
        raid_submit_waiting(r, m);
    }
}

static void collect(Raid *r)
{
    SsdCompletion done[64];

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        Member *m = &r->member[i];
        size_t n;

        if (!drive_clock_is_due(&r->clock, i, r->now_ns)) {
            continue;
        }
        do {
            n = ssd_advance(m->ssd, r->now_ns, done, G_N_ELEMENTS(done));
            for (size_t k = 0; k < n; k++) {
                part_ended(r, &done[k]);
            }
        } while (n == G_N_ELEMENTS(done));
        raid_note_member(r, m);
    }
}

static uint64_t next_own_ns(const Raid *r)
{
    uint64_t next_ns = drive_clock_first_ns(&r->clock, r->layout->n_drives);

    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        next_ns = MIN(next_ns, r->fault[i].at_ns);
    }
    if (wants_row(r)) {
        next_ns = MIN(next_ns, r->pace_ns);
    } else if (rebuild_is_due(r)) {
        next_ns = r->now_ns;
    }
    return next_ns == SSD_TIME_NEVER ? next_ns : MAX(next_ns, r->now_ns);
}

/* What happens up to now_ns, instant by instant. */
static void run_drives(Raid *r, uint64_t now_ns)
{
    uint64_t next_ns;

    while ((next_ns = next_own_ns(r)) <= now_ns) {
        r->now_ns = next_ns;
        collect(r);
        due_faults(r);
        do {
            continue_rebuild(r);
            raid_run_ready(r);
        } while (rebuild_is_due(r));
    }
    r->now_ns = MAX(r->now_ns, now_ns);
}

uint64_t raid_next_event_ns(const Raid *r)
{
    return r->n_ready > 0 ? r->ready[r->first_ready].complete_ns
                          : next_own_ns(r);
}

size_t raid_advance(Raid *r, uint64_t now_ns, SsdCompletion *done, size_t max)
{
    size_t n;

    run_drives(r, now_ns);
    n = MIN(r->n_ready, max);
    memcpy(done, r->ready + r->first_ready, n * sizeof(*done));
    r->n_ready -= n;
    memmove(r->ready, r->ready + r->first_ready + n,
            r->n_ready * sizeof(*done));
    r->first_ready = 0;
    return n;
}

void raid_catch_up(Raid *r, uint64_t now_ns)
{
    run_drives(r, now_ns);
    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        if (!r->member[i].failed) {
            ssd_advance(r->member[i].ssd, r->now_ns, NULL, 0);
            raid_note_member(r, &r->member[i]);
        }
    }
}

uint64_t raid_rebase_most_ns(const Raid *r)
{
    uint64_t most_ns = r->now_ns;

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        most_ns = MIN(most_ns, ssd_rebase_most_ns(r->member[i].ssd));
    }
    if (r->rebuilding) {
        most_ns = MIN(most_ns, MIN(r->rebuild_begun_ns, r->pace_ns));
    }
    for (uint32_t i = 0; i < r->queue_depth; i++) {
        if (r->whole[i].n_ops > 0) {
            most_ns = MIN(most_ns, r->whole[i].submit_ns);
        }
    }
    return most_ns;
}

void raid_rebase(Raid *r, uint64_t by_ns)
{
    g_assert(r->n_ready == 0 && !r->runnable);
    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        bool ok = ssd_rebase(r->member[i].ssd, by_ns);

        g_assert(ok);
    }
    drive_clock_rebase(&r->clock, r->layout->n_drives, by_ns);
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        r->fault[i].at_ns -= r->fault[i].at_ns == SSD_TIME_NEVER ? 0 : by_ns;
    }
    for (uint32_t i = 0; i < r->queue_depth; i++) {
        r->whole[i].submit_ns -= MIN(r->whole[i].submit_ns, by_ns);
    }
    r->now_ns -= by_ns;
    r->pace_ns -= MIN(r->pace_ns, by_ns);
    r->rebuild_begun_ns -= MIN(r->rebuild_begun_ns, by_ns);
}

/* ---- commands ------------------------------------------------------------ */

void raid_submit(Raid *r, uint64_t now_ns, const SsdCmd *cmd)
{
    uint32_t tag = (uint32_t)cmd->tag;
    Whole *w = &r->whole[tag];

    run_drives(r, now_ns);
    *w = (Whole){.submit_ns = now_ns, .cmd = *cmd};
    if (raid_op_kind(cmd->op) == OP_FLUSH) {
        Op *op = raid_new_op(r, OP_FLUSH, tag);

        op->shutdown = cmd->op == SSD_OP_SHUTDOWN;
        w->n_ops = 1;
        raid_make_runnable(r, op);
    } else {
        w->next = cmd->lba;
        w->end = cmd->lba + cmd->nblocks;
        raid_more_ops(r, tag);
    }
    raid_run_ready(r);
}

/* The chunk of a role, at the place of the stripe's block `first`. */
static void hint_chunk(const Raid *r, uint64_t stripe, uint32_t role,
                       uint64_t first, SsdHint hint)
{
    const RaidLayout *l = r->layout;
    uint64_t row = stripe / l->n_groups;
    uint64_t lba = row * l->chunk_blocks + first % l->chunk_blocks;
    uint32_t drive =
        raid_layout_home(l, row, (uint32_t)(stripe % l->n_groups), role);

    ssd_hint(r->member[drive].ssd, lba, hint);
    if (hint == SSD_HINT_WRITES && !l->copies) {
        ssd_hint(r->member[drive].ssd, lba, SSD_HINT_READS); /* the old data */
    }
}

/* As if no drive had failed.  Which copy a read will take is not known yet, so
 * each drive with a copy gets the hint. */
void raid_hint(const Raid *r, uint64_t lba, SsdHint hint)
{
    const RaidLayout *l = r->layout;
    uint64_t stripe_blocks = (uint64_t)l->n_data * l->chunk_blocks;
    uint64_t stripe = lba / stripe_blocks;
    uint64_t first = lba % stripe_blocks;

    hint_chunk(r, stripe, (uint32_t)(first / l->chunk_blocks), first, hint);
    if (hint == SSD_HINT_READS && !l->copies) {
        return;
    }
    for (uint32_t role = l->n_data; role < l->width; role++) {
        hint_chunk(r, stripe, role, first, hint);
    }
}
