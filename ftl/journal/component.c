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

/* ---- saved state --------------------------------------------------------- */

enum {
    N_MAP_UNITS,
    N_SAVED,
    N_SAVED_FLIGHTS,
    N_SAVED_FLYING,
    N_PLANES,
    N_META_READS,
    N_COUNTS,
};

static const StateRow journal_rows[] = {
    STATE_KEPT_ROW(Journal, plane), /* these have rows of their own */
    STATE_KEPT_ROW(Journal, client),
    STATE_TABLE_ROW(Journal, floor, N_MAP_UNITS),
    STATE_TABLE_ROW(Journal, saved, N_MAP_UNITS),
    STATE_TABLE_ROW(Journal, saved_page, N_SAVED),
    STATE_TABLE_ROW(Journal, saved_flight, N_SAVED_FLIGHTS),
    STATE_TABLE_ROW(Journal, saved_in_flight, N_SAVED_FLYING),
    STATE_TABLE_ROW(Journal, saved_open, N_PLANES),
    STATE_VALUE_ROW(Journal, saved_low),
    STATE_VALUE_ROW(Journal, saved_queue),
    STATE_POOL_ROW(Journal, meta_read, N_META_READS),
    STATE_VALUE_ROW(Journal, n_meta_reads),
    STATE_VALUE_ROW(Journal, free_meta_read),
    STATE_VALUE_ROW(Journal, meta_version),
    STATE_VALUE_ROW(Journal, counters),
};

static const StateRow plane_rows[] = {
    STATE_VALUE_ROW(JournalPlane, programs),
    STATE_VALUE_ROW(JournalPlane, wait),
};

static const StateStruct plane_struct = STATE_STRUCT(JournalPlane, plane_rows);
static const StateStruct journal_struct = STATE_STRUCT(Journal, journal_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&journal_struct, &plane_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_MAP_UNITS] = ssd->l.user_units + ssd->l.meta_units;
    n[N_SAVED] = ssd->l.n_saved;
    n[N_SAVED_FLIGHTS] = ssd->l.n_saved_flights;
    n[N_SAVED_FLYING] = (uint64_t)ssd->l.n_saved_flights * ssd->l.saved_units;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_META_READS] = ssd->journal->n_meta_reads;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &journal_struct, ssd->journal)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &journal_struct, ssd->journal, counts) &&
           state_each(s, &plane_struct, ssd->journal->plane, ssd->l.n_planes,
                      NULL);
}

/* ---- the table ----------------------------------------------------------- */

const Component journal_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = counters_power_lost,
    .power_settled = power_settled,
    .power_on = counters_power_on,
    .reset_stats = counters_reset,
    .rows = rows,
    .state = state,
    .check = journal_check,
};
