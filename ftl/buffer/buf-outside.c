/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-outside.c - the buffer policy of a shared object (vssd-policy.h): a
 * cache.
 *
 * The slots are in the lists of the buffer (buf-list.h), which this file keeps
 * in order whatever the policy does.  A policy that breaks a rule is asked no
 * more; then the slot that came first leaves.
 */
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "outside.h"

/* Slot.list of a slot that is in none. */
#define NO_LIST UINT8_MAX

G_STATIC_ASSERT(VSSD_BUFFER_LISTS == BUFFER_LISTS);

static Outside *outside(const Ssd *ssd)
{
    return ssd->outside[VSSD_POLICY_BUFFER];
}

static bool is_listed(const Ssd *ssd, uint32_t slot)
{
    return ssd->buffer->slot[slot].listed &&
           ssd->buffer->slot[slot].list < BUFFER_LISTS;
}

/* ---- what a policy sees -------------------------------------------------- */

/* Is it a slot of the policy? */
static bool slot_ok(Outside *o, const char *function, uint32_t slot)
{
    return outside_in_range(o, function, "slot", slot,
                            o->ssd->buffer->n_slot_records) &&
           (G_LIKELY(o->ssd->buffer->slot[slot].listed) ||
            outside_broke(o, "%s() with slot %u, which is not the policy's",
                          function, slot));
}

static bool list_ok(Outside *o, const char *function, uint32_t list)
{
    return outside_in_range(o, function, "list", list, BUFFER_LISTS);
}

static void view_move(VssdView *v, uint32_t slot, uint32_t list)
{
    Outside *o = outside_of(v);

    if (!slot_ok(o, "move", slot) || !list_ok(o, "move", list)) {
        return;
    }
    if (is_listed(o->ssd, slot)) {
        lists_remove(o->ssd, slot);
    }
    lists_push(o->ssd, list, slot);
}

static uint32_t view_oldest(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "oldest", list) ? o->ssd->buffer->list[list].tail : NONE;
}

static uint32_t view_newer(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    return slot_ok(o, "newer", slot) && is_listed(o->ssd, slot)
               ? o->ssd->buffer->slot[slot].prev
               : NONE;
}

static uint32_t view_count(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "count", list) ? o->ssd->buffer->list[list].n : 0;
}

static uint32_t view_list_of(VssdView *v, uint32_t slot)
{
    Outside *o = outside_of(v);

    return slot_ok(o, "list_of", slot) && is_listed(o->ssd, slot)
               ? o->ssd->buffer->slot[slot].list
               : NONE;
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

/* ---- what happens -------------------------------------------------------- */

#define TELL(ssd, hook, ...)                                                   \
    do {                                                                       \
        Outside *o_ = outside(ssd);                                            \
        if (outside_works(o_) && o_->policy->buffer->hook) {                   \
            o_->policy->buffer->hook(&o_->view, __VA_ARGS__);                  \
        }                                                                      \
    } while (0)

static void outside_insert(Ssd *ssd, uint32_t slot)
{
    invariant(slot < ssd->buffer->n_slot_records);
    ssd->buffer->slot[slot].list = NO_LIST;
    TELL(ssd, insert, slot);
    if (!is_listed(ssd, slot)) {
        if (outside_works(outside(ssd))) {
            outside_broke(outside(ssd), "insert() has put slot %u into no list",
                          slot);
        }
        lists_push(ssd, 0, slot);
    }
}

static void outside_write_hit(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, written, slot);
}

static void outside_read_hit(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, read, slot);
}

static void outside_cleaned(Ssd *ssd, uint32_t slot)
{
    TELL(ssd, cleaned, slot);
}

static void outside_remove(Ssd *ssd, uint32_t slot)
{
    lists_remove(ssd, slot);
    ssd->buffer->slot[slot].list = NO_LIST;
    ssd->buffer->slot[slot].listed = false;
    TELL(ssd, removed, slot);
}

static void outside_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    lists_replace(ssd, from, to);
    TELL(ssd, replaced, from, to);
}

/* The slot that came first, of the first list that has one. */
static uint32_t any_slot(const Ssd *ssd)
{
    for (unsigned i = 0; i < BUFFER_LISTS; i++) {
        if (ssd->buffer->list[i].tail != NONE) {
            return ssd->buffer->list[i].tail;
        }
    }
    return NONE;
}

static bool victim_ok(Outside *o, uint32_t slot)
{
    if (slot == NONE) {
        uint32_t any = any_slot(o->ssd);

        return any == NONE ||
               outside_broke(o,
                             "victim() said none, although slot %u is in a "
                             "list",
                             any);
    }
    return outside_in_range(o, "victim", "the slot", slot,
                            o->ssd->buffer->n_slot_records) &&
           (is_listed(o->ssd, slot) ||
            outside_broke(o,
                          "victim() said slot %u, which is pinned or free: "
                          "it is in no list",
                          slot));
}

static uint32_t outside_victim(Ssd *ssd)
{
    Outside *o = outside(ssd);
    uint32_t slot;

    if (outside_works(o)) {
        slot = o->policy->buffer->victim(&o->view);
        if (victim_ok(o, slot) && outside_works(o)) {
            return slot;
        }
    }
    return any_slot(ssd);
}

static void outside_init(Ssd *ssd)
{
    outside_reset(outside(ssd));
}

const BufferPolicy *buffer_choose_policy(const Ssd *ssd)
{
    Outside *o = outside(ssd);
    BufferPolicy *p;

    if (!o) {
        return buffer_policies[ssd->cfg->buffer];
    }
    p = g_new0(BufferPolicy, 1);
    *p = (BufferPolicy){
        .name = o->policy->name,
        .help = "of a shared object",
        .caches = true,
        .writes_only = o->policy->buffer->writes_only,
        .insert = outside_insert,
        .write_hit = outside_write_hit,
        .read_hit = outside_read_hit,
        .remove = outside_remove,
        .cleaned = outside_cleaned,
        .replace = outside_replace,
        .victim = outside_victim,
        .init = outside_init,
    };
    o->view.list = &list_view;
    o->adapter = p;
    return p;
}
