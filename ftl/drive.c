/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - the members of Ssd itself, below all components: events, the map
 * from logical to physical units, the records of commands.
 */
#include "buffer/buffer-internal.h"
#include "check.h"
#include "component.h"
#include "map/map.h"

static bool create(Ssd *ssd, GError **error)
{
    uint64_t units = ssd->l.user_units + ssd->l.meta_units;

    (void)error;
    invariant(!ssd->l2p.entry.element);
    invariant(ssd->l.wide || ssd->l.raw_units <= NUMTABLE_NARROW_MOST);
    eventq_init(&ssd->events);
    ssd->l2p.entry = numtable_new(units, ssd->l.wide);
    numtable_spread(&ssd->l2p.entry);
    preloaded_init(ssd);
    ssd->commands.free_cmd = NONE;
    ssd->powered = true;
    return true;
}

static void destroy(Ssd *ssd)
{
    g_free(ssd->commands.cmd);
    preloaded_destroy(ssd);
    numtable_free(&ssd->l2p.entry);
    eventq_destroy(&ssd->events);
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_CMDS,
    N_GROUP_WORDS,
    N_PERIOD_UNITS,
    N_BLOCKS,
    N_EVENTS,
    /* bounds only: */
    N_WINDOWS,
    N_WINDOW_ENDS,
    N_COUNTS,
};

static const StateRow drive_rows[] = {
    /* The components, from bottom to top. */
    STATE_UNSAVED_ROW(Ssd, controller),
    STATE_UNSAVED_ROW(Ssd, media),
    STATE_UNSAVED_ROW(Ssd, journal),
    STATE_UNSAVED_ROW(Ssd, placement),
    STATE_UNSAVED_ROW(Ssd, buffer),
    STATE_UNSAVED_ROW(Ssd, map),
    STATE_UNSAVED_ROW(Ssd, gc),
    STATE_UNSAVED_ROW(Ssd, thermal),
    STATE_UNSAVED_ROW(Ssd, host),
    STATE_UNSAVED_ROW(Ssd, power),
    STATE_UNSAVED_ROW(Ssd, cfg),
    STATE_UNSAVED_ROW(Ssd, l),
    STATE_UNSAVED_ROW(Ssd, info),
    STATE_UNSAVED_ROW(Ssd, client),
    STATE_UNSAVED_ROW(Ssd, client_opaque),
    STATE_UNSAVED_ROW(Ssd, copies),
    STATE_UNSAVED_ROW(Ssd, nand_entry),
    STATE_UNSAVED_ROW(Ssd, events), /* these two have rows of their own */
    STATE_UNSAVED_ROW(Ssd, nand),
    STATE_UNSAVED_ROW(Ssd, geo),
    STATE_VALUE_ROW(Ssd, now_ps),
    STATE_VALUE_ROW(Ssd, origin_ps),
    STATE_UNSAVED_ROW(Ssd, rebased_ns),
    STATE_VALUE_ROW(Ssd, powered),
    STATE_INDEX_ROW(Ssd, window, N_WINDOWS),
    STATE_INDEX_ROW(Ssd, window_end, N_WINDOW_ENDS),
    STATE_VALUE_ROW(Ssd, powered_ns),
    STATE_VALUE_ROW(Ssd, powered_since_ps),
    STATE_UNSAVED_ROW(Ssd, unit_shift),
    STATE_UNSAVED_ROW(Ssd, block_shift),
    STATE_UNSAVED_ROW(Ssd, page_units_shift),
    STATE_UNSAVED_ROW(Ssd, first_unit_parts),
    STATE_UNSAVED_ROW(Ssd, age),     /* empty, but during ssd_age() */
    STATE_UNSAVED_ROW(Ssd, outside), /* outside_state() */
    STATE_UNSAVED_ROW(Ssd, on_policy_fault),
    STATE_UNSAVED_ROW(Ssd, policy_fault_opaque),
    STATE_UNSAVED_ROW(Ssd, commands.ops),
    STATE_POOL_ROW(Ssd, commands.cmd, N_CMDS),
    STATE_NUMBER_ROW(Ssd, commands.n_cmds),
    STATE_LINK_ROW(Ssd, commands.free_cmd, N_CMDS),
    STATE_VALUE_ROW(Ssd, commands.last_serial),
    STATE_COUNT_ROW(Ssd, commands.running, N_CMDS),
    STATE_VALUE_ROW(Ssd, commands.submitted),
    STATE_NUMBERS_ROW(Ssd, l2p.entry),
    STATE_VALUE_ROW(Ssd, l2p.mapped_units),
    STATE_UNSAVED_ROW(Ssd, l2p.group_shift),
    STATE_TABLE_ROW(Ssd, l2p.group_used, N_GROUP_WORDS),
    STATE_UNSAVED_ROW(Ssd, preloaded.wanted),
    STATE_VALUE_ROW(Ssd, preloaded.on),
    STATE_VALUE_ROW(Ssd, preloaded.base),
    STATE_UNSAVED_ROW(Ssd, preloaded.matched),
    STATE_UNSAVED_ROW(Ssd, preloaded.n_planes),
    STATE_UNSAVED_ROW(Ssd, preloaded.n_blocks),
    STATE_UNSAVED_ROW(Ssd, preloaded.plane_units),
    STATE_UNSAVED_ROW(Ssd, preloaded.period_units),
    STATE_UNSAVED_ROW(Ssd, preloaded.block_units),
    STATE_UNSAVED_ROW(Ssd, preloaded.plane_blocks),
    STATE_UNSAVED_ROW(Ssd, preloaded.by_period),
    STATE_UNSAVED_ROW(Ssd, preloaded.by_plane),
    STATE_UNSAVED_ROW(Ssd, preloaded.by_block),
    STATE_UNSAVED_ROW(Ssd, preloaded.by_plane_blocks),
    STATE_TABLE_ROW(Ssd, preloaded.place, N_PERIOD_UNITS),
    STATE_TABLE_ROW(Ssd, preloaded.nth, N_BLOCKS),
    STATE_TABLE_ROW(Ssd, preloaded.filled, N_BLOCKS),
    STATE_UNSAVED_ROW(Ssd, preloaded.unit), /* these two invert others */
    STATE_UNSAVED_ROW(Ssd, preloaded.block),
    STATE_UNSAVED_ROW(Ssd, work),    /* none, but during an event */
    STATE_UNSAVED_ROW(Ssd, inspect), /* has rows of its own */
};

static const StateRow event_rows[] = {
    STATE_POOL_ROW(EventQueue, heap, N_EVENTS),
    STATE_VALUE_ROW(EventQueue, n),
    STATE_UNSAVED_ROW(EventQueue, capacity),
    STATE_UNSAVED_ROW(EventQueue, line), /* all are in the heap */
    STATE_UNSAVED_ROW(EventQueue, line_head),
    STATE_UNSAVED_ROW(EventQueue, line_n),
    STATE_UNSAVED_ROW(EventQueue, line_size),
    STATE_UNSAVED_ROW(EventQueue, passed),
    STATE_NUMBER_ROW(EventQueue, next_seq),
    STATE_UNSAVED_ROW(EventQueue, has_first),
    STATE_UNSAVED_ROW(EventQueue, first),
    STATE_UNSAVED_ROW(EventQueue, next_ps),
};

static const StateStruct drive_struct = STATE_STRUCT(Ssd, drive_rows);
static const StateStruct event_struct = STATE_STRUCT(EventQueue, event_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&drive_struct, &event_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static bool events_state(EventQueue *q, State *s)
{
    uint64_t counts[N_COUNTS];

    eventq_gather(q);
    if (!state_values(s, &event_struct, q)) {
        return false;
    }
    counts[N_EVENTS] = q->n;
    if (!state_tables(s, &event_struct, q, counts)) {
        return false;
    }
    if (s->loading) {
        q->capacity = MAX(q->n, 64);
        q->heap = g_renew(Event, q->heap, q->capacity);
        eventq_changed(q);
    }
    return true;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &drive_struct, ssd)) {
        return false;
    }
    counts[N_CMDS] = ssd->commands.n_cmds;
    if (s->loading && !preloaded_loading(ssd)) {
        return state_fail(s, "it is damaged: its preload");
    }
    counts[N_GROUP_WORDS] = trim_words(ssd);
    counts[N_PERIOD_UNITS] = ssd->preloaded.period_units;
    counts[N_BLOCKS] = ssd->geo->n_blocks;
    counts[N_WINDOWS] = SSD_N_WINDOWS;
    counts[N_WINDOW_ENDS] = SSD_N_WINDOW_ENDS;
    return state_tables(s, &drive_struct, ssd, counts) &&
           (!s->loading || preloaded_loaded(ssd) ||
            state_fail(s, "it is damaged: its preload")) &&
           events_state(&ssd->events, s);
}

/* ---- check --------------------------------------------------------------- */

static bool check_time(const Ssd *ssd, bool at_rest, GError **error)
{
    CHECK(ssd->now_ps < SIM_LAST_NS * PS_PER_NS &&
              (!at_rest || ssd->now_ps % PS_PER_NS == 0), /* of the last call */
          "its time");
    CHECK(ssd->powered_since_ps <= ssd->now_ps &&
              ssd->powered_ns <= UINT64_MAX / 4,
          "its time with power");
    CHECK(ssd->l.window_blocks || ssd->window == SSD_WINDOW_NONE,
          "its window of predictable latency");
    return true;
}

/* Those of a drive at rest; of a few kinds, of which few are to come. */
static bool rests(unsigned kind)
{
    return kind == SSD_EVENT_FLUSH_TICK || kind == SSD_EVENT_FAULT ||
           kind == NAND_EVENT_RETRY || kind == SSD_EVENT_BACKGROUND ||
           kind == SSD_EVENT_ROW_WAIT || kind == SSD_EVENT_COUNTERS;
}

static bool check_events(const Ssd *ssd, bool at_rest, GError **error)
{
    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);

        CHECK(!at_rest || rests(event_kind(e)), "an event");
        CHECK(e->at_ps >= ssd->now_ps &&
                  e->at_ps >= eventq_next_ps(&ssd->events),
              "the order of events");
        CHECK(i == 0 || i >= ssd->events.n ||
                  e->at_ps >= ssd->events.heap[(i - 1) / 4].at_ps,
              "the order of events");
    }
    CHECK(!at_rest || eventq_count(&ssd->events) <
                          4096 + ssd->l.n_streams + ssd->l.n_planes,
          "events");
    return true;
}

static bool check_commands(const Ssd *ssd, bool at_rest, GError **error)
{
    const Commands *c = &ssd->commands;
    uint32_t running = 0;

    for (uint32_t i = 0; i < c->n_cmds; i++) {
        running += c->cmd[i].phase == CMD_SUBMITTED ||
                   c->cmd[i].phase == CMD_RUNNING ||
                   c->cmd[i].phase == CMD_ENDING;
    }
    CHECK(running == c->running, "%u commands run, %u counted", running,
          c->running);
    CHECK(running == 0 || eventq_next_ps(&ssd->events) != SIM_NEVER,
          "%u commands wait for nothing", running);
    if (at_rest) {
        CHECK_POOL(c->free_cmd, c->n_cmds, c->cmd,
                   c->cmd[at].phase == CMD_FREE);
    }
    return true;
}

static bool entry_ok(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    return map_is_buffered(entry)
               ? map_slot(entry) < ssd->buffer->n_slot_records &&
                     lpn < ssd->l.user_units
               : entry <= ssd->l.raw_units;
}

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    CHECK(all_numbers(ssd, &ssd->l2p.entry, entry_ok), "the map");
    return check_time(ssd, at_rest, error) &&
           check_events(ssd, at_rest, error) &&
           check_commands(ssd, at_rest, error);
}

/* ---- the table ----------------------------------------------------------- */

const Component drive_component = {
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .state = state,
    .check = check,
};
