/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.c - placement streams: their open blocks and their accounts.
 *
 * A stream is a number that the host gives with a write: one of the Streams
 * directive, or a reclaim unit handle of FDP.  Units of different streams never
 * share a page or a block that the host fills; whether they do in blocks that
 * GC fills is streams.gc's business.  block.c keeps the open blocks, gc.c
 * decides the copies, and buffer/stream-queue.c the queue of each stream.
 */
#include "media/jobs.h"
#include "media/media.h"
#include "media/programmed.h"
#include "media/spare.h"
#include "placement/alloc.h"
#include "placement/life.h"
#include "placement/streams.h"
#include "ssd-internal.h"

void stream_init(Ssd *ssd)
{
    invariant(!ssd->placement->stream && ssd->l.n_streams > 0);
    invariant(ssd->l.n_streams <= SSD_MOST_STREAMS);
    ssd->placement->stream = g_new0(Stream, ssd->l.n_streams + 1);
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        ssd->placement->stream[i].row = rows_first(ssd, i);
    }
}

void stream_destroy(Ssd *ssd)
{
    g_free(ssd->placement->stream);
}

/* ---- blocks -------------------------------------------------------------- */

uint32_t ssd_stream_open_blocks(const Ssd *ssd, uint32_t stream)
{
    uint32_t class = ssd->l.class_of[stream];
    uint32_t gc =
        ssd->l.n_stream_classes > 1 && ssd->l.of_class[class] != SSD_OF_SEVERAL
            ? open_index(ssd, OPEN_GC, class)
            : NONE;
    uint32_t first = stream_group(ssd, stream) * ssd->l.group_planes;
    uint32_t n = 0;

    invariant(stream < ssd->l.n_streams);
    for (uint32_t i = first; i < first + ssd->l.group_planes; i++) {
        const Open *open = plane_at(ssd, i)->open;

        n += open[stream].block != NONE;
        n += gc != NONE && open[gc].block != NONE;
    }
    return n;
}

uint64_t ssd_stream_room(const Ssd *ssd, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams);
    return ssd->info.reclaim_bytes -
           (uint64_t)ssd->placement->stream[stream].taken *
               ssd->info.block_bytes;
}

void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks)
{
    Stream *st = &ssd->placement->stream[stream];
    uint64_t most =
        ssd->info.reclaim_bytes >> (ssd->unit_shift - ssd->block_shift);
    uint64_t taken = st->taken + nblocks;

    invariant(stream < ssd->l.n_streams);
    st->n.host_bytes_written += nblocks * ssd->info.block_bytes;
    if (taken >= most) {
        if (ssd->client && ssd->client->unit_begun) {
            ssd->client->unit_begun(ssd->client_opaque, stream);
        }
        taken %= most;
    }
    st->taken = (uint32_t)taken;
}

void stream_close_blocks(Ssd *ssd, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams);
    ssd->placement->stream[stream].left = 0;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (plane_at(ssd, i)->open[stream].block != NONE) {
            block_close(ssd, i, stream);
        }
    }
}

void stream_begin_unit(Ssd *ssd, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams);
    ssd->placement->stream[stream].taken = 0;
}

void stream_end(Ssd *ssd, uint32_t stream)
{
    stream_begin_unit(ssd, stream);
    stream_close_blocks(ssd, stream);
}

/* ---- accounts ------------------------------------------------------------ */

void ssd_get_stream(const Ssd *ssd, uint32_t stream, SsdStreamCounters *c)
{
    invariant(stream <= ssd->l.n_streams);
    *c = ssd->placement->stream[stream].n;
    c->nand_bytes_written = programmed_units(ssd, stream) << ssd->unit_shift;
}

/* The stream whose account pays for a copy of the unit. */
static uint32_t stream_account(const Ssd *ssd, uint64_t ppu)
{
    invariant(ppu < ssd->l.raw_units);
    return ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)
               ? ssd->l.n_streams
               : unit_stream(ssd, ppu);
}

void stream_erasing(Ssd *ssd, uint32_t block)
{
    invariant(block_stream(ssd, block) <= ssd->l.n_streams);
    invariant(block < ssd->geo->n_blocks);
    ssd->placement->stream[block_stream(ssd, block)].n.erases++;
}

void stream_copied(Ssd *ssd, uint64_t ppu)
{
    invariant(ppu < ssd->l.raw_units);
    ssd->placement->stream[stream_account(ssd, ppu)].n.copied_units++;
}

void stream_victim(Ssd *ssd, uint32_t block)
{
    const Block *b = block_at(ssd, block);
    SsdStreamCounters *n = &ssd->placement->stream[b->stream].n;

    invariant(b->valid <= ssd->l.units_per_block &&
              b->stream <= ssd->l.n_streams);
    n->victims++;
    n->victim_valid_units += b->valid;
}

void stream_mixed(Ssd *ssd)
{
    ssd->inspect.count.mixed_pages++;
}

void stream_programmed(Ssd *ssd, uint32_t stream, uint32_t units,
                       uint32_t padded)
{
    SsdStreamCounters *n = &ssd->placement->stream[stream].n;

    invariant(stream < ssd->l.n_streams);
    n->host_units += units;
    n->padded_units += padded;
    ssd->inspect.count.padded_units += padded;
}

/* The account may have begun between the page and its end. */
static void take_back(uint64_t *n, uint64_t *base, uint32_t units)
{
    *n -= units;
    *base = MIN(*base, *n);
}

void stream_uncount_page(Ssd *ssd, uint32_t j)
{
    const PageJob *job = job_at(ssd, j);
    Stream *st = &ssd->placement->stream[job->stream];
    uint32_t padded = block_program_units(ssd, job->ppa);

    invariant(job->state == JOB_PLACED && !job->meta);
    invariant(j < ssd->media->n_jobs);
    for (uint32_t i = 0; i < job->n; i++) {
        uint64_t unit = job_units(ssd, j)[i];

        if (unit == NO_UNIT) {
            continue;
        }
        if (job->gc) {
            st = &ssd->placement->stream[stream_account(ssd, unit)];
            take_back(&st->n.copied_units, &st->base.copied_units, 1);
        } else {
            take_back(&st->n.host_units, &st->base.host_units, 1);
        }
        invariant(padded > 0);
        padded--;
    }
    if (!job->gc) {
        take_back(&st->n.padded_units, &st->base.padded_units, padded);
        ssd->inspect.count.padded_units -=
            MIN(ssd->inspect.count.padded_units, padded);
    }
}

void stream_uncount_erases(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        Stream *st = &ssd->placement->stream[block_stream(ssd, b)];

        if (block_state(ssd, b) == BLOCK_ERASING) {
            take_back(&st->n.erases, &st->base.erases, 1);
        }
    }
}

void stream_reset_stats(Ssd *ssd)
{
    for (uint32_t i = 0; i <= ssd->l.n_streams; i++) {
        ssd->placement->stream[i].base = ssd->placement->stream[i].n;
    }
}
