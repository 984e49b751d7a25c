/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog.c - the operation log: watch the array, write records.
 *
 * Knows the format (docs/oplog-format.md); judges nothing.  The records are
 * written in the order of the events, so their instants never decrease.
 */
#include "filelock.h"
#include "host/ahead.h"
#include "inspect/oplog.h"
#include "buffer/buffer-internal.h"
#include "journal/saved.h"
#include "map/map.h"
#include "media/media-internal.h"
#include "media/rebuild.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct Oplog {
    FILE *file;
    FileLock *lock;
    char *path;
    Ssd *ssd;
    uint64_t n_records;
    int err; /* errno of the first write that failed, or 0 */
};

static void write_bytes(Oplog *log, const void *bytes, size_t n)
{
    if (fwrite(bytes, n, 1, log->file) != 1 && !log->err) {
        log->err = errno;
    }
}

static void put(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(v >> (8 * i));
    }
}

void oplog_write(Oplog *log, const OplogRecord *r)
{
    uint8_t buf[OPLOG_RECORD_BYTES] = {r->type, r->a};

    put(buf + 2, r->b, 2);
    put(buf + 4, r->bytes, 4);
    put(buf + 8, r->at_ps, 8);
    put(buf + 16, r->x, 8);
    put(buf + 24, r->y, 8);
    put(buf + 32, r->c, 8);
    write_bytes(log, buf, sizeof(buf)); /* a failure is told at the end */
    log->n_records++;
}

/* ---- the array's side ---------------------------------------------------- */

uint32_t oplog_command(const Ssd *ssd, const NandOp *op)
{
    uint32_t cmd = op->cookie;

    if (op->kind != NAND_READ || op->cause != NAND_CAUSE_HOST ||
        rebuild_is_read(ssd, op)) {
        return NONE;
    }
    if (cmd & COOKIE_SLOT) {
        cmd = ssd->buffer->slot[cmd & ~COOKIE_SLOT].before;
    }
    return cmd == NONE || cmd & AHEAD_COOKIE ? NONE : cmd;
}

uint64_t oplog_owner(const Ssd *ssd, const NandOp *op)
{
    uint32_t cmd = oplog_command(ssd, op);

    return cmd == NONE ? 0 : ssd->commands.cmd[cmd].serial;
}

/* Of a change of the block in SLC mode that is not always in it. */
static unsigned mode_of(const Ssd *ssd, const NandOp *op)
{
    return op->kind != NAND_READ && ssd->geo->slc_mode &&
                   nand_block_is_slc(ssd->geo, op->block)
               ? OPLOG_SLC
               : 0;
}

static void op_submitted(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Oplog *log = opaque;
    OplogRecord r = {
        .type = OPLOG_SUBMIT,
        .a = (uint8_t)(op->kind | mode_of(log->ssd, op)),
        .b = (uint16_t)op->cause,
        .c = op->ppa.page,
        .at_ps = now_ps,
        .x = op->id,
        .bytes = (uint32_t)op->bytes,
        .y = op->kind == NAND_COPYBACK ? op->from.page
                                       : oplog_owner(log->ssd, op),
    };

    oplog_write(log, &r);
}

static void op_span(void *opaque, const NandOp *op, NandSpan span,
                    uint64_t from_ps, uint64_t now_ps)
{
    Oplog *log = opaque;
    const NandGeometry *g = log->ssd->geo;
    bool plane = span == NAND_SPAN_CELL || span == NAND_SPAN_GAP ||
                 span == NAND_SPAN_SUSPEND;
    OplogRecord r = {
        .type = OPLOG_SPAN,
        .a = (uint8_t)span,
        .b = (uint16_t)(plane ? op->plane
                              : op->plane /
                                    (g->planes_per_die * g->dies_per_channel)),
        .c = op->group,
        .at_ps = now_ps,
        .x = op->id,
        .y = from_ps,
    };

    oplog_write(log, &r);
}

static void op_ended(void *opaque, const NandOp *op, uint64_t now_ps)
{
    oplog_add(opaque, OPLOG_DONE, op->status, 0, now_ps, op->id, 0);
}

static const NandWatch watch = {
    .submit = op_submitted,
    .span = op_span,
    .done = op_ended,
};

static void page_lost(void *opaque, NandPpa ppa)
{
    Oplog *log = opaque;

    oplog_add(log, OPLOG_LOST_PAGE, 0, ppa.page, log->ssd->now_ps, 0, 0);
}

void oplog_lost_pages(Oplog *log)
{
    if (log) {
        nand_each_lost_page(log->ssd->nand, page_lost, log);
    }
}

/* ---- the file ------------------------------------------------------------ */

static uint64_t least(const uint64_t *v, uint32_t n)
{
    uint64_t m = v[0];

    for (uint32_t i = 1; i < n; i++) {
        m = MIN(m, v[i]);
    }
    return m;
}

/* The least time in the array of a page read, and of a program.  A script of
 * faults may make any operation faster, and a register a read. */
static uint64_t least_read_ps(const Ssd *ssd)
{
    const NandConfig *c = &ssd->cfg->nand;
    const uint64_t t[] = {c->t_read_ps, c->t_read2_ps, c->t_read3_ps,
                          c->t_read4_ps};
    bool any = ssd->media->faults || c->register_hits;
    uint64_t ps = any ? 0 : least(t, c->cell + 1);

    return ssd->geo->has_slc ? MIN(ps, c->t_slc_read_ps) : ps;
}

static uint64_t least_program_ps(const Ssd *ssd)
{
    const NandConfig *c = &ssd->cfg->nand;
    const uint64_t t[] = {c->t_prog_ps, c->t_prog2_ps, c->t_prog3_ps,
                          c->t_prog4_ps};
    uint64_t ps = ssd->media->faults ? 0 : least(t, c->cell + 1);

    ps = ssd->geo->has_slc ? MIN(ps, c->t_slc_prog_ps) : ps;
    return ps - ps * c->program_wear_ppm / 1000000; /* in a worn block */
}

/* Several operations may hold one unit at a time: cache and suspend. */
static uint32_t header_flags(const NandConfig *c)
{
    return (c->cache_read || c->cache_program ? 1 : 0) | (c->suspend ? 2 : 0) |
           (c->multi_plane ? 4 : 0) | (c->independent_reads ? 8 : 0) |
           (c->async_reads ? 128 : 0);
}

static uint64_t least_erase_ps(const Ssd *ssd)
{
    const NandConfig *c = &ssd->cfg->nand;
    uint64_t ps = ssd->media->faults ? 0 : c->t_erase_ps;

    return ssd->geo->has_slc ? MIN(ps, c->t_slc_erase_ps) : ps;
}

static uint32_t flags_of(const Ssd *ssd)
{
    const SsdConfig *cfg = ssd->cfg;

    uint32_t groups = ssd->l.n_groups;

    return header_flags(&cfg->nand) | (ssd->geo->slc_mode ? 256 : 0) |
           (groups > 1 ? ssd->l.n_handles << 16 | groups << 24 : 0) |
           (cfg->complete_at == SSD_COMPLETE_AT_PROGRAM ? 16 : 0) |
           (cfg->plp || cfg->ignore_flush ? 32 : 0) | (cfg->plp ? 64 : 0);
}

static void write_header(Oplog *log)
{
    const Ssd *ssd = log->ssd;
    const NandConfig *c = &ssd->cfg->nand;
    const uint32_t word[] = {
        OPLOG_HEADER_BYTES,
        OPLOG_RECORD_BYTES,
        c->channels,
        c->chips,
        c->dies,
        c->planes,
        c->blocks,
        c->pages,
        (uint32_t)c->page_bytes,
        (uint32_t)ssd->cfg->unit_bytes,
        ssd->cfg->block_bytes,
        ssd->geo->pages_per_program,
        c->lock,
        flags_of(ssd),
        c->bus_mt_s,
        c->bus_width,
    };
    const uint64_t wide[] = {
        c->bus_ps_per_byte,  least_read_ps(ssd), least_program_ps(ssd),
        least_erase_ps(ssd), ssd->l.user_units,  ssd->l.meta_units,
    };
    const uint32_t last[] = {ssd->geo->slc_blocks, ssd->geo->slc_pages,
                             c->paired_pages ? c->cell + 1 : 0, 0};
    uint8_t head[OPLOG_HEADER_BYTES] = OPLOG_SIGNATURE;
    uint8_t *p = head + 8;

    for (size_t i = 0; i < G_N_ELEMENTS(word); i++, p += 4) {
        put(p, word[i], 4);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(wide); i++, p += 8) {
        put(p, wide[i], 8);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(last); i++, p += 4) {
        put(p, last[i], 4);
    }
    invariant(p == head + sizeof(head));
    write_bytes(log, head, sizeof(head));
}

static bool cannot(const char *path, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
                "operation log %s: %s", path, g_strerror(err));
    return false;
}

/* Has nothing been written to the drive?  The checker's tables begin empty. */
static bool is_new(const Ssd *ssd)
{
    if (ssd->commands.submitted || ssd->l2p.mapped_units) {
        return false;
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (nand_next_page(ssd->nand, b)) {
            return false;
        }
    }
    return true;
}

bool ssd_oplog_open(Ssd *ssd, const char *path, GError **error)
{
    FileLock *lock;
    FILE *file;
    Oplog *log;

    invariant(!ssd->inspect.log);
    if (ssd->inspect.timeline) {
        return opt_fail(error, OPT_ERROR_COMBINATION,
                        "operation log %s: not together with a timeline", path);
    }
    if (!is_new(ssd)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "operation log %s: needs a drive that begins new, and this "
                    "one has been written to", path);
        return false;
    }
    if (saves(ssd)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "operation log %s: needs ftl.recovery=capacitors, other "
                    "ways to find the map are not in its format", path);
        return false;
    }
    file = filelock_open(path, &lock, error);
    if (!file) {
        g_prefix_error(error, "operation log ");
        return false;
    }
    log = g_new0(Oplog, 1);
    log->file = file;
    log->lock = lock;
    log->path = g_strdup(path);
    log->ssd = ssd;
    ssd->inspect.log = log;
    write_header(log);
    nand_watch(ssd->nand, &watch, log);
    return true;
}

bool ssd_oplog_close(Ssd *ssd, GError **error)
{
    Oplog *log = ssd->inspect.log;
    int err;

    if (!log) {
        return true;
    }
    oplog_add(log, OPLOG_END, 0, ssd->commands.running, ssd->now_ps,
              log->n_records, 0);
    nand_watch(ssd->nand, NULL, NULL);
    ssd->inspect.log = NULL;
    err = log->err;
    if (fclose(log->file) != 0 && !err) {
        err = errno;
    }
    filelock_release(log->lock);
    if (err) {
        cannot(log->path, err, error);
    }
    g_free(log->path);
    g_free(log);
    return err == 0;
}
