/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream-stats.c - the statistics of streams, as JSON.
 */
#include "inspect/inspect.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static SsdStreamCounters since_reset(const Stream *st)
{
    return (SsdStreamCounters){
        .host_bytes_written = st->n.host_bytes_written -
                              st->base.host_bytes_written,
        .host_units = st->n.host_units - st->base.host_units,
        .padded_units = st->n.padded_units - st->base.padded_units,
        .copied_units = st->n.copied_units - st->base.copied_units,
        .victims = st->n.victims - st->base.victims,
        .victim_valid_units = st->n.victim_valid_units -
                              st->base.victim_valid_units,
        .erases = st->n.erases - st->base.erases,
    };
}

static void victims_json(const Ssd *ssd, JsonWriter *w,
                         const SsdStreamCounters *c)
{
    double units = (double)c->victims * ssd->l.units_per_block;

    json_u64(w, "victims", c->victims);
    json_u64(w, "erases", c->erases);
    /* Of none it is 0 / 0, which is printed as null. */
    json_double(w, "invalid_at_erase",
                (units - (double)c->victim_valid_units) / units);
}

static void one_json(const Ssd *ssd, JsonWriter *w, uint32_t stream)
{
    SsdStreamCounters c = since_reset(&ssd->placement->stream[stream]);
    uint64_t units = c.host_units + c.padded_units + c.copied_units;
    double bytes = (double)(units << ssd->unit_shift);

    json_open(w, NULL, '{');
    json_u64(w, "id", stream);
    json_u64(w, "host_bytes_written", c.host_bytes_written);
    json_u64(w, "host_units", c.host_units);
    json_u64(w, "padded_units", c.padded_units);
    json_u64(w, "copied_units", c.copied_units);
    json_double(w, "waf", c.host_bytes_written
                              ? bytes / (double)c.host_bytes_written
                              : 0);
    json_u64(w, "units_dirty", ssd->placement->stream[stream].queue.n_unsafe);
    json_u64(w, "open_blocks", ssd_stream_open_blocks(ssd, stream));
    victims_json(ssd, w, &c);
    json_close(w, '}');
}

void stream_json(const Ssd *ssd, JsonWriter *w)
{
    SsdStreamCounters c =
        since_reset(&ssd->placement->stream[ssd->l.n_streams]);

    json_open(w, "streams", '[');
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        one_json(ssd, w, i);
    }
    json_close(w, ']');
    json_open(w, "streams_merged", '{');
    json_u64(w, "mixed_pages", ssd->placement->mixed_pages);
    victims_json(ssd, w, &c);
    json_close(w, '}');
}
