/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * player.c - the loop between a source of requests and the drive.
 *
 * Everything that happens per request is here: fold bytes to blocks, submit,
 * collect, measure.  Nothing is allocated on the way.
 */
#include "player.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pool.h"
#include "recorded.h"
#include "ring.h"
#include "simtime.h"
#include "workload.h"

#define DAY_NS (24ULL * 3600 * NS_PER_S)

/*
 * The drive's clock ends after 213 days (SIM_MAX_NS).  When it shows 100, all
 * instants are set back, so a run may take any time.  While a log or a trace is
 * written they cannot be, and the run ends after 200 days.
 */
#define REBASE_NS (100 * DAY_NS)
#define LAST_NS   (200 * DAY_NS)

/* Of the first rounds of a run; they become longer with it. */
#define FIRST_ROUND 64

/* Requests taken from the source ahead of time, so that the drive's tables are
 * in the cache when their turn comes; a power of two. */
#define AHEAD 16

/* A request and the same as the drive sees it. */
typedef struct Coming {
    Request req;
    SsdCmd cmd;
    bool asked; /* rules have seen it */
    bool lost;  /* one drops its completion */
} Coming;

typedef struct InFlight {
    Request req; /* at_ns by the drive's clock; or SSD_TIME_NEVER: it is free */
    bool lost;   /* a rule drops its completion */
    bool own;    /* the player's: no result counts it */
    uint32_t zone;      /* number of zoned_given() */
    uint32_t next_free; /* link of the free tags */
} InFlight;

struct Player {
    Array *array;
    Array *own; /* the array, if it is of one drive and made here; or NULL */
    const SsdInfo *info;
    PlayerConfig cfg;
    const RequestSource *source;

    unsigned block_shift; /* of info->block_bytes */
    uint64_t now_ns;
    uint64_t start_ns; /* of the run */
    uint64_t measured_ns; /* since when there are results */
    uint64_t warm_left;   /* completions that are still not to count */
    uint64_t version;  /* of the last write */

    /* first_ahead..; not a Ring of core: the look-ahead passes its end. */
    Coming ahead[AHEAD];
    uint32_t first_ahead;
    uint32_t n_ahead;
    bool source_ended;

    Coming pending; /* the next to be submitted */
    bool have_pending;
    bool blocked; /* the drive's queue is full, or a zone is busy */
    bool resets;  /* the pending write waits for the reset of its zone */
    bool ended;   /* no more will be submitted */
    bool measuring; /* not filling */
    bool none_yet;  /* no request has become pending */
    bool outside;   /* of a window; without windows, never */

    uint32_t n_in_flight;
    InFlight *in_flight; /* by tag; the free ones are a pool */
    uint32_t free_tag;   /* head of the free ones */

    /*
     * Closed loop: since when each place of iodepth that no request has taken
     * is free, oldest first.  A request arrives when its place became free,
     * though it may be taken from the source later, when the drive has room.
     */
    uint64_t *place_ns;
    Ring places; /* of place_ns; of size iodepth */

    HostRules *rules; /* of the run; or NULL */

    const PlayerSettle *settle; /* while player_settle() plays; or NULL */
    Rounds settled;             /* of the last one */
    bool reached;               /* its end */

    PlayerResult result;
};

static const struct {
    const char *name;
    const char *help;
} fills[] = {
#define PLAYER_FILL_ROW(upper, name, help) {name, help},
    PLAYER_FILLS(PLAYER_FILL_ROW)
#undef PLAYER_FILL_ROW
};

const char *player_fill_name(unsigned i)
{
    return i < PLAYER_N_FILLS ? fills[i].name : NULL;
}

const char *player_fill_help(unsigned i)
{
    return fills[i].help;
}

Player *player_new(Ssd *ssd, const PlayerConfig *cfg)
{
    Array *own = array_new(&ssd, 1, 0);
    Player *p = player_new_array(own, cfg);

    p->own = own;
    return p;
}

static IlistLinks tag_links(const Player *p)
{
    return ILIST_CHAIN(p->in_flight, InFlight, next_free);
}

Player *player_new_array(Array *array, const PlayerConfig *cfg)
{
    Player *p = g_new0(Player, 1);

    p->array = array;
    p->info = array_info(array);
    p->now_ns = array_now_ns(array);
    p->version = array_last_version(array);
    p->block_shift = (unsigned)__builtin_ctz(p->info->block_bytes);
    p->cfg = *cfg;
    p->in_flight = g_new(InFlight, p->info->queue_depth);
    p->free_tag = ILIST_NONE;
    for (uint32_t i = 0; i < p->info->queue_depth; i++) {
        pool_give(tag_links(p), &p->free_tag, i);
        p->in_flight[i].req.at_ns = SSD_TIME_NEVER;
    }
    return p;
}

void player_free(Player *p)
{
    if (p) {
        host_rules_free(p->rules);
        g_free(p->place_ns);
        g_free(p->in_flight);
        array_free(p->own);
        g_free(p);
    }
}

const PlayerResult *player_result(const Player *p)
{
    return &p->result;
}

const HostRules *player_rules(const Player *p)
{
    return p->rules;
}

/* ---- from bytes to blocks ------------------------------------------------ */

static bool beyond(Player *p, const Request *r, GError **error)
{
    g_autofree char *where = p->source->where(p->source->opaque);

    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                "%s: %" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT
                " lie beyond the drive's %" G_GUINT64_FORMAT
                " bytes (--wrap folds addresses; --set nand.blocks=... makes "
                "the drive larger)",
                where, r->nbytes, r->offset,
                p->info->nblocks * p->info->block_bytes);
    return false;
}

/* A TRIM covers only whole blocks, maybe none: parts of blocks are kept. */
static void round_inward(const Player *p, const Request *r, SsdCmd *cmd)
{
    uint64_t most = p->info->block_bytes - 1;
    uint32_t parts =
        ((r->offset & most) != 0) + (((r->offset + r->nbytes) & most) != 0);

    if (cmd->nblocks <= parts) {
        cmd->nblocks = 0;
    } else {
        cmd->nblocks -= parts;
        cmd->lba += (r->offset & most) != 0;
    }
}

/* Round outward to whole blocks, TRIMs then inward; fold addresses beyond the
 * drive, that of the request, too. */
static bool to_blocks(Player *p, Request *r, SsdCmd *cmd, GError **error)
{
    uint64_t first = r->offset >> p->block_shift;
    uint64_t within = r->offset & (p->info->block_bytes - 1);
    uint64_t n =
        (within + r->nbytes + p->info->block_bytes - 1) >> p->block_shift;

    if (n > p->info->nblocks || n > UINT32_MAX) {
        return beyond(p, r, error);
    }
    if (first > p->info->nblocks - n) {
        if (!p->cfg.wrap) {
            return beyond(p, r, error);
        }
        first %= p->info->nblocks;
        first = MIN(first, p->info->nblocks - n);
        r->offset = (first << p->block_shift) + within;
        p->result.n_wrapped += !(r->window & WINDOW_OUTSIDE);
    }
    cmd->lba = first;
    cmd->nblocks = (uint32_t)n;
    if (r->op == SSD_OP_TRIM) {
        round_inward(p, r, cmd);
    }
    return true;
}

bool player_blocks(Player *p, const RequestSource *source, const Request *r,
                   SsdCmd *cmd, GError **error)
{
    Request folded = *r;

    p->source = source;
    *cmd = (SsdCmd){.op = r->op};
    return r->nbytes == 0 || to_blocks(p, &folded, cmd, error);
}

static bool no_such_stream(Player *p, const Request *r, GError **error)
{
    g_autofree char *where = p->source->where(p->source->opaque);

    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                "%s: stream %u, but the drive has 0..%" PRIu32
                " (--set streams.max=%u; --stream-map changes streams)",
                where, r->stream, p->info->host_streams - 1, r->stream);
    return false;
}

/* ---- places of the closed loop ------------------------------------------- */

static void place_give(Player *p, uint64_t at_ns)
{
    if (p->source->iodepth) {
        p->place_ns[ring_push(&p->places)] = at_ns;
    }
}

static uint64_t place_take(Player *p)
{
    return p->place_ns[ring_pop(&p->places)];
}

/* ---- the loop ------------------------------------------------------------ */

/* Keep the ring full.  The middle of it is near enough for the second look. */
static bool look_ahead(Player *p, GError **error)
{
    while (p->n_ahead < AHEAD && !p->source_ended) {
        uint32_t last = p->first_ahead + p->n_ahead;
        Coming *c = &p->ahead[last % AHEAD];
        const SsdCmd *soon;

        switch (p->source->next(p->source->opaque, &c->req, error)) {
        case REQUEST_END:
            p->source_ended = true;
            return true;
        case REQUEST_ERROR:
            return false;
        case REQUEST_OK:
            break;
        }
        c->cmd = (SsdCmd){
            .op = c->req.op, .fua = c->req.fua, .stream = c->req.stream};
        c->asked = c->lost = false;
        if (c->req.stream >= p->info->host_streams) {
            return no_such_stream(p, &c->req, error);
        }
        if (c->req.nbytes > 0 && !to_blocks(p, &c->req, &c->cmd, error)) {
            return false;
        }
        if (c->req.act == ZONE_FINISH) {
            c->cmd.lba = c->req.offset >> p->block_shift;
        }
        array_hint(p->array, c->cmd.lba, SSD_HINT_COMES);
        soon = &p->ahead[(last + AHEAD / 2) % AHEAD].cmd;
        array_hint(p->array, soon->lba,
                   soon->op == SSD_OP_WRITE ? SSD_HINT_WRITES : SSD_HINT_READS);
        p->n_ahead++;
    }
    return true;
}

/* The pending request is the first of its window, or the first behind it. */
static void cross_edge(Player *p)
{
    SsdWritten w;

    p->outside = !p->outside;
    array_catch_up(p->array, p->now_ns);
    if (!p->outside) {
        array_reset_stats(p->array);
        array_get_written(p->array, &w);
        p->result.free_blocks = w.free_blocks;
        p->measured_ns = p->start_ns + p->pending.req.at_ns;
    } else if (p->cfg.window_ends && !p->none_yet) {
        p->cfg.window_ends(p->cfg.done_opaque);
    }
}

/* The next request becomes pending, if there is one. */
static bool fetch(Player *p, GError **error)
{
    uint64_t runtime_ns = p->source->runtime_ns;
    Coming *c = &p->pending;

    if (!look_ahead(p, error)) {
        return false;
    }
    if (p->n_ahead == 0 ||
        (runtime_ns && p->now_ns - p->start_ns >= runtime_ns)) {
        p->ended = true;
        return true;
    }
    *c = p->ahead[p->first_ahead++ % AHEAD];
    p->n_ahead--;
    if (G_UNLIKELY(p->outside != (c->req.window & WINDOW_OUTSIDE))) {
        cross_edge(p);
    }
    p->none_yet = false;
    if (p->source->iodepth) {
        c->req.at_ns = place_take(p);
    } else if (runtime_ns && c->req.at_ns >= runtime_ns) {
        p->ended = true;
        return true;
    } else {
        c->req.at_ns += p->start_ns;
    }
    p->have_pending = true;
    return true;
}

/* A scripted fault has cut the power: switch the drive on again. */
static void restore_power(Player *p)
{
    if (!array_powered(p->array)) {
        array_power_on(p->array, p->now_ns);
        p->result.n_power_cuts++;
        if (p->rules) {
            host_rules_power_lost(p->rules, p->now_ns, SSD_STATUS_POWER_LOSS);
        }
    }
}

/* 0; -EBUSY: the drive's queue is full; or the drive's error.  Writes reach the
 * drive in the order of their versions. */
static int give(Player *p, const Request *req, SsdCmd *cmd, bool lost)
{
    uint32_t tag = p->free_tag; /* taken if the drive accepts the request */
    int r;

    if (tag == ILIST_NONE) {
        return -EBUSY;
    }
    cmd->tag = tag;
    cmd->version = p->version + 1;
    r = array_submit(p->array, p->now_ns, cmd);
    if (r < 0) {
        return r;
    }
    p->version++;
    pool_take(tag_links(p), &p->free_tag);
    p->in_flight[tag].req = *req;
    p->in_flight[tag].lost = lost;
    p->in_flight[tag].own = false;
    p->in_flight[tag].zone = 0;
    p->n_in_flight++;
    return 0;
}

/* ---- zones --------------------------------------------------------------- */

/* -EBUSY: it waits; -EPERM: a rule of zones, in why. */
static int give_to_zone(Player *p, const Request *req, const SsdCmd *cmd,
                        ZoneAct act, char *why)
{
    SsdCmd own = *cmd;
    uint32_t tag = p->free_tag;
    int r;

    switch (zoned_ask(p->cfg.zones, act, &own, why)) {
    case ZONE_WAITS:
        return -EBUSY;
    case ZONE_REFUSED:
        return -EPERM;
    case ZONE_GOES:
        break;
    }
    r = give(p, req, &own, false);
    if (r == 0) {
        p->in_flight[tag].zone = zoned_given(p->cfg.zones, act, &own);
    }
    return r;
}

/* What a request is to its zone; of a TRIM, the reset of one whole zone. */
static bool zone_act(const Player *p, const Request *req, const SsdCmd *cmd,
                     ZoneAct *act, char *why)
{
    uint64_t capacity = p->info->zones.capacity;

    *act = req->act;
    if (req->op != SSD_OP_TRIM) {
        return true;
    }
    *act = ZONE_RESET;
    if (cmd->lba % capacity == 0 && cmd->nblocks == capacity) {
        return true;
    }
    g_snprintf(why, ZONE_WHY_BYTES, "a TRIM that is not one whole zone");
    return false;
}

/* A write to the start of a zone that has data resets it first. */
static bool starts_over(const Player *p, const Request *req, const SsdCmd *cmd)
{
    const Zoned *z = p->cfg.zones;

    return req->op == SSD_OP_WRITE && cmd->lba % p->info->zones.capacity == 0 &&
           zoned_zone(z, zoned_at(z, cmd->lba)).written > 0;
}

static int start_over(Player *p, const SsdCmd *cmd, char *why)
{
    Request reset = {.op = SSD_OP_TRIM, .at_ns = p->now_ns};
    uint32_t tag = p->free_tag;
    int r = give_to_zone(p, &reset, cmd, ZONE_RESET, why);

    if (r == 0) {
        p->in_flight[tag].own = true;
    }
    p->resets |= r == 0;
    return r == 0 ? -EBUSY : r;
}

static int give_zoned(Player *p, const Request *req, const SsdCmd *cmd,
                      char *why)
{
    ZoneAct act;
    Request now = *req;

    if (!zone_act(p, req, cmd, &act, why)) {
        return -EPERM;
    }
    if (starts_over(p, req, cmd)) {
        return start_over(p, cmd, why);
    }
    if (p->resets && p->source->iodepth) {
        now.at_ns = p->now_ns;
    }
    return give_to_zone(p, &now, cmd, act, why);
}

static bool zone_error(const Player *p, const char *why, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                "after %" G_GUINT64_FORMAT " writes: %s (docs/zones.md)",
                p->version, why);
    return false;
}

/* false: *error.  p->blocked: the drive's queue is full. */
static bool submit(Player *p, const Request *req, SsdCmd *cmd, bool lost,
                   GError **error)
{
    char why[ZONE_WHY_BYTES];
    int r = G_UNLIKELY(p->cfg.zones) ? give_zoned(p, req, cmd, why)
                                     : give(p, req, cmd, lost);

    if (r == -EPERM) {
        return zone_error(p, why, error);
    }
    if (r == -ENODEV) {
        restore_power(p);
        r = give(p, req, cmd, lost);
    }
    if (r == -EBUSY) {
        p->result.n_waited += !p->blocked && !(req->window & WINDOW_OUTSIDE);
        p->blocked = true;
        return true;
    }
    if (r < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "request %" G_GUINT64_FORMAT ": the drive refused it: %s",
                    p->version + 1, g_strerror(-r));
        return false;
    }
    p->blocked = p->resets = false;
    return true;
}

static bool submit_pending(Player *p, GError **error)
{
    Coming *c = &p->pending;

    if (!submit(p, &c->req, &c->cmd, c->lost, error)) {
        return false;
    }
    p->have_pending = p->blocked;
    return true;
}

/* ---- rounds -------------------------------------------------------------- */

static SteadyMark mark_now(const Player *p)
{
    const PlayerResult *r = &p->result;
    SteadyMark m = {
        .n_requests = r->n_requests,
        .sim_ns = r->sim_ns,
        .written_bytes = r->bytes[SSD_OP_WRITE],
    };
    SsdWritten w;

    array_get_written(p->array, &w);
    m.host_bytes = w.host_bytes;
    m.nand_bytes = w.nand_bytes;
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        m.latency_ns += (double)r->latency[i].sum;
    }
    return m;
}

static void begin_rounds(Player *p)
{
    const PlayerSettle *s = p->settle;
    SteadyMark now = mark_now(p);

    rounds_begin(&p->result.rounds, s ? s->round_requests : FIRST_ROUND,
                 s ? s->round_bytes : UINT64_MAX, &now);
}

/* Has the load that goes before the run lasted long enough? */
static void look_whether_steady(Player *p)
{
    const PlayerSettle *s = p->settle;
    Steadiness five = rounds_last_five(&p->result.rounds);

    p->reached =
        five.known && steady_in(&five, s->metric, s->most_range, s->most_slope);
    if (p->reached || p->result.rounds.n == s->most_rounds) {
        p->ended = true;
        p->have_pending = p->blocked = false;
    }
}

static void end_round(Player *p)
{
    SteadyMark now = mark_now(p);

    if (p->settle && p->ended) {
        return; /* requests that were in flight then */
    }
    rounds_end(&p->result.rounds, &now);
    if (p->settle) {
        look_whether_steady(p);
    }
}

/* ---- the end of a request ------------------------------------------------ */

static void clear_result(Player *p, uint64_t at_ns)
{
    uint64_t n_warm_up = p->result.n_warm_up + p->result.n_requests;
    SsdWritten w;

    array_catch_up(p->array, p->now_ns);
    array_reset_stats(p->array);
    memset(&p->result, 0, sizeof(p->result));
    p->result.n_warm_up = n_warm_up;
    p->measured_ns = at_ns;
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        hist_init(&p->result.latency[i]);
    }
    array_get_written(p->array, &w);
    p->result.free_blocks = w.free_blocks;
    begin_rounds(p);
}

/* Of a TRIM, in blocks that it covers in part. */
static uint64_t kept_bytes(const Player *p, const Request *r)
{
    uint64_t most = p->info->block_bytes - 1;
    uint64_t first = (r->offset + most) & ~most;
    uint64_t end = (r->offset + r->nbytes) & ~most;

    return r->nbytes - (end > first ? end - first : 0);
}

static void tell(Player *p, const Request *r, const SsdCompletion *c,
                 unsigned status)
{
    if (p->cfg.done && p->measuring && !p->warm_left) {
        PlayerDone d = {r, c, status, p->start_ns, r->at_ns - p->start_ns};

        p->cfg.done(p->cfg.done_opaque, &d);
    }
}

static void note(Player *p, const Request *r, const SsdCompletion *c,
                 unsigned status)
{
    if (G_UNLIKELY(r->window & WINDOW_OUTSIDE)) {
        tell(p, r, c, status);
        place_give(p, c->complete_ns);
        return;
    }
    hist_add(&p->result.latency[r->op], c->complete_ns - r->at_ns);
    p->result.bytes[r->op] += r->nbytes;
    if (r->op == SSD_OP_TRIM) {
        p->result.kept_trim_bytes += kept_bytes(p, r);
    }
    p->result.n_errors += status != SSD_STATUS_OK;
    p->result.n_status[status]++;
    p->result.sim_ns = c->complete_ns - p->measured_ns;
    tell(p, r, c, status);
    place_give(p, c->complete_ns);
    p->result.n_requests++;
    progress_add(p->cfg.progress, 1);
    if (G_UNLIKELY(rounds_due(&p->result.rounds, p->result.n_requests,
                              p->result.bytes[SSD_OP_WRITE]))) {
        end_round(p);
    }
    if (p->warm_left && --p->warm_left == 0) {
        clear_result(p, c->complete_ns);
    }
}

/* It never ends; its place stays taken. */
static void drop(Player *p)
{
    p->result.n_dropped++;
    progress_add(p->cfg.progress, 1);
}

/* The drive has completed a request. */
static void completed(Player *p, const SsdCompletion *c)
{
    InFlight *f = &p->in_flight[c->tag];

    if (f->zone) {
        zoned_ended(p->cfg.zones, f->zone);
    }
    if (f->own) {
        /* nobody asked for it */
    } else if (f->lost) {
        drop(p);
    } else {
        note(p, &f->req, c, c->status);
    }
    p->n_in_flight--;
    pool_give(tag_links(p), &p->free_tag, (uint32_t)c->tag);
    f->req.at_ns = SSD_TIME_NEVER;
}

/* ---- scripted faults of requests ----------------------------------------- */

/* A command that the controller refuses takes its time, too, and so does a TRIM
 * of no whole block; without any, a closed loop of them would never end. */
#define REFUSE_NS 1000

static HostWaiting kept(const Player *p, uint64_t for_ns)
{
    return (HostWaiting){.at_ns = p->now_ns + for_ns,
                         .req = p->pending.req,
                         .cmd = p->pending.cmd};
}

/* A TRIM of parts of blocks. */
static bool trims_nothing(const SsdCmd *cmd)
{
    return cmd->op == SSD_OP_TRIM && cmd->nblocks == 0;
}

/* The drive has nothing to do for it: it ends after the time of a command. */
static void keep_trim(Player *p)
{
    HostWaiting w = kept(p, REFUSE_NS);

    if (!p->rules) {
        p->rules = host_rules_new();
    }
    host_rules_keep(p->rules, &w);
    p->have_pending = false;
}

/* The pending request, with the rule that has fired. */
static bool apply_rule(Player *p, CmdRule *rule, GError **error)
{
    HostWaiting w;

    switch (rule->action) {
    case CMD_RULE_STATUS:
        w = kept(p, REFUSE_NS);
        w.status = rule->status & CMD_RULE_STATUS_CODE ? PLAYER_STATUS_RULE
                                                       : SSD_STATUS_OK;
        host_rules_keep(p->rules, &w);
        break;
    case CMD_RULE_DROP:
        drop(p);
        break;
    case CMD_RULE_DELAY:
        w = kept(p, rule->for_ns);
        w.submit = !trims_nothing(&w.cmd);
        if (!host_rules_keep(p->rules, &w)) {
            rule->n_fired--;
            return submit_pending(p, error);
        }
        break;
    case CMD_RULE_LOSE:
        if (trims_nothing(&p->pending.cmd)) {
            drop(p);
            break;
        }
        p->pending.lost = true;
        return submit_pending(p, error);
    default:
        g_assert_not_reached(); /* host_rules_load() refuses it */
    }
    p->have_pending = false;
    return true;
}

static bool start_pending(Player *p, GError **error)
{
    CmdRule *rule = NULL;

    if (G_UNLIKELY(p->rules && !p->pending.asked)) {
        p->pending.asked = true;
        rule = host_rules_ask(p->rules, &p->pending.cmd, p->now_ns);
    }
    if (rule) {
        return apply_rule(p, rule, error);
    }
    if (G_UNLIKELY(trims_nothing(&p->pending.cmd))) {
        keep_trim(p);
        return true;
    }
    return submit_pending(p, error);
}

/* Requests that have waited because of a rule, and are due. */
static bool offer_waiting(Player *p, GError **error)
{
    const HostWaiting *w;
    bool full = false;

    while ((w = host_rules_due(p->rules, p->now_ns, full))) {
        HostWaiting now = *w;

        if (!now.submit) {
            SsdCompletion c = {.submit_ns = now.at_ns,
                               .complete_ns = now.at_ns};

            note(p, &now.req, &c, now.status);
        } else if (!submit(p, &now.req, &now.cmd, false, error)) {
            return false;
        } else if (p->blocked) {
            full = true;
            continue;
        }
        host_rules_taken(p->rules, w);
    }
    return true;
}

static bool some_wait(const Player *p)
{
    return p->rules && host_rules_next_ns(p->rules, false) != SSD_TIME_NEVER;
}

/* Nothing is left of the run; but the source may have more. */
static bool comes_to_end(const Player *p)
{
    bool no_place = p->source->iodepth && p->places.n == 0;

    return (p->ended || no_place) && p->n_in_flight == 0 && !some_wait(p);
}

/* true: rules have dropped as many requests as may be in flight. */
static bool all_dropped(const Player *p, GError **error)
{
    if (p->ended || (p->source_ended && p->n_ahead == 0)) {
        return false;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                "after %" G_GUINT64_FORMAT " requests: rules of faults= "
                "dropped all %u that may be in flight, and none can follow "
                "(iodepth=)",
                p->result.n_requests, p->source->iodepth);
    return true;
}

/* Submit whatever may start now. */
static bool offer(Player *p, GError **error)
{
    bool closed = p->source->iodepth > 0;

    if ((p->measuring || p->settle) && p->cfg.stopped && p->cfg.stopped()) {
        p->ended = true;
        p->have_pending = p->blocked = false;
        return true;
    }
    if (G_UNLIKELY(p->rules) && !offer_waiting(p, error)) {
        return false;
    }
    for (;;) {
        if (!p->have_pending) {
            if (p->ended || (closed && p->places.n == 0)) {
                return true;
            }
            if (!fetch(p, error)) {
                return false;
            }
            if (!p->have_pending) {
                return true;
            }
        }
        if (p->pending.req.at_ns > p->now_ns) {
            return true;
        }
        if (!start_pending(p, error)) {
            return false;
        }
        if (p->blocked) {
            return true;
        }
    }
}

static void collect(Player *p)
{
    SsdCompletion done[64];
    size_t n;

    do {
        n = array_advance(p->array, p->now_ns, done, G_N_ELEMENTS(done));
        for (size_t i = 0; i < n; i++) {
            completed(p, &done[i]);
        }
    } while (n == G_N_ELEMENTS(done));
    restore_power(p);
}

/* When a request that waits because of a rule is due.  One that found the
 * drive's queue full waits for a completion. */
static uint64_t waiting_ns(const Player *p)
{
    return p->rules ? host_rules_next_ns(p->rules, p->blocked) : SSD_TIME_NEVER;
}

/*
 * When something can happen next.  In the open loop a completion changes
 * nothing before the next arrival, unless the drive's queue was full.
 */
static uint64_t wake_ns(Player *p)
{
    uint64_t rule_ns = waiting_ns(p);
    uint64_t until_ns = p->now_ns < REBASE_NS ? REBASE_NS : LAST_NS;
    uint64_t next_ns;

    if (p->have_pending && !p->blocked) {
        return MIN(p->pending.req.at_ns, rule_ns);
    }
    next_ns = array_wait(p->array, MIN(until_ns, rule_ns));
    return MAX(MIN(next_ns, rule_ns), p->now_ns);
}

static void run_begin(Player *p, const RequestSource *source)
{
    memset(&p->result, 0, sizeof(p->result));
    clear_result(p, p->now_ns);
    p->source = source;
    p->start_ns = p->now_ns;
    p->have_pending = p->blocked = p->ended = p->source_ended = false;
    p->resets = p->outside = false;
    p->none_yet = true;
    p->n_ahead = 0;
    memset(p->ahead, 0, sizeof(p->ahead));
    p->warm_left = p->measuring ? p->cfg.warm_up : 0;
    if (p->measuring) {
        array_begin(p->array, p->now_ns);
    }
    p->place_ns = g_renew(uint64_t, p->place_ns, source->iodepth);
    p->places = (Ring){.size = source->iodepth};
    for (uint32_t i = 0; i < source->iodepth; i++) {
        place_give(p, p->now_ns);
    }
}

/* ---- the clock ----------------------------------------------------------- */

/* The earliest instant that is still needed. */
static uint64_t rebase_most_ns(const Player *p)
{
    uint64_t most_ns = array_rebase_most_ns(p->array);

    for (uint32_t i = 0; i < p->info->queue_depth; i++) {
        most_ns = MIN(most_ns, p->in_flight[i].req.at_ns);
    }
    for (uint32_t i = 0; i < p->places.n; i++) {
        most_ns = MIN(most_ns, p->place_ns[ring_place(&p->places, i)]);
    }
    if (p->rules) {
        most_ns = MIN(most_ns, host_rules_rebase_most_ns(p->rules));
    }
    return p->have_pending ? MIN(most_ns, p->pending.req.at_ns) : most_ns;
}

static void rebase(Player *p, uint64_t by_ns)
{
    array_rebase(p->array, by_ns);
    if (p->rules) {
        host_rules_rebase(p->rules, by_ns);
    }
    p->now_ns -= by_ns;
    p->start_ns -= by_ns; /* only differences of these two are used */
    p->measured_ns -= by_ns;
    p->pending.req.at_ns -= by_ns;
    for (uint32_t i = 0; i < p->info->queue_depth; i++) {
        if (p->in_flight[i].req.at_ns != SSD_TIME_NEVER) {
            p->in_flight[i].req.at_ns -= by_ns;
        }
    }
    for (uint32_t i = 0; i < p->source->iodepth; i++) {
        p->place_ns[i] -= by_ns;
    }
}

/* Before the clock shows too much: let time pass in steps, set it back.  The
 * next instant, by the clock as it is then. */
static uint64_t keep_in_range(Player *p)
{
    uint64_t next_ns;

    while ((next_ns = wake_ns(p)) > REBASE_NS && next_ns != SSD_TIME_NEVER) {
        uint64_t by_ns;

        if (p->now_ns < REBASE_NS) {
            p->now_ns = REBASE_NS;
            collect(p);
        }
        array_catch_up(p->array, p->now_ns);
        by_ns = rebase_most_ns(p);
        if (by_ns < REBASE_NS / 2) {
            break;
        }
        rebase(p, by_ns);
    }
    return next_ns;
}

static bool beyond_end(const Player *p, GError **error)
{
    bool too_long = p->now_ns - p->start_ns >= REQUEST_MOST_NS;

    if (too_long || p->now_ns > LAST_NS) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                    "after %" G_GUINT64_FORMAT " requests: modelled time ends "
                    "after %s",
                    p->result.n_requests,
                    too_long ? "10 years"
                             : "200 days with --oplog and --record");
        return true;
    }
    return false;
}

static uint64_t next_instant(Player *p)
{
    uint64_t next_ns = wake_ns(p);

    return G_LIKELY(next_ns <= REBASE_NS) ? next_ns : keep_in_range(p);
}

static bool waits_for_rebuild(const Player *p)
{
    return array_rebuilding(p->array) && !(p->cfg.stopped && p->cfg.stopped());
}

static bool play(Player *p, const RequestSource *source, GError **error)
{
    run_begin(p, source);
    for (;;) {
        if (!offer(p, error)) {
            return false;
        }
        if (comes_to_end(p) && !waits_for_rebuild(p)) {
            array_catch_up(p->array, p->now_ns);
            return !all_dropped(p, error);
        }
        p->now_ns = next_instant(p);
        g_assert(p->now_ns != SSD_TIME_NEVER);
        if (beyond_end(p, error)) {
            return false;
        }
        collect(p);
        sim_live_passed(p->cfg.live);
    }
}

bool player_run(Player *p, const RequestSource *source, GError **error)
{
    g_clear_pointer(&p->rules, host_rules_free);
    p->measuring = true;
    return (!p->cfg.drive || host_rules_load(&p->rules, p->cfg.drive, p->info,
                                             p->now_ns, error)) &&
           play(p, source, error);
}

bool player_settle(Player *p, const RequestSource *source,
                   const PlayerSettle *how, bool *reached, GError **error)
{
    bool ok;

    g_assert(how->most_rounds >= STEADY_ROUNDS &&
             how->most_rounds < STEADY_MOST_MARKS);
    p->settle = how;
    p->reached = false;
    ok = play(p, source, error);
    p->settle = NULL;
    p->settled = p->result.rounds;
    *reached = p->reached;
    return ok;
}

const Rounds *player_settled(const Player *p)
{
    return p->settled.n ? &p->settled : NULL;
}

/* ---- filling ------------------------------------------------------------- */

static bool fill_with(Player *p, const char *workload, uint64_t seed,
                      GError **error)
{
    uint64_t capacity = p->info->nblocks * p->info->block_bytes;
    Workload *w =
        workload_new(workload, capacity, p->info->block_bytes, seed, error);
    RequestSource source;
    bool ok;

    if (!w) {
        return false;
    }
    source = workload_source(w);
    ok = play(p, &source, error);
    workload_free(w);
    return ok;
}

static bool fill_seq(Player *p, uint64_t seed, GError **error)
{
    uint64_t capacity = p->info->nblocks * p->info->block_bytes;
    uint64_t whole = p->cfg.zones
                         ? p->info->zones.capacity * p->info->block_bytes
                         : capacity;
    uint64_t bs = 131072;
    g_autofree char *text = NULL;

    while (bs > p->info->block_bytes && whole % bs) {
        bs /= 2;
    }
    text = g_strdup_printf("rw=write bs=%" G_GUINT64_FORMAT
                           " iodepth=32 fsync=%" G_GUINT64_FORMAT,
                           bs, capacity / bs);
    progress_expect(p->cfg.progress, capacity / bs + 1); /* and the flush */
    return fill_with(p, text, seed, error);
}

static bool fill_random(Player *p, uint64_t seed, GError **error)
{
    uint64_t n =
        2 * p->info->nblocks * p->info->block_bytes / p->info->unit_bytes;
    g_autofree char *text = g_strdup_printf(
        "rw=randwrite bs=%u iodepth=32 number_ios=%" G_GUINT64_FORMAT,
        p->info->unit_bytes, n);

    progress_expect(p->cfg.progress, n);
    return fill_seq(p, seed, error) && fill_with(p, text, seed ^ 1, error);
}

static bool fill_recorded(Player *p, GError **error)
{
    if (!p->cfg.recorded) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--fill=trace: only with one trace, and that of vssd's own "
                    "format");
        return false;
    }
    return recorded_preload(p->cfg.recorded, array_drive(p->array, 0), error);
}

bool player_fill(Player *p, PlayerFill fill, uint64_t seed, GError **error)
{
    if (fill == PLAYER_FILL_SEQ || fill == PLAYER_FILL_RANDOM) {
        array_expect_full(p->array);
    }
    switch (fill) {
    case PLAYER_FILL_NONE:
        return true;
    case PLAYER_FILL_PRELOAD:
        array_preload(p->array);
        return !p->cfg.zones ||
               zoned_preload(p->cfg.zones, 0, p->info->nblocks);
    case PLAYER_FILL_SEQ:
        return fill_seq(p, seed, error);
    case PLAYER_FILL_RANDOM:
        return fill_random(p, seed, error);
    case PLAYER_FILL_TRACE:
        return fill_recorded(p, error);
    default:
        g_assert_not_reached();
    }
}
