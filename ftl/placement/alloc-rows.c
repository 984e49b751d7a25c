/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-rows.c - several streams: each goes round the drive by itself, a row at
 * a time.
 *
 * A row is the size of a multi-plane program, a page of each plane of a die;
 * without nand.multi_plane it is one plane.  A stream's pages fill one row
 * after another, so that its open blocks in the planes of a die stay at the
 * same page and can go on by one command.  If they are not (a program has
 * failed, a plane had no room) the row has those planes alone that are behind,
 * until they have caught up.  Streams begin at different rows, so as not to
 * meet at one die.
 *
 * Knows which rows a policy passes over (AllocPolicy.rows); knows nothing of
 * the data.
 */
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"
#include "ssd-internal.h"

void rows_init(Ssd *ssd)
{
    uint32_t n = 0;

    if (ssd->l.row_planes == 0) {
        return;
    }
    invariant(!ssd->placement->row_first && ssd->l.n_planes % ssd->l.row_planes
              == 0);
    ssd->placement->row_first =
        g_new(uint32_t, ssd->l.n_planes / ssd->l.row_planes);
    for (uint32_t pos = 0; pos < ssd->l.n_planes; pos++) {
        if (ssd->media->stripe_plane[pos] % ssd->l.row_planes == 0) {
            ssd->placement->row_first[n++] = ssd->media->stripe_plane[pos];
        }
    }
    invariant(n == ssd->l.n_planes / ssd->l.row_planes);
}

void rows_destroy(Ssd *ssd)
{
    g_free(ssd->placement->row_first);
}

uint32_t rows_first(const Ssd *ssd, uint32_t stream)
{
    uint64_t n = ssd->l.row_planes ? ssd->l.n_planes / ssd->l.row_planes : 0;

    invariant(stream < ssd->l.n_streams);
    return (uint32_t)(stream * n / ssd->l.n_streams);
}

/* A row as a stream sees it; planes are bits. */
typedef struct Row {
    uint32_t behind; /* at the lowest page of all */
    uint32_t take;   /* those that go on now */
    uint32_t wait;   /* plane that will be able to, or NONE */
} Row;

static uint32_t behind(const Ssd *ssd, uint32_t first, uint32_t stream)
{
    uint32_t lowest = UINT32_MAX;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        const Open *o = &ssd->media->plane[first + i].open[stream];
        uint32_t page = o->block == NONE ? 0 : o->next_page;

        if (page < lowest) {
            lowest = page;
            bits = 0;
        }
        bits |= page == lowest ? 1U << i : 0;
    }
    return bits;
}

/* Is it worth while to wait for the plane?  In order: for whatever is under way
 * there; else only for a program of the host. */
static bool worth_waiting(const Ssd *ssd, uint32_t plane)
{
    return ssd->placement->policy->rows == ROWS_IN_ORDER
               ? alloc_will_change(ssd, plane)
               : ssd->media->plane[plane].host_programs >=
                     ssd->placement->policy->depth;
}

static uint32_t accepting(const Ssd *ssd, uint32_t first)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        bits |= (uint32_t)plane_accepts(ssd, first + i) << i;
    }
    return bits;
}

static Row look_at(const Ssd *ssd, uint32_t first, uint32_t stream)
{
    Row r = {.behind = behind(ssd, first, stream), .wait = NONE};

    r.take = r.behind & accepting(ssd, first);
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if ((r.behind & ~r.take) >> i & 1 && worth_waiting(ssd, first + i)) {
            r.wait = first + i;
        }
    }
    if (r.take == 0 && r.wait == NONE) { /* those ahead, rather than none */
        r.take = accepting(ssd, first);
    }
    return r;
}

/* The next row of the stream; false: it waits. */
static bool begin_row(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];
    uint32_t n = ssd->l.n_planes / ssd->l.row_planes;
    uint32_t part = NONE; /* a row that some of its planes can begin */

    invariant(stream < ssd->l.n_streams);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t row = (st->row + k) % n;
        Row r = look_at(ssd, ssd->placement->row_first[row], stream);

        if (r.wait != NONE && ssd->placement->policy->rows == ROWS_IN_ORDER) {
            ssd->placement->alloc_waits_for = r.wait;
            return false;
        }
        if (r.wait == NONE && r.take &&
            (r.take == r.behind ||
             ssd->placement->policy->rows == ROWS_IN_ORDER)) {
            part = row;
            break;
        }
        if (r.wait == NONE && r.take && part == NONE) {
            part = row;
        }
    }
    if (part == NONE) {
        return false;
    }
    st->left = look_at(ssd, ssd->placement->row_first[part], stream).take;
    st->first = ssd->placement->row_first[part];
    st->row = part + 1 == n ? 0 : part + 1;
    invariant(st->left != 0);
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
    plane = st->first + (uint32_t)__builtin_ctz(st->left);
    if (!plane_accepts(ssd, plane)) {
        return NONE;
    }
    st->left &= st->left - 1;
    return plane;
}

/* Planes of a row that has been begun and whose turn will not come. */
static void give_up_planes(Ssd *ssd, Stream *st)
{
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        uint32_t plane = st->first + i;

        if (st->left >> i & 1 && !plane_accepts(ssd, plane) &&
            !worth_waiting(ssd, plane)) {
            st->left &= ~(1U << i);
        }
    }
}

uint32_t rows_pick(Ssd *ssd, uint32_t stream)
{
    Stream *st = &ssd->placement->stream[stream];

    invariant(stream < ssd->l.n_streams);
    ssd->placement->alloc_waits_for = NONE;
    if (st->left) {
        give_up_planes(ssd, st);
    }
    if (st->left == 0 && !begin_row(ssd, stream)) {
        return NONE;
    }
    if (ssd->placement->policy->rows == ROWS_IN_ORDER) {
        uint32_t plane = st->first + (uint32_t)__builtin_ctz(st->left);

        ssd->placement->alloc_waits_for =
            plane_accepts(ssd, plane) ? NONE : plane;
    }
    return rows_more(ssd, stream);
}
