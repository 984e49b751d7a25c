/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams-view.c - what a policy sees of units and streams (VssdPlacementView),
 * and the stream that it chooses for each unit that the host writes.
 *
 * Knows the rules of VssdPlacementPolicy.stream().  With a policy that breaks
 * one all further units go to stream 0.
 *
 * Knows also what the host says of units (ssd_expect_writes()).  The drive has
 * RATE_PIECES entries for that, so one stands for a piece of 2^rate_shift
 * units, and a hint acts on whole pieces.
 */
#include "lazymem.h"
#include "media/spare.h"
#include "outside.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "placement/streams.h"

/* ---- what a policy sees -------------------------------------------------- */

static bool unit_ok(Outside *o, const char *function, uint64_t unit)
{
    return outside_in_range(o, function, "unit", unit, o->ssd->l.user_units);
}

static const SsdStreamCounters *counters(Outside *o, const char *function,
                                         uint32_t stream)
{
    return outside_in_range(o, function, "stream", stream, o->ssd->l.n_streams)
               ? &o->ssd->placement->stream[stream].n
               : NULL;
}

static bool view_mapped(VssdView *v, uint64_t unit)
{
    Outside *o = outside_of(v);

    return unit_ok(o, "mapped", unit) && l2p_get(&o->ssd->l2p, unit) != 0;
}

static uint32_t view_stream_of(VssdView *v, uint64_t unit)
{
    Outside *o = outside_of(v);
    uint64_t entry =
        unit_ok(o, "stream_of", unit) ? o->ssd->nand_entry(o->ssd, unit) : 0;

    return entry ? unit_stream(o->ssd, entry - 1) : NONE;
}

static uint64_t view_written(VssdView *v, uint32_t stream)
{
    const SsdStreamCounters *n = counters(outside_of(v), "written", stream);

    return n ? n->host_units : 0;
}

static uint64_t view_copied(VssdView *v, uint32_t stream)
{
    const SsdStreamCounters *n = counters(outside_of(v), "copied", stream);

    return n ? n->copied_units : 0;
}

static VssdWriteRate view_expected(VssdView *v, uint64_t unit)
{
    Outside *o = outside_of(v);
    const Placement *p = o->ssd->placement;

    G_STATIC_ASSERT((int)VSSD_WRITES_SELDOM == (int)SSD_WRITES_SELDOM &&
                    (int)VSSD_WRITES_OFTEN == (int)SSD_WRITES_OFTEN);
    return unit_ok(o, "expected", unit) ? p->rate[unit >> p->rate_shift]
                                        : VSSD_WRITES_UNKNOWN;
}

static const VssdPlacementView placement_view = {
    .mapped = view_mapped,
    .stream_of = view_stream_of,
    .written = view_written,
    .copied = view_copied,
    .expected = view_expected,
};

/* ---- start --------------------------------------------------------------- */

static Outside *policy(const Ssd *ssd)
{
    return ssd->outside[VSSD_POLICY_PLACEMENT];
}

void chooser_init(Ssd *ssd)
{
    Placement *p = ssd->placement;

    if (ssd->cfg->hot_cold) {
        outside_listed(ssd, VSSD_POLICY_PLACEMENT, &placement_hot_cold);
    }
    p->chooses_stream = policy(ssd) != NULL;
    if (policy(ssd)) {
        policy(ssd)->view.placement = &placement_view;
        p->rate = lazy_new(uint8_t, RATE_PIECES);
        while ((ssd->l.user_units - 1) >> p->rate_shift >= RATE_PIECES) {
            p->rate_shift++;
        }
    }
}

void chooser_destroy(Ssd *ssd)
{
    lazy_free(ssd->placement->rate, RATE_PIECES, sizeof(*ssd->placement->rate));
}

void chooser_forget(Ssd *ssd)
{
    if (policy(ssd)) {
        outside_reset(policy(ssd));
        lazy_clear(ssd->placement->rate, RATE_PIECES,
                   sizeof(*ssd->placement->rate));
    }
}

void chooser_expect(Ssd *ssd, uint64_t first, uint64_t end, uint8_t rate)
{
    Placement *p = ssd->placement;
    uint64_t more = (1ULL << p->rate_shift) - 1;
    uint64_t last = end == ssd->l.user_units ? end + more : end;

    invariant(p->rate && end <= ssd->l.user_units);
    for (uint64_t i = (first + more) >> p->rate_shift;
         i < last >> p->rate_shift; i++) {
        p->rate[i] = rate;
    }
}

/* ---- what it decides ----------------------------------------------------- */

uint32_t chooser_stream(Ssd *ssd, uint64_t lpn)
{
    Outside *o = policy(ssd);
    uint32_t stream;

    if (!outside_works(o)) {
        return 0;
    }
    stream = o->policy->placement->stream(&o->view, lpn);
    return outside_in_range(o, "stream", "the result", stream,
                            ssd->l.n_streams) &&
                   outside_works(o)
               ? stream
               : 0;
}

void chooser_wrote(Ssd *ssd, uint64_t lpn, uint32_t stream)
{
    Outside *o = policy(ssd);

    if (o && o->policy->placement->wrote && outside_works(o)) {
        o->policy->placement->wrote(&o->view, lpn, stream);
    }
}
