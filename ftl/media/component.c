/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of media/. */
#include "bitmap.h"
#include "component.h"
#include "lazymem.h"
#include "media/aged-ops.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/life.h"
#include "media/lost-die.h"
#include "media/parity.h"
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

const Component media_component = {
    .create = create,
    .destroy = destroy,
    .power_settled = power_settled,
};
