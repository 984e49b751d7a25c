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
    N_BLOCKS, /* a bound only */
    N_COUNTS,
};

static const StateRow page_rows[] = {
    STATE_VALUE_ROW(SavedPage, page),
    STATE_VALUE_ROW(SavedPage, seq),
    STATE_VALUE_ROW(SavedPage, serial),
    STATE_LINK_ROW(SavedPage, next, N_SAVED),
    STATE_VALUE_ROW(SavedPage, queued),
    STATE_VALUE_ROW(SavedPage, in_flight),
    STATE_VALUE_ROW(SavedPage, changed),
    STATE_NUMBER_ROW(SavedPage, pad),
};

static const StateRow saved_rows[] = {
    STATE_VALUE_ROW(Saved, serial),
    STATE_VALUE_ROW(Saved, trim_serial),
    STATE_VALUE_ROW(Saved, queue),
    STATE_NUMBER_ROW(Saved, n_in_flight),
    STATE_INDEX_ROW(Saved, cursor, N_PLANES),
    STATE_COUNT_ROW(Saved, n_free, N_BLOCKS),
    STATE_COUNT_ROW(Saved, n_erasing, N_BLOCKS),
    STATE_LINK_ROW(Saved, victim, N_BLOCKS),
    STATE_VALUE_ROW(Saved, held),
    STATE_VALUE_ROW(Saved, waiting),
    STATE_VALUE_ROW(Saved, data_pages),
    STATE_VALUE_ROW(Saved, low),
    STATE_VALUE_ROW(Saved, anchor_low),
    STATE_VALUE_ROW(Saved, all_serial),
    STATE_VALUE_ROW(Saved, n_begun),
    STATE_VALUE_ROW(Saved, n_ended),
    STATE_VALUE_ROW(Saved, closing),
    STATE_VALUE_ROW(Saved, anchored),
    STATE_VALUE_ROW(Saved, pad),
};

static const StateStruct page_struct = STATE_STRUCT(SavedPage, page_rows);
static const StateStruct saved_struct = STATE_STRUCT(Saved, saved_rows);

static const StateRow journal_rows[] = {
    STATE_UNSAVED_ROW(Journal, plane), /* these have rows of their own */
    STATE_UNSAVED_ROW(Journal, client),
    STATE_TABLE_ROW(Journal, floor, N_MAP_UNITS),
    STATE_TABLE_ROW(Journal, saved, N_MAP_UNITS),
    STATE_TABLE_OF_ROW(Journal, saved_page, N_SAVED, page_struct),
    STATE_TABLE_ROW(Journal, saved_flight, N_SAVED_FLIGHTS),
    STATE_TABLE_ROW(Journal, saved_in_flight, N_SAVED_FLYING),
    STATE_TABLE_ROW(Journal, saved_open, N_PLANES),
    STATE_VALUE_ROW(Journal, saved_low),
    STATE_VALUE_OF_ROW(Journal, saved_queue, saved_struct),
    STATE_POOL_ROW(Journal, meta_read, N_META_READS),
    STATE_NUMBER_ROW(Journal, n_meta_reads),
    STATE_LINK_ROW(Journal, free_meta_read, N_META_READS),
    STATE_VALUE_ROW(Journal, meta_version),
    STATE_VALUE_ROW(Journal, counters),
};

static const StateRow plane_rows[] = {
    STATE_NUMBER_ROW(JournalPlane, programs),
    STATE_VALUE_ROW(JournalPlane, wait),
};

static const StateStruct plane_struct = STATE_STRUCT(JournalPlane, plane_rows);
static const StateStruct journal_struct = STATE_STRUCT(Journal, journal_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&journal_struct, &plane_struct,
                                             &page_struct, &saved_struct};

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
    n[N_BLOCKS] = ssd->geo->n_blocks;
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
