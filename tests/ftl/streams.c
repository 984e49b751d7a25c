/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.c - placement streams: places of data, statistics, and that
 * streams which a host opens and leaves do not stop the drive.
 */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "buffer/buffer-internal.h"
#include "map/map.h"
#include "placement/placement-internal.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

/* 4 planes of 60 blocks of 16 pages of 4 units; a unit is 8 blocks. */
#define DRIVE                                                                  \
    "nand.channels=2;nand.dies=2;nand.blocks=60;nand.pages=16;"                \
    "nand.page_size=16KiB;ftl.unit=4KiB;buffer.size=256KiB;"
#define UNIT 8
#define PAGE_UNITS 4
#define SPARE "ftl.op_percent=130%;"

static Ref *drive(const char *options)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);

    return ref_new(ref_config(all), false);
}

static void put(Ref *r, uint16_t stream, uint64_t lpn, uint32_t units)
{
    r->stream = stream;
    ref_do(r, SSD_OP_WRITE, lpn * UNIT, units * UNIT, false);
}

static void settle(Ref *r)
{
    ref_finish(r);
    while (nand_load(r->ssd->nand) > 0) {
        ref_pass(r, 10000000);
    }
    ref_verify(r);
}

static SsdStreamCounters count(const Ref *r, uint32_t stream)
{
    SsdStreamCounters c;

    ssd_get_stream(r->ssd, stream, &c);
    return c;
}

/* ---- places of data ----------------------------------------------------- */

/* Every unit is where its stream is, and every erase block is of one stream. */
static void check_apart(Ref *r, uint16_t (*stream_of)(uint64_t lpn))
{
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        SsdPlace p;

        ssd_place(r->ssd, lpn * UNIT, &p);
        if (!p.mapped) {
            continue;
        }
        g_assert_true(p.in_nand);
        g_assert_cmpuint(p.stream, ==, stream_of(lpn));
        g_assert_cmpuint(p.block_stream, ==, p.stream);
    }
}

static uint16_t by_lpn(uint64_t lpn)
{
    return lpn % 4;
}

/* Units of four streams come by turns; none shares a page or a block. */
static void test_apart(void)
{
    Ref *r = drive(SPARE "streams.max=3");

    g_assert_cmpuint(r->info->nstreams, ==, 4);
    for (uint64_t lpn = 0; lpn < 1000; lpn++) {
        put(r, by_lpn(lpn), lpn, 1);
    }
    settle(r);
    check_apart(r, by_lpn);
    for (uint32_t s = 0; s < 4; s++) {
        SsdStreamCounters c = count(r, s);

        g_assert_cmpuint(c.host_bytes_written, ==, 250 * 4096);
        g_assert_cmpuint(c.host_units, ==, 250);
        g_assert_cmpuint(c.padded_units, ==, 2); /* 250 units in 63 pages */
        g_assert_cmpuint(c.copied_units, ==, 0);
        g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, s), >=, 1);
    }
    ref_free(r);
}

/* A unit that is written again belongs to the newest command's stream. */
static void test_rewrite(void)
{
    Ref *r = drive(SPARE "streams.max=3");
    SsdPlace p;

    put(r, 1, 7, 1); /* stays in the buffer: no full page */
    ref_drain(r);
    ssd_place(r->ssd, 7 * UNIT, &p);
    g_assert_true(p.mapped && !p.in_nand);
    g_assert_cmpuint(p.stream, ==, 1);
    g_assert_cmpuint(r->ssd->placement->stream[1].queue.n_unsafe, ==, 1);
    put(r, 2, 7, 1);
    ref_drain(r);
    g_assert_cmpuint(r->ssd->placement->stream[1].queue.n_unsafe, ==, 0);
    g_assert_cmpuint(r->ssd->placement->stream[2].queue.n_unsafe, ==, 1);
    settle(r);
    g_assert_cmpuint(r->ssd->placement->stream[2].queue.n_unsafe, ==, 0);
    ssd_place(r->ssd, 7 * UNIT, &p);
    g_assert_true(p.in_nand);
    g_assert_cmpuint(p.stream, ==, 2);
    g_assert_cmpuint(count(r, 1).host_units, ==, 0);
    g_assert_cmpuint(count(r, 2).host_units, ==, 1);
    put(r, 3, 7, 1);
    settle(r);
    ssd_place(r->ssd, 7 * UNIT, &p);
    g_assert_cmpuint(p.stream, ==, 3);
    ref_free(r);
}

/* A stream that is closed goes on in fresh blocks. */
static void test_close(void)
{
    Ref *r = drive(SPARE "streams.max=3");
    SsdPlace before, after;
    uint64_t room = r->info->reclaim_bytes;

    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room);
    put(r, 2, 0, 4 * PAGE_UNITS); /* a page in each plane */
    settle(r);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==,
                     room - 4 * PAGE_UNITS * 4096);
    g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, 2), ==, 4);
    ssd_stream_close(r->ssd, r->now_ns, 2);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room);
    g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, 2), ==, 0);
    put(r, 2, 100, 4 * PAGE_UNITS);
    settle(r);
    for (uint32_t i = 0; i < 4 * PAGE_UNITS; i++) {
        ssd_place(r->ssd, i * UNIT, &before);
        for (uint32_t k = 0; k < 4 * PAGE_UNITS; k++) {
            ssd_place(r->ssd, (100 + k) * UNIT, &after);
            g_assert_cmpuint(before.erase_block, !=, after.erase_block);
        }
    }
    ref_free(r);
}

/* Units of a closed stream in the buffer belong to no stream any more. */
static void test_close_buffered(void)
{
    Ref *r = drive(SPARE "streams.max=3");
    SsdPlace p;

    put(r, 2, 7, 1);
    put(r, 3, 8, 1);
    ref_drain(r);
    ssd_stream_close(r->ssd, r->now_ns, 2);
    g_assert_cmpuint(r->ssd->placement->stream[2].queue.n_unsafe, ==, 0);
    g_assert_cmpuint(r->ssd->placement->stream[0].queue.n_unsafe, ==, 1);
    put(r, 2, 9, 1); /* another stream of the same number */
    settle(r);
    ssd_place(r->ssd, 7 * UNIT, &p);
    g_assert_cmpuint(p.stream, ==, 0);
    ssd_place(r->ssd, 8 * UNIT, &p);
    g_assert_cmpuint(p.stream, ==, 3);
    ssd_place(r->ssd, 9 * UNIT, &p);
    g_assert_cmpuint(p.stream, ==, 2);
    ref_free(r);

}

/* ---- reclaim unit handles that move on ----------------------------------- */

static void move_on(Ref *r, uint16_t stream)
{
    r->stream = stream;
    r->close = true;
    ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    r->close = false;
    ref_drain(r);
}

/* Of a unit in NAND, which a cache may also hold. */
static uint32_t block_of(const Ref *r, uint64_t lpn)
{
    uint64_t entry = l2p_get(&r->ssd->l2p, lpn);

    if (map_is_buffered(entry)) {
        g_assert_cmpint(r->ssd->buffer->slot[map_slot(entry)].state, ==,
                        SLOT_CLEAN);
        entry = r->ssd->buffer->slot[map_slot(entry)].old_entry;
    }
    g_assert_cmpuint(entry, !=, 0);
    return ppu_block(r->ssd, entry - 1);
}

/* No unit of the one range is in an erase block of the other's. */
static void check_parted(Ref *r, uint64_t a, uint64_t b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < n; k++) {
            g_assert_cmpuint(block_of(r, a + i), !=, block_of(r, b + k));
        }
    }
}

/* Units of the handle have gone from the buffer to the old reclaim unit when
 * the command ends; units of others are still there. */
static void handle_moves(const char *options)
{
    g_autofree char *all = g_strconcat(SPARE "fdp.ruhs=3;", options, NULL);
    Ref *r = drive(all);
    uint64_t room = r->info->reclaim_bytes;
    SsdPlace p;

    for (uint64_t i = 0; i < 7; i++) {
        put(r, 2, i, 1);
    }
    put(r, 1, 50, 1);
    ref_drain(r);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room - 7 * 4096);
    move_on(r, 2);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 1), ==, room - 4096);
    g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, 2), ==, 0);
    g_assert_cmpuint(r->ssd->placement->stream[2].queue.n_unsafe, ==, 0);
    ssd_place(r->ssd, 50 * UNIT, &p);
    g_assert_false(p.in_nand);
    for (uint64_t i = 0; i < 7; i++) {
        put(r, 2, 100 + i, 1);
    }
    ref_drain(r);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room - 7 * 4096);
    settle(r);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, room - 7 * 4096);
    move_on(r, 2);
    check_parted(r, 0, 100, 7);
    ref_free(r);
}

static void test_handle_moves(void)
{
    handle_moves("");
    handle_moves("buffer.plp=on");
    handle_moves("nand.multi_plane=on;nand.planes=2;ftl.alloc=in-order");
    handle_moves("buffer.policy=lru");
    handle_moves("ftl.recovery=checkpoint;ftl.checkpoint_interval=64");
}

static bool is_any(const Ref *r, SlotState state)
{
    for (uint32_t i = 0; i < r->ssd->buffer->n_slot_records; i++) {
        if (r->ssd->buffer->slot[i].state == state) {
            return true;
        }
    }
    return false;
}

/* A unit that waits for a read of the rest of it, and one whose older version is
 * on its way to NAND. */
static void test_handle_moves_late(void)
{
    Ref *r = drive(SPARE "fdp.ruhs=3");

    put(r, 1, 0, 2);
    settle(r);
    r->stream = 2;
    ref_do(r, SSD_OP_WRITE, UNIT, UNIT, true);
    ref_pass(r, 100000); /* the program of unit 1 has begun */
    put(r, 2, 1, 1);
    ref_do(r, SSD_OP_WRITE, 3, 2, false); /* two blocks of unit 0 */
    ref_pass(r, 20000);
    g_assert_true(is_any(r, SLOT_BLOCKED) && is_any(r, SLOT_FILLING));
    move_on(r, 2);
    g_assert_cmpuint(r->ssd->placement->stream[2].queue.n_unsafe, ==, 0);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, r->info->reclaim_bytes);
    put(r, 2, 2, 2);
    settle(r);
    check_parted(r, 0, 2, 2);
    ref_free(r);
}

/* Handles in flight together, and writes beside them: every command ends, and
 * earlier writes are separated from later ones. */
static void test_handles_move_at_once(void)
{
    Ref *r = drive(SPARE "fdp.ruhs=3");

    for (uint64_t i = 0; i < 30; i++) {
        put(r, (uint16_t)(i % 3), i, 1);
    }
    ref_drain(r);
    r->close = true;
    for (uint16_t s = 0; s < 3; s++) {
        r->stream = s;
        ref_do(r, SSD_OP_FLUSH, 0, 0, false);
        ref_do(r, SSD_OP_FLUSH, 0, 0, false); /* nothing is left to do */
    }
    r->close = false;
    for (uint64_t i = 0; i < 30; i++) {
        put(r, (uint16_t)(i % 3), 200 + i, 1);
    }
    ref_drain(r);
    for (uint16_t s = 0; s < 3; s++) {
        move_on(r, s);
    }
    for (uint64_t i = 0; i < 30; i++) {
        put(r, (uint16_t)(i % 3), 100 + i, 1);
    }
    settle(r);
    check_parted(r, 0, 100, 30);
    ref_free(r);
}

/* Blocks of each write count, and nothing else: not the rest of a unit, padding, a
 * unit that is written again in the buffer, or a trim. */
static void test_room(void)
{
    Ref *r = drive(SPARE "fdp.ruhs=3;ftl.alloc=in-order");
    uint64_t size = r->info->reclaim_bytes;
    uint64_t blocks = 0;
    Prng rng;

    prng_seed(&rng, 5, 5);
    r->stream = 1;
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&rng, i % 3 ? 20 : 2);

        ref_one(r, SSD_OP_WRITE, prng_below(&rng, 4000), n, i % 7 == 0);
        blocks += n;
        if (i % 11 == 0) {
            ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        } else if (i % 13 == 0) {
            ref_one(r, SSD_OP_TRIM, prng_below(&rng, 4000), 64, false);
        } else if (i % 501 == 500) {
            move_on(r, 1);
            blocks = 0;
        }
        g_assert_cmpuint(ssd_stream_room(r->ssd, 1), ==,
                         size - blocks * 512 % size);
        g_assert_cmpuint(ssd_stream_room(r->ssd, 2), ==, size);
    }
    g_assert_cmpuint(count(r, 1).padded_units, >, 0);
    settle(r);
    ref_free(r);
}

/* No such stream; and the power goes while a handle moves. */
static void test_handle_moves_fails(void)
{
    Ref *r = drive(SPARE "fdp.ruhs=3");
    SsdCmd c = {.op = SSD_OP_FLUSH, .close = true, .stream = 3, .tag = 1};

    g_assert_cmpint(ssd_submit(r->ssd, r->now_ns, &c), ==, -EINVAL);
    ref_free(r);

    r = drive(SPARE "fdp.ruhs=3");
    put(r, 1, 0, 3);
    ref_drain(r);
    r->close = true;
    r->stream = 1;
    ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    ref_pass(r, 100000);
    ref_power_cycle(r);
    r->close = false;
    g_assert_cmpuint(r->n_flying, ==, 0);
    put(r, 1, 0, 3);
    move_on(r, 1);
    settle(r);
    ref_free(r);
}

/* ---- GC ------------------------------------------------------------- */

static uint16_t hot_or_cold(uint64_t lpn)
{
    return lpn % 8 == 0 ? 1 : 2;
}

/* An eighth of the drive, all over it, is written nine times in ten. */
static void skewed_load(Ref *r, bool streams, int rounds)
{
    Prng rng;

    prng_seed(&rng, 3, 3);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        put(r, streams ? hot_or_cold(lpn) : 0, lpn, 1);
    }
    settle(r);
    ssd_reset_stats(r->ssd);
    for (uint64_t i = 0; i < (uint64_t)rounds * r->n_units; i++) {
        bool hot = prng_below(&rng, 10) > 0;
        uint64_t lpn = prng_below(&rng, r->n_units / 8) * 8;

        if (!hot) {
            lpn += 1 + prng_below(&rng, 7);
        }
        put(r, streams ? hot_or_cold(lpn) : 0, lpn, 1);
    }
    settle(r);
}

static double waf(const Ref *r)
{
    SsdCounters c;

    ssd_get_counters(r->ssd, &c);
    return c.waf;
}

/* Every page programmed since the drive was made is in some stream's account,
 * and every erase. */
static void check_sums(const Ref *r)
{
    uint64_t units = 0;
    uint64_t erases = 0;
    uint64_t victims = 0;
    uint64_t valid = 0;
    uint64_t copied = 0;
    const NandStats *n = nand_stats(r->ssd->nand);
    uint64_t programs = 0;
    uint64_t nand_erases = 0;

    for (uint32_t s = 0; s <= r->info->nstreams; s++) {
        SsdStreamCounters c = count(r, s);

        units += c.host_units + c.padded_units + c.copied_units;
        erases += c.erases;
        victims += c.victims;
        valid += c.victim_valid_units;
        copied += c.copied_units;
    }
    for (int c = 0; c < NAND_N_CAUSES; c++) {
        programs += n->ops[NAND_PROGRAM][c];
        nand_erases += n->ops[NAND_ERASE][c];
    }
    g_assert_cmpuint(units, ==, programs * PAGE_UNITS);
    g_assert_cmpuint(erases, ==, nand_erases);
    g_assert_cmpuint(victims, >=, erases);
    g_assert_cmpuint(valid, >=, copied); /* what the host overwrites meanwhile
                                            is not copied */
    g_assert_cmpuint(valid, <=, victims * r->ssd->l.units_per_block);
}

static double clean(const char *options, bool streams)
{
    Ref *r = drive(options);
    double w;

    skewed_load(r, streams, 4);
    check_sums(r);
    if (streams && r->info->isolated) {
        check_apart(r, hot_or_cold);
        g_assert_cmpuint(r->ssd->inspect.count.mixed_pages, ==, 0);
        g_assert_cmpuint(count(r, r->info->nstreams).victims, ==, 0);
    }
    if (streams && !r->info->isolated) {
        g_assert_cmpuint(count(r, r->info->nstreams).victims, >, 0);
    }
    w = waf(r);
    ref_free(r);
    return w;
}

/* Hot and cold data apart cost less than together.  (Of the two ways to clean
 * neither is always the better: keeping apart takes more blocks.) */
static void test_cleaning(void)
{
#define TALL "nand.blocks=300;nand.pages=8;ftl.op_percent=20%;streams.max=2"
    double together = clean(TALL, false);
    double merged = clean(TALL ";streams.gc=merge", true);
    double apart = clean(TALL, true);

    g_test_message("waf %.3f together, %.3f merged, %.3f apart", together,
                   merged, apart);
    g_assert_cmpfloat(apart, <, together * 0.95);
    g_assert_cmpfloat(merged, <, together * 0.95);
}

/* The same of the host's bytes; counters were never reset. */
static void check_bytes(const Ref *r)
{
    SsdCounters all;
    uint64_t bytes = 0;

    for (uint32_t s = 0; s < r->info->nstreams; s++) {
        bytes += count(r, s).host_bytes_written;
    }
    ssd_get_counters(r->ssd, &all);
    g_assert_cmpuint(bytes, ==, all.host_bytes_written);
}

/* Anything a host does, with streams that come and go, and the power too. */
static void any_op(Ref *r, Prng *rng)
{
    uint32_t n = 1 + prng_below(rng, 40);
    uint64_t lba = prng_below(rng, r->info->nblocks - n);
    uint32_t what = prng_below(rng, 100);

    r->stream = (uint16_t)prng_below(rng, r->info->host_streams);
    if (what < 80) {
        ref_do(r, SSD_OP_WRITE, lba, n, prng_below(rng, 8) == 0);
    } else if (what < 88) {
        ref_do(r, SSD_OP_TRIM, lba / UNIT * UNIT, UNIT, false);
    } else if (what < 94) {
        ref_do(r, SSD_OP_READ, lba, n, false);
    } else if (what < 97) {
        ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    } else {
        ssd_stream_close(r->ssd, r->now_ns, r->stream);
    }
}

/* Check after each of the power cuts, and at the end. */
static void any_load(Ref *r, bool cuts, void (*check)(const Ref *r))
{
    Prng rng;

    prng_seed(&rng, 11, 11);
    for (uint32_t i = 0; i < 30000; i++) {
        any_op(r, &rng);
        if (cuts && prng_below(&rng, 500) == 0) {
            ref_power_cycle(r);
            settle(r);
            check(r);
        }
    }
    settle(r);
    check(r);
}

static void check_all_sums(const Ref *r)
{
    check_sums(r);
    check_bytes(r);
}

static void sums(const char *options, bool cuts)
{
    Ref *r = drive(options);

    any_load(r, cuts, check_all_sums);
    g_assert_cmpuint(count(r, 1).copied_units, >, 0);
    ref_free(r);
}

static void test_sums(void)
{
    sums("ftl.op_percent=70%;streams.max=2", false);
    sums("ftl.op_percent=70%;streams.max=2", true);
    sums("ftl.op_percent=40%;fdp.ruhs=4;streams.gc=merge", true);
    sums("ftl.op_percent=70%;ftl.hot_cold=on", false);
}

/* ---- NAND bytes of a stream --------------------------------------------- */

static uint64_t nand_bytes(const Ref *r, uint32_t stream)
{
    return count(r, stream).nand_bytes_written;
}

/* All pages that the array has programmed, whatever for, are some stream's or
 * of none: while programs are under way, too. */
static void check_nand_bytes(const Ref *r)
{
    uint32_t n = r->info->nstreams;
    uint64_t sum = nand_bytes(r, n);
    const NandStats *s = nand_stats(r->ssd->nand);
    uint64_t own = s->ops[NAND_PROGRAM][NAND_CAUSE_META] +
                   s->ops[NAND_PROGRAM][NAND_CAUSE_MAP];
    SsdCounters all;

    for (uint32_t i = 0; i < n; i++) {
        SsdStreamCounters c = count(r, i);

        g_assert_cmpuint(nand_bytes(r, i), >=,
                         nand_load(r->ssd->nand) == 0
                             ? (c.host_units + c.padded_units + c.copied_units)
                                   << r->ssd->unit_shift
                             : 0);
        sum += nand_bytes(r, i);
    }
    g_assert_cmpuint(nand_bytes(r, n), >=,
                     own * r->ssd->geo->page_bytes +
                         (count(r, n).copied_units << r->ssd->unit_shift));
    ssd_get_counters(r->ssd, &all);
    g_assert_cmpuint(sum, ==, all.nand_bytes_written);
}

/* What each kind of page costs. */
typedef struct NandCase {
    const char *options;
    bool none;  /* something is of no stream */
    bool extra; /* something beside units of the host, padding and copies is of
                   a stream: parity, padding of GC */
} NandCase;

#define PARITY "superblock.parity=on;superblock.width=4;superblock.row=4;"
#define CACHE  "nand.cell=tlc;nand.pages=12;nand.slc_blocks=8;"

static const NandCase nand_cases[] = {
    {.options = "ftl.op_percent=70%;streams.max=2"},
    {.options = "ftl.op_percent=40%;fdp.ruhs=4;streams.gc=merge"},
    {.options = SPARE "fdp.ruhs=4;fdp.isolation=persistent/initial"},
    {.options = SPARE "nand.blocks=100;streams.max=2;" PARITY, .extra = true},
    {.options = SPARE "nand.blocks=100;streams.max=2;streams.gc=merge;" PARITY,
     .none = true,
     .extra = true},
    {.options = SPARE CACHE "streams.max=2"},
    {.options = SPARE CACHE "nand.one_shot=on;fdp.ruhs=3"},
    {.options = SPARE "streams.max=2;ftl.map=dftl;ftl.map_cache=16KiB",
     .none = true},
    {.options = SPARE "streams.max=2;ftl.recovery=checkpoint", .none = true},
    {.options = SPARE "streams.max=2;media.errors=on;media.program_fail=0.0003;"
                      "media.start_cycles=4000;"},
    {.options = "ftl.op_percent=30%"},
};

static void nand_case(const NandCase *c)
{
    Ref *r = drive(c->options);
    uint64_t of_units = 0;
    uint64_t of_streams = 0;

    g_test_message("%s", c->options);
    r->faults = strstr(c->options, "program_fail") != NULL;
    any_load(r, true, check_nand_bytes);
    for (uint32_t s = 0; s < r->info->nstreams; s++) {
        SsdStreamCounters n = count(r, s);

        of_units += n.host_units + n.padded_units + n.copied_units;
        of_streams += nand_bytes(r, s);
    }
    g_assert_cmpint(nand_bytes(r, r->info->nstreams) > 0, ==, c->none);
    g_assert_cmpint(of_streams > of_units << r->ssd->unit_shift, ==, c->extra);
    ref_free(r);
}

static void test_nand_bytes(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(nand_cases); i++) {
        nand_case(&nand_cases[i]);
    }
}

/* Two streams that write the same, page by page, on a drive with parity: each
 * pays for its own. */
static void test_nand_bytes_of_parity(void)
{
    enum { PAGES = 6 * 3 }; /* rows of three pages and one of parity */
    Ref *r = drive(SPARE "nand.blocks=100;streams.max=2;" PARITY);

    for (uint32_t i = 0; i < PAGES; i++) {
        put(r, 1, i * PAGE_UNITS, PAGE_UNITS);
        put(r, 2, 1000 + i * PAGE_UNITS, PAGE_UNITS);
    }
    settle(r);
    for (uint32_t s = 1; s <= 2; s++) {
        g_assert_cmpuint(nand_bytes(r, s), ==, PAGES / 3 * 4 * 16384);
    }
    g_assert_cmpuint(nand_bytes(r, 0), ==, 0);
    ref_free(r);
}

/* Every stream is opened, in every plane, and left; then the host fills the
 * drive by another one, over and over. */
static void hostile(const char *options)
{
    Ref *r = drive(options);
    uint32_t n = r->info->nstreams;
    Prng rng;

    prng_seed(&rng, 5, 5);
    for (uint32_t s = 1; s < n; s++) {
        put(r, (uint16_t)s, s * 4 * PAGE_UNITS, 4 * PAGE_UNITS);
        settle(r); /* no plane is busy with another stream's */
    }
    for (uint32_t s = 1; s < n; s++) {
        g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, s), ==, 4);
    }
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        put(r, 0, lpn, 1);
    }
    for (uint64_t i = 0; i < 6 * r->n_units; i++) {
        put(r, 0, prng_below(&rng, r->n_units), 1);
    }
    settle(r);
    g_assert_cmpuint(count(r, 0).host_bytes_written, >=,
                     7 * r->n_units * 4096);
    g_assert_false(ssd_read_only(r->ssd));
    ref_free(r);
}

static void test_hostile(void)
{
    /* About the least over-provisioning that each may have. */
    hostile("nand.blocks=100;ftl.op_percent=132%;streams.max=8");
    hostile("ftl.op_percent=40%;streams.max=8;streams.gc=merge");
    hostile("nand.blocks=100;ftl.op_percent=132%;fdp.ruhs=9");
}

/* The same unit in every stream in turn, each of which is closed at once. */
static void test_close_and_close(void)
{
    Ref *r = drive("ftl.op_percent=70%;streams.max=2");

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        put(r, 0, lpn, 1);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        put(r, 1 + i % 2, i * 7 % r->n_units, 1);
        if (i % 16 == 0) {
            ssd_stream_close(r->ssd, r->now_ns, 1 + i % 2);
        }
    }
    settle(r);
    ref_free(r);
}

/* A buffer that is smaller than a page of each stream still drains. */
static void test_small_buffer(void)
{
    Ref *r = drive("nand.blocks=100;ftl.op_percent=132%;streams.max=8;"
                   "buffer.size=32KiB");

    for (uint32_t i = 0; i < 3000; i++) {
        put(r, i % 9, i, 1);
    }
    g_assert_cmpuint(count(r, 3).padded_units, >, 0);
    settle(r);
    ref_free(r);
}

/* ---- planes in step ------------------------------------------------------ */

/* 4 dies of 2 planes. */
#define DIES   "nand.planes=2;nand.multi_plane=on;" SPARE
#define PLANES 8

/* Pages of n streams by turns, `each` of every stream, from lpn on. */
static void by_turns(Ref *r, uint32_t n, uint32_t each, uint64_t lpn)
{
    for (uint32_t i = 0; i < each * n; i++) {
        put(r, i % n, lpn + i * PAGE_UNITS, PAGE_UNITS);
    }
    settle(r);
}

static uint64_t host_programs(const Ref *r)
{
    return nand_stats(r->ssd->nand)->ops[NAND_PROGRAM][NAND_CAUSE_HOST];
}

static uint64_t joined(const Ref *r)
{
    return nand_stats(r->ssd->nand)->joined[NAND_PROGRAM];
}

/* How long 512 pages take that n streams write by turns: each has 512 / n / 8 in
 * every plane, and all go by two. */
static uint64_t time_of(const char *alloc, uint32_t n)
{
    g_autofree char *options = g_strdup_printf("%sftl.alloc=%s;streams.max=%u",
                                               DIES "nand.blocks=100;", alloc,
                                               n - 1);
    Ref *r = drive(options);
    uint64_t took;

    by_turns(r, n, 512 / n, 0);
    took = r->now_ns;
    g_assert_cmpuint(host_programs(r), ==, 512);
    if (n > 1) {
        g_assert_cmpuint(joined(r), ==, 512);
        g_assert_cmpuint(r->info->program_bytes, ==, 2 * 16384);
    }
    ref_free(r);
    return took;
}

/* Streams do not cost a drive its multi-plane programs. */
static void test_in_step(void)
{
    static const char *const alloc[] = {"stripe", "in-order"};

    for (unsigned i = 0; i < G_N_ELEMENTS(alloc); i++) {
        uint64_t alone = time_of(alloc[i], 1);

        for (uint32_t n = 2; n <= 8; n *= 2) {
            uint64_t took = time_of(alloc[i], n);

            g_test_message("%s, %u streams: %.3f of the time of one", alloc[i],
                           n, (double)took / (double)alone);
            g_assert_cmpuint(took * 10, <, alone * 11);
        }
    }
}

/* A block that fails leaves its plane behind; it catches up. */
static void test_catch_up(void)
{
    g_autofree char *path =
        ref_faults_file("on=program die=1 plane=1 nth=9 -> fail once\n");
    g_autofree char *options = g_strconcat(DIES "streams.max=1;faults=", path,
                                           NULL);
    Ref *r = drive(options);
    uint64_t programs, pairs;

    g_remove(path);
    r->faults = true;
    by_turns(r, 2, 16 * PLANES, 0);
    g_assert_cmpuint(nand_stats(r->ssd->nand)->program_failures, ==, 1);
    g_assert_cmpuint(joined(r), <, host_programs(r));
    programs = host_programs(r);
    pairs = joined(r);
    by_turns(r, 2, 16 * PLANES, 4000);
    g_assert_cmpuint(host_programs(r) - programs, ==, 2 * 16 * PLANES);
    /* But for half a row, at the beginning and at the end. */
    g_assert_cmpuint(joined(r) - pairs, >=, 2 * 16 * PLANES - 2);
    ref_free(r);
}

/* Erase blocks that hold the units. */
static uint32_t blocks_of(const Ref *r, uint64_t lpn, uint64_t n)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

    for (uint64_t i = lpn; i < lpn + n; i++) {
        SsdPlace p;

        ssd_place(r->ssd, i * UNIT, &p);
        g_assert_true(p.in_nand);
        g_hash_table_add(seen, GUINT_TO_POINTER(p.erase_block));
    }
    return g_hash_table_size(seen);
}

/* Writes of a handle fill one reclaim unit after another, whatever the others
 * write meanwhile, and the room of the present one is told to the unit. */
static void reclaim_units(const char *options)
{
    g_autofree char *all = g_strconcat(SPARE "nand.planes=2;fdp.ruhs=3;"
                                             "ftl.alloc=in-order;",
                                       options, NULL);
    Ref *r = drive(all);
    uint64_t size = r->info->reclaim_bytes;
    uint64_t units = size / 4096;
    uint64_t other = 3 * units;

    g_assert_cmpuint(size, ==, PLANES * 16 * 16384);
    for (uint64_t i = 0; i < 3 * units; i++) {
        put(r, 1, i, 1);
        ref_drain(r);
        g_assert_cmpuint(ssd_stream_room(r->ssd, 1), ==,
                         size - (i + 1) % units * 4096);
        put(r, i % 3 ? 2 : 0, other++, 1 + i % 2);
        other += i % 2;
    }
    settle(r);
    g_assert_cmpuint(ssd_stream_room(r->ssd, 1), ==, size);
    g_assert_cmpuint(ssd_stream_open_blocks(r->ssd, 1), ==, 0);
    g_assert_cmpuint(count(r, 1).padded_units, ==, 0);
    for (uint64_t i = 0; i < 3; i++) {
        g_assert_cmpuint(blocks_of(r, i * units, units), ==, PLANES);
    }
    g_assert_cmpuint(blocks_of(r, 0, 3 * units), ==, 3 * PLANES);
    ref_free(r);
}

static void test_reclaim_units(void)
{
    reclaim_units("");
    reclaim_units("nand.multi_plane=on");
    reclaim_units("ftl.stripe=pdwc");
}

/* ---- refusals ------------------------------------------------------ */

static void refuse(const char *options, const char *says)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    g_assert_true(ssd_config_set(cfg, DRIVE, NULL));
    g_assert_true(ssd_config_set(cfg, options, NULL));
    g_assert_false(ssd_config_check(cfg, &error));
    if (!strstr(error->message, says)) {
        g_error("\"%s\" should say \"%s\"", error->message, says);
    }
    g_clear_error(&error);
    ssd_config_free(cfg);
}

static void test_refused(void)
{
    Ref *r = drive(SPARE "streams.max=3");
    SsdCmd c = {.op = SSD_OP_WRITE, .nblocks = UNIT, .stream = 4, .version = 1};

    g_assert_cmpint(ssd_submit(r->ssd, r->now_ns, &c), ==, -EINVAL);
    g_assert_cmpuint(count(r, 0).host_bytes_written, ==, 0);
    ref_free(r);
    refuse("ftl.op_percent=30%;streams.max=4", "streams.max=4: needs 32 spare");
    refuse("ftl.op_percent=30%;streams.max=4", "or streams.gc=merge");
    refuse("ftl.op_percent=30%;fdp.ruhs=8", "fdp.ruhs=8: needs 50 spare");
    refuse("ftl.op_percent=90%;fdp.ruhs=2;streams.max=2", "streams.max=0");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/streams/apart", test_apart);
    g_test_add_func("/streams/rewrite", test_rewrite);
    g_test_add_func("/streams/close", test_close);
    g_test_add_func("/streams/close-buffered", test_close_buffered);
    g_test_add_func("/streams/handle-moves", test_handle_moves);
    g_test_add_func("/streams/handle-moves-late", test_handle_moves_late);
    g_test_add_func("/streams/handles-move-at-once", test_handles_move_at_once);
    g_test_add_func("/streams/handle-moves-fails", test_handle_moves_fails);
    g_test_add_func("/streams/room", test_room);
    g_test_add_func("/streams/cleaning", test_cleaning);
    g_test_add_func("/streams/sums", test_sums);
    g_test_add_func("/streams/nand-bytes", test_nand_bytes);
    g_test_add_func("/streams/nand-bytes/parity", test_nand_bytes_of_parity);
    g_test_add_func("/streams/hostile", test_hostile);
    g_test_add_func("/streams/close-and-close", test_close_and_close);
    g_test_add_func("/streams/small-buffer", test_small_buffer);
    g_test_add_func("/streams/in-step", test_in_step);
    g_test_add_func("/streams/catch-up", test_catch_up);
    g_test_add_func("/streams/reclaim-units", test_reclaim_units);
    g_test_add_func("/streams/refused", test_refused);
    return g_test_run();
}
