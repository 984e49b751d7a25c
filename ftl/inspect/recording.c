/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.c - record the commands of the host in a trace.
 *
 * Knows the format (docs/traces.md) and nothing of the execution of commands. A
 * record is put together on the stack and handed to a large buffer, so the
 * drive waits for the file only when that is full.
 */
#include "filelock.h"
#include "inspect/recording.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20)

/* A type, and six numbers of at most ten bytes. */
#define RECORD_MAX_BYTES 64

struct Recording {
    FILE *file;
    FileLock *lock;
    char *path;
    int err; /* errno of the first write that failed, or 0 */
    uint64_t first_serial; /* of the drive, before the first command */
    uint64_t n_cmds;
    uint64_t last_ns;      /* of the last record that has an instant */
    uint64_t next_lba;     /* where the last command with a range ended */
    uint64_t next_preload; /* the same of RECORDING_PRELOAD */
};

/* One record under construction. */
typedef struct Line {
    uint8_t byte[RECORD_MAX_BYTES];
    unsigned n;
} Line;

static void line_begin(Line *l, RecordingType type, unsigned flags)
{
    l->byte[0] = (uint8_t)(type | flags << RECORDING_FLAG_SHIFT);
    l->n = 1;
}

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static void put(Line *l, uint64_t v)
{
    while (v >= 0x80) {
        l->byte[l->n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    l->byte[l->n++] = (uint8_t)v;
}

/* The distance from `from` to `to`: even if it is ahead, odd if behind. */
static void put_step(Line *l, uint64_t from, uint64_t to)
{
    put(l, to >= from ? (to - from) << 1 : (from - to) << 1 | 1);
}

static void put_instant(Line *l, Recording *r, uint64_t now_ns)
{
    invariant(now_ns >= r->last_ns);
    put(l, now_ns - r->last_ns);
    r->last_ns = now_ns;
}

static void write_line(Recording *r, const Line *l)
{
    invariant(l->n <= RECORD_MAX_BYTES);
    if (fwrite(l->byte, l->n, 1, r->file) != 1 && !r->err) {
        r->err = errno; /* told when the trace is flushed or closed */
    }
}

/* ---- records ------------------------------------------------------------- */

static bool has_range(SsdOp op)
{
    return op == SSD_OP_READ || op == SSD_OP_WRITE || op == SSD_OP_TRIM;
}

static unsigned op_of(const SsdCmd *cmd)
{
    if (cmd->inside && cmd->op == SSD_OP_READ) {
        return RECORDING_INSIDE_READ;
    }
    return cmd->inside && cmd->op == SSD_OP_WRITE ? RECORDING_INSIDE_WRITE
                                                  : cmd->op;
}

void recording_cmd(Recording *r, const SsdCmd *cmd, uint64_t now_ns)
{
    bool closes = cmd->op == SSD_OP_FLUSH && cmd->close;
    Line l;

    line_begin(&l, RECORDING_CMD,
               op_of(cmd) |
                   (cmd->op == SSD_OP_WRITE && cmd->fua ? RECORDING_FUA : 0) |
                   (closes ? RECORDING_ENDS : 0) |
                   (cmd->internal ? RECORDING_INTERNAL : 0));
    put_instant(&l, r, now_ns);
    if (has_range(cmd->op)) {
        put_step(&l, r->next_lba, cmd->lba);
        put(&l, cmd->nblocks);
        r->next_lba = cmd->lba + cmd->nblocks;
    }
    if (cmd->op == SSD_OP_WRITE || closes) {
        put(&l, cmd->stream);
    }
    write_line(r, &l);
    r->n_cmds++;
}

/* How many commands were taken after this one. */
static void put_serial(Line *l, const Recording *r, uint64_t serial)
{
    invariant(serial > r->first_serial &&
              serial - r->first_serial <= r->n_cmds);
    put(l, r->n_cmds - (serial - r->first_serial));
}

void recording_done(Recording *r, uint64_t serial, const SsdCompletion *c,
                    uint64_t lba)
{
    Line l;

    invariant(c->complete_ns >= c->submit_ns);
    line_begin(&l, RECORDING_DONE, c->status);
    put_serial(&l, r, serial);
    put(&l, c->complete_ns - c->submit_ns);
    if (c->status == SSD_STATUS_UNRECOVERED_READ) {
        put(&l, c->bad_lba - lba);
    }
    write_line(r, &l);
}

void recording_abort(Recording *r, uint64_t serial, uint64_t now_ns)
{
    Line l;

    line_begin(&l, RECORDING_ABORT, 0);
    put_instant(&l, r, now_ns);
    put_serial(&l, r, serial);
    write_line(r, &l);
}

void recording_close(Recording *r, uint32_t stream, uint64_t now_ns)
{
    Line l;

    invariant(r->file);
    line_begin(&l, RECORDING_CLOSE, 0);
    put_instant(&l, r, now_ns);
    put(&l, stream);
    write_line(r, &l);
}

void recording_power(Recording *r, bool on, uint64_t now_ns)
{
    Line l;

    line_begin(&l, on ? RECORDING_POWER_ON : RECORDING_POWER_CUT, 0);
    put_instant(&l, r, now_ns);
    write_line(r, &l);
}

void recording_setting(Recording *r, RecordingSetting what,
                       const uint64_t number[3], uint64_t now_ns)
{
    Line l;

    line_begin(&l, RECORDING_SETTING, what);
    put_instant(&l, r, now_ns);
    for (unsigned i = 0; i < 3; i++) {
        put(&l, number[i]);
    }
    write_line(r, &l);
}

void recording_preload(Recording *r, uint64_t lba, uint64_t nblocks)
{
    Line l;

    line_begin(&l, RECORDING_PRELOAD, 0);
    put_step(&l, r->next_preload, lba);
    put(&l, nblocks);
    write_line(r, &l);
    r->next_preload = lba + nblocks;
}

/* ---- the file ------------------------------------------------------------ */

static void put_fixed(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(v >> (8 * i));
    }
}

static bool is_used(const Ssd *ssd)
{
    return ssd->commands.submitted || ssd->l2p.mapped_units > 0 ||
           ssd->now_ps > 0;
}

static void write_header(Recording *r, const Ssd *ssd, const GString *text)
{
    uint8_t head[RECORDING_HEADER_BYTES] = RECORDING_SIGNATURE;

    put_fixed(head + 8, ssd->info.block_bytes, 4);
    put_fixed(head + 12, is_used(ssd) ? RECORDING_USED : 0, 4);
    put_fixed(head + 16, ssd->info.nblocks, 8);
    put_fixed(head + 24, text->len, 4);
    if (fwrite(head, sizeof(head), 1, r->file) != 1 ||
        fwrite(text->str, text->len, 1, r->file) != 1) {
        r->err = errno;
    }
}

static bool cannot(const char *path, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
                "trace %s: %s", path, g_strerror(err));
    return false;
}

bool recording_open(Ssd *ssd, const char *path, const GString *text,
                    GError **error)
{
    FileLock *lock;
    Recording *r;
    FILE *file;

    invariant(!ssd->inspect.recording && ssd->commands.running == 0);
    file = filelock_open(path, &lock, error);
    if (!file) {
        g_prefix_error(error, "trace ");
        return false;
    }
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    r = g_new0(Recording, 1);
    r->file = file;
    r->lock = lock;
    r->path = g_strdup(path);
    r->first_serial = ssd->commands.last_serial;
    write_header(r, ssd, text);
    ssd->inspect.recording = r;
    return true;
}

bool ssd_trace_flush(Ssd *ssd, GError **error)
{
    Recording *r = ssd->inspect.recording;

    if (!r) {
        return true;
    }
    if (fflush(r->file) != 0 && !r->err) {
        r->err = errno;
    }
    return !r->err || cannot(r->path, r->err, error);
}

bool ssd_trace_close(Ssd *ssd, GError **error)
{
    Recording *r = ssd->inspect.recording;
    bool ok;
    Line l;

    if (!r) {
        return true;
    }
    line_begin(&l, RECORDING_END, 0);
    put_instant(&l, r, ssd->now_ps / PS_PER_NS);
    put(&l, r->n_cmds);
    put(&l, ssd->commands.running);
    write_line(r, &l);
    ok = ssd_trace_flush(ssd, error);
    ssd->inspect.recording = NULL;
    if (fclose(r->file) != 0 && ok) {
        ok = cannot(r->path, errno, error);
    }
    filelock_release(r->lock);
    g_free(r->path);
    g_free(r);
    return ok;
}
