/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-hold.c - nand.gc_hold against closed forms, worked out by hand and exact
 * to the nanosecond.
 *
 * Times are those of rig-features.h.  Planes 0, 1 and planes 2, 3 are the two
 * chips of channel 0, planes 4 to 7 those of channel 1.
 */
#include "rig-features.h"

#define HOLD "nand.lock=chip;nand.gc_hold=on"

/* A read for GC and its program, in one plane. */
static void copy(Rig *r, uint32_t plane)
{
    rig_preload(r, plane, 0, 1);
    submit_as(r, 0, NAND_READ, NAND_CAUSE_GC, rig_page(r, plane, 0, 0), 0);
    submit_as(r, 0, NAND_PROGRAM, NAND_CAUSE_GC, rig_page(r, plane, 1, 0), 0);
}

#define COPY ((C + TR + X) + (C + X + TPROG))

/* The host's read of another chip waits for the channel, until GC has done the
 * last of its operations; one on another channel does not wait. */
static void test_channel(void)
{
    static const struct {
        const char *options;
        bool held;
    } kind[] = {{HOLD, true}, {"nand.lock=chip;nand.gc_hold=off", false}};

    for (size_t i = 0; i < G_N_ELEMENTS(kind); i++) {
        Rig *r = rig_with(kind[i].options);
        uint64_t alone = C + TR + X;

        r->check = true;
        copy(r, 0);
        rig_preload(r, 2, 0, 1);
        rig_preload(r, 4, 0, 1);
        g_assert_true(nand_held_by_other(r->nand, 2) == kind[i].held);
        g_assert_false(nand_held_by_other(r->nand, 0));
        g_assert_false(nand_held_by_other(r->nand, 4));
        rig_submit(r, 0, NAND_READ, rig_page(r, 2, 0, 0), PAGE);
        rig_submit(r, 0, NAND_READ, rig_page(r, 4, 0, 0), PAGE);
        rig_run_all(r);
        expect_done(r, NAND_PROGRAM, rig_page(r, 0, 1, 0),
                    kind[i].held ? COPY : COPY + X);
        expect_done(r, NAND_READ, rig_page(r, 4, 0, 0), alone);
        if (kind[i].held) {
            expect_done(r, NAND_READ, rig_page(r, 2, 0, 0), COPY + alone);
        }
        g_assert_false(nand_held_by_other(r->nand, 2));
        finish(r);
    }
}

/* In its own chip, too, GC goes before what has waited for longer; but the
 * host's read of a block goes before its erase. */
static void test_chip(void)
{
    Rig *r = rig_with(HOLD);
    uint64_t begin = busy_die(r);

    r->check = true;
    rig_preload(r, 0, 3, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 1, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 3, 0), PAGE);
    submit_as(r, 0, NAND_ERASE, NAND_CAUSE_GC, rig_page(r, 0, 3, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 3, 0), begin + C + TR + X);
    expect_done(r, NAND_ERASE, rig_page(r, 0, 3, 0),
                begin + (C + TR + X) + (C + TBERS));
    expect_done(r, NAND_PROGRAM, rig_page(r, 1, 0, 0),
                begin + (C + TR + X) + (C + TBERS) + (C + X + TPROG));
    finish(r);
}

/* GC of two planes has the channel in turn, and then the host. */
static void test_planes(void)
{
    Rig *r = rig_with(HOLD);

    r->check = true;
    copy(r, 0);
    rig_preload(r, 1, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    copy(r, 2);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 1, 0), COPY);
    expect_done(r, NAND_PROGRAM, rig_page(r, 2, 1, 0), 2 * COPY);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), 2 * COPY + C + TR + X);
    finish(r);
}

/* The host's programs do not join a command of GC. */
static void test_alone(void)
{
    Rig *r = rig_with(HOLD ";nand.dies=2;nand.composite=on");
    uint64_t begin = busy_die(r);
    uint64_t gc = begin + C + X + TPROG;

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    submit_as(r, 0, NAND_PROGRAM, NAND_CAUSE_GC, rig_page(r, 0, 0, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), gc);
    expect_done(r, NAND_PROGRAM, rig_page(r, 2, 0, 0), gc + C + X + TPROG);
    finish(r);
}

static void test_refused(void)
{
    rig_refused("nand.gc_hold=on", "nand.gc_hold=on: needs nand.lock=chip");
    rig_refused(HOLD ";nand.suspend=both",
                "nand.gc_hold=on: needs nand.suspend");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hold/channel", test_channel);
    g_test_add_func("/hold/chip", test_chip);
    g_test_add_func("/hold/planes", test_planes);
    g_test_add_func("/hold/alone", test_alone);
    g_test_add_func("/hold/refused", test_refused);
    return g_test_run();
}
