/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - the members of journal/ (Component.check).
 */
#include "check.h"
#include "journal/counters.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/jobs.h"
#include "media/media.h"

/* Metadata is in its planes and is counted; user data has its limit. */
static bool check_meta(const Ssd *ssd, GError **error)
{
    g_autofree uint64_t *n = g_new0(uint64_t, ssd->l.n_planes);
    g_autofree uint32_t *programs = g_new0(uint32_t, ssd->l.n_planes);

    for (uint64_t u = 0; u < ssd->l.meta_units; u++) {
        uint64_t entry = l2p_get(&ssd->l2p, ssd->l.user_units + u);
        uint32_t page = (uint32_t)(u / ssd->l.units_per_program);

        CHECK(!entry == !meta_copy_in_nand(ssd, page),
              "metadata page %u is in NAND "
              "in part",
              page);
        if (entry) {
            uint32_t plane = block_plane(ssd, ppu_block(ssd, entry - 1));

            CHECK(plane == meta_plane(ssd, page),
                  "metadata page %u is in "
                  "plane %u",
                  page, plane);
            n[plane]++;
        }
    }
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        if (job_at(ssd, j)->state != JOB_FREE && job_at(ssd, j)->meta &&
            job_at(ssd, j)->ppa != NO_PAGE) {
            programs[job_at(ssd, j)->plane]++;
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Plane *p = plane_at(ssd, i);

        CHECK(n[i] == p->meta_valid && n[i] <= ssd->l.meta_share_units &&
                  programs[i] == ssd->journal->plane[i].programs,
              "plane %u: %" G_GUINT64_FORMAT
              " units of metadata, counted %" G_GUINT64_FORMAT
              "; %u programs of it, counted %u",
              i, n[i], p->meta_valid, programs[i],
              ssd->journal->plane[i].programs);
    }
    return true;
}

static bool check_rest(const Ssd *ssd, GError **error)
{
    const Journal *j = ssd->journal;

    CHECK_POOL(j->free_meta_read, j->n_meta_reads, j->meta_read,
               j->meta_read[at].pending == 0);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        CHECK(j->plane[i].programs == 0 && j->plane[i].wait.head == NONE,
              "operations are in flight");
    }
    return !saves(ssd) || saved_check(ssd, error);
}

bool journal_check(const Ssd *ssd, bool at_rest, GError **error)
{
    CHECK(events_of(ssd, SSD_EVENT_COUNTERS) == ssd->journal->counters.armed,
          "the event of the counters");
    return (!at_rest || check_rest(ssd, error)) && check_meta(ssd, error);
}
