/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-cflru-ef-sc.c - clean first with early flush and second chance.
 *
 * Source: I. Shin, "Early dirty buffer flush with second chance for SSDs",
 * Micromachines 14:796, 2023, sections 3.2 and 3.3: three lists in order of use
 * and a count of writes per unit.  A dirty unit that was written more than once
 * is not flushed early when its turn comes, but goes to the list of second
 * chances with a count of 1.
 */
#include "buffer/buf-notes.h"
#include "buffer/buffer-policy.h"

enum {
    CLEAN,
    DIRTY,
    SECOND,
};

/* The note of a slot is how often it was written, up to 255. */
static void sc_insert(VssdView *v, uint32_t slot)
{
    bool clean = v->list->clean(v, slot);

    *note_of(v, slot) = !clean;
    v->list->move(v, slot, clean ? CLEAN : DIRTY);
}

static void sc_written(VssdView *v, uint32_t slot)
{
    *note_of(v, slot) += *note_of(v, slot) < UINT8_MAX;
    v->list->move(v, slot,
                  v->list->list_of(v, slot) == SECOND ? SECOND : DIRTY);
}

static void sc_read(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, v->list->list_of(v, slot));
}

static void sc_cleaned(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, CLEAN);
}

static uint32_t sc_victim(VssdView *v)
{
    uint32_t slot = VSSD_NONE;

    for (uint32_t i = CLEAN; i <= SECOND && slot == VSSD_NONE; i++) {
        slot = v->list->oldest(v, i);
    }
    return slot;
}

static uint32_t sc_early(VssdView *v)
{
    uint32_t slot;

    while ((slot = v->list->oldest(v, DIRTY)) != VSSD_NONE &&
           *note_of(v, slot) > 1) {
        *note_of(v, slot) = 1;
        v->list->move(v, slot, SECOND);
    }
    return slot;
}

/* Keep the list of dirty units at least as long as that of second chances. */
static void sc_balance(VssdView *v)
{
    while (v->list->count(v, SECOND) > v->list->count(v, DIRTY)) {
        v->list->move(v, v->list->oldest(v, SECOND), DIRTY);
    }
}

BUFFER_POLICY(cflru_ef_sc, "cflru-ef-sc",
              "cflru-ef that spares units which were written again",
              .state_bytes = note_bytes,
              BUFFER_PART(.slot_bytes = 4, .insert = sc_insert,
                          .written = sc_written, .read = sc_read,
                          .cleaned = sc_cleaned, .replaced = note_replaced,
                          .victim = sc_victim, .early = sc_early,
                          .early_sent = sc_balance));
