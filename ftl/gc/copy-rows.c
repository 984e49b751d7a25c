/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy-rows.c - when pages of copies are programmed: by rows, with
 * superblock.row, or else one at a time.
 *
 * Each plane reads its own victim.  When the planes of a row have pages of
 * copies for all planes of it that are behind (media/row.h), these
 * go out as one multi-plane program of each die.  A plane takes its own pages
 * first, then those of others (foreign pages): only where there is room as for
 * the host, so that what gc.c says of the room of a plane holds.  A plane that
 * collects alone reads on, into its next victim if need be, until it has pages
 * for all of them.
 *
 * A page waits for the others of its row up to superblock.row_wait, then is
 * programmed alone; at once, if no other page can come, because the plane holds
 * as much as it may, or the planes that lack one neither collect nor take a
 * foreign page.  Units that fill no page wait for more units: GC writes no
 * padding.
 *
 * Where superblocks are whole, the last units of a plane go out with padding.
 *
 * The drive's own pages stay in their plane and wait for none.  So do copies of
 * wear levelling, but where superblocks are whole: there all planes of one move
 * it at once.
 */
#include "gc/copy-rows.h"

#include "gc/copies.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/purge.h"
#include "media/media.h"
#include "media/row-wait.h"
#include "media/row.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

#define MOST_PLANES 32

/* Pages of copies for the planes of a row that are behind. */
typedef struct CopyRow {
    const uint32_t *plane; /* all planes of the row */
    uint32_t behind;       /* as bits; without those that can have no page */
    uint32_t missing;      /* of them, those for which there is none yet */
    uint32_t from[MOST_PLANES]; /* where a page comes from */
} CopyRow;

void copy_rows_init(Ssd *ssd)
{
    G_STATIC_ASSERT(MOST_PLANES >= SSD_MOST_ROW_PLANES);
    if (ssd->l.whole_rows) {
        ssd->gc->row_wait = g_new0(RowWait, ssd->l.n_planes);
        row_waits_init(ssd->gc->row_wait, ssd->l.n_planes);
    }
}

void copy_rows_destroy(Ssd *ssd)
{
    g_free(ssd->gc->row_wait);
}

void copy_rows_power_lost(Ssd *ssd)
{
    row_waits_init(ssd->gc->row_wait, ssd->l.n_planes);
}

/* Units for pages of the class, padding included. */
static uint32_t units_of(const Ssd *ssd, uint32_t plane, uint32_t class)
{
    uint32_t units = ssd->gc->plane[plane].staged_of[class];

    if ((gc_fills_rows(ssd, class) || purge_is_on(ssd)) &&
        copies_are_last(ssd, plane)) {
        units += ssd->l.units_per_program - 1;
    }
    return units;
}

static bool has_page(const Ssd *ssd, uint32_t plane, uint32_t class)
{
    return units_of(ssd, plane, class) >= ssd->l.units_per_program;
}

bool copy_rows_full(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    uint32_t n = ssd->l.units_per_program;

    invariant(plane < ssd->l.n_planes);
    if (g->n_staged >= gc_most_held(ssd)) {
        return true;
    }
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        bool row = ssd->l.whole_rows && gc_fills_rows(ssd, k);

        if (g->staged_of[k] >= (row ? ssd->l.row_pages : 1) * n) {
            return true;
        }
    }
    return false;
}

/* Does the plane empty blocks of its own? */
static bool collects(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = plane_load(ssd, plane);

    return g->victim != NONE || load->reads > 0 || load->active;
}

static bool is_busy(const Ssd *ssd, uint32_t plane)
{
    return plane_load(ssd, plane)->programs == GC_PROGRAMS_PER_PLANE;
}

/* The plane of the row with most pages; NONE: there is none. */
static uint32_t richest(const Ssd *ssd, const uint32_t *units)
{
    uint32_t n = ssd->l.units_per_program;
    uint32_t more = n; /* units of a plane with one page more than the best */
    uint32_t best = NONE;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if (units[i] >= more) {
            best = i;
            more = (units[i] / n + 1) * n;
        }
    }
    return best;
}

/* A page of the plane's has gone. */
static void end_wait(Ssd *ssd, uint32_t plane, uint32_t starter)
{
    RowWait *w = &ssd->gc->row_wait[plane];

    w->late -= MIN(w->late, 1);
    if (w->late == 0) {
        ssd->inspect.count.rows_gc_wait_ns += row_wait_end(ssd, w) / PS_PER_NS;
    }
    if (plane != starter) {
        ssd_wake(ssd, WORK_GC, plane); /* it may read on */
    }
}

static void count_row(Ssd *ssd, uint32_t pages)
{
    if (pages == ssd->l.row_pages) {
        ssd->inspect.count.rows_gc_filled++;
    } else {
        ssd->inspect.count.rows_gc_short++;
    }
}

/* Program what there is of the row; false: no plane has a page in NAND for it.
 */
static bool send_row(Ssd *ssd, const CopyRow *r, uint32_t class,
                     uint32_t starter)
{
    uint64_t ppa[MOST_PLANES];
    uint32_t from[MOST_PLANES];
    uint32_t to[MOST_PLANES];
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if (r->behind >> i & 1 && r->from[i] != NONE) {
            ppa[n] = block_take_page(ssd, r->plane[i], OPEN_GC, class);
            from[n] = r->from[i];
            to[n] = r->plane[i];
            n += ppa[n] != NO_PAGE;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        copies_program(ssd, from[k], ppa[k], class,
                       k + 1 < n && row_is_command(ssd, to[k], to[k + 1]));
    }
    for (uint32_t k = 0; k < n; k++) {
        end_wait(ssd, from[k], starter);
    }
    if (n > 0) {
        count_row(ssd, n);
    }
    return n > 0;
}

/* A page by itself; without rows, in the plane of the die that is behind. */
static bool send_alone(Ssd *ssd, uint32_t plane, uint32_t class)
{
    uint32_t to =
        ssd->l.whole_rows ? plane : unit_destination(ssd, plane, class);
    uint64_t ppa;

    if (is_busy(ssd, to) || plane_is_lost(ssd, plane)) {
        return false;
    }
    ppa = to == plane ? copies_take_page(ssd, plane, class)
                      : block_take_page(ssd, to, OPEN_GC, class);
    if (ppa == NO_PAGE) {
        return false;
    }
    copies_program(ssd, plane, ppa, class, false);
    return true;
}

/* Is there time to wait for pages of other planes? */
static bool can_wait(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->row_wait[plane].late == 0 && !copy_rows_full(ssd, plane);
}

/* Can no other page be waited for?  A plane that has read as much as it may
 * does not bring one. */
static bool must_go(const Ssd *ssd, const CopyRow *r, uint32_t plane)
{
    if (ssd->gc->row_wait[plane].late > 0) {
        return true;
    }
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if (r->missing >> i & 1 && collects(ssd, r->plane[i]) &&
            !copy_rows_full(ssd, r->plane[i])) {
            return false;
        }
    }
    return true;
}

/* Planes that are behind program pages of their own.  false: one of them has
 * as many programs under way as it may. */
static bool plan_own(const Ssd *ssd, uint32_t class, CopyRow *r,
                     uint32_t *units)
{
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        units[i] = units_of(ssd, r->plane[i], class);
        r->from[i] = NONE;
        if (r->behind >> i & 1 && units[i] >= ssd->l.units_per_program) {
            if (is_busy(ssd, r->plane[i])) {
                return false;
            }
            r->from[i] = r->plane[i];
            units[i] -= ssd->l.units_per_program;
        }
    }
    return true;
}

/* Which page goes where.  false: the plane waits, for a page or for the end of
 * a program. */
static bool plan(const Ssd *ssd, uint32_t plane, uint32_t class, CopyRow *r)
{
    bool waits = can_wait(ssd, plane);
    uint32_t units[MOST_PLANES];
    uint32_t k;

    r->plane = row_of(ssd, plane);
    r->behind = row_behind(ssd, r->plane, open_index(ssd, OPEN_GC, class));
    r->missing = 0;
    if (!plan_own(ssd, class, r, units)) {
        return false;
    }
    k = richest(ssd, units);
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        if (!(r->behind >> i & 1) || r->from[i] != NONE) {
            continue;
        }
        if (k != NONE && unit_takes_foreign(ssd, r->plane[i], class)) {
            r->from[i] = r->plane[k];
            units[k] -= ssd->l.units_per_program;
            k = richest(ssd, units);
        } else if (!collects(ssd, r->plane[i]) &&
                   !unit_takes_foreign(ssd, r->plane[i], class)) {
            r->behind &= ~(1U << i);
        } else if (waits || is_busy(ssd, r->plane[i])) {
            return false;
        } else {
            r->missing |= 1U << i;
        }
    }
    return !r->missing || must_go(ssd, r, plane);
}

/* true: some of what is to go has been overwritten meanwhile.  Other planes
 * than the starter may have room to read on then. */
static bool drop_stale(Ssd *ssd, const CopyRow *r, uint32_t starter)
{
    bool dropped = false;

    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        const GcPlane *g = &ssd->gc->plane[r->plane[i]];
        uint32_t n = g->n_staged;

        if (n > 0) {
            copies_drop_stale(ssd, r->plane[i]);
        }
        if (g->n_staged < n) {
            dropped = true;
            if (r->plane[i] != starter) {
                ssd_wake(ssd, WORK_GC, r->plane[i]);
            }
        }
    }
    return dropped;
}

static bool try_class(Ssd *ssd, uint32_t plane, uint32_t class)
{
    CopyRow r;

    if (!gc_fills_rows(ssd, class)) {
        copies_drop_stale(ssd, plane);
        return has_page(ssd, plane, class) && send_alone(ssd, plane, class);
    }
    do {
        if (!plan(ssd, plane, class, &r)) {
            row_wait_begin(ssd, &ssd->gc->row_wait[plane],
                           ssd->l.n_streams + plane);
            return false;
        }
    } while (drop_stale(ssd, &r, plane));
    if (!has_page(ssd, plane, class)) {
        return false; /* what made the row was stale */
    }
    if (send_row(ssd, &r, class, plane)) {
        return true;
    }
    if (!send_alone(ssd, plane, class)) {
        return false;
    }
    end_wait(ssd, plane, plane);
    count_row(ssd, 1);
    return true;
}

/* Without rows: the next page of the plane. */
static bool program_page(Ssd *ssd, uint32_t plane)
{
    uint32_t class;

    if (is_busy(ssd, plane) && !unit_goes_by_die(ssd)) {
        return false;
    }
    copies_drop_stale(ssd, plane);
    class = copies_next_class(ssd, plane);
    return class != NONE && send_alone(ssd, plane, class);
}

bool copy_rows_program(Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    if (copies_next_class(ssd, plane) == NONE) {
        return false;
    }
    if (!ssd->l.whole_rows) {
        return program_page(ssd, plane);
    }
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        if (has_page(ssd, plane, k) && try_class(ssd, plane, k)) {
            return true;
        }
    }
    return false;
}

bool copy_rows_wait(const Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    return ssd->gc->row_wait && ssd->gc->row_wait[plane].until_ps != SIM_NEVER;
}

bool copy_rows_event(Ssd *ssd, uint32_t plane)
{
    RowWait *w = &ssd->gc->row_wait[plane];

    invariant(plane < ssd->l.n_planes);
    if (!row_wait_event(ssd, w, ssd->l.n_streams + plane)) {
        return false;
    }
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        w->late += units_of(ssd, plane, k) / ssd->l.units_per_program;
    }
    if (w->late == 0) { /* overwritten meanwhile */
        row_wait_end(ssd, w);
        return false;
    }
    ssd->inspect.count.rows_gc_timeouts++;
    return true;
}
