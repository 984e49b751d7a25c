/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams-outside.c - the placement policy of a shared object (vssd-policy.h):
 * the stream of each unit that the host writes (ftl.placement).
 *
 * Knows the rules of VssdPlacementPolicy.stream().  With a policy that breaks
 * one all further units go to stream 0.
 */
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

static const VssdPlacementView placement_view = {
    .mapped = view_mapped,
    .stream_of = view_stream_of,
    .written = view_written,
    .copied = view_copied,
};

/* ---- what it decides ----------------------------------------------------- */

void outside_streams_init(Ssd *ssd)
{
    Outside *o = ssd->outside[VSSD_POLICY_PLACEMENT];

    if (o) {
        o->view.placement = &placement_view;
        ssd->placement->chooses_stream = true;
    }
}

void outside_streams_forget(Ssd *ssd)
{
    if (ssd->outside[VSSD_POLICY_PLACEMENT]) {
        outside_reset(ssd->outside[VSSD_POLICY_PLACEMENT]);
    }
}

uint32_t outside_stream(Ssd *ssd, uint64_t lpn)
{
    Outside *o = ssd->outside[VSSD_POLICY_PLACEMENT];
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

void outside_wrote(Ssd *ssd, uint64_t lpn, uint32_t stream)
{
    Outside *o = ssd->outside[VSSD_POLICY_PLACEMENT];

    if (outside_works(o) && o->policy->placement->wrote) {
        o->policy->placement->wrote(&o->view, lpn, stream);
    }
}
