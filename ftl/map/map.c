/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.c - the page-level map: logical unit to buffer slot or physical unit.
 *
 * Knows which copy of a unit is current.  Knows nothing of time.
 *
 * The copy in NAND of a unit that has been written again stays valid until the
 * newer one is programmed: a power cut before that must find it.  The place of
 * such a copy is in the oldest slot of the unit (Slot.old_entry).
 */
#include "buffer/unmap.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/spare.h"
#include "ssd-internal.h"

const MapPolicy map_page = {
    .name = "page",
    .help = "every unit by itself, the whole map in memory",
};

uint64_t map_nand_entry(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    return map_is_buffered(entry) ? slot_oldest(ssd, entry)->old_entry : entry;
}

uint64_t map_version(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    if (map_is_buffered(entry)) {
        return ssd->buffer->slot[map_slot(entry)].version;
    }
    return entry && ssd->media->spare_version ? unit_version(ssd, entry - 1)
                                              : 0;
}

bool map_move(Ssd *ssd, uint64_t from_ppu, uint64_t to_ppu)
{
    uint64_t lpn = spare_lpn(ssd, from_ppu);
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    if (!unit_is_valid(ssd, from_ppu)) {
        return false;
    }
    if (map_is_buffered(entry)) {
        slot_moved(ssd, entry, from_ppu, to_ppu);
    } else {
        invariant(entry == from_ppu + 1);
        l2p_set(&ssd->l2p, lpn, to_ppu + 1);
    }
    block_clear_valid(ssd, from_ppu);
    block_set_valid(ssd, to_ppu);
    return true;
}

void map_trim(Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    if (entry == 0) {
        return;
    }
    if (saves(ssd)) {
        saved_trim(ssd, lpn, map_version(ssd, lpn));
    }
    if (!map_is_buffered(entry)) {
        block_clear_valid(ssd, entry - 1);
        l2p_set(&ssd->l2p, lpn, 0);
        invariant(ssd->l2p.mapped_units > 0);
        ssd->l2p.mapped_units--;
        map_changed(ssd, lpn, MAP_TRIMMED);
        return;
    }
    if (!ssd->buffer->slot[map_slot(entry)].dead) {
        invariant(ssd->l2p.mapped_units > 0);
        ssd->l2p.mapped_units--;
        if (map_nand_entry(ssd, lpn)) {
            map_changed(ssd, lpn, MAP_TRIMMED);
        }
        slot_trim(ssd, lpn);
    }
}

/* ---- questions of ssd.h -------------------------------------------------- */

bool ssd_mapped(const Ssd *ssd, uint64_t lba, uint64_t *version)
{
    uint64_t lpn = lba >> ssd->block_shift;
    bool trimmed;

    invariant(lba < ssd->info.nblocks);
    trimmed = ssd->map->n_trim_left > 0 && trim_covers(ssd, lpn);
    if (version) {
        *version = trimmed ? 0 : map_version(ssd, lpn);
    }
    return !trimmed && map_holds(ssd, lpn);
}

static void place_in_nand(const Ssd *ssd, uint64_t ppu, SsdPlace *place)
{
    uint64_t page = ppu_page(ssd, ppu);

    invariant(ppu < ssd->l.raw_units &&
              numtable_get(&ssd->media->spare_lpn, ppu) != SPARE_NONE);
    place->in_nand = true;
    place->stream = unit_stream(ssd, ppu);
    place->erase_block = ppu_block(ssd, ppu);
    place->page = nand_page_in_block(ssd->geo, page);
    place->block_stream = block_stream(ssd, place->erase_block);
}

void ssd_place(const Ssd *ssd, uint64_t lba, SsdPlace *place)
{
    uint64_t entry;

    *place = (SsdPlace){.mapped = ssd_mapped(ssd, lba, NULL)};
    entry = l2p_get(&ssd->l2p, lba >> ssd->block_shift);
    if (!place->mapped) {
        return;
    }
    if (map_is_buffered(entry)) {
        place->stream = ssd->buffer->slot[map_slot(entry)].stream;
    } else {
        place_in_nand(ssd, entry - 1, place);
    }
}

static void programmed(Ssd *ssd, uint64_t lpn)
{
    map_changed(ssd, lpn, MAP_PROGRAMMED);
}

const BufferClient map_buffer_client = {
    .programmed = programmed,
};
