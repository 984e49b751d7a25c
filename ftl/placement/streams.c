/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.c - placement streams: what waits for each, and its accounts.
 *
 * A stream is a number that the host gives with a write: one of the Streams
 * directive, or a reclaim unit handle of FDP.  Units of different streams never
 * share a page or a block that the host fills; whether they do in blocks that
 * cleaning fills is streams.gc's business.  This file knows slots and counts;
 * block.c keeps the open blocks, gc.c what is copied.
 *
 * Each stream has its DIRTY slots in two lists: those that are due (something
 * waits for them: a barrier, FUA, a victim's place, early flush), which go
 * first, and the others, which fill the page up.
 */
#include "buffer/buffer-policy.h"
#include "buffer/buffer.h"
#include "inspect/recording.h"
#include "journal/journal.h"
#include "media/media.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

void stream_init(Ssd *ssd)
{
    g_assert(ssd->l.n_streams <= 64); /* Placement.dirty_streams */
    ssd->placement.stream = g_new0(Stream, ssd->l.n_streams + 1);
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        ssd->placement.stream[i].row = rows_first(ssd, i);
    }
}

void stream_destroy(Ssd *ssd)
{
    g_free(ssd->placement.stream);
}

/* ---- what waits ------------------------------------------------------------- */

static const SlotList empty_list = {.head = NONE, .tail = NONE};

void stream_forget_slots(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        ssd->placement.stream[i].due = empty_list;
        ssd->placement.stream[i].fresh = empty_list;
        ssd->placement.stream[i].n_victims = 0;
        ssd->placement.stream[i].n_unsafe = 0;
    }
    ssd->placement.dirty_streams = 0;
}

static void note_dirty(Ssd *ssd, uint32_t stream)
{
    const Stream *st = &ssd->placement.stream[stream];
    uint64_t bit = 1ULL << stream;

    if (st->due.n + st->fresh.n > 0) {
        ssd->placement.dirty_streams |= bit;
    } else {
        ssd->placement.dirty_streams &= ~bit;
    }
}

void stream_note_slots(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        note_dirty(ssd, i);
    }
}

static SlotList *list_of(Ssd *ssd, const Slot *s)
{
    Stream *st = &ssd->placement.stream[s->stream];

    return slot_must(ssd, s) ? &st->due : &st->fresh;
}

/* Add (1) or subtract (-1) what the slot makes of the sums. */
static void count_due(Ssd *ssd, const Slot *s, uint32_t by)
{
    if (slot_must(ssd, s)) {
        ssd->buffer.n_must += by;
        if (slot_only_victim(ssd, s)) {
            ssd->buffer.n_victims += by;
            ssd->placement.stream[s->stream].n_victims += by;
        }
    }
}

void stream_insert(Ssd *ssd, uint32_t slot)
{
    Slot *s = &ssd->buffer.slot[slot];
    SlotList *l = list_of(ssd, s);

    s->after = NONE;
    s->before = l->tail;
    if (l->tail == NONE) {
        l->head = slot;
    } else {
        ssd->buffer.slot[l->tail].after = slot;
    }
    l->tail = slot;
    l->n++;
    note_dirty(ssd, s->stream);
    count_due(ssd, s, 1);
}

void stream_remove(Ssd *ssd, uint32_t slot)
{
    const Slot *s = &ssd->buffer.slot[slot];
    SlotList *l = list_of(ssd, s);

    if (s->before == NONE) {
        l->head = s->after;
    } else {
        ssd->buffer.slot[s->before].after = s->after;
    }
    if (s->after == NONE) {
        l->tail = s->before;
    } else {
        ssd->buffer.slot[s->after].before = s->before;
    }
    l->n--;
    note_dirty(ssd, s->stream);
    count_due(ssd, s, (uint32_t)-1);
}

void stream_change(Ssd *ssd, uint32_t slot, uint32_t stream)
{
    Slot *s = &ssd->buffer.slot[slot];

    if (s->stream == stream) {
        return;
    }
    if (state_is_unsafe(s->state)) {
        ssd->placement.stream[s->stream].n_unsafe--;
        ssd->placement.stream[stream].n_unsafe++;
    }
    if (s->state != SLOT_DIRTY) {
        s->stream = (uint8_t)stream;
        return;
    }
    stream_remove(ssd, slot);
    s->stream = (uint8_t)stream;
    stream_insert(ssd, slot);
}

void stream_make_due(Ssd *ssd, uint32_t slot, bool *flag)
{
    const Slot *s = &ssd->buffer.slot[slot];

    if (s->state != SLOT_DIRTY) {
        *flag = true;
    } else if (slot_must(ssd, s)) { /* it keeps its place */
        count_due(ssd, s, (uint32_t)-1);
        *flag = true;
        count_due(ssd, s, 1);
    } else {
        stream_remove(ssd, slot);
        *flag = true;
        stream_insert(ssd, slot);
    }
}

static void all_due(Ssd *ssd, Stream *st)
{
    st->n_victims = 0;
    if (st->fresh.n == 0) {
        return;
    }
    if (st->due.n == 0) {
        st->due = st->fresh;
    } else {
        ssd->buffer.slot[st->due.tail].after = st->fresh.head;
        ssd->buffer.slot[st->fresh.head].before = st->due.tail;
        st->due.tail = st->fresh.tail;
        st->due.n += st->fresh.n;
    }
    st->fresh = empty_list;
}

void stream_all_due(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        all_due(ssd, &ssd->placement.stream[i]);
    }
    ssd->buffer.n_must = ssd->buffer.n_dirty;
    ssd->buffer.n_victims = 0;
}

/*
 * Do so many pages of the stream go to NAND now?  What is due does; but victims
 * alone wait until they fill a page, with other dirty units if need be, unless a
 * command needs their room and nothing else will make it.
 */
static bool are_ready(const Ssd *ssd, const Stream *st, uint32_t pages)
{
    uint32_t units = st->due.n + st->fresh.n;

    if (!ssd->buffer.policy->caches) {
        return units >= pages * ssd->l.ready_units || st->due.n > 0;
    }
    return st->due.n > 0 &&
           (units >= ssd->l.ready_units || st->due.n > st->n_victims ||
            (ssd->buffer.n_evicting == ssd->buffer.n_victims &&
             ssd->buffer.n_promised > ssd->buffer.n_free_slots));
}

/* A write buffer waits until there is enough for what is left of the row. */
static bool is_ready(const Ssd *ssd, const Stream *st)
{
    uint32_t pages = st->left ? (uint32_t)__builtin_popcount(st->left)
                              : MAX(ssd->l.row_planes, 1);

    return are_ready(ssd, st, pages);
}

bool stream_goes_on(const Ssd *ssd, uint32_t stream)
{
    return are_ready(ssd, &ssd->placement.stream[stream], 1);
}

/*
 * Round the streams that have something, so that each gets its turn.  A write buffer that is full of
 * units which make no page in any stream cannot wait for more of them.
 */
static uint32_t next_ready(const Ssd *ssd)
{
    bool full =
        ssd->buffer.n_dirty == ssd->l.n_slots && !ssd->buffer.policy->caches;
    uint64_t before = (1ULL << ssd->placement.stream_cursor) - 1;
    uint64_t left = ssd->placement.dirty_streams & ~before;
    uint64_t then = ssd->placement.dirty_streams & before;
    uint32_t most = NONE;

    for (; left || then; left &= left - 1) {
        uint32_t i;

        if (!left) {
            left = then;
            then = 0;
        }
        i = (uint32_t)__builtin_ctzll(left);
        if (is_ready(ssd, &ssd->placement.stream[i])) {
            return i;
        }
        if (full && (most == NONE || ssd->placement.stream[i].fresh.n >
                                         ssd->placement.stream[most].fresh.n)) {
            most = i;
        }
    }
    return most;
}

uint32_t stream_ready(Ssd *ssd)
{
    uint32_t stream;

    if (ssd->l.n_streams == 1) {
        return is_ready(ssd, &ssd->placement.stream[0]) ? 0 : NONE;
    }
    if (ssd->buffer.n_dirty < ssd->l.units_per_program &&
        ssd->buffer.n_must == 0 && ssd->buffer.n_dirty < ssd->l.n_slots) {
        return NONE;
    }
    stream = next_ready(ssd);
    if (stream != NONE) {
        ssd->placement.stream_cursor = (stream + 1) % ssd->l.n_streams;
    }
    return stream;
}

bool stream_waits(const Ssd *ssd)
{
    return next_ready(ssd) != NONE;
}

uint32_t stream_pick(const Ssd *ssd, uint32_t stream)
{
    const Stream *st = &ssd->placement.stream[stream];

    return st->due.n > 0 ? st->due.head : st->fresh.head;
}

/* ---- blocks ----------------------------------------------------------------- */

uint32_t ssd_stream_open_blocks(const Ssd *ssd, uint32_t stream)
{
    uint32_t gc = ssd->l.n_stream_classes > 1 ? open_index(ssd, OPEN_GC, stream)
                                          : NONE;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Open *open = ssd->media.plane[i].open;

        n += open[stream].block != NONE;
        n += gc != NONE && open[gc].block != NONE;
    }
    return n;
}

uint64_t ssd_stream_room(const Ssd *ssd, uint32_t stream)
{
    return ssd->info.reclaim_bytes -
           (uint64_t)ssd->placement.stream[stream].taken *
               ssd->info.block_bytes;
}

void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks)
{
    Stream *st = &ssd->placement.stream[stream];
    uint64_t most = ssd->info.reclaim_bytes / ssd->info.block_bytes;

    st->n.host_bytes_written += nblocks * ssd->info.block_bytes;
    st->taken = (uint32_t)((st->taken + nblocks) % most);
}

/* Units that came for the stream that the number stood for belong to none now,
 * rather than to the next one.  A handle of FDP goes on being the same. */
static void disown(Ssd *ssd, uint32_t stream)
{
    uint32_t slot;

    if (stream == 0 || ssd->cfg->ruhs) {
        return;
    }
    while ((slot = stream_pick(ssd, stream)) != NONE) {
        stream_change(ssd, slot, 0);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}

void stream_close_blocks(Ssd *ssd, uint32_t stream)
{
    ssd->placement.stream[stream].left = 0;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        Open *o = &ssd->media.plane[i].open[stream];

        if (o->block != NONE) {
            block_close(ssd, i, o);
        }
    }
}

void stream_end_host(Ssd *ssd, uint64_t now_ns, uint32_t stream)
{
    g_assert(stream < ssd->l.n_streams);
    if (ssd->inspect.recording) {
        recording_close(ssd->inspect.recording, stream, now_ns);
    }
    if (!ssd->power.on) {
        return;
    }
    disown(ssd, stream);
    ssd->placement.stream[stream].taken = 0;
    stream_close_blocks(ssd, stream);
}

/* ---- accounts --------------------------------------------------------------- */

void ssd_get_stream(const Ssd *ssd, uint32_t stream, SsdStreamCounters *c)
{
    *c = ssd->placement.stream[stream].n;
}

uint32_t stream_account(const Ssd *ssd, uint32_t ppu)
{
    return ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)
               ? ssd->l.n_streams
               : unit_stream(ssd, ppu);
}

void stream_copied(Ssd *ssd, uint32_t ppu)
{
    ssd->placement.stream[stream_account(ssd, ppu)].n.copied_units++;
}

/* The account may have begun between the page and its end. */
static void take_back(uint64_t *n, uint64_t *base, uint32_t units)
{
    *n -= units;
    *base = MIN(*base, *n);
}

void stream_uncount_page(Ssd *ssd, uint32_t j)
{
    const PageJob *job = &ssd->media.job[j];
    Stream *st = &ssd->placement.stream[job->stream];
    uint32_t padded = block_program_units(ssd, job->ppa);

    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t unit = job_units(ssd, j)[i];

        if (unit == NONE) {
            continue;
        }
        if (job->gc) {
            st = &ssd->placement.stream[stream_account(ssd, unit)];
            take_back(&st->n.copied_units, &st->base.copied_units, 1);
        } else {
            take_back(&st->n.host_units, &st->base.host_units, 1);
        }
        padded--;
    }
    if (!job->gc) {
        take_back(&st->n.padded_units, &st->base.padded_units, padded);
        ssd->inspect.padded_units -= MIN(ssd->inspect.padded_units, padded);
    }
}

void stream_uncount_erases(Ssd *ssd)
{
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        Stream *st = &ssd->placement.stream[ssd->media.block[b].stream];

        if (ssd->media.block[b].state == BLOCK_ERASING) {
            take_back(&st->n.erases, &st->base.erases, 1);
        }
    }
}

void stream_reset_stats(Ssd *ssd)
{
    for (uint32_t i = 0; i <= ssd->l.n_streams; i++) {
        ssd->placement.stream[i].base = ssd->placement.stream[i].n;
    }
    ssd->gc.mixed_pages = 0;
}

static SsdStreamCounters since_reset(const Stream *st)
{
    return (SsdStreamCounters){
        .host_bytes_written = st->n.host_bytes_written -
                              st->base.host_bytes_written,
        .host_units = st->n.host_units - st->base.host_units,
        .padded_units = st->n.padded_units - st->base.padded_units,
        .copied_units = st->n.copied_units - st->base.copied_units,
        .victims = st->n.victims - st->base.victims,
        .victim_valid_units = st->n.victim_valid_units -
                              st->base.victim_valid_units,
        .erases = st->n.erases - st->base.erases,
    };
}

static void victims_json(const Ssd *ssd, JsonWriter *w,
                         const SsdStreamCounters *c)
{
    double units = (double)c->victims * ssd->l.units_per_block;

    json_u64(w, "victims", c->victims);
    json_u64(w, "erases", c->erases);
    /* Of none it is 0 / 0, which is printed as null. */
    json_double(w, "invalid_at_erase",
                (units - (double)c->victim_valid_units) / units);
}

static void one_json(const Ssd *ssd, JsonWriter *w, uint32_t stream)
{
    SsdStreamCounters c = since_reset(&ssd->placement.stream[stream]);
    uint64_t units = c.host_units + c.padded_units + c.copied_units;
    double bytes = (double)(units << ssd->unit_shift);

    json_open(w, NULL, '{');
    json_u64(w, "id", stream);
    json_u64(w, "host_bytes_written", c.host_bytes_written);
    json_u64(w, "host_units", c.host_units);
    json_u64(w, "padded_units", c.padded_units);
    json_u64(w, "copied_units", c.copied_units);
    json_double(w, "waf", c.host_bytes_written
                              ? bytes / (double)c.host_bytes_written
                              : 0);
    json_u64(w, "units_dirty", ssd->placement.stream[stream].n_unsafe);
    json_u64(w, "open_blocks", ssd_stream_open_blocks(ssd, stream));
    victims_json(ssd, w, &c);
    json_close(w, '}');
}

void stream_json(const Ssd *ssd, JsonWriter *w)
{
    SsdStreamCounters c = since_reset(&ssd->placement.stream[ssd->l.n_streams]);

    json_open(w, "streams", '[');
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        one_json(ssd, w, i);
    }
    json_close(w, ']');
    json_open(w, "streams_merged", '{');
    json_u64(w, "mixed_pages", ssd->gc.mixed_pages);
    victims_json(ssd, w, &c);
    json_close(w, '}');
}
