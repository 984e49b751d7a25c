/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state-check.c - check of a drive that was loaded from a stream.
 *
 * A stream may be forged, checksum and all.  So every number that is used as an
 * index or a length of a list is looked at before anything is done with it (the
 * rows look at truth values, core/state.h); then ssd_check() compares the
 * tables.  Knows a drive at rest: no command, no operation, no page on its way.
 */
#include "bitmap.h"
#include "buffer/buffer-policy.h"
#include "controller/controller.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "host/ahead.h"
#include "host/host.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/slc-cache.h"
#include "placement/placement.h"
#include "power/power.h"
#include "media/row-wait.h"
#include "media/row.h"
#include "ssd-internal.h"
#include "state/state-check.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "thermal/thermal.h"

#include <string.h>

/* Busy until then, of a drive at rest: not for long. */
#define MOST_BUSY_PS (PS_PER_NS * NS_PER_S * 3600)

static bool none_or(uint32_t i, uint32_t n)
{
    return i == NONE || i < n;
}

/* ---- the drive as a whole ------------------------------------------------ */

/* The wait that the event is for; NULL: there is none. */
static const RowWait *row_wait_of(const Ssd *ssd, uint32_t index)
{
    if (index < ssd->l.n_streams) {
        return ssd->buffer->row_wait ? &ssd->buffer->row_wait[index] : NULL;
    }
    index -= ssd->l.n_streams;
    return ssd->gc->row_wait && index < ssd->l.n_planes
               ? &ssd->gc->row_wait[index]
               : NULL;
}

/* There is an event for each wait that expects one. */
static bool check_row_waits(const Ssd *ssd, GError **error)
{
    g_autofree uint8_t *events =
        g_new0(uint8_t, ssd->l.n_streams + ssd->l.n_planes);

    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);

        if (event_kind(e) == SSD_EVENT_ROW_WAIT) {
            CHECK(row_wait_of(ssd, event_index(e)) &&
                      ++events[event_index(e)] == 1,
                  "an event");
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_streams + ssd->l.n_planes; i++) {
        const RowWait *w = row_wait_of(ssd, i);

        CHECK(!w || (w->armed == events[i] && w->late <= UINT32_MAX),
              "an event");
        CHECK(!w || w->until_ps == SIM_NEVER || row_wait_due(ssd, w) ||
                  w->armed,
              "a wait");
    }
    return true;
}

static bool check_events(const Ssd *ssd, GError **error)
{
    unsigned ticks = 0;
    uint64_t saves = 0;

    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);
        unsigned kind = event_kind(e);

        CHECK(kind == SSD_EVENT_FLUSH_TICK || kind == SSD_EVENT_FAULT ||
                  kind == NAND_EVENT_RETRY || kind == SSD_EVENT_BACKGROUND ||
                  kind == SSD_EVENT_ROW_WAIT || kind == SSD_EVENT_COUNTERS,
              "an event");
        CHECK(kind != SSD_EVENT_BACKGROUND ||
                  event_index(e) <= BACKGROUND_PERIOD,
              "an event");
        CHECK(kind != NAND_EVENT_RETRY ||
                  event_index(e) < nand_units(ssd->nand),
              "an event");
        CHECK(e->at_ps >= ssd->now_ps &&
                  e->at_ps >= eventq_next_ps(&ssd->events),
              "the order of events");
        CHECK(i == 0 || i >= ssd->events.n ||
                  e->at_ps >= ssd->events.heap[(i - 1) / 4].at_ps,
              "the order of events");
        ticks += kind == SSD_EVENT_FLUSH_TICK;
        saves += kind == SSD_EVENT_COUNTERS;
    }
    CHECK(eventq_count(&ssd->events) <
                  4096 + ssd->l.n_streams + ssd->l.n_planes &&
              ticks == ssd->buffer->tick_armed &&
              saves == ssd->journal->counters.armed,
          "events");
    return check_row_waits(ssd, error);
}

static bool check_clocks(const Ssd *ssd, GError **error)
{
    uint64_t most_ps = ssd->now_ps + MOST_BUSY_PS;

    CHECK(ssd->now_ps < SIM_LAST_NS * PS_PER_NS &&
              ssd->now_ps % PS_PER_NS == 0, /* that of the last call */
          "its time");
    CHECK(ssd->controller->link_in_ps <= most_ps &&
              ssd->controller->link_out_ps <= most_ps &&
              ssd->controller->dram_in_ps <= most_ps &&
              ssd->controller->dram_free_ps <= most_ps,
          "a time");
    for (uint32_t i = 0; i < MAX(ssd->cfg->cores, 1); i++) {
        CHECK(ssd->controller->core_ps[i] <= most_ps, "a time");
    }
    CHECK(ssd->controller->gc_core_ps <= most_ps, "a time");
    CHECK(ssd->buffer->last_version < 1ULL << 48, "the version");
    CHECK(ssd->inspect.series.n <= SERIES_POINTS &&
              ssd->inspect.series.interval_ps > 0 &&
              ssd->inspect.series.interval_ps <= UINT64_MAX / 4,
          "the series of free blocks");
    CHECK(ssd->inspect.buffer_series.n <= SERIES_POINTS &&
              ssd->inspect.buffer_series.interval_ps > 0 &&
              ssd->inspect.buffer_series.interval_ps <= UINT64_MAX / 4,
          "the series of the buffer");
    CHECK(ssd->powered_since_ps <= ssd->now_ps &&
              ssd->powered_ns <= UINT64_MAX / 4,
          "its time with power");
    CHECK(ssd->gc->background.quiet_ps <= ssd->now_ps &&
              ssd->gc->background.scan_ps < SIM_MAX_NS * PS_PER_NS,
          "a time");
    CHECK((uint32_t)ssd->window < SSD_N_WINDOWS &&
              (uint32_t)ssd->window_end < SSD_N_WINDOW_ENDS &&
              (ssd->l.window_blocks || ssd->window == SSD_WINDOW_NONE),
          "its window of predictable latency");
    return true;
}

static bool check_heat(const Ssd *ssd, GError **error)
{
    const Heat *h = &ssd->thermal->heat;
    uint64_t most_ps = ssd->now_ps + MOST_BUSY_PS;

    /* thermal_loaded() has looked at the states. */
    CHECK(ssd->host->gate_ps <= most_ps && h->state_since_ps <= most_ps &&
              h->idle_since_ps <= ssd->now_ps && h->charged_ps <= ssd->now_ps &&
              h->next_ps >= h->charged_ps && h->off <= 1 && h->by_host <= 1,
          "a time of the power states");
    CHECK(!ssd->thermal->on ||
              h->next_ps - h->charged_ps <= ssd->thermal->step_ps,
          "a time of the temperature");
    CHECK(h->rise_nk <= HEAT_MOST_NK && h->most_rise_nk <= HEAT_MOST_NK &&
              h->level <= THERMAL_LEVELS && h->limit_k[0] <= UINT16_MAX &&
              h->limit_k[1] <= UINT16_MAX && h->controller_fj < 1000000,
          "the temperature");
    for (unsigned i = 0; i < THERMAL_STATES; i++) {
        CHECK(h->rule[i].after_ps <= MOST_BUSY_PS * 24, "a power state");
    }
    return true;
}

static bool check_latency(const Ssd *ssd, GError **error)
{
    for (unsigned i = 0; i <= SSD_N_OPS; i++) {
        CHECK(hist_valid(&ssd->inspect.latency[i]), "a histogram");
    }
    return true;
}

/* A pool's free list goes through all of its n entries, each once. */
#define CHECK_POOL(head, n, entries, ok)                                       \
    do {                                                                       \
        uint32_t at = (head);                                                  \
        uint32_t seen = 0;                                                     \
                                                                               \
        for (; seen < (n) && at < (n) && (ok); seen++) {                       \
            at = (entries)[at].next;                                           \
        }                                                                      \
        CHECK(seen == (n) && at == NONE, "a list of free entries");            \
    } while (0)

static bool check_pools(const Ssd *ssd, GError **error)
{
    CHECK(ssd->commands.running == 0 && ssd->host->done.head == NONE &&
              ssd->buffer->waiting.head == NONE &&
              ssd->buffer->redo.head == NONE && ssd->buffer->n_promised == 0 &&
              !ssd->media->cut_due,
          "commands are in flight");
    CHECK_POOL(ssd->commands.free_cmd, ssd->commands.n_cmds, ssd->commands.cmd,
               ssd->commands.cmd[at].phase == CMD_FREE);
    CHECK_POOL(ssd->buffer->free_waiter, ssd->buffer->n_waiters,
               ssd->buffer->waiter, true);
    CHECK_POOL(ssd->journal->free_meta_read, ssd->journal->n_meta_reads,
               ssd->journal->meta_read,
               ssd->journal->meta_read[at].pending == 0);
    CHECK_POOL(ssd->controller->free_copy, ssd->controller->n_copies,
               ssd->controller->copy, ssd->controller->pending == 0);
    CHECK_POOL(ssd->media->rebuilds.free, ssd->media->rebuilds.n,
               ssd->media->rebuilds.rebuild,
               ssd->media->rebuilds.under_way == 0);
    CHECK_POOL(ssd->host->ahead.free_waiter, ssd->host->ahead.n_waiters,
               ssd->host->ahead.waiter, true);
    CHECK_POOL(ssd->media->free_job, ssd->media->n_jobs, ssd->media->job,
               ssd->media->job[at].state == JOB_FREE);
    for (uint32_t i = 0; i < ssd->host->ahead.n_streams; i++) {
        CHECK(ssd->host->ahead.stream[i].loading == 0, "read-ahead");
    }
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        CHECK(ssd->commands.cmd[i].phase == CMD_FREE, "commands are in flight");
    }
    return true;
}

static bool check_allocator(const Ssd *ssd, GError **error)
{
    uint32_t n = ssd->l.n_planes;

    CHECK(ssd->placement->stripe_cursor < n &&
              none_or(ssd->placement->alloc_chosen, n) &&
              none_or(ssd->placement->alloc_waits_for, n) &&
              ssd->buffer->stream_cursor < ssd->l.n_streams,
          "a turn");
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        const Stream *st = &ssd->placement->stream[i];
        uint32_t row = MAX(ssd->l.row_planes, 1);

        CHECK(st->row < n / row && st->first < n &&
                  (ssd->l.row_planes == 0 ||
                   row_of(ssd, st->first)[0] == st->first) &&
                  st->left >> ssd->l.row_planes == 0 &&
                  (st->left == 0 ||
                   plane_group(ssd, st->first) == stream_group(ssd, i)),
              "a turn");
        CHECK(st->taken < ssd->info.reclaim_bytes / ssd->info.block_bytes,
              "a reclaim unit");
    }
    for (uint32_t pos = 0; pos < bitmap_words(n) * BITMAP_WORD; pos++) {
        bool bit = bitmap_test(ssd->placement->accepting, pos);

        CHECK(bit == (pos < n &&
                      plane_accepts(ssd, ssd->media->stripe_plane[pos])),
              "planes that accept a page");
    }
    CHECK(ssd->media->preload_left <= ssd->l.units_per_program &&
              ssd->media->preload_next <=
                  ssd->l.raw_units - ssd->media->preload_left,
          "the preload");
    return true;
}

/* ---- units --------------------------------------------------------------- */

static bool entry_ok(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    return map_is_buffered(entry)
               ? map_slot(entry) < ssd->buffer->n_slot_records &&
                     lpn < ssd->l.user_units
               : entry <= ssd->l.raw_units;
}

static bool spare_ok(const Ssd *ssd, uint64_t ppu)
{
    const NumTable *t = &ssd->media->spare_lpn;
    uint64_t own = saved_has_block(ssd, ppu_block(ssd, ppu))
                       ? ssd->l.n_saved
                       : ssd->l.meta_units;

    return (numtable_get(t, ppu) & t->mask) <= ssd->l.user_units + own;
}

/* Are all elements good?  An element that is 0 is. */
static bool all_numbers(const Ssd *ssd, const NumTable *t,
                        bool (*ok)(const Ssd *ssd, uint64_t i))
{
    bool good = true;
    LazyWalk w;

    numtable_walk(t, &w);
    for (uint64_t i = numtable_next(t, &w, 0); i < t->n && good;
         i = numtable_next(t, &w, i + 1)) {
        good = ok(ssd, i);
    }
    lazy_walk_end(&w);
    return good;
}

static bool streams_ok(const Ssd *ssd)
{
    const uint8_t *stream = ssd->media->spare_stream;
    uint64_t n = stream ? ssd->l.raw_units : 0;
    bool good = true;
    LazyWalk w;

    lazy_walk_begin(&w, stream, n);
    for (uint64_t ppu = lazy_walk_next(&w, 0); ppu < n && good;
         ppu = lazy_walk_next(&w, ppu + 1)) {
        good = stream[ppu] < ssd->l.n_streams;
    }
    lazy_walk_end(&w);
    return good;
}

static bool check_map(const Ssd *ssd, GError **error)
{
    CHECK(all_numbers(ssd, &ssd->l2p.entry, entry_ok), "the map");
    CHECK(ssd->map->n_trim_left == 0 && ssd->map->trims.head == NONE,
          "trims under way");
    CHECK(all_numbers(ssd, &ssd->media->spare_lpn, spare_ok), "a spare area");
    CHECK(streams_ok(ssd), "a spare area");
    CHECK(ssd->media->valid[ssd->l.raw_units / 64] >> (ssd->l.raw_units % 64) ==
              0,
          "valid units");
    return true;
}

static bool check_epochs(const Ssd *ssd, GError **error)
{
    uint32_t mask = ssd->buffer->epoch_mask;
    g_autofree uint32_t *left = g_new0(uint32_t, (size_t)mask + 1);

    CHECK((ssd->buffer->epoch_mask & (ssd->buffer->epoch_mask + 1)) == 0 &&
              ssd->buffer->epoch_mask >= 1 &&
              ssd->buffer->cur_epoch - ssd->buffer->first_epoch <=
                  ssd->buffer->epoch_mask,
          "flush barriers");
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];

        left[s->epoch & mask] += state_is_unsafe(s->state);
    }
    for (uint32_t e = ssd->buffer->first_epoch; e != ssd->buffer->cur_epoch + 1;
         e++) {
        CHECK(ssd->buffer->epoch[e & mask].cmd == NONE &&
                  ssd->buffer->epoch[e & mask].left == left[e & mask],
              "flush barriers");
    }
    return true;
}

/* References of the slot to others. */
static bool check_links(const Ssd *ssd, const Slot *s, GError **error)
{
    uint32_t n = ssd->buffer->n_slot_records;

    CHECK(s->state == SLOT_FREE || s->state == SLOT_CLEAN ||
              s->state == SLOT_DIRTY,
          "the state of a unit in the buffer");
    CHECK(none_or(s->next, n), "units in the buffer");
    if (s->state == SLOT_FREE) {
        return true;
    }
    CHECK(s->lpn < ssd->l.user_units && s->stream < ssd->l.n_streams &&
              s->list < BUFFER_LISTS && s->old_entry <= ssd->l.raw_units,
          "units in the buffer");
    CHECK(s->waiters == NONE && s->older == NONE && s->newer == NONE &&
              !s->released && !s->dead,
          "units in the buffer");
    CHECK(s->state == SLOT_CLEAN ||
              (none_or(s->after, n) && none_or(s->before, n) &&
               s->epoch - ssd->buffer->first_epoch <=
                   ssd->buffer->cur_epoch - ssd->buffer->first_epoch),
          "units in the buffer");
    CHECK(!s->listed || none_or(s->prev, n), "units in the buffer");
    return true;
}

/* A list of slots through next and prev: of the policy. */
static bool check_policy_list(const Ssd *ssd, unsigned list, GError **error)
{
    const SlotList *l = &ssd->buffer->list[list];
    uint32_t prev = NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        CHECK(i < ssd->buffer->n_slot_records &&
                  ssd->buffer->slot[i].state != SLOT_FREE &&
                  ssd->buffer->slot[i].listed &&
                  ssd->buffer->slot[i].prev == prev &&
                  ssd->buffer->slot[i].list == list,
              "a list of the buffer");
        prev = i;
        i = ssd->buffer->slot[i].next;
    }
    CHECK(i == NONE && l->tail == prev, "a list of the buffer");
    return true;
}

/* The same through after and before: DIRTY slots of a stream. */
static bool check_stream_list(const Ssd *ssd, const SlotList *l, GError **error)
{
    uint32_t before = NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        CHECK(i < ssd->buffer->n_slot_records &&
                  ssd->buffer->slot[i].state == SLOT_DIRTY &&
                  ssd->buffer->slot[i].before == before,
              "a list of a stream");
        before = i;
        i = ssd->buffer->slot[i].after;
    }
    CHECK(i == NONE && l->tail == before, "a list of a stream");
    return true;
}

static bool check_buffer(const Ssd *ssd, GError **error)
{
    uint32_t n = ssd->buffer->n_slot_records;
    uint32_t n_free = 0;
    uint32_t at = ssd->buffer->free_slot;

    for (uint32_t i = 0; i < n; i++) {
        if (!check_links(ssd, &ssd->buffer->slot[i], error)) {
            return false;
        }
        n_free += ssd->buffer->slot[i].state == SLOT_FREE;
    }
    for (uint32_t k = 0; k < n_free; k++) {
        CHECK(at < n && ssd->buffer->slot[at].state == SLOT_FREE, "free units");
        at = ssd->buffer->slot[at].next;
    }
    CHECK(at == NONE, "free units");
    for (unsigned k = 0; k < BUFFER_LISTS; k++) {
        if (!check_policy_list(ssd, k, error)) {
            return false;
        }
    }
    for (uint32_t k = 0; k < ssd->l.n_streams; k++) {
        if (!check_stream_list(ssd, &ssd->placement->stream[k].queue.due,
                               error) ||
            !check_stream_list(ssd, &ssd->placement->stream[k].queue.fresh,
                               error)) {
            return false;
        }
        CHECK(ssd->placement->stream[k].queue.n_victims <=
                  ssd->placement->stream[k].queue.due.n,
              "a stream");
    }
    CHECK(ssd->buffer->n_free_slots <= ssd->l.n_slots &&
              ssd->buffer->n_released == 0,
          "room in the buffer");
    CHECK(!ssd->buffer->policy->sound || ssd->buffer->policy->sound(ssd),
          "the buffer's order");
    return true;
}

static bool check_kept(const Ssd *ssd, GError **error)
{
    g_autofree uint8_t *seen = g_malloc0(ssd->l.user_units / 8 + 1);

    CHECK(ssd->buffer->n_kept <= ssd->l.n_slots &&
              (!ssd->buffer->n_kept || !ssd->powered),
          "what the buffer kept");
    for (uint32_t i = 0; i < ssd->buffer->n_kept; i++) {
        const Slot *s = &ssd->buffer->kept[i];

        CHECK(s->lpn < ssd->l.user_units && s->stream < ssd->l.n_streams &&
                  s->state < N_SLOT_STATES &&
                  !(seen[s->lpn / 8] >> (s->lpn % 8) & 1),
              "what the buffer kept");
        seen[s->lpn / 8] |= (uint8_t)(1U << (s->lpn % 8));
    }
    return true;
}

/* ---- blocks -------------------------------------------------------------- */

static bool in_plane(const Ssd *ssd, uint32_t block, uint32_t plane)
{
    return block < ssd->geo->n_blocks && block_plane(ssd, block) == plane;
}

/* Staged units wait in memory: their blocks are victims. */
static bool check_staged(const Ssd *ssd, uint32_t plane, GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];

    CHECK(g->n_staged <= gc_staged_room(ssd), "units in GC");
    for (uint32_t i = 0; i < g->n_staged; i++) {
        CHECK(g->staged[i] < ssd->l.raw_units &&
                  in_plane(ssd, ppu_block(ssd, g->staged[i]), plane) &&
                  ssd->media->block[ppu_block(ssd, g->staged[i])].state ==
                      BLOCK_VICTIM,
              "units in GC");
    }
    return true;
}

static bool check_block(const Ssd *ssd, uint32_t b, GError **error)
{
    const Block *block = &ssd->media->block[b];
    const GcPlane *g = &ssd->gc->plane[block_plane(ssd, b)];
    uint64_t staged = 0;

    CHECK(block->state < N_BLOCK_STATES && block->state != BLOCK_CLOSING &&
              (block->state != BLOCK_ERASING || !ssd->powered),
          "the state of a block");
    CHECK(block->valid <= ssd->l.units_per_block &&
              block->stream <= ssd->l.n_streams &&
              block->cause < NAND_N_CAUSES,
          "a block");
    for (uint32_t i = 0; i < g->n_staged; i++) {
        staged += ppu_block(ssd, g->staged[i]) == b;
    }
    CHECK(block->state == BLOCK_ERASING || block->state == BLOCK_LOST ||
              block->pending == (block->state == BLOCK_VICTIM ? staged : 0),
          "programs of a block");
    CHECK(block->state != BLOCK_FREE || nand_next_page(ssd->nand, b) == 0,
          "a free block");
    CHECK(!slc_is_dynamic(ssd, b) ||
              (block->state != BLOCK_FREE && block->state != BLOCK_SAVED &&
               block->state != BLOCK_MAPPED),
          "a block in SLC mode");
    return true;
}

/* Blocks from head on, through next: n of them in a state, or to the end. */
static bool check_chain(const Ssd *ssd, uint32_t plane, uint32_t head,
                        uint32_t tail, uint32_t n, BlockState state,
                        GError **error)
{
    uint32_t last = NONE;
    uint32_t b = head;

    for (uint32_t k = 0; k < n; k++) {
        CHECK(in_plane(ssd, b, plane) && ssd->media->block[b].state == state &&
                  (k == 0 || ssd->media->block[b].prev == last),
              "a list of blocks");
        last = b;
        b = ssd->media->block[b].next;
    }
    CHECK(n == 0 || last == tail, "a list of blocks");
    return true;
}

/* The FULL blocks of a plane: each in its bucket and in the list by age, those
 * in SLC mode in a list of their own. */
static bool check_full(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t n_slc = 0;
    uint32_t n = 0;
    uint32_t in_buckets = 0;
    uint32_t prev = NONE;
    uint32_t b = p->by_age.head;

    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        if (ssd->media->block[first + i].state == BLOCK_FULL) {
            n_slc += nand_block_is_slc(ssd->geo, first + i);
            n += !nand_block_is_slc(ssd->geo, first + i);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        CHECK(in_plane(ssd, b, plane) &&
                  ssd->media->block[b].state == BLOCK_FULL &&
                  !nand_block_is_slc(ssd->geo, b) &&
                  ssd->media->block[b].older == prev,
              "the list of blocks by age");
        prev = b;
        b = ssd->media->block[b].newer;
    }
    CHECK(b == NONE && p->by_age.tail == prev, "the list of blocks by age");
    for (uint32_t v = 0; v <= ssd->l.units_per_block; v++) {
        prev = NONE;
        for (b = p->bucket[v]; b != NONE; b = ssd->media->block[b].next) {
            CHECK(in_plane(ssd, b, plane) && in_buckets < n &&
                      ssd->media->block[b].state == BLOCK_FULL &&
                      ssd->media->block[b].valid == v &&
                      ssd->media->block[b].prev == prev &&
                      !nand_block_is_slc(ssd->geo, b),
                  "blocks by valid units");
            prev = b;
            in_buckets++;
        }
    }
    CHECK(in_buckets == n && p->min_valid <= ssd->l.units_per_block,
          "blocks by valid units");
    prev = NONE;
    b = p->slc_full.head;
    for (uint32_t k = 0; k < n_slc; k++) {
        CHECK(in_plane(ssd, b, plane) && ssd->media->block[b].prev == prev &&
                  ssd->media->block[b].state == BLOCK_FULL &&
                  nand_block_is_slc(ssd->geo, b),
              "full blocks in SLC mode");
        prev = b;
        b = ssd->media->block[b].next;
    }
    CHECK(b == NONE && p->slc_full.tail == prev, "full blocks in SLC mode");
    return true;
}

/* Blocks that were never taken: none of them is linked. */
static bool check_fresh(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t end = first + ssd->geo->blocks_per_plane;
    uint32_t b = p->free.head;
    uint32_t n = 0;

    CHECK(p->next_fresh >= first + ssd->geo->slc_blocks &&
              p->next_fresh <= end && p->n_fresh <= p->free.n &&
              (p->n_fresh == 0 ||
               (p->n_fresh < p->free.n && ssd->cfg->wear == SSD_WEAR_FIFO)),
          "blocks never taken");
    for (uint32_t i = p->next_fresh; p->n_fresh > 0 && i < end; i++) {
        CHECK(!block_is_good(ssd, i) ||
                  ssd->media->block[i].state == BLOCK_FREE,
              "blocks never taken");
        n += block_is_good(ssd, i);
    }
    CHECK(n == p->n_fresh, "blocks never taken");
    for (uint32_t k = p->n_fresh; n > 0 && k < p->free.n; k++) {
        CHECK(in_plane(ssd, b, plane) && b < p->next_fresh,
              "blocks never taken");
        b = ssd->media->block[b].next;
    }
    return true;
}

static bool check_plane(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    const GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = &ssd->placement->plane[plane].gc;
    const JournalPlane *meta = &ssd->journal->plane[plane];
    uint32_t n = ssd->geo->blocks_per_plane;

    CHECK(p->host_programs == 0 && p->erases == 0 && p->n_held == 0 &&
              load->reads == 0 && load->programs == 0 && load->away == 0 &&
              load->foreign == 0 && g->redo.head == NONE &&
              meta->programs == 0 && meta->wait.head == NONE,
          "operations are in flight");
    CHECK(p->tell_gains == !plane_accepts(ssd, plane), "a plane's pages");
    CHECK(p->free.n <= n && p->slc_free.n <= n && p->spare_blocks <= n &&
              p->gc_low_blocks < p->gc_high_blocks && p->gc_high_blocks <= n,
          "counts of blocks");
    CHECK(g->victim == NONE ||
              (ssd->powered && in_plane(ssd, g->victim, plane) &&
               ssd->media->block[g->victim].state == BLOCK_VICTIM),
          "the GC victim");
    CHECK(g->scan <= ssd->geo->pages_per_block &&
              g->scanned <= ssd->geo->blocks_per_plane,
          "the GC victim");
    CHECK(p->last_gc_block == NONE || in_plane(ssd, p->last_gc_block, plane),
          "the GC block");
    CHECK(g->wear_due == 0 || ssd->cfg->wear == SSD_WEAR_STATIC,
          "wear levelling");
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        const Open *o = &p->open[k];

        CHECK(o->block == NONE ||
                  (in_plane(ssd, o->block, plane) &&
                   ssd->media->block[o->block].state == BLOCK_OPEN &&
                   o->next_page < nand_block_pages(ssd->geo, o->block)),
              "an open block");
        for (uint32_t j = 0; o->block != NONE && j < k; j++) {
            CHECK(p->open[j].block != o->block, "an open block");
        }
    }
    return check_staged(ssd, plane, error) && check_fresh(ssd, plane, error) &&
           check_chain(ssd, plane, p->free.head, p->free.tail,
                       p->free.n - p->n_fresh, BLOCK_FREE, error) &&
           check_chain(ssd, plane, p->slc_free.head, p->slc_free.tail,
                       p->slc_free.n, BLOCK_FREE, error) &&
           check_full(ssd, plane, error);
}

static bool check_blocks(const Ssd *ssd, GError **error)
{
    uint32_t starved = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_plane(ssd, i, error)) {
            return false;
        }
        starved += ssd->placement->plane[i].starved;
    }
    CHECK(starved == ssd->placement->n_starved, "planes without room");
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (!check_block(ssd, b, error)) {
            return false;
        }
    }
    return true;
}

static bool check_map_ranges(const Ssd *ssd, GError **error)
{
    return !ssd->map->policy->check_ranges ||
           ssd->map->policy->check_ranges(ssd, error);
}

static bool check_recovery(const Ssd *ssd, GError **error)
{
    const Recovery *r = &ssd->power->recovery;

    CHECK(!r->on, "the recovery");
    CHECK(!saves(ssd) || (r->n_reads == 0 && r->n_candidates == 0 &&
                          r->waiting.head == NONE),
          "the recovery");
    return true;
}

bool ssd_state_check(const Ssd *ssd, GError **error)
{
    GError *found = NULL;

    if (!nand_state_check(ssd->nand, error) || !check_clocks(ssd, error) ||
        !check_heat(ssd, error) || !check_latency(ssd, error) ||
        !check_events(ssd, error) || !check_pools(ssd, error) ||
        !check_map(ssd, error) || !check_allocator(ssd, error) ||
        !check_epochs(ssd, error) || !check_buffer(ssd, error) ||
        !check_kept(ssd, error) || !check_blocks(ssd, error) ||
        !check_map_ranges(ssd, error) || !check_recovery(ssd, error) ||
        (saves(ssd) && !ssd_saved_check(ssd, error))) {
        return false;
    }
    CHECK(ssd_at_rest(ssd), "it was saved in the middle of its work");
    if (!ssd_check(ssd, &found)) {
        g_propagate_prefixed_error(error, found, "it is damaged: ");
        return false;
    }
    return true;
}
