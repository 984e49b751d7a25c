/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand-config.c - the options of the array: table, and checks across rows. */
#include "nand-internal.h"
#include "nand-reliability.h"

/* ---- rows that set others, too ------------------------------------------- */

static void one_read_time(void *base)
{
    NandConfig *c = base;

    c->t_read2_ps = c->t_read3_ps = c->t_read4_ps = c->t_read_ps;
}

static void one_program_time(void *base)
{
    NandConfig *c = base;

    c->t_prog2_ps = c->t_prog3_ps = c->t_prog4_ps = c->t_prog_ps;
}

static void one_erase_time(void *base)
{
    NandConfig *c = base;

    c->t_slc_erase_ps = c->t_erase_ps;
}

static void load_timing(void *base)
{
    nand_timing_preset(base);
}

/* These two say the same thing in two ways. */
static void rate_by_transfers(void *base)
{
    NandConfig *c = base;

    c->bus_ps_per_byte = c->bus_mt_s ? 0 : c->bus_ps_per_byte;
}

static void rate_by_time(void *base)
{
    NandConfig *c = base;

    c->bus_mt_s = 0;
}

/* ---- the table ----------------------------------------------------------- */

#define NAND_DESC(...) OPT_ROW(NandConfig, __VA_ARGS__)

const OptDesc nand_options[] = {NAND_OPTIONS(NAND_DESC)
                                  NAND_MEDIA_OPTIONS(NAND_DESC)};
const size_t nand_n_options = G_N_ELEMENTS(nand_options);

static const char *name_of(const char *const *names, size_t n, unsigned i)
{
    return i < n ? names[i] : NULL;
}

const char *nand_cell_name(unsigned i)
{
    static const char *const names[] = {"slc", "mlc", "tlc", "qlc"};

    return name_of(names, G_N_ELEMENTS(names), i);
}

const char *nand_paired_name(unsigned i)
{
    static const char *const names[] = {
        [NAND_PAIRED_OFF] = "off",
        [NAND_PAIRED_ON] = "on",
        [NAND_PAIRED_BACKUP] = "backup",
    };

    return name_of(names, G_N_ELEMENTS(names), i);
}

const char *nand_lock_name(unsigned i)
{
    static const char *const names[] = {
        [NAND_LOCK_DIE] = "die",
        [NAND_LOCK_PLANE] = "plane",
        [NAND_LOCK_CHIP] = "chip",
    };

    return name_of(names, G_N_ELEMENTS(names), i);
}

const char *nand_suspend_name(unsigned i)
{
    static const char *const names[] = {
        [NAND_SUSPEND_OFF] = "off",
        [NAND_SUSPEND_ERASE] = "erase",
        [NAND_SUSPEND_PROGRAM] = "program",
        [NAND_SUSPEND_BOTH] = "both",
    };

    return name_of(names, G_N_ELEMENTS(names), i);
}

const char *nand_arbitration_name(unsigned i)
{
    static const char *const names[] = {
        [NAND_ARBITRATION_PHASE] = "phase",
        [NAND_ARBITRATION_GROUP] = "group",
    };

    return name_of(names, G_N_ELEMENTS(names), i);
}

void nand_config_defaults(NandConfig *cfg)
{
    *cfg = (NandConfig){0};
    opt_set_defaults(cfg, nand_options, nand_n_options);
}

#define refuse(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* Features that the rest of the array does not allow. */
static bool check_features(const NandConfig *cfg, GError **error)
{
    if (cfg->bus_width != 8 && cfg->bus_width != 16) {
        return refuse(error, "nand.bus_width: allowed 8, 16");
    }
    if (cfg->codeword_bytes & (cfg->codeword_bytes - 1) ||
        cfg->codeword_bytes > cfg->page_bytes) {
        return refuse(error, "nand.ecc_codeword: must be a power of two, at "
                             "most nand.page_size");
    }
    if (cfg->multi_plane && cfg->planes == 1) {
        return refuse(error, "nand.multi_plane=on: needs nand.planes of 2 or "
                             "more");
    }
    if (cfg->multi_plane && cfg->lock == NAND_LOCK_PLANE) {
        return refuse(error, "nand.multi_plane=on: planes that are locked one "
                             "by one (nand.lock=plane) share no command");
    }
    if (cfg->composite && cfg->lock != NAND_LOCK_CHIP) {
        return refuse(error, "nand.composite=on: needs nand.lock=chip");
    }
    if (cfg->gc_hold && cfg->lock != NAND_LOCK_CHIP) {
        return refuse(error, "nand.gc_hold=on: needs nand.lock=chip");
    }
    if (cfg->gc_hold && cfg->suspend != NAND_SUSPEND_OFF) {
        return refuse(error, "nand.gc_hold=on: needs nand.suspend=off");
    }
    if (cfg->composite && cfg->dies * cfg->planes > NAND_MOST_JOINED) {
        return refuse(error,
                      "nand.composite=on: needs chips of at most %u "
                      "planes (nand.dies times nand.planes)",
                      NAND_MOST_JOINED);
    }
    if (cfg->independent_reads && !cfg->multi_plane) {
        return refuse(error, "nand.independent_reads=on: needs "
                             "nand.multi_plane=on");
    }
    if (cfg->async_reads && (cfg->lock != NAND_LOCK_DIE || cfg->planes == 1)) {
        return refuse(error, cfg->planes == 1
                                 ? "nand.async_reads=on: needs nand.planes of "
                                   "2 or more"
                                 : "nand.async_reads=on: needs nand.lock=die");
    }
    if ((cfg->cache_read || cfg->cache_program) && cfg->registers < 2) {
        return refuse(error, cfg->cache_read
                                 ? "nand.cache_read=on: needs nand.registers=2"
                                 : "nand.cache_program=on: needs "
                                   "nand.registers=2");
    }
    if (cfg->slc_blocks && cfg->cell == 0) {
        return refuse(error, "nand.slc_blocks: with nand.cell=slc every block "
                             "is one");
    }
    if (cfg->slc_blocks && cfg->pages < 4 * (cfg->cell + 1)) {
        return refuse(error, "nand.slc_blocks: nand.pages must be 4 word lines "
                             "or more");
    }
    if (cfg->slc_blocks >= cfg->blocks) {
        return refuse(error, "nand.slc_blocks: must be fewer than nand.blocks");
    }
    if (cfg->one_shot && cfg->pages % (cfg->cell + 1)) {
        return refuse(error, "nand.one_shot=on: nand.pages must be a multiple "
                             "of the pages of a word line (nand.cell)");
    }
    if (cfg->one_shot && cfg->copyback) {
        return refuse(error, "nand.copyback=on: moves single pages, "
                             "nand.one_shot=on programs whole word lines");
    }
    if (cfg->paired_pages != NAND_PAIRED_OFF &&
        (cfg->cell == 0 || cfg->one_shot)) {
        return refuse(error,
                      "media.paired_pages=%s: needs nand.cell=mlc, tlc "
                      "or qlc and nand.one_shot=off, where a word line "
                      "has several programs",
                      nand_paired_name(cfg->paired_pages));
    }
    if (cfg->status_poll && cfg->interface == 0) {
        return refuse(error, "nand.status_poll=on: nand.interface=simple has "
                             "no status command");
    }
    return true;
}

/* Of the array: tables of blocks have indices of 32 bits, or index + 1. */
#define MOST_BLOCKS (1U << 30)

bool nand_config_check(const NandConfig *cfg, GError **error)
{
    uint64_t planes = (uint64_t)cfg->channels * cfg->chips * cfg->dies *
                      cfg->planes;
    uint64_t pages = planes * cfg->blocks * cfg->pages;

    if (cfg->page_bytes & (cfg->page_bytes - 1)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "nand.page_size=%" G_GUINT64_FORMAT
                    ": must be a power of two",
                    cfg->page_bytes);
        return false;
    }
    if (planes > 65536) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "nand.channels x chips x dies x planes = %" G_GUINT64_FORMAT
                    ": allowed 1..65536 planes",
                    planes);
        return false;
    }
    if (planes * cfg->blocks > MOST_BLOCKS) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "nand.blocks=%u: makes %" G_GUINT64_FORMAT
                    " blocks in all: allowed 1..%u (more nand.pages)",
                    cfg->blocks, planes * cfg->blocks, MOST_BLOCKS);
        return false;
    }
    if (pages >= 1ULL << NAND_PAGE_BITS) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "nand: %" G_GUINT64_FORMAT
                    " pages in all: allowed 1..%llu (fewer blocks, or a "
                    "larger nand.page_size)",
                    pages, (1ULL << NAND_PAGE_BITS) - 1);
        return false;
    }
    return check_features(cfg, error) && nand_media_check(cfg, error);
}
