/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmap.c - buffered units that are trimmed, or of which the copy in NAND
 * moves.
 *
 * Knows the transition of a slot in each state; does not know the reason.
 */
#include "buffer/slots.h"
#include "buffer/unmap.h"
#include "buffer/write.h"
#include "media/media.h"
#include "ssd-internal.h"

void slot_moved(Ssd *ssd, uint64_t entry, uint64_t from_ppu, uint64_t to_ppu)
{
    Slot *s = (Slot *)slot_oldest(ssd, entry);

    invariant(s->old_entry == from_ppu + 1);
    s->old_entry = to_ppu + 1;
}

static void drop_nand_copy(Ssd *ssd, Slot *s)
{
    if (s->old_entry) {
        block_clear_valid(ssd, s->old_entry - 1);
        s->old_entry = 0;
    }
}

/* A version that never will be in NAND: who waits for it to be durable waits
 * for the trim to be (saved_flush()). */
static void supersede(Ssd *ssd, const Slot *s)
{
    tell_superseded(ssd, s);
    for (uint32_t w = s->waiters; w != NONE; w = ssd->buffer->waiter[w].next) {
        ssd->commands.cmd[ssd->buffer->waiter[w].cmd].trimmed = true;
    }
}

void slot_trim(Ssd *ssd, uint64_t lpn)
{
    uint32_t i = map_slot(l2p_get(&ssd->l2p, lpn));
    Slot *s = &ssd->buffer->slot[i];

    invariant(lpn < ssd->l.user_units && s->lpn == lpn && !s->dead);
    switch (s->state) {
    case SLOT_CLEAN:
        drop_nand_copy(ssd, s);
        l2p_set(&ssd->l2p, lpn, 0);
        slot_free(ssd, i);
        break;
    case SLOT_LOADING:
        s->dead = true;
        drop_nand_copy(ssd, s);
        break;
    case SLOT_DIRTY:
        supersede(ssd, s);
        drop_nand_copy(ssd, s);
        l2p_set(&ssd->l2p, lpn, 0);
        slot_free(ssd, i);
        break;
    case SLOT_BLOCKED: {
        uint32_t older = s->older;

        supersede(ssd, s);
        ssd->buffer->slot[older].newer = NONE;
        ssd->buffer->slot[older].dead = true;
        drop_nand_copy(ssd, &ssd->buffer->slot[older]);
        l2p_set(&ssd->l2p, lpn, MAP_BUFFERED | older);
        slot_free(ssd, i);
        break;
    }
    case SLOT_FILLING:
        supersede(ssd, s);
        s->dead = true;
        drop_nand_copy(ssd, s);
        break;
    case SLOT_PROGRAMMING:
        s->dead = true;
        drop_nand_copy(ssd, s);
        break;
    default:
        g_assert_not_reached();
    }
}
