/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-slow.c - the slowest command of each interval between two pictures:
 * where its time went, and what it waited for.
 *
 * A command's parts are reads of pages.  Of the part that waited longest for
 * its die, the operation that it waited for is the last one that ended on the
 * die before it; if none ended while it waited, it suspended one.
 */
#include "inspect/live-slow.h"

#include <string.h>

#include "inspect/oplog.h"
#include "ssd-internal.h"

/* What an operation waits for. */
typedef enum LiveWait {
    WAIT_NOTHING,
    WAIT_SUSPEND, /* until an operation is suspended */
    WAIT_FIRST,   /* from here on: cause * NAND_N_KINDS + kind */
    N_LIVE_WAITS = WAIT_FIRST + NAND_N_CAUSES * NAND_N_KINDS,
} LiveWait;

/* Operations of a die that ended together. */
typedef struct Ended {
    uint64_t at_ps;
    uint64_t group; /* NandOp.group */
    uint8_t wait;   /* LiveWait of who waited for it */
} Ended;

/* The longest wait of a command for a die. */
typedef struct PartWait {
    uint64_t serial; /* of the command; 0: none */
    uint64_t ps;
    uint16_t die;
    uint8_t wait;
} PartWait;

struct LiveSlow {
    const Ssd *ssd;
    uint64_t past_ns; /* by which the clock was set back */
    bool any;         /* a command has ended in this interval */
    LiveSlowCmd slowest;
    uint64_t n;
    LiveSlowCmd kept[LIVE_SLOW_KEPT];
    PartWait *part; /* by command */
    uint32_t n_parts;
    Ended (*ended)[2]; /* by die: the last ones, and those before them */
};

LiveSlow *live_slow_new(const Ssd *ssd)
{
    LiveSlow *s = g_new0(LiveSlow, 1);

    s->ssd = ssd;
    s->ended = g_malloc0_n(ssd->geo->n_dies, sizeof(*s->ended));
    return s;
}

void live_slow_free(LiveSlow *s)
{
    g_free(s->ended);
    g_free(s->part);
    g_free(s);
}

void live_slow_begin(LiveSlow *s)
{
    s->any = false;
    memset(s->part, 0, s->n_parts * sizeof(*s->part));
    memset(s->ended, 0, s->ssd->geo->n_dies * sizeof(*s->ended));
}

void live_slow_rebase(LiveSlow *s, uint64_t by_ps)
{
    s->past_ns += by_ps / PS_PER_NS;
    live_slow_begin(s);
}

/* ---- operations ---------------------------------------------------------- */

const char *live_wait_name(unsigned i)
{
    static const char *const names[] = {[WAIT_NOTHING] = "",
                                        [WAIT_SUSPEND] = "suspend",
#define WAIT_NAMES(upper, lower)                                               \
    [WAIT_FIRST + NAND_CAUSE_##upper * NAND_N_KINDS +                          \
        NAND_READ] = #lower " read",                                           \
        [WAIT_FIRST + NAND_CAUSE_##upper * NAND_N_KINDS + NAND_PROGRAM] =      \
            #lower " program",                                                 \
        [WAIT_FIRST + NAND_CAUSE_##upper * NAND_N_KINDS + NAND_ERASE] =        \
            #lower " erase",                                                   \
        [WAIT_FIRST + NAND_CAUSE_##upper * NAND_N_KINDS + NAND_COPYBACK] =     \
            #lower " copyback",
                                        NAND_CAUSES(WAIT_NAMES)
#undef WAIT_NAMES
    };

    G_STATIC_ASSERT(G_N_ELEMENTS(names) == N_LIVE_WAITS);
    return i < N_LIVE_WAITS ? names[i] : NULL;
}

/* What was before the operation, which has ended, on its die. */
static LiveWait before(const LiveSlow *s, const NandOp *op)
{
    const Ended *e = s->ended[op->die];

    if (e[0].group == op->group) {
        e++;
    }
    if (op->time_ps[NAND_TIME_DIE_WAIT] == 0) {
        return WAIT_NOTHING;
    }
    return e->at_ps > op->submit_ps ? (LiveWait)e->wait : WAIT_SUSPEND;
}

static void note_end(LiveSlow *s, const NandOp *op, uint64_t now_ps)
{
    Ended *e = s->ended[op->die];

    if (e[0].group != op->group) {
        e[1] = e[0];
    }
    e[0] = (Ended){
        .at_ps = now_ps,
        .group = op->group,
        .wait = (uint8_t)(WAIT_FIRST + op->cause * NAND_N_KINDS + op->kind),
    };
}

static PartWait *part_of(LiveSlow *s, uint32_t cmd)
{
    uint32_t n = s->ssd->commands.n_cmds;

    if (n > s->n_parts) {
        s->part = g_renew(PartWait, s->part, n);
        memset(s->part + s->n_parts, 0, (n - s->n_parts) * sizeof(*s->part));
        s->n_parts = n;
    }
    return &s->part[cmd];
}

void live_slow_op(LiveSlow *s, const NandOp *op, uint64_t now_ps)
{
    uint32_t cmd = oplog_command(s->ssd, op);

    if (cmd != NONE) {
        PartWait *p = part_of(s, cmd);
        uint64_t serial = s->ssd->commands.cmd[cmd].serial;
        uint64_t ps = op->time_ps[NAND_TIME_DIE_WAIT];

        if (p->serial != serial || ps > p->ps) {
            *p = (PartWait){
                .serial = serial,
                .ps = ps,
                .die = (uint16_t)op->die,
                .wait = (uint8_t)before(s, op),
            };
        }
    }
    note_end(s, op, now_ps);
}

/* ---- commands ------------------------------------------------------------ */

static void keep_costs(LiveSlowCmd *to, const Cmd *c)
{
    for (unsigned i = 0; i < N_COSTS; i++) {
        to->cost_ns[i] = (uint32_t)MIN(c->cost_ps[i] / PS_PER_NS, UINT32_MAX);
    }
}

static void keep_part(LiveSlow *s, LiveSlowCmd *to, const Cmd *c)
{
    const PartWait *p = part_of(s, (uint32_t)(c - s->ssd->commands.cmd));

    to->die = p->serial == c->serial ? p->die : LIVE_NO_DIE;
    to->waited_for = p->serial == c->serial ? p->wait : WAIT_NOTHING;
}

void live_slow_cmd(LiveSlow *s, const Cmd *c)
{
    const Ssd *ssd = s->ssd;
    uint64_t latency_ns = sim_ceil_ns(c->complete_ps - c->submit_ps);
    bool has_range = c->req.op < SSD_OP_FLUSH;
    uint64_t bytes = (uint64_t)c->req.nblocks * ssd->info.block_bytes;

    if (s->any && latency_ns <= s->slowest.latency_ns) {
        return;
    }
    s->any = true;
    s->slowest = (LiveSlowCmd){
        .start_ns = s->past_ns + c->submit_ps / PS_PER_NS,
        .latency_ns = latency_ns,
        .unit = has_range ? c->req.lba >> ssd->block_shift : 0,
        .bytes = has_range ? (uint32_t)MIN(bytes, UINT32_MAX) : 0,
        .op = (uint8_t)c->req.op,
    };
    keep_costs(&s->slowest, c);
    keep_part(s, &s->slowest, c);
}

uint64_t live_slow_take(LiveSlow *s)
{
    if (s->any) {
        s->kept[s->n++ % LIVE_SLOW_KEPT] = s->slowest;
        s->any = false;
    }
    return s->n;
}

const LiveSlowCmd *live_slow_at(const LiveSlow *s, unsigned i)
{
    return &s->kept[i];
}
