/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream-stats.c - the statistics of streams, since the last reset.
 */
#include "inspect/inspect.h"
#include "placement/placement-internal.h"
#include "media/programmed.h"
#include "ssd-internal.h"
#include "placement/placement.h"

SsdStreamCounters stream_since(const Ssd *ssd, uint32_t stream)
{
    const Stream *st = stream_at(ssd, stream);

    return (SsdStreamCounters){
        .host_bytes_written =
            st->n.host_bytes_written - st->base.host_bytes_written,
        .host_units = st->n.host_units - st->base.host_units,
        .padded_units = st->n.padded_units - st->base.padded_units,
        .copied_units = st->n.copied_units - st->base.copied_units,
        .victims = st->n.victims - st->base.victims,
        .victim_valid_units =
            st->n.victim_valid_units - st->base.victim_valid_units,
        .erases = st->n.erases - st->base.erases,
        .nand_bytes_written = programmed_since(ssd, stream) << ssd->unit_shift,
    };
}

double stream_waf_of(const Ssd *ssd, uint32_t stream)
{
    SsdStreamCounters c = stream_since(ssd, stream);

    return c.host_bytes_written
               ? (double)c.nand_bytes_written / (double)c.host_bytes_written
               : 0;
}

double stream_invalid_share(const Ssd *ssd, uint32_t stream)
{
    SsdStreamCounters c = stream_since(ssd, stream);
    double units = (double)c.victims * ssd->l.data_units;

    return (units - (double)c.victim_valid_units) / units;
}
