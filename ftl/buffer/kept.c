/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept.c - the buffer without power, with capacitors (buffer.plp).
 *
 * Knows which slots hold data that is nowhere else; does not know the losses
 * of the array.
 */
#include "buffer/life.h"
#include "buffer/write.h"
#include "ssd-internal.h"
#include "wake.h"

void buffer_keep(Ssd *ssd)
{
    invariant(ssd->cfg->plp && !ssd->powered);
    invariant(!ssd->buffer->kept);
    ssd->buffer->kept = g_new(Slot, ssd->buffer->n_unsafe);
    ssd->buffer->n_kept = 0;
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];

        if (state_is_unsafe(s->state) && !s->dead &&
            l2p_get(&ssd->l2p, s->lpn) == (MAP_BUFFERED | i)) {
            ssd->buffer->kept[ssd->buffer->n_kept++] = *s;
        }
    }
    invariant(ssd->buffer->n_kept <= ssd->buffer->n_unsafe);
}

void buffer_restore(Ssd *ssd)
{
    invariant(ssd->powered);
    for (uint32_t i = 0; i < ssd->buffer->n_kept; i++) {
        write_restore(ssd, &ssd->buffer->kept[i]);
    }
    g_clear_pointer(&ssd->buffer->kept, g_free);
    ssd->buffer->n_kept = 0;
    ssd_wake(ssd, WORK_BUFFER, 0);
}
