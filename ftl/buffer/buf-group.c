/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf-group.c - groups of units (buf-group.h) as a stream of bytes, and the
 * check of such a stream. */
#include "buffer/buf-group.h"
#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

enum {
    N_GROUPS,
    N_LISTS,
    N_COUNTS,
};

static const StateRow rows[] = {
    STATE_TABLE_ROW(Groups, group, N_GROUPS),
    STATE_KEPT_ROW(Groups, n),
    STATE_KEPT_ROW(Groups, per),
    STATE_KEPT_ROW(Groups, n_lists),
    STATE_NUMBER_ROW(Groups, most),
    STATE_TABLE_ROW(Groups, list, N_LISTS),
};

const StateStruct groups_struct = {"Groups", rows, G_N_ELEMENTS(rows),
                                   sizeof(Groups)};

bool groups_state(Ssd *ssd, State *s)
{
    Groups *gs = groups_of(ssd);
    const uint64_t counts[N_COUNTS] = {
        [N_GROUPS] = gs->n, [N_LISTS] = gs->n_lists};

    return state_values(s, &groups_struct, gs) &&
           state_tables(s, &groups_struct, gs, counts);
}

/* The units of a group, each of which the map knows: so none twice. */
static bool units_ok(const Ssd *ssd, const Groups *gs, uint32_t g)
{
    const SlotList *l = &gs->group[g].unit;
    uint32_t prev = NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        if (i >= ssd->buffer->n_slot_records || !ssd->buffer->slot[i].listed ||
            ssd->buffer->slot[i].state == SLOT_FREE ||
            ssd->buffer->slot[i].prev != prev ||
            ssd->buffer->slot[i].lpn / gs->per != g ||
            l2p_get(&ssd->l2p, ssd->buffer->slot[i].lpn) !=
                (MAP_BUFFERED | i)) {
            return false;
        }
        prev = i;
        i = ssd->buffer->slot[i].next;
    }
    return i == NONE && l->tail == prev;
}

/* Groups of a list, by n units each if by_size; *seen counts units. */
static bool list_ok(const Ssd *ssd, uint32_t list, bool by_size, uint64_t *seen)
{
    const Groups *gs = groups_of(ssd);
    uint32_t prev = NONE;
    uint32_t g = gs->list[list].head;

    for (; g != NONE; prev = g, g = gs->group[g].next) {
        if (g >= gs->n || gs->group[g].prev != prev ||
            gs->group[g].unit.n == 0 || !units_ok(ssd, gs, g) ||
            (by_size && gs->group[g].unit.n != list)) {
            return false;
        }
        *seen += gs->group[g].unit.n;
    }
    return gs->list[list].tail == prev;
}

bool groups_sound(const Ssd *ssd, bool by_size)
{
    const Groups *gs = groups_of(ssd);
    uint64_t in_groups = 0;
    uint64_t in_lists = 0;
    uint64_t listed = 0;

    if (gs->most >= gs->n_lists) {
        return false;
    }
    for (uint32_t i = 0; i < gs->n_lists; i++) {
        if (!list_ok(ssd, i, by_size, &in_lists) ||
            (by_size && i > gs->most && gs->list[i].head != NONE)) {
            return false;
        }
    }
    if (by_size && gs->most > 0 && gs->list[gs->most].head == NONE) {
        return false;
    }
    for (uint32_t g = 0; g < gs->n; g++) {
        in_groups += gs->group[g].unit.n;
    }
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        listed += ssd->buffer->slot[i].state != SLOT_FREE &&
                  ssd->buffer->slot[i].listed;
    }
    return in_groups == listed && in_lists == listed;
}
