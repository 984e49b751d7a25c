/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-ledger.h - the possible contents of each logical block.
 *
 * A write puts a stamp into each of its blocks; 0 is a block of zeroes, by
 * Write Zeroes or Deallocate.  The ledger knows when a write was submitted and
 * when it ended, and nothing of how a drive works: of writes in flight together
 * any may be the last; one that failed may have been done, in part or not at
 * all; data that was not flushed may be lost after a power cut. All other
 * contents are wrong.
 *
 * Time is a count of submissions and completions, kept here.
 */
#ifndef VSSD_TESTS_NVME_LEDGER_H
#define VSSD_TESTS_NVME_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_MOST_BLOCKS 8192

/* In place of a stamp: the block is uncorrectable, and so cannot be read. */
#define LEDGER_MARK UINT64_MAX

/* Blocks 0..n-1, all zeroes. */
void ledger_init(uint32_t n);

/* Before anything else: the block holds the stamp. */
void ledger_preload(uint32_t lba, uint64_t stamp);

/* A command is submitted, or ends: now. */
uint32_t ledger_tick(void);

/* stamp + i goes to block lba + i; zeroes if stamp is 0.  at: ledger_tick(). */
void ledger_write(uint32_t lba, uint32_t n, uint64_t stamp, uint32_t at);

/* That write has ended.  ok: with success; durable: and with FUA. */
void ledger_written(uint32_t lba, uint32_t n, uint64_t stamp, uint32_t at,
                    bool ok, bool durable);

/* A Flush that was submitted at `at` has ended with success. */
void ledger_flushed(uint32_t at);

/* A read that was submitted at `at` has found the stamp: may it? */
bool ledger_read(uint32_t lba, uint64_t stamp, uint32_t at);

/* The same, and nothing follows from it. */
bool ledger_may_read(uint32_t lba, uint64_t stamp, uint32_t at);

/* Nothing is in flight: is there only one stamp that it may read as? */
bool ledger_sure(uint32_t lba, uint64_t *stamp);

/* A stamp that it may read as, for a comparison. */
uint64_t ledger_newest(uint32_t lba);

/* The power has gone: all that was in flight has ended before. */
void ledger_cut(void);

/* One line on a block, for a message (g_free). */
char *ledger_explain(uint32_t lba);

#endif
