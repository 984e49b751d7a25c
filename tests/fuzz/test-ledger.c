/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-ledger.c - which contents the fuzzer's ledger permits, and what it
 * concludes from a read.
 */
#include <glib.h>

#include "nvme-ledger.h"

#define LBA 1
#define OLD 0x1000000
#define NEW 0x2000000

static void begin(void)
{
    ledger_init(LBA + 1);
    ledger_preload(LBA, OLD);
}

/* A write of the block is submitted: when. */
static uint32_t submit(uint64_t stamp)
{
    uint32_t at = ledger_tick();

    ledger_write(LBA, 1, stamp, at);
    return at;
}

static void end(uint64_t stamp, uint32_t at, bool ok)
{
    ledger_written(LBA, 1, stamp, at, ok, false);
}

/* A read that begins and ends now. */
static bool may_find(uint64_t stamp)
{
    return ledger_read(LBA, stamp, ledger_tick());
}

static void test_replaced(void)
{
    begin();
    g_assert_true(may_find(OLD));
    g_assert_false(may_find(NEW));
    end(NEW, submit(NEW), true);
    g_assert_false(may_find(OLD));
    g_assert_true(may_find(NEW));
    ledger_cut(); /* it was not flushed */
    g_assert_true(may_find(OLD));
}

/* A write that failed has been done or not; a read tells, once and for all. */
static void test_failed(void)
{
    begin();
    end(NEW, submit(NEW), false);
    g_assert_true(ledger_may_read(LBA, OLD, ledger_tick()));
    g_assert_true(may_find(NEW));
    g_assert_false(may_find(OLD));
    g_assert_true(may_find(NEW));
}

/* Data of a write in flight may be found, and be gone once that has failed. */
static void test_in_flight(void)
{
    uint32_t at;

    begin();
    at = submit(NEW);
    g_assert_true(may_find(NEW));
    end(NEW, at, false);
    g_assert_true(may_find(OLD));
    g_assert_false(may_find(NEW));
}

/* The same with zeroes, which also a write that ended before may have left. */
static void test_zeroes_in_flight(void)
{
    uint32_t at;

    begin();
    end(0, submit(0), false);
    at = submit(0);
    g_assert_true(may_find(0));
    end(0, at, false);
    g_assert_true(ledger_may_read(LBA, 0, ledger_tick()));
    g_assert_true(may_find(OLD));
    g_assert_false(may_find(0));
}

/* Zeroes that either of two may have left, and nothing in flight. */
static void test_zeroes_settled(void)
{
    uint64_t stamp;

    begin();
    end(0, submit(0), false);
    end(0, submit(0), false);
    g_assert_true(may_find(0));
    g_assert_false(may_find(OLD));
    g_assert_true(ledger_sure(LBA, &stamp));
    g_assert_cmphex(stamp, ==, 0);
}

/* The second zeroes are in flight together with a write, and so may be the
 * last: they may not count as replaced because the first are. */
static void test_zeroes_beside_write(void)
{
    uint32_t zeroes, write;

    begin();
    end(0, submit(0), false);
    zeroes = submit(0);
    write = submit(NEW);
    end(0, zeroes, false);
    g_assert_true(may_find(0));
    end(NEW, write, true);
    g_assert_true(may_find(0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fuzz/ledger/replaced", test_replaced);
    g_test_add_func("/fuzz/ledger/failed", test_failed);
    g_test_add_func("/fuzz/ledger/in-flight", test_in_flight);
    g_test_add_func("/fuzz/ledger/zeroes/in-flight", test_zeroes_in_flight);
    g_test_add_func("/fuzz/ledger/zeroes/settled", test_zeroes_settled);
    g_test_add_func("/fuzz/ledger/zeroes/beside-write",
                    test_zeroes_beside_write);
    return g_test_run();
}
