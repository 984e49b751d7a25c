/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settle.c - the settle pass: the work after an event, and its order.
 *
 * Handlers of events change state and mark work of others (wake.h); this
 * file calls those others.  It knows the order, and no state of its own.
 */
#include "buffer/flush.h"
#include "gc/gc.h"
#include "host/host.h"
#include "journal/journal.h"
#include "media/parity-pump.h"
#include "power/power.h"
#include "settle.h"
#include "ssd-internal.h"

static void of_plane(Ssd *ssd, SsdWork work, uint32_t index)
{
    invariant(index != NONE);
    switch (work) {
    case WORK_PARITY:
        parity_pump(ssd, index);
        break;
    case WORK_META:
        meta_pump(ssd, index);
        break;
    case WORK_GC_RELEASE:
        gc_release(ssd, index);
        break;
    case WORK_GC_FORCE:
        gc_force(ssd, index);
        break;
    case WORK_GC:
        gc_pump(ssd, index);
        break;
    default:
        g_assert_not_reached();
    }
}

/* Data of the host goes before padding. */
static void program_due(Ssd *ssd)
{
    write_pump(ssd);
    if (G_UNLIKELY(ssd->buffer->closing.head != NONE)) {
        close_pump(ssd);
    }
}

static void of_drive(Ssd *ssd, SsdWork work)
{
    switch (work) {
    case WORK_HOST:
        host_room(ssd);
        break;
    case WORK_BUFFER:
        program_due(ssd);
        break;
    case WORK_BUFFER_WAITS:
        if (ssd->buffer->pump_waits) {
            program_due(ssd);
        }
        break;
    default:
        g_assert_not_reached();
    }
}

void ssd_settle(Ssd *ssd)
{
    Work *w = &ssd->work;

    while (w->any) {
        SsdWork work = (SsdWork)__builtin_ctz(w->any);

        if (work < WORK_HOST) {
            of_plane(ssd, work, work_take(w, work));
        } else {
            w->any &= ~(1U << work);
            of_drive(ssd, work);
        }
    }
}
