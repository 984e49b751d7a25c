/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-order.c - what a policy sees of the slots of a cache (VssdListView), and
 * the slots that it chooses.
 *
 * Knows the rules of VssdBufferPolicy.  A policy that breaks one is asked no
 * more; then the slot that came first leaves.
 */
#include "buffer/buf-order.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "lazymem.h"
#include "outside.h"

static Outside *outside(const Ssd *ssd)
{
    return ssd->outside[VSSD_POLICY_BUFFER];
}

/* ---- lists --------------------------------------------------------------- */

static IlistLinks links(const Buffer *b)
{
    return ILIST_LINKS(b->slot, Slot, next, prev);
}

static void push(Buffer *b, uint32_t list, uint32_t i)
{
    b->slot[i].list = list;
    ilistn_push_head(links(b), &b->list[list], i);
}

static void take(Buffer *b, uint32_t i)
{
    ilistn_remove(links(b), &b->list[b->slot[i].list], i);
}

static uint32_t oldest(const Buffer *b, uint32_t list)
{
    return b->list[list].n > 0 ? b->list[list].tail : NONE;
}

/* ---- what a policy sees -------------------------------------------------- */

/* Is it a slot of the policy? */
static bool slot_ok(Outside *o, const char *function, uint32_t slot)
{
    const Buffer *b = o->ssd->buffer;

    return outside_in_range(o, function, "slot", slot, b->n_slot_records) &&
           (G_LIKELY(b->slot[slot].listed) ||
            outside_broke(o, "%s() with slot %u, which is pinned or free",
                          function, slot));
}

static bool list_ok(Outside *o, const char *function, uint32_t list)
{
    return outside_in_range(o, function, "list", list, o->ssd->buffer->n_lists);
}

static void view_move(VssdView *v, uint32_t slot, uint32_t list)
{
    Outside *o = outside_of(v);

    if (slot_ok(o, "move", slot) && list_ok(o, "move", list)) {
        take(o->ssd->buffer, slot);
        push(o->ssd->buffer, list, slot);
    }
}

static uint32_t view_oldest(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "oldest", list) ? oldest(o->ssd->buffer, list) : NONE;
}

static uint32_t view_newer(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    return slot_ok(o, "newer", slot) ? o->ssd->buffer->slot[slot].prev : NONE;
}

static uint32_t view_count(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "count", list) ? o->ssd->buffer->list[list].n : 0;
}

static uint32_t view_list_of(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    return slot_ok(o, "list_of", slot) ? o->ssd->buffer->slot[slot].list : NONE;
}

static uint64_t view_unit(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    /* Also of one that leaves. */
    return outside_in_range(o, "unit", "slot", slot,
                            o->ssd->buffer->n_slot_records)
               ? o->ssd->buffer->slot[slot].lpn
               : NO_UNIT;
}

static bool view_clean(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    return slot_ok(o, "clean", slot) &&
           slot_is_clean(&o->ssd->buffer->slot[slot]);
}

static const VssdListView list_view = {
    .move = view_move,
    .oldest = view_oldest,
    .newer = view_newer,
    .count = view_count,
    .list_of = view_list_of,
    .unit = view_unit,
    .clean = view_clean,
};

/* ---- start --------------------------------------------------------------- */

void cache_init(Ssd *ssd, const VssdPolicy *listed)
{
    Outside *o = outside_listed(ssd, VSSD_POLICY_BUFFER, listed);
    Buffer *b = ssd->buffer;

    o->view.list = &list_view;
    b->policy = o->policy->buffer;
    b->n_lists =
        b->policy->lists ? b->policy->lists(o->view.shape) : VSSD_BUFFER_LISTS;
    if (b->n_lists == 0) {
        outside_broke(o, "lists() said 0");
        b->n_lists = 1;
    }
    b->list = lazy_new(SlotList, b->n_lists);
}

void cache_forget(Ssd *ssd)
{
    lazy_clear(ssd->buffer->list, ssd->buffer->n_lists, sizeof(SlotList));
    ssd->buffer->n_listed = 0;
    outside_reset(outside(ssd));
}

/* ---- what happens -------------------------------------------------------- */

#define TELL(ssd, hook, ...)                                                   \
    do {                                                                       \
        Outside *o_ = outside(ssd);                                            \
        if ((ssd)->buffer->policy->hook && outside_works(o_)) {                \
            (ssd)->buffer->policy->hook(&o_->view, __VA_ARGS__);               \
        }                                                                      \
    } while (0)

void cache_insert(Ssd *ssd, uint32_t slot)
{
    Buffer *b = ssd->buffer;

    invariant(slot < b->n_slot_records && !b->slot[slot].listed);
    push(b, 0, slot);
    b->slot[slot].listed = true;
    b->n_listed++;
    TELL(ssd, insert, slot);
}

void cache_remove(Ssd *ssd, uint32_t slot)
{
    Buffer *b = ssd->buffer;

    invariant(b->slot[slot].listed);
    take(b, slot);
    b->slot[slot].listed = false;
    b->n_listed--;
    TELL(ssd, removed, slot);
}

void cache_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    Buffer *b = ssd->buffer;
    uint32_t list = b->slot[from].list;

    invariant(b->slot[from].listed && !b->slot[to].listed);
    ilist_replace(links(b), &b->list[list].ends, from, to);
    b->slot[to].list = list;
    b->slot[to].listed = true;
    b->slot[from].listed = false;
    TELL(ssd, replaced, from, to);
}

void cache_written(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, written, slot);
}

void cache_read(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, read, slot);
}

void cache_cleaned(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, cleaned, slot);
}

/* ---- what it decides ----------------------------------------------------- */

static bool answer_ok(Outside *o, const char *function, uint32_t slot)
{
    const Buffer *b = o->ssd->buffer;

    return slot == NONE ||
           (outside_in_range(o, function, "the slot", slot,
                             b->n_slot_records) &&
            (b->slot[slot].listed ||
             outside_broke(o, "%s() said slot %u, which is pinned or free",
                           function, slot)));
}

/* The slot that came first, of the first list that has one; there is one. */
static uint32_t first_slot(const Buffer *b)
{
    uint32_t i = 0;

    while (b->list[i].n == 0) {
        i++;
    }
    return b->list[i].tail;
}

static bool victim_ok(Outside *o, uint32_t slot)
{
    return answer_ok(o, "victim", slot) &&
           (slot != NONE || o->ssd->buffer->n_listed == 0 ||
            outside_broke(o,
                          "victim() said none, although slot %u is in a list",
                          first_slot(o->ssd->buffer)));
}

uint32_t cache_victim(Ssd *ssd)
{
    Outside *o = outside(ssd);
    const Buffer *b = ssd->buffer;

    if (outside_works(o)) {
        uint32_t slot = b->policy->victim(&o->view);

        if (victim_ok(o, slot) && outside_works(o)) {
            return slot;
        }
    }
    return b->n_listed > 0 ? first_slot(b) : NONE;
}

uint32_t cache_follower(Ssd *ssd, uint64_t lpn)
{
    Outside *o = outside(ssd);
    uint32_t slot = ssd->buffer->policy->follows && outside_works(o)
                        ? ssd->buffer->policy->follows(&o->view, lpn)
                        : NONE;

    return answer_ok(o, "follows", slot) && outside_works(o) ? slot : NONE;
}

uint32_t cache_early(Ssd *ssd)
{
    Outside *o = outside(ssd);
    uint32_t slot = ssd->buffer->policy->early && outside_works(o)
                        ? ssd->buffer->policy->early(&o->view)
                        : NONE;

    return answer_ok(o, "early", slot) && outside_works(o) ? slot : NONE;
}

void cache_early_sent(Ssd *ssd)
{
    Outside *o = outside(ssd);

    if (ssd->buffer->policy->early_sent && outside_works(o)) {
        ssd->buffer->policy->early_sent(&o->view);
    }
}

bool cache_fits(Ssd *ssd)
{
    Outside *o = outside(ssd);

    return !ssd->buffer->policy->fits || !outside_works(o) ||
           (ssd->buffer->policy->fits(&o->view) && outside_works(o));
}
