/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock-config.c - options of superblocks: sizes, and combinations.
 *
 * Sizes are planes.  Those of the drive are those of a reclaim group, with
 * fdp.groups.
 */
#include "superblock-config.h"

#include "options.h"

#include <inttypes.h>

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

enum { ONE_PLANE, ONE_DIE, WHOLE_DRIVE };

const char *ssd_planes_name(unsigned i)
{
    static const char *const names[] = {
        [ONE_PLANE] = "plane",
        [ONE_DIE] = "die",
        [WHOLE_DRIVE] = "drive",
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

static uint32_t group_planes(const SsdConfig *cfg)
{
    uint32_t planes = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies *
                      cfg->nand.planes;

    return cfg->ruhs ? planes / cfg->groups : planes;
}

static uint32_t planes_of(const SsdConfig *cfg, uint32_t size)
{
    switch (size) {
    case OPT_NAMED(ONE_PLANE):
        return 1;
    case OPT_NAMED(ONE_DIE):
        return cfg->nand.planes;
    case OPT_NAMED(WHOLE_DRIVE):
        return group_planes(cfg);
    default:
        return size;
    }
}

uint32_t superblock_width(const SsdConfig *cfg)
{
    return planes_of(cfg, cfg->superblock_width);
}

uint32_t superblock_row(const SsdConfig *cfg)
{
    return planes_of(cfg, cfg->superblock_row);
}

uint32_t superblock_parity_dies(const SsdConfig *cfg)
{
    uint32_t dies = superblock_width(cfg) / cfg->nand.planes;

    return cfg->parity && dies > 1 ? dies : 0;
}

/* Sets of planes are whole dies, and fill the drive. */
static bool check_size(const SsdConfig *cfg, const char *key, uint32_t planes,
                       uint32_t most, GError **error)
{
    uint32_t all = group_planes(cfg);

    return planes == 1 ||
           (planes <= most && planes % cfg->nand.planes == 0 &&
            all % planes == 0) ||
           fail(error,
                "%s=%u: must be plane, or whole dies of %u planes that divide "
                "the %u planes of the %s%s",
                key, planes, cfg->nand.planes, all,
                cfg->ruhs && cfg->groups > 1 ? "reclaim group" : "drive",
                most < all ? ", and at most 32" : "");
}

static bool check_row(const SsdConfig *cfg, GError **error)
{
    uint32_t planes = superblock_row(cfg);

    if (planes == 1) {
        return !cfg->row_padding ||
               fail(error, "superblock.padding=on: needs a superblock.row of "
                           "several planes");
    }
    return ssd_alloc_in_rows(cfg->alloc) ||
           fail(error,
                "superblock.row=%u: needs ftl.alloc=stripe or in-order (it "
                "is %s)",
                planes, ssd_alloc_name(cfg->alloc));
}

static bool check_parity(const SsdConfig *cfg, GError **error)
{
    const NandConfig *n = &cfg->nand;
    uint32_t programs = n->pages / (n->one_shot ? n->cell + 1 : 1);
    uint32_t dies = superblock_parity_dies(cfg);

    if (!cfg->parity) {
        return true;
    }
    if (dies == 0) {
        return fail(error,
                    "superblock.parity=on: needs a superblock.width of 2 dies "
                    "or more, %u planes (it is %u)",
                    2 * n->planes, superblock_width(cfg));
    }
    if (programs % dies != 0) {
        return fail(error,
                    "superblock.parity=on: needs a superblock.width of dies "
                    "that divide the programs of a block, %u (it is %u dies)",
                    programs, dies);
    }
    if (superblock_row(cfg) % superblock_width(cfg) != 0) {
        return fail(error,
                    "superblock.parity=on: needs a superblock.row of one "
                    "superblock.width, %u planes, or of several (it is %u)",
                    superblock_width(cfg), superblock_row(cfg));
    }
    /* The controller never has the data of such a copy, nor its XOR. */
    return !n->copyback ||
           fail(error, "superblock.parity=on: needs nand.copyback=off");
}

bool superblock_config_check(const SsdConfig *cfg, GError **error)
{
    if (cfg->nand.gc_hold && superblock_width(cfg) > 1) {
        return fail(error, "nand.gc_hold=on: needs superblock.width=plane");
    }
    return check_size(cfg, "superblock.width", superblock_width(cfg),
                      UINT32_MAX, error) &&
           check_size(cfg, "superblock.row", superblock_row(cfg),
                      SSD_MOST_ROW_PLANES, error) &&
           check_row(cfg, error) && check_parity(cfg, error);
}
