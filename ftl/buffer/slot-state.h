/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot-state.h - which states of a slot may follow each other.
 *
 * Knows the states; all else that a change of state means is the caller's.
 */
#ifndef VSSD_FTL_SLOT_STATE_H
#define VSSD_FTL_SLOT_STATE_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* The one place where the state of a slot changes; asserts that it may. */
static inline void slot_set_state(Ssd *ssd, uint32_t slot, SlotState state)
{
#define TO(s) (1U << SLOT_##s)
    static const uint8_t legal[N_SLOT_STATES] = {
        [SLOT_FREE] = TO(LOADING) | TO(FILLING) | TO(BLOCKED) | TO(DIRTY),
        [SLOT_LOADING] = TO(CLEAN) | TO(FILLING) | TO(FREE),
        [SLOT_CLEAN] = TO(DIRTY) | TO(FREE),
        [SLOT_FILLING] = TO(DIRTY) | TO(FREE),
        [SLOT_BLOCKED] = TO(FILLING) | TO(DIRTY) | TO(FREE),
        [SLOT_DIRTY] = TO(PROGRAMMING) | TO(FREE),
        [SLOT_PROGRAMMING] = TO(CLEAN) | TO(FREE),
    };
#undef TO
    Slot *s = &ssd->buffer->slot[slot];

    G_STATIC_ASSERT(N_SLOT_STATES <= 8);
    invariant(slot < ssd->buffer->n_slot_records);
    invariant(s->state < N_SLOT_STATES && legal[s->state] >> state & 1);
    s->state = (uint8_t)state;
}

#endif
