/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-check.c - every invariant of the drive's own tables.
 *
 * Counts everything afresh from the map, the spare areas and the slots, and
 * compares with the drive's counters.  For tests.
 */
#include "bitmap.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-policy.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "gc/superblock-means.h"
#include "gc/wear.h"
#include "host/ahead.h"
#include "journal/journal.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/plain.h"
#include "media/slc-cache.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "ssd-internal.h"
#include "ssd-report.h"

/* Sums over the units of the map. */
typedef struct MapSums {
    uint64_t in_nand, mapped;
} MapSums;

static bool check_unit(const Ssd *ssd, uint64_t lpn, MapSums *n, GError **error)
{
    uint64_t now = l2p_get(&ssd->l2p, lpn);
    uint64_t entry = map_nand_entry(ssd, lpn);

    n->mapped += lpn < ssd->l.user_units && map_holds(ssd, lpn);
    if (map_is_buffered(now)) {
        const Slot *s = &ssd->buffer->slot[map_slot(now)];

        CHECK(s->state != SLOT_FREE && s->lpn == lpn,
              "lpn %" PRIu64 ": its slot holds lpn %" PRIu64 " in state %d",
              lpn, s->lpn, s->state);
    }
    if (entry == 0) {
        return true;
    }
    n->in_nand++;
    CHECK(entry - 1 < ssd->l.raw_units, "lpn %" PRIu64 ": entry %" PRIu64, lpn,
          entry);
    CHECK(unit_is_valid(ssd, entry - 1),
          "lpn %" PRIu64 ": ppu %" PRIu64 " is not valid", lpn, entry - 1);
    CHECK(spare_lpn(ssd, entry - 1) == lpn,
          "lpn %" PRIu64 ": the spare area of ppu %" PRIu64 " says %" PRIu64,
          lpn, entry - 1, spare_lpn(ssd, entry - 1));
    return true;
}

static uint64_t count_valid(const Ssd *ssd)
{
    const uint64_t *valid = ssd->media->valid;
    uint64_t words = bitmap_words(ssd->l.raw_units);
    uint64_t n = 0;
    LazyWalk w;

    lazy_walk_begin(&w, valid, words * sizeof(*valid));
    for (uint64_t i = lazy_walk_next(&w, 0) / sizeof(*valid); i < words;
         i = lazy_walk_next(&w, (i + 1) * sizeof(*valid)) / sizeof(*valid)) {
        n += (uint64_t)__builtin_popcountll(valid[i]);
    }
    lazy_walk_end(&w);
    return n;
}

static bool check_map(const Ssd *ssd, GError **error)
{
    const NumTable *t = &ssd->l2p.entry;
    uint64_t valid = count_valid(ssd);
    MapSums n = {0};
    bool good = true;
    LazyWalk w;

    numtable_walk(t, &w);
    for (uint64_t lpn = numtable_next(t, &w, 0); lpn < t->n && good;
         lpn = numtable_next(t, &w, lpn + 1)) {
        good = check_unit(ssd, lpn, &n, error);
    }
    lazy_walk_end(&w);
    if (!good) {
        return false;
    }
    CHECK(valid == n.in_nand,
          "%" G_GUINT64_FORMAT " valid units, %" G_GUINT64_FORMAT
          " mapped to NAND",
          valid, n.in_nand);
    CHECK(n.mapped == ssd->l2p.mapped_units,
          "%" G_GUINT64_FORMAT " units mapped, %" G_GUINT64_FORMAT " counted",
          n.mapped, ssd->l2p.mapped_units);
    return true;
}

static bool check_block(const Ssd *ssd, uint32_t b, GError **error)
{
    uint32_t n = ssd->l.units_per_block;
    uint32_t valid = 0;
    uint32_t written = nand_next_page(ssd->nand, b) * ssd->l.units_per_page;

    /* Of one that is blank, check_map() finds a unit that is valid. */
    for (uint32_t i = 0; i < (written > 0 ? n : 0); i++) {
        bool v = unit_is_valid(ssd, block_ppu(ssd, b) + i);

        valid += v;
        CHECK(!v || i < written, "block %u: unit %u is valid, not written", b,
              i);
    }
    CHECK(valid == ssd->media->block[b].valid, "block %u: %u valid, counted %u",
          b, valid, ssd->media->block[b].valid);
    CHECK(valid == 0 || (ssd->media->block[b].state != BLOCK_FREE &&
                         ssd->media->block[b].state != BLOCK_ERASING &&
                         ssd->media->block[b].state != BLOCK_BAD),
          "block %u: free, bad or being erased, with %u valid units", b, valid);
    CHECK(ssd->map->policy->own_blocks ||
              ssd->media->block[b].state != BLOCK_MAPPED,
          "a block of a log-block map");
    return true;
}

/* Free blocks that are not linked yet. */
static uint32_t fresh_blocks(const Ssd *ssd, uint32_t plane)
{
    uint32_t end = (plane + 1) * ssd->geo->blocks_per_plane;
    uint32_t n = 0;

    for (uint32_t b = ssd->media->plane[plane].next_fresh; b < end; b++) {
        n += block_is_good(ssd, b) && ssd->media->block[b].state == BLOCK_FREE;
    }
    return n;
}

/* Each block is in exactly one place: count the places. */
static bool check_lists(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t in_state[N_BLOCK_STATES] = {0};
    uint32_t retiring = 0;
    uint32_t folding = 0;
    uint32_t slc = 0;
    uint32_t n_free = 0;
    uint32_t n_full = 0;
    uint32_t n_open = 0;
    uint32_t n_host_open = 0;
    uint64_t valid = 0;

    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        in_state[ssd->media->block[first + i].state]++;
        valid += ssd->media->block[first + i].valid;
        retiring += ssd->media->block[first + i].state == BLOCK_FULL &&
                    ssd->media->block[first + i].bad;
        folding += ssd->media->block[first + i].state == BLOCK_VICTIM &&
                   nand_block_is_cache(ssd->geo, first + i);
        slc += slc_is_dynamic(ssd, first + i) &&
               ssd->media->block[first + i].state != BLOCK_ERASING &&
               ssd->media->block[first + i].state != BLOCK_LOST &&
               ssd->media->block[first + i].state != BLOCK_BAD;
        CHECK(!slc_is_dynamic(ssd, first + i) ||
                  ssd->media->block[first + i].state != BLOCK_FREE,
              "block %u: free, and in SLC mode", first + i);
    }
    for (uint32_t b = p->free.head; n_free < p->free.n - p->n_fresh; n_free++) {
        CHECK(ssd->media->block[b].state == BLOCK_FREE,
              "block %u in the free list", b);
        b = ssd->media->block[b].next;
    }
    CHECK(fresh_blocks(ssd, plane) == p->n_fresh,
          "plane %u: %u blocks never "
          "taken, counted %u",
          plane, fresh_blocks(ssd, plane), p->n_fresh);
    n_free += p->n_fresh;
    for (uint32_t b = p->slc_free.head, i = 0; i < p->slc_free.n; i++) {
        CHECK(ssd->media->block[b].state == BLOCK_FREE &&
                  nand_block_is_cache(ssd->geo, b),
              "block %u in the list of free SLC blocks", b);
        b = ssd->media->block[b].next;
        n_free++;
    }
    for (uint32_t b = p->slc_full.head; b != NONE;
         b = ssd->media->block[b].next) {
        CHECK(ssd->media->block[b].state == BLOCK_FULL &&
                  nand_block_is_slc(ssd->geo, b),
              "block %u in the list of full SLC blocks", b);
        n_full++;
    }
    for (uint32_t v = 0; v <= ssd->l.units_per_block; v++) {
        for (uint32_t b = p->bucket[v]; b != NONE;
             b = ssd->media->block[b].next) {
            CHECK(ssd->media->block[b].state == BLOCK_FULL &&
                      ssd->media->block[b].valid == v,
                  "block %u in bucket %u of plane %u", b, v, plane);
            CHECK(v >= p->min_valid, "plane %u: min_valid %u, block with %u",
                  plane, p->min_valid, v);
            n_full++;
        }
    }
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        n_open += p->open[k].block != NONE;
        n_host_open += k < ssd->l.n_streams && open_takes_data(ssd, plane, k);
    }
    CHECK(n_host_open == p->n_host_open, "plane %u: %u open for the host, "
          "counted %u", plane, n_host_open, p->n_host_open);
    CHECK(n_free == in_state[BLOCK_FREE] && n_full == in_state[BLOCK_FULL] &&
              n_open == in_state[BLOCK_OPEN] &&
              p->erases == (ssd->powered ? in_state[BLOCK_ERASING] : 0),
          "plane %u: %u of %u free, %u of %u full, %u of %u open, %u of %u "
          "erasing",
          plane, n_free, in_state[BLOCK_FREE], n_full, in_state[BLOCK_FULL],
          n_open, in_state[BLOCK_OPEN], p->erases, in_state[BLOCK_ERASING]);
    CHECK(retiring == p->n_retiring, "plane %u: %u blocks to retire, counted "
          "%u", plane, retiring, p->n_retiring);
    CHECK(folding == p->n_folding, "plane %u: %u victims in SLC mode, counted "
          "%u", plane, folding, p->n_folding);
    CHECK(slc == p->n_slc,
          "plane %u: %u dynamic blocks in SLC mode, counted %u", plane, slc,
          p->n_slc);
    CHECK(valid == p->valid, "plane %u: %" G_GUINT64_FORMAT
          " valid units, counted %" G_GUINT64_FORMAT, plane, valid, p->valid);
    return true;
}

static bool check_open(const Ssd *ssd, uint32_t plane, GError **error)
{
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        const Open *o = &ssd->media->plane[plane].open[k];

        CHECK(o->block == NONE ||
                  o->next_page == nand_next_page(ssd->nand, o->block),
              "plane %u: open block %u at page %u, the array at %u", plane,
              o->block, o->next_page, nand_next_page(ssd->nand, o->block));
    }
    return true;
}

/* Sums over the slots. */
typedef struct SlotCount {
    uint32_t in_state[N_SLOT_STATES];
    uint32_t must, victims, unsafe, listed, evicting, released, early;
} SlotCount;

static void count_slot(const Ssd *ssd, const Slot *s, SlotCount *n)
{
    n->in_state[s->state]++;
    if (s->state == SLOT_FREE) {
        return;
    }
    n->must += s->state == SLOT_DIRTY && slot_must(ssd, s);
    n->victims += s->state == SLOT_DIRTY && slot_only_victim(ssd, s);
    n->unsafe += state_is_unsafe(s->state);
    n->listed += s->listed;
    n->evicting += s->evict && !s->released;
    n->released += s->released;
    n->early += s->early;
}

static bool check_slot(const Ssd *ssd, uint32_t i, GError **error)
{
    const Slot *s = &ssd->buffer->slot[i];

    CHECK(map_is_buffered(l2p_get(&ssd->l2p, s->lpn)),
          "slot %u of lpn %" PRIu64 " is lost", i, s->lpn);
    CHECK((s->state == SLOT_BLOCKED) == (s->older != NONE),
          "slot %u in state %d, older %u", i, s->state, s->older);
    CHECK(s->state != SLOT_CLEAN || (s->old_entry && s->waiters == NONE &&
                                     map_slot(l2p_get(&ssd->l2p, s->lpn)) == i),
          "slot %u is clean, copy in NAND %" PRIu64 ", waiters %u", i,
          s->old_entry, s->waiters);
    CHECK(s->state != SLOT_CLEAN || !ssd->media->spare_version ||
              s->version == ssd->media->spare_version[s->old_entry - 1],
          "slot %u is clean, but not as the copy in NAND", i);
    CHECK(!ssd->buffer->policy->caches || s->listed || s->evict ||
              s->newer != NONE || s->dead,
          "slot %u in state %d is in no list", i, s->state);
    return true;
}

/* A chain of DIRTY slots that all are, or all are not, due. */
static bool check_order(const Ssd *ssd, uint32_t stream, const SlotList *l,
                        bool must, GError **error)
{
    uint32_t n = 0;

    for (uint32_t i = l->head; i != NONE; i = ssd->buffer->slot[i].after, n++) {
        const Slot *s = &ssd->buffer->slot[i];

        CHECK(n < l->n && s->state == SLOT_DIRTY && s->stream == stream &&
                  slot_must(ssd, s) == must,
              "slot %u of stream %u in state %d: due %d, in the wrong list", i,
              s->stream, s->state, must);
    }
    CHECK(n == l->n, "%u slots listed, %u counted (due %d)", n, l->n, must);
    return true;
}

static bool check_barriers(const Ssd *ssd, uint32_t unsafe, GError **error)
{
    uint64_t left = 0;

    for (uint32_t e = ssd->buffer->first_epoch; e != ssd->buffer->cur_epoch + 1;
         e++) {
        left += ssd->buffer->epoch[e & ssd->buffer->epoch_mask].left;
    }
    CHECK(left == unsafe && unsafe == ssd->buffer->n_unsafe,
          "barriers wait for %" G_GUINT64_FORMAT
          " slots of %u that are not safe, %u counted",
          left, unsafe, ssd->buffer->n_unsafe);
    return true;
}

static uint32_t count_unsafe(const Ssd *ssd, uint32_t stream)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        n += state_is_unsafe(ssd->buffer->slot[i].state) &&
             ssd->buffer->slot[i].stream == stream;
    }
    return n;
}

/* Queues of each stream; units of separate streams are separate. */
static bool check_streams(const Ssd *ssd, GError **error)
{
    uint32_t unsafe = 0;
    uint32_t n = 0;

    for (uint32_t k = 0; k < ssd->l.n_streams; k++) {
        const Stream *st = &ssd->placement->stream[k];

        if (!check_order(ssd, k, &st->queue.due, true, error) ||
            !check_order(ssd, k, &st->queue.fresh, false, error)) {
            return false;
        }
        n += st->queue.due.n + st->queue.fresh.n;
        CHECK((ssd->buffer->dirty_streams >> k & 1) ==
                  (st->queue.due.n + st->queue.fresh.n > 0),
              "stream %u: %u dirty slots, but the bit says %d", k,
              st->queue.due.n + st->queue.fresh.n,
              (int)(ssd->buffer->dirty_streams >> k & 1));
        unsafe += st->queue.n_unsafe;
        CHECK(st->queue.n_unsafe == count_unsafe(ssd, k),
              "stream %u: %u dirty units counted", k, st->queue.n_unsafe);
    }
    CHECK(unsafe == ssd->buffer->n_unsafe,
          "%u dirty units of streams, %u of all", unsafe,
          ssd->buffer->n_unsafe);
    CHECK(n == ssd->buffer->n_dirty, "%u dirty slots in streams, %u counted", n,
          ssd->buffer->n_dirty);
    for (uint64_t ppu = 0; ssd->media->spare_stream && ppu < ssd->l.raw_units;
         ppu++) {
        uint32_t of = ssd->media->block[ppu_block(ssd, ppu)].stream;

        CHECK(!unit_is_valid(ssd, ppu) || of == ssd->l.n_streams ||
                  of == unit_stream(ssd, ppu),
              "ppu %" PRIu64 " of stream %u in a block of stream %u", ppu,
              unit_stream(ssd, ppu), of);
    }
    return true;
}

/* Metadata is in its planes and is counted; user data has its limit. */
static bool check_meta(const Ssd *ssd, GError **error)
{
    g_autofree uint64_t *n = g_new0(uint64_t, ssd->l.n_planes);
    g_autofree uint32_t *programs = g_new0(uint32_t, ssd->l.n_planes);

    for (uint64_t u = 0; u < ssd->l.meta_units; u++) {
        uint64_t entry = l2p_get(&ssd->l2p, ssd->l.user_units + u);
        uint32_t page = (uint32_t)(u / ssd->l.units_per_program);

        CHECK(!entry == !meta_copy_in_nand(ssd, page),
              "metadata page %u is in NAND "
              "in part",
              page);
        if (entry) {
            uint32_t plane = block_plane(ssd, ppu_block(ssd, entry - 1));

            CHECK(plane == meta_plane(ssd, page), "metadata page %u is in "
                  "plane %u", page, plane);
            n[plane]++;
        }
    }
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        if (ssd->media->job[j].state != JOB_FREE && ssd->media->job[j].meta &&
            ssd->media->job[j].ppa != NO_PAGE) {
            programs[ssd->media->job[j].plane]++;
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Plane *p = &ssd->media->plane[i];

        CHECK(n[i] == p->meta_valid && n[i] <= ssd->l.meta_share_units &&
                  programs[i] == ssd->journal->plane[i].programs,
              "plane %u: %" G_GUINT64_FORMAT
              " units of metadata, counted %" G_GUINT64_FORMAT
              "; %u programs of it, counted %u",
              i, n[i], p->meta_valid, programs[i],
              ssd->journal->plane[i].programs);
    }
    return true;
}

static bool check_staged(const Ssd *ssd, uint32_t plane, GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];

    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < g->n_staged; i++) {
            n += gc_class(ssd, g->staged[i]) == k;
        }
        CHECK(n == g->staged_of[k],
              "plane %u: %u staged of class %u, counted "
              "%u",
              plane, n, k, g->staged_of[k]);
    }
    return true;
}

static bool check_cache(const Ssd *ssd, const SlotCount *n, GError **error)
{
    uint32_t promised = 0;
    uint32_t listed = 0;

    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        if (ssd->commands.cmd[i].phase == CMD_RUNNING) {
            promised += ssd->commands.cmd[i].promised;
        }
    }
    for (unsigned i = 0; i < BUFFER_LISTS; i++) {
        listed += ssd->buffer->list[i].n;
    }
    CHECK(n->victims == ssd->buffer->n_victims, "%u dirty victims, %u counted",
          n->victims, ssd->buffer->n_victims);
    CHECK(promised == ssd->buffer->n_promised &&
              n->evicting == ssd->buffer->n_evicting &&
              n->released == ssd->buffer->n_released &&
              n->early == ssd->buffer->early.busy,
          "%u promised, %u counted; %u victims, %u counted; %u released, %u "
          "counted; %u flushed early, %u counted",
          promised, ssd->buffer->n_promised, n->evicting,
          ssd->buffer->n_evicting, n->released, ssd->buffer->n_released,
          n->early, ssd->buffer->early.busy);
    CHECK(listed == 0 || listed == n->listed, "the policy lists %u slots of %u",
          listed, n->listed);
    return true;
}

static bool check_slots(const Ssd *ssd, GError **error)
{
    SlotCount n = {.must = 0};
    uint32_t records = ssd->buffer->n_slot_records;
    uint32_t n_free = 0;

    for (uint32_t i = 0; i < records; i++) {
        count_slot(ssd, &ssd->buffer->slot[i], &n);
        if (ssd->buffer->slot[i].state != SLOT_FREE &&
            !check_slot(ssd, i, error)) {
            return false;
        }
    }
    for (uint32_t f = ssd->buffer->free_slot; f != NONE;
         f = ssd->buffer->slot[f].next) {
        n_free++;
    }
    CHECK(n_free == n.in_state[SLOT_FREE] &&
              ssd->l.n_slots + n.released - (records - n_free) ==
                  ssd->buffer->n_free_slots,
          "%u free slots of %u, %u listed, %u released, room for %u counted",
          n.in_state[SLOT_FREE], records, n_free, n.released,
          ssd->buffer->n_free_slots);
    CHECK(n.in_state[SLOT_DIRTY] == ssd->buffer->n_dirty &&
              n.must == ssd->buffer->n_must,
          "%u dirty slots, %u counted; %u must go, %u counted",
          n.in_state[SLOT_DIRTY], ssd->buffer->n_dirty, n.must,
          ssd->buffer->n_must);
    return check_barriers(ssd, n.unsafe, error) && check_cache(ssd, &n, error);
}

static bool check_commands(const Ssd *ssd, GError **error)
{
    uint32_t running = 0;

    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        running += ssd->commands.cmd[i].phase == CMD_SUBMITTED ||
                   ssd->commands.cmd[i].phase == CMD_RUNNING ||
                   ssd->commands.cmd[i].phase == CMD_ENDING;
    }
    CHECK(running == ssd->commands.running, "%u commands run, %u counted",
          running, ssd->commands.running);
    CHECK(running == 0 || eventq_next_ps(&ssd->events) != SIM_NEVER,
          "%u commands wait for nothing", running);
    return true;
}

bool ssd_check(const Ssd *ssd, GError **error)
{
    if (!check_map(ssd, error) || !check_slots(ssd, error) ||
        !check_streams(ssd, error) || !check_meta(ssd, error) ||
        !plain_check(ssd, error) || !check_commands(ssd, error) ||
        !trim_check(ssd, error) || !ahead_check(ssd, error) ||
        !nand_check(ssd->nand, error) || !unit_check(ssd, error) ||
        !superblocks_check(ssd, error) || !parity_check(ssd, error) ||
        !ssd_check_wakes(ssd, error)) {
        return false;
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (!check_block(ssd, b, error)) {
            return false;
        }
    }
    if (!superblock_means_check(ssd, error) || !age_trees_check(ssd, error)) {
        return false;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!gc_check_searches((Ssd *)ssd, i, error) ||
            !wear_check(ssd, i, error) || !check_lists(ssd, i, error) ||
            !check_open(ssd, i, error) || !check_staged(ssd, i, error)) {
            return false;
        }
    }
    return !ssd->map->policy->check || ssd->map->policy->check(ssd, error);
}
