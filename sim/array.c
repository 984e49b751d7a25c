/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.c - split a command over drives, put its completion together (RAID 0).
 *
 * Knows stripes; knows nothing of the work of drives.  The stripes of one
 * command on one drive are one behind the other there, so that each drive gets
 * one part at most, under the command's own tag.
 */
#include "array.h"
#include "drive-clock.h"
#include "ssd-report.h"
#include "ssd-save.h"

#include <errno.h>
#include <string.h>
#include <glib.h>

/* A command whose parts have not all ended. */
typedef struct Whole {
    SsdCompletion done; /* of the part that ended last, so far */
    unsigned n_left;
} Whole;

struct Array {
    unsigned n;
    Ssd *drive[ARRAY_MAX_DRIVES];
    SsdInfo info;
    uint64_t stripe; /* blocks */
    Raid *raid;      /* does all commands; or NULL */

    DriveClock clock;     /* RAID 0 */
    Whole *in_flight;     /* by tag */
    SsdCompletion *ready; /* ended, not yet fetched; oldest first */
    size_t first_ready, n_ready;
};

Array *array_new(Ssd *const *drive, unsigned n, uint64_t stripe_bytes)
{
    Array *a = g_new0(Array, 1);

    g_assert(n >= 1 && n <= ARRAY_MAX_DRIVES);
    a->n = n;
    memcpy(a->drive, drive, n * sizeof(*drive));
    a->info = *ssd_info(drive[0]);
    if (n > 1) {
        a->stripe = stripe_bytes / a->info.block_bytes;
        g_assert(a->stripe > 0 && a->stripe <= a->info.nblocks);
        a->info.nblocks -= a->info.nblocks % a->stripe;
        a->info.nblocks *= n;
        a->info.raw_bytes *= n;
        a->info.memory_bytes *= n;
        a->info.preload_bytes *= n;
        for (unsigned i = 0; i < n; i++) {
            drive_clock_note(&a->clock, i, drive[i]);
        }
        a->in_flight = g_new0(Whole, a->info.queue_depth);
        a->ready = g_new0(SsdCompletion, a->info.queue_depth);
    }
    return a;
}

Array *array_new_raid(Ssd *const *drive, RaidLayout *layout,
                      const RaidConfig *cfg)
{
    Array *a = g_new0(Array, 1);

    a->n = layout->n_drives;
    memcpy(a->drive, drive, a->n * sizeof(*drive));
    a->info = *ssd_info(drive[0]);
    a->info.nblocks = raid_layout_blocks(layout);
    a->info.raw_bytes *= a->n;
    a->info.memory_bytes *= a->n;
    /* Chunk by chunk, and some chunks are empty: it may be stored. */
    a->info.preload_bytes = a->info.memory_bytes;
    a->stripe = layout->chunk_blocks;
    a->raid = raid_new(drive, layout, cfg);
    return a;
}

void array_free(Array *a)
{
    if (a) {
        raid_free(a->raid);
        g_free(a->ready);
        g_free(a->in_flight);
        g_free(a);
    }
}

unsigned array_n_drives(const Array *a)
{
    return a->n;
}

uint64_t array_stripe_bytes(const Array *a)
{
    return a->stripe * a->info.block_bytes;
}

Ssd *array_drive(const Array *a, unsigned i)
{
    return a->drive[i];
}

const Raid *array_raid(const Array *a)
{
    return a->raid;
}

void array_begin(Array *a, uint64_t now_ns)
{
    if (a->raid) {
        raid_begin(a->raid, now_ns);
    }
}

bool array_rebuilding(const Array *a)
{
    return a->raid && raid_rebuilding(a->raid);
}

const SsdInfo *array_info(const Array *a)
{
    return &a->info;
}

/* ---- all drives alike ---------------------------------------------------- */

uint64_t array_now_ns(const Array *a)
{
    uint64_t now_ns = 0;

    for (unsigned i = 0; i < a->n; i++) {
        now_ns = MAX(now_ns, ssd_now_ns(a->drive[i]));
    }
    return now_ns;
}

uint64_t array_rebase_most_ns(const Array *a)
{
    uint64_t most_ns = UINT64_MAX;

    if (a->raid) {
        return raid_rebase_most_ns(a->raid);
    }
    for (unsigned i = 0; i < a->n; i++) {
        most_ns = MIN(most_ns, ssd_rebase_most_ns(a->drive[i]));
    }
    return most_ns;
}

void array_rebase(Array *a, uint64_t by_ns)
{
    if (a->raid) {
        raid_rebase(a->raid, by_ns);
        return;
    }
    g_assert(a->n_ready == 0);
    for (unsigned i = 0; i < a->n; i++) {
        bool ok = ssd_rebase(a->drive[i], by_ns);

        g_assert(ok);
    }
    drive_clock_rebase(&a->clock, a->n, by_ns);
    for (unsigned i = 0; a->in_flight && i < a->info.queue_depth; i++) {
        SsdCompletion *done = &a->in_flight[i].done; /* of the parts so far */

        done->submit_ns -= by_ns;
        done->complete_ns -= MIN(done->complete_ns, by_ns);
    }
}

uint64_t array_last_version(const Array *a)
{
    uint64_t version = 0;

    for (unsigned i = 0; i < a->n; i++) {
        version = MAX(version, ssd_last_version(a->drive[i]));
    }
    return version;
}

void array_expect_full(Array *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        ssd_expect_full(a->drive[i]);
    }
}

/* The chunks in use: spare chunks are empty. */
static void preload_raid(Array *a)
{
    const RaidLayout *l = raid_layout(a->raid);

    for (uint64_t row = 0; row < l->n_rows; row++) {
        for (uint32_t i = 0; i < l->n_groups * l->width; i++) {
            uint32_t drive =
                raid_layout_home(l, row, i / l->width, i % l->width);
            int r = ssd_preload(a->drive[drive], row * l->chunk_blocks,
                                l->chunk_blocks);

            g_assert(r == 0);
        }
    }
}

void array_preload(Array *a)
{
    if (a->raid) {
        preload_raid(a);
        return;
    }
    for (unsigned i = 0; i < a->n; i++) {
        int r = ssd_preload(a->drive[i], 0, a->info.nblocks / a->n);

        g_assert(r == 0);
    }
}

void array_catch_up(Array *a, uint64_t now_ns)
{
    if (a->raid) {
        raid_catch_up(a->raid, now_ns);
        return;
    }
    for (unsigned i = 0; a->n > 1 && i < a->n; i++) {
        ssd_advance(a->drive[i], now_ns, NULL, 0);
        drive_clock_note(&a->clock, i, a->drive[i]);
    }
}

void array_reset_stats(Array *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        ssd_reset_stats(a->drive[i]);
    }
}

void array_get_written(const Array *a, SsdWritten *w)
{
    *w = (SsdWritten){0};
    for (unsigned i = 0; i < a->n; i++) {
        SsdWritten one;

        ssd_get_written(a->drive[i], &one);
        w->host_bytes += one.host_bytes;
        w->nand_bytes += one.nand_bytes;
        w->dirty_bytes += one.dirty_bytes;
        w->free_blocks += one.free_blocks;
        w->victim_valid += one.victim_valid / a->n;
    }
}

bool array_powered(const Array *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        if (!ssd_powered(a->drive[i])) {
            return false;
        }
    }
    return true;
}

void array_power_on(Array *a, uint64_t now_ns)
{
    for (unsigned i = 0; i < a->n; i++) {
        ssd_power_on(a->drive[i], now_ns);
    }
}

/* ---- stripes ------------------------------------------------------------- */

static bool has_range(const SsdCmd *cmd)
{
    return cmd->op != SSD_OP_FLUSH && cmd->op != SSD_OP_SHUTDOWN;
}

/* The part of a command that is on drive i; false: none. */
static bool part_on(const Array *a, const SsdCmd *cmd, unsigned i, SsdCmd *part)
{
    uint64_t end = cmd->lba + cmd->nblocks - 1;
    uint64_t first = cmd->lba / a->stripe;
    uint64_t last = end / a->stripe;
    uint64_t mine = first + (i + a->n - first % a->n) % a->n;
    uint64_t mine_last = last - (last % a->n + a->n - i) % a->n;
    uint64_t from, to;

    *part = *cmd;
    if (!has_range(cmd)) {
        return true;
    }
    if (mine > last) {
        return false;
    }
    from = mine / a->n * a->stripe + (mine == first ? cmd->lba % a->stripe : 0);
    to = mine_last / a->n * a->stripe +
         (mine_last == last ? end % a->stripe : a->stripe - 1);
    part->lba = from;
    part->nblocks = (uint32_t)(to - from + 1);
    return true;
}

/* Where a block of drive i is in the array. */
static uint64_t whole_lba(const Array *a, unsigned i, uint64_t lba)
{
    return (lba / a->stripe * a->n + i) * a->stripe + lba % a->stripe;
}

void array_hint(const Array *a, uint64_t lba, SsdHint hint)
{
    unsigned i = 0;

    if (a->raid) {
        raid_hint(a->raid, lba, hint);
        return;
    }
    if (a->n > 1) {
        i = (unsigned)(lba / a->stripe % a->n);
        lba = lba / a->stripe / a->n * a->stripe + lba % a->stripe;
    }
    ssd_hint(a->drive[i], lba, hint);
}

/* ---- commands ------------------------------------------------------------ */

int array_submit(Array *a, uint64_t now_ns, const SsdCmd *cmd)
{
    Whole *w;

    if (a->n == 1) {
        return ssd_submit(a->drive[0], now_ns, cmd);
    }
    if (has_range(cmd) && (cmd->nblocks == 0 || cmd->lba >= a->info.nblocks ||
                           cmd->nblocks > a->info.nblocks - cmd->lba)) {
        return -EINVAL;
    }
    g_assert(cmd->tag < a->info.queue_depth);
    if (a->raid) {
        raid_submit(a->raid, now_ns, cmd);
        return 0;
    }
    w = &a->in_flight[cmd->tag];
    *w = (Whole){.done = {.tag = cmd->tag}};
    for (unsigned i = 0; i < a->n; i++) {
        SsdCmd part;
        int r;

        if (!part_on(a, cmd, i, &part)) {
            continue;
        }
        r = ssd_submit(a->drive[i], now_ns, &part);
        /* No drive has more parts than the array has commands. */
        g_assert(r == 0 || (r == -EINVAL && w->n_left == 0));
        if (r < 0) {
            return r;
        }
        drive_clock_note(&a->clock, i, a->drive[i]);
        w->n_left++;
    }
    return 0;
}

uint64_t array_wait(Array *a, uint64_t until_ns)
{
    if (a->raid) {
        return raid_next_event_ns(a->raid);
    }
    if (a->n == 1) {
        return ssd_wait(a->drive[0], until_ns);
    }
    if (a->n_ready > 0) {
        return a->ready[a->first_ready].complete_ns;
    }
    return drive_clock_first_ns(&a->clock, a->n);
}

static void part_ended(Array *a, unsigned i, const SsdCompletion *c)
{
    Whole *w = &a->in_flight[c->tag];
    SsdStatus status = w->done.status;
    uint64_t bad_lba = w->done.bad_lba;

    if (c->complete_ns >= w->done.complete_ns) {
        w->done = *c;
    }
    if (status == SSD_STATUS_OK && c->status != SSD_STATUS_OK) {
        status = c->status;
        bad_lba = whole_lba(a, i, c->bad_lba);
    }
    w->done.status = status;
    w->done.bad_lba = bad_lba;
    if (--w->n_left == 0) {
        a->ready[a->first_ready + a->n_ready++] = w->done;
    }
}

static int older(const void *x, const void *y)
{
    const SsdCompletion *a = x;
    const SsdCompletion *b = y;

    if (a->complete_ns != b->complete_ns) {
        return a->complete_ns < b->complete_ns ? -1 : 1;
    }
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* Completions of all drives, oldest first. */
static void gather(Array *a, uint64_t now_ns)
{
    SsdCompletion done[64];
    size_t n;

    memmove(a->ready, a->ready + a->first_ready,
            a->n_ready * sizeof(*a->ready));
    a->first_ready = 0;
    for (unsigned i = 0; i < a->n; i++) {
        if (!drive_clock_is_due(&a->clock, i, now_ns)) {
            continue;
        }
        do {
            n = ssd_advance(a->drive[i], now_ns, done, G_N_ELEMENTS(done));
            for (size_t k = 0; k < n; k++) {
                part_ended(a, i, &done[k]);
            }
        } while (n == G_N_ELEMENTS(done));
        drive_clock_note(&a->clock, i, a->drive[i]);
    }
    qsort(a->ready, a->n_ready, sizeof(*a->ready), older);
}

size_t array_advance(Array *a, uint64_t now_ns, SsdCompletion *done, size_t max)
{
    size_t n;

    if (a->raid) {
        return raid_advance(a->raid, now_ns, done, max);
    }
    if (a->n == 1) {
        return ssd_advance(a->drive[0], now_ns, done, max);
    }
    gather(a, now_ns);
    n = MIN(a->n_ready, max);
    memcpy(done, a->ready, n * sizeof(*done));
    a->first_ready += n;
    a->n_ready -= n;
    return n;
}
