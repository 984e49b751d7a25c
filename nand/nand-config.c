/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand-config.c - the options of the array: table, and checks across rows. */
#include "nand.h"

#define NAND_DESC(type, ctype, field, key, min, max, def, names, help)         \
    {key, OPT_##type, offsetof(NandConfig, field), min, max, def, names, help},

const OptDesc nand_options[] = {NAND_OPTIONS(NAND_DESC)};
const size_t nand_n_options = G_N_ELEMENTS(nand_options);

bool nand_config_set(NandConfig *cfg, const OptDesc *d, const char *value,
                     GError **error)
{
    if (!opt_set(cfg, d, value, error)) {
        return false;
    }
    if (d->offset == offsetof(NandConfig, bus_mt_s)) {
        cfg->bus_ps_per_byte = 0;
    } else if (d->offset == offsetof(NandConfig, bus_ps_per_byte)) {
        cfg->bus_mt_s = 0;
    }
    return true;
}

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
    if (pages > 1ULL << 31) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "nand: %" G_GUINT64_FORMAT
                    " pages in all: allowed 1..2147483648 (fewer blocks, or a "
                    "larger nand.page_size)",
                    pages);
        return false;
    }
    return true;
}

uint64_t nand_transfer_ps(const NandConfig *cfg, uint32_t bytes)
{
    if (cfg->bus_mt_s) {
        return ((uint64_t)bytes * 1000000 + cfg->bus_mt_s - 1) / cfg->bus_mt_s;
    }
    return bytes * cfg->bus_ps_per_byte;
}
