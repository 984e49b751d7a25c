/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dram.c - the controller's DRAM.
 *
 * Writes of the host enter one after another.  With buffer.mb_s all data of the
 * host that enters or leaves DRAM, or goes through it, shares its rate.  With
 * buffer.shared so does what GC, the map and programs move, and with
 * buffer.map_bytes the map itself.
 */
#include "controller/controller-private.h"
#include "controller/controller.h"
#include "ssd-internal.h"

static uint64_t bytes_ps(const SsdConfig *cfg, uint64_t bytes)
{
    return cfg->dram_mb_s == 0
               ? 0
               : (bytes * 1000000 + cfg->dram_mb_s - 1) / cfg->dram_mb_s;
}

static uint64_t unit_access_ps(const SsdConfig *cfg)
{
    uint64_t words = (cfg->unit_bytes + cfg->dram_word - 1) / cfg->dram_word;

    return cfg->t_buffer_ps + words * cfg->t_dram_word_ps;
}

void dram_init(Ssd *ssd)
{
    ssd->controller->dram_move_ps = bytes_ps(ssd->cfg, ssd->cfg->unit_bytes);
    ssd->controller->dram_unit_ps =
        unit_access_ps(ssd->cfg) + ssd->controller->dram_move_ps;
    ssd->controller->dram_map_ps = bytes_ps(ssd->cfg, ssd->cfg->map_bytes);
}

static uint64_t busy(Ssd *ssd, uint64_t ps)
{
    Controller *c = ssd->controller;

    return part_serve(c, HOST_DRAM, &c->dram_free_ps, ssd->now_ps, ps);
}

uint64_t dram_map(Ssd *ssd, uint64_t entries)
{
    return busy(ssd, entries * ssd->controller->dram_map_ps);
}

uint64_t dram_share(Ssd *ssd, uint64_t bytes)
{
    return ssd->cfg->dram_shared ? busy(ssd, bytes_ps(ssd->cfg, bytes))
                                 : ssd->now_ps;
}

uint64_t dram_move(Ssd *ssd, uint64_t units)
{
    return busy(ssd, units * ssd->controller->dram_move_ps);
}

uint64_t dram_end(Ssd *ssd, uint64_t from_ps, uint64_t units)
{
    uint64_t end_ps =
        MAX(from_ps, ssd->now_ps) + units * ssd->controller->dram_unit_ps;

    if (ssd->controller->dram_move_ps) {
        uint64_t moved_ps = dram_move(ssd, units);

        end_ps = MAX(end_ps, moved_ps + dram_access_ps(ssd));
    }
    return end_ps;
}

uint64_t dram_enter(Ssd *ssd, uint64_t from_ps, uint64_t units)
{
    Controller *c = ssd->controller;

    if (c->dram_move_ps) {
        c->dram_in_ps = dram_end(ssd, c->dram_in_ps, units);
        return c->dram_in_ps;
    }
    return part_serve(c, HOST_DRAM, &c->dram_in_ps, from_ps,
                      units * c->dram_unit_ps);
}
