/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of journal/. */
#include "component.h"
#include "journal/counters.h"
#include "journal/journal.h"
#include "journal/saved.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    meta_create(ssd);
    meta_init(ssd);
    saved_create(ssd);
    saved_find_blocks(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    saved_destroy(ssd);
    meta_destroy(ssd);
}

static void power_settled(Ssd *ssd)
{
    if (saves(ssd)) {
        saved_power_lost(ssd);
    }
    meta_init(ssd);
}

const Component journal_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = counters_power_lost,
    .power_settled = power_settled,
    .power_on = counters_power_on,
    .reset_stats = counters_reset,
};
