/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - the members of gc/ (Component.check).
 */
#include "buffer/buffer-internal.h"
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "gc/pace.h"
#include "gc/superblock-means.h"
#include "gc/wear.h"
#include "media/media.h"
#include "media/row-wait.h"

/* ---- events -------------------------------------------------------------- */

/* The wait that the event is for; NULL: there is none. */
static const RowWait *row_wait_of(const Ssd *ssd, uint32_t index)
{
    if (index < ssd->l.n_streams) {
        return ssd->buffer->row_wait ? &ssd->buffer->row_wait[index] : NULL;
    }
    index -= ssd->l.n_streams;
    return ssd->gc->row_wait && index < ssd->l.n_planes
               ? &ssd->gc->row_wait[index]
               : NULL;
}

/* There is an event for each wait that expects one. */
static bool check_events(const Ssd *ssd, GError **error)
{
    g_autofree uint8_t *events =
        g_new0(uint8_t, ssd->l.n_streams + ssd->l.n_planes);

    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);

        CHECK(event_kind(e) != SSD_EVENT_BACKGROUND ||
                  event_index(e) <= BACKGROUND_PERIOD,
              "an event");
        if (event_kind(e) == SSD_EVENT_ROW_WAIT) {
            CHECK(row_wait_of(ssd, event_index(e)) &&
                      ++events[event_index(e)] == 1,
                  "an event");
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_streams + ssd->l.n_planes; i++) {
        const RowWait *w = row_wait_of(ssd, i);

        CHECK(!w || (w->armed == events[i] && w->late <= UINT32_MAX),
              "an event");
        CHECK(!w || w->until_ps == SIM_NEVER || row_wait_due(ssd, w) ||
                  w->armed,
              "a wait");
    }
    return true;
}

/* ---- planes -------------------------------------------------------------- */

/* Staged units wait in memory: their blocks are victims. */
static bool check_staged(const Ssd *ssd, uint32_t plane, GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    g_autofree uint32_t *n = g_new0(uint32_t, ssd->l.n_gc_classes);

    for (uint32_t i = 0; i < g->n_staged; i++) {
        CHECK(g->staged[i] < ssd->l.raw_units &&
                  in_plane(ssd, ppu_block(ssd, g->staged[i]), plane) &&
                  block_state(ssd, ppu_block(ssd, g->staged[i])) ==
                      BLOCK_VICTIM,
              "plane %u: unit %" PRIu64 " in GC", plane, g->staged[i]);
        n[gc_class(ssd, g->staged[i])]++;
    }
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        CHECK(n[k] == g->staged_of[k],
              "plane %u: %u staged of class %u, counted %u", plane, n[k], k,
              g->staged_of[k]);
    }
    return true;
}

/* Of a drive at rest: copies of a victim that have not ended are staged. */
static bool check_victims(const Ssd *ssd, uint32_t plane, GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    for (uint32_t b = first; b < first + ssd->geo->blocks_per_plane; b++) {
        uint64_t staged = 0;

        for (uint32_t i = 0; i < g->n_staged; i++) {
            staged += ppu_block(ssd, g->staged[i]) == b;
        }
        CHECK(block_state(ssd, b) != BLOCK_VICTIM ||
                  block_at(ssd, b)->pending == staged,
              "programs of a block");
    }
    return true;
}

static bool check_plane(const Ssd *ssd, uint32_t plane, bool at_rest,
                        GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];

    CHECK(g->victim == NONE ||
              (ssd->powered && in_plane(ssd, g->victim, plane) &&
               block_state(ssd, g->victim) == BLOCK_VICTIM),
          "plane %u: the GC victim %u", plane, g->victim);
    CHECK(g->wear_due == 0 || ssd->cfg->wear == SSD_WEAR_STATIC,
          "plane %u: wear levelling", plane);
    CHECK(!at_rest || g->redo.head == NONE, "operations are in flight");
    return check_staged(ssd, plane, error) &&
           (!at_rest || check_victims(ssd, plane, error)) &&
           gc_check_searches((Ssd *)ssd, plane, error) &&
           wear_check(ssd, plane, error);
}

bool gc_check(const Ssd *ssd, bool at_rest, GError **error)
{
    CHECK(ssd->gc->background.quiet_ps <= ssd->now_ps &&
              ssd->gc->background.scan_ps < SIM_MAX_NS * PS_PER_NS,
          "a time");
    if (!check_events(ssd, error) || !unit_check(ssd, error) ||
        !superblock_means_check(ssd, error) || !age_trees_check(ssd, error)) {
        return false;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_plane(ssd, i, at_rest, error)) {
            return false;
        }
    }
    CHECK(pace_ok(ssd), "the pace of host writes");
    return true;
}
