/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-reliability.c - how the medium wears and fails.
 *
 * Knows wear, age and reads of blocks, and codewords; the formulas are in
 * nand-rber.c.  Knows nothing of time on buses and dies (nand.c), nor of failed
 * blocks (the owner).
 *
 * Errors are in the cells, not in a read.  Each codeword of a page has, from
 * one erase of its block to the next, one number of its own (weakness()): it
 * cannot be corrected while the probability of that is above the number.  So a
 * page that cannot be read cannot be read again, but for read retries, which
 * lower the rate, and a block loses data only as it ages and is read.
 */
#include "bitmap.h"
#include "invariant.h"
#include "nand-reliability.h"

#include <math.h>

#include "lazymem.h"
#include "nand-rber-tables.h"
#include "nand-retry.h"
#include "nand-variation.h"
#include "prng.h"

/* Streams of the seed; see prng_seed(). */
#define PURPOSE_CELLS 0x6d656469612d7264ULL
#define PURPOSE_FAIL  0x6d656469612d666cULL
#define PURPOSE_BAD   0x6d656469612d6264ULL
#define PURPOSE_LEVEL 0x6d656469612d6c76ULL

#define PS_PER_HOUR 3.6e15

#define refuse(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

bool nand_media_check(const NandConfig *c, GError **error)
{
    if (c->errors && c->ecc_bits >= c->codeword_bytes * 8) {
        return refuse(error, "media.ecc_bits: must be less than the bits of "
                             "nand.ecc_codeword");
    }
    if (c->retry_memory != RETRY_MEMORY_OFF && !c->retry_levels) {
        return refuse(error,
                      "media.retry_memory=%s: needs "
                      "media.retry_levels=on",
                      nand_retry_memory_name(c->retry_memory));
    }
    return true;
}

/* ---- state --------------------------------------------------------------- */

typedef struct BlockHistory {
    double since_h; /* when the oldest data was programmed, on clock_h() */
    uint32_t reads;
} BlockHistory;

/* The last answer of media_fail(): most blocks are equally worn. */
typedef struct FailChance {
    bool known;
    uint64_t cycles;
    double p;
} FailChance;

struct NandMedia {
    const NandConfig *cfg;
    const NandGeometry *geo;
    uint32_t n_blocks;
    uint32_t parts_per_codeword; /* at least 1 */
    uint32_t codewords_per_part; /* at least 1 */
    uint64_t cells;              /* key of the result of weakness() */
    Prng fail_rng;
    double off_h;            /* hours spent without power */
    BlockHistory *history;   /* by block; NULL without media.errors */
    FailChance chance[2][2]; /* of a program, of an erase; of nand.slc_blocks */
    uint64_t *factory_bad;   /* bitmap by block; NULL if there are none */
    bool varies;             /* media_varies() */
    double ages;             /* media_arrhenius() */
    RberTables *tables;      /* NULL without media.errors */
    uint64_t *lost; /* bitmap by page; NULL without media.paired_pages=on */
    uint8_t *known_level; /* by block or die: the level that helped last;
                             NULL without media.retry_memory */
};

static void draw_factory_bad(NandMedia *m)
{
    Prng r;

    prng_seed(&r, m->cfg->seed, PURPOSE_BAD);
    m->factory_bad = g_new0(uint64_t, bitmap_words(m->n_blocks));
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        if (prng_below(&r, 1000000) < m->cfg->factory_bad_ppm) {
            bitmap_set(m->factory_bad, b);
        }
    }
}

static void init_codewords(NandMedia *m)
{
    uint64_t part = m->cfg->page_bytes / NAND_PAGE_PARTS;
    uint64_t codeword = m->cfg->codeword_bytes;

    m->parts_per_codeword = (uint32_t)MAX(codeword / part, 1);
    m->codewords_per_part = (uint32_t)MAX(part / codeword, 1);
    invariant(m->parts_per_codeword == 1 || m->codewords_per_part == 1);
}

static uint32_t n_memories(const NandMedia *m)
{
    return m->cfg->retry_memory == RETRY_MEMORY_DIE ? m->geo->n_dies
                                                    : m->n_blocks;
}

NandMedia *media_new(const NandConfig *cfg, const NandGeometry *geo)
{
    NandMedia *m;

    if (!cfg->errors && cfg->program_fail == 0 && cfg->erase_fail == 0 &&
        cfg->factory_bad_ppm == 0 && cfg->paired_pages != NAND_PAIRED_ON) {
        return NULL;
    }
    m = g_new0(NandMedia, 1);
    m->cfg = cfg;
    m->geo = geo;
    m->n_blocks = geo->n_blocks;
    init_codewords(m);
    m->varies = media_varies(cfg);
    m->ages = media_arrhenius(cfg);
    m->cells = prng_hash(cfg->seed, PURPOSE_CELLS);
    prng_seed(&m->fail_rng, cfg->seed, PURPOSE_FAIL);
    if (cfg->errors) {
        m->history = lazy_new(BlockHistory, m->n_blocks);
        m->tables = rber_tables_new(cfg, geo, m->cells);
    }
    if (cfg->errors && cfg->retry_memory != RETRY_MEMORY_OFF) {
        m->known_level = lazy_new(uint8_t, n_memories(m));
    }
    if (cfg->factory_bad_ppm) {
        draw_factory_bad(m);
    }
    if (cfg->paired_pages == NAND_PAIRED_ON) {
        m->lost = lazy_new(uint64_t, bitmap_words(geo->n_pages));
    }
    return m;
}

void media_free(NandMedia *m)
{
    if (!m) {
        return;
    }
    if (m->history) {
        lazy_free(m->history, m->n_blocks, sizeof(*m->history));
    }
    if (m->known_level) {
        lazy_free(m->known_level, n_memories(m), sizeof(*m->known_level));
    }
    if (m->lost) {
        lazy_free(m->lost, bitmap_words(m->geo->n_pages), sizeof(*m->lost));
    }
    rber_tables_free(m->tables);
    g_free(m->factory_bad);
    g_free(m);
}

/* Hours since the drive was made, those without power included. */
static double clock_h(const NandMedia *m, uint64_t now_ps)
{
    return (double)now_ps / PS_PER_HOUR + m->off_h;
}

void media_programmed(NandMedia *m, uint32_t block, uint64_t now_ps,
                      double data_age_hours)
{
    invariant(block < m->n_blocks && data_age_hours >= 0);
    if (m->history) {
        m->history[block].since_h = clock_h(m, now_ps) - data_age_hours;
    }
}

/* Copyback corrects nothing: the copy is as old as the original. */
void media_copied(NandMedia *m, uint32_t from_block, uint32_t to_block)
{
    invariant(from_block < m->n_blocks && to_block < m->n_blocks);
    if (m->history) {
        m->history[to_block].since_h = MIN(m->history[to_block].since_h,
                                           m->history[from_block].since_h);
        m->history[from_block].reads++;
    }
}

void media_erased(NandMedia *m, uint32_t block)
{
    invariant(block < m->n_blocks);
    if (m->history) {
        m->history[block].reads = 0;
    }
    if (m->cfg->retry_memory == RETRY_MEMORY_BLOCK && m->known_level) {
        m->known_level[block] = 0;
    }
    for (uint32_t i = 0; m->lost && i < m->geo->pages_per_block; i++) {
        bitmap_clear(m->lost, (uint64_t)block * m->geo->pages_per_block + i);
    }
}

void media_lose_page(NandMedia *m, NandPpa ppa)
{
    bitmap_set(m->lost, ppa.page);
}

void media_page_copied(NandMedia *m, NandPpa from, NandPpa to)
{
    if (m->lost && bitmap_test(m->lost, from.page)) {
        bitmap_set(m->lost, to.page);
    }
}

bool media_page_lost(const NandMedia *m, NandPpa ppa)
{
    return m->lost && bitmap_test(m->lost, ppa.page);
}

void media_each_lost_page(const NandMedia *m,
                          void (*lost)(void *opaque, NandPpa ppa), void *opaque)
{
    uint64_t n = m->lost ? bitmap_words(m->geo->n_pages) : 0;
    LazyWalk walk;

    lazy_walk_begin(&walk, m->lost, n * sizeof(*m->lost));
    for (uint64_t i = 0; i < n; i++) {
        i = lazy_walk_index(&walk, i, sizeof(*m->lost));
        for (uint64_t word = i < n ? m->lost[i] : 0; word; word &= word - 1) {
            lost(opaque, (NandPpa){i * 64 + (uint64_t)__builtin_ctzll(word)});
        }
    }
    lazy_walk_end(&walk);
}

void media_power_off(NandMedia *m)
{
    m->off_h += m->cfg->off_hours;
    if (m->known_level) { /* it was in the controller's memory */
        lazy_clear(m->known_level, n_memories(m), sizeof(*m->known_level));
    }
}

/* ---- reads --------------------------------------------------------------- */

/* How old the block's data is, in media.retention_unit at the reference
 * temperature. */
static double age_units(const NandMedia *m, uint32_t block, uint64_t now_ps)
{
    double unit_h = (double)m->cfg->ret_unit_ps / PS_PER_HOUR;

    return media_data_hours(m, block, now_ps) / unit_h * m->ages;
}

/* Of a read at the standard reference voltage. */
static double rber_now(const NandMedia *m, const NandOp *op,
                       const MediaWear *wear, uint64_t now_ps)
{
    const NandConfig *c = m->cfg;
    uint32_t block = op->block;
    double reads = (double)m->history[block].reads /
                   nand_block_pages(m->geo, block);
    double rber = rber_tables_rber(
        m->tables, (double)wear->cycles + (double)c->start_cycles,
        age_units(m, block, now_ps), reads);

    invariant(m->history && m->cfg->errors);
    if (nand_block_is_slc(m->geo, block)) {
        rber *= c->slc_factor;
    }
    if (m->varies) {
        rber *= rber_tables_factor(m->tables, block,
                                   nand_page_in_block(m->geo, op->ppa.page));
    }
    return rber;
}

/* ---- retries ------------------------------------------------------------- */

/* The best level of the read's word line now. */
static double best_level(const NandMedia *m, const NandOp *op,
                         const MediaWear *wear, uint64_t now_ps)
{
    const NandConfig *c = m->cfg;
    bool slc = nand_block_is_slc(m->geo, op->block);
    double pe = (double)wear->cycles + (double)c->start_cycles;
    uint32_t line =
        media_word_line(c, slc, nand_page_in_block(m->geo, op->ppa.page));
    double z = c->shift_sigma > 0
                   ? media_normal(prng_hash(
                         prng_hash(m->cells ^ PURPOSE_LEVEL, op->block), line))
                   : 0;

    return retry_best_level(c, wear->rated ? pe / wear->rated : 0,
                            age_units(m, op->block, now_ps), z);
}

/* What retries make of the rate of the present attempt.  Not below that of a
 * new block: a level cannot do better than that. */
static double rber_of_attempt(const NandMedia *m, const NandOp *op,
                              const MediaWear *wear, uint64_t now_ps)
{
    const NandConfig *c = m->cfg;
    double rber = rber_now(m, op, wear, now_ps);
    bool soft = retry_is_soft(c, op->retries);
    uint32_t hard = MIN(op->retries, c->retry_limit);
    double best;
    double level;

    if (!c->retry_levels) {
        rber *= pow(c->retry_factor, hard);
    } else {
        best = best_level(m, op, wear, now_ps);
        level =
            soft ? retry_nearest_level(c, best)
                 : retry_level((uint32_t)op->first_level, hard, c->retry_limit);
        rber = MAX(rber * retry_level_factor(c, level, best),
                   MIN(rber, c->rber_base));
    }
    return soft ? rber * c->soft_factor : rber;
}

/* Where the level that helped is recorded; NULL: nowhere. */
static uint8_t *memory_of(NandMedia *m, const NandOp *op)
{
    return !m->known_level ? NULL
           : m->cfg->retry_memory == RETRY_MEMORY_DIE
               ? &m->known_level[op->die]
               : &m->known_level[op->block];
}

/* The page could be read: record the level, unless soft decoding was needed. */
static void remember(NandMedia *m, const NandOp *op)
{
    uint8_t *known = memory_of(m, op);

    if (known && op->retries && !retry_is_soft(m->cfg, op->retries)) {
        *known = (uint8_t)retry_level((uint32_t)op->first_level, op->retries,
                                      m->cfg->retry_limit);
    }
}

/* The first attempt begins at the recorded level. */
static void begin_attempts(NandMedia *m, NandOp *op)
{
    const uint8_t *known = memory_of(m, op);

    if (op->retries == 0) {
        op->first_level = known ? *known : 0;
    }
}

/* Of a codeword, uniform in [0, 1): see above.  page: cells of the page. */
static double weakness(uint64_t page, uint32_t codeword)
{
    return prng_to_double(prng_hash(page, codeword));
}

/* The parts of the codeword that begins at a part. */
static uint64_t codeword_parts(const NandMedia *m, uint32_t part)
{
    return m->parts_per_codeword >= NAND_PAGE_PARTS
               ? UINT64_MAX
               : ((1ULL << m->parts_per_codeword) - 1) << part;
}

/* The lowest of the weaknesses in those parts. */
static double weakest(const NandMedia *m, uint64_t page, uint64_t parts)
{
    uint32_t codeword = 0;
    double lowest = 1;

    for (uint32_t i = 0; i < NAND_PAGE_PARTS; i += m->parts_per_codeword) {
        uint64_t covers = codeword_parts(m, i);

        for (uint32_t k = 0; k < m->codewords_per_part; k++, codeword++) {
            if (parts & covers) {
                lowest = MIN(lowest, weakness(page, codeword));
            }
        }
    }
    return lowest;
}

/* Those of the parts that are in codewords which cannot be corrected at this
 * raw bit error rate. */
static uint64_t lost_parts(const NandMedia *m, const NandOp *op,
                           uint32_t erases, uint64_t parts, double rber)
{
    uint64_t page = prng_hash(prng_hash(m->cells, op->ppa.page), erases);
    uint64_t lost = 0;
    uint32_t codeword = 0;
    double p;

    if (rber_tables_below(m->tables, rber, weakest(m, page, parts))) {
        return 0;
    }
    p = media_tail((uint32_t)m->cfg->codeword_bytes * 8, m->cfg->ecc_bits,
                   rber);
    for (uint32_t i = 0; i < NAND_PAGE_PARTS; i += m->parts_per_codeword) {
        uint64_t covers = codeword_parts(m, i);

        for (uint32_t k = 0; k < m->codewords_per_part; k++, codeword++) {
            if (parts & covers && weakness(page, codeword) < p) {
                lost |= covers;
            }
        }
    }
    return lost & parts;
}

bool media_read_again(NandMedia *m, NandOp *op, const MediaWear *wear,
                      uint64_t now_ps)
{
    uint64_t parts = op->parts ? op->parts : UINT64_MAX;
    uint64_t lost;

    if (!m->history || op->bytes == 0) {
        return false;
    }
    if (retry_only_senses(m->cfg, op->retries)) {
        m->history[op->block].reads++;
        op->retries++;
        return true;
    }
    begin_attempts(m, op);
    lost = op->bad_parts | lost_parts(m, op, wear->erases, parts,
                                      rber_of_attempt(m, op, wear, now_ps));
    m->history[op->block].reads++;
    if (lost && op->retries < retry_last(m->cfg)) {
        op->retries++;
        return true;
    }
    if (!lost) {
        remember(m, op);
    }
    op->bad_parts = lost;
    return false;
}

uint32_t media_read_count(const NandMedia *m, uint32_t block)
{
    return m->history ? m->history[block].reads : 0;
}

void media_rebase(NandMedia *m, uint64_t by_ps)
{
    m->off_h += (double)by_ps / PS_PER_HOUR;
}

double media_data_hours(const NandMedia *m, uint32_t block, uint64_t now_ps)
{
    return m->history ? clock_h(m, now_ps) - m->history[block].since_h : 0;
}

/* ---- programs, erases, factory bad blocks -------------------------------- */

bool media_op_fails(NandMedia *m, const NandOp *op, const MediaWear *wear)
{
    bool erase = op->kind == NAND_ERASE;
    bool cache = nand_block_is_cache(m->geo, op->block);
    double base = erase ? m->cfg->erase_fail : m->cfg->program_fail;
    FailChance *c = &m->chance[erase][cache];

    if (base <= 0) {
        return false;
    }
    if (!c->known || c->cycles != wear->cycles) {
        *c = (FailChance){
            .known = true,
            .cycles = wear->cycles,
            .p = media_fail(m->cfg, base,
                            (double)wear->cycles + (double)m->cfg->start_cycles,
                            wear->rated),
        };
    }
    return prng_double(&m->fail_rng) < c->p;
}

bool media_factory_bad(const NandMedia *m, uint32_t block)
{
    return m->factory_bad && bitmap_test(m->factory_bad, block);
}

void media_age_reads(NandMedia *m, uint32_t block, uint32_t n)
{
    if (m->history) {
        m->history[block].reads += n;
    }
}

/* ---- saving -------------------------------------------------------------- */

static const StateRow media_rows[] = {
    STATE_UNSAVED_ROW(NandMedia, cfg),
    STATE_UNSAVED_ROW(NandMedia, geo),
    STATE_UNSAVED_ROW(NandMedia, n_blocks),
    STATE_UNSAVED_ROW(NandMedia, parts_per_codeword),
    STATE_UNSAVED_ROW(NandMedia, codewords_per_part),
    STATE_VALUE_ROW(NandMedia,
                    cells), /* the drive's, whatever the seed is now */
    STATE_VALUE_ROW(NandMedia, fail_rng),
    STATE_VALUE_ROW(NandMedia, off_h),
    STATE_TABLE_ROW(NandMedia, history, 0),
    STATE_UNSAVED_ROW(NandMedia, chance),      /* caches a calculation */
    STATE_UNSAVED_ROW(NandMedia, factory_bad), /* drawn from the seed */
    STATE_UNSAVED_ROW(NandMedia, varies), /* these follow from the options */
    STATE_UNSAVED_ROW(NandMedia, ages),
    STATE_UNSAVED_ROW(NandMedia, tables),
    STATE_TABLE_ROW(NandMedia, lost, 2),
    STATE_TABLE_ROW(NandMedia, known_level, 1),
};

static const StateStruct media_struct = {
    "NandMedia", media_rows, G_N_ELEMENTS(media_rows), sizeof(NandMedia),
};

const StateStruct *media_state_struct(void)
{
    return &media_struct;
}

bool media_state(NandMedia *m, State *s)
{
    const uint64_t counts[] = {m->n_blocks, n_memories(m),
                               bitmap_words(m->geo->n_pages)};

    return state_values(s, &media_struct, m) &&
           state_tables(s, &media_struct, m, counts);
}

bool media_levels_sound(const NandMedia *m)
{
    uint32_t n = m->known_level ? n_memories(m) : 0;

    for (uint32_t i = 0; i < n; i++) {
        if (m->known_level[i] > m->cfg->retry_limit) {
            return false;
        }
    }
    return true;
}
