/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policies.c - each buffer policy that caches against a model of it that is
 * slow and obvious: an array of units, each with the name of its list and the
 * time at which it came to the head of it, searched from end to end.
 *
 * The policies are driven through their functions alone, by random requests to
 * a buffer of a few slots; there is no drive.
 */
#include <string.h>

#include "buffer/buf-order.h"
#include "buffer/buffer-policy.h"
#include "component.h"
#include "lazymem.h"
#include "outside.h"
#include "prng.h"
#include "ssd-internal.h"
#include "ssd-setup.h"

#define SLOTS 40
#define UNITS 90
#define BLOCK 6 /* units; of fab, bplru */

/* ---- the model ----------------------------------------------------------- */

enum { NOWHERE, CLEAN, DIRTY, SECOND, WORKING, ANY };

typedef struct Unit {
    uint32_t lpn;
    int list;
    int64_t at;
    int64_t since; /* fab, bplru: since when it is there; clock-dnv: dirty */
    int64_t last, interval; /* prlru: of references */
    int writes;
    bool dirty;
} Unit;

typedef struct Model {
    Unit unit[SLOTS]; /* by slot */
    int64_t clock;
    unsigned working_most; /* cflru: so many outside the region */
    int64_t references;    /* prlru */
    int leaving;           /* clock-dnv: block of the last victim */
    struct {               /* fab, bplru, clock-dnv: by number of the block */
        int64_t at;
        unsigned in_order;
        bool used;
    } block[UNITS];
} Model;

static void put(Model *m, unsigned i, int list)
{
    m->unit[i].list = list;
    m->unit[i].at = ++m->clock;
}

/* The unit of the list that has been in its place for longest. */
static uint32_t oldest(const Model *m, int list)
{
    uint32_t best = NONE;

    for (unsigned i = 0; i < SLOTS; i++) {
        const Unit *u = &m->unit[i];

        if (u->list != NOWHERE && (list == ANY || u->list == list) &&
            (best == NONE || u->at < m->unit[best].at)) {
            best = i;
        }
    }
    return best;
}

static unsigned length(const Model *m, int list)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SLOTS; i++) {
        n += m->unit[i].list == list;
    }
    return n;
}

typedef struct Rules {
    const char *policy;
    unsigned window_percent;
    void (*used)(Model *m, unsigned i, bool write, bool comes);
    void (*cleaned)(Model *m, unsigned i);
    uint32_t (*victim)(const Model *m);
    uint32_t (*early)(Model *m);
    void (*balance)(Model *m);
    void (*gone)(Model *m, unsigned i); /* other than by eviction of a block */
    uint32_t (*in_group)(const Model *m, uint32_t lpn);
} Rules;

/* ---- lru: one order of use ----------------------------------------------- */

static void lru_used(Model *m, unsigned i, bool write, bool comes)
{
    put(m, i, CLEAN);
}

static void lru_cleaned(Model *m, unsigned i)
{
}

static uint32_t lru_victim(const Model *m)
{
    return oldest(m, ANY);
}

/* ---- cflru: the most recently used units are outside of the region ------ */

static void cflru_used(Model *m, unsigned i, bool write, bool comes)
{
    put(m, i, WORKING);
    if (length(m, WORKING) > m->working_most) {
        uint32_t last = oldest(m, WORKING);

        put(m, last, m->unit[last].dirty ? DIRTY : CLEAN);
    }
}

static void cflru_cleaned(Model *m, unsigned i)
{
    if (m->unit[i].list == DIRTY) {
        put(m, i, CLEAN);
    }
}

static uint32_t cflru_victim(const Model *m)
{
    uint32_t clean = oldest(m, CLEAN);
    uint32_t dirty = oldest(m, DIRTY);

    return clean != NONE ? clean : dirty != NONE ? dirty : oldest(m, WORKING);
}

static uint32_t cflru_early(Model *m)
{
    return oldest(m, DIRTY);
}

/* ---- cflru-ef-sc: the rules of the paper's section 3.3, one by one ------- */

static void sc_used(Model *m, unsigned i, bool write, bool comes)
{
    Unit *u = &m->unit[i];

    if (comes) {
        u->writes = write ? 1 : 0;
        put(m, i, write ? DIRTY : CLEAN);
    } else if (!write) {
        put(m, i, u->list);
    } else {
        u->writes = MIN(u->writes + 1, 255);
        put(m, i, u->list == SECOND ? SECOND : DIRTY);
    }
}

static void sc_cleaned(Model *m, unsigned i)
{
    put(m, i, CLEAN);
}

static uint32_t sc_victim(const Model *m)
{
    uint32_t i = oldest(m, CLEAN);

    i = i == NONE ? oldest(m, DIRTY) : i;
    return i == NONE ? oldest(m, SECOND) : i;
}

static uint32_t sc_early(Model *m)
{
    for (;;) {
        uint32_t i = oldest(m, DIRTY);

        if (i == NONE || m->unit[i].writes <= 1) {
            return i;
        }
        m->unit[i].writes = 1;
        put(m, i, SECOND);
    }
}

static void sc_balance(Model *m)
{
    while (length(m, SECOND) > length(m, DIRTY)) {
        put(m, oldest(m, SECOND), DIRTY);
    }
}

/* ---- blocks -------------------------------------------------------------- */

static unsigned block_of(const Model *m, unsigned i)
{
    return m->unit[i].lpn / BLOCK;
}

/* The unit of the block that came first; *n: how many there are. */
static uint32_t first_of_block(const Model *m, unsigned block, unsigned *n)
{
    uint32_t best = NONE;

    *n = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        if (m->unit[i].list != NOWHERE && block_of(m, i) == block) {
            ++*n;
            if (best == NONE || m->unit[i].since < m->unit[best].since) {
                best = i;
            }
        }
    }
    return best;
}

static uint32_t block_in_group(const Model *m, uint32_t lpn)
{
    unsigned n;

    return first_of_block(m, lpn / BLOCK, &n);
}

static void block_used(Model *m, unsigned i, bool comes)
{
    m->unit[i].list = CLEAN;
    m->clock++;
    m->block[block_of(m, i)].at = m->clock;
    if (comes) {
        m->unit[i].since = m->clock;
    }
}

/* ---- fab: the block with the most units, the least recently used of several ---- */

static void fab_used(Model *m, unsigned i, bool write, bool comes)
{
    block_used(m, i, comes);
}

static void fab_gone(Model *m, unsigned i)
{
    m->block[block_of(m, i)].at = ++m->clock;
}

static uint32_t fab_victim(const Model *m)
{
    uint32_t victim = NONE;
    unsigned most = 0;
    int64_t at = 0;

    for (unsigned b = 0; b < UNITS / BLOCK + 1; b++) {
        unsigned n;
        uint32_t first = first_of_block(m, b, &n);

        if (n > most || (n > 0 && n == most && m->block[b].at < at)) {
            victim = first;
            most = n;
            at = m->block[b].at;
        }
    }
    return victim;
}

/* ---- bplru: the block that was not written for longest ------------------- */

static void bplru_used(Model *m, unsigned i, bool write, bool comes)
{
    unsigned b = block_of(m, i);
    unsigned offset = m->unit[i].lpn % BLOCK;
    unsigned n;

    if (!write) {
        return;
    }
    first_of_block(m, b, &n);
    if (comes && n == 0) {
        m->block[b].in_order = 0; /* n does not count it yet */
    }
    block_used(m, i, comes);
    m->block[b].in_order = offset == m->block[b].in_order ? offset + 1
                           : offset == 0                  ? 1
                                                          : 0;
    if (m->block[b].in_order == BLOCK) {
        m->block[b].in_order = 0;
        m->block[b].at = -m->block[b].at;
    }
}

/* Units written in order go before all others, the last of it first: its
 * time is one before theirs. */
static uint32_t bplru_victim(const Model *m)
{
    uint32_t victim = NONE;
    int64_t at = 0;

    for (unsigned b = 0; b < UNITS / BLOCK + 1; b++) {
        unsigned n;
        uint32_t first = first_of_block(m, b, &n);

        if (n > 0 && (victim == NONE || m->block[b].at < at)) {
            victim = first;
            at = m->block[b].at;
        }
    }
    return victim;
}

/* ---- ccf-lru: cold clean ones, then a search of the others --------------- */

static void ccf_used(Model *m, unsigned i, bool write, bool comes)
{
    m->unit[i].writes = comes && !write; /* cold */
    put(m, i, comes && !write ? CLEAN : DIRTY);
}

static void ccf_cleaned(Model *m, unsigned i)
{
    if (m->unit[i].writes) {
        put(m, i, CLEAN);
    }
}

/* The search moves units, so this is done to the model itself. */
static uint32_t ccf_victim(const Model *model)
{
    Model *m = (Model *)model;

    for (;;) {
        uint32_t i = oldest(m, CLEAN);

        if (i != NONE || (i = oldest(m, DIRTY)) == NONE ||
            (m->unit[i].writes && m->unit[i].list == DIRTY)) {
            return i;
        }
        m->unit[i].writes = 1;
        put(m, i, m->unit[i].dirty ? DIRTY : CLEAN);
    }
}

/* ---- prlru: references by the time they span ----------------------------- */

static void prlru_used(Model *m, unsigned i, bool write, bool comes)
{
    Unit *u = &m->unit[i];

    m->references++;
    u->interval = comes ? SLOTS : m->references - u->last;
    u->last = m->references;
    u->writes = comes ? 1 : MIN(u->writes + 1, 255);
    put(m, i, write ? DIRTY : comes ? CLEAN : u->list);
}

static double probability(const Model *m, uint32_t i)
{
    const Unit *u = &m->unit[i];

    return (double)u->writes /
           (double)(m->references - u->last + u->interval);
}

static uint32_t prlru_victim(const Model *m)
{
    uint32_t clean = oldest(m, CLEAN);
    uint32_t dirty = oldest(m, DIRTY);

    if (clean == NONE || dirty == NONE) {
        return clean == NONE ? dirty : clean;
    }
    return probability(m, clean) <= 4 * probability(m, dirty) ? clean : dirty;
}

/* ---- clock-dnv: CLEAN is the first part, SECOND the second --------------- */

static void dnv_used(Model *m, unsigned i, bool write, bool comes)
{
    Unit *u = &m->unit[i];

    if (comes) {
        u->writes = 0;
        put(m, i, CLEAN);
    } else if (u->list == SECOND) {
        m->block[block_of(m, i)].used = true;
    } else {
        u->writes = 1;
    }
    if (write && !u->since) {
        u->since = ++m->clock;
    }
}

static void dnv_cleaned(Model *m, unsigned i)
{
    m->unit[i].since = 0;
    if (m->unit[i].list == SECOND) {
        put(m, i, CLEAN);
    }
}

/* The unit of the block that has been dirty for longest; *second: how many of it
 * are in the second part. */
static uint32_t dnv_oldest(const Model *m, unsigned block, unsigned *second)
{
    uint32_t best = NONE;

    *second = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        const Unit *u = &m->unit[i];

        if (u->list != NOWHERE && u->since && block_of(m, i) == block) {
            *second += u->list == SECOND;
            if (best == NONE || u->since < m->unit[best].since) {
                best = i;
            }
        }
    }
    return best;
}

static uint32_t dnv_block_victim(Model *m)
{
    for (;;) {
        unsigned best = UNITS;
        unsigned n;

        for (unsigned b = 0; b < UNITS / BLOCK + 1; b++) {
            dnv_oldest(m, b, &n);
            if (n > 0 && (best == UNITS || m->block[b].at < m->block[best].at)) {
                best = b;
            }
        }
        if (best == UNITS) {
            return NONE;
        }
        if (!m->block[best].used) {
            m->leaving = (int)best;
            return dnv_oldest(m, best, &n);
        }
        m->block[best].used = false;
        m->block[best].at = ++m->clock;
    }
}

static void dnv_move_on(Model *m, unsigned i)
{
    unsigned b = block_of(m, i);
    unsigned n;

    dnv_oldest(m, b, &n);
    if (n == 0) {
        m->block[b].at = ++m->clock;
        m->block[b].used = false;
    }
    put(m, i, SECOND);
}

static uint32_t dnv_victim(const Model *model)
{
    Model *m = (Model *)model;

    m->leaving = -1;
    while (length(m, SECOND) < SLOTS / 4) {
        uint32_t i = oldest(m, CLEAN);

        if (i == NONE) {
            break;
        }
        if (m->unit[i].writes) {
            m->unit[i].writes = 0;
            put(m, i, CLEAN);
        } else if (m->unit[i].dirty) {
            dnv_move_on(m, i);
        } else {
            return i;
        }
    }
    return dnv_block_victim(m);
}

static uint32_t dnv_in_group(const Model *m, uint32_t lpn)
{
    unsigned n;

    return (int)(lpn / BLOCK) == m->leaving ? dnv_oldest(m, lpn / BLOCK, &n)
                                            : NONE;
}

static const Rules rules[] = {
    {"lru", 100, lru_used, lru_cleaned, lru_victim, .early = NULL},
    {"cflru", 100, cflru_used, cflru_cleaned, cflru_victim, .early = NULL},
    {"cflru", 40, cflru_used, cflru_cleaned, cflru_victim, .early = NULL},
    {"cflru", 0, cflru_used, cflru_cleaned, cflru_victim, .early = NULL},
    {"cflru-ef", 100, cflru_used, cflru_cleaned, cflru_victim,
     .early = cflru_early},
    {"cflru-ef", 60, cflru_used, cflru_cleaned, cflru_victim,
     .early = cflru_early},
    {"cflru-ef-sc", 100, sc_used, sc_cleaned, sc_victim, .early = sc_early,
     .balance = sc_balance},
    {"fab", 100, fab_used, lru_cleaned, fab_victim, .gone = fab_gone,
     .in_group = block_in_group},
    {"bplru", 100, bplru_used, lru_cleaned, bplru_victim,
     .in_group = block_in_group},
    {"ccf-lru", 100, ccf_used, ccf_cleaned, ccf_victim, .early = NULL},
    {"prlru", 100, prlru_used, sc_cleaned, prlru_victim, .early = NULL},
    {"prlru-ef", 100, prlru_used, sc_cleaned, prlru_victim,
     .early = cflru_early},
    {"clock-dnv", 100, dnv_used, dnv_cleaned, dnv_victim,
     .in_group = dnv_in_group},
};

/* ---- the two side by side ------------------------------------------------ */

typedef struct Bench {
    const Rules *rules;
    const VssdBufferPolicy *buf;
    Ssd ssd; /* the members that policies see, and nothing else */
    NandGeometry geo;
    Buffer buffer;
    Model m;
    uint32_t slot_of[UNITS]; /* or NONE */
    unsigned n_used;
    uint64_t n_victims, n_early;
} Bench;

static const VssdPolicy *policy_of(const Rules *r)
{
    for (int i = 0; buffer_policies[i]; i++) {
        if (strcmp(buffer_policies[i]->name, r->policy) == 0) {
            return buffer_policies[i];
        }
    }
    g_assert_not_reached();
}

static void bench_init(Bench *b, const Rules *r)
{
    *b = (Bench){.rules = r, .buf = policy_of(r)->buffer};
    g_assert_true((b->buf->early != NULL) == (r->early != NULL));
    g_assert_true((b->buf->early_sent != NULL) == (r->balance != NULL));
    b->ssd.buffer = &b->buffer;
    b->ssd.geo = &b->geo;
    b->ssd.cfg = ssd_config_new();
    b->ssd.cfg->window_ppm = r->window_percent * 10000;
    b->ssd.l.n_slots = SLOTS;
    b->ssd.l.slot_records = SLOTS;
    b->ssd.buffer->slot = g_new0(Slot, SLOTS);
    b->ssd.buffer->n_slot_records = SLOTS;
    b->ssd.l.units_per_block = BLOCK;
    b->ssd.l.user_units = UNITS;
    b->m.working_most = SLOTS - SLOTS * r->window_percent / 100;
    memset(b->slot_of, 0xff, sizeof(b->slot_of));
    cache_init(&b->ssd, policy_of(r));
    cache_forget(&b->ssd);
}

static void bench_free(Bench *b)
{
    Outside *o = b->ssd.outside[VSSD_POLICY_BUFFER];

    g_assert_true(outside_works(o));
    g_assert_true(!o->policy->check ||
                  o->policy->check(o->view.state, o->view.shape));
    lazy_free(b->buffer.list, b->buffer.n_lists, sizeof(*b->buffer.list));
    outside_component.destroy(&b->ssd);
    ssd_config_free(b->ssd.cfg);
    g_free(b->ssd.buffer->slot);
}

static void drop(Bench *b, uint32_t i)
{
    cache_remove(&b->ssd, i);
    b->slot_of[b->ssd.buffer->slot[i].lpn] = NONE;
    b->ssd.buffer->slot[i].state = SLOT_FREE;
    b->m.unit[i].list = NOWHERE;
    b->n_used--;
}

/* The victim leaves, and all that is of its block where blocks do. */
static void give_up(Bench *b, uint32_t i)
{
    uint32_t lpn = b->ssd.buffer->slot[i].lpn;

    drop(b, i);
    b->n_victims++;
    while (b->buf->follows && i != NONE) {
        i = cache_follower(&b->ssd, lpn);
        g_assert_cmpuint(i, ==, b->rules->in_group(&b->m, lpn));
        if (i != NONE) {
            drop(b, i);
        }
    }
}

/* The victim, which both name; to name it once more changes nothing. */
static uint32_t compare_victims(Bench *b)
{
    uint32_t ours = cache_victim(&b->ssd);

    g_assert_cmpuint(ours, ==, b->rules->victim(&b->m));
    g_assert_cmpuint(cache_victim(&b->ssd), ==, ours);
    return ours;
}

static uint32_t free_slot(Bench *b)
{
    uint32_t i = 0;

    if (b->n_used == SLOTS) {
        give_up(b, compare_victims(b));
    }
    while (b->ssd.buffer->slot[i].state != SLOT_FREE) {
        i++;
    }
    return i;
}

static void request(Bench *b, uint32_t lpn, bool write)
{
    uint32_t i = b->slot_of[lpn];
    bool comes = i == NONE;

    if (comes && !write && b->buf->writes_only) {
        return;
    }
    if (comes) {
        i = free_slot(b);
        b->ssd.buffer->slot[i] = (Slot){.lpn = lpn};
        b->ssd.buffer->slot[i].state = write ? SLOT_DIRTY : SLOT_LOADING;
        b->slot_of[lpn] = i;
        b->m.unit[i] = (Unit){.lpn = lpn, .dirty = write};
        b->n_used++;
        cache_insert(&b->ssd, i);
    } else if (write) {
        b->ssd.buffer->slot[i].state = SLOT_DIRTY;
        cache_written(&b->ssd, i);
    } else {
        cache_read(&b->ssd, i);
    }
    b->m.unit[i].dirty |= write;
    b->rules->used(&b->m, i, write, comes);
}

static void clean(Bench *b, uint32_t i)
{
    b->ssd.buffer->slot[i].state = SLOT_PROGRAMMING;
    cache_cleaned(&b->ssd, i);
    b->ssd.buffer->slot[i].state = SLOT_CLEAN;
    b->m.unit[i].dirty = false;
    b->rules->cleaned(&b->m, i);
}

/* A newer version of the unit, in another slot, takes over its place. */
static void replace(Bench *b, uint32_t from)
{
    uint32_t to = 0;

    while (b->ssd.buffer->slot[to].state != SLOT_FREE) {
        to++;
    }
    b->ssd.buffer->slot[to] = (Slot){.lpn = b->ssd.buffer->slot[from].lpn,
                             .state = SLOT_BLOCKED};
    b->ssd.buffer->slot[from].state = SLOT_FREE;
    b->slot_of[b->ssd.buffer->slot[to].lpn] = to;
    cache_replace(&b->ssd, from, to);
    cache_written(&b->ssd, to);
    b->m.unit[to] = b->m.unit[from];
    b->m.unit[from].list = NOWHERE;
    b->m.unit[to].dirty = true;
    b->rules->used(&b->m, to, true, false);
}

static void early_batch(Bench *b)
{
    for (int k = 0; k < 2; k++) {
        uint32_t ours = cache_early(&b->ssd);

        g_assert_cmpuint(ours, ==, b->rules->early(&b->m));
        if (ours == NONE) {
            break;
        }
        g_assert_true(b->m.unit[ours].dirty);
        clean(b, ours);
        b->n_early++;
    }
    cache_early_sent(&b->ssd);
    if (b->rules->balance) {
        b->rules->balance(&b->m);
    }
}

/* A block is written in order, once more from its start after some units. */
static void write_block(Bench *b, Prng *rng)
{
    uint32_t first = (uint32_t)prng_below(rng, UNITS / BLOCK) * BLOCK;
    uint32_t before = (uint32_t)prng_below(rng, BLOCK);

    for (uint32_t k = 0; k < before; k++) {
        request(b, first + k, true);
    }
    for (uint32_t k = 0; k < BLOCK; k++) {
        request(b, first + k, true);
    }
}

static void one_step(Bench *b, Prng *rng)
{
    uint32_t lpn = (uint32_t)MIN(prng_below(rng, UNITS), prng_below(rng, UNITS));
    uint64_t kind = prng_below(rng, 100);
    uint32_t i = b->slot_of[lpn];

    if (kind == 0) {
        write_block(b, rng);
    } else if (kind < 80 || i == NONE) {
        request(b, lpn, kind % 2);
    } else if (kind < 85) {
        drop(b, i); /* trimmed */
        if (b->rules->gone) {
            b->rules->gone(&b->m, i);
        }
    } else if (kind < 90 && b->m.unit[i].dirty) {
        clean(b, i); /* flushed */
    } else if (kind < 95 && b->n_used < SLOTS) {
        replace(b, i);
    } else if (b->buf->early) {
        early_batch(b);
    }
    compare_victims(b);
}

static void test_policy(gconstpointer data)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Bench b;
        Prng rng;

        bench_init(&b, data);
        prng_seed(&rng, seed, 9);
        for (int k = 0; k < 4000; k++) {
            one_step(&b, &rng);
        }
        g_assert_cmpuint(b.n_victims, >, b.buf->follows ? 150 : 500);
        g_assert_true(!b.buf->early || b.n_early > 50);
        bench_free(&b);
    }
}

/* Every policy that caches has rules here. */
static void test_all_here(void)
{
    for (int i = 0; buffer_policies[i]; i++) {
        bool found = !buffer_policies[i]->buffer->victim;

        for (size_t k = 0; k < G_N_ELEMENTS(rules); k++) {
            found |= strcmp(rules[k].policy, buffer_policies[i]->name) == 0;
        }
        if (!found) {
            g_error("buffer.policy=%s: not in rules[]",
                    buffer_policies[i]->name);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/policies/all-here", test_all_here);
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
        g_autofree char *name = g_strdup_printf(
            "/policies/%s-%u", rules[i].policy, rules[i].window_percent);

        g_test_add_data_func(name, &rules[i], test_policy);
    }
    return g_test_run();
}
