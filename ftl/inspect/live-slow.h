/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-slow.h - the slow commands of a live view, and the hooks of those who
 * report to it.
 *
 * A drive whose pictures nobody wants pays one branch at each hook.
 */
#ifndef VSSD_FTL_INSPECT_LIVE_SLOW_H
#define VSSD_FTL_INSPECT_LIVE_SLOW_H

#include "commands-internal.h"
#include "nand.h"

typedef struct LiveSlow LiveSlow;

/* ---- reports of ftl/; s is NULL while nobody wants pictures -------------- */

/* The command has completed. */
void live_slow_cmd(LiveSlow *s, const Cmd *c);

static inline void live_note_cmd(LiveSlow *s, const Cmd *c)
{
    if (G_UNLIKELY(s)) {
        live_slow_cmd(s, c);
    }
}

/* The operation has ended; its owner has not heard of it yet. */
void live_slow_op(LiveSlow *s, const NandOp *op, uint64_t now_ps);

static inline void live_note_op(LiveSlow *s, const NandOp *op, uint64_t now_ps)
{
    if (G_UNLIKELY(s)) {
        live_slow_op(s, op, now_ps);
    }
}

/* ---- for the files of live views ----------------------------------------- */

#define LIVE_SLOW_KEPT 64

/* A slow command.  waited_for: live_wait_name(). */
typedef struct LiveSlowCmd {
    uint64_t start_ns; /* on the clock as it was never set back */
    uint64_t latency_ns;
    uint64_t unit;
    uint32_t bytes;
    uint32_t cost_ns[N_COSTS]; /* 4.29 s at most */
    uint16_t die; /* where its part waited longest, or LIVE_NO_DIE */
    uint8_t op;   /* SsdOp */
    uint8_t waited_for;
} LiveSlowCmd;

#define LIVE_NO_DIE UINT16_MAX

LiveSlow *live_slow_new(const Ssd *ssd);
void live_slow_free(LiveSlow *s);

/* All instants become earlier. */
void live_slow_rebase(LiveSlow *s, uint64_t by_ps);

/* Forget what is under way: nobody has reported for a while. */
void live_slow_begin(LiveSlow *s);

/* The interval ends: its slowest command, if one ended, is kept.  How many
 * there have been; the newest is kept at (that - 1) % LIVE_SLOW_KEPT. */
uint64_t live_slow_take(LiveSlow *s);
const LiveSlowCmd *live_slow_at(const LiveSlow *s, unsigned i);

/* What an operation may wait for; NULL past the last.  0: nothing. */
const char *live_wait_name(unsigned i);

#endif
