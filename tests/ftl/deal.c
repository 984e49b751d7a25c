/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deal.c - where consecutive units are with nand.one_shot, and the time of a
 * read of several of them.
 *
 * Times are those of ref-times.h.  A drive has eight dies of two planes; a word
 * line has three pages of a plane, a page four units.
 */
#include "buffer/buffer-internal.h"
#include "placement/placement-internal.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-internal.h"

#define DIES   8U
#define PLANES 2U
#define PAGE   4U /* units */
#define WINDOW (DIES * PLANES * 3 * PAGE)

#define DRIVE                                                                  \
    "nand.channels=8;nand.planes=2;nand.multi_plane=on;nand.cell=tlc;"         \
    "nand.one_shot=on;nand.blocks=32;nand.pages=24;buffer.size=2MiB;"
#define ROWS "superblock.row=die;superblock.row_wait=1s;"

/* The place of a unit: die, plane of the die, page of the word line, unit. */
typedef struct Place {
    uint32_t die, plane, page, unit;
} Place;

static Place place_of(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);
    uint64_t ppu = entry - 1;
    uint32_t plane = block_plane(ssd, ppu_block(ssd, ppu));

    g_assert_cmpuint(entry, >, 0);
    g_assert_false(map_is_buffered(entry));
    return (Place){
        .die = plane / PLANES,
        .plane = plane % PLANES,
        .page = (uint32_t)(ppu_page(ssd, ppu) % 3),
        .unit = (uint32_t)(ppu % PAGE),
    };
}

static void check_dies_first(const Ssd *ssd, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        Place p = place_of(ssd, first + i);
        uint64_t page = i / PAGE % (WINDOW / PAGE);

        g_assert_cmpuint(p.unit, ==, i % PAGE);
        g_assert_cmpuint(p.die, ==, page % DIES);
        g_assert_cmpuint(p.plane, ==, page / DIES % PLANES);
        g_assert_cmpuint(p.page, ==, page / DIES / PLANES);
    }
}

static void write_units(Ref *r, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        ref_one(r, SSD_OP_WRITE, i * UNIT, 8 * UNIT, false);
    }
    ref_pass(r, 20 * NS_PER_MS);
}

/* Page n is on die n mod 8; the second plane follows when all dies have a page,
 * then the next page of the word lines. */
static void test_layout(void)
{
    static const char *const rows[] = {
        DRIVE ROWS "buffer.plp=on",
        DRIVE "buffer.plp=on",
        DRIVE "buffer.plp=on;superblock.row=drive;superblock.row_wait=1s",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Ref *r = ref_new(ref_config(rows[i]), false);

        write_units(r, 2 * WINDOW);
        check_dies_first(r->ssd, 0, 2 * WINDOW);
        ref_verify(r);
        ref_free(r);
    }
}

/* Units of two files that arrive in turns are consecutive, too; those of random
 * writes stay in the order in which they came, 24 on a die. */
static void test_order(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), false);

    for (uint64_t i = 0; i < WINDOW; i++) {
        ref_one(r, SSD_OP_WRITE, (i / 2 + i % 2 * WINDOW) * UNIT, UNIT, false);
    }
    ref_pass(r, 20 * NS_PER_MS);
    for (uint64_t i = 0; i < WINDOW; i++) {
        Place p = place_of(r->ssd, i / 2 + i % 2 * WINDOW);

        g_assert_cmpuint(p.die, ==, i / PAGE % DIES);
    }
    ref_free(r);
    r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), false);
    for (uint64_t i = 0; i < WINDOW; i++) {
        ref_one(r, SSD_OP_WRITE, i * 7 % 1024 * UNIT, UNIT, false);
    }
    ref_pass(r, 20 * NS_PER_MS);
    for (uint64_t i = 0; i < WINDOW; i++) {
        g_assert_cmpuint(place_of(r->ssd, i * 7 % 1024).die, ==, i / 24);
    }
    ref_free(r);
}

/* The planes of a die come first if ftl.stripe says so. */
static void test_planes_first(void)
{
    Ref *r =
        ref_new(ref_config(DRIVE ROWS "buffer.plp=on;ftl.stripe=pcwd"), false);

    write_units(r, WINDOW);
    for (uint64_t i = 0; i < WINDOW; i++) {
        Place p = place_of(r->ssd, i);

        g_assert_cmpuint(p.plane, ==, i / PAGE % PLANES);
        g_assert_cmpuint(p.die, ==, i / PAGE / PLANES % DIES);
    }
    ref_free(r);
}

/* A drive with capacitors waits for units for all dies, but not longer than
 * superblock.row_wait, nor after a flush.  One without fills a row when it has
 * the units. */
static void test_waits(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), false);

    write_units(r, WINDOW - 8);
    g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, WINDOW - 8);
    ref_pass(r, 1000 * NS_PER_MS);
    g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, 0);
    ref_free(r);
    r = ref_new(ref_config(DRIVE ROWS), false);
    write_units(r, WINDOW / DIES);
    g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, 0);
    ref_free(r);
}

/* A write over units that have been dealt out changes nothing for the rest. */
static void test_overwritten(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), true);

    for (uint64_t i = 0; i < 4 * WINDOW; i++) {
        ref_one(r, SSD_OP_WRITE, i % (WINDOW + 5) * UNIT, UNIT, false);
        if (i % 7 == 0) {
            ref_one(r, SSD_OP_TRIM, (i + 3) % WINDOW * UNIT, UNIT, false);
        }
    }
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_finish(r);
    ref_free(r);
}

/* A unit that the host waits for is none of those dealt out, yet is counted as
 * one that has left them: it was fresh until the command waited. */
static void test_forced(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS), false);
    const StreamQueue *q = &r->ssd->placement->stream[0].queue;
    uint32_t dealt;

    for (uint64_t i = 0; q->n_dealt == 0; i += 8) {
        g_assert_cmpuint(i, <, 8 * WINDOW);
        ref_one(r, SSD_OP_WRITE, i * UNIT, 8 * UNIT, false);
    }
    dealt = q->n_dealt;
    g_assert_cmpint(ref_submit(r, SSD_OP_WRITE, 9 * WINDOW * UNIT, UNIT, true),
                    ==, 0);
    while (q->due.n == 0) {
        ref_pass(r, 1000);
    }
    g_assert_cmpuint(q->n_dealt, ==, dealt - 1);
    ref_drain(r);
    ref_free(r);
}

/* A preloaded drive is laid out alike, and its end in order. */
static void test_preload(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), false);
    uint64_t n = 2 * WINDOW + WINDOW / DIES + 3;

    g_assert_cmpint(ssd_preload(r->ssd, 0, n * UNIT), ==, 0);
    check_dies_first(r->ssd, 0, 2 * WINDOW);
    for (uint64_t i = 2 * WINDOW; i < n; i++) {
        place_of(r->ssd, i);
    }
    ref_free(r);
}

/* 128 KiB at depth 1: a page of each die at the same time, then the host's
 * link. If a word line held consecutive units, 24 of them would be on one die.
 */
static void test_read(void)
{
    Ref *r = ref_new(ref_config(DRIVE ROWS "buffer.plp=on"), false);
    SsdCompletion c;

    write_units(r, WINDOW);
    for (uint64_t i = 0; i < WINDOW / 32; i++) {
        c = ref_one(r, SSD_OP_READ, i * 32 * UNIT, 32 * UNIT, false);
        g_assert_cmpuint(latency(&c), ==, F + C + TR + X + 32 * L);
    }
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deal/layout", test_layout);
    g_test_add_func("/deal/order", test_order);
    g_test_add_func("/deal/planes-first", test_planes_first);
    g_test_add_func("/deal/waits", test_waits);
    g_test_add_func("/deal/overwritten", test_overwritten);
    g_test_add_func("/deal/forced", test_forced);
    g_test_add_func("/deal/preload", test_preload);
    g_test_add_func("/deal/read", test_read);
    return g_test_run();
}
