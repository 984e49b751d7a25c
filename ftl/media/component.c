/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of media/. */
#include "bitmap.h"
#include "component.h"
#include "lazymem.h"
#include "media/aged-ops.h"
#include "media/bad-blocks.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/life.h"
#include "media/lost-die.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/plain.h"
#include "media/programmed.h"
#include "media/rebuild.h"
#include "media/spare.h"
#include "media/superblock.h"

static bool init_faults(Ssd *ssd, GError **error)
{
    const NandConfig *n = &ssd->cfg->nand;
    Media *m = ssd->media;

    if (!ssd_config_faults(ssd->cfg, &ssd->l, &m->faults, error)) {
        return false;
    }
    m->may_fail = n->program_fail > 0 || n->erase_fail > 0 ||
                  (m->faults && faults_may_fail(m->faults));
    m->free_for_gc = ssd->l.gc_free_blocks + (m->may_fail ? 1 : 0);
    nand_set_faults(ssd->nand, m->faults, faulty_cut);
    return true;
}

static void destroy(Ssd *ssd)
{
    Media *m = ssd->media;

    block_destroy(ssd);
    rebuild_forget(ssd);
    lost_dies_destroy(ssd);
    parity_destroy(ssd);
    superblocks_destroy(ssd);
    stripe_destroy(ssd);
    programmed_destroy(ssd);
    lazy_free(m->valid, bitmap_words(ssd->l.raw_units), sizeof(*m->valid));
    spare_destroy(ssd);
    job_forget_all(ssd);
    age_destroy(ssd);
    faults_free(m->faults);
}

static bool create(Ssd *ssd, GError **error)
{
    Media *m = ssd->media;
    size_t words = bitmap_words(ssd->l.raw_units);

    if (!init_faults(ssd, error)) {
        return false;
    }
    spare_init(ssd);
    m->valid = lazy_new(uint64_t, words);
    lazy_spread(m->valid, words, sizeof(*m->valid));
    programmed_init(ssd);
    stripe_init(ssd);
    superblocks_init(ssd);
    parity_init(ssd);
    lost_dies_init(ssd);
    rebuild_init(ssd);
    job_forget_all(ssd);
    block_init(ssd);
    faulty_arm(ssd);
    if (!bad_enough_left(ssd, error)) {
        destroy(ssd);
        return false;
    }
    return true;
}

/* A map that is not kept is found again: until then, no block is known. */
static void lose_blocks(Ssd *ssd)
{
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (ssd->media->block[b].state == BLOCK_ERASING) {
            spare_wipe_block(ssd, b);
        }
    }
    seq_forget(ssd);
    block_forget_all(ssd);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->media->client->plane_changed(ssd, i);
    }
}

static void power_settled(Ssd *ssd)
{
    media_power_lost(ssd); /* pages on their way are those of jobs */
    rebuild_forget(ssd);
    job_forget_all(ssd);
    if (saves(ssd)) {
        lose_blocks(ssd);
    } else {
        media_settle_blocks(ssd);
    }
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_RAW_UNITS,
    N_PAGES,
    N_VALID_WORDS,
    N_PAGE_WORDS,
    N_BLOCKS,
    N_OPENS,
    N_DIES,
    N_REBUILDS,
    N_JOBS,
    N_JOB_UNITS,
    N_ACCOUNTS,
    /* bounds only: */
    N_BLOCK_UNITS,
    N_PROGRAM_UNITS,
    N_STREAMS,
    N_STATES,
    N_CAUSES,
    N_PHASES, /* of a job */
    N_COUNTS,
};

static const StateRow block_rows[] = {
    STATE_COUNT_ROW(Block, valid, N_BLOCK_UNITS),
    STATE_LINK_ROW(Block, next, N_BLOCKS),
    STATE_LINK_ROW(Block, prev, N_BLOCKS),
    STATE_NUMBER_ROW(Block, pending),
    STATE_LINK_ROW(Block, older, N_BLOCKS),
    STATE_LINK_ROW(Block, newer, N_BLOCKS),
    STATE_NUMBER_ROW(Block, mtime),
    STATE_INDEX_ROW(Block, state, N_STATES),
    STATE_COUNT_ROW(Block, stream, N_STREAMS),
    STATE_VALUE_ROW(Block, bad),
    STATE_VALUE_ROW(Block, held),
    STATE_VALUE_ROW(Block, erasing),
    STATE_INDEX_ROW(Block, cause, N_CAUSES),
    STATE_NUMBER_ROW(Block, live),
    STATE_VALUE_ROW(Block, hold),
};

static const StateStruct block_struct = STATE_STRUCT(Block, block_rows);

static const StateRow job_rows[] = {
    STATE_VALUE_ROW(PageJob, ppa),
    STATE_NUMBER_ROW(PageJob, plane),
    STATE_NUMBER_ROW(PageJob, n),
    STATE_LINK_ROW(PageJob, next, N_JOBS),
    STATE_NUMBER_ROW(PageJob, stream),
    STATE_VALUE_ROW(PageJob, gc),
    STATE_VALUE_ROW(PageJob, copyback),
    STATE_INDEX_ROW(PageJob, state, N_PHASES),
    STATE_VALUE_ROW(PageJob, meta),
    STATE_NUMBER_ROW(PageJob, owner),
    STATE_VALUE_ROW(PageJob, parity),
    STATE_VALUE_ROW(PageJob, fixed),
    STATE_NUMBER_ROW(PageJob, meta_page),
};

static const StateStruct job_struct = STATE_STRUCT(PageJob, job_rows);

static const StateRow media_rows[] = {
    STATE_UNSAVED_ROW(Media, client),
    STATE_UNSAVED_ROW(Media, index),
    STATE_UNSAVED_ROW(Media, saved),
    STATE_UNSAVED_ROW(Media, faults), /* has rows of its own */
    STATE_UNSAVED_ROW(Media, may_fail),
    STATE_VALUE_ROW(Media, cut_due),
    STATE_VALUE_ROW(Media, read_only),
    STATE_VALUE_ROW(Media, cannot_program),
    STATE_UNSAVED_ROW(Media, free_for_gc),
    STATE_COUNT_ROW(Media, n_factory_bad, N_BLOCKS),
    STATE_COUNT_ROW(Media, n_grown_bad, N_BLOCKS),
    STATE_VALUE_ROW(Media, preload_next),
    STATE_COUNT_ROW(Media, preload_left, N_PROGRAM_UNITS),
    STATE_NUMBERS_ROW(Media, spare_lpn),
    STATE_TABLE_ROW(Media, spare_version, N_RAW_UNITS),
    STATE_TABLE_ROW(Media, spare_stream, N_RAW_UNITS),
    STATE_TABLE_ROW(Media, spare_seq, N_PAGES),
    STATE_VALUE_ROW(Media, prog_seq),
    STATE_TABLE_ROW(Media, valid, N_VALID_WORDS),
    STATE_TABLE_ROW(Media, programmed, N_ACCOUNTS),
    STATE_TABLE_ROW(Media, programmed_base, N_ACCOUNTS),
    STATE_TABLE_OF_ROW(Media, block, N_BLOCKS, block_struct),
    STATE_UNSAVED_ROW(Media, plane), /* has rows of its own */
    STATE_UNSAVED_ROW(Media, plain_valid),
    STATE_UNSAVED_ROW(Media, stripe_plane),
    STATE_UNSAVED_ROW(Media, stripe_pos),
    STATE_POOL_OF_ROW(Media, job, N_JOBS, job_struct),
    STATE_POOL_ROW(Media, job_unit, N_JOB_UNITS),
    STATE_NUMBER_ROW(Media, n_jobs),
    STATE_LINK_ROW(Media, free_job, N_JOBS),
    STATE_UNSAVED_ROW(Media, superblocks.plane),
    STATE_UNSAVED_ROW(Media, superblocks.place),
    STATE_TABLE_ROW(Media, superblocks.serial, N_OPENS),
    STATE_TABLE_ROW(Media, superblocks.newest, N_OPENS),
    STATE_TABLE_ROW(Media, superblocks.next, N_BLOCKS),
    STATE_TABLE_ROW(Media, parity.filled, N_BLOCKS),
    STATE_TABLE_ROW(Media, parity.state, N_BLOCKS),
    STATE_TABLE_ROW(Media, parity.bare, N_PAGE_WORDS),
    STATE_UNSAVED_ROW(Media, parity.instant), /* false, but during a call */
    STATE_TABLE_ROW(Media, lost_dies.failures, N_DIES),
    STATE_TABLE_ROW(Media, lost_dies.lost, N_DIES),
    STATE_COUNT_ROW(Media, lost_dies.n, N_DIES),
    STATE_VALUE_ROW(Media, lost_dies.more_share),
    STATE_VALUE_ROW(Media, lost_dies.since_ps),
    STATE_POOL_ROW(Media, rebuilds.rebuild, N_REBUILDS),
    STATE_NUMBER_ROW(Media, rebuilds.n),
    STATE_LINK_ROW(Media, rebuilds.free, N_REBUILDS),
    STATE_COUNT_ROW(Media, rebuilds.under_way, N_REBUILDS),
};

enum {
    PLANE_OPEN,
    PLANE_BUCKETS,
    /* bounds only: */
    PLANE_UNITS,
    PLANE_BLOCKS,
    PLANE_ALL_BLOCKS,
};

static const StateRow plane_rows[] = {
    STATE_VALUE_ROW(Plane, free),
    STATE_VALUE_ROW(Plane, slc_free),
    STATE_COUNT_ROW(Plane, n_fresh, PLANE_BLOCKS),
    STATE_COUNT_ROW(Plane, next_fresh, PLANE_ALL_BLOCKS),
    STATE_VALUE_ROW(Plane, slc_full),
    STATE_NUMBER_ROW(Plane, host_programs),
    STATE_COUNT_ROW(Plane, erases, PLANE_BLOCKS),
    STATE_VALUE_ROW(Plane, valid),
    STATE_VALUE_ROW(Plane, meta_valid),
    STATE_TABLE_ROW(Plane, open, PLANE_OPEN),
    STATE_COUNT_ROW(Plane, n_host_open, PLANE_OPEN),
    STATE_COUNT_ROW(Plane, n_aside, PLANE_OPEN),
    STATE_VALUE_ROW(Plane, by_age),
    STATE_NUMBER_ROW(Plane, clock),
    STATE_TABLE_ROW(Plane, bucket, PLANE_BUCKETS),
    STATE_COUNT_ROW(Plane, min_valid, PLANE_UNITS),
    STATE_COUNT_ROW(Plane, spare_blocks, PLANE_BLOCKS),
    STATE_VALUE_ROW(Plane, slack_units),
    STATE_COUNT_ROW(Plane, gc_low_blocks, PLANE_BLOCKS),
    STATE_COUNT_ROW(Plane, gc_high_blocks, PLANE_BLOCKS),
    STATE_NUMBER_ROW(Plane, gc_soft_blocks),
    STATE_COUNT_ROW(Plane, n_retiring, PLANE_BLOCKS),
    STATE_COUNT_ROW(Plane, n_folding, PLANE_BLOCKS),
    STATE_COUNT_ROW(Plane, n_slc, PLANE_BLOCKS),
    STATE_LINK_ROW(Plane, last_gc_block, PLANE_ALL_BLOCKS),
    STATE_COUNT_ROW(Plane, n_held, PLANE_BLOCKS),
    STATE_VALUE_ROW(Plane, tell_gains),
};

static const StateStruct plane_struct = STATE_STRUCT(Plane, plane_rows);
static const StateStruct media_struct = STATE_STRUCT(Media, media_rows);

/* Of a script of faults: its progress so far, not the rules' text. */
enum {
    N_RULES,
    N_FAULT_COUNTS,
};

static const StateRow range_rows[] = {
    STATE_VALUE_ROW(FaultRange, first),
    STATE_VALUE_ROW(FaultRange, last),
    STATE_VALUE_ROW(FaultRange, given),
};

static const StateStruct range_struct = STATE_STRUCT(FaultRange, range_rows);

static const StateRow rule_rows[] = {
    STATE_NUMBER_ROW(FaultRule, line),
    STATE_NUMBER_ROW(FaultRule, kinds),
    STATE_NUMBER_ROW(FaultRule, causes),
    STATE_VALUE_ROW(FaultRule, on),
    STATE_VALUE_OF_ROW(FaultRule, channel, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, die, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, plane, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, block, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, page, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, lba, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, nth, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, op, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, cmd, range_struct),
    STATE_VALUE_OF_ROW(FaultRule, time, range_struct),
    STATE_NUMBER_ROW(FaultRule, action),
    STATE_VALUE_ROW(FaultRule, times),
    STATE_VALUE_ROW(FaultRule, times_given),
    STATE_NUMBER_ROW(FaultRule, stretch_milli),
    STATE_VALUE_ROW(FaultRule, for_ps),
    STATE_VALUE_ROW(FaultRule, n_matched),
    STATE_VALUE_ROW(FaultRule, n_fired),
    STATE_VALUE_ROW(FaultRule, window_from_ps),
    STATE_VALUE_ROW(FaultRule, window_until_ps),
};

static const StateStruct rule_struct = STATE_STRUCT(FaultRule, rule_rows);

static const StateRow fault_rows[] = {
    STATE_TABLE_OF_ROW(Faults, rule, N_RULES, rule_struct),
    STATE_NUMBER_ROW(Faults, n_rules),
    STATE_UNSAVED_ROW(Faults, lba_rule),
    STATE_UNSAVED_ROW(Faults, n_lba_rules),
    STATE_VALUE_ROW(Faults, n_ops),
    STATE_VALUE_ROW(Faults, n_cmds),
};

static const StateStruct fault_struct = STATE_STRUCT(Faults, fault_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {
        &media_struct, &plane_struct, &block_struct, &job_struct,
        &fault_struct, &rule_struct,  &range_struct,
    };

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_RAW_UNITS] = ssd->l.raw_units;
    n[N_PAGES] = ssd->geo->n_pages;
    n[N_VALID_WORDS] = bitmap_words(ssd->l.raw_units);
    n[N_PAGE_WORDS] = bitmap_words(ssd->geo->n_pages);
    n[N_BLOCKS] = ssd->geo->n_blocks;
    n[N_OPENS] = (uint64_t)ssd->l.n_planes * ssd->l.n_open;
    n[N_DIES] = ssd->geo->n_dies;
    n[N_REBUILDS] = ssd->media->rebuilds.n;
    n[N_JOBS] = ssd->media->n_jobs;
    n[N_JOB_UNITS] = (uint64_t)ssd->media->n_jobs * ssd->l.units_per_program;
    n[N_ACCOUNTS] = ssd->l.n_streams + 1;
    n[N_BLOCK_UNITS] = ssd->l.units_per_block;
    n[N_PROGRAM_UNITS] = ssd->l.units_per_program;
    n[N_STREAMS] = ssd->l.n_streams;
    n[N_STATES] = N_BLOCK_STATES;
    n[N_CAUSES] = NAND_N_CAUSES;
    n[N_PHASES] = N_JOB_STATES;
}

static bool planes_state(Ssd *ssd, State *s)
{
    const uint64_t counts[] = {
        [PLANE_OPEN] = ssd->l.n_open,
        [PLANE_BUCKETS] = ssd->l.units_per_block + 1,
        [PLANE_UNITS] = ssd->l.units_per_block,
        [PLANE_BLOCKS] = ssd->geo->blocks_per_plane,
        [PLANE_ALL_BLOCKS] = ssd->geo->n_blocks,
    };

    return state_each(s, &plane_struct, ssd->media->plane, ssd->l.n_planes,
                      counts);
}

/* Another script, or none, begins at its beginning. */
static bool faults_state(Ssd *ssd, State *s)
{
    Faults none = {.rule = NULL};
    Faults *f = ssd->media->faults ? ssd->media->faults : &none;
    Faults saved = *f;
    uint64_t counts[N_FAULT_COUNTS];
    bool same;
    g_autofree char *text = s->loading ? NULL : g_strdup(ssd->cfg->faults);

    if (!s->loading && !text) {
        text = g_strdup("");
    }
    if (!state_text(s, &text, STATE_MOST_TEXT) ||
        !state_values(s, &fault_struct, &saved)) {
        return false;
    }
    same = strcmp(text, ssd->cfg->faults ? ssd->cfg->faults : "") == 0 &&
           saved.n_rules == f->n_rules;
    counts[N_RULES] = saved.n_rules;
    saved.rule = same ? f->rule : NULL;
    if (!state_tables(s, &fault_struct, &saved, counts)) {
        return false;
    }
    if (same) {
        *f = saved;
    } else {
        faulty_rearm(ssd);
    }
    return true;
}

/* A reader without versions skips those that there are. */
static bool versions_state(const Ssd *ssd, State *s)
{
    uint64_t there = ssd->media->spare_version != NULL;

    return state_u64(s, &there) &&
           (there || !ssd->media->spare_version ||
            state_fail(s,
                       "it was saved without versions, which this use of the "
                       "drive needs"));
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!versions_state(ssd, s) ||
        !state_values(s, &media_struct, ssd->media)) {
        return false;
    }
    if (s->loading && ssd->preloaded.on) {
        spare_computed(ssd);
    }
    count(ssd, counts);
    if (!state_tables(s, &media_struct, ssd->media, counts) ||
        !planes_state(ssd, s) || !faults_state(ssd, s)) {
        return false;
    }
    if (s->loading) {
        plain_loaded(ssd);
    }
    return true;
}

/* ---- the table ----------------------------------------------------------- */

static void options_changed(Ssd *ssd, const SsdConfig *before)
{
    (void)before;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!plane_is_lost(ssd, i)) {
            plane_size(ssd, i);
        }
    }
}

const Component media_component = {
    .create = create,
    .destroy = destroy,
    .options_changed = options_changed,
    .power_settled = power_settled,
    .reset_stats = programmed_reset,
    .rows = rows,
    .state = state,
    .check = media_check,
};
