/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand.c - channels and dies as contended resources, and the medium's rules.
 *
 * An operation takes its die first, in order of submission, and keeps it to
 * its end; within that it takes the channel for each bus phase:
 *
 *   read     command (bus), tR (cell), data out (bus)
 *   program  command and data in (bus), tPROG (cell)
 *   erase    command (bus), tBERS (cell)
 *
 * A channel serves its dies in the order in which they ask.  Durations are in
 * docs/timing-model.md.
 */
#include "nand.h"

#include <inttypes.h>

#include "lazymem.h"

#define NONE UINT32_MAX

typedef enum Phase {
    PHASE_FREE, /* the pool entry holds no operation */
    PHASE_DIE_WAIT,
    PHASE_BUS_WAIT_IN,
    PHASE_BUS_IN, /* command, address, and the data of a program */
    PHASE_CELL,
    PHASE_BUS_WAIT_OUT,
    PHASE_BUS_OUT, /* the data of a read */
} Phase;

/* Operations in a queue, linked through NandOp.next. */
typedef struct OpList {
    uint32_t head;
    uint32_t tail;
} OpList;

typedef struct Die {
    OpList waiting;
    uint32_t running; /* operation, or NONE */
    uint32_t load;    /* waiting and running */
    uint64_t since_ps; /* start of the running operation */
} Die;

typedef struct Channel {
    OpList waiting;
    uint32_t owner; /* operation on the bus, or NONE */
} Channel;

typedef struct BlockWear {
    uint16_t next_page; /* as nand_next_page() */
    uint16_t in_array;  /* programs queued or running */
    uint32_t erase_count;
} BlockWear;

struct Nand {
    NandConfig cfg;
    NandGeometry geo;
    EventQueue *q;
    NandDone *done;
    void *opaque;

    NandOp *op; /* pool; index is the operation's name */
    uint32_t n_op;
    uint32_t free_op;

    Die *die;
    Channel *channel;
    BlockWear *block;
    uint64_t full_page_ps; /* transfer of a whole page */
    NandStats stats;
};

static void list_push(Nand *n, OpList *l, uint32_t i)
{
    n->op[i].next = NONE;
    if (l->head == NONE) {
        l->head = i;
    } else {
        n->op[l->tail].next = i;
    }
    l->tail = i;
}

static uint32_t list_pop(Nand *n, OpList *l)
{
    uint32_t i = l->head;

    if (i != NONE) {
        l->head = n->op[i].next;
    }
    return i;
}

static void pool_grow(Nand *n)
{
    uint32_t old = n->n_op;

    n->n_op = old ? old * 2 : 64;
    n->op = g_renew(NandOp, n->op, n->n_op);
    for (uint32_t i = n->n_op; i-- > old;) {
        n->op[i].phase = PHASE_FREE;
        n->op[i].next = n->free_op;
        n->free_op = i;
    }
}

static uint32_t pool_take(Nand *n)
{
    uint32_t i;

    if (n->free_op == NONE) {
        pool_grow(n);
    }
    i = n->free_op;
    n->free_op = n->op[i].next;
    return i;
}

static void pool_give(Nand *n, uint32_t i)
{
    n->op[i].phase = PHASE_FREE;
    n->op[i].next = n->free_op;
    n->free_op = i;
}

Nand *nand_create(const NandConfig *cfg, EventQueue *q, NandDone *done,
                  void *opaque)
{
    Nand *n = g_new0(Nand, 1);
    NandGeometry *g = &n->geo;

    n->cfg = *cfg;
    n->q = q;
    n->done = done;
    n->opaque = opaque;
    n->free_op = NONE;
    n->full_page_ps = nand_transfer_ps(cfg, (uint32_t)cfg->page_bytes);

    g->n_channels = cfg->channels;
    g->dies_per_channel = cfg->chips * cfg->dies;
    g->n_dies = cfg->channels * g->dies_per_channel;
    g->planes_per_die = cfg->planes;
    g->n_planes = g->n_dies * cfg->planes;
    g->blocks_per_plane = cfg->blocks;
    g->pages_per_block = cfg->pages;
    g->n_blocks = g->n_planes * cfg->blocks;
    g->n_pages = g->n_blocks * cfg->pages;
    g->page_bytes = (uint32_t)cfg->page_bytes;

    n->die = g_new(Die, g->n_dies);
    for (uint32_t i = 0; i < g->n_dies; i++) {
        n->die[i] = (Die){.waiting = {NONE, NONE}, .running = NONE};
    }
    n->channel = g_new(Channel, g->n_channels);
    for (uint32_t i = 0; i < g->n_channels; i++) {
        n->channel[i] = (Channel){.waiting = {NONE, NONE}, .owner = NONE};
    }
    n->block = lazy_new(BlockWear, g->n_blocks);
    return n;
}

void nand_destroy(Nand *n)
{
    if (!n) {
        return;
    }
    lazy_free(n->block, n->geo.n_blocks, sizeof(*n->block));
    g_free(n->channel);
    g_free(n->die);
    g_free(n->op);
    g_free(n);
}

const NandGeometry *nand_geometry(const Nand *n)
{
    return &n->geo;
}

const NandStats *nand_stats(const Nand *n)
{
    return &n->stats;
}

uint32_t nand_die_load(const Nand *n, uint32_t plane)
{
    return n->die[plane / n->geo.planes_per_die].load;
}

uint32_t nand_erase_count(const Nand *n, uint32_t block)
{
    return n->block[block].erase_count;
}

uint32_t nand_next_page(const Nand *n, uint32_t block)
{
    return n->block[block].next_page;
}

/* ---- the rules of the medium ------------------------------------------- */

static G_GNUC_NORETURN void broken_rule(const Nand *n, const NandOp *op,
                                        const char *rule)
{
    static const char *const kind[] = {"read", "program", "erase"};
    uint32_t block = op->ppa.page / n->geo.pages_per_block;

    g_error("nand: %s of page %u, block %u (next page %u, %u in the array, "
            "erased %u times): %s",
            kind[op->kind], op->ppa.page % n->geo.pages_per_block, block,
            n->block[block].next_page, n->block[block].in_array,
            n->block[block].erase_count, rule);
}

/* Operations of a die run in order, so rules can be checked at submission. */
static void check_rules(Nand *n, const NandOp *op)
{
    uint32_t page = op->ppa.page % n->geo.pages_per_block;
    BlockWear *b;

    g_assert(op->ppa.page < n->geo.n_pages);
    g_assert(op->kind == NAND_ERASE || op->bytes <= n->geo.page_bytes);
    b = &n->block[op->ppa.page / n->geo.pages_per_block];
    switch (op->kind) {
    case NAND_READ:
        if (page >= b->next_page) {
            broken_rule(n, op, "the page is not programmed");
        }
        break;
    case NAND_PROGRAM:
        if (page != b->next_page) {
            broken_rule(n, op, "pages must be programmed once, in order");
        }
        b->next_page++;
        b->in_array++;
        break;
    case NAND_ERASE:
        if (b->in_array) {
            broken_rule(n, op, "programs of the block have not finished");
        }
        b->next_page = 0;
        break;
    default:
        g_assert_not_reached();
    }
}

/* ---- phases ------------------------------------------------------------ */

static Channel *channel_of(Nand *n, const NandOp *op)
{
    return &n->channel[op->die / n->geo.dies_per_channel];
}

static uint64_t transfer_ps(const Nand *n, const NandOp *op)
{
    return op->bytes == n->geo.page_bytes ? n->full_page_ps
                                          : nand_transfer_ps(&n->cfg, op->bytes);
}

static uint64_t bus_phase_ps(const Nand *n, const NandOp *op)
{
    if (op->phase == PHASE_BUS_OUT) {
        return transfer_ps(n, op);
    }
    return n->cfg.t_cmd_ps +
           (op->kind == NAND_PROGRAM ? transfer_ps(n, op) : 0);
}

static uint64_t cell_phase_ps(const Nand *n, const NandOp *op)
{
    switch (op->kind) {
    case NAND_READ:
        return n->cfg.t_read_ps;
    case NAND_PROGRAM:
        return n->cfg.t_prog_ps;
    default:
        return n->cfg.t_erase_ps;
    }
}

static void bus_grant(Nand *n, Channel *ch, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    uint64_t ps;

    op->bus_wait_ps += now_ps - op->mark_ps;
    op->mark_ps = now_ps;
    op->phase = op->phase == PHASE_BUS_WAIT_OUT ? PHASE_BUS_OUT : PHASE_BUS_IN;
    ps = bus_phase_ps(n, op);
    ch->owner = i;
    n->stats.bus_busy_ps += ps;
    eventq_push(n->q, now_ps + ps, NAND_EVENT_BUS_DONE, i);
}

static void bus_ask(Nand *n, uint32_t i, Phase phase, uint64_t now_ps)
{
    Channel *ch = channel_of(n, &n->op[i]);

    n->op[i].phase = phase;
    n->op[i].mark_ps = now_ps;
    if (ch->owner == NONE) {
        bus_grant(n, ch, i, now_ps);
    } else {
        list_push(n, &ch->waiting, i);
    }
}

static void bus_release(Nand *n, Channel *ch, uint64_t now_ps)
{
    uint32_t next = list_pop(n, &ch->waiting);

    ch->owner = NONE;
    if (next != NONE) {
        bus_grant(n, ch, next, now_ps);
    }
}

static void die_start_next(Nand *n, Die *die, uint64_t now_ps)
{
    uint32_t i = list_pop(n, &die->waiting);

    die->running = i;
    if (i == NONE) {
        return;
    }
    die->since_ps = now_ps;
    n->op[i].die_wait_ps = now_ps - n->op[i].mark_ps;
    bus_ask(n, i, PHASE_BUS_WAIT_IN, now_ps);
}

static void finish(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp op = n->op[i]; /* the callback may grow the pool */
    Die *die = &n->die[op.die];
    BlockWear *b = &n->block[op.ppa.page / n->geo.pages_per_block];

    if (op.kind == NAND_PROGRAM) {
        b->in_array--;
    } else if (op.kind == NAND_ERASE) {
        b->erase_count++;
    }
    n->stats.ops[op.kind][op.cause]++;
    n->stats.die_busy_ps += now_ps - die->since_ps;
    die->load--;
    pool_give(n, i);
    die_start_next(n, die, now_ps);
    n->done(n->opaque, &op, now_ps);
}

void nand_submit(Nand *n, const NandOp *request, uint64_t now_ps)
{
    uint32_t plane = request->ppa.page / n->geo.pages_per_block /
                     n->geo.blocks_per_plane;
    uint32_t i;
    NandOp *op;
    Die *die;

    check_rules(n, request);
    i = pool_take(n);
    op = &n->op[i];
    *op = (NandOp){
        .kind = request->kind,
        .cause = request->cause,
        .ppa = request->ppa,
        .bytes = request->kind == NAND_ERASE ? 0 : request->bytes,
        .cookie = request->cookie,
        .die = plane / n->geo.planes_per_die,
        .phase = PHASE_DIE_WAIT,
        .submit_ps = now_ps,
        .mark_ps = now_ps,
    };
    die = &n->die[op->die];
    die->load++;
    list_push(n, &die->waiting, i);
    if (die->running == NONE) {
        die_start_next(n, die, now_ps);
    }
}

static void bus_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Channel *ch = channel_of(n, op);

    op->bus_ps += now_ps - op->mark_ps;
    op->mark_ps = now_ps;
    if (op->phase == PHASE_BUS_OUT) {
        bus_release(n, ch, now_ps);
        finish(n, i, now_ps);
        return;
    }
    op->phase = PHASE_CELL;
    eventq_push(n->q, now_ps + cell_phase_ps(n, op), NAND_EVENT_CELL_DONE, i);
    bus_release(n, ch, now_ps);
}

static void cell_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];

    op->cell_ps = now_ps - op->mark_ps;
    if (op->kind == NAND_READ) {
        bus_ask(n, i, PHASE_BUS_WAIT_OUT, now_ps);
    } else {
        finish(n, i, now_ps);
    }
}

void nand_event(Nand *n, const Event *e)
{
    switch (event_kind(e)) {
    case NAND_EVENT_BUS_DONE:
        bus_done(n, event_index(e), e->at_ps);
        break;
    case NAND_EVENT_CELL_DONE:
        cell_done(n, event_index(e), e->at_ps);
        break;
    default:
        g_assert_not_reached();
    }
}

/* ---- outside modelled time ---------------------------------------------- */

void nand_preload_page(Nand *n, NandPpa ppa)
{
    BlockWear *b = &n->block[ppa.page / n->geo.pages_per_block];

    g_assert(ppa.page % n->geo.pages_per_block == b->next_page);
    b->next_page++;
}

/*
 * What the medium holds of an operation that the power cut stopped.  Erases
 * come after all programs: a program queued behind an erase of its block has
 * not happened, and neither has the erase.
 */
static void cut_op(Nand *n, const NandOp *op)
{
    uint32_t page = op->ppa.page % n->geo.pages_per_block;
    BlockWear *b = &n->block[op->ppa.page / n->geo.pages_per_block];

    if (op->kind == NAND_ERASE) {
        b->next_page = (uint16_t)n->geo.pages_per_block;
    } else if (op->kind == NAND_PROGRAM) {
        b->in_array--;
        if (op->phase != PHASE_CELL && page < b->next_page) {
            b->next_page = (uint16_t)page; /* never reached the array */
        }
    }
}

void nand_power_cut(Nand *n, uint64_t now_ps)
{
    for (int erases = 0; erases <= 1; erases++) {
        for (uint32_t i = 0; i < n->n_op; i++) {
            if (n->op[i].phase != PHASE_FREE &&
                (n->op[i].kind == NAND_ERASE) == erases) {
                cut_op(n, &n->op[i]);
            }
        }
    }
    for (uint32_t i = 0; i < n->geo.n_dies; i++) {
        Die *die = &n->die[i];

        if (die->running != NONE) {
            n->stats.die_busy_ps += now_ps - die->since_ps;
        }
        *die = (Die){.waiting = {NONE, NONE}, .running = NONE};
    }
    for (uint32_t i = 0; i < n->geo.n_channels; i++) {
        n->channel[i] = (Channel){.waiting = {NONE, NONE}, .owner = NONE};
    }
    g_clear_pointer(&n->op, g_free);
    n->n_op = 0;
    n->free_op = NONE;
}

/* ---- checks -------------------------------------------------------------- */

static bool check_die(const Nand *n, uint32_t d, GError **error)
{
    uint32_t load = 0;
    uint32_t holders = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if (op->phase != PHASE_FREE && op->die == d) {
            load++;
            holders += op->phase != PHASE_DIE_WAIT;
        }
    }
    if (load != n->die[d].load || holders > 1 ||
        (holders == 1) != (n->die[d].running != NONE)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "die %u: load %u, counted %u, %u operations hold it", d,
                    n->die[d].load, load, holders);
        return false;
    }
    return true;
}

static bool check_channel(const Nand *n, uint32_t c, GError **error)
{
    uint32_t transfers = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if ((op->phase == PHASE_BUS_IN || op->phase == PHASE_BUS_OUT) &&
            op->die / n->geo.dies_per_channel == c) {
            transfers++;
        }
    }
    if (transfers != (n->channel[c].owner != NONE)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "channel %u: %u transfers at once", c, transfers);
        return false;
    }
    return true;
}

bool nand_check(const Nand *n, GError **error)
{
    for (uint32_t d = 0; d < n->geo.n_dies; d++) {
        if (!check_die(n, d, error)) {
            return false;
        }
    }
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        if (!check_channel(n, c, error)) {
            return false;
        }
    }
    for (uint32_t b = 0; b < n->geo.n_blocks; b++) {
        if (n->block[b].next_page > n->geo.pages_per_block) {
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                        "block %u: next page %u", b, n->block[b].next_page);
            return false;
        }
    }
    return true;
}
