/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-rows.c - several streams, or whole rows: each stream goes round the
 * drive by itself, a row at a time.
 *
 * A stream's pages fill one row (media/row.h) after another, so that its open
 * blocks in the planes of a die stay at the same page.  Streams begin at
 * different rows, so as not to meet at one die.
 *
 * Knows which rows a policy passes over (VssdAllocPolicy.rows); knows nothing
 * of the data.
 */
#include "bitmap.h"
#include "media/media.h"
#include "media/lost-die.h"
#include "media/row.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"
#include "ssd-internal.h"

#include <string.h>

void rows_init(Ssd *ssd)
{
    if (ssd->l.whole_rows) {
        ssd->placement->row_blocked = g_new0(RowBlocked, ssd->l.n_streams);
    }
}

void rows_destroy(Ssd *ssd)
{
    g_free(ssd->placement->row_blocked);
}

void rows_power_lost(Ssd *ssd)
{
    if (ssd->placement->row_blocked) {
        memset(ssd->placement->row_blocked, 0,
               ssd->l.n_streams * sizeof(RowBlocked));
    }
}

uint32_t rows_first(const Ssd *ssd, uint32_t stream)
{
    uint64_t n = row_count(ssd);

    invariant(stream < ssd->l.n_streams);
    return (uint32_t)(stream * n / ssd->l.n_streams);
}

/* A row as a stream sees it; planes are bits. */
typedef struct Row {
    uint32_t behind; /* at the lowest page of all */
    uint32_t take;   /* those that go on now */
    uint32_t wait;   /* plane that will be able to, or NONE */
} Row;

/* With zones.conventional: does the plane take no more pages of that space?
 * Another one does, always. */
static bool is_over_share(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    return ssd->l.plain_units > 0 && stream == ssd->l.plain_stream &&
           plane_has_share(ssd, plane, 0);
}

/* Is it worth while to wait for the plane?  In order, and for a whole row: for
 * whatever is under way there; else only for a program of the host. */
static bool worth_waiting(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    if (plane_is_lost(ssd, plane) || is_over_share(ssd, plane, stream)) {
        return false;
    }
    return ssd->placement->policy->rows == VSSD_ROWS_IN_ORDER ||
                   ssd->l.whole_rows
               ? alloc_will_change(ssd, plane)
               : plane_at(ssd, plane)->host_programs >=
                     ssd->placement->policy->depth;
}

/* Does the plane accept a page of the stream? */
static bool takes(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    return plane_accepts(ssd, plane) && !is_over_share(ssd, plane, stream) &&
           !(ssd->l.slc_some && plane_holds_stream(ssd, plane, stream));
}

static uint32_t accepting(const Ssd *ssd, const uint32_t *plane,
                          uint32_t stream)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        bits |= (uint32_t)takes(ssd, plane[i], stream) << i;
    }
    return bits;
}

static Row look_at(const Ssd *ssd, uint32_t row, uint32_t stream)
{
    const uint32_t *plane = row_planes(ssd, row);
    Row r = {.behind = row_behind(ssd, plane, stream), .wait = NONE};

    r.take = r.behind & accepting(ssd, plane, stream);
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if ((r.behind & ~r.take) >> i & 1 &&
            worth_waiting(ssd, plane[i], stream)) {
            r.wait = plane[i];
        }
    }
    if (r.take == 0 && r.wait == NONE) { /* those ahead, rather than none */
        r.take = accepting(ssd, plane, stream);
    }
    return r;
}

/* Are the planes of the row those of the stream's reclaim group? */
static bool is_of_group(const Ssd *ssd, uint32_t row, uint32_t stream)
{
    return ssd->l.n_groups == 1 || plane_group(ssd, row_planes(ssd, row)[0]) ==
                                       stream_group(ssd, stream);
}

/* The next row of the stream; false: it waits. */
static bool begin_row(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];
    uint32_t n = row_count(ssd);
    bool in_order = ssd->placement->policy->rows == VSSD_ROWS_IN_ORDER;
    uint32_t part = NONE; /* a row that some of its planes can begin */

    invariant(stream < ssd->l.n_streams);
    if (!in_order && bitmap_next(ssd->placement->accepting, 0,
                                 ssd->l.n_planes) == ssd->l.n_planes) {
        return false; /* no plane accepts a page */
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t row = st->row + k < n ? st->row + k : st->row + k - n;
        Row r;

        if (!is_of_group(ssd, row, stream)) {
            continue;
        }
        if (!in_order && !accepting(ssd, row_planes(ssd, row), stream)) {
            continue;
        }
        r = look_at(ssd, row, stream);
        if (r.wait != NONE && in_order) {
            ssd->placement->alloc_waits_for = r.wait;
            return false;
        }
        if (r.wait == NONE && r.take && (r.take == r.behind || in_order)) {
            part = row;
            break;
        }
        if (r.wait == NONE && r.take && part == NONE) {
            part = row;
        }
        if (r.wait != NONE && ssd->l.whole_rows) {
            ssd->placement->alloc_waits_for = r.wait;
        }
    }
    if (part == NONE) {
        return false;
    }
    ssd->placement->alloc_waits_for = NONE;
    st->left = look_at(ssd, part, stream).take;
    st->first = row_planes(ssd, part)[0];
    st->row = part + 1 == n ? 0 : part + 1;
    return true;
}

uint32_t rows_more(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];
    uint32_t plane;

    invariant(stream < ssd->l.n_streams);
    if (st->left == 0) {
        return NONE;
    }
    plane = row_of(ssd, st->first)[__builtin_ctz(st->left)];
    if (!takes(ssd, plane, stream)) {
        return NONE;
    }
    st->left &= st->left - 1;
    return plane;
}

/* Planes of a row that has been begun and whose turn will not come. */
static void give_up_planes(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        uint32_t plane = row_of(ssd, st->first)[i];

        if (st->left >> i & 1 && !takes(ssd, plane, stream) &&
            !worth_waiting(ssd, plane, stream)) {
            st->left &= ~(1U << i);
        }
    }
}

/* Has nothing changed since the stream found no row?  A drive that waits for GC
 * asks with each unit that the host writes.  Folding lets a stream go on
 * without a change that counts here (plane_holds_stream()). */
static bool is_blocked(const Ssd *ssd, uint32_t stream)
{
    const RowBlocked *b = ssd->placement->row_blocked;

    return b && b[stream].changes == ssd->placement->changes + 1 &&
           alloc_will_change(ssd, b[stream].plane);
}

static void note_blocked(Ssd *ssd, uint32_t stream)
{
    if (ssd->placement->row_blocked && !ssd->l.slc_some &&
        ssd->placement->alloc_waits_for != NONE) {
        ssd->placement->row_blocked[stream] = (RowBlocked){
            .changes = ssd->placement->changes + 1,
            .plane = ssd->placement->alloc_waits_for,
        };
    }
}

uint32_t rows_pick(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];

    invariant(stream < ssd->l.n_streams);
    ssd->placement->alloc_waits_for = NONE;
    if (st->left) {
        give_up_planes(ssd, stream);
    } else if (is_blocked(ssd, stream)) {
        ssd->placement->alloc_waits_for =
            ssd->placement->row_blocked[stream].plane;
        return NONE;
    }
    if (st->left == 0 && !begin_row(ssd, stream)) {
        note_blocked(ssd, stream);
        return NONE;
    }
    if (ssd->placement->policy->rows == VSSD_ROWS_IN_ORDER) {
        uint32_t plane = row_of(ssd, st->first)[__builtin_ctz(st->left)];

        ssd->placement->alloc_waits_for =
            takes(ssd, plane, stream) ? NONE : plane;
    }
    return rows_more(ssd, stream);
}
